/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What /dev/dmabuf_exporter can be asked (dmabuf_exporter.c). */
#ifndef SELFTESTS_DMABUF_EXPORTER_H
#define SELFTESTS_DMABUF_EXPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * enum exporter_flags - how a buffer behaves
 * @EXPORTER_STATIC: it pins its memory for each importer, and is never moved
 * @EXPORTER_REFUSES: it allows no importer
 * @EXPORTER_SILENT: it is moved, and nobody is told
 * @EXPORTER_NO_PIN: it is moved, and no importer can forbid that (vfio-pci)
 */
enum exporter_flags {
	EXPORTER_STATIC = 1 << 0,
	EXPORTER_REFUSES = 1 << 1,
	EXPORTER_SILENT = 1 << 2,
	EXPORTER_NO_PIN = 1 << 3,
};

/**
 * struct exporter_create - makes a buffer
 * @size: bytes, whole pages
 * @flags: enum exporter_flags
 * @fd: out: its descriptor
 */
struct exporter_create {
	__u64 size;
	__u32 flags;
	__s32 fd;
};

/**
 * struct exporter_move - moves or revokes a buffer
 * @fd: of the buffer
 * @byte: with which the memory is filled afterwards
 * @slow_ms: to sleep, after the importers were told and before the memory moves
 * @revoke: nobody can map the memory any more
 */
struct exporter_move {
	__s32 fd;
	__u32 byte;
	__u32 slow_ms;
	__u32 revoke;
};

/**
 * struct exporter_query - what there is
 * @fd: of a buffer; -1: none
 * @attachments: out: importers of the buffer now
 * @mapped: out: of them, those that have it mapped
 * @maps: out: times that the buffer was mapped, ever
 * @buffers: out: all buffers of the exporter now
 * @attach_maps: out: the kernel maps what has no pin for each importer that attaches
 */
struct exporter_query {
	__s32 fd;
	__u32 attachments;
	__u32 mapped;
	__u32 maps;
	__u32 buffers;
	__u32 attach_maps;
};

#define EXPORTER_CREATE	_IOWR('x', 0, struct exporter_create)
#define EXPORTER_MOVE	_IOW('x', 1, struct exporter_move)
#define EXPORTER_QUERY	_IOWR('x', 2, struct exporter_query)

#endif
