// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * source_hold REGISTRATIONS - how long does the kernel keep the CPU while a notifier
 * ends that very many registrations have posted an event to?
 *
 * Prints "NAME LATE N" as sleeper_print() says, for each of
 *
 * - none: a notifier without registrations ends, which includes what waking the thread
 *   takes by itself;
 * - end: that of the registrations with one shared XRC receive QP ends.
 *
 * What ib_core takes to tell all registrations of an event is between the two.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simhca.h"
#include "sleeper.h"
#include "sysfs.h"
#include "xrc.h"

#define ROUNDS 20
#define EVENT_MS 60000

enum phase { NONE, END, BETWEEN, PHASES };

static const char *const names[] = { "none", "end" };

static int end_empty(struct ibv_context *ctx)
{
	struct mlx5ep_notifier *n;
	int ret;

	sleeper_phase(BETWEEN);
	ret = mlx5ep_notifier_create(ctx, 1, &n);
	if (ret)
		return ret;
	sleeper_phase(NONE);
	sleeper_wait();
	return mlx5ep_notifier_destroy(n);
}

static int reg_all(struct xrc_node *node, struct mlx5ep_notifier *n, int count,
		   uint32_t *num)
{
	struct mlx5ep_xrc_events events = {
		.notifier_fd = mlx5ep_notifier_fd(n),
	};
	struct mlx5ep_xrc_rcv_qp *qp;
	int ret = 0;

	while (count-- && ret >= 0)
		ret = mlx5ep_xrc_rcv_qp_get(node->xrcd, "k", 1, 0, &events, &qp);
	if (ret >= 0)
		*num = mlx5ep_xrc_rcv_qp_num(qp);
	return ret < 0 ? ret : 0;
}

/* Registrations that have posted to the only notifier, and were not read. */
static int unread(void)
{
	FILE *file = debugfs_open("watches");
	int n = -1;

	/* pid watches capacity bytes events unread xrc_events xrc_unread comm */
	if (file && fscanf(file, "%*d %*u %*u %*u %*u %*u %*u %d", &n) != 1)
		n = -1;
	if (file)
		fclose(file);
	return n;
}

static int post_all(struct mlx5ep_notifier *n, uint32_t num, int count)
{
	struct pollfd pfd = { .fd = mlx5ep_notifier_fd(n), .events = POLLIN };
	int ret;

	ret = simhca_ask(
		"{\"op\":\"fault\",\"hca\":0,\"kind\":\"event\",\"event\":\"COMM_EST\",\"qpn\":%u}",
		num);
	if (ret)
		return ret;
	if (poll(&pfd, 1, EVENT_MS) != 1 || unread() != count)
		return -EPROTO;
	return 0;
}

static int measure(struct xrc_node *node, int count)
{
	struct mlx5ep_notifier *n;
	uint32_t num;
	int i, ret;

	ret = mlx5ep_notifier_create(node->ctx, 1, &n) ?:
	      reg_all(node, n, count, &num) ?: post_all(n, num, count) ?:
	      sleeper_start();
	for (i = 0; i < ROUNDS && !ret; i++)
		ret = end_empty(node->ctx);
	if (ret)
		return ret;
	sleeper_phase(END);
	sleeper_wait();
	ret = mlx5ep_notifier_destroy(n);
	sleeper_phase(BETWEEN);
	sleeper_stop();
	return ret;
}

int main(int argc, char **argv)
{
	struct xrc_node node;
	int ret;

	if (argc != 2)
		return 2;
	ret = xrc_node_open(&node, NULL, NULL, 0) ?:
	      measure(&node, atoi(argv[1]));
	if (ret) {
		fprintf(stderr, "source_hold: %s\n", strerror(-ret));
		return 1;
	}
	sleeper_print(names, BETWEEN);
	fflush(stdout);
	/* The kernel ends the registrations. */
	_exit(0);
}
