// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Runs with mlx5_ep and without it. The program is not linked to libmlx5ep, and opens it
 * with dlopen(). If the library or the module is missing, the program keeps a
 * registration cache of its own, which it must tell what it unmaps. Both ways the same
 * messages arrive.
 *
 *	cc -o dual dual.c $(pkg-config --cflags mlx5ep) -libverbs -ldl
 *	./dual [DEVICE]
 */
#include <dlfcn.h>
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <mlx5ep.h>

#define LENGTH (64 * 4096)
#define MESSAGE 8192
#define MESSAGES 1000

/* The calls of the library: the names and types of the header, without linking. */
#define CALL(name) __typeof__(mlx5ep_##name) *name
static struct {
	CALL(version);
	CALL(mr_cache_create);
	CALL(mr_cache_get);
	CALL(mr_cache_put);
	CALL(mr_cache_query);
	CALL(mr_cache_destroy);
} ep;

static struct mlx5ep_mr_cache *cache;

/* The program's own cache: one registration, of the whole buffer. */
static struct ibv_mr *own;
static unsigned int own_registrations;

/* NULL, or why the library cannot be used. */
static const char *load_library(void)
{
	void *lib = dlopen("libmlx5ep.so.0", RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		return "libmlx5ep is missing";
#define FIND(name) (ep.name = (__typeof__(ep.name))dlsym(lib, "mlx5ep_" #name))
	/* mlx5ep_version() came with 0.9.0. An older library lacks it. */
	if (!FIND(version) || !FIND(mr_cache_create) || !FIND(mr_cache_get) ||
	    !FIND(mr_cache_put) || !FIND(mr_cache_query) ||
	    !FIND(mr_cache_destroy))
		return "libmlx5ep is too old";
	return NULL;
}

static void open_cache(struct ibv_pd *pd)
{
	struct mlx5ep_mr_cache_attr attr = { .access = IBV_ACCESS_LOCAL_WRITE };
	const char *reason = load_library();
	int ret;

	if (!reason) {
		ret = ep.mr_cache_create(pd, &attr, &cache);
		if (!ret) {
			printf("cache: libmlx5ep's\n");
			return;
		}
		reason = ret == -EOPNOTSUPP ? "the module is missing" :
			 strerror(-ret);
	}
	printf("cache: my own (%s)\n", reason);
}

/* @use: what put_mr() takes back */
static struct ibv_mr *get_mr(struct ibv_pd *pd, char *buffer,
			     struct mlx5ep_mr_cache_entry **use)
{
	int ret;

	if (cache) {
		ret = ep.mr_cache_get(cache, buffer, LENGTH, use);
		if (ret)
			errx(1, "mlx5ep_mr_cache_get: %s", strerror(-ret));
		return (*use)->mr;
	}
	if (!own) {
		own = ibv_reg_mr(pd, buffer, LENGTH, IBV_ACCESS_LOCAL_WRITE);
		own_registrations++;
	}
	if (!own)
		err(1, "ibv_reg_mr");
	return own;
}

static void put_mr(struct mlx5ep_mr_cache_entry *use)
{
	if (cache)
		ep.mr_cache_put(cache, use);
}

/* Only the program's own cache must be told that memory goes. */
static void forget(void)
{
	if (own && ibv_dereg_mr(own))
		errx(1, "ibv_dereg_mr failed");
	own = NULL;
}

static unsigned int registrations(void)
{
	struct mlx5ep_mr_cache_stats stats = { 0 };

	if (!cache)
		return own_registrations;
	ep.mr_cache_query(cache, &stats);
	return stats.misses;
}

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

/* A QP that is connected to itself. */
static struct ibv_qp *loopback(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { 1, 1, 1, 1, 0 }, .sq_sig_all = 1,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_port_attr port;
	int ret;

	if (!qp || ibv_query_port(pd->context, 1, &port))
		err(1, "cannot create a QP");
	ret = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			    IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = port.active_mtu;
	attr.dest_qp_num = qp->qp_num;
	attr.min_rnr_timer = 12;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.dlid = port.lid;
	attr.ah_attr.grh.hop_limit = 1;
	attr.ah_attr.is_global = port.link_layer == IBV_LINK_LAYER_ETHERNET;
	ibv_query_gid(pd->context, 1, 0, &attr.ah_attr.grh.dgid);
	ret |= ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			     IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			     IBV_QP_MIN_RNR_TIMER);
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = attr.rnr_retry = 7;
	ret |= ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
	if (ret)
		errx(1, "cannot connect a QP");
	return qp;
}

static void transfer(struct ibv_qp *qp, struct ibv_sge from, struct ibv_sge to)
{
	struct ibv_send_wr send = {
		.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
	}, *bad_send;
	struct ibv_recv_wr receive = { .sg_list = &to, .num_sge = 1 }, *bad;
	struct ibv_wc wc;
	int i, n;

	if (ibv_post_recv(qp, &receive, &bad) ||
	    ibv_post_send(qp, &send, &bad_send))
		errx(1, "cannot post");
	for (i = 0; i < 2; i += n) {
		n = ibv_poll_cq(qp->send_cq, 1, &wc);
		if (n < 0 || (n && wc.status != IBV_WC_SUCCESS))
			errx(1, "a transfer failed");
	}
}

/* Sends from a buffer that is mapped anew, often at the address of the last one. */
static void send_messages(struct ibv_qp *qp, struct ibv_mr *inbox, char seed)
{
	struct mlx5ep_mr_cache_entry *use;
	int i, right = 0;
	struct ibv_mr *mr;
	char *buffer, *message;

	buffer = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffer == MAP_FAILED)
		err(1, "mmap");
	for (i = 0; i < MESSAGES; i++) {
		message = buffer + i * 64 % (LENGTH - MESSAGE);
		memset(message, seed + i, MESSAGE);
		mr = get_mr(qp->pd, buffer, &use);
		transfer(qp, (struct ibv_sge) { (uintptr_t)message, MESSAGE,
						mr->lkey },
			 (struct ibv_sge) { (uintptr_t)inbox->addr, MESSAGE,
					    inbox->lkey });
		put_mr(use);
		right += !memcmp(inbox->addr, message, MESSAGE);
	}
	printf("%d of %d messages are right\n", right, MESSAGES);
	forget();
	munmap(buffer, LENGTH);
}

int main(int argc, char **argv)
{
	struct ibv_context *context = open_device(argc > 1 ? argv[1] : NULL);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, NULL, 0);
	struct ibv_qp *qp = loopback(pd, cq);
	static char inbox[MESSAGE];
	struct ibv_mr *mr = ibv_reg_mr(pd, inbox, MESSAGE,
				       IBV_ACCESS_LOCAL_WRITE);

	open_cache(pd);
	send_messages(qp, mr, 1);
	send_messages(qp, mr, 2);
	printf("%u registrations for %d messages\n", registrations(),
	       2 * MESSAGES);

	if (cache)
		ep.mr_cache_destroy(cache);
	ibv_dereg_mr(mr);
	ibv_destroy_qp(qp);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	return 0;
}
