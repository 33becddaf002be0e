// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * User contexts: which policy each gets, and the UAR pages that it holds.
 *
 * A context is managed when a policy other than stock was due at open and its
 * request could be rewritten: then it has a table and the policy places its
 * QPs. Every other context is observed: nothing of it is changed, and the UAR
 * pages that it is seen to hold are counted.
 *
 * Precedence of policies: an open context of the same process that asked for
 * later opens; the cgroup's; uuar_exempt; the device's.
 *
 * A managed context counts its pages before the driver allocates them, so that
 * contexts that are opened at the same time do not exceed the budget together.
 */

#include <linux/cpumask.h>
#include <linux/pid.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "device.h"
#include "trace.h"
#include "uuar/cgroup.h"
#include "uuar/context.h"
#include "uuar/user.h"

/* Is name one of the words of list? */
static bool list_has(const char *list, const char *name)
{
	size_t len = strlen(name);
	const char *at;

	/* A process may have taken its name away: it would be found for ever. */
	if (!len)
		return false;
	for (at = strstr(list, name); at; at = strstr(at + 1, name))
		if ((at == list || at[-1] == ' ') &&
		    (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

/* The policy that is due; edev->lock is held. */
static void resolve_policy(struct mlx5_ep_context *ectx)
{
	struct mlx5_ep_device *edev = ectx->edev;
	const struct mlx5_ep_settings *settings;
	struct mlx5_ep_context *other;

	lockdep_assert_held(&edev->lock);
	/* The newest is first. */
	list_for_each_entry(other, &edev->contexts, node) {
		if (other->later_tgid && other->later_tgid == ectx->tgid) {
			ectx->settings = other->later;
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
	if (list_has(edev->exempt, ectx->comm)) {
		ectx->settings = (struct mlx5_ep_settings){};
		ectx->source = MLX5_EP_POLICY_SOURCE_EXEMPT;
		return;
	}
	ectx->settings = edev->settings;
	ectx->source = MLX5_EP_POLICY_SOURCE_DEVICE;
}

/*
 * Count pages for the context, its device and its user: at least and at most so
 * many. How many, or -EDQUOT.
 */
static int charge(struct mlx5_ep_context *ectx, unsigned int least,
		  unsigned int most)
{
	int ret = mlx5_ep_user_charge(ectx->edev, ectx->user, least, most);

	if (ret > 0)
		atomic_add(ret, ectx->pages);
	return ret;
}

static void uncharge(struct mlx5_ep_context *ectx, unsigned int pages)
{
	atomic_sub(pages, ectx->pages);
	mlx5_ep_user_uncharge(ectx->user, pages);
}

/**
 * mlx5_ep_context_init() - first of all, before the driver's alloc_ucontext
 * @ectx: our side of the context, all zero
 * @edev: its device
 */
void mlx5_ep_context_init(struct mlx5_ep_context *ectx,
			  struct mlx5_ep_device *edev)
{
	ectx->edev = edev;
	INIT_LIST_HEAD(&ectx->node);
	INIT_LIST_HEAD(&ectx->qps);
	spin_lock_init(&ectx->lock);
	xa_init(&ectx->dynamic);
	ectx->pages = &edev->observed_pages;
	ectx->user = mlx5_ep_user_get(edev);
	ectx->tgid = get_task_pid(current, PIDTYPE_TGID);
	get_task_comm(ectx->comm, current->group_leader);
}

/**
 * mlx5_ep_context_plan() - decide whether the context is to be managed
 * @ectx: context
 * @library: UAR pages that its library asks for
 * @low_latency: uUARs that its library will ring without a lock
 *
 * Makes the table and counts the pages. Sleeps.
 *
 * Return: static pages to ask the driver for; 0: leave the request alone;
 * -EDQUOT: the user may not have another page
 */
int mlx5_ep_context_plan(struct mlx5_ep_context *ectx, unsigned int library,
			 unsigned int low_latency)
{
	struct mlx5_ep_device *edev = ectx->edev;
	struct mlx5_ep_uuar_sizing sizing = {
		.cpus = num_online_cpus(),
		.library = library,
		.low_latency = low_latency,
		.available = MLX5_EP_MAX_PAGES,
	};
	struct mlx5_ep_uuar_table *table;
	unsigned int held;
	int pages;

	mutex_lock(&edev->lock);
	resolve_policy(ectx);
	if (ectx->settings.policy == MLX5_EP_UUAR_POLICY_STOCK) {
		mutex_unlock(&edev->lock);
		return 0;
	}
	held = atomic_read(&edev->managed_pages);
	sizing.policy = ectx->settings.policy;
	sizing.wanted = ectx->settings.pages;
	if (edev->budget)
		sizing.available = edev->budget - min(edev->budget, held);
	ectx->pages = &edev->managed_pages;
	pages = charge(ectx, 1, mlx5_ep_uuar_policy_pages(&sizing));
	mutex_unlock(&edev->lock);
	if (pages < 0)
		return pages;

	ectx->static_pages = pages;
	table = kvzalloc(struct_size(table, pages, pages), GFP_KERNEL);
	if (!table) {
		mlx5_ep_context_unplan(ectx);
		return 0;
	}
	table->policy = ectx->settings.policy;
	table->strict = ectx->settings.strict;
	table->low_latency = low_latency;
	table->nr_pages = pages;
	ectx->low_latency = low_latency;
	ectx->table = table;
	return pages;
}

/**
 * mlx5_ep_context_unplan() - take the plan back: the context will be observed
 * @ectx: context whose plan cannot be carried out
 */
void mlx5_ep_context_unplan(struct mlx5_ep_context *ectx)
{
	struct mlx5_ep_device *edev = ectx->edev;

	kvfree(ectx->table);
	ectx->table = NULL;
	uncharge(ectx, ectx->static_pages);
	ectx->pages = &edev->observed_pages;
	ectx->static_pages = 0;
	ectx->settings = (struct mlx5_ep_settings){};
	ectx->source = MLX5_EP_POLICY_SOURCE_FALLBACK;
	atomic_inc(&edev->nr_fallback);
	trace_mlx5_ep_policy_refused(ectx, -ENOMEM);
	dev_notice_ratelimited(&edev->ibdev->dev,
			       "mlx5_ep: %s[%d] stays stock: its UAR pages cannot be had; lower uuar_pages or close contexts\n",
			       ectx->comm, pid_nr(ectx->tgid));
}

/**
 * mlx5_ep_context_observe() - the context is opened as its library asked
 * @ectx: context that is not managed
 * @static_pages: UAR pages that the driver will allocate for it
 *
 * Return: 0; -EDQUOT: the user may not have that many pages more
 */
int mlx5_ep_context_observe(struct mlx5_ep_context *ectx,
			    unsigned int static_pages)
{
	int ret;

	ectx->pages = &ectx->edev->observed_pages;
	ret = charge(ectx, static_pages, static_pages);
	if (ret < 0)
		return ret;
	ectx->static_pages = static_pages;
	return 0;
}

/**
 * mlx5_ep_context_open() - the driver's context is made
 * @ectx: context, planned or observed
 */
void mlx5_ep_context_open(struct mlx5_ep_context *ectx)
{
	struct mlx5_ep_device *edev = ectx->edev;

	ectx->placing = ectx->table;
	mutex_lock(&edev->lock);
	list_add(&ectx->node, &edev->contexts);
	mutex_unlock(&edev->lock);
	trace_mlx5_ep_context_open(ectx);
}

/**
 * mlx5_ep_context_close() - last of all, after the driver's dealloc_ucontext
 * @ectx: context, opened or not
 *
 * A QP may still be on its list where its destruction failed; it is never
 * looked at again.
 */
void mlx5_ep_context_close(struct mlx5_ep_context *ectx)
{
	struct mlx5_ep_device *edev = ectx->edev;
	unsigned int pages = ectx->static_pages;
	unsigned long index;
	void *entry;

	trace_mlx5_ep_context_close(ectx);
	mutex_lock(&edev->lock);
	list_del_init(&ectx->node);
	mutex_unlock(&edev->lock);

	xa_for_each(&ectx->dynamic, index, entry)
		pages++;
	xa_destroy(&ectx->dynamic);
	uncharge(ectx, pages);
	mlx5_ep_user_put(edev, ectx->user);
	kvfree(ectx->table);
	ectx->table = NULL;
	put_pid(ectx->later_tgid);
	put_pid(ectx->tgid);
}

/**
 * mlx5_ep_context_note_static_page() - a static page was mapped
 * @ectx: context
 * @page: static page index; the driver has checked that the context owns it
 * @uar: the device's number of the page
 */
void mlx5_ep_context_note_static_page(struct mlx5_ep_context *ectx, unsigned int page,
			   u32 uar)
{
	struct mlx5_ep_uuar_page *entry;

	spin_lock(&ectx->lock);
	if (ectx->table && page < ectx->table->nr_pages) {
		entry = &ectx->table->pages[page];
		if (!entry->known) {
			entry->uar = uar;
			entry->known = true;
		}
		WARN_ON_ONCE(entry->uar != uar);
	}
	spin_unlock(&ectx->lock);
}

/**
 * mlx5_ep_context_tracks_page() - is such a page counted already?
 * @ectx: context
 * @pgoff: page offset of the mapping's entry: the same for each mapping of it
 */
bool mlx5_ep_context_tracks_page(struct mlx5_ep_context *ectx, unsigned long pgoff)
{
	return xa_load(&ectx->dynamic, pgoff);
}

/**
 * mlx5_ep_context_charge_page() - count a page that is about to be allocated or mapped
 * @ectx: context
 *
 * Return: 0: to be passed on to mlx5_ep_context_track_page() or
 * mlx5_ep_context_uncharge_page(); -EDQUOT
 */
int mlx5_ep_context_charge_page(struct mlx5_ep_context *ectx)
{
	return min(charge(ectx, 1, 1), 0);
}

/**
 * mlx5_ep_context_uncharge_page() - it was not, or is no UAR page
 * @ectx: context
 */
void mlx5_ep_context_uncharge_page(struct mlx5_ep_context *ectx)
{
	uncharge(ectx, 1);
}

/**
 * mlx5_ep_context_track_page() - it was: it counts for as long as its entry lives
 * @ectx: context
 * @pgoff: as in mlx5_ep_context_tracks_page()
 * @entry: its entry; NULL for a page without one, that stays to the end
 *
 * It counts once, though it was allocated and mapped at the same time. An
 * offset is given to the next page when its entry is out of the core's table,
 * and only then does the driver free the page: who comes in between finds
 * the last one here and takes its place in the count, as
 * mlx5_ep_context_untrack_page() is told. Where there is no memory to remember it, it is
 * not counted.
 */
void mlx5_ep_context_track_page(struct mlx5_ep_context *ectx, unsigned long pgoff,
			  struct rdma_user_mmap_entry *entry)
{
	if (xa_store(&ectx->dynamic, pgoff, entry ?: xa_mk_value(0),
		     GFP_KERNEL))
		uncharge(ectx, 1);
}

/**
 * mlx5_ep_context_untrack_page() - an entry is about to be freed
 * @ectx: context
 * @entry: the entry; may be of something else
 *
 * Return: true where a page of this entry counts; when it is free, that is to
 * be told to mlx5_ep_context_uncharge_page().
 */
bool mlx5_ep_context_untrack_page(struct mlx5_ep_context *ectx,
			  struct rdma_user_mmap_entry *entry)
{
	return xa_cmpxchg(&ectx->dynamic, entry->start_pgoff, entry, NULL, 0) ==
	       entry;
}

/**
 * mlx5_ep_context_set_policy() - another policy for an open context
 * @ectx: context
 * @settings: policy and strict; pages is ignored, the context keeps its own
 *
 * Return: 0; -EBUSY: it has or had a QP; -EOPNOTSUPP: it is not managed, and
 * the policy is not stock
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
		/* mlx5_ib places in the pages that it has allocated. */
		if (settings->policy == MLX5_EP_UUAR_POLICY_STOCK)
			ectx->placing = false;
	} else if (settings->policy != MLX5_EP_UUAR_POLICY_STOCK) {
		ret = -EOPNOTSUPP;
	}
	spin_unlock(&ectx->lock);
	return ret;
}

/**
 * mlx5_ep_context_set_later() - a policy for what this process opens later
 * @ectx: context that must stay open for it
 * @settings: the policy
 */
void mlx5_ep_context_set_later(struct mlx5_ep_context *ectx,
			       const struct mlx5_ep_settings *settings)
{
	struct pid *tgid = get_task_pid(current, PIDTYPE_TGID);

	mutex_lock(&ectx->edev->lock);
	swap(ectx->later_tgid, tgid);
	ectx->later = *settings;
	mutex_unlock(&ectx->edev->lock);
	put_pid(tgid);
}
