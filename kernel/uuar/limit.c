// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What is said when a limit refuses something: one event is traced and one line
 * logged, the same for each limit.
 */

#include <linux/pid.h>
#include <linux/sched.h>

#include "device.h"
#include "trace.h"
#include "uuar/limit.h"

/**
 * mlx5_ep_limit_refuse() - trace and log a refusal
 * @edev: device that has the limit
 * @refusal: what was refused
 *
 * Does not sleep.
 *
 * Return: -EDQUOT
 */
int mlx5_ep_limit_refuse(struct mlx5_ep_device *edev,
			 const struct mlx5_ep_refusal *refusal)
{
	trace_mlx5_ep_limit_reached(edev, refusal->what, refusal->who,
				    refusal->held, refusal->refused,
				    refusal->limit);
	dev_notice_ratelimited(
		&edev->ibdev->dev,
		"mlx5_ep: %s holds %u %s and is refused %u more: close contexts or raise %s (%u)\n",
		refusal->who, refusal->held, refusal->what, refusal->refused,
		refusal->name, refusal->limit);
	return -EDQUOT;
}

/**
 * mlx5_ep_limit_refuse_process() - the same where the caller's process has reached
 *	its limit
 * @edev: device that has the limit
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
