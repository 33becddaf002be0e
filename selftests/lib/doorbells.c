// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Where each QP rang its doorbells, as the HCA counted it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doorbells.h"

static int by_qpn(const void *a, const void *b)
{
	const struct doorbells_qp *x = a, *y = b;

	return x->qpn < y->qpn ? -1 : x->qpn > y->qpn;
}

/*
 * Find the uUAR that @qp rang. Return: -1 where it rang none, 1 where it rang
 * several.
 */
static int find_ring(const struct simhca_view *view, struct doorbells_qp *qp)
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

static void judge(struct doorbells_report *doorbells, struct doorbells_qp *qp)
{
	size_t on_page = 0, i;
	bool first_on_page = true, first_on_uuar = true;
	const struct doorbells_qp *other;

	qp->sharers = 0;
	for (i = 0; i < doorbells->n; i++) {
		other = &doorbells->qps[i];
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
	doorbells->shared += qp->sharers > 1;
	doorbells->pages += first_on_page;
	doorbells->uuars += first_on_uuar;
	if (!doorbells->fewest || qp->sharers < doorbells->fewest)
		doorbells->fewest = qp->sharers;
	if (qp->sharers > doorbells->most)
		doorbells->most = qp->sharers;
}

/*
 * Judge the user QPs of a picture. Every QP must have been rung since the counters
 * were zeroed. 0 or -ENOMEM.
 */
static int doorbells_get(const struct simhca_view *view,
			 struct doorbells_report *doorbells)
{
	struct doorbells_qp qp;
	size_t i;
	int found;

	memset(doorbells, 0, sizeof(*doorbells));
	doorbells->qps = calloc(view->n_qps + 1, sizeof(*doorbells->qps));
	if (!doorbells->qps)
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
			doorbells->silent++;
			continue;
		}
		doorbells->astray += found > 0;
		doorbells->qps[doorbells->n++] = qp;
	}
	qsort(doorbells->qps, doorbells->n, sizeof(qp), by_qpn);
	for (i = 0; i < doorbells->n; i++)
		judge(doorbells, &doorbells->qps[i]);
	doorbells->wrong_uar = simhca_errors(view, "wrong_uar");
	doorbells->torn = simhca_errors(view, "torn");
	return 0;
}

void doorbells_put(struct doorbells_report *doorbells)
{
	free(doorbells->qps);
	memset(doorbells, 0, sizeof(*doorbells));
}

const struct doorbells_qp *
doorbells_qp(const struct doorbells_report *doorbells, uint32_t qpn)
{
	size_t i;

	for (i = 0; i < doorbells->n; i++)
		if (doorbells->qps[i].qpn == qpn)
			return &doorbells->qps[i];
	return NULL;
}

int doorbells_look(unsigned int hca, struct doorbells_report *doorbells)
{
	struct simhca_view view;
	int ret;

	ret = simhca_look(hca, &view);
	if (ret)
		return ret;
	ret = doorbells_get(&view, doorbells);
	simhca_view_put(&view);
	return ret;
}

int doorbells_rung(unsigned int hca, uint32_t qpn, struct doorbells_qp *qp)
{
	struct simhca_view view;
	int ret;

	*qp = (struct doorbells_qp){ .qpn = qpn };
	ret = simhca_look(hca, &view);
	if (ret)
		return ret;
	ret = find_ring(&view, qp);
	simhca_view_put(&view);
	if (ret)
		return ret < 0 ? -ENOENT : -ENOTUNIQ;
	return 0;
}
