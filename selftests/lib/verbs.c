// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Plain libibverbs for the tests: contexts, QPs, connections. Traffic is in
 * traffic.c.
 */
#include <errno.h>
#include <limits.h>
#include <net/ethernet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <infiniband/mlx5dv.h>

#include "page.h"
#include "verbs.h"
#include "verbs_xrc.h"

#define QKEY 0x11111111u

static int failed(const char *what)
{
	int ret = errno ? -errno : -EIO;

	fprintf(stderr, "# %s: %s\n", what, strerror(-ret));
	return ret;
}

struct ibv_device *verbs_find_device(struct ibv_device **list,
				     const char *name)
{
	for (; *list; list++)
		if (!strcmp(ibv_get_device_name(*list), name))
			return *list;
	errno = ENODEV;
	return NULL;
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	struct ibv_device *device;

	if (!list)
		return NULL;
	device = verbs_find_device(list, name);
	if (device)
		ctx = ibv_open_device(device);
	ibv_free_device_list(list);
	return ctx;
}

/* Where a device is in sysfs, which begins with its place on the bus. */
static void place_of(const struct ibv_device *device, char *place)
{
	char link[sizeof(device->ibdev_path) + sizeof("/device")];

	snprintf(link, sizeof(link), "%s/device", device->ibdev_path);
	if (!realpath(link, place))
		*place = '\0';
}

const char *verbs_device_name(void)
{
	char place[PATH_MAX], first[PATH_MAX] = "";
	struct ibv_device **list, **device;
	static char name[64];

	if (getenv("MLX5_EP_DEVICE"))
		return getenv("MLX5_EP_DEVICE");
	snprintf(name, sizeof(name), "mlx5_0");
	list = ibv_get_device_list(NULL);
	for (device = list; device && *device; device++) {
		place_of(*device, place);
		if (*first && strcmp(place, first) >= 0)
			continue;
		strcpy(first, place);
		snprintf(name, sizeof(name), "%s",
			 ibv_get_device_name(*device));
	}
	if (list)
		ibv_free_device_list(list);
	return name;
}

static int pd_put(struct verbs_setup *setup)
{
	if (!setup->imported)
		return ibv_dealloc_pd(setup->pd);
	ibv_unimport_pd(setup->pd);
	return 0;
}

/* What a context needs for traffic. Closes it after an error. */
static int setup_init(struct verbs_setup *setup, uint32_t pd_handle)
{
	size_t len = 2 * VERBS_SLICE * setup->max_endpoints;
	int ret;

	errno = -address_query(setup->ctx, &setup->address);
	if (errno) {
		ret = failed("the address of the port");
		goto err_close;
	}
	setup->pd = setup->imported ? ibv_import_pd(setup->ctx, pd_handle) :
				      ibv_alloc_pd(setup->ctx);
	if (!setup->pd) {
		ret = failed("the PD");
		goto err_close;
	}
	setup->cq = ibv_create_cq(setup->ctx, 4 * setup->max_endpoints + 16,
				  NULL, NULL, 0);
	if (!setup->cq) {
		ret = failed("ibv_create_cq");
		goto err_pd;
	}
	setup->buf = mmap(NULL, len, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (setup->buf == MAP_FAILED) {
		ret = failed("mmap");
		goto err_cq;
	}
	setup->mr = ibv_reg_mr(
		setup->pd, setup->buf, len,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	if (!setup->mr) {
		ret = failed("ibv_reg_mr");
		goto err_buf;
	}
	return 0;

err_buf:
	munmap(setup->buf, len);
err_cq:
	ibv_destroy_cq(setup->cq);
err_pd:
	pd_put(setup);
err_close:
	ibv_close_device(setup->ctx);
	memset(setup, 0, sizeof(*setup));
	return ret;
}

int verbs_open(struct verbs_setup *setup, const char *device,
	       size_t max_endpoints)
{
	memset(setup, 0, sizeof(*setup));
	setup->max_endpoints = max_endpoints;
	if (!device)
		device = verbs_device_name();
	setup->ctx = open_device(device);
	return setup->ctx ? setup_init(setup, 0) : failed(device);
}

int verbs_import(struct verbs_setup *setup, int cmd_fd, uint32_t pd_handle,
		 size_t max_endpoints)
{
	int fd = dup(cmd_fd), ret;

	memset(setup, 0, sizeof(*setup));
	setup->max_endpoints = max_endpoints;
	setup->imported = true;
	setup->ctx = ibv_import_device(fd);
	if (setup->ctx)
		return setup_init(setup, pd_handle);
	ret = failed("ibv_import_device");
	close(fd);
	return ret;
}

void verbs_close(struct verbs_setup *setup)
{
	if (!setup->ctx)
		return;
	if (ibv_dereg_mr(setup->mr))
		failed("ibv_dereg_mr");
	munmap(setup->buf, 2 * VERBS_SLICE * setup->max_endpoints);
	if (setup->xrcd && ibv_close_xrcd(setup->xrcd))
		failed("ibv_close_xrcd");
	if (ibv_destroy_cq(setup->cq))
		failed("ibv_destroy_cq");
	if (pd_put(setup))
		failed("ibv_dealloc_pd");
	if (ibv_close_device(setup->ctx))
		failed("ibv_close_device");
	memset(setup, 0, sizeof(*setup));
}

struct ibv_qp *verbs_qp_create(struct ibv_pd *pd, struct ibv_cq *cq,
			       enum ibv_qp_type type)
{
	bool receives = type != IBV_QPT_XRC_SEND;
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = receives ? cq : NULL,
		.qp_type = type,
		.sq_sig_all = 1,
		.cap = {
			.max_send_wr = 4,
			.max_recv_wr = receives ? 4 : 0,
			.max_send_sge = 1,
			.max_recv_sge = receives ? 1 : 0,
			.max_inline_data = 32,
		},
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};

	return ibv_create_qp_ex(pd->context, &attr);
}

/* Whether the QP is one end of a reliable connection. */
static bool is_reliable(const struct ibv_qp *qp)
{
	return qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_SEND ||
		qp->qp_type == IBV_QPT_XRC_RECV;
}

/* Whether the QP answers reads and atomics. */
static bool is_responder(const struct ibv_qp *qp)
{
	return is_reliable(qp) && qp->qp_type != IBV_QPT_XRC_SEND;
}

static bool is_requester(const struct ibv_qp *qp)
{
	return is_reliable(qp) && qp->qp_type != IBV_QPT_XRC_RECV;
}

static int to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = QKEY,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	if (is_reliable(qp))
		attr.qp_access_flags |= IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_REMOTE_ATOMIC;
	mask |= qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	return ibv_modify_qp(qp, &attr, mask);
}

static int to_rtr(struct ibv_qp *qp, uint32_t peer, const struct address *to)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer,
		.rq_psn = peer & 0xffff,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = address_path(to),
	};
	int mask = IBV_QP_STATE;

	if (qp->qp_type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN;
	if (is_responder(qp))
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return ibv_modify_qp(qp, &attr, mask);
}

static int to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = qp->qp_num & 0xffff,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (is_reliable(qp))
		mask |= IBV_QP_TIMEOUT;
	if (is_requester(qp))
		mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return ibv_modify_qp(qp, &attr, mask);
}

/* A raw packet QP has a port, and nothing else that a program sets. */
static int raw_to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	int ret = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT);

	for (attr.qp_state = IBV_QPS_RTR;
	     !ret && attr.qp_state <= IBV_QPS_RTS; attr.qp_state++)
		ret = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	return ret;
}

int verbs_qp_connect(struct ibv_qp *qp, uint32_t peer, const struct address *to)
{
	int ret;

	if (qp->qp_type == IBV_QPT_RAW_PACKET)
		return -raw_to_rts(qp);
	ret = to_init(qp);
	if (!ret)
		ret = to_rtr(qp, peer, to);
	if (!ret)
		ret = to_rts(qp);
	return -ret;
}

static int connect_to_self(struct verbs_endpoint *endpoint)
{
	const struct address *self = &endpoint->setup->address;
	struct ibv_ah_attr ah = address_path(self);
	struct ibv_qp *receiver =
		endpoint->target ? endpoint->target : endpoint->qp;
	int ret;

	ret = verbs_qp_connect(endpoint->qp, receiver->qp_num, self);
	if (!ret && endpoint->target)
		ret = verbs_qp_connect(endpoint->target, endpoint->qp->qp_num,
				       self);
	if (ret) {
		errno = -ret;
		return failed("ibv_modify_qp");
	}
	if (endpoint->qp->qp_type == IBV_QPT_UD) {
		endpoint->ah = ibv_create_ah(endpoint->setup->pd, &ah);
		if (!endpoint->ah)
			return failed("ibv_create_ah");
	}
	return 0;
}

int verbs_endpoint_create_in(struct verbs_setup *setup, struct ibv_pd *pd,
			     struct verbs_endpoint *endpoint,
			     enum ibv_qp_type type)
{
	int ret;

	memset(endpoint, 0, sizeof(*endpoint));
	if (setup->next >= setup->max_endpoints)
		return -ENOBUFS;
	endpoint->setup = setup;
	endpoint->peer = endpoint;
	endpoint->src = setup->buf + 2 * VERBS_SLICE * setup->next;
	endpoint->dst = endpoint->src + VERBS_SLICE;
	endpoint->qp = verbs_qp_create(pd, setup->cq, type);
	if (!endpoint->qp)
		return errno ? -errno : -EIO;
	ret = type == IBV_QPT_XRC_SEND ? verbs_xrc_create(endpoint) : 0;
	if (!ret)
		ret = connect_to_self(endpoint);
	if (ret) {
		verbs_endpoint_destroy(endpoint);
		return ret;
	}
	setup->next++;
	return 0;
}

int verbs_endpoint_create(struct verbs_setup *setup,
			  struct verbs_endpoint *endpoint,
			  enum ibv_qp_type type)
{
	return verbs_endpoint_create_in(setup, setup->pd, endpoint, type);
}

void verbs_endpoint_destroy(struct verbs_endpoint *endpoint)
{
	if (endpoint->ah && ibv_destroy_ah(endpoint->ah))
		failed("ibv_destroy_ah");
	if (endpoint->qp && ibv_destroy_qp(endpoint->qp))
		failed("ibv_destroy_qp");
	endpoint->ah = NULL;
	endpoint->qp = NULL;
	if (verbs_xrc_destroy(endpoint))
		failed("destroying what an XRC endpoint receives by");
}

int verbs_uuar(struct ibv_qp *qp, unsigned int *index)
{
	struct mlx5dv_qp dv = { .comp_mask = MLX5DV_QP_MASK_UAR_MMAP_OFFSET };
	struct mlx5dv_obj obj = { .qp = { .in = qp, .out = &dv } };
	unsigned long bytes = page_bytes(), reg;
	unsigned int page, command;
	int ret;

	ret = mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP);
	if (ret)
		return ret > 0 ? -ret : ret;
	if (!(dv.comp_mask & MLX5DV_QP_MASK_UAR_MMAP_OFFSET))
		return -EOPNOTSUPP;
	/* libmlx5: index in bits 0-7 and 16 up, command in bits 8-15 */
	page = dv.uar_mmap_offset / bytes;
	command = page >> 8 & 0xff;
	page = (page & 0xff) | page >> 16 << 8;
	if (command != 0 && command != 2 && command != 3)
		return -ENOENT;
	/* A page of the system has several UAR pages of 4 KiB. */
	reg = (uintptr_t)dv.bf.reg & (bytes - 1);
	page = page * (bytes / 4096) + reg / 4096;
	*index = 2 * page + ((reg & 0xfff) >= 0xa00);
	return 0;
}

int verbs_send_frame(struct ibv_qp *qp, void *buf, uint32_t len, uint32_t lkey)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)buf,
		.length = len,
		.lkey = lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	};
	struct ibv_wc wc;
	int n;

	memset(buf, 2, 2 * ETHER_ADDR_LEN);
	if (ibv_post_send(qp, &wr, &bad))
		return -EIO;
	do
		n = ibv_poll_cq(qp->send_cq, 1, &wc);
	while (!n);
	return n == 1 && !wc.status ? 0 : -EIO;
}
