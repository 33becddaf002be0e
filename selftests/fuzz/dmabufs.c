// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * dma-bufs of the test exporter, which moves and revokes them when it is asked to. Where
 * the exporter cannot be loaded, calls have descriptors that are none of a dma-buf.
 */
#include <string.h>
#include <unistd.h>

#include "dmabuf/dmabuf.h"
#include "fuzz/fuzz.h"

#define PAGE 4096u

void dmabufs_open(struct fuzz_session *s)
{
	s->exporter = dmabuf_exporter();
	s->dmabufs[0] = dmabuf_create(s->exporter, 8 * PAGE, 0);
	s->dmabufs[1] = dmabuf_create(s->exporter, PAGE, 0);
}

/* Mostly one of the two; else of no dma-buf, closed, or any number. */
int dmabufs_fd(struct fuzz_session *s, uint64_t which)
{
	if (which < 6)
		return s->dmabufs[which % 2];
	if (which == 6)
		return s->pipe[0];
	return which == 7 ? -1 : (int)which;
}

void op_dmabuf_make(struct fuzz_session *s, const uint64_t *a)
{
	int *fd = &s->dmabufs[a[1] % 2], old = *fd;

	/* The flags say how the exporter behaves; most buffers have none. */
	*fd = dmabuf_create(s->exporter, a[2] < 9 ? (1 + a[2]) * PAGE : a[2],
			    a[3] < 6 ? 0 : a[3] % 8);
	if (old >= 0)
		close(old);
}

void op_dmabuf_move(struct fuzz_session *s, const uint64_t *a)
{
	int fd = dmabufs_fd(s, a[2]);

	if (a[3] % 8 == 7)
		dmabuf_revoke(s->exporter, fd);
	else
		dmabuf_move(s->exporter, fd, a[3]);
}
