// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Contexts, QPs and XRC domains by stock libmlx5. One thread at a time uses the
 * library; methods of the module run beside it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>

#include "fuzz/fuzz.h"
#include "lib/ctx_open.h"
#include "lib/devx.h"
#include "lib/uverbs.h"

int objects_open(struct fuzz_session *s)
{
	int ret = verbs_open(&s->setup, NULL, FUZZ_SLOTS);

	if (ret)
		memset(&s->setup, 0, sizeof(s->setup));
	return ret;
}

static void close_xrcds(struct fuzz_session *s)
{
	int i;

	for (i = 0; i < 2; i++)
		if (s->xrcds[i] && !ibv_close_xrcd(s->xrcds[i]))
			s->xrcds[i] = NULL;
}

void objects_close(struct fuzz_session *s)
{
	int i;

	for (i = 0; i < FUZZ_SLOTS; i++) {
		if (s->qps[i])
			ibv_destroy_qp(s->qps[i]);
		s->qps[i] = NULL;
	}
	if (s->td_pd)
		ibv_dealloc_pd(s->td_pd);
	s->td_pd = NULL;
	close_xrcds(s);
	/* What an open registration keeps ends with the context. */
	memset(s->xrcds, 0, sizeof(s->xrcds));
	if (s->setup.ctx)
		verbs_close(&s->setup);
	memset(&s->setup, 0, sizeof(s->setup));
}

void op_ctx_open(struct fuzz_session *s, const uint64_t *a)
{
	pthread_mutex_lock(&s->verbs);
	objects_close(s);
	objects_open(s);
	pthread_mutex_unlock(&s->verbs);
}

void op_ctx_raw(struct fuzz_session *s, const uint64_t *a)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = {
		.total_num_bfregs = a[1],
		.num_low_latency_bfregs = a[2],
		.flags = a[3],
		.comp_mask = a[4] < 9 ? 0 : a[4],
		.max_cqe_version = a[5] & 1,
		.lib_caps = a[5],
	};
	uint16_t len = a[4] == 7 ? a[5] : sizeof(req);
	int *slot = &s->raw[a[0] % 2];

	if (*slot >= 0)
		close(*slot);
	if (len > sizeof(req))
		len = sizeof(req);
	*slot = ctx_open_request(&req, len);
}

static struct ibv_pd *pd_of_domain(struct fuzz_session *s)
{
	struct ibv_td_init_attr td = {};
	struct ibv_parent_domain_init_attr attr = { .pd = s->setup.pd };

	if (!s->td_pd) {
		attr.td = ibv_alloc_td(s->setup.ctx, &td);
		if (attr.td)
			s->td_pd = ibv_alloc_parent_domain(s->setup.ctx, &attr);
	}
	return s->td_pd ? s->td_pd : s->setup.pd;
}

void op_qp_create(struct fuzz_session *s, const uint64_t *a)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_RECV,
	};
	struct ibv_qp **slot = &s->qps[a[2] % FUZZ_SLOTS];
	enum ibv_qp_type type = types[a[3] % 4];
	struct ibv_qp_init_attr_ex tgt = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = s->xrcds[a[4] % 2],
	};

	pthread_mutex_lock(&s->verbs);
	if (s->setup.ctx && *slot && !ibv_destroy_qp(*slot))
		*slot = NULL;
	if (s->setup.ctx && !*slot && type == IBV_QPT_XRC_RECV && tgt.xrcd)
		*slot = ibv_create_qp_ex(s->setup.ctx, &tgt);
	else if (s->setup.ctx && !*slot && type != IBV_QPT_XRC_RECV)
		*slot = verbs_qp_create(a[5] % 4 ? s->setup.pd :
						   pd_of_domain(s),
					s->setup.cq, type);
	if (*slot)
		s->reg_num = (*slot)->qp_num;
	pthread_mutex_unlock(&s->verbs);
}

void op_qp_destroy(struct fuzz_session *s, const uint64_t *a)
{
	struct ibv_qp **slot = &s->qps[a[2] % FUZZ_SLOTS];

	pthread_mutex_lock(&s->verbs);
	if (*slot && !ibv_destroy_qp(*slot))
		*slot = NULL;
	pthread_mutex_unlock(&s->verbs);
}

void op_qp_modify(struct fuzz_session *s, const uint64_t *a)
{
	struct ibv_qp *qp;

	pthread_mutex_lock(&s->verbs);
	qp = s->qps[a[2] % FUZZ_SLOTS];
	if (qp)
		verbs_qp_connect(qp, qp->qp_num, &s->setup.address);
	pthread_mutex_unlock(&s->verbs);
}

void op_devx_qp(struct fuzz_session *s, const uint64_t *a)
{
	struct mlx5dv_devx_uar *uar = NULL;
	struct devx_qp qp;

	pthread_mutex_lock(&s->verbs);
	if (s->setup.ctx)
		uar = mlx5dv_devx_alloc_uar(s->setup.ctx, a[1] & 1);
	if (uar && !devx_qp_create(&s->setup,
				   a[2] < 9 ? uar->page_id : (uint32_t)a[2],
				   &qp)) {
		if (a[3] & 1)
			devx_qp_connect(&s->setup, &qp);
		devx_qp_destroy(&qp);
	}
	if (uar)
		mlx5dv_devx_free_uar(uar);
	pthread_mutex_unlock(&s->verbs);
}

void op_xrcd_open(struct fuzz_session *s, const uint64_t *a)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_xrcd **slot = &s->xrcds[a[1] % 2];

	if (a[2] & 1)
		attr.fd = open("/tmp/fuzz_domain", O_RDWR | O_CREAT | O_CLOEXEC,
			       0600);
	pthread_mutex_lock(&s->verbs);
	if (*slot && !ibv_close_xrcd(*slot))
		*slot = NULL;
	if (!*slot && s->setup.ctx)
		*slot = ibv_open_xrcd(s->setup.ctx, &attr);
	pthread_mutex_unlock(&s->verbs);
	if (attr.fd >= 0)
		close(attr.fd);
}

void op_xrcd_close(struct fuzz_session *s, const uint64_t *a)
{
	struct ibv_xrcd **slot = &s->xrcds[a[1] % 2];

	pthread_mutex_lock(&s->verbs);
	if (*slot && !ibv_close_xrcd(*slot))
		*slot = NULL;
	pthread_mutex_unlock(&s->verbs);
}

uint32_t objects_xrcd_handle(struct fuzz_session *s, uint64_t which)
{
	struct ibv_xrcd *xrcd = s->xrcds[which % 2] ?: s->xrcds[0];

	return xrcd ? uverbs_xrcd_handle(xrcd) : (uint32_t)which;
}
