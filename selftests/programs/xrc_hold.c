// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * xrc_hold FILE KEY - register with the shared XRC receive QP of a key
 *
 * FILE names the domain. Prints "holds NUMBER", then each event of the QP or
 * device as a line, until it is killed or the device goes; then what a call
 * says, and exits 0.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <rdma/mlx5_ep_notifier.h>

#include "xrc.h"

int main(int argc, char **argv)
{
	struct mlx5ep_xrc_events events = { .cookie = 1 };
	struct mlx5ep_notifier *notifier;
	struct mlx5ep_xrc_rcv_qp *qp;
	struct mlx5_ep_event event;
	struct xrc_node node;
	ssize_t got;
	int ret;

	if (argc != 3) {
		fprintf(stderr, "usage: xrc_hold FILE KEY\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (xrc_node_open(&node, NULL, argv[1], 0) ||
	    mlx5ep_notifier_create(node.ctx, 1, &notifier))
		return 1;
	events.notifier_fd = mlx5ep_notifier_fd(notifier);
	ret = mlx5ep_xrc_rcv_qp_get(node.xrcd, argv[2], strlen(argv[2]), 0,
				    &events, &qp);
	if (ret < 0) {
		fprintf(stderr, "xrc_hold: %s\n", strerror(-ret));
		return 1;
	}
	printf("holds 0x%06x\n", mlx5ep_xrc_rcv_qp_num(qp));
	while ((got = read(events.notifier_fd, &event, sizeof(event))) ==
	       sizeof(event))
		printf("event %u\n", event.type);
	printf("read %s\n", got < 0 ? strerror(errno) : "short");
	ret = mlx5ep_xrc_rcv_qp_query(qp, NULL, NULL);
	printf("query %s\n", strerror(-ret));
	ret = mlx5ep_xrc_rcv_qp_unreg(qp);
	printf("unreg %s\n", strerror(-ret));
	return 0;
}
