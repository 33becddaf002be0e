// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Asks that each QP of the contexts which this process opens from now on gets a UAR
 * page of its own, and prints which uUAR each QP rings.
 *
 *	cc -o policy policy.c $(pkg-config --cflags --libs mlx5ep)
 *	./policy [DEVICE]
 */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include <mlx5ep.h>

#define QPS 4

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

static void print_qp(struct ibv_qp *qp)
{
	struct mlx5_ep_qp_uuar uuar;
	int ret;

	ret = mlx5ep_qp_query_uuar(qp, &uuar);
	if (ret)
		errx(1, "mlx5ep_qp_query_uuar: %s", strerror(-ret));
	printf("QP: page %u, slot %u, level %u, %u QP on this uUAR\n",
	       uuar.page, uuar.slot, uuar.level, uuar.uuar_qps);
}

int main(int argc, char **argv)
{
	struct mlx5_ep_context_policy policy = {
		.policy = MLX5_EP_UUAR_POLICY_INDEPENDENT,
		.flags = MLX5_EP_POLICY_LATER_OPENS,
		.pages = QPS,
	};
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 16, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_context *first, *context;
	struct ibv_qp *qps[QPS];
	struct ibv_pd *pd;
	int i, ret;

	/* The policy holds while this context is open. */
	first = open_device(argc > 1 ? argv[1] : NULL);
	ret = mlx5ep_context_set_policy(first, &policy);
	if (ret)
		errx(1, "mlx5ep_context_set_policy: %s", strerror(-ret));

	context = open_device(ibv_get_device_name(first->device));
	pd = ibv_alloc_pd(context);
	attr.send_cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	if (!pd || !attr.send_cq)
		err(1, "PD or CQ");
	for (i = 0; i < QPS; i++) {
		qps[i] = ibv_create_qp(pd, &attr);
		if (!qps[i])
			err(1, "ibv_create_qp");
		print_qp(qps[i]);
	}

	for (i = 0; i < QPS; i++)
		ibv_destroy_qp(qps[i]);
	ibv_destroy_cq(attr.send_cq);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	ibv_close_device(first);
	return 0;
}
