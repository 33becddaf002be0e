// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Policies: on which UAR page and uUAR the QPs of a context are, as firmware says
 * (QUERY_QP by DevX) and as libmlx5 has mapped them; and data by each QP.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "selftest.h"

/* PRM: QUERY_QP; uar_page is in the fourth word of the context. */
#define OP_QUERY_QP 0x050b
#define QUERY_QP_IN 16
#define QUERY_QP_OUT 512
#define QPC_AT 24
#define UAR_PAGE_AT (QPC_AT + 12)
#define UAR_PAGE_MASK 0xffffffu

/* A uUAR is 512 bytes long; the first is in the middle of the page. */
#define PAGE 4096u
#define UUAR_FIRST 0x800u
#define UUAR_SHIFT 9

struct place {
	uint32_t firmware;	/* UAR page */
	uintptr_t mapped;	/* address of the page */
	unsigned int slot;
};

static int ask_firmware(struct ibv_qp *qp, uint32_t *page)
{
	uint32_t in[QUERY_QP_IN / 4] = {
		htobe32((uint32_t)OP_QUERY_QP << 16), 0, htobe32(qp->qp_num),
	};
	uint8_t out[QUERY_QP_OUT] = {};
	uint32_t word;

	errno = 0;
	if (mlx5dv_devx_qp_query(qp, in, sizeof(in), out, sizeof(out)))
		return errno ? -errno : -EIO;
	memcpy(&word, out + UAR_PAGE_AT, sizeof(word));
	*page = be32toh(word) & UAR_PAGE_MASK;
	return 0;
}

static int place_of(struct ibv_qp *qp, struct place *place)
{
	struct mlx5dv_qp dv = {};
	struct mlx5dv_obj obj = { .qp = { .in = qp, .out = &dv } };
	uintptr_t reg;
	int ret;

	ret = ask_firmware(qp, &place->firmware);
	if (!ret)
		ret = -mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP);
	reg = (uintptr_t)dv.bf.reg;
	place->mapped = reg & ~(uintptr_t)(PAGE - 1);
	place->slot = ((reg & (PAGE - 1)) - UUAR_FIRST) >> UUAR_SHIFT;
	return ret;
}

/* Do two QPs share a mapped page where firmware says so, and only there? */
static bool mapping_agrees(const struct place *places)
{
	unsigned int i, k;

	for (i = 0; i < LOOPBACK_QPS; i++)
		for (k = 0; k < i; k++)
			if ((places[i].firmware == places[k].firmware) !=
			    (places[i].mapped == places[k].mapped))
				return false;
	return true;
}

static void policies_count(const struct place *places, unsigned int *pages,
			   unsigned int *uuars)
{
	bool page, uuar;
	unsigned int i, k;

	*pages = 0;
	*uuars = 0;
	for (i = 0; i < LOOPBACK_QPS; i++) {
		page = true;
		uuar = true;
		for (k = 0; k < i; k++) {
			if (places[i].firmware != places[k].firmware)
				continue;
			page = false;
			if (places[i].slot == places[k].slot)
				uuar = false;
		}
		*pages += page;
		*uuars += uuar;
	}
}

/* What the module says of each QP is what firmware and the mapping say. */
static bool module_agrees(struct loopback *loop, const struct place *places)
{
	struct mlx5_ep_qp_uuar uuar;
	unsigned int i;

	for (i = 0; i < LOOPBACK_QPS; i++)
		if (mlx5ep_qp_query_uuar(loop->qps[i], &uuar) ||
		    uuar.uar != places[i].firmware ||
		    uuar.slot != places[i].slot)
			return false;
	return true;
}

static void policies_look(struct selftest *st, struct loopback *loop,
			  unsigned int want_pages, unsigned int want_uuars)
{
	struct place places[LOOPBACK_QPS];
	unsigned int pages, uuars, i;
	int ret = 0;

	for (i = 0; i < LOOPBACK_QPS && !ret; i++)
		ret = place_of(loop->qps[i], &places[i]);
	if (ret) {
		selftest_say(st, ret == -EOPNOTSUPP ? NOT_TESTABLE : FAILED,
			     "firmware answers QUERY_QP", "%s", strerror(-ret));
		return;
	}
	policies_count(places, &pages, &uuars);
	selftest_expect(st, mapping_agrees(places),
			"mapped pages are those of firmware",
			"%u QPs, %u pages", LOOPBACK_QPS, pages);
	if (!want_pages)
		return;
	selftest_expect(st, pages == want_pages && uuars == want_uuars,
			"QPs are where the policy says",
			"%u pages, %u uUARs; by the policy %u and %u", pages,
			uuars, want_pages, want_uuars);
	selftest_expect(st, module_agrees(loop, places),
			"the module names these pages and uUARs", "%u QPs",
			LOOPBACK_QPS);
}

static void traffic(struct selftest *st, struct loopback *loop)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < LOOPBACK_QPS && !ret; i++)
		ret = loopback_data(loop, i);
	selftest_expect(st, !ret, "data arrives unchanged",
			"write, inline write, send: %s",
			ret ? strerror(-ret) : "all QPs");
}

/*
 * How many uUARs the QPs share under shared-uuar. No QP goes to uUAR 0 of the first page
 * (Documentation/concepts.md), nor to the low latency range. Where the system's pages
 * are larger than 4 KiB, a context has more than one UAR page, and so more of them.
 */
static unsigned int shared_uuars(const struct mlx5_ep_context_info *info)
{
	unsigned int uuars = 2 * info->static_pages - 1 - info->low_latency;

	return uuars < LOOPBACK_QPS ? uuars : LOOPBACK_QPS;
}

static void policies_run(struct selftest *st, uint32_t policy, uint32_t pages,
			 unsigned int want_pages, unsigned int want_uuars)
{
	const struct mlx5_ep_context_policy wish = {
		.policy = policy,
		.flags = MLX5_EP_POLICY_LATER_OPENS,
		.pages = pages,
	};
	struct mlx5_ep_context_info info = {};
	struct loopback loop;
	int ret;

	ret = loopback_open(&loop, st->device, &wish);
	if (!ret)
		ret = mlx5ep_context_query(loop.ctx, &info);
	if (!ret && info.policy != policy)
		selftest_no_policy(st, "the context has the policy");
	else if (!selftest_expect(st, !ret, "the context has the policy", "%s",
				  ret ? strerror(-ret) : "opened"))
		;
	else {
		while (!ret && loop.n < LOOPBACK_QPS)
			ret = loopback_add(&loop);
		if (selftest_expect(st, !ret, "QPs connect to themselves", "%s",
				    ret ? strerror(-ret) : "all")) {
			if (policy == MLX5_EP_UUAR_POLICY_SHARED_UUAR) {
				want_uuars = shared_uuars(&info);
				want_pages = want_uuars / 2 + 1;
			}
			policies_look(st, &loop, want_pages, want_uuars);
			traffic(st, &loop);
		}
	}
	loopback_close(&loop);
}

/**
 * selftest_stock() - QPs under policy stock
 */
void selftest_stock(struct selftest *st)
{
	policies_run(st, MLX5_EP_UUAR_POLICY_STOCK, 0, 0, 0);
}

/**
 * selftest_independent() - QPs under policy independent
 */
void selftest_independent(struct selftest *st)
{
	policies_run(st, MLX5_EP_UUAR_POLICY_INDEPENDENT, LOOPBACK_QPS + 2,
		     LOOPBACK_QPS, LOOPBACK_QPS);
}

/**
 * selftest_shared_uar() - QPs under policy shared-uar
 */
void selftest_shared_uar(struct selftest *st)
{
	policies_run(st, MLX5_EP_UUAR_POLICY_SHARED_UAR, LOOPBACK_QPS + 2,
		     LOOPBACK_QPS / 2, LOOPBACK_QPS);
}

/**
 * selftest_shared_uuar() - QPs under policy shared-uuar
 */
void selftest_shared_uuar(struct selftest *st)
{
	policies_run(st, MLX5_EP_UUAR_POLICY_SHARED_UUAR, 1, 0, 0);
}
