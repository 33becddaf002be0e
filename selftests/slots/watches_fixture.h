/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A notifier's watches without their notifier, for tests that have slots.c of
 * the module in them. Included behind it.
 */
#ifndef WATCHES_FIXTURE_H
#define WATCHES_FIXTURE_H

static struct mlx5_ep_watches ws;
static struct mlx5_ep_watch_space space;
static struct mm_struct own_mm;

/* As mlx5_ep_watches_init(). The area is mapped once. */
static void watches_begin(u32 capacity)
{
	memset(&fake, 0, sizeof(fake));
	memset(&ws, 0, sizeof(ws));
	memset(&space, 0, sizeof(space));
	fake.mm = &own_mm;
	ws.users.refs = 1;
	INIT_LIST_HEAD(&ws.pending_chunks);
	INIT_LIST_HEAD(&ws.partial);
	INIT_LIST_HEAD(&ws.dmabufs);
	ws.mm = &own_mm;
	ws.capacity = capacity;
	ws.chunks = fake_alloc(sizeof(*ws.chunks) *
			       DIV_ROUND_UP(capacity, WATCHES_PER_CHUNK));
	ws.area = mlx5_ep_watch_slots_area_alloc(capacity);
	ws.header = ws.area->pages[0];
	ws.space = &space;
	kref_get(&ws.area->ref);
}

/* Returns how many kinds of things are left that should not be. */
static int watches_end(void)
{
	struct mlx5_ep_watch_area *area = ws.area;
	int left;

	if (ws.users.refs)
		mlx5_ep_watch_slots_put(&ws);
	left = ws.users.refs != 0;
	left += space.mn.puts != 1;
	left += area->ref.refs != 1;
	mlx5_ep_watch_slots_area_put(area);
	left += fake.blocks != 0;
	left += fake.pages != 0;
	left += fake.spins != 0;
	left += fake.misuses != 0;
	left += ws.grow_lock.held || ws.reap_lock.held;
	return left;
}

/* The watch of a slot. */
static inline struct mlx5_ep_watch *slot(u32 number)
{
	return &ws.chunks[number / WATCHES_PER_CHUNK]
			->watches[number % WATCHES_PER_CHUNK];
}

#endif
