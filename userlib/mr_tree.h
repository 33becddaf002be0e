/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Disjoint address ranges, searchable by address: a treap, whose nodes are
 * embedded in what they describe. The caller locks.
 */
#ifndef MLX5EP_MR_TREE_H
#define MLX5EP_MR_TREE_H

#include <stdint.h>

/**
 * struct mr_tree_node - one range
 * @start: first address
 * @end: address behind the last
 * @prio: heap order
 * @left: ranges below
 * @right: ranges above
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
