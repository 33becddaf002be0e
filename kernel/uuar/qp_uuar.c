// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * QPs and the uUARs that they ring.
 *
 * Either the policy or mlx5_ib places all QPs of a managed context, never both.
 * Neither knows where the other has placed QPs, and two QPs on a uUAR without a
 * lock would tear each other's BlueFlame writes. mlx5_ep_context.placing is true
 * if the policy places them. It changes only before the first QP.
 *
 * QPs that neither places are noted: those for which libmlx5 named a uUAR
 * (thread domains), and what a program made by DevX: QPs, and send queues without a
 * QP. For these the kernel knows the UAR page, and often not which of its two uUARs.
 * So the QPs of a context are counted by UAR page as well, whoever placed them.
 *
 * The number of a page comes from the request. Another thread can change the
 * request after it was read here, and so can make the list of its own context
 * wrong, no other. What counts for a limit does not depend on it.
 */

#include <linux/sched.h>
#include <linux/slab.h>

#include "account/limit.h"
#include "cmd.h"
#include "compat/compat.h"
#include "device.h"
#include "trace.h"
#include "uuar/context.h"
#include "uuar/qp_uuar.h"

/* Who chose the uUAR of a QP, by enum mlx5_ep_placer. */
const char *const mlx5_ep_qp_uuar_placer_names[] = {
	[MLX5_EP_PLACER_DRIVER] = "driver",
	[MLX5_EP_PLACER_POLICY] = "policy",
	[MLX5_EP_PLACER_LIBRARY] = "library",
	[MLX5_EP_PLACER_DEVX] = "devx",
	[MLX5_EP_PLACER_NONE] = "none",
};

/**
 * mlx5_ep_qp_create() - make our side of a QP, before the driver creates the QP
 * @edev: attached device of the QP
 * @qp: the QP, as the driver's create_qp operation gets it
 *
 * Sleeps.
 *
 * Return: our side, on the list of no context; NULL: no memory
 */
struct mlx5_ep_qp *mlx5_ep_qp_create(struct mlx5_ep_device *edev,
				     struct ib_qp *qp)
{
	struct mlx5_ep_qp *eqp = kzalloc_obj(*eqp, GFP_KERNEL_ACCOUNT);

	if (!eqp)
		return NULL;
	eqp->qp = qp;
	if (mlx5_ep_side_add(&edev->qp_sides, &eqp->side, qp)) {
		kfree(eqp);
		return NULL;
	}
	return eqp;
}

/**
 * mlx5_ep_qp_destroy() - free our side of a QP
 * @edev: attached device of the QP
 * @eqp: our side of a QP that the driver does not have, on the list of no context;
 *	NULL: nothing happens
 */
void mlx5_ep_qp_destroy(struct mlx5_ep_device *edev, struct mlx5_ep_qp *eqp)
{
	if (!eqp)
		return;
	mlx5_ep_side_del(&edev->qp_sides, &eqp->side);
	kfree_rcu(eqp, side.rcu);
}

static void qp_uuar_add(struct mlx5_ep_context *ectx, struct mlx5_ep_qp *eqp)
{
	eqp->ectx = ectx;
	list_add_tail(&eqp->node, &ectx->qps);
	ectx->nr_qps++;
}

/* Finds or makes the count of a UAR page. NULL: no such page, or no memory. */
static struct mlx5_ep_uar_qps *qp_uuar_page_get(struct mlx5_ep_context *ectx,
						u32 uar)
{
	struct mlx5_ep_uar_qps *page;

	if (uar >= mlx5_ep_cmd_uar_pages(ectx->edev->mdev))
		return NULL;
	page = xa_load(&ectx->uar_qps, uar);
	if (page)
		return page;
	page = kzalloc_obj(*page, GFP_KERNEL_ACCOUNT);
	if (page && xa_insert(&ectx->uar_qps, uar, page, GFP_KERNEL_ACCOUNT)) {
		kfree(page);
		page = xa_load(&ectx->uar_qps, uar);
	}
	return page;
}

/*
 * The number of QPs on the same uUAR, or on an unknown uUAR of the same page. The
 * QP has a page; the context's lock is held.
 */
static unsigned int *qp_uuar_counter(struct mlx5_ep_qp *eqp)
{
	return eqp->slot == MLX5_EP_SLOT_UNKNOWN ?
		       &eqp->page->any : &eqp->page->slots[eqp->slot];
}

/* Count a QP on its UAR page. The context's lock is held. */
static void qp_uuar_count(struct mlx5_ep_qp *eqp, struct mlx5_ep_uar_qps *page,
			  u32 uar, u8 slot)
{
	eqp->uar = uar;
	eqp->slot = slot;
	eqp->page = page;
	if (page)
		++*qp_uuar_counter(eqp);
}

/* May the policy place a QP of this context? The context's lock is held. */
static bool qp_uuar_may_place(struct mlx5_ep_context *ectx)
{
	if (ectx->placing && !mlx5_ep_uuar_table_ready(ectx->table))
		mlx5_ep_context_fall_back(
			ectx, -EOPNOTSUPP,
			"it creates a QP and has not mapped its first UAR page");
	ectx->had_qp = true;
	return ectx->placing;
}

/**
 * mlx5_ep_qp_uuar_place() - choose and take the uUAR of a new QP
 * @ectx: open context of the caller, with a table; its lock is taken here
 * @eqp: our side of the QP, on no uUAR; on success it is on the context's list
 * @closed: choose only among the pages that the context has in the device
 * @avoid: a bit for each static page that is not to be chosen
 *
 * The page of the uUAR may have to be allocated, see mlx5_ep_uar_map_back().
 *
 * Return: static bfreg index; -ENOSPC: the policy is strict and its level is
 * used up; -EOPNOTSUPP: the policy does not place the QPs of this context
 */
int mlx5_ep_qp_uuar_place(struct mlx5_ep_context *ectx, struct mlx5_ep_qp *eqp,
			  bool closed, const unsigned long *avoid)
{
	struct mlx5_ep_uuar_table *table = ectx->table;
	int uuar = -EOPNOTSUPP;

	spin_lock(&ectx->lock);
	if (qp_uuar_may_place(ectx)) {
		table->closed = closed;
		table->avoid = avoid;
		table->owner = current->mm;
		uuar = mlx5_ep_uuar_policy_pick(table);
		table->avoid = NULL;
		if (uuar >= 0) {
			mlx5_ep_uuar_table_add(table, uuar);
			eqp->placer = MLX5_EP_PLACER_POLICY;
			eqp->uuar = uuar;
			qp_uuar_count(eqp, NULL, MLX5_EP_UAR_UNKNOWN,
				      uuar % MLX5_EP_UUARS_PER_PAGE);
			qp_uuar_add(ectx, eqp);
		}
	}
	spin_unlock(&ectx->lock);
	if (uuar == -ENOSPC) {
		mlx5_ep_limit_count_refusal(ectx->edev,
					    MLX5_EP_REASON_STRICT_QP);
		trace_mlx5_ep_policy_refused(ectx, uuar);
	}
	return uuar;
}

/**
 * mlx5_ep_qp_uuar_placed() - note the UAR page of a QP that was placed
 * @eqp: QP that mlx5_ep_qp_uuar_place() put on a uUAR; the lock of its context is
 *	taken here
 * @uar: the page, as the device numbers it
 */
void mlx5_ep_qp_uuar_placed(struct mlx5_ep_qp *eqp, u32 uar)
{
	struct mlx5_ep_uar_qps *page = qp_uuar_page_get(eqp->ectx, uar);

	spin_lock(&eqp->ectx->lock);
	qp_uuar_count(eqp, page, uar, eqp->slot);
	spin_unlock(&eqp->ectx->lock);
}

/**
 * mlx5_ep_qp_uuar_note() - note a QP that the policy did not place
 * @ectx: open context of the QP; its lock is taken here
 * @eqp: our side of the QP, its number known unless it is a DC target
 * @placer: who chose the uUAR
 * @uar: UAR page that the library named; MLX5_EP_UAR_UNKNOWN when none
 * @slot: uUAR of that page; MLX5_EP_SLOT_UNKNOWN when not known
 *
 * Sleeps. If there is no memory to count the QP on its page, it is listed with
 * its page and without sharers.
 */
void mlx5_ep_qp_uuar_note(struct mlx5_ep_context *ectx, struct mlx5_ep_qp *eqp,
			  enum mlx5_ep_placer placer, u32 uar, u8 slot)
{
	struct mlx5_ep_uar_qps *page = qp_uuar_page_get(ectx, uar);

	spin_lock(&ectx->lock);
	/* The policy can still change after a DevX QP: no policy places those. */
	ectx->had_qp |= !!eqp->qp;
	eqp->placer = placer;
	eqp->uuar = -1;
	qp_uuar_count(eqp, page, uar, slot);
	qp_uuar_add(ectx, eqp);
	spin_unlock(&ectx->lock);
	trace_mlx5_ep_qp_noted(eqp);
}

/**
 * mlx5_ep_qp_uuar_unplace() - forget a QP, and give its uUAR back
 * @eqp: QP on the list of its context, placed or noted; the lock of the context
 *	is taken here
 */
void mlx5_ep_qp_uuar_unplace(struct mlx5_ep_qp *eqp)
{
	struct mlx5_ep_context *ectx = eqp->ectx;

	spin_lock(&ectx->lock);
	list_del(&eqp->node);
	ectx->nr_qps--;
	if (eqp->uuar >= 0)
		mlx5_ep_uuar_table_del(ectx->table, eqp->uuar);
	if (eqp->page)
		--*qp_uuar_counter(eqp);
	WRITE_ONCE(eqp->ectx, NULL);
	spin_unlock(&ectx->lock);
}

/**
 * mlx5_ep_qp_uuar_release() - give the uUAR of a QP back
 * @eqp: our side of a QP that the device does not have any more
 */
void mlx5_ep_qp_uuar_release(struct mlx5_ep_qp *eqp)
{
	trace_mlx5_ep_qp_released(eqp);
	mlx5_ep_qp_uuar_unplace(eqp);
}

/* Fill what the table knows of a uUAR. The context's lock is held. */
static u8 qp_uuar_flags(const struct mlx5_ep_uuar_table *table,
			unsigned int uuar)
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
 * mlx5_ep_qp_uuar_info_get() - one entry of a context's table, for user space
 * @table: the table; its context's lock is held
 * @uuar: static bfreg index
 * @info: answer; all of it is overwritten
 */
void mlx5_ep_qp_uuar_info_get(const struct mlx5_ep_uuar_table *table,
			      unsigned int uuar, struct mlx5_ep_uuar_info *info)
{
	unsigned int page = uuar / MLX5_EP_UUARS_PER_PAGE;

	*info = (struct mlx5_ep_uuar_info){
		.uar = table->pages[page].known ? table->pages[page].uar :
						  MLX5_EP_UAR_UNKNOWN,
		.page = page,
		.slot = uuar % MLX5_EP_UUARS_PER_PAGE,
		.flags = qp_uuar_flags(table, uuar),
		.qps = mlx5_ep_uuar_table_qps(table, uuar),
	};
}

/* How much a QP shares. The context's lock is held. */
static u8 qp_uuar_level(const struct mlx5_ep_qp *eqp, unsigned int uuar_qps)
{
	const struct mlx5_ep_uar_qps *page = eqp->page;

	if (uuar_qps > 1)
		return 3;
	if (page->slots[0] + page->slots[1] + page->any == 1)
		return 1;
	return page->any ? 0 : 2;
}

/**
 * mlx5_ep_qp_uuar_get() - where a QP is, for user space
 * @eqp: our side of the QP; its context's lock is held
 * @uuar: answer; uar is the page named at creation
 */
void mlx5_ep_qp_uuar_get(struct mlx5_ep_qp *eqp, struct mlx5_ep_qp_uuar *uuar)
{
	const struct mlx5_ep_uuar_table *table = eqp->ectx->table;
	const struct mlx5_ep_uar_qps *page = eqp->page;

	*uuar = (struct mlx5_ep_qp_uuar){
		.uar = eqp->uar,
		.page = MLX5_EP_UAR_UNKNOWN,
		.slot = eqp->slot,
		.placer = eqp->placer,
	};
	if (eqp->uuar >= 0) {
		uuar->page = eqp->uuar / MLX5_EP_UUARS_PER_PAGE;
		uuar->flags = qp_uuar_flags(table, eqp->uuar) |
			      MLX5_EP_UUAR_PLACED;
	}
	if (!page && eqp->uuar >= 0) {
		uuar->level = mlx5_ep_uuar_table_level(table, eqp->uuar);
		uuar->uuar_qps = mlx5_ep_uuar_table_qps(table, eqp->uuar);
		uuar->page_qps =
			mlx5_ep_uuar_page_qps(&table->pages[uuar->page]);
	}
	if (!page)
		return;
	uuar->page_qps = page->slots[0] + page->slots[1] + page->any;
	if (eqp->slot != MLX5_EP_SLOT_UNKNOWN)
		uuar->uuar_qps = page->slots[eqp->slot];
	else if (uuar->page_qps == 1)
		uuar->uuar_qps = 1;
	uuar->level = qp_uuar_level(eqp, uuar->uuar_qps);
}

/**
 * mlx5_ep_qp_uuar_set_number() - learn the number of a DevX QP or a DC target
 * @eqp: our side of the QP, on the list of its context, whose lock is taken here
 * @qpn: from a command that mlx5_ib has checked, or what the program was told
 */
void mlx5_ep_qp_uuar_set_number(struct mlx5_ep_qp *eqp, u32 qpn)
{
	spin_lock(&eqp->ectx->lock);
	eqp->told_qpn = qpn;
	spin_unlock(&eqp->ectx->lock);
}
