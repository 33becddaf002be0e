/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_PROCESS_H
#define MLX5EP_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct process_page - what a forked child finds empty (MADV_WIPEONFORK)
 * @memory: number of this copy of the memory; 0 in a child that was forked by
 *	another call than fork(), until it makes an object
 * @pid: the process that got the number
 */
struct process_page {
	uint64_t memory;
	int pid;
};

extern struct process_page *mlx5ep_process_page;

/* Is this the memory that process_memory() gave the number of? It costs two loads. */
static inline bool process_same(uint64_t memory)
{
	return mlx5ep_process_page->memory == memory;
}

uint64_t mlx5ep_process_memory(void);
bool mlx5ep_process_shared(void);
int mlx5ep_process_may_change(uint64_t memory);

/**
 * struct process_map - a mapping that a forked child does not inherit
 * @blank: this is such a child, and fork() has put pages of zeroes there
 */
struct process_map {
	struct process_map *next;
	void *start;
	size_t len;
	bool blank;
};

void mlx5ep_process_map_add(struct process_map *map);
void mlx5ep_process_map_remove(struct process_map *map);

#endif
