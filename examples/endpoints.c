// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Gives each of four threads an endpoint with a UAR page of its own. Each thread
 * connects its QP to itself and writes a number from one half of its buffer to the
 * other, through the adapter.
 *
 *	cc -pthread -o endpoints endpoints.c $(pkg-config --cflags --libs mlx5ep)
 *	./endpoints [DEVICE]
 */
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <mlx5ep.h>

#define THREADS 4

struct worker {
	struct mlx5ep_endpoint endpoint;
	uint64_t buffer[2];
	pthread_t thread;
};

static void connect_to_itself(struct mlx5ep_endpoint *endpoint)
{
	struct ibv_port_attr port;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = endpoint->qp->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = { .port_num = 1, .grh = { .hop_limit = 1 } },
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	if (ibv_query_port(endpoint->context, 1, &port) ||
	    ibv_query_gid(endpoint->context, 1, 0, &attr.ah_attr.grh.dgid))
		err(1, "port 1");
	attr.ah_attr.dlid = port.lid;
	attr.ah_attr.is_global = port.link_layer == IBV_LINK_LAYER_ETHERNET;
	if (ibv_modify_qp(endpoint->qp, &attr, IBV_QP_STATE |
			  IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS))
		err(1, "INIT");
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(endpoint->qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			  IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		err(1, "RTR");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(endpoint->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			  IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			  IBV_QP_MAX_QP_RD_ATOMIC))
		err(1, "RTS");
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct mlx5ep_endpoint *endpoint = &worker->endpoint;
	struct ibv_poll_cq_attr poll_attr = {};
	struct ibv_send_wr *bad;
	struct ibv_mr *mr;

	connect_to_itself(endpoint);
	mr = ibv_reg_mr(endpoint->pd, worker->buffer, sizeof(worker->buffer),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!mr)
		err(1, "ibv_reg_mr");
	struct ibv_sge sge = {
		.addr = (uintptr_t)&worker->buffer[0],
		.length = sizeof(worker->buffer[0]),
		.lkey = mr->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.sg_list = &sge,
		.num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)&worker->buffer[1], mr->rkey },
	};

	/* The QP is in a thread domain: neither call takes a lock. */
	if (ibv_post_send(endpoint->qp, &wr, &bad))
		errx(1, "ibv_post_send");
	while (ibv_start_poll(endpoint->cq_ex, &poll_attr))
		;
	if (endpoint->cq_ex->status != IBV_WC_SUCCESS)
		errx(1, "%s", ibv_wc_status_str(endpoint->cq_ex->status));
	ibv_end_poll(endpoint->cq_ex);
	ibv_dereg_mr(mr);
	return NULL;
}

int main(int argc, char **argv)
{
	struct mlx5ep_endpoints_attr attr = {
		.category = MLX5EP_CATEGORY_DYNAMIC,
	};
	struct worker workers[THREADS] = {};
	struct mlx5ep_endpoints_info info;
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct mlx5ep_endpoints *set;
	int i, ret;

	for (i = 0; list && list[i]; i++)
		if (argc < 2 || !strcmp(argv[1], ibv_get_device_name(list[i])))
			break;
	if (!list || !list[i])
		errx(1, "no such device");
	ret = mlx5ep_endpoints_open(list[i], &attr, THREADS, &set);
	if (ret)
		errx(1, "mlx5ep_endpoints_open: %s", strerror(-ret));
	mlx5ep_endpoints_query(set, &info);
	printf("%u endpoints, %u QPs, %u UAR pages, %u uUARs in use\n",
	       info.endpoints, info.qps, info.uar_pages, info.used_uuars);

	for (i = 0; i < THREADS; i++) {
		workers[i].buffer[0] = 1000 + i;
		mlx5ep_endpoints_get(set, i, &workers[i].endpoint);
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		printf("endpoint %d: level %u, wrote %lu\n", i,
		       workers[i].endpoint.level, workers[i].buffer[1]);
	}
	mlx5ep_endpoints_destroy(set);
	ibv_free_device_list(list);
	return 0;
}
