/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The vfio-user protocol as QEMU speaks it. The wire is little endian; these
 * structs are in host order. A message body that equals a struct of the VFIO
 * uapi is not repeated here: use linux/vfio.h.
 */
#ifndef SIMHCA_VFIO_USER_H
#define SIMHCA_VFIO_USER_H

#include <stdint.h>

#include "hca.h"

enum {
	VFIO_USER_VERSION = 1,
	VFIO_USER_DMA_MAP = 2,
	VFIO_USER_DMA_UNMAP = 3,
	VFIO_USER_DEVICE_GET_INFO = 4,
	VFIO_USER_DEVICE_GET_REGION_INFO = 5,
	VFIO_USER_DEVICE_GET_IRQ_INFO = 7,
	VFIO_USER_DEVICE_SET_IRQS = 8,
	VFIO_USER_REGION_READ = 9,
	VFIO_USER_REGION_WRITE = 10,
	VFIO_USER_DEVICE_RESET = 13,
	VFIO_USER_REGION_WRITE_MULTI = 15,
};

#define VFIO_USER_F_TYPE 0xfu
#define VFIO_USER_F_REPLY 0x1u
#define VFIO_USER_F_NO_REPLY 0x10u
#define VFIO_USER_F_ERROR 0x20u

struct vfio_user_hdr {
	uint16_t id;
	uint16_t command;
	uint32_t size;	/* header included */
	uint32_t flags;
	uint32_t error;
};

struct vfio_user_version {
	uint16_t major;
	uint16_t minor;
	char json[];
};

#define VFIO_USER_DMA_READ_OK 0x1u
#define VFIO_USER_DMA_WRITE_OK 0x2u

struct vfio_user_dma_map {
	uint32_t argsz;
	uint32_t flags;
	uint64_t offset;
	uint64_t iova;
	uint64_t size;
};

#define VFIO_USER_UNMAP_ALL 0x2u

struct vfio_user_dma_unmap {
	uint32_t argsz;
	uint32_t flags;
	uint64_t iova;
	uint64_t size;
};

struct vfio_user_rw {
	uint64_t offset;
	uint32_t region;
	uint32_t count;
	uint8_t data[];
};

#define VFIO_USER_MULTI_DATA 8

struct vfio_user_write_one {
	uint64_t offset;
	uint32_t region;
	uint32_t count;
	uint8_t data[VFIO_USER_MULTI_DATA];
};

struct vfio_user_write_multi {
	uint64_t count;
	struct vfio_user_write_one writes[];
};

#define VFIO_USER_MSG_MAX (64u << 10)
#define VFIO_USER_XFER_MAX 4096u
#define VFIO_USER_FDS_MAX 16u /* what QEMU sends and takes at most */

/* A received descriptor, and the position in the stream it arrived with. */
struct vfio_user_fd {
	int fd;
	uint64_t pos;
};

/**
 * struct vfio_user - the adapter's side of a connection to a VMM
 * @listen: the socket that VMMs connect to, one at a time
 * @conn: the connected VMM
 * @ready: both sides have agreed on VERSION
 * @rx: bytes received and not yet handled; @rx_pos is their place in the stream
 * @fds: received descriptors that belong to a message not yet handled
 * @tx: bytes that the socket did not take at once
 * @irqs: eventfd of each MSI-X vector, -1 if the VMM set none
 */
struct vfio_user {
	struct hca *hca;
	char *path;
	struct sim_fd listen;
	struct sim_fd conn;
	bool ready;
	uint8_t rx[2 * VFIO_USER_MSG_MAX];
	size_t rx_len;
	uint64_t rx_pos;
	struct vfio_user_fd fds[VFIO_USER_FDS_MAX];
	unsigned int nfds;
	uint8_t *tx;
	size_t tx_len;
	int *irqs;
};

/**
 * struct vfio_user_msg - one message while it is handled
 * @body: the bytes that follow the header
 * @len: bytes of @body
 * @fds: descriptors of the message; a handler that keeps one sets it to -1
 * @nfds: number of @fds
 * @reply: buffer for the body of the answer
 * @reply_len: bytes of @reply that the handler filled
 */
struct vfio_user_msg {
	struct vfio_user_hdr hdr;
	const uint8_t *body;
	size_t len;
	int *fds;
	unsigned int nfds;
	uint8_t reply[sizeof(struct vfio_user_rw) + VFIO_USER_XFER_MAX];
	size_t reply_len;
};

/* ---- vfio_msg.c */
int vfio_msg_handle(struct vfio_user *vu, struct vfio_user_msg *msg);

/* ---- vfio_irq.c */
struct vfio_irq_set;
int vfio_irqs_set(struct vfio_user *vu, const struct vfio_irq_set *set,
		  int *fds, unsigned int nfds);
void vfio_irqs_off(struct vfio_user *vu);

#endif
