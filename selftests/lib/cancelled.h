/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A call by a thread that is cancelled before it calls: the first cancellation point at
 * which the call lets itself be cancelled ends the thread. Fakes that stand for another
 * library or for the system are such points (pthread_testcancel()).
 */
#ifndef SELFTESTS_CANCELLED_H
#define SELFTESTS_CANCELLED_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct cancelled_call {
	void (*call)(void *arg);
	void *arg;
	bool whole;
};

static void *cancelled_thread(void *arg)
{
	struct cancelled_call *it = arg;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	it->call(it->arg);
	it->whole = true;
	pthread_testcancel();
	return NULL;
}

/* Returns true if the call was not left half done, and the thread was cancelled after it. */
static inline bool cancelled_after(void (*call)(void *arg), void *arg)
{
	struct cancelled_call it = { .call = call, .arg = arg };
	pthread_t thread;
	void *end = NULL;

	if (pthread_create(&thread, NULL, cancelled_thread, &it) ||
	    pthread_join(thread, &end))
		return false;
	return it.whole && end == PTHREAD_CANCELED;
}

/* Who starts a test may have blocked signals. */
static sigset_t thread_began_with;

static __attribute__((constructor)) void thread_begins(void)
{
	pthread_sigmask(SIG_SETMASK, NULL, &thread_began_with);
}

/*
 * Is the caller as calls found it: no more signals are blocked than at the start of the
 * program, and it can be cancelled?
 */
static inline bool thread_is_free(void)
{
	sigset_t blocked;
	bool same = true;
	int was, sig;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	for (sig = 1; sig < NSIG; sig++)
		same = same && sigismember(&blocked, sig) ==
				       sigismember(&thread_began_with, sig);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &was);
	return same && was == PTHREAD_CANCEL_ENABLE;
}

/* Does nobody hold the lock? */
static inline bool lock_is_free(pthread_mutex_t *it)
{
	return !pthread_mutex_trylock(it) && !pthread_mutex_unlock(it);
}

#endif
