/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Lists and errors in pointers as the kernel has them, for programs that have files of
 * the module in them.
 */
#ifndef KERNEL_LISTS_H
#define KERNEL_LISTS_H

#include <stdbool.h>
#include <stddef.h>

#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

#define MAX_ERRNO		4095
#define ERR_PTR(error)		((void *)(long)(error))
#define ERR_CAST(pointer)	((void *)(pointer))
#define PTR_ERR(pointer)	((long)(pointer))
#define IS_ERR(pointer)		((unsigned long)(pointer) >= -(unsigned long)MAX_ERRNO)

struct list_head {
	struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head->prev = head;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline void list_add(struct list_head *node, struct list_head *head)
{
	node->next = head->next;
	node->prev = head;
	head->next->prev = node;
	head->next = node;
}

static inline void list_add_tail(struct list_head *node, struct list_head *head)
{
	list_add(node, head->prev);
}

static inline void list_del(struct list_head *node)
{
	node->next->prev = node->prev;
	node->prev->next = node->next;
	node->next = node->prev = NULL;
}

static inline void list_move_tail(struct list_head *node, struct list_head *head)
{
	list_del(node);
	list_add_tail(node, head);
}

#define list_empty_careful(head) list_empty(head)
#define list_first_entry(head, type, member) \
	container_of((head)->next, type, member)
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_for_each_entry(at, head, member) \
	for (at = container_of((head)->next, __typeof__(*at), member); \
	     &at->member != (head); \
	     at = container_of(at->member.next, __typeof__(*at), member))
#define list_for_each_entry_safe(at, following, head, member) \
	for (at = container_of((head)->next, __typeof__(*at), member); \
	     following = container_of(at->member.next, __typeof__(*at), member), \
	     &at->member != (head); at = following)

#endif
