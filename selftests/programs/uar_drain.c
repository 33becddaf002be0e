// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Drains an adapter: a holder leaves it a few UAR pages, then contexts with a CQ
 * and QPs are opened until nothing more is served. Prints what was served.
 *
 * uar_drain LEFT QPS [POLICY BUDGET]
 *
 * Without a policy, it needs no mlx5_ep.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "simhca.h"
#include "sysfs.h"
#include "ctx_open.h"
#include "uar_page.h"
#include "verbs.h"

#define ALL_PAGES 8192
#define MOST 256	/* contexts */

/* Leave the adapter @left pages. Return: 0 or -errno. */
static int uar_drain_fill(struct ibv_context *holder, int left)
{
	static uint32_t handles[ALL_PAGES];
	int n = 0, ret = 0;

	while (n < ALL_PAGES && !uar_page_alloc(holder, &handles[n], NULL))
		n++;
	if (n < left || n == ALL_PAGES)
		return -EINVAL;
	while (left-- && !ret)
		ret = uar_page_free(holder, handles[--n]);
	return ret;
}

/* Create QPs, which stay. Return: how many. */
static int add_qps(struct ibv_context *ctx, int most)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	int n = 0;

	while (pd && cq && n < most && verbs_qp_create(pd, cq, IBV_QPT_RC))
		n++;
	return n;
}

static int drain(int most_qps)
{
	int contexts = 0, armed = 0, qps = 0, failed = 0;
	int64_t before = simhca_count("qp");
	struct simhca_view view;
	struct ibv_context *ctx;

	/* The next context may need less than one that was refused. */
	while (contexts < MOST && failed < 4) {
		ctx = ctx_open();
		if (!ctx)
			break;
		contexts++;
		if (ctx_arm_cq(ctx)) {
			failed++;
			continue;
		}
		armed++;
		qps += add_qps(ctx, most_qps);
	}
	if (simhca_count("qp") - before != qps || simhca_look(0, &view)) {
		fprintf(stderr, "uar_drain: the HCA has other QPs\n");
		return 1;
	}
	printf("%d %d %d %jd\n", contexts - failed, armed, qps,
	       (intmax_t)simhca_errors(&view, "wrong_uar"));
	simhca_view_put(&view);
	return 0;
}

int main(int argc, char **argv)
{
	struct ibv_context *holder;

	if (argc != 3 && argc != 5)
		return 2;
	holder = ctx_open();
	if (!holder || uar_drain_fill(holder, atoi(argv[1]))) {
		fprintf(stderr, "uar_drain: cannot take the pages\n");
		return 1;
	}
	if (argc == 5 && (sysfs_policy(argv[3], 0, false) ||
			  sysfs_write("uar_budget", argv[4]))) {
		fprintf(stderr, "uar_drain: cannot set the policy\n");
		return 1;
	}
	return drain(atoi(argv[2]));
}
