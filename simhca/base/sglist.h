/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Lists of pieces of host memory.
 */
#ifndef SIMHCA_SGLIST_H
#define SIMHCA_SGLIST_H

#include <stdint.h>
#include <sys/uio.h>

/* The pieces of host memory behind one range of guest memory. */
struct sglist {
	struct iovec *v;
	size_t n;
	size_t cap;
	uint64_t len;
};

void sgl_reset(struct sglist *l);
void sgl_free(struct sglist *l);
int sgl_add(struct sglist *l, void *p, size_t len);
void sgl_copy_tail(const struct sglist *dst, const struct sglist *src,
		   size_t skip);
void sgl_copy(const struct sglist *dst, const struct sglist *src);
void sgl_read(const struct sglist *src, void *to, size_t len);
void sgl_write(const struct sglist *dst, const void *from, size_t len);

#endif
