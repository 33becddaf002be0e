/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What slots.c, event.c, dmabuf.c and hit.c of kernel/watch/ take of the
 * kernel, for a program of one thread: pages and other memory that is counted, and
 * refused where a test says so, lists, locks that know whether they are held, a caller
 * with an address space, and dma-bufs with their attachments. Whoever sleeps with a
 * spinlock held, or lets a lock go that is not held, makes a misuse. Trees are those of
 * the kernel's headers.
 */
#ifndef WATCHES_KERNEL_H
#define WATCHES_KERNEL_H

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_lists.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef struct { int counter; } atomic_t;
typedef struct { int refs; } refcount_t;
typedef struct { bool held; } spinlock_t;
typedef struct { int none; } wait_queue_head_t;

struct kref { int refs; };
struct mutex { bool held; };
struct mmu_notifier { int puts; };
struct mmu_notifier_range { unsigned long start, end; };
struct mm_struct { int none; };
struct device { int none; };

/* What a test sets and reads. */
static struct {
	struct mm_struct *mm;	/* the caller's */
	int blocks;		/* memory that is allocated, and pages of it */
	int pages;
	int asked;		/* how often somebody wanted some */
	int fails;		/* the request that finds none; 0: each finds some */
	void (*meanwhile)(void);	/* runs once where memory is allocated */
	int spins;		/* spinlocks that are held */
	int spun;		/* how often one was taken */
	int misuses;
	int resched;		/* how often the caller let others run */
	void (*unlocked)(void);	/* runs where a spinlock was let go */
} fake;

#undef __always_inline
#define __always_inline		inline __attribute__((always_inline, unused))
#define inline			inline __attribute__((unused))
#define __user
#define likely(x)		(x)
#define unlikely(x)		(x)
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, value)	((x) = (value))
#define smp_store_release(p, value) ((void)(*(p) = (value)))	/* nobody else runs */
#define smp_mb()		do {} while (0)	/* likewise */
#define smp_mb__before_atomic()	do {} while (0)	/* likewise */
#define array_index_nospec(i, size) ((i) < (size) ? (i) : 0)

#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define BIT(n)			(1ul << (n))
#define BIT_ULL(n)		(1ull << (n))
#define GENMASK_ULL(high, low)	((~0ull >> (63 - (high))) & (~0ull << (low)))
#define __ffs64(x)		((unsigned int)__builtin_ctzll(x))
#define DIV_ROUND_UP(n, by)	(((n) + (by) - 1) / (by))
#define BITS_PER_LONG		64
#define U32_MAX			UINT32_MAX
#define U64_MAX			UINT64_MAX
#define SZ_2M			(2ul << 20)
#define PAGE_SHIFT		12
#define PAGE_SIZE		4096ul
#define PFN_DOWN(x)		((x) >> PAGE_SHIFT)
#define PFN_UP(x)		(((x) + PAGE_SIZE - 1) >> PAGE_SHIFT)
#define offset_in_page(p)	((unsigned long)(p) & (PAGE_SIZE - 1))
#define struct_size(p, member, n) \
	(offsetof(__typeof__(*(p)), member) + (n) * sizeof((p)->member[0]))
#define check_add_overflow(a, b, sum) __builtin_add_overflow(a, b, sum)
#define current			(&fake)

#define atomic_read(v)		((v)->counter)
#define atomic_dec(v)		((void)(v)->counter--)
#define atomic_or(bits, v)	((void)((v)->counter |= (int)(bits)))
#define atomic_andnot(bits, v)	((void)((v)->counter &= ~(int)(bits)))
#define atomic_add_negative(n, v) (((v)->counter += (n)) < 0)

#define refcount_set(r, n)	((void)((r)->refs = (n)))
#define refcount_inc_not_zero(r) ((r)->refs && ++(r)->refs)
#define refcount_dec_and_test(r) (!--(r)->refs)
#define kref_init(r)		((void)((r)->refs = 1))
#define kref_get(r)		((void)(r)->refs++)
#define kref_put(r, release)	((void)(--(r)->refs || (release(r), 0)))

static void may_sleep(void)
{
	fake.misuses += fake.spins != 0;
}

static void cond_resched(void)
{
	may_sleep();
	fake.resched++;
}

static void spin_lock(spinlock_t *lock)
{
	fake.misuses += lock->held;
	lock->held = true;
	fake.spins++;
	fake.spun++;
}

static void spin_unlock(spinlock_t *lock)
{
	void (*unlocked)(void) = fake.unlocked;

	fake.misuses += !lock->held;
	lock->held = false;
	fake.spins--;
	if (unlocked) {
		fake.unlocked = NULL;
		unlocked();
		fake.unlocked = unlocked;
	}
}

static void mutex_lock(struct mutex *mutex)
{
	may_sleep();
	fake.misuses += mutex->held;
	mutex->held = true;
}

static void mutex_unlock(struct mutex *mutex)
{
	fake.misuses += !mutex->held;
	mutex->held = false;
}

#define lockdep_assert_held(lock) ((void)(fake.misuses += !(lock)->held))

static bool fake_refuses(void)
{
	void (*meanwhile)(void) = fake.meanwhile;

	may_sleep();
	fake.meanwhile = NULL;
	if (meanwhile)
		meanwhile();
	return ++fake.asked == fake.fails;
}

#define BEHIND			64

/*
 * A block lies at a multiple of its size, as the kernel's of a power of two. Behind
 * it are bytes that are not 0.
 */
static void *fake_alloc(size_t size)
{
	void *block;

	if (fake_refuses())
		return NULL;
	fake.blocks++;
	if (posix_memalign(&block, PAGE_SIZE, size + BEHIND))
		abort();
	memset(block + size, 0xa5, BEHIND);
	return memset(block, 0, size);
}

static void kfree(const void *block)
{
	fake.blocks -= block != NULL;
	free((void *)block);
}

#define GFP_KERNEL_ACCOUNT	0
#define __GFP_RETRY_MAYFAIL	0
#define kzalloc(size, flags)	((void)(flags), fake_alloc(size))
#define kvzalloc(size, flags)	kzalloc(size, flags)
#define kzalloc_obj(object, flags) kzalloc(sizeof(object), flags)
#define kvfree(block)		kfree(block)

static unsigned long get_zeroed_page(int flags)
{
	void *page = fake_alloc(PAGE_SIZE);

	if (!page)
		return 0;
	fake.blocks--;
	fake.pages++;
	return (unsigned long)page;
}

static void free_page(unsigned long page)
{
	fake.pages--;
	free((void *)page);
}

#define mmu_notifier_put(mn)	((void)(mn)->puts++)

#define module_param(...)	extern int fake_parameter
#define MODULE_PARM_DESC(...)	extern int fake_parameter

#endif
