// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The events of watches, as read() gives them. An event is a bit in its watch's
 * chunk, so nothing is allocated for it and nothing can overflow.
 */
#include <linux/mm.h>
#include <linux/sched.h>

#include "watch/slots.h"

static_assert(sizeof(struct mlx5_ep_event) == 64);

/* Chunks that a read comes by before the lock is let go. Some have no event left. */
#define WATCH_READ_BATCH	256U

static void event_take(struct mlx5_ep_watches *ws,
		       struct mlx5_ep_watch_chunk *chunk,
		       struct mlx5_ep_event *event)
{
	u64 ahead = chunk->pending & ~(BIT_ULL(chunk->cursor) - 1);
	unsigned int index = __ffs64(ahead ?: chunk->pending);
	struct mlx5_ep_watch *w = &chunk->watches[index];
	u32 slot = chunk->base + index;

	*event = (struct mlx5_ep_event){
		.cookie = w->cookie,
		.start = (u64)(w->start + w->hit_first) << PAGE_SHIFT,
		.length = (u64)(w->hit_last - w->hit_first + 1) << PAGE_SHIFT,
		.word = (*slots_word(ws, slot) & ~MLX5_EP_WATCH_STATE_MASK) |
			MLX5_EP_WATCH_STATE_ARMED,
		.type = MLX5_EP_EVENT_WATCH,
		.slot = slot,
		.cause = w->cause,
		.count = w->count,
	};
	chunk->cursor = (index + 1) % WATCHES_PER_CHUNK;
	slots_unqueue(ws, chunk, index);
}

static void event_dequeue_chunk(struct mlx5_ep_watch_chunk *chunk)
{
	list_del(&chunk->pending_node);
	chunk->queued = false;
}

/* Adds to @taken. Returns true if there may be more, after the lock was let go. */
static bool event_take_locked(struct mlx5_ep_watches *ws,
			      struct mlx5_ep_event *events,
			      unsigned int count, unsigned int *taken)
{
	struct mlx5_ep_watch_chunk *chunk;
	unsigned int looks;

	for (looks = 0; looks < WATCH_READ_BATCH; looks++) {
		if (ws->dead || *taken == count || !ws->pending)
			return false;
		chunk = list_first_entry(&ws->pending_chunks,
					 struct mlx5_ep_watch_chunk,
					 pending_node);
		if (chunk->pending)
			event_take(ws, chunk, &events[(*taken)++]);
		/* Chunks take turns. */
		if (chunk->pending)
			list_move_tail(&chunk->pending_node,
				       &ws->pending_chunks);
		else
			event_dequeue_chunk(chunk);
	}
	return true;
}

/**
 * mlx5_ep_watch_event_take() - the events that nobody has read
 * @ws: watches of the notifier that is read; the lock of their address space is
 *	taken here
 * @events: filled in
 * @count: length of @events
 *
 * Sleeps.
 *
 * Return: number of events; 0 also from another address space and after fini
 */
unsigned int mlx5_ep_watch_event_take(struct mlx5_ep_watches *ws,
				      struct mlx5_ep_event *events,
				      unsigned int count)
{
	unsigned int taken = 0;
	bool more;

	if (mlx5_ep_watch_slots_get(ws))
		return 0;
	for (;;) {
		spin_lock(&ws->space->lock);
		more = event_take_locked(ws, events, count, &taken);
		spin_unlock(&ws->space->lock);
		if (!more)
			break;
		cond_resched();
	}
	mlx5_ep_watch_slots_put(ws);
	return taken;
}
