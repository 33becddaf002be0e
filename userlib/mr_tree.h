/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Address ranges of several kinds, to be searched by kind and address. Those of
 * one kind are disjoint. The node is embedded in the caller's structure. The
 * caller locks the tree.
 */
#ifndef MLX5EP_MR_TREE_H
#define MLX5EP_MR_TREE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct mr_kind - what two ranges have in common that may replace each other
 * @object: inode of the dma-buf in which the range is; 0: it is of the process
 * @offset: of an I/O virtual address to the address of the process, or to the
 *	offset in the dma-buf
 * @access: access flags
 */
struct mr_kind {
	uint64_t object;
	uint64_t offset;
	uint64_t access;
};

static inline bool mr_kind_equal(const struct mr_kind *a,
				 const struct mr_kind *b)
{
	return a->object == b->object && a->offset == b->offset &&
	       a->access == b->access;
}

/**
 * struct mr_tree_node - the range [@start, @end)
 * @prio: hash of kind and start; not above that of the parent
 * @left: lower ranges, and lower kinds
 * @right: higher ranges, and higher kinds
 */
struct mr_tree_node {
	struct mr_kind kind;
	uintptr_t start;
	uintptr_t end;
	uint64_t prio;
	struct mr_tree_node *left;
	struct mr_tree_node *right;
};

void mr_tree_insert(struct mr_tree_node **root, struct mr_tree_node *node);
void mr_tree_erase(struct mr_tree_node **root, struct mr_tree_node *node);
struct mr_tree_node *mr_tree_first(struct mr_tree_node *root,
				   const struct mr_kind *kind, uintptr_t start,
				   uintptr_t end);

#endif
