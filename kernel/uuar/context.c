// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * User contexts: which policy each gets.
 *
 * A context is managed when a policy other than stock was due at open, and its
 * request could be rewritten: then it has a table of uUARs, and the policy
 * places its QPs. Every other context is observed: nothing of it is changed, and
 * the UAR pages that it is seen to hold are counted.
 *
 * Four sources can name the policy. The first of them that does is used: an open
 * context of the same process that set a policy for later contexts; the cgroup;
 * uuar_exempt; the device.
 *
 * A context that should have been managed and is not has fallen back: it counts
 * in uuar_fallbacks, its source is "fallback", one event is traced and one line
 * logged. An open that fails does not count as a fallback.
 */

#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "account/limit.h"
#include "account/user.h"
#include "compat/compat.h"
#include "device.h"
#include "trace.h"
#include "uuar/cgroup.h"
#include "uuar/context.h"
#include "uuar/context_pages.h"
#include "uuar/qp_uuar.h"

/* Is @name one of the words of @list? */
static bool context_list_has(const char *list, const char *name)
{
	size_t len = strlen(name);
	const char *at;

	/* A process can have an empty name, which strstr() finds everywhere. */
	if (!len)
		return false;
	for (at = strstr(list, name); at; at = strstr(at + 1, name))
		if ((at == list || at[-1] == ' ') &&
		    (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

/*
 * Counts the online CPUs on which a thread of the process may run: a program can
 * have bound the thread that opens the device to one CPU.
 */
static unsigned int context_allowed_cpus(void)
{
	struct task_struct *thread;
	unsigned int cpus = 1;
	cpumask_var_t allowed;

	if (!zalloc_cpumask_var(&allowed, GFP_KERNEL))
		return cpus;
	rcu_read_lock();
	/*
	 * As for_each_thread(), which names a lock that no module may, where the
	 * kernel checks lists of RCU (PROVE_RCU_LIST).
	 */
	list_for_each_entry_rcu(thread, &current->signal->thread_head,
				thread_node)
		cpumask_or(allowed, allowed, thread->cpus_ptr);
	rcu_read_unlock();
	cpumask_and(allowed, allowed, cpu_online_mask);
	cpus = cpumask_weight(allowed);
	free_cpumask_var(allowed);
	return cpus;
}

/* Find out which policy is due. */
static void context_resolve_policy(struct mlx5_ep_context *ectx)
{
	struct mlx5_ep_device *edev = ectx->edev;
	const struct mlx5_ep_settings *settings;
	struct mlx5_ep_context *other;

	lockdep_assert_held(&edev->lock);
	list_for_each_entry(other, &edev->laters, later_node) {
		if (other->later_tgid == ectx->tgid) {
			ectx->settings = other->later;
			if (!ectx->settings.pages)
				ectx->settings.pages =
					edev->values.settings.pages;
			ectx->source = MLX5_EP_POLICY_SOURCE_PROCESS;
			return;
		}
	}
	settings = mlx5_ep_cgroup_settings(edev);
	if (settings) {
		ectx->settings = *settings;
		ectx->source = MLX5_EP_POLICY_SOURCE_CGROUP;
		return;
	}
	if (context_list_has(edev->values.exempt, ectx->comm)) {
		ectx->settings = (struct mlx5_ep_settings){};
		ectx->source = MLX5_EP_POLICY_SOURCE_EXEMPT;
		return;
	}
	ectx->settings = edev->values.settings;
	ectx->source = MLX5_EP_POLICY_SOURCE_DEVICE;
}

/**
 * mlx5_ep_context_create() - make our side of a context, before the driver opens it
 * @edev: attached device, which outlives the context
 * @uctx: the context, as the driver's alloc_ucontext operation gets it
 *
 * mlx5_ep_context_close() is due. Sleeps.
 *
 * Return: our side; NULL: no memory
 */
struct mlx5_ep_context *mlx5_ep_context_create(struct mlx5_ep_device *edev,
					       const struct ib_ucontext *uctx)
{
	struct mlx5_ep_context *ectx = kzalloc_obj(*ectx, GFP_KERNEL_ACCOUNT);

	if (!ectx || mlx5_ep_side_add(&edev->context_sides, &ectx->side, uctx)) {
		kfree(ectx);
		return NULL;
	}
	ectx->edev = edev;
	INIT_LIST_HEAD(&ectx->node);
	INIT_LIST_HEAD(&ectx->later_node);
	INIT_LIST_HEAD(&ectx->qps);
	mutex_init(&ectx->back_lock);
	spin_lock_init(&ectx->lock);
	xa_init(&ectx->dynamic);
	xa_init(&ectx->uar_qps);
	ectx->pages = &edev->observed_pages;
	return ectx;
}

/**
 * mlx5_ep_context_init() - find out for whom a new context counts, and its policy
 * @ectx: our side of the context; the lock of its device is taken here
 *
 * Sleeps.
 *
 * Return: 1 if the context shall have a policy other than stock; 0; -ENOMEM: what
 * it holds could not be counted, and it must not be opened
 */
int mlx5_ep_context_init(struct mlx5_ep_context *ectx)
{
	struct mlx5_ep_device *edev = ectx->edev;

	ectx->user = mlx5_ep_user_get(&edev->users);
	ectx->tgid = get_task_pid(current, PIDTYPE_TGID);
	get_task_comm(ectx->comm, current->group_leader);
	ectx->cgroup = mlx5_ep_cgroup_account_get(edev);
	if (!ectx->user || !ectx->cgroup)
		return -ENOMEM;
	mutex_lock(&edev->lock);
	mlx5_ep_cgroup_account_limit(edev, ectx->cgroup);
	context_resolve_policy(ectx);
	mutex_unlock(&edev->lock);
	return ectx->settings.policy != MLX5_EP_UUAR_POLICY_STOCK;
}

/**
 * mlx5_ep_context_plan() - prepare to open the context as a managed one
 * @ectx: context after mlx5_ep_context_init(), not published; its @settings say
 *	which policy is due
 * @library: UAR pages that its library asks for
 * @low_latency: uUARs that its library will ring without a lock
 *
 * Makes the table, and charges the pages that the driver allocates at open:
 * one, or those of one page of the system. Every context needs them, because
 * the doorbells of all its CQs are on the first. Each other page is allocated
 * when the first QP is placed on it, see uar_map.c. Sleeps.
 *
 * Return: static pages to ask the driver for; -ENOMEM; -EDQUOT: the user or the
 * cgroup may not have another page
 */
int mlx5_ep_context_plan(struct mlx5_ep_context *ectx, unsigned int library,
			 unsigned int low_latency)
{
	struct mlx5_ep_device *edev = ectx->edev;
	struct mlx5_ep_uuar_sizing sizing = {
		.policy = ectx->settings.policy,
		.wanted = ectx->settings.pages,
		.cpus = context_allowed_cpus(),
		.mappings = READ_ONCE(current->mm->map_count),
		.library = library,
		.low_latency = low_latency,
		.available = MLX5_EP_MAX_PAGES,
	};
	unsigned int together = edev->uars_together;
	unsigned int pages = ALIGN(mlx5_ep_uuar_policy_pages(&sizing),
				   together);
	struct mlx5_ep_uuar_table *table;
	int ret;

	ectx->pages = &edev->managed_pages;
	ret = mlx5_ep_context_pages_charge(ectx, together);
	if (ret)
		return ret;

	table = kvzalloc(struct_size(table, pages, pages), GFP_KERNEL_ACCOUNT);
	if (!table) {
		mlx5_ep_context_pages_uncharge(ectx, together);
		return -ENOMEM;
	}
	table->policy = ectx->settings.policy;
	table->strict = ectx->settings.strict;
	table->low_latency = low_latency;
	table->nr_pages = pages;
	ectx->static_pages = together;
	ectx->low_latency = low_latency;
	ectx->table = table;
	return ectx->static_pages;
}

static void context_free_table(struct mlx5_ep_uuar_table *table)
{
	unsigned int i;

	for (i = 0; table && i < table->nr_pages; i++)
		if (table->pages[i].mm)
			mmdrop(table->pages[i].mm);
	kvfree(table);
}

/**
 * mlx5_ep_context_unplan() - undo mlx5_ep_context_plan()
 * @ectx: context for which mlx5_ep_context_plan() succeeded, not published
 */
void mlx5_ep_context_unplan(struct mlx5_ep_context *ectx)
{
	context_free_table(ectx->table);
	ectx->table = NULL;
	mlx5_ep_context_pages_uncharge(ectx, ectx->static_pages);
	ectx->static_pages = 0;
	ectx->low_latency = 0;
}

/**
 * mlx5_ep_context_observe() - prepare to open the context as its library asks
 * @ectx: context after mlx5_ep_context_init() that has no table, not published
 * @static_pages: UAR pages that the driver will allocate at open
 * @on_demand: the library allocates pages by itself, the first right after open
 *
 * Return: 0; -EDQUOT: the user or the cgroup may not have that many pages more
 */
int mlx5_ep_context_observe(struct mlx5_ep_context *ectx,
			    unsigned int static_pages, bool on_demand)
{
	unsigned int reserved = on_demand ? ectx->edev->uars_together : 0;
	unsigned int pages = static_pages + reserved;
	int ret;

	ectx->pages = &ectx->edev->observed_pages;
	ret = mlx5_ep_context_pages_charge(ectx, pages);
	if (ret)
		return ret;
	ectx->static_pages = static_pages;
	ectx->reserved = reserved;
	return 0;
}

/**
 * mlx5_ep_context_fall_back() - a context that should be managed is not
 * @ectx: context for which a policy other than stock was due
 * @error: what went wrong, for the tracepoint
 * @why: the same in words, for the log
 *
 * Called before the context is published, or with its lock held.
 */
void mlx5_ep_context_fall_back(struct mlx5_ep_context *ectx, int error,
			       const char *why)
{
	struct mlx5_ep_device *edev = ectx->edev;

	trace_mlx5_ep_policy_refused(ectx, error);
	atomic_inc(&edev->nr_fallback);
	dev_notice_ratelimited(&edev->ibdev->dev,
			       "mlx5_ep: %s[%d] stays stock: %s (%d)\n",
			       ectx->comm, pid_nr(ectx->tgid), why, error);
	ectx->placing = false;
	ectx->settings = (struct mlx5_ep_settings){};
	ectx->source = MLX5_EP_POLICY_SOURCE_FALLBACK;
}

/**
 * mlx5_ep_context_refuse() - a context that should be managed is not opened
 * @ectx: context for which a strict policy was due, not published
 * @error: what went wrong, for the tracepoint
 * @why: the same in words, for the log
 */
void mlx5_ep_context_refuse(struct mlx5_ep_context *ectx, int error,
			    const char *why)
{
	mlx5_ep_limit_count_refusal(ectx->edev, MLX5_EP_REASON_STRICT_CONTEXT);
	trace_mlx5_ep_policy_refused(ectx, error);
	dev_notice_ratelimited(&ectx->edev->ibdev->dev,
			       "mlx5_ep: %s[%d] is refused, its policy is strict: %s (%d)\n",
			       ectx->comm, pid_nr(ectx->tgid), why, error);
}

/**
 * mlx5_ep_context_open() - the driver has opened the context: publish it
 * @ectx: context that was planned or observed, not published; the lock of its
 *	device is taken here
 * @opened: as what it was opened
 */
void mlx5_ep_context_open(struct mlx5_ep_context *ectx,
			  enum mlx5_ep_opened opened)
{
	ectx->placing = opened == MLX5_EP_OPENED_MANAGED;
	mutex_lock(&ectx->edev->lock);
	list_add(&ectx->node, &ectx->edev->contexts);
	mutex_unlock(&ectx->edev->lock);
	trace_mlx5_ep_context_open(ectx);
}

/*
 * Frees the records of QPs. Those of DevX objects that the device failed to
 * destroy are still on the list; those of verbs QPs stay until the device goes.
 */
static void context_free_qps(struct mlx5_ep_context *ectx)
{
	struct mlx5_ep_qp *eqp, *next;
	struct mlx5_ep_uar_qps *page;
	unsigned long uar;

	list_for_each_entry_safe(eqp, next, &ectx->qps, node)
		if (!eqp->qp)
			kfree(eqp);
	xa_for_each(&ectx->uar_qps, uar, page)
		kfree(page);
	xa_destroy(&ectx->uar_qps);
}

/* Those that could not be destroyed: netlink asks for them still. The device is locked. */
static void disown_qps(struct mlx5_ep_context *ectx)
{
	struct mlx5_ep_qp *eqp;

	list_for_each_entry(eqp, &ectx->qps, node)
		WRITE_ONCE(eqp->ectx, NULL);
}

/**
 * mlx5_ep_context_close() - the driver has closed the context, or not opened it
 * @ectx: context after mlx5_ep_context_create(), published or not, which is freed
 *
 * A QP that the device failed to destroy is told that it has no context.
 */
void mlx5_ep_context_close(struct mlx5_ep_context *ectx)
{
	struct mlx5_ep_device *edev = ectx->edev;

	if (!list_empty(&ectx->node)) {
		trace_mlx5_ep_context_close(ectx);
		mutex_lock(&edev->lock);
		list_del_init(&ectx->node);
		list_del_init(&ectx->later_node);
		disown_qps(ectx);
		mutex_unlock(&edev->lock);
	}
	mlx5_ep_context_pages_uncharge_all(ectx);
	mlx5_ep_account_put(&edev->cgroup_accounts, ectx->cgroup);
	mlx5_ep_user_put(&edev->users, ectx->user);
	context_free_qps(ectx);
	context_free_table(ectx->table);
	put_pid(ectx->later_tgid);
	put_pid(ectx->tgid);
	mlx5_ep_side_del(&edev->context_sides, &ectx->side);
	if (ectx->pinned)
		module_put(THIS_MODULE);
	kfree_rcu(ectx, side.rcu);
}

/**
 * mlx5_ep_context_set_policy() - give an open context another policy
 * @ectx: open context; its lock is taken here
 * @settings: policy and strict; pages is ignored, the context keeps its own
 *
 * Under stock the QPs are placed as mlx5_ib would place them on all pages of the
 * table: mlx5_ib itself has page 0 only.
 *
 * Return: 0; -EBUSY: the context has or had a QP; -EOPNOTSUPP: the context is
 * not managed, and the policy is not stock
 */
int mlx5_ep_context_set_policy(struct mlx5_ep_context *ectx,
			       const struct mlx5_ep_settings *settings)
{
	int ret = 0;

	spin_lock(&ectx->lock);
	if (ectx->had_qp) {
		ret = -EBUSY;
	} else if (ectx->placing) {
		ectx->settings.policy = settings->policy;
		ectx->settings.strict = settings->strict;
		ectx->source = MLX5_EP_POLICY_SOURCE_CONTEXT;
		ectx->table->policy = settings->policy;
		ectx->table->strict = settings->strict;
	} else if (settings->policy != MLX5_EP_UUAR_POLICY_STOCK) {
		ret = -EOPNOTSUPP;
	}
	spin_unlock(&ectx->lock);
	return ret;
}

/**
 * mlx5_ep_context_set_later() - a policy for contexts that this process opens
 * @ectx: context that has to stay open while the policy is to hold
 * @settings: policy, strict and pages, which are copied
 */
void mlx5_ep_context_set_later(struct mlx5_ep_context *ectx,
			       const struct mlx5_ep_settings *settings)
{
	struct pid *tgid = get_task_pid(current, PIDTYPE_TGID);

	mutex_lock(&ectx->edev->lock);
	swap(ectx->later_tgid, tgid);
	ectx->later = *settings;
	list_move(&ectx->later_node, &ectx->edev->laters);
	mutex_unlock(&ectx->edev->lock);
	put_pid(tgid);
}

/* There may be as many as the adapter has, so no spinlock is held. */
static unsigned int context_count_dynamic(struct mlx5_ep_context *ectx)
{
	unsigned int pages = 0;
	unsigned long index;
	void *entry;

	xa_for_each(&ectx->dynamic, index, entry)
		pages += ectx->edev->uars_together;
	return pages;
}

/* The context is locked. */
static void context_fill_info(const struct mlx5_ep_context *ectx,
			      unsigned int dynamic,
			      struct mlx5_ep_context_info *info)
{
	const struct mlx5_ep_uuar_table *table = ectx->table;
	unsigned int i, qps, on_demand = 0;

	*info = (struct mlx5_ep_context_info){
		.policy = ectx->settings.policy,
		.source = ectx->source,
		.pid = pid_vnr(ectx->tgid),
		.static_pages = table ? table->nr_pages : ectx->static_pages,
		.dynamic_pages = dynamic,
		.held_pages = ectx->static_pages + dynamic,
		.low_latency = ectx->low_latency,
		.qps = ectx->nr_qps,
	};
	if (ectx->placing)
		info->flags |= MLX5_EP_CONTEXT_MANAGED;
	if (ectx->settings.strict)
		info->flags |= MLX5_EP_CONTEXT_STRICT;
	if (ectx->static_pages)
		info->flags |= MLX5_EP_CONTEXT_STATIC;
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

/**
 * mlx5_ep_context_info_get() - what a context has, for user space
 * @ectx: open context, whose lock is taken here
 * @info: answer; all of it is overwritten. Its pid is that of the caller's pid namespace
 */
void mlx5_ep_context_info_get(struct mlx5_ep_context *ectx,
			      struct mlx5_ep_context_info *info)
{
	const unsigned int dynamic = context_count_dynamic(ectx);

	spin_lock(&ectx->lock);
	context_fill_info(ectx, dynamic, info);
	spin_unlock(&ectx->lock);
}
