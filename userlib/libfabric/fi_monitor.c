// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The memory monitor that libfabric imports.
 *
 * libfabric asks before each use of a cached registration whether it is valid.
 * The answer comes from the word of the region's watch, so correctness depends
 * on nothing else. In addition a thread reads the events and tells libfabric
 * which registrations to drop, so that freed memory does not stay pinned.
 *
 * libfabric calls start and stop with a lock held, and a caller of notify may
 * wait for that lock: stop must not wait for the thread. libfabric 2.1 also
 * calls a monitor after it was closed. Therefore stop deletes only the watches.
 * The device, the notifier and the thread stay after the first start, and the
 * library is linked so that it is never unloaded.
 *
 * A forked child has neither the mapping nor the thread. Every call there
 * returns "not valid" or an error, and takes no lock: a lock that another
 * thread held during fork() would never be released in the child. The child
 * of a process whose monitor has not started can start its own.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>
#include <rdma/fi_ext.h>
#include <rdma/providers/fi_prov.h>

#include <mlx5ep/fi_monitor.h>

#include "fi_found.h"
#include "fi_regions.h"
#include "internal.h"
#include "listener.h"
#include "lock.h"

#define EXPORT __attribute__((visibility("default")))

/* The first version of libfabric that can open "mr_cache". */
#define MONITOR_FI_VERSION FI_VERSION(1, 13)

#define MONITOR_EVENTS 64

/**
 * struct fi_monitor - the monitor; libfabric takes one per process
 * @fid: passed to libfabric
 * @imported: libfabric has taken @fid
 * @tried: this library has tried to import it by itself; also read without @lock
 * @verbose: MLX5EP_FI_MONITOR is "verbose"
 * @lock: protects everything except @notified; libfabric's own locks are taken
 *	before it
 * @listener: of the first device that could be opened
 * @notifier: NULL before the first start; another one where the adapter of the
 *	first was removed; also read without @lock
 * @notified: written by the thread only
 */
static struct fi_monitor {
	struct fid_mem_monitor fid;
	bool imported;
	bool tried;
	bool verbose;
	pthread_mutex_t lock;
	struct fi_regions regions;
	struct listener listener;
	struct mlx5ep_notifier *notifier;
	uint64_t notified;
} monitor = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

static bool monitor_forked(void)
{
	struct mlx5ep_notifier *notifier =
		__atomic_load_n(&monitor.notifier, __ATOMIC_ACQUIRE);

	return notifier && !mlx5ep_notifier_usable(notifier);
}

/* Tells libfabric to drop a region, if its memory really changed. */
static void monitor_tell(struct mlx5ep_notifier *notifier,
			 const struct mlx5_ep_event *event)
{
	struct mlx5ep_watch watch = {
		.armed = event->word,
		.notifier = notifier,
		.slot = event->slot,
	};

	if (event->type != MLX5_EP_EVENT_WATCH ||
	    mlx5ep_watch_verify(&watch) != -ESTALE)
		return;
	__atomic_add_fetch(&monitor.notified, 1, __ATOMIC_RELAXED);
	monitor.fid.import_ops->notify(&monitor.fid,
				       (const void *)(uintptr_t)event->start,
				       event->length);
}

/* Returns false if there will be no more events. */
static bool monitor_read(struct mlx5ep_notifier *notifier)
{
	struct mlx5_ep_event events[MONITOR_EVENTS];
	ssize_t i, got;

	for (;;) {
		got = mlx5ep_notifier_read(notifier, events, MONITOR_EVENTS);
		if (got == -EAGAIN || got == -EINTR)
			return true;
		if (got <= 0)
			return false;
		for (i = 0; i < got; i++)
			monitor_tell(notifier, &events[i]);
	}
}

/* Registrations of before find their watches stale, and are made anew. */
static void monitor_renewed(struct mlx5ep_notifier *notifier)
{
	int cancel = lock_take(&monitor.lock);

	__atomic_store_n(&monitor.notifier, notifier, __ATOMIC_RELEASE);
	lock_release(&monitor.lock, cancel);
}

static int monitor_set_up(void)
{
	int ret;

	ret = fi_regions_init(&monitor.regions);
	if (ret)
		return ret;
	monitor.listener.read = monitor_read;
	monitor.listener.renewed = monitor_renewed;
	ret = listener_start(&monitor.listener);
	if (ret) {
		fi_regions_fini(&monitor.regions);
		return ret;
	}
	__atomic_store_n(&monitor.notifier, monitor.listener.notifier,
			 __ATOMIC_RELEASE);
	return 0;
}

/*
 * libfabric calls this for its first cache. Calls for other caches can come
 * before this one has returned, and also after it has failed.
 */
static int monitor_start(struct fid_mem_monitor *fid)
{
	int ret = 0, cancel;

	(void)fid;
	if (monitor_forked())
		return -EXDEV;
	cancel = lock_take(&monitor.lock);
	if (!monitor.notifier)
		ret = monitor_set_up();
	lock_release(&monitor.lock, cancel);
	return ret;
}

/* libfabric calls this when its last cache is gone. */
static void monitor_stop(struct fid_mem_monitor *fid)
{
	int cancel;

	(void)fid;
	if (monitor_forked())
		return;
	cancel = lock_take(&monitor.lock);
	fi_regions_clear(&monitor.regions);
	lock_release(&monitor.lock, cancel);
}

static int monitor_subscribe(struct fid_mem_monitor *fid, const void *addr,
			     size_t len)
{
	int ret = -EAGAIN, cancel;

	(void)fid;
	if (monitor_forked())
		return -EXDEV;
	cancel = lock_take(&monitor.lock);
	if (monitor.notifier)
		ret = fi_regions_subscribe(&monitor.regions, monitor.notifier,
					   addr, len);
	monitor.regions.stats.subscribed++;
	monitor.regions.stats.refused += !!ret;
	lock_release(&monitor.lock, cancel);
	return ret;
}

static void monitor_unsubscribe(struct fid_mem_monitor *fid, const void *addr,
				size_t len)
{
	int cancel;

	(void)fid;
	if (monitor_forked())
		return;
	cancel = lock_take(&monitor.lock);
	if (monitor.notifier)
		fi_regions_unsubscribe(&monitor.regions, addr, len);
	lock_release(&monitor.lock, cancel);
}

static bool monitor_valid(struct fid_mem_monitor *fid, const void *addr,
			  size_t len)
{
	bool valid;
	int cancel;

	(void)fid;
	if (monitor_forked())
		return false;
	cancel = lock_take(&monitor.lock);
	valid = monitor.notifier &&
		fi_regions_valid(&monitor.regions, addr, len);
	lock_release(&monitor.lock, cancel);
	return valid;
}

static struct fi_ops_mem_monitor monitor_ops = {
	.size = sizeof(struct fi_ops_mem_monitor),
	.start = monitor_start,
	.stop = monitor_stop,
	.subscribe = monitor_subscribe,
	.unsubscribe = monitor_unsubscribe,
	.valid = monitor_valid,
};

static int monitor_import(void)
{
	__typeof__(&fi_open) open_fid = fi_found("fi_open");
	struct fid *cache;
	int ret;

	if (!open_fid)
		return -FI_ENOSYS;
	ret = listener_possible();
	if (ret)
		return ret;
	ret = open_fid(MONITOR_FI_VERSION, "mr_cache", NULL, 0, 0, &cache, NULL);
	if (ret)
		return ret;
	monitor.fid.fid.fclass = FI_CLASS_MEM_MONITOR;
	monitor.fid.export_ops = &monitor_ops;
	ret = fi_import_fid(cache, &monitor.fid.fid, 0);
	fi_close(cache);
	return ret;
}

EXPORT int mlx5ep_fi_monitor_import(void)
{
	int ret = 0, cancel;

	if (monitor_forked())
		return -EXDEV;
	cancel = lock_take(&monitor.lock);
	if (!monitor.imported)
		ret = monitor_import();
	monitor.imported = !ret;
	lock_release(&monitor.lock, cancel);
	return ret;
}

EXPORT void _mlx5ep_fi_monitor_query(struct mlx5ep_fi_monitor_stats *stats,
				     size_t size)
{
	struct mlx5ep_fi_monitor_stats answer = {};
	int cancel;

	if (!monitor_forked()) {
		cancel = lock_take(&monitor.lock);
		answer = monitor.regions.stats;
		lock_release(&monitor.lock, cancel);
	}
	answer.notified = __atomic_load_n(&monitor.notified, __ATOMIC_RELAXED);
	mlx5ep_answer(stats, size, &answer, sizeof(answer));
}

/* The name of the inline function, exported; userlib/plain.c has the rule. */
EXPORT void plain_monitor_query(struct mlx5ep_fi_monitor_stats *stats)
	__asm__("mlx5ep_fi_monitor_query");

void plain_monitor_query(struct mlx5ep_fi_monitor_stats *stats)
{
	_mlx5ep_fi_monitor_query(stats, offsetof(struct mlx5ep_fi_monitor_stats,
						 watched) +
					sizeof(stats->watched));
}

/*
 * In a child. Another thread of the parent may have held the lock, and may have been
 * in monitor_set_up(): its table is not known to be whole.
 */
static void monitor_fork(void)
{
	monitor.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	if (!monitor.notifier)
		monitor.regions.buckets = NULL;
}

/* Imports the monitor if the program has loaded libfabric; once, whatever comes of it. */
static void monitor_try(void)
{
	const char *how = getenv("MLX5EP_FI_MONITOR");
	int ret;

	if ((how && !strcmp(how, "off")) || !fi_found("fi_open") ||
	    __atomic_exchange_n(&monitor.tried, true, __ATOMIC_ACQ_REL))
		return;
	monitor.verbose = how && !strcmp(how, "verbose");
	ret = mlx5ep_fi_monitor_import();
	if (monitor.verbose)
		fprintf(stderr, "mlx5ep-fi: %s\n",
			ret ? strerror(-ret) : "imported");
}

/*
 * The program calls libfabric, maybe for the first time. If it was linked to libfabric, the
 * monitor is imported by now.
 */
static void monitor_first(void)
{
	int cancel;

	if (__atomic_load_n(&monitor.tried, __ATOMIC_ACQUIRE))
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	monitor_try();
	pthread_setcancelstate(cancel, NULL);
}

static __attribute__((constructor)) void monitor_load(void)
{
	pthread_atfork(NULL, NULL, monitor_fork);
	fi_found_first = monitor_first;
	monitor_try();
}

/*
 * libfabric opens each library in its folder of providers and asks it for one. Here
 * is none: the library is there to be opened, and has imported the monitor by now.
 */
EXPORT struct fi_provider *fi_prov_ini(void);

EXPORT struct fi_provider *fi_prov_ini(void)
{
	return NULL;
}

static __attribute__((destructor)) void monitor_unload(void)
{
	struct mlx5ep_fi_monitor_stats stats;

	if (!monitor.verbose || !monitor.notifier || monitor_forked())
		return;
	mlx5ep_fi_monitor_query(&stats);
	fprintf(stderr,
		"mlx5ep-fi: subscribed %lu refused %lu valid %lu verified %lu stale %lu notified %lu\n",
		stats.subscribed, stats.refused, stats.valid, stats.verified,
		stats.stale, stats.notified);
}
