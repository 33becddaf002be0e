// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * QPs and the uUARs that they ring.
 *
 * Either the policy or mlx5_ib places all QPs of a managed context, never both.
 * Neither knows where the other has placed QPs, and two QPs on a uUAR without a
 * lock would tear each other's BlueFlame writes. mlx5_ep_context.placing is true
 * if the policy places them. It changes only before the first QP.
 */

#include "device.h"
#include "trace.h"
#include "uuar/context.h"
#include "uuar/qp_uuar.h"

static void add_qp(struct mlx5_ep_context *ectx, struct mlx5_ep_qp *eqp,
		   u32 uar, int uuar)
{
	eqp->ectx = ectx;
	eqp->uar = uar;
	eqp->uuar = uuar;
	list_add_tail(&eqp->node, &ectx->qps);
	ectx->nr_qps++;
}

/* May the policy place a QP of this context? The context's lock is held. */
static bool may_place(struct mlx5_ep_context *ectx)
{
	if (ectx->placing && !mlx5_ep_uuar_table_ready(ectx->table))
		mlx5_ep_context_fall_back(
			ectx, -EOPNOTSUPP,
			"it creates a QP and has not mapped its first UAR page");
	ectx->had_qp = true;
	return ectx->placing;
}

/**
 * mlx5_ep_qp_place() - choose and take the uUAR of a new QP
 * @ectx: open context of the caller, with a table; its lock is taken here
 * @eqp: our side of the QP, on no uUAR; on success it is on the context's list
 * @closed: choose only among the pages that the context has in the device
 *
 * The page of the uUAR may have to be allocated, see mlx5_ep_uar_back().
 *
 * Return: static bfreg index; -ENOSPC: the policy is strict and its level is
 * used up; -EOPNOTSUPP: the policy does not place the QPs of this context
 */
int mlx5_ep_qp_place(struct mlx5_ep_context *ectx, struct mlx5_ep_qp *eqp,
		     bool closed)
{
	struct mlx5_ep_uuar_table *table = ectx->table;
	int uuar = -EOPNOTSUPP;

	spin_lock(&ectx->lock);
	if (may_place(ectx)) {
		table->closed = closed;
		uuar = mlx5_ep_uuar_policy_pick(table);
		if (uuar >= 0) {
			mlx5_ep_uuar_table_add(table, uuar);
			add_qp(ectx, eqp, MLX5_EP_UAR_UNKNOWN, uuar);
		}
	}
	spin_unlock(&ectx->lock);
	if (uuar == -ENOSPC)
		trace_mlx5_ep_policy_refused(ectx, uuar);
	return uuar;
}

/**
 * mlx5_ep_qp_placed() - note the UAR page of a QP that was placed
 * @eqp: QP that mlx5_ep_qp_place() put on a uUAR; the lock of its context is
 *	taken here
 * @uar: the page, as the device numbers it
 */
void mlx5_ep_qp_placed(struct mlx5_ep_qp *eqp, u32 uar)
{
	spin_lock(&eqp->ectx->lock);
	eqp->uar = uar;
	spin_unlock(&eqp->ectx->lock);
}

/**
 * mlx5_ep_qp_note() - note a QP that the policy did not place
 * @ectx: open context of the QP; its lock is taken here
 * @eqp: our side of the QP
 * @uar: UAR page that the library named; MLX5_EP_UAR_UNKNOWN when none
 */
void mlx5_ep_qp_note(struct mlx5_ep_context *ectx, struct mlx5_ep_qp *eqp,
		     u32 uar)
{
	spin_lock(&ectx->lock);
	ectx->had_qp = true;
	add_qp(ectx, eqp, uar, -1);
	spin_unlock(&ectx->lock);
}

/**
 * mlx5_ep_qp_unplace() - forget a QP, and give its uUAR back
 * @eqp: QP on the list of its context, placed or noted; the lock of the context
 *	is taken here
 */
void mlx5_ep_qp_unplace(struct mlx5_ep_qp *eqp)
{
	struct mlx5_ep_context *ectx = eqp->ectx;

	spin_lock(&ectx->lock);
	list_del(&eqp->node);
	ectx->nr_qps--;
	if (eqp->uuar >= 0)
		mlx5_ep_uuar_table_del(ectx->table, eqp->uuar);
	spin_unlock(&ectx->lock);
	eqp->ectx = NULL;
}

/**
 * mlx5_ep_qp_release() - give the uUAR of a QP back
 * @eqp: our side of a QP that the device does not have any more
 */
void mlx5_ep_qp_release(struct mlx5_ep_qp *eqp)
{
	trace_mlx5_ep_qp_released(eqp);
	mlx5_ep_qp_unplace(eqp);
}

/* Fill what the table knows of a uUAR. The context's lock is held. */
static u8 uuar_flags(const struct mlx5_ep_uuar_table *table, unsigned int uuar)
{
	unsigned int page = uuar / MLX5_EP_UUARS_PER_PAGE;
	u8 flags = 0;

	if (mlx5_ep_uuar_table_locked(table, uuar))
		flags |= MLX5_EP_UUAR_LOCKED;
	if (!uuar)
		flags |= MLX5_EP_UUAR_NO_BLUEFLAME;
	if (!table->pages[page].known && !table->pages[page].empty)
		flags |= MLX5_EP_UUAR_UNUSABLE;
	return flags;
}

/**
 * mlx5_ep_uuar_info_get() - one entry of a context's table, for user space
 * @table: the table; its context's lock is held
 * @uuar: static bfreg index
 * @info: answer; all of it is overwritten
 */
void mlx5_ep_uuar_info_get(const struct mlx5_ep_uuar_table *table,
			   unsigned int uuar, struct mlx5_ep_uuar_info *info)
{
	unsigned int page = uuar / MLX5_EP_UUARS_PER_PAGE;

	*info = (struct mlx5_ep_uuar_info){
		.uar = table->pages[page].known ? table->pages[page].uar :
						  MLX5_EP_UAR_UNKNOWN,
		.page = page,
		.slot = uuar % MLX5_EP_UUARS_PER_PAGE,
		.flags = uuar_flags(table, uuar),
		.qps = mlx5_ep_uuar_table_qps(table, uuar),
	};
}

/**
 * mlx5_ep_qp_uuar_get() - where a QP is, for user space
 * @eqp: our side of the QP; its context's lock is held
 * @uuar: answer; uar is the page named at creation
 */
void mlx5_ep_qp_uuar_get(struct mlx5_ep_qp *eqp, struct mlx5_ep_qp_uuar *uuar)
{
	const struct mlx5_ep_uuar_table *table = eqp->ectx->table;
	unsigned int page;

	*uuar = (struct mlx5_ep_qp_uuar){
		.uar = eqp->uar,
		.page = MLX5_EP_UAR_UNKNOWN,
		.slot = MLX5_EP_SLOT_UNKNOWN,
	};
	if (eqp->uuar < 0)
		return;
	page = eqp->uuar / MLX5_EP_UUARS_PER_PAGE;
	uuar->page = page;
	uuar->slot = eqp->uuar % MLX5_EP_UUARS_PER_PAGE;
	uuar->level = mlx5_ep_uuar_table_level(table, eqp->uuar);
	uuar->flags = uuar_flags(table, eqp->uuar) | MLX5_EP_UUAR_PLACED;
	uuar->uuar_qps = mlx5_ep_uuar_table_qps(table, eqp->uuar);
	uuar->page_qps = mlx5_ep_uuar_page_qps(&table->pages[page]);
}

/**
 * mlx5_ep_context_info_get() - what a context has, for user space
 * @ectx: context; its lock is held
 * @info: answer; all of it is overwritten
 */
void mlx5_ep_context_info_get(struct mlx5_ep_context *ectx,
			      struct mlx5_ep_context_info *info)
{
	const struct mlx5_ep_uuar_table *table = ectx->table;
	unsigned long index;
	unsigned int i, qps, on_demand = 0;
	void *entry;

	*info = (struct mlx5_ep_context_info){
		.policy = ectx->settings.policy,
		.source = ectx->source,
		.pid = pid_nr(ectx->tgid),
		.static_pages = table ? table->nr_pages : ectx->static_pages,
		.low_latency = ectx->low_latency,
		.qps = ectx->nr_qps,
	};
	if (ectx->placing)
		info->flags |= MLX5_EP_CONTEXT_MANAGED;
	if (ectx->settings.strict)
		info->flags |= MLX5_EP_CONTEXT_STRICT;
	if (ectx->static_pages)
		info->flags |= MLX5_EP_CONTEXT_STATIC;
	xa_for_each(&ectx->dynamic, index, entry)
		info->dynamic_pages++;
	info->held_pages = ectx->static_pages + info->dynamic_pages;
	if (!table)
		return;
	for (i = 0; i < table->nr_pages; i++) {
		info->used_pages += !!mlx5_ep_uuar_page_qps(&table->pages[i]);
		on_demand += i >= ectx->static_pages && table->pages[i].known;
	}
	/* ectx->dynamic also has the static pages allocated on demand. */
	info->dynamic_pages -= min(on_demand, info->dynamic_pages);
	for (i = 0; i < table->nr_pages * MLX5_EP_UUARS_PER_PAGE; i++) {
		qps = mlx5_ep_uuar_table_qps(table, i);
		info->placed_qps += qps;
		info->used_uuars += qps > 0;
		info->shared_uuars += qps > 1;
	}
}
