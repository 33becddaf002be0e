/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* UAR pages that a test allocates as uverbs objects, and does not map. */
#ifndef SELFTESTS_UAR_PAGE_H
#define SELFTESTS_UAR_PAGE_H

#include <stdint.h>
#include <infiniband/verbs.h>

/**
 * uar_page_alloc() - allocate a page with the ioctl
 * @handle: of the page, which else is freed with its context
 * @at: offset of its mapping; NULL where that does not matter
 *
 * Return: 0 or -errno; a firmware status is positive.
 */
int uar_page_alloc(struct ibv_context *ctx, uint32_t *handle, uint64_t *at);

/**
 * uar_page_ask() - the same with the caller's memory for the answer
 * @at: offset of its mapping, which the driver writes first
 * @page: number of the page, which the driver writes then
 *
 * Return: 0 or -errno; a firmware status is positive.
 */
int uar_page_ask(struct ibv_context *ctx, uint32_t *handle, uint64_t *at,
		 uint32_t *page);
int uar_page_free(struct ibv_context *ctx, uint32_t handle);

#endif
