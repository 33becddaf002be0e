/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What account.c, user.c and limit.c of kernel/account/ take of the kernel, for a
 * program: a lock that knows whether it is held, a hash table whose buckets are the
 * id modulo their number, memory that is counted, and refused where a test says so,
 * a caller, and a log.
 */
#ifndef ACCOUNTS_KERNEL_H
#define ACCOUNTS_KERNEL_H

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slots/kernel_lists.h"

typedef unsigned long long u64;
typedef struct { int counter; } atomic_t;
typedef struct { long long counter; } atomic64_t;
typedef struct { bool held; } spinlock_t;
typedef struct { unsigned int val; } kuid_t;

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct mutex {
	bool held;
};

struct user_namespace {
	struct user_namespace *parent;
	int level;
	kuid_t owner;
};

/* What a test sets and reads. */
static struct {
	struct user_namespace *ns;	/* the caller's, and its uid */
	unsigned int uid;
	char what[64], who[64];	/* of the last refusal that was traced */
	unsigned int traced, held, refused, limit;
	char log[256];		/* its line */

	int added;		/* how often somebody tried to charge an account */
	int blocks;		/* memory that is allocated */
	int asked;		/* how often somebody wanted some */
	int misuses;		/* a lock taken twice, or held where one sleeps */
	int locks;		/* spinlocks that are held */
	int freed_locked;	/* blocks that were freed with one held */
	bool full;		/* there is no memory */
	int fails;		/* the request that finds none; 0: each finds some */
	void (*meanwhile)(void);	/* runs once where memory is allocated */
} fake;

#define READ_ONCE(x)		(*(volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile __typeof__(x) *)&(x) = (value))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define min_t(type, a, b)	min((type)(a), (type)(b))

#define atomic_read(v)		__atomic_load_n(&(v)->counter, __ATOMIC_RELAXED)
#define atomic_sub(n, v)	__atomic_sub_fetch(&(v)->counter, n, __ATOMIC_SEQ_CST)
#define atomic_try_cmpxchg(v, old, new) \
	(__atomic_fetch_add(&fake.added, 1, __ATOMIC_RELAXED), \
	 __atomic_compare_exchange_n(&(v)->counter, old, new, false, \
				     __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))

static void spin_lock_init(spinlock_t *lock)
{
	lock->held = false;
}

static void spin_lock(spinlock_t *lock)
{
	fake.misuses += lock->held;
	fake.locks++;
	lock->held = true;
}

static void spin_unlock(spinlock_t *lock)
{
	fake.misuses += !lock->held;
	fake.locks--;
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
	if (fake.full || fake.asked == fake.fails)
		return NULL;
	fake.blocks++;
	return calloc(1, size);
}

static void kfree(void *block)
{
	fake.blocks -= block != NULL;
	fake.freed_locked += block && fake.locks;
	free(block);
}

#define kzalloc_obj(object, ...) fake_alloc(sizeof(object))

#define atomic64_read(v)	((v)->counter)
#define atomic64_inc(v)		((v)->counter++)

#define __kuid_val(uid)		((uid).val)
#define current_user_ns()	(fake.ns)
#define current_uid()		((kuid_t){ fake.uid })

#define TASK_COMM_LEN		16
#define get_task_comm(buf, ...)	strcpy(buf, "name")
#define task_tgid_nr(...)	77

#define dev_notice_ratelimited(dev, ...) \
	((void)(dev), snprintf(fake.log, sizeof(fake.log), __VA_ARGS__))
#define pr_notice_ratelimited(...) \
	snprintf(fake.log, sizeof(fake.log), __VA_ARGS__)
#define sysfs_emit_at(buf, at, ...) \
	snprintf((buf) + (at), 4096 - (at), __VA_ARGS__)

#define trace_mlx5_ep_limit_reached(edev, _what, _who, _held, _refused, _limit) \
	do { \
		(void)(edev); \
		fake.traced++; \
		snprintf(fake.what, sizeof(fake.what), "%s", _what); \
		snprintf(fake.who, sizeof(fake.who), "%s", _who); \
		fake.held = _held; \
		fake.refused = _refused; \
		fake.limit = _limit; \
	} while (0)

#endif
