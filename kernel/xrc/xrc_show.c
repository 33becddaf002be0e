// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table of shared XRC receive QPs in debugfs: one object per line, fields
 * NAME=VALUE, a domain before its QPs and a QP before its registrations.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/pid.h>
#include <linux/seq_file.h>

#include "uuar/context.h"
#include "device.h"
#include "uuar/qp_uuar.h"
#include "xrc.h"

static const char *show_state_name(u32 state)
{
	static const char *const names[] = {
		[IB_QPS_RESET] = "RESET", [IB_QPS_INIT] = "INIT",
		[IB_QPS_RTR] = "RTR", [IB_QPS_RTS] = "RTS",
		[IB_QPS_SQD] = "SQD", [IB_QPS_SQE] = "SQE",
		[IB_QPS_ERR] = "ERR",
	};

	return state < ARRAY_SIZE(names) ? names[state] : "unknown";
}

static void show_reg(struct seq_file *seq, const struct mlx5_ep_xrc_reg *reg,
		     u32 num)
{
	seq_printf(seq, "registration qp=0x%06x pid=%d comm=", num,
		   pid_nr(reg->ectx->tgid));
	seq_escape(seq, reg->ectx->comm, " \t\n\\");
	seq_printf(seq, " events=%s\n",
		   READ_ONCE(reg->source.notifier) ? "notifier" : "none");
}

static void show_qp(struct seq_file *seq, const struct mlx5_ep_xrc_qp *qp)
{
	const struct mlx5_ep_xrc_reg *reg;

	seq_printf(seq, "qp num=0x%06x domain=%u state=%s registrants=%u key=",
		   qp->num, qp->domain->id,
		   show_state_name(READ_ONCE(qp->eqp->state)), qp->num_regs);
	if (qp->key.len)
		seq_printf(seq, "%*phN", (int)qp->key.len, qp->key.data);
	else
		seq_puts(seq, "-");
	seq_putc(seq, '\n');
	list_for_each_entry(reg, &qp->regs, entry)
		show_reg(seq, reg, qp->num);
}

/**
 * mlx5_ep_xrc_qp_info_get() - which domain a shared QP is in, and how many share it
 * @xrc: tables of an attached device; their lock is taken here
 * @ib_qp: an XRC target QP, which the caller keeps alive
 * @domain: answer: number of the domain, as in mlx5_ep_xrc_show()
 * @registrants: answer: registrations with the QP
 *
 * Sleeps.
 *
 * Return: false: the QP has no registration
 */
bool mlx5_ep_xrc_qp_info_get(struct mlx5_ep_xrc *xrc,
			     const struct ib_qp *ib_qp, u32 *domain,
			     u32 *registrants)
{
	const struct mlx5_ep_xrc_qp *qp;
	const struct mlx5_ep_qp *eqp;

	mutex_lock(&xrc->lock);
	/* Our side may be freed meanwhile; its record is under the lock. */
	rcu_read_lock();
	eqp = mlx5_ep_qp_of(xrc->edev, ib_qp);
	qp = eqp ? eqp->shared : NULL;
	rcu_read_unlock();
	if (qp) {
		*domain = qp->domain->id;
		*registrants = qp->num_regs;
	}
	mutex_unlock(&xrc->lock);
	return qp;
}

/**
 * mlx5_ep_xrc_show() - print all domains, QPs and registrations of a device
 * @xrc: tables of an attached device; their lock is taken here
 * @seq: file "xrc" in debugfs, one object per line
 *
 * The state of a QP is that to which somebody has brought it, also upstream, or ERR after
 * an event that tells so. May sleep.
 */
void mlx5_ep_xrc_show(struct mlx5_ep_xrc *xrc, struct seq_file *seq)
{
	const struct mlx5_ep_xrc_domain *domain;
	const struct mlx5_ep_xrc_qp *qp;

	mutex_lock(&xrc->lock);
	list_for_each_entry(domain, &xrc->domains, entry) {
		const struct inode *inode = domain->xrcd->inode;

		seq_printf(seq, "domain id=%u qps=%u inode=", domain->id,
			   domain->num_qps);
		if (inode)
			seq_printf(seq, "%u:%u:%lu\n",
				   MAJOR(inode->i_sb->s_dev),
				   MINOR(inode->i_sb->s_dev),
				   (unsigned long)inode->i_ino);
		else
			seq_puts(seq, "-\n");
		list_for_each_entry(qp, &domain->qps, entry)
			show_qp(seq, qp);
	}
	mutex_unlock(&xrc->lock);
}
