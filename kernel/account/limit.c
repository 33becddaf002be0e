// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What is said when a limit refuses something: the refusal is counted, one event
 * is traced and one line logged, the same for each limit. A strict policy refuses
 * too. Its refusals are counted here, and told of in context.c and qp_uuar.c.
 */

#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sysfs.h>

#include "account/limit.h"
#include "device.h"
#include "trace.h"

/* Names of the parameters and attributes; sysfs shows them. */
static const char *const reason_names[] = {
	[MLX5_EP_REASON_BUDGET] = "uar_budget",
	[MLX5_EP_REASON_USER] = "uar_user_limit",
	[MLX5_EP_REASON_CGROUP] = "uar_cgroup_limits",
	[MLX5_EP_REASON_WATCHES] = "notifier_max_watches",
	[MLX5_EP_REASON_NOTIFIERS] = "notifiers_per_user",
	[MLX5_EP_REASON_DMABUF_WATCHES] = "dmabuf_watches_per_user",
	[MLX5_EP_REASON_XRC_QPS_DEVICE] = "xrc_qps_per_device",
	[MLX5_EP_REASON_XRC_QPS_USER] = "xrc_qps_per_user",
	[MLX5_EP_REASON_XRC_REGS_USER] = "xrc_regs_per_user",
	[MLX5_EP_REASON_STRICT_CONTEXT] = "strict_context",
	[MLX5_EP_REASON_STRICT_QP] = "strict_qp",
};

static_assert(ARRAY_SIZE(reason_names) == MLX5_EP_NR_REASONS);

#define LIMIT_REFUSED \
	"mlx5_ep: %s holds %u %s and is refused %u more: close contexts or raise %s%s (%u)\n"
#define LIMIT_REFUSED_ARGS(r)						\
	(r)->who, (r)->held, (r)->what, (r)->refused,			\
	(r)->reason == MLX5_EP_REASON_CGROUP ? "its limit in " : "",	\
	reason_names[(r)->reason], (r)->limit

/* What was refused without a device. */
static struct mlx5_ep_refusals limit_refusals;

static struct mlx5_ep_refusals *limit_refusals_of(struct mlx5_ep_device *edev)
{
	return edev ? &edev->refusals : &limit_refusals;
}

/**
 * mlx5_ep_limit_count_refusal() - count a refusal
 * @edev: device on which something was refused; NULL: none
 * @reason: what refuses
 *
 * Does not sleep.
 */
void mlx5_ep_limit_count_refusal(struct mlx5_ep_device *edev,
				 enum mlx5_ep_reason reason)
{
	atomic64_inc(&limit_refusals_of(edev)->number[reason]);
}

/**
 * mlx5_ep_limit_refuse() - count, trace and log a refusal
 * @edev: device that has the limit; NULL: none
 * @refusal: what was refused
 *
 * Does not sleep.
 *
 * Return: -EDQUOT
 */
int mlx5_ep_limit_refuse(struct mlx5_ep_device *edev,
			 const struct mlx5_ep_refusal *refusal)
{
	mlx5_ep_limit_count_refusal(edev, refusal->reason);
	trace_mlx5_ep_limit_reached(edev, refusal->what, refusal->who,
				    refusal->held, refusal->refused,
				    refusal->limit);
	if (edev)
		dev_notice_ratelimited(&edev->ibdev->dev, LIMIT_REFUSED,
				       LIMIT_REFUSED_ARGS(refusal));
	else
		pr_notice_ratelimited(LIMIT_REFUSED,
				      LIMIT_REFUSED_ARGS(refusal));
	return -EDQUOT;
}

/**
 * mlx5_ep_limit_refuse_process() - the same where the caller's process has reached
 *	its limit
 * @edev: device that has the limit; NULL: none
 * @refusal: what was refused; its @who is set here
 *
 * Return: -EDQUOT
 */
int mlx5_ep_limit_refuse_process(struct mlx5_ep_device *edev,
				 struct mlx5_ep_refusal *refusal)
{
	char who[TASK_COMM_LEN + 16], comm[TASK_COMM_LEN];

	get_task_comm(comm, current->group_leader);
	snprintf(who, sizeof(who), "%s[%d]", comm, task_tgid_nr(current));
	refusal->who = who;
	mlx5_ep_limit_refuse(edev, refusal);
	refusal->who = NULL;
	return -EDQUOT;
}

/**
 * mlx5_ep_limit_show_refusals() - list what was refused, a line per reason
 * @edev: attached device; NULL: what was refused without one
 * @buf: a page, as sysfs gives it
 *
 * Return: length of the text
 */
ssize_t mlx5_ep_limit_show_refusals(struct mlx5_ep_device *edev, char *buf)
{
	ssize_t len = 0;
	int i;

	for (i = 0; i < MLX5_EP_NR_REASONS; i++)
		len += sysfs_emit_at(
			buf, len, "%s %lld\n", reason_names[i],
			atomic64_read(&limit_refusals_of(edev)->number[i]));
	return len;
}
