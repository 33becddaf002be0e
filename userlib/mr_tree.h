/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A set of disjoint address ranges, to be searched by address. The node is
 * embedded in the caller's structure. The caller locks the tree.
 */
#ifndef MLX5EP_MR_TREE_H
#define MLX5EP_MR_TREE_H

#include <stdint.h>

/**
 * struct mr_tree_node - the range [@start, @end)
 * @prio: hash of @start; not above that of the parent
 * @left: lower ranges
 * @right: higher ranges
 */
struct mr_tree_node {
	uintptr_t start;
	uintptr_t end;
	uint64_t prio;
	struct mr_tree_node *left;
	struct mr_tree_node *right;
};

void mr_tree_insert(struct mr_tree_node **root, struct mr_tree_node *node);
void mr_tree_erase(struct mr_tree_node **root, struct mr_tree_node *node);
struct mr_tree_node *mr_tree_first(struct mr_tree_node *root, uintptr_t start,
				   uintptr_t end);

#endif
