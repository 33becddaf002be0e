// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two processes share an XRC receive QP. The first one creates it, and ends. The
 * other one has joined, and the QP stays.
 *
 *	cc -o xrc xrc.c $(pkg-config --cflags --libs mlx5ep)
 *	./xrc [DEVICE]
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mlx5ep.h>

/* The program's own name of the remote process that the QP is connected to. */
#define KEY "node 17, rank 3"

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	int i;

	for (i = 0; list && list[i] && !context; i++)
		if (!name || !strcmp(name, ibv_get_device_name(list[i])))
			context = ibv_open_device(list[i]);
	if (!context)
		errx(1, "cannot open %s", name ? name : "a device");
	ibv_free_device_list(list);
	return context;
}

static void check(const char *what, int ret)
{
	if (ret < 0)
		errx(1, "%s: %s", what, strerror(-ret));
}

/* Both processes do the same: whoever comes first creates, and initialises. */
static struct mlx5ep_xrc_rcv_qp *join(struct mlx5ep_xrcd *domain,
				      const char *who)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct mlx5_ep_xrc_rcv_qp_modify answer;
	struct mlx5ep_xrc_rcv_qp *qp;
	int ret;

	ret = mlx5ep_xrc_rcv_qp_get(domain, KEY, strlen(KEY), 0, NULL, &qp);
	check("mlx5ep_xrc_rcv_qp_get", ret);
	printf("%s: %s the QP\n", who, ret ? "created" : "joined");

	ret = mlx5ep_xrc_rcv_qp_modify(qp, &attr, IBV_QP_STATE |
				       IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				       IBV_QP_ACCESS_FLAGS, &answer);
	check("mlx5ep_xrc_rcv_qp_modify", ret);
	printf("%s: %s\n", who,
	       answer.flags & MLX5_EP_XRC_RCV_QP_MODIFY_ALREADY ?
	       "it was in state INIT already" : "brought it to state INIT");
	fflush(stdout);
	return qp;
}

static void print_registrants(struct mlx5ep_xrc_rcv_qp *qp, const char *when)
{
	struct mlx5_ep_xrc_rcv_qp_info info;

	check("mlx5ep_xrc_rcv_qp_query",
	      mlx5ep_xrc_rcv_qp_query(qp, NULL, &info));
	printf("%s: %u registered, state %s\n", when, info.registrants,
	       info.qp_state == IBV_QPS_INIT ? "INIT" : "other");
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	char path[] = "/tmp/xrc-domain-XXXXXX", byte;
	int fd = mkstemp(path), joined[2], leave[2];
	struct mlx5ep_xrc_rcv_qp *qp;
	struct mlx5ep_xrcd *domain;
	pid_t creator;

	if (fd < 0 || pipe(joined) || pipe(leave))
		err(1, "mkstemp or pipe");
	creator = fork();
	check("mlx5ep_xrcd_open", mlx5ep_xrcd_open(open_device(name), fd,
						   O_CREAT, &domain));
	if (!creator) {
		join(domain, "creator");
		write(joined[1], "", 1);
		read(leave[0], &byte, 1);
		_exit(0);	/* the kernel ends its registration */
	}

	read(joined[0], &byte, 1);
	qp = join(domain, "other");
	print_registrants(qp, "both");
	write(leave[1], "", 1);
	waitpid(creator, NULL, 0);
	print_registrants(qp, "creator has ended");

	/* The last registration ends, and the QP with it. */
	check("mlx5ep_xrc_rcv_qp_unreg", mlx5ep_xrc_rcv_qp_unreg(qp));
	check("mlx5ep_xrcd_close", mlx5ep_xrcd_close(domain));
	unlink(path);
	return 0;
}
