/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Endpoints and domains, compiled into the program that includes this file, on verbs that
 * consist of this file. Thread domains get the uUARs of an order that the test gives, other
 * QPs those that libmlx5 gives them. Each call that makes or ends an object can fail, and
 * the objects and the memory that are left are counted.
 */
#ifndef ENDPOINTS_FAKE_H
#define ENDPOINTS_FAKE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <mlx5ep.h>

#define FAKE_DOMAINS	4096		/* thread domains at most */
#define FAKE_PAGE	4096ul
#define FAKE_PAGES	0x10000000ul	/* of thread domains */
#define FAKE_STATIC	0x20000000ul	/* of the other QPs, for each context */
#define FAKE_GUARD	0x5a5a5a5a5a5a5a5aull

enum fake_kind { FAKE_CTX, FAKE_PD, FAKE_TD, FAKE_CQ, FAKE_QP, FAKE_KINDS };

static struct {
	int live[FAKE_KINDS];
	int made[FAKE_KINDS];
	int blocks;		/* of memory */
	bool overrun;		/* somebody wrote behind a block */
	bool without_cq;	/* a QP was asked for that has none */
	int calls, failing;	/* that make something; which one fails, from 1 */
	int ends, failing_end;	/* that end something */
	int fail_errno;
	void (*meanwhile)(void);	/* what another thread does while a QP is made */
	int pages;		/* that thread domains can have; -1: any number */
	bool halves;		/* each page's second uUAR is somebody else's */
	bool one_page;		/* static QPs have one page; or: a page each */
	bool page_each;
	bool one_context;	/* the contexts have the same pages */
	unsigned int mmap_command;	/* of the pages of static QPs; 0: not told */
	bool stranger;		/* QPs in thread domains ring elsewhere */
	bool unsupported, own_page;
	int init_obj_error;
	int context_ret;	/* of mlx5ep_context_query() */
	uint32_t context_flags;

	/* What was asked for last. */
	struct ibv_cq_init_attr_ex cq;
	struct ibv_qp_init_attr_ex qp;
	bool qp_is_ex;

	uintptr_t free[FAKE_DOMAINS];	/* uUARs, in the order in which they are given */
	unsigned int n_free;
	unsigned int next_page;
} fake;

struct fake_context {
	struct verbs_context verbs;
	unsigned int number, qps;
};

struct fake_td {
	struct ibv_td td;
	uintptr_t uuar;
	int users;
};

struct fake_pd {
	struct ibv_pd pd;
	struct fake_td *td;
	struct fake_pd *of;
	int users;
};

struct fake_qp {
	struct ibv_qp qp;
	uintptr_t uuar;
	bool is_static;
};

struct fake_block {
	size_t size;
	uint64_t room[];
};

static bool fake_fails(int error)
{
	if (++fake.calls != fake.failing)
		return false;
	errno = fake.fail_errno = error;
	return true;
}

static void *fake_made(enum fake_kind kind, size_t size)
{
	if (fake_fails(EAGAIN))
		return NULL;
	fake.live[kind]++;
	fake.made[kind]++;
	return calloc(1, size);
}

/* Returns an errno; the object is freed if that is 0. */
static int fake_ended(enum fake_kind kind, void *object, int users)
{
	if (users || ++fake.ends == fake.failing_end) {
		errno = EBUSY;
		return errno;
	}
	fake.live[kind]--;
	free(object);
	return 0;
}

/* Memory of the library, with something behind it that must not change. */
static void *fake_calloc(size_t n, size_t size)
{
	struct fake_block *block;

	if (fake_fails(ENOMEM))
		return NULL;
	size = (n * size + 7) & ~7ul;
	block = calloc(1, sizeof(*block) + size + 8);
	block->size = size;
	block->room[size / 8] = FAKE_GUARD;
	fake.blocks++;
	return block->room;
}

static void fake_free(void *room)
{
	struct fake_block *block = (void *)((char *)room - sizeof(*block));

	if (!room)
		return;
	fake.overrun |= block->room[block->size / 8] != FAKE_GUARD;
	fake.blocks--;
	free(block);
}

static void *fake_realloc(void *room, size_t size)
{
	struct fake_block *old = (void *)((char *)room - sizeof(*old));
	void *new = fake_calloc(1, size);

	if (new && room) {
		memcpy(new, room, old->size < size ? old->size : size);
		fake_free(room);
	}
	return new;
}

static uintptr_t fake_uuar(unsigned int page, unsigned int slot)
{
	return FAKE_PAGES + page * FAKE_PAGE + 0x800 + 0x200 * slot;
}

static struct ibv_td *fake_alloc_td(struct ibv_context *context,
				    struct ibv_td_init_attr *attr)
{
	struct fake_td *td;

	(void)attr;
	if (!fake.n_free) {
		if (fake.next_page >= (unsigned int)fake.pages) {
			errno = ENOSPC;
			return NULL;
		}
		fake.free[fake.n_free++] = fake_uuar(fake.next_page, 0);
		if (!fake.halves)
			fake.free[fake.n_free++] = fake_uuar(fake.next_page, 1);
		fake.next_page++;
	}
	td = fake_made(FAKE_TD, sizeof(*td));
	if (!td)
		return NULL;
	td->td.context = context;
	td->uuar = fake.free[0];
	memmove(fake.free, fake.free + 1, --fake.n_free * sizeof(fake.free[0]));
	return &td->td;
}

static int fake_dealloc_td(struct ibv_td *ibv)
{
	struct fake_td *td = (void *)ibv;
	uintptr_t uuar = td->uuar;
	int ret = fake_ended(FAKE_TD, td, td->users);

	if (!ret)
		fake.free[fake.n_free++] = uuar;
	return ret;
}

static struct ibv_pd *fake_alloc_parent_domain(struct ibv_context *context,
					       struct ibv_parent_domain_init_attr *attr)
{
	struct fake_pd *pd = fake_made(FAKE_PD, sizeof(*pd));

	if (!pd)
		return NULL;
	pd->pd.context = context;
	pd->td = (void *)attr->td;
	pd->of = (void *)attr->pd;
	pd->td->users++;
	pd->of->users++;
	return &pd->pd;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct fake_pd *pd = fake_made(FAKE_PD, sizeof(*pd));

	if (!pd)
		return NULL;
	pd->pd.context = context;
	return &pd->pd;
}

int ibv_dealloc_pd(struct ibv_pd *ibv)
{
	struct fake_pd *pd = (void *)ibv, *of = pd->of;
	struct fake_td *td = pd->td;
	int ret = fake_ended(FAKE_PD, pd, pd->users);

	if (!ret && of) {
		of->users--;
		td->users--;
	}
	return ret;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	struct ibv_cq *cq = fake_made(FAKE_CQ, sizeof(struct ibv_cq_ex));

	(void)cq_context;
	(void)channel;
	(void)comp_vector;
	if (!cq)
		return NULL;
	cq->context = context;
	cq->cqe = cqe;
	return cq;
}

static struct ibv_cq_ex *fake_create_cq_ex(struct ibv_context *context,
					   struct ibv_cq_init_attr_ex *attr)
{
	fake.cq = *attr;
	return (void *)ibv_create_cq(context, attr->cqe, NULL, NULL, 0);
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	return fake_ended(FAKE_CQ, cq, cq->handle);
}

/* Where libmlx5 lets the QP of that number ring which is in no thread domain. */
static uintptr_t fake_static_uuar(unsigned int context, unsigned int i)
{
	unsigned int shared = i >= 4 ? (i - 4) % 12 : 0;
	unsigned int page = i < 4 ? i / 2 : 2 + shared % 6;
	unsigned int slot = i < 4 ? i % 2 : shared / 6;

	if (fake.one_page || fake.page_each) {
		slot = fake.page_each ? 0 : i;
		page = fake.page_each ? i : 0;
	}
	context = fake.one_context ? 0 : context;
	return (context + 1) * FAKE_STATIC + page * FAKE_PAGE + 0x800 + 0x200 * slot;
}

static struct ibv_qp *fake_create_qp_ex(struct ibv_context *context,
					struct ibv_qp_init_attr_ex *attr)
{
	struct fake_context *c = (void *)verbs_get_ctx(context);
	struct fake_pd *pd = (void *)attr->pd;
	struct fake_qp *qp;

	fake.qp = *attr;
	fake.qp_is_ex = true;
	if (!attr->send_cq || !attr->recv_cq) {
		fake.without_cq = true;
		errno = EINVAL;
		return NULL;
	}
	qp = fake_made(FAKE_QP, sizeof(*qp));
	if (!qp)
		return NULL;
	qp->qp.context = context;
	qp->qp.pd = attr->pd;
	qp->qp.send_cq = attr->send_cq;
	qp->qp.recv_cq = attr->recv_cq;
	if (fake.meanwhile)
		fake.meanwhile();
	attr->send_cq->handle++;
	pd->users++;
	qp->is_static = !pd->td;
	qp->uuar = pd->td ? pd->td->uuar : fake_static_uuar(c->number, c->qps++);
	/* The QP by which the library finds the uUAR is the smallest one. */
	qp->uuar += pd->td && fake.stranger && attr->cap.max_send_wr > 1;
	return &qp->qp;
}

/* The shorter structure is the beginning of the longer one. */
struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {};
	struct ibv_qp *qp;

	memcpy(&ex, attr, sizeof(*attr));
	ex.pd = pd;
	qp = fake_create_qp_ex(pd->context, &ex);
	fake.qp_is_ex = false;
	return qp;
}

int ibv_destroy_qp(struct ibv_qp *ibv)
{
	struct fake_context *c = (void *)verbs_get_ctx(ibv->context);
	struct fake_pd *pd = (void *)ibv->pd;
	struct ibv_cq *cq = ibv->send_cq;
	bool is_static = ((struct fake_qp *)ibv)->is_static;
	int ret = fake_ended(FAKE_QP, ibv, 0);

	if (!ret) {
		c->qps -= is_static;
		pd->users--;
		cq->handle--;
	}
	return ret;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct fake_context *c = fake_made(FAKE_CTX, sizeof(*c));

	if (!c)
		return NULL;
	c->number = fake.made[FAKE_CTX];
	c->verbs.context.device = device;
	c->verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	c->verbs.sz = sizeof(c->verbs);
	c->verbs.alloc_td = fake_alloc_td;
	c->verbs.dealloc_td = fake_dealloc_td;
	c->verbs.alloc_parent_domain = fake_alloc_parent_domain;
	c->verbs.create_cq_ex = fake_create_cq_ex;
	c->verbs.create_qp_ex = fake_create_qp_ex;
	return &c->verbs.context;
}

int ibv_close_device(struct ibv_context *context)
{
	return fake_ended(FAKE_CTX, verbs_get_ctx(context), 0) ? -1 : 0;
}

bool mlx5dv_is_supported(struct ibv_device *device)
{
	return device && !fake.unsupported;
}

struct mlx5dv_devx_uar *mlx5dv_devx_alloc_uar(struct ibv_context *context, uint32_t flags)
{
	(void)context;
	(void)flags;
	return fake.own_page ? (void *)&fake : NULL;
}

int mlx5dv_init_obj(struct mlx5dv_obj *obj, uint64_t type)
{
	struct fake_qp *qp = (void *)obj->qp.in;
	struct mlx5dv_qp *dv = obj->qp.out;

	(void)type;
	if (fake_fails(EAGAIN))
		return errno;
	dv->bf.reg = (void *)qp->uuar;
	dv->bf.size = 0x100;
	dv->sq.wqe_cnt = 64;
	dv->sq.stride = 32;
	dv->rq.wqe_cnt = 8;
	dv->rq.stride = 16;
	if (qp->is_static && !fake.mmap_command)
		dv->comp_mask = 0;
	dv->uar_mmap_offset = (off_t)fake.mmap_command << 20 | 0x77 << 12;
	return fake.init_obj_error;
}

int _mlx5ep_context_query(struct ibv_context *context, struct mlx5_ep_context_info *info,
			  size_t size)
{
	(void)context;
	memset(info, 0, size);
	info->flags = fake.context_flags;
	info->static_pages = 16;
	return fake.context_ret;
}

/* As after the start of the program; all that was left is seen before. */
static inline void fake_reset(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.pages = -1;
	fake.mmap_command = 9;
	fake.own_page = true;
	fake.context_ret = -EOPNOTSUPP;
}

/* Is nothing left but these, and was nothing asked for that crashes? */
static inline bool fake_is_empty(int contexts, int pds)
{
	return fake.live[FAKE_CTX] == contexts && fake.live[FAKE_PD] == pds &&
	       !fake.live[FAKE_TD] && !fake.live[FAKE_CQ] && !fake.live[FAKE_QP] &&
	       !fake.blocks && !fake.overrun && !fake.without_cq;
}

#include "../../userlib/process.c"
#define calloc fake_calloc
#define realloc fake_realloc
#define free fake_free
#include "../../userlib/uar_domain.c"
#include "../../userlib/domain.c"
#include "../../userlib/endpoints_plan.c"
#include "../../userlib/endpoints_qp.c"
#include "../../userlib/endpoints_query.c"
#include "../../userlib/endpoints.c"
#undef calloc
#undef realloc
#undef free

#endif
