/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * simhca: the simulated ConnectX, what its halves tell each other.
 *
 * The device half (vfio_user, pci, iseg, cmd, caps, pages, uar, eq, port, mad,
 * fault, control) turns what the guest does into calls; the data half (pd,
 * mkey, cq, srq, qp, send, recv, transport, mcg) owns the verbs objects and
 * moves the data. One process, one thread, one event loop: nothing here locks.
 *
 * Invariants
 * - Guest memory is reached through dma_*() alone, which checks every access
 *   against what the VMM mapped; an object's own memory is named by the command
 *   that made it and forgotten with it.
 * - All that is big endian on the wire is read with ifc.h or be*toh().
 * - A handler either succeeds whole or changes nothing.
 * - Whatever a guest writes, the model counts an error and goes on.
 */
#ifndef SIMHCA_HCA_H
#define SIMHCA_HCA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <json-c/json.h>

#include "base/compiler.h"
#include "base/idtable.h"	/* struct idtable: id -> pointer, allocates ids */
#include "base/ifc.h"	/* IFC_GET/IFC_SET... over the kernel's mlx5_ifc.h */
#include "base/loop.h"	/* event loop: fds, struct sim_timer */

#define SIM_PAGE 4096u

struct hca;
struct dma;		/* dma.c: guest memory */

/* ---- counted errors: name in control JSON is the enumerator's in lower case */
#define SIM_ERRORS(X)                                                     \
	X(WRONG_UAR)	/* doorbell on a UAR page that the QP does not own */ \
	X(DEAD_UAR)	/* doorbell on a page that is not allocated */        \
	X(TORN)		/* interleaved BlueFlame writes on one uUAR */        \
	X(BAD_DOORBELL)	/* no such QP, CQ or EQ, or it cannot be rung now */  \
	X(BAD_WQE)	/* a work request the PRM forbids */                  \
	X(BAD_CMD)	/* a command the PRM forbids */                       \
	X(BAD_MMIO)	/* an access no register answers to */                \
	X(DMA_FAULT)	/* address not mapped by the VMM, or read-only */     \
	X(DMA_GUARD)	/* memory that the driver has not lent */             \
	X(CQ_OVERRUN)                                                         \
	X(EQ_OVERRUN)                                                         \
	X(PAGES)	/* pages given and taken back do not match */

enum sim_error {
#define X(name) SIM_ERR_##name,
	SIM_ERRORS(X)
#undef X
	SIM_ERR_MAX
};

/**
 * hca_error() - count an error and log one line about it
 */
void hca_error(struct hca *hca, enum sim_error err, const char *fmt, ...)
	__printf(3, 4);

/* ---- guest memory (dma.c) */

/**
 * dma_ptr_now() - host address of guest memory, or NULL (counted) if any byte of
 * [iova, iova + len) is not mapped in one piece, or is read-only and @write
 *
 * For memory that what runs now was told of: a mailbox of the command, a page
 * that it gives, what a memory key says that was just looked up.
 */
void *dma_ptr_now(struct hca *hca, uint64_t iova, size_t len, bool write);

/**
 * dma_ptr() - the same for memory that was named earlier, by the command that
 * made a queue: NULL (counted) also where it is not lent any more
 */
void *dma_ptr(struct hca *hca, uint64_t iova, size_t len, bool write);

/* From the command that names memory to the one that ends what uses it. */
int dma_lend(struct hca *hca, uint64_t iova, uint64_t len);
void dma_take_back(struct hca *hca, uint64_t iova, uint64_t len);
int dma_read(struct hca *hca, uint64_t iova, void *dst, size_t len);
int dma_write(struct hca *hca, uint64_t iova, const void *src, size_t len);

/* ---- commands (cmd.c); one table per object file, listed in cmd_table.c */

struct cmd {
	struct hca *hca;
	uint16_t opcode;	/* MLX5_CMD_OP_* */
	uint16_t op_mod;
	uint16_t uid;		/* DevX uid of the caller, 0: the driver */
	const uint8_t *in;	/* whole input, mailboxes joined */
	size_t in_len;
	uint8_t *out;		/* zeroed; cmd.c writes status and syndrome */
	size_t out_len;
	uint32_t syndrome;	/* a handler that fails may say why */
	struct json_object *key; /* handler may add stable fields for cmdlog */
};

/**
 * struct cmd_def - one firmware command
 * @opcode: MLX5_CMD_OP_*, from mlx5_ifc.h
 * @name: the opcode's name without the prefix
 * @in_min: shorter input fails with MLX5_CMD_STAT_BAD_INP_LEN
 * @out_min: shorter output fails with MLX5_CMD_STAT_BAD_OUTP_LEN
 * @handler: returns MLX5_CMD_STAT_* (0: success); runs to completion
 */
struct cmd_def {
	uint16_t opcode;
	const char *name;
	size_t in_min;
	size_t out_min;
	uint8_t (*handler)(struct cmd *cmd);
};

/* Every table ends with a NULL handler. */
extern const struct cmd_def init_cmds[], page_cmds[], caps_cmds[], uar_cmds[],
	eq_cmds[], port_cmds[], mad_cmds[];			/* device half */
extern const struct cmd_def pd_cmds[], mkey_cmds[], cq_cmds[], srq_cmds[],
	qp_cmds[], mcg_cmds[], rawq_cmds[], umem_cmds[];			/* data half */

/* MLX5_CMD_STAT_*: linux/mlx5/device.h is no user-space header. */
enum {
	CMD_OK = 0x0, CMD_INT_ERR = 0x1, CMD_BAD_OP = 0x2, CMD_BAD_PARAM = 0x3,
	CMD_BAD_SYS_STATE = 0x4, CMD_BAD_RES = 0x5, CMD_RES_BUSY = 0x6,
	CMD_LIM = 0x8, CMD_BAD_RES_STATE = 0x9, CMD_IX = 0xa, CMD_NO_RES = 0xf,
	CMD_BAD_INP_LEN = 0x50, CMD_BAD_OUTP_LEN = 0x51,
	CMD_BAD_QP_STATE = 0x10, CMD_BAD_PKT = 0x30, CMD_BAD_SIZE_OUTS_CQES = 0x40,
};

/* ---- UARs (uar.c): the device half asks the data half who may ring where */

/* The uid of resources that every user may name (MLX5_SHARED_RESOURCE_UID). */
#define SIM_SHARED_UID 0xffffu

/* Is @index an allocated UAR page that a command with @uid may use? */
bool uar_usable(struct hca *hca, uint32_t index, uint16_t uid);
/* Objects that name a UAR page hold it: DEALLOC_UAR of a held page fails. */
void uar_hold(struct hca *hca, uint32_t index);
void uar_release(struct hca *hca, uint32_t index);

/**
 * qp_ring() - a doorbell or BlueFlame write named this QP (or SQ)
 * @uar: page that was written
 * @index: producer index of the control segment
 * @bf: the BlueFlame copy of the WQE (whole 64-byte blocks), NULL for a doorbell
 *
 * Called by uar_bf.c once for every doorbell and once for every BlueFlame write,
 * when the latter is complete. The data half answers whether the QP exists and
 * owns the page; only then does it (or will it) execute what stands in the send
 * queue up to the doorbell record.
 *
 * RING_TORN: all is well, but @bf is not the WQE that stands in the send queue:
 * two writers shared the register without a lock. (An SQ takes @bf as it is:
 * the driver's write-combining test depends on it.)
 */
enum ring_result {
	RING_OK,
	RING_NO_QP,
	RING_WRONG_UAR,
	RING_BAD_STATE,
	RING_TORN,
};
enum ring_result qp_ring(struct hca *hca, uint32_t uar, uint32_t qpn,
			 uint16_t index, const void *bf, size_t bf_len);

/* CQ doorbell (offset 0x20 of a UAR page): cmd_sn|ci, cqn in host order. */
enum ring_result cq_ring(struct hca *hca, uint32_t uar, uint32_t sn_cmd_ci,
			 uint32_t cqn);

/* ---- events (eq.c) */

/* Post an EQE of @type with the 28-byte @data (NULL: zeroes) on EQ @eqn. */
void eq_post(struct hca *hca, uint32_t eqn, uint8_t type, uint8_t sub_type,
	     const void *data);
/* Post an async event on whichever EQ subscribed to @type. */
void eq_post_async(struct hca *hca, uint8_t type, uint8_t sub_type,
		   const void *data);
bool eq_exists(struct hca *hca, uint32_t eqn);

/* ---- ports and the fabric (port.c): all HCAs of the process on one subnet */

struct hca *fabric_by_lid(uint16_t lid);
struct hca *fabric_by_gid(const uint8_t gid[16]);
unsigned int fabric_hcas(void);
struct hca *fabric_hca(unsigned int i);
uint16_t port_lid(struct hca *hca);
const uint8_t *port_gid(struct hca *hca);	/* 16 bytes, GID index 0 */
bool port_active(struct hca *hca);
uint8_t port_mtu(struct hca *hca);		/* enum ib_mtu */
bool port_pkey(struct hca *hca, unsigned int index, uint16_t *pkey);

/* What the port's counters tell; the data half counts whole messages' packets. */
struct port_traffic {
	uint64_t tx_packets, tx_bytes, rx_packets, rx_bytes;
	uint64_t mc_tx_packets, mc_tx_bytes, mc_rx_packets, mc_rx_bytes;
};
struct port_traffic *port_traffic(struct hca *hca);

/*
 * A UD packet whose destination is QP0, or the subnet administrator's QP1, is
 * offered to mad.c first. It answers through ud_deliver(). True: taken.
 */
struct ud_packet {
	uint16_t slid, dlid;
	uint32_t src_qpn, dst_qpn, qkey;
	uint16_t pkey_index;
	uint8_t sl;
	bool grh;
	uint8_t sgid[16], dgid[16];
	uint32_t imm;
	bool has_imm;
	const void *data;
	size_t len;
};
bool mad_receive(struct hca *from, const struct ud_packet *pkt);
/* Data half: put @pkt into the receive queue of QP pkt->dst_qpn of @to. */
void ud_deliver(struct hca *to, const struct ud_packet *pkt);

/* ---- the data half's objects, as the device half sees them */

int objects_init(struct hca *hca);
void objects_fini(struct hca *hca);
/* Forget every object without touching guest memory (reset, FLR, ENABLE_HCA). */
void objects_reset(struct hca *hca);
/* Fatal error, port change: stop, or move traffic again. */
void objects_stop(struct hca *hca);
void objects_kick(struct hca *hca);
/* Add "qps" (array) to @o and every kind's number to @alive. */
void objects_dump(struct hca *hca, struct json_object *o,
		  struct json_object *alive);
void objects_clear_counters(struct hca *hca);
/* Count a ring of a QP (the per-QP figures of the dump). */
void qp_count_ring(struct hca *hca, uint32_t qpn, bool bf, bool wrong_uar);

/* ---- the adapter itself */

struct vfio_user;
struct pci;
struct iseg;
struct pages;
struct caps;
struct uctxs;
struct cmdq;
struct cmdlog;
struct uars;
struct eqs;
struct port;
struct faults;
struct objects;

struct hca {
	unsigned int index;
	struct dma *dma;
	struct vfio_user *vfio;
	struct pci *pci;
	struct iseg *iseg;
	struct pages *pages;
	struct caps *caps;
	struct uctxs *uctxs;
	struct cmdq *cmdq;
	struct cmdlog *cmdlog;
	struct uars *uars;
	struct eqs *eqs;
	struct port *port;
	struct faults *faults;
	struct objects *objs;
	uint64_t errors[SIM_ERR_MAX];
};

#endif
