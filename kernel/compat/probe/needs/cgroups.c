// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Needs: cgroups (CONFIG_CGROUPS). */
#include <linux/cgroup.h>

static struct cgroup *probe(struct task_struct *task)
{
	return task_dfl_cgroup(task);
}
