// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A treap: a search tree by address that is also a heap by @prio. A node's
 * @prio is a hash of its address, so the expected depth of the tree is
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

/**
 * mr_tree_insert() - add a range
 * @node: has @start and @end; must not overlap a range of the tree
 */
void mr_tree_insert(struct mr_tree_node **root, struct mr_tree_node *node)
{
	struct mr_tree_node **link = root, **left, **right, *old;

	node->prio = tree_prio(node->start);
	while (*link && (*link)->prio >= node->prio)
		link = node->start < (*link)->start ? &(*link)->left :
						      &(*link)->right;

	/* Split the subtree below: lower ranges go left, higher ones right. */
	old = *link;
	left = &node->left;
	right = &node->right;
	while (old) {
		if (old->start < node->start) {
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
		link = node->start < (*link)->start ? &(*link)->left :
						      &(*link)->right;

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
 * mr_tree_first() - find the lowest range that overlaps [@start, @end)
 *
 * Return: the range, or NULL.
 */
struct mr_tree_node *mr_tree_first(struct mr_tree_node *root, uintptr_t start,
				   uintptr_t end)
{
	struct mr_tree_node *found = NULL;

	while (root) {
		if (root->end > start) {
			found = root;
			root = root->left;
		} else {
			root = root->right;
		}
	}
	return found && found->start < end ? found : NULL;
}
