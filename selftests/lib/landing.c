// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Where QPs ring, as the HCA saw it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "landing.h"

static int by_qpn(const void *a, const void *b)
{
	const struct landing_qp *x = a, *y = b;

	return x->qpn < y->qpn ? -1 : x->qpn > y->qpn;
}

/* The uUAR that @qp rang; -1 when none, 1 when more than one. */
static int find_ring(const struct simhca_view *view, struct landing_qp *qp)
{
	int found = -1;
	size_t i;

	for (i = 0; i < view->n_rings; i++) {
		if (view->rings[i].qpn != qp->qpn || !view->rings[i].count)
			continue;
		qp->uar = view->rings[i].uar;
		qp->slot = view->rings[i].slot;
		found++;
	}
	return found > 0 ? 1 : found;
}

static void judge(struct landing *landing, struct landing_qp *qp)
{
	size_t on_page = 0, i;
	bool first_on_page = true, first_on_uuar = true;
	const struct landing_qp *other;

	qp->sharers = 0;
	for (i = 0; i < landing->n; i++) {
		other = &landing->qps[i];
		if (other->uar != qp->uar)
			continue;
		on_page++;
		if (other < qp)
			first_on_page = false;
		if (other->slot != qp->slot)
			continue;
		qp->sharers++;
		if (other < qp)
			first_on_uuar = false;
	}
	qp->level = qp->sharers > 1 ? 3 : on_page > 1 ? 2 : 1;
	landing->shared += qp->sharers > 1;
	landing->pages += first_on_page;
	landing->uuars += first_on_uuar;
	if (!landing->fewest || qp->sharers < landing->fewest)
		landing->fewest = qp->sharers;
	if (qp->sharers > landing->most)
		landing->most = qp->sharers;
}

int landing_get(const struct simhca_view *view, struct landing *landing)
{
	struct landing_qp qp;
	size_t i;
	int found;

	memset(landing, 0, sizeof(*landing));
	landing->qps = calloc(view->n_qps + 1, sizeof(*landing->qps));
	if (!landing->qps)
		return -ENOMEM;
	for (i = 0; i < view->n_qps; i++) {
		if (!view->qps[i].user)
			continue;
		memset(&qp, 0, sizeof(qp));
		qp.qpn = view->qps[i].qpn;
		qp.doorbells = view->qps[i].doorbells;
		qp.blueflame = view->qps[i].blueflame;
		found = find_ring(view, &qp);
		if (found < 0) {
			landing->silent++;
			continue;
		}
		landing->astray += found > 0;
		landing->qps[landing->n++] = qp;
	}
	qsort(landing->qps, landing->n, sizeof(qp), by_qpn);
	for (i = 0; i < landing->n; i++)
		judge(landing, &landing->qps[i]);
	landing->wrong_uar = simhca_errors(view, "wrong_uar");
	landing->torn = simhca_errors(view, "torn");
	return 0;
}

void landing_put(struct landing *landing)
{
	free(landing->qps);
	memset(landing, 0, sizeof(*landing));
}

const struct landing_qp *landing_qp(const struct landing *landing,
				    uint32_t qpn)
{
	size_t i;

	for (i = 0; i < landing->n; i++)
		if (landing->qps[i].qpn == qpn)
			return &landing->qps[i];
	return NULL;
}

int landing_look(unsigned int hca, struct landing *landing)
{
	struct simhca_view view;
	int ret;

	ret = simhca_look(hca, &view);
	if (ret)
		return ret;
	ret = landing_get(&view, landing);
	simhca_view_put(&view);
	return ret;
}
