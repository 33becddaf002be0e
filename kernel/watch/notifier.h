/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The event channel, a file that a process reads, polls and maps: what other
 * objects of the module need to post events to it.
 */
#ifndef MLX5_EP_NOTIFIER_H
#define MLX5_EP_NOTIFIER_H

#include <linux/list.h>
#include <linux/types.h>

struct ib_uobject;
struct mlx5_ep_device;
struct seq_file;
struct uapi_definition;
struct uverbs_attr_bundle;
struct mlx5_ep_notifier;

/**
 * struct mlx5_ep_notifier_source - one registrant of asynchronous events
 * @notifier: the channel, referenced; NULL before init and after fini
 * @node: link in the channel's list of sources that have an unread event
 * @cookie: chosen by the user, returned with each event
 * @events: bit per event type not yet read
 * @object: number that names the object to the user (a QP number)
 *
 * Embedded in the object that posts, one per registration. Unread events
 * coalesce in it, so posting never allocates and never overflows. While it is
 * zeroed, posting does nothing. All fields are private to notifier_source.c.
 */
struct mlx5_ep_notifier_source {
	struct mlx5_ep_notifier *notifier;
	struct list_head node;
	u64 cookie;
	u32 events;
	u32 object;
};

int mlx5_ep_notifier_source_init(struct mlx5_ep_notifier_source *source,
				 struct ib_uobject *notifier_uobj, u32 object,
				 u64 cookie);
void mlx5_ep_notifier_source_fini(struct mlx5_ep_notifier_source *source);
void mlx5_ep_notifier_post(struct mlx5_ep_notifier_source *source,
			   unsigned int event);
void mlx5_ep_notifier_show(struct mlx5_ep_device *edev, struct seq_file *seq);

extern const struct uapi_definition mlx5_ep_notifier_defs[];

#endif /* MLX5_EP_NOTIFIER_H */
