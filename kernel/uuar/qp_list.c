// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The list of a context's QPs, read while QPs come and go.
 *
 * A context may have hundreds of thousands of QPs, and its lock is a spinlock. So
 * a reader lets the lock go after LIST_BATCH entries, and leaves a cursor in the
 * list to find its place again. QPs are added at the end of the list and never
 * move in it, hence:
 *
 * - a QP that is there from the beginning of the reading to its end is read once;
 * - a QP that is destroyed meanwhile is read at most once;
 * - a QP that is created meanwhile is never read, since the reader has marked
 *   where the list ended. So a reader comes to an end however many QPs are created,
 *   and a new QP that has the number of one that is gone is not read beside it.
 *
 * Each entry is right for the moment at which it was read. A QP that is being created
 * is in the list before it has a number, and then may get that of one that was read and
 * is gone.
 */

#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "uuar/context.h"
#include "uuar/qp_list.h"

/* Entries, cursors of other readers among them, that are passed under the lock. */
#define LIST_BATCH	256

/**
 * mlx5_ep_qp_list_begin() - begin to read the QPs of a context, the oldest first
 * @cursor: written; in use until mlx5_ep_qp_list_end()
 * @ectx: context that stays open meanwhile; its lock is taken here
 *
 * Return: how many QPs the context has
 */
unsigned int mlx5_ep_qp_list_begin(struct mlx5_ep_qp_cursor *cursor,
				   struct mlx5_ep_context *ectx)
{
	unsigned int count;

	*cursor = (struct mlx5_ep_qp_cursor){ .ectx = ectx };
	spin_lock(&ectx->lock);
	list_add(&cursor->at.node, &ectx->qps);
	list_add_tail(&cursor->end.node, &ectx->qps);
	count = ectx->nr_qps;
	spin_unlock(&ectx->lock);
	return count;
}

/*
 * Passes over a batch, and over no QP once @n is @room. Returns whether there may
 * be more of them. The context's lock is held.
 */
static bool qp_list_pass_batch(struct mlx5_ep_qp_cursor *cursor,
			       struct mlx5_ep_qp_info *infos, unsigned int room,
			       unsigned int *n)
{
	struct mlx5_ep_qp *eqp = &cursor->at, *next;
	unsigned int i;

	for (i = 0; i < LIST_BATCH && *n < room; i++) {
		next = list_next_entry(eqp, node);
		if (next == &cursor->end)
			break;
		eqp = next;
		if (!eqp->ectx)
			continue;
		if (infos) {
			infos[*n].qpn = mlx5_ep_qp_uuar_number(eqp);
			mlx5_ep_qp_uuar_get(eqp, &infos[*n].where);
		}
		++*n;
	}
	if (eqp != &cursor->at)
		list_move(&cursor->at.node, &eqp->node);
	return i == LIST_BATCH && *n < room;
}

/**
 * mlx5_ep_qp_list_next() - read the next QPs
 * @cursor: a reader's; the lock of its context is taken here, and let go at least
 *	every LIST_BATCH entries
 * @infos: qpn and where of each are written; NULL: the QPs are passed over
 * @room: QPs to read at most
 *
 * Sleeps.
 *
 * Return: how many QPs were read; fewer than @room only when there are no more
 */
unsigned int mlx5_ep_qp_list_next(struct mlx5_ep_qp_cursor *cursor,
				  struct mlx5_ep_qp_info *infos,
				  unsigned int room)
{
	unsigned int n = 0;
	bool more;

	do {
		spin_lock(&cursor->ectx->lock);
		more = qp_list_pass_batch(cursor, infos, room, &n);
		spin_unlock(&cursor->ectx->lock);
		cond_resched();
	} while (more);
	return n;
}

/**
 * mlx5_ep_qp_list_end() - stop reading
 * @cursor: a reader's; the lock of its context is taken here
 */
void mlx5_ep_qp_list_end(struct mlx5_ep_qp_cursor *cursor)
{
	spin_lock(&cursor->ectx->lock);
	list_del(&cursor->at.node);
	list_del(&cursor->end.node);
	spin_unlock(&cursor->ectx->lock);
}
