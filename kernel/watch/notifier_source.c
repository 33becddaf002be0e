// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Events that other objects of the module post to a channel. Unread events
 * coalesce in the source that the object embeds, so posting allocates nothing.
 * Handlers of the device's events post, with interrupts off.
 */
#include <linux/poll.h>
#include <rdma/mlx5_ep_notifier.h>

#include "watch/notifier_priv.h"

/* Waiting readers look at it without the lock. */
static void notifier_count_pending(struct mlx5_ep_notifier *notifier, int by)
{
	WRITE_ONCE(notifier->source_pending, notifier->source_pending + by);
}

static void notifier_publish_sources(struct mlx5_ep_notifier *notifier)
{
	if (!notifier->header)
		return;
	WRITE_ONCE(notifier->header->source_pending, notifier->source_pending);
	/* A reader that sees the number can read() the event. */
	smp_store_release(&notifier->header->source_total,
			  notifier->source_total);
}

/**
 * mlx5_ep_notifier_source_init() - connect a registration to a channel
 * @source: embedded in the registration, zeroed
 * @notifier_uobj: the channel's object, from an attribute of the call
 * @object: number that names the object to the user
 * @cookie: the user's, returned with each event
 *
 * Takes a reference to the channel's memory, not to its file.
 *
 * Return: 0; -EXDEV: the channel is of another address space; -EIO: the device
 * is gone
 */
int mlx5_ep_notifier_source_init(struct mlx5_ep_notifier_source *source,
				 struct ib_uobject *notifier_uobj, u32 object,
				 u64 cookie)
{
	struct mlx5_ep_notifier *notifier = &notifier_object_of(notifier_uobj)->notifier;
	int ret;

	ret = mlx5_ep_watch_slots_check(&notifier->watches);
	if (ret)
		return ret;

	INIT_LIST_HEAD(&source->node);
	source->events = 0;
	source->object = object;
	source->cookie = cookie;
	uverbs_uobject_get(notifier_uobj);
	/* A post that runs already sees all of the source, or no channel. */
	smp_store_release(&source->notifier, notifier);
	return 0;
}

/**
 * mlx5_ep_notifier_source_fini() - disconnect a registration from its channel
 * @source: may have stayed zeroed
 *
 * The caller makes sure that no post runs any more. Unread events of the source
 * are dropped.
 */
void mlx5_ep_notifier_source_fini(struct mlx5_ep_notifier_source *source)
{
	struct mlx5_ep_notifier *notifier = source->notifier;

	if (!notifier)
		return;

	spin_lock_irq(&notifier->source_lock);
	if (!list_empty(&source->node)) {
		list_del_init(&source->node);
		if (!notifier->dead)
			notifier_count_pending(notifier, -1);
		notifier_publish_sources(notifier);
	}
	spin_unlock_irq(&notifier->source_lock);
	source->notifier = NULL;
	/* Only notifiers of a device have sources. */
	uverbs_uobject_put(&container_of(notifier, struct notifier_object,
					 notifier)->uobj);
}

/**
 * mlx5_ep_notifier_post() - tell a registrant
 * @source: of the registration; if it is zeroed, nothing happens
 * @event: enum mlx5_ep_event_type
 *
 * Any context. While an event of the same type is unread, nothing is added.
 */
void mlx5_ep_notifier_post(struct mlx5_ep_notifier_source *source,
			   unsigned int event)
{
	struct mlx5_ep_notifier *notifier;
	unsigned long flags;

	/* Pairs with source_init(). */
	notifier = smp_load_acquire(&source->notifier);
	if (!notifier)
		return;

	spin_lock_irqsave(&notifier->source_lock, flags);
	if (!notifier->dead) {
		source->events |= BIT(event);
		notifier->source_total++;
		if (list_empty(&source->node)) {
			list_add_tail(&source->node, &notifier->sources);
			notifier_count_pending(notifier, 1);
		}
		notifier_publish_sources(notifier);
	}
	spin_unlock_irqrestore(&notifier->source_lock, flags);
	if (wq_has_sleeper(&notifier->wait))
		wake_up_interruptible_poll(&notifier->wait,
					   EPOLLIN | EPOLLRDNORM);
}

/**
 * mlx5_ep_notifier_take_sources() - the events of sources that nobody has read
 * @notifier: notifier that is read; its source_lock is taken here
 * @events: filled in
 * @count: length of @events
 *
 * Return: number of events
 */
unsigned int mlx5_ep_notifier_take_sources(struct mlx5_ep_notifier *notifier,
					   struct mlx5_ep_event *events,
					   unsigned int count)
{
	struct mlx5_ep_notifier_source *source;
	unsigned int type, i = 0;

	spin_lock_irq(&notifier->source_lock);
	while (i < count && !notifier->dead &&
	       !list_empty(&notifier->sources)) {
		source = list_first_entry(&notifier->sources,
					  struct mlx5_ep_notifier_source, node);
		type = __ffs(source->events);
		events[i++] = (struct mlx5_ep_event){
			.cookie = source->cookie,
			.type = type,
			.count = 1,
			.object = source->object,
		};
		source->events &= ~BIT(type);
		if (!source->events) {
			list_del_init(&source->node);
			notifier_count_pending(notifier, -1);
		}
	}
	if (i)
		notifier_publish_sources(notifier);
	spin_unlock_irq(&notifier->source_lock);
	return i;
}
