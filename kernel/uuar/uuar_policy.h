/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The table of a managed context's uUARs, and what the policies read from it.
 * Compiled into the module and into a host program that tests it.
 */

#ifndef MLX5_EP_UUAR_POLICY_H
#define MLX5_EP_UUAR_POLICY_H

#include <linux/errno.h>
#include <linux/types.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>
#ifndef __KERNEL__
#include <stdbool.h>
#endif

/* uUARs of a UAR page that a QP may ring (PRM: two of the four are fast path) */
#define MLX5_EP_UUARS_PER_PAGE 2
/* Static pages that mlx5_ib allocates (MLX5_MAX_BFREGS) and libmlx5 maps */
#define MLX5_EP_MAX_PAGES 256

#define MLX5_EP_NR_POLICIES (MLX5_EP_UUAR_POLICY_SHARED_UUAR + 1)
/* Names of enum mlx5_ep_uuar_policy, as read and written everywhere. */
extern const char *const mlx5_ep_uuar_policy_names[MLX5_EP_NR_POLICIES];

struct mm_struct;

/**
 * struct mlx5_ep_uuar_page - one static UAR page of a context
 * @uar: the device's number of the page, once @known
 * @known: the context has the page in the device, under that number
 * @empty: it has not, but the library has mapped the page: it can be had
 * @addr: where the library has mapped it first, once @empty
 * @mm: address space in which the page was put there last; held while it is set
 * @qps: QPs placed on each of its uUARs
 * @owner: whose they are, as in the table; compared, never followed
 */
struct mlx5_ep_uuar_page {
	__u32 uar;
	bool known;
	bool empty;
	unsigned long addr;
	struct mm_struct *mm;
	unsigned int qps[MLX5_EP_UUARS_PER_PAGE];
	const struct mm_struct *owner[MLX5_EP_UUARS_PER_PAGE];
};

/**
 * struct mlx5_ep_uuar_table - uUARs of a managed context
 * @policy: of enum mlx5_ep_uuar_policy
 * @strict: refuse rather than take the next level
 * @closed: no page that is @empty is to be had
 * @avoid: a bit for each page on which the next QP cannot be placed; NULL: none
 * @owner: address space in which the next QP is created. It may be gone while its
 *	QPs exist, and then nobody rings them: another one at that address is no harm
 * @low_latency: the library's count of uUARs that it rings without a lock
 * @nr_pages: elements of @pages
 * @pages: by static page index
 *
 * A uUAR is named by its static bfreg index: page * 2 + slot.
 */
struct mlx5_ep_uuar_table {
	enum mlx5_ep_uuar_policy policy;
	bool strict;
	bool closed;
	const unsigned long *avoid;
	const struct mm_struct *owner;
	unsigned int low_latency;
	unsigned int nr_pages;
	struct mlx5_ep_uuar_page pages[];
};

/**
 * struct mlx5_ep_uuar_sizing - what decides how many pages a context asks for
 * @policy: of enum mlx5_ep_uuar_policy
 * @wanted: pages that the administrator or the application wants; 0: automatic
 * @cpus: CPUs that the process may run on
 * @mappings: mappings that the process has
 * @library: pages that the library asked for
 * @low_latency: the library's count of uUARs that it rings without a lock
 * @available: pages left of the budget
 */
struct mlx5_ep_uuar_sizing {
	enum mlx5_ep_uuar_policy policy;
	unsigned int wanted;
	unsigned int cpus;
	unsigned int mappings;
	unsigned int library;
	unsigned int low_latency;
	unsigned int available;
};

unsigned int mlx5_ep_uuar_policy_pages(const struct mlx5_ep_uuar_sizing *s);
unsigned int mlx5_ep_uuar_policy_low_latency(unsigned int library,
					     unsigned int pages);
int mlx5_ep_uuar_policy_pick(const struct mlx5_ep_uuar_table *t);
bool mlx5_ep_uuar_table_ready(const struct mlx5_ep_uuar_table *t);
void mlx5_ep_uuar_table_add(struct mlx5_ep_uuar_table *t, unsigned int uuar);
void mlx5_ep_uuar_table_del(struct mlx5_ep_uuar_table *t, unsigned int uuar);
bool mlx5_ep_uuar_table_locked(const struct mlx5_ep_uuar_table *t,
			       unsigned int uuar);
unsigned int mlx5_ep_uuar_table_level(const struct mlx5_ep_uuar_table *t,
				      unsigned int uuar);

static inline unsigned int
mlx5_ep_uuar_table_qps(const struct mlx5_ep_uuar_table *t, unsigned int uuar)
{
	return t->pages[uuar / MLX5_EP_UUARS_PER_PAGE]
		.qps[uuar % MLX5_EP_UUARS_PER_PAGE];
}

static inline unsigned int
mlx5_ep_uuar_page_qps(const struct mlx5_ep_uuar_page *page)
{
	return page->qps[0] + page->qps[1];
}

#endif
