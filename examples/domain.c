// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Creates two QPs of its own on a UAR page that nobody else rings, connects each to
 * the other, and sends a message from one to the other.
 *
 *	cc -o domain domain.c $(pkg-config --cflags --libs mlx5ep)
 *	./domain [DEVICE]
 */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include <mlx5ep.h>

static void check(const char *what, int ret)
{
	if (ret)
		errx(1, "%s: %s", what, strerror(-ret));
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	if (!qp)
		err(1, "ibv_create_qp");
	return qp;
}

/* Two processes would send these addresses to each other. */
static void connect_both(struct ibv_qp *qps[2])
{
	struct mlx5ep_endpoint_address addresses[2];
	int i;

	for (i = 0; i < 2; i++)
		check("mlx5ep_endpoint_address",
		      mlx5ep_endpoint_address(qps[i], NULL, &addresses[i]));
	for (i = 0; i < 2; i++)
		check("mlx5ep_endpoint_connect",
		      mlx5ep_endpoint_connect(qps[i], NULL, &addresses[1 - i]));
}

static void send_one(struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_qp *qps[2])
{
	char text[2][32] = { "hello from a page of my own" };
	struct ibv_mr *mr = ibv_reg_mr(pd, text, sizeof(text),
				       IBV_ACCESS_LOCAL_WRITE);
	struct ibv_recv_wr *bad_recv;
	struct ibv_send_wr *bad_send;
	struct ibv_wc wc;
	int done = 0;

	if (!mr)
		err(1, "ibv_reg_mr");
	struct ibv_sge from = { (uintptr_t)text[0], 32, mr->lkey };
	struct ibv_sge to = { (uintptr_t)text[1], 32, mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &to, .num_sge = 1 };
	struct ibv_send_wr send = {
		.sg_list = &from,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	/* The QP is in a thread domain: posting takes no lock. */
	if (ibv_post_recv(qps[1], &recv, &bad_recv) ||
	    ibv_post_send(qps[0], &send, &bad_send))
		errx(1, "cannot post");
	while (done < 2) {
		if (!ibv_poll_cq(cq, 1, &wc))
			continue;
		if (wc.status)
			errx(1, "%s", ibv_wc_status_str(wc.status));
		done++;
	}
	printf("received: %s\n", text[1]);
	ibv_dereg_mr(mr);
}

int main(int argc, char **argv)
{
	struct mlx5ep_domain_attr attr = { .level = 1 };
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct mlx5ep_domain *domain;
	struct mlx5ep_domain_info info;
	struct ibv_context *context;
	struct ibv_qp *qps[2];
	struct ibv_cq *cq;
	struct ibv_pd *pd;
	int i;

	for (i = 0; list && list[i]; i++)
		if (argc < 2 || !strcmp(argv[1], ibv_get_device_name(list[i])))
			break;
	if (!list || !list[i])
		errx(1, "no such device");
	context = ibv_open_device(list[i]);
	if (!context)
		err(1, "ibv_open_device");
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 4, NULL, NULL, 0);
	if (!pd || !cq)
		err(1, "PD or CQ");

	check("mlx5ep_domain_alloc", mlx5ep_domain_alloc(pd, &attr, &domain));
	mlx5ep_domain_query(domain, &info);
	printf("level %u, BlueFlame: %s\n", info.level,
	       info.flags & MLX5EP_DOMAIN_BLUEFLAME ? "yes" : "no");
	for (i = 0; i < 2; i++)
		qps[i] = create_qp(mlx5ep_domain_pd(domain), cq);
	connect_both(qps);
	send_one(pd, cq, qps);

	for (i = 0; i < 2; i++)
		ibv_destroy_qp(qps[i]);
	check("mlx5ep_domain_free", mlx5ep_domain_free(domain));
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	ibv_free_device_list(list);
	return 0;
}
