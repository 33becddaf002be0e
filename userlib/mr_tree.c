// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A treap: a search tree by kind and address that is also a heap by @prio. A
 * node's @prio is a hash of them, so the expected depth of the tree is
 * logarithmic and no rebalancing is needed.
 */
#include <stddef.h>

#include "mr_tree.h"

/* splitmix64's finaliser (Steele, Lea, Flood: SplittableRandom, 2014) */
static uint64_t tree_prio(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* -1, 0 or 1 as a is below, is, or is above b. */
static int kind_compare(const struct mr_kind *a, const struct mr_kind *b)
{
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (a->access != b->access)
		return a->access < b->access ? -1 : 1;
	return 0;
}

static bool below(const struct mr_tree_node *a, const struct mr_tree_node *b)
{
	int kind = kind_compare(&a->kind, &b->kind);

	return kind ? kind < 0 : a->start < b->start;
}

/**
 * mr_tree_insert() - add a range
 * @node: has @kind, @start and @end; must not overlap a range of its kind
 */
void mr_tree_insert(struct mr_tree_node **root, struct mr_tree_node *node)
{
	struct mr_tree_node **link = root, **left, **right, *old;

	node->prio = tree_prio(node->start ^ node->kind.offset ^
			       node->kind.access << 48 ^
			       node->kind.object << 24);
	while (*link && (*link)->prio >= node->prio)
		link = below(node, *link) ? &(*link)->left : &(*link)->right;

	/* Split the subtree below: lower ranges go left, higher ones right. */
	old = *link;
	left = &node->left;
	right = &node->right;
	while (old) {
		if (below(old, node)) {
			*left = old;
			left = &old->right;
			old = old->right;
		} else {
			*right = old;
			right = &old->left;
			old = old->left;
		}
	}
	*left = NULL;
	*right = NULL;
	*link = node;
}

/**
 * mr_tree_erase() - remove a range
 */
void mr_tree_erase(struct mr_tree_node **root, struct mr_tree_node *node)
{
	struct mr_tree_node **link = root, *left = node->left,
			    *right = node->right;

	while (*link != node)
		link = below(node, *link) ? &(*link)->left : &(*link)->right;

	/* Merge the two subtrees. */
	while (left && right) {
		if (left->prio > right->prio) {
			*link = left;
			link = &left->right;
			left = left->right;
		} else {
			*link = right;
			link = &right->left;
			right = right->left;
		}
	}
	*link = left ? left : right;
}

/**
 * mr_tree_first() - find the lowest range of a kind that overlaps [@start, @end)
 *
 * Return: the range, or NULL.
 */
struct mr_tree_node *mr_tree_first(struct mr_tree_node *root,
				   const struct mr_kind *kind, uintptr_t start,
				   uintptr_t end)
{
	struct mr_tree_node *found = NULL;
	int order;

	while (root) {
		order = kind_compare(&root->kind, kind);
		if (order > 0 || (!order && root->end > start)) {
			found = root;
			root = root->left;
		} else {
			root = root->right;
		}
	}
	if (!found || !mr_kind_equal(&found->kind, kind) || found->start >= end)
		return NULL;
	return found;
}
