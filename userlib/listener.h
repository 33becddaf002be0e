/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* See listener.c. */

#ifndef MLX5EP_LISTENER_H
#define MLX5EP_LISTENER_H

#include <stdbool.h>

struct ibv_context;
struct mlx5ep_notifier;

/**
 * struct listener - a notifier, and the thread that reads its events
 * @context: of the device of the notifier; NULL: it is of none
 * @notifier: never blocks a reader
 * @read: reads all events; false: there will be no more
 * @renewed: called when a new notifier takes the place of one that has no more events
 */
struct listener {
	struct ibv_context *context;
	struct mlx5ep_notifier *notifier;
	bool (*read)(struct mlx5ep_notifier *notifier);
	void (*renewed)(struct mlx5ep_notifier *notifier);
};

int listener_possible(void);
int listener_start(struct listener *listener);

#endif
