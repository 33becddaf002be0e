/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* dma-bufs of the test exporter (selftests/modules/dmabuf_exporter.c). */
#ifndef SELFTESTS_DMABUF_H
#define SELFTESTS_DMABUF_H

#include <stddef.h>
#include <stdint.h>

#include "modules/dmabuf_exporter.h"

/* Loads the exporter, unless it is loaded. Return: its descriptor or -errno. */
int dmabuf_exporter(void);

/* @flags: enum exporter_flags. Return: descriptor of a new buffer, or -errno. */
int dmabuf_create(int exporter, size_t size, uint32_t flags);

/* Moves a buffer, and fills it. Return: 0 or -errno. */
int dmabuf_move(int exporter, int fd, uint8_t byte);
/* Moves a buffer that nobody can map any more. Return: 0 or -errno. */
int dmabuf_revoke(int exporter, int fd);

/* Importers of a buffer; all buffers of the exporter. -errno: the call failed. */
int dmabuf_attachments(int exporter, int fd);
int dmabuf_buffers(int exporter);

/* How often a buffer was mapped, ever; -errno. */
int dmabuf_maps(int exporter, int fd);
/* Does the kernel map what has no pin for each importer that attaches? 0, 1 or -errno. */
int dmabuf_attach_maps(int exporter);

#endif
