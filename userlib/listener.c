// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A notifier of this process and a thread that reads its events, for libraries
 * that tell other libraries of changed memory. Each of them has a copy of this
 * file, because it is no part of libmlx5ep's interface.
 *
 * The thread sleeps while there are no events. It also sleeps a fixed time before
 * each round of reading, so that a program that unmaps often causes few wake-ups.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include <infiniband/verbs.h>

#include <mlx5ep/device.h>
#include <mlx5ep/mr_watch.h>

#include "listener.h"

#define PAUSE_MS 10

static void *listen_thread(void *arg)
{
	const struct listener *listener = arg;
	struct pollfd fd = {
		.fd = mlx5ep_notifier_fd(listener->notifier),
		.events = POLLIN,
	};

	do {
		poll(&fd, 1, -1);
		poll(NULL, 0, PAUSE_MS);
	} while (listener->read(listener->notifier));
	return NULL;
}

/* The thread blocks all signals: they are for the program's own threads. */
static int run_thread(struct listener *listener)
{
	sigset_t all, old;
	pthread_t thread;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&thread, NULL, listen_thread, listener);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!ret)
		pthread_detach(thread);
	return -ret;
}

/* Finds a device that the module is attached to; opens it if @context is set. */
static int find_device(struct ibv_context **context)
{
	struct ibv_device **list;
	int i, count, ret = -EOPNOTSUPP;

	list = ibv_get_device_list(&count);
	if (!list)
		return -EOPNOTSUPP;
	for (i = 0; i < count && ret; i++) {
		if (mlx5ep_device_attached(list[i], NULL, 0))
			continue;
		if (context)
			*context = ibv_open_device(list[i]);
		ret = context && !*context ? -EIO : 0;
	}
	ibv_free_device_list(list);
	return ret;
}

/**
 * listener_possible() - is there a device for a notifier?
 *
 * Return: 0. -EOPNOTSUPP if the module is attached to no device.
 */
int listener_possible(void)
{
	return find_device(NULL);
}

/**
 * listener_start() - make the notifier and the thread
 * @listener: stays until the thread ends; @read is set, the rest is filled in
 *
 * Return: 0. -EOPNOTSUPP if the module is attached to no device. The errors of
 * mlx5ep_notifier_create(), fcntl() and pthread_create().
 */
int listener_start(struct listener *listener)
{
	int ret;

	ret = find_device(&listener->context);
	if (ret)
		return ret;
	ret = mlx5ep_notifier_create(listener->context, 0, &listener->notifier);
	if (ret)
		goto err_context;
	if (fcntl(mlx5ep_notifier_fd(listener->notifier), F_SETFL,
		  O_NONBLOCK)) {
		ret = -errno;
		goto err_notifier;
	}
	ret = run_thread(listener);
	if (ret)
		goto err_notifier;
	return 0;

err_notifier:
	mlx5ep_notifier_destroy(listener->notifier);
err_context:
	ibv_close_device(listener->context);
	return ret;
}
