// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The notifier of the process, and who tells its events to UCX.
 *
 * The kernel counts each change of watched memory in a word of the notifier's
 * mapping, before the system call that made the change returns. A thread that
 * looks up a registration compares that word with the value that it saw last.
 * If they differ, it reads all events and tells UCX of the memory that really
 * changed (ucm_vm_munmap()). A thread of this library does the same when events
 * come and nobody looks anything up, so that freed memory does not stay pinned.
 *
 * Never:
 * - does a lookup return before all events that it saw counted are told: the
 *   lock @tell is held until the last of them is told, and @told is written
 *   after that;
 * - is a registration used that nobody watches: while there is one, or when the
 *   adapter of the notifier is gone, the word is one that no thread has seen,
 *   and each lookup makes UCX drop all registrations that are not in use;
 * - is @tell held by one who waits for a lock of UCX: UCX's handler tries its
 *   lock, and queues the event if another thread has it;
 * - is a thread cancelled while it has @tell, or half of the events.
 *
 * A forked child has neither the mapping nor the thread. What is here is set
 * back there before fork() returns, see ucx_events_forked().
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include <mlx5ep/mr_watch.h>

#include "listener.h"
#include "lock.h"
#include "ucx.h"

#define EVENTS_AT_ONCE 64
/*
 * The address spaces of x86-64 and arm64 end at 2^56 and 2^52. UCX adds up the lengths of
 * queued events, so this is not SIZE_MAX.
 */
#define EVENTS_ALL_MEMORY (1ul << 56)

static const uint64_t never_changes, never_seen;

const volatile uint64_t *ucx_events_counter = &never_changes;
UCX_THREAD struct ucx_seen ucx_events_seen = { .counter = &never_changes };
UCX_THREAD struct ucx_noted ucx_noted;

/**
 * struct ucx_events - the notifier; one per process
 * @notifier: written under @tell; also read without it
 * @listener: of the first device that could be opened
 * @tell: held while events are told
 * @told: events up to this value of the notifier's counter were told
 * @changed: events whose memory had changed
 * @unchanged: events whose memory had not
 * @dropped_all: times that UCX was made to drop all that is not in use
 * @mode: protects what follows it, and ucx_events_counter; the innermost lock
 * @unwatched: registrations that have no watch
 * @gone: the adapter of the notifier was removed, and there is no other notifier yet
 */
static struct ucx_events {
	struct mlx5ep_notifier *notifier;
	struct ucx_ucm ucm;
	struct listener listener;
	pthread_mutex_t tell;
	uint64_t told;
	uint64_t changed, unchanged, dropped_all;
	pthread_mutex_t mode;
	unsigned int unwatched;
	bool gone;
} events = {
	.tell = PTHREAD_MUTEX_INITIALIZER,
	.mode = PTHREAD_MUTEX_INITIALIZER,
};

static const volatile uint64_t *counter_of(const struct mlx5ep_notifier *notifier)
{
	return (const volatile uint64_t *)
		&mlx5ep_notifier_page(notifier)->watch_total;
}

/* Chooses the word that lookups compare. The caller holds @mode. */
static void choose_counter(void)
{
	const volatile uint64_t *counter = &never_seen;

	if (!events.gone && !events.unwatched)
		counter = counter_of(events.notifier);
	__atomic_store_n(&ucx_events_counter, counter, __ATOMIC_RELEASE);
}

static void change_unwatched(int by)
{
	pthread_mutex_lock(&events.mode);
	events.unwatched += by;
	choose_counter();
	pthread_mutex_unlock(&events.mode);
}

static void change_gone(bool gone)
{
	pthread_mutex_lock(&events.mode);
	events.gone = gone;
	choose_counter();
	pthread_mutex_unlock(&events.mode);
}

/* Does a registration exist whose changes nobody reports? */
static bool is_blind(void)
{
	bool blind;

	pthread_mutex_lock(&events.mode);
	blind = events.gone || events.unwatched;
	pthread_mutex_unlock(&events.mode);
	return blind;
}

/*
 * Any answer but 0 and ENOENT (UCX has deregistered it) may mean a change.
 * Telling UCX of memory that is unchanged costs a registration, no more.
 */
static void tell_event(const struct mlx5_ep_event *event)
{
	struct mlx5ep_watch watch = {
		.armed = event->word,
		.notifier = events.notifier,
		.slot = event->slot,
	};
	int ret;

	if (event->type != MLX5_EP_EVENT_WATCH)
		return;
	ret = mlx5ep_watch_verify(&watch);
	if (!ret || ret == -ENOENT) {
		events.unchanged++;
		return;
	}
	events.changed++;
	events.ucm.vm_munmap((void *)(uintptr_t)event->start, event->length);
}

/*
 * The watches of the old notifier say nothing any more, so UCX is made to drop all that it
 * finds, also what is in use or being registered: it queues that, and does it before its
 * next search. Only then the words are compared again. The count of the new notifier
 * begins anew.
 */
static void events_renewed(struct mlx5ep_notifier *notifier)
{
	int cancel = lock_take(&events.tell);

	__atomic_store_n(&events.notifier, notifier, __ATOMIC_SEQ_CST);
	events.told = 0;
	events.dropped_all++;
	events.ucm.vm_munmap(NULL, EVENTS_ALL_MEMORY);
	change_gone(false);
	lock_release(&events.tell, cancel);
}

/*
 * Returns false if there will be no more events of this notifier. The caller holds @tell.
 */
static bool tell_all(void)
{
	struct mlx5_ep_event list[EVENTS_AT_ONCE];
	ssize_t i, got;

	for (;;) {
		got = mlx5ep_notifier_read(events.notifier, list,
					   EVENTS_AT_ONCE);
		if (got == -EINTR)
			continue;
		if (got <= 0)
			break;
		for (i = 0; i < got; i++)
			tell_event(&list[i]);
	}
	if (got != -EAGAIN && !events.gone) {
		change_gone(true);
		ucx_env_decline("the adapter of the notifier is gone: UCX registers anew at each transfer, until there is one again");
	}
	if (is_blind()) {
		events.dropped_all++;
		events.ucm.vm_munmap(NULL, EVENTS_ALL_MEMORY);
	}
	return got == -EAGAIN;
}

/**
 * ucx_events_tell() - tell UCX all that has happened until now
 *
 * Context: no thread that holds a lock of UCX for which another one waits while
 * it tells.
 */
void ucx_events_tell(void)
{
	const volatile uint64_t *counter;
	uint64_t total;
	int cancel;

	cancel = lock_take(&events.tell);
	counter = counter_of(events.notifier);
	total = *counter;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (total != events.told || is_blind()) {
		tell_all();
		events.told = total;
	}
	lock_release(&events.tell, cancel);
	ucx_events_seen = (struct ucx_seen){ counter, total };
}

/**
 * ucx_events_forget() - make this thread's next lookup one that tells
 */
void ucx_events_forget(void)
{
	ucx_events_seen.counter = NULL;
}

static bool events_read(struct mlx5ep_notifier *notifier)
{
	bool more;
	int cancel;

	(void)notifier;
	cancel = lock_take(&events.tell);
	more = tell_all();
	lock_release(&events.tell, cancel);
	return more;
}

/**
 * ucx_events_possible() - can there be a notifier?
 *
 * Return: 0. -EOPNOTSUPP if the module is not loaded.
 */
int ucx_events_possible(void)
{
	return listener_possible();
}

/* The caller holds @tell. */
static int make_notifier(const struct ucx_ucm *ucm)
{
	int ret;

	/* The thread waits for @tell. */
	events.listener.read = events_read;
	events.listener.renewed = events_renewed;
	ret = listener_start(&events.listener);
	if (ret)
		return ret;
	events.ucm = *ucm;
	__atomic_store_n(&events.notifier, events.listener.notifier,
			 __ATOMIC_RELEASE);
	change_gone(false);
	return 0;
}

/**
 * ucx_events_start() - make the notifier, unless there is one
 * @ucm: what takes the events; copied
 *
 * Return: 0. -EOPNOTSUPP if the module is not loaded. The errors of
 * mlx5ep_notifier_create().
 */
int ucx_events_start(const struct ucx_ucm *ucm)
{
	int ret = 0, cancel;

	cancel = lock_take(&events.tell);
	if (!events.notifier)
		ret = make_notifier(ucm);
	lock_release(&events.tell, cancel);
	return ret;
}

/**
 * ucx_events_forked() - forget the notifier of the parent
 *
 * Context: the only thread of a forked child, before fork() returns. Another
 * thread of the parent may have held the lock, or may have been making the
 * notifier. A notifier that was not yet here stays open in the child, and unused.
 */
void ucx_events_forked(void)
{
	ucx_events_counter = &never_changes;
	ucx_events_seen = (struct ucx_seen){ .counter = &never_changes };
	mlx5ep_notifier_destroy(events.notifier);
	events = (struct ucx_events){
		.tell = PTHREAD_MUTEX_INITIALIZER,
		.mode = PTHREAD_MUTEX_INITIALIZER,
	};
}

/**
 * ucx_events_notifier() - the notifier
 *
 * Return: NULL before ucx_events_start().
 */
struct mlx5ep_notifier *ucx_events_notifier(void)
{
	return __atomic_load_n(&events.notifier, __ATOMIC_ACQUIRE);
}

/**
 * ucx_events_unwatched() - there is one more registration without watch, or less
 * @by: 1 or -1
 */
void ucx_events_unwatched(int by)
{
	change_unwatched(by);
}

/**
 * ucx_events_print() - print the counters on stderr
 */
void ucx_events_print(void)
{
	int cancel = lock_take(&events.tell);

	fprintf(stderr, "mlx5ep-ucx: changed %lu unchanged %lu dropped-all %lu\n",
		events.changed, events.unchanged, events.dropped_all);
	lock_release(&events.tell, cancel);
}
