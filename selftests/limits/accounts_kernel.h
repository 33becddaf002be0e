/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What kernel/uuar/account.c takes of the kernel, for a program: a lock that knows
 * whether it is held, a hash table whose buckets are the id modulo their number,
 * and memory that is counted, and refused where a test says so.
 */
#ifndef ACCOUNTS_KERNEL_H
#define ACCOUNTS_KERNEL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef uint64_t u64;
typedef struct { int counter; } atomic_t;
typedef struct { bool held; } spinlock_t;

struct hlist_node {
	struct hlist_node *next, **pprev;
};

/* What a test sets and reads. */
static struct {
	int blocks;		/* memory that is allocated */
	int asked;		/* how often somebody wanted some */
	int misuses;		/* a lock taken twice, or held where one sleeps */
	bool full;		/* there is no memory */
	void (*meanwhile)(void);	/* runs once where memory is allocated */
} fake;

#define READ_ONCE(x)		(*(volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile __typeof__(x) *)&(x) = (value))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define min_t(type, a, b)	min((type)(a), (type)(b))

#define atomic_read(v)		__atomic_load_n(&(v)->counter, __ATOMIC_RELAXED)
#define atomic_sub(n, v)	__atomic_sub_fetch(&(v)->counter, n, __ATOMIC_SEQ_CST)
#define atomic_try_cmpxchg(v, old, new) \
	__atomic_compare_exchange_n(&(v)->counter, old, new, false, \
				    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)

static void spin_lock_init(spinlock_t *lock)
{
	lock->held = false;
}

static void spin_lock(spinlock_t *lock)
{
	fake.misuses += lock->held;
	lock->held = true;
}

static void spin_unlock(spinlock_t *lock)
{
	fake.misuses += !lock->held;
	lock->held = false;
}

#define DECLARE_HASHTABLE(name, bits) struct hlist_node *name[1 << (bits)]
#define HASH_BUCKETS(table) (sizeof(table) / sizeof((table)[0]))

static void hash_init_buckets(struct hlist_node **table, size_t n)
{
	while (n--)
		table[n] = NULL;
}

static void hash_add_first(struct hlist_node **bucket, struct hlist_node *node)
{
	node->next = *bucket;
	node->pprev = bucket;
	if (node->next)
		node->next->pprev = &node->next;
	*bucket = node;
}

static void hash_del(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
}

#define hash_init(table) hash_init_buckets(table, HASH_BUCKETS(table))
#define hash_add(table, node, key) \
	hash_add_first(&(table)[(key) % HASH_BUCKETS(table)], node)
#define hash_entry(pointer, type, member) \
	((pointer) ? (type *)((char *)(pointer) - offsetof(type, member)) : NULL)
#define hash_for_each_possible(table, at, member, key) \
	for (at = hash_entry((table)[(key) % HASH_BUCKETS(table)], \
			     __typeof__(*at), member); at; \
	     at = hash_entry(at->member.next, __typeof__(*at), member))

static void *fake_alloc(size_t size)
{
	void (*meanwhile)(void) = fake.meanwhile;

	fake.asked++;
	fake.meanwhile = NULL;
	if (meanwhile)
		meanwhile();
	if (fake.full)
		return NULL;
	fake.blocks++;
	return calloc(1, size);
}

static void kfree(void *block)
{
	fake.blocks -= block != NULL;
	free(block);
}

#define kzalloc_obj(object, flags) fake_alloc(sizeof(object))

#endif
