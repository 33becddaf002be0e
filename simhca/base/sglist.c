// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Lists of pieces of host memory. A transfer first translates both of its ends.
 * It moves no byte if a part of either end cannot be translated.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sglist.h"

#define SGL_MIN 16u
#define SGL_MAX (1u << 20)	/* 1 GiB of 4 KiB pages takes a quarter */

/**
 * sgl_reset() - empty a list, keep its memory for the next transfer
 */
void sgl_reset(struct sglist *l)
{
	l->n = 0;
	l->len = 0;
}

/**
 * sgl_free() - empty a list and free its memory
 */
void sgl_free(struct sglist *l)
{
	free(l->v);
	*l = (struct sglist){ 0 };
}

/**
 * sgl_add() - append a piece; neighbours in memory become one
 * @p: start of the piece
 * @len: bytes, 0 adds nothing
 *
 * Return: 0; -ENOMEM, also if the list has SGL_MAX pieces already
 */
int sgl_add(struct sglist *l, void *p, size_t len)
{
	struct iovec *last = l->n ? &l->v[l->n - 1] : NULL;

	if (!len)
		return 0;
	if (last && (char *)last->iov_base + last->iov_len == p) {
		last->iov_len += len;
		l->len += len;
		return 0;
	}
	if (l->n == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : SGL_MIN;
		struct iovec *v;

		if (cap > SGL_MAX)
			return -ENOMEM;
		v = realloc(l->v, cap * sizeof(*v));
		if (!v)
			return -ENOMEM;
		l->v = v;
		l->cap = cap;
	}
	l->v[l->n++] = (struct iovec){ .iov_base = p, .iov_len = len };
	l->len += len;
	return 0;
}

/**
 * sgl_copy_tail() - move the bytes of one list into another, but not the first ones
 * @dst: where to
 * @src: where from; the shorter list decides how much
 * @skip: bytes of @src that stay
 *
 * The two may overlap, as a write of a region onto itself does.
 */
void sgl_copy_tail(const struct sglist *dst, const struct sglist *src,
		   size_t skip)
{
	size_t d = 0, s = 0, doff = 0, soff, len;

	while (s < src->n && skip >= src->v[s].iov_len)
		skip -= src->v[s++].iov_len;
	soff = skip;
	while (d < dst->n && s < src->n) {
		len = dst->v[d].iov_len - doff;
		if (len > src->v[s].iov_len - soff)
			len = src->v[s].iov_len - soff;
		memmove((char *)dst->v[d].iov_base + doff,
			(char *)src->v[s].iov_base + soff, len);
		doff += len;
		soff += len;
		if (doff == dst->v[d].iov_len) {
			d++;
			doff = 0;
		}
		if (soff == src->v[s].iov_len) {
			s++;
			soff = 0;
		}
	}
}

/**
 * sgl_copy() - move the bytes of one list into another
 * @dst: where to
 * @src: where from; the shorter list decides how much
 *
 * The two may overlap, as a write of a region onto itself does.
 */
void sgl_copy(const struct sglist *dst, const struct sglist *src)
{
	sgl_copy_tail(dst, src, 0);
}

/**
 * sgl_read() - gather the first bytes of a list
 * @len: bytes; the list may be shorter
 */
void sgl_read(const struct sglist *src, void *to, size_t len)
{
	struct iovec v = { .iov_base = to, .iov_len = len };
	struct sglist dst = { .v = &v, .n = len ? 1 : 0, .len = len };

	sgl_copy(&dst, src);
}

/**
 * sgl_write() - scatter bytes into the front of a list
 * @len: bytes; the list may be shorter
 */
void sgl_write(const struct sglist *dst, const void *from, size_t len)
{
	struct iovec v = { .iov_base = (void *)(uintptr_t)from,
			   .iov_len = len };
	struct sglist src = { .v = &v, .n = len ? 1 : 0, .len = len };

	sgl_copy(dst, &src);
}
