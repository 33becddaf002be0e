/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A lock that is held over calls of other libraries and over system calls. Some of them
 * are cancellation points, and a thread that is cancelled there would never release the
 * lock. So cancellation waits until the lock is released.
 *
 * A lock that is held over nothing of that kind needs none of this.
 */
#ifndef MLX5EP_LOCK_H
#define MLX5EP_LOCK_H

#include <pthread.h>

/* Returns what lock_release() is to be given. */
static inline int lock_take(pthread_mutex_t *lock)
{
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(lock);
	return cancel;
}

static inline void lock_release(pthread_mutex_t *lock, int cancel)
{
	pthread_mutex_unlock(lock);
	pthread_setcancelstate(cancel, NULL);
}

#endif
