// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A notifier of this process and a thread that reads its events, for libraries
 * that tell other libraries of changed memory. Each of them has a copy of this
 * file, because it is no part of libmlx5ep's interface.
 *
 * These libraries are preloaded into programs that may bring an rdma-core of their own.
 * So nothing here is linked to libibverbs: its functions are those of the one that the
 * program has loaded.
 *
 * The thread sleeps while there are no events. It also sleeps a fixed time before
 * each round of reading, so that a program that unmaps often causes few wake-ups.
 *
 * When the adapter of the notifier is gone, the thread tries to make another one, on any
 * adapter, until that works. The old one stays as long as the process, because other
 * threads may be looking at its words.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include <mlx5ep/device.h>
#include <mlx5ep/mr_watch.h>

#include "listener.h"

#define LISTENER_DEVICES "/sys/class/infiniband"
#define LISTENER_DEV "/dev/mlx5_ep"
#define LISTENER_VERBS "libibverbs.so.1"

#define PAUSE_MS 10
#define RETRY_MS 500

/**
 * struct listener_verbs - functions of the program's libibverbs
 */
struct listener_verbs {
	__typeof__(&ibv_get_device_list) get_list;
	__typeof__(&ibv_free_device_list) free_list;
	__typeof__(&ibv_open_device) open;
	__typeof__(&ibv_close_device) close;
};

/* It stays loaded: what it has opened here is never closed. */
static int find_verbs(struct listener_verbs *verbs)
{
	void *library = dlopen(LISTENER_VERBS,
			       RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);

	if (!library)
		return -EOPNOTSUPP;
	verbs->get_list = dlsym(library, "ibv_get_device_list");
	verbs->free_list = dlsym(library, "ibv_free_device_list");
	verbs->open = dlsym(library, "ibv_open_device");
	verbs->close = dlsym(library, "ibv_close_device");
	dlclose(library);
	return verbs->get_list && verbs->free_list && verbs->open &&
		       verbs->close ? 0 : -EOPNOTSUPP;
}

/* Opens a device that the module is attached to. */
static int open_device(const struct listener_verbs *verbs,
		       struct ibv_context **context)
{
	struct ibv_device **list;
	int i, count, ret = -EOPNOTSUPP;

	list = verbs->get_list(&count);
	if (!list)
		return -EOPNOTSUPP;
	for (i = 0; i < count && ret; i++) {
		if (mlx5ep_device_attached(list[i], NULL, 0))
			continue;
		*context = verbs->open(list[i]);
		ret = *context ? 0 : -EIO;
	}
	verbs->free_list(list);
	return ret;
}

static void close_device(const struct listener_verbs *verbs,
			 struct ibv_context *context)
{
	if (context)
		verbs->close(context);
}

/*
 * The notifier is of no device where the module is attached to none, where none can be
 * opened, and where the program has no libibverbs: not each of libfabric's providers needs
 * that.
 */
static int make_notifier(struct listener_verbs *verbs,
			 struct listener *listener)
{
	int ret, without;

	ret = find_verbs(verbs);
	if (!ret)
		ret = open_device(verbs, &listener->context);
	if (ret) {
		listener->context = NULL;
		without = mlx5ep_notifier_open(0, &listener->notifier);
		return without == -EOPNOTSUPP ? ret : without;
	}
	ret = mlx5ep_notifier_create(listener->context, 0, &listener->notifier);
	if (ret)
		verbs->close(listener->context);
	return ret;
}

static int open_notifier(struct listener_verbs *verbs,
			 struct listener *listener)
{
	int ret;

	ret = make_notifier(verbs, listener);
	if (ret || !fcntl(mlx5ep_notifier_fd(listener->notifier), F_SETFL,
			  O_NONBLOCK))
		return ret;
	ret = -errno;
	mlx5ep_notifier_destroy(listener->notifier);
	close_device(verbs, listener->context);
	return ret;
}

static void *listen_thread(void *arg)
{
	struct listener *listener = arg;
	struct listener next = *listener;
	struct listener_verbs verbs;
	struct pollfd fd = { .events = POLLIN };

	for (;;) {
		fd.fd = mlx5ep_notifier_fd(listener->notifier);
		do {
			poll(&fd, 1, -1);
			poll(NULL, 0, PAUSE_MS);
		} while (listener->read(listener->notifier));
		do {
			poll(NULL, 0, RETRY_MS);
		} while (open_notifier(&verbs, &next));
		*listener = next;
		listener->renewed(listener->notifier);
	}
	return NULL;
}

static int run_thread(struct listener *listener)
{
	pthread_t thread;
	int ret;

	ret = pthread_create(&thread, NULL, listen_thread, listener);
	if (!ret)
		pthread_detach(thread);
	return -ret;
}

static bool is_attached(const char *name)
{
	struct ibv_device device;

	return snprintf(device.ibdev_path, sizeof(device.ibdev_path), "%s/%s",
			LISTENER_DEVICES, name) <
		       (int)sizeof(device.ibdev_path) &&
	       !mlx5ep_device_attached(&device, NULL, 0);
}

/**
 * listener_possible() - can there be a notifier?
 *
 * The answer comes from the file system: the program need not have loaded libibverbs yet.
 *
 * Return: 0. -EOPNOTSUPP if the module is attached to no device, and there is no /dev/mlx5_ep.
 */
int listener_possible(void)
{
	DIR *devices = opendir(LISTENER_DEVICES);
	const struct dirent *entry;
	int ret = access(LISTENER_DEV, F_OK) ? -EOPNOTSUPP : 0;

	if (!devices)
		return ret;
	while (ret && (entry = readdir(devices)))
		if (*entry->d_name != '.' && is_attached(entry->d_name))
			ret = 0;
	closedir(devices);
	return ret;
}

/**
 * listener_start() - make the notifier and the thread
 * @listener: stays until the process ends; @read and @renewed are set, the rest is filled in
 *
 * The thread has all signals blocked: they are for the program's own threads. So has the
 * caller meanwhile: what is done here is long, and a signal of a timer would delay it.
 *
 * Return: 0. -EOPNOTSUPP if the module is not loaded. The errors of
 * mlx5ep_notifier_create(), fcntl() and pthread_create().
 */
int listener_start(struct listener *listener)
{
	struct listener_verbs verbs;
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = open_notifier(&verbs, listener);
	if (ret)
		goto out_unblock;
	ret = run_thread(listener);
	if (ret) {
		mlx5ep_notifier_destroy(listener->notifier);
		close_device(&verbs, listener->context);
	}
out_unblock:
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}
