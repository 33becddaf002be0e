/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * simhca, the simulated ConnectX: the adapter and its commands, as every file
 * of the model sees them. One process, one thread, one event loop: nothing
 * here locks.
 *
 * Invariants
 * - Only dma_*() access guest memory. They check every access against the
 *   ranges that the VMM mapped. The command that creates a queue names the
 *   memory of the queue; the model forgets this memory when the queue is
 *   destroyed.
 * - Big-endian fields are read with ifc.h or be*toh().
 * - If the handler of a command fails, it has changed nothing.
 * - No input of a guest ends the model: it counts an error and continues.
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
#include "base/log.h"
#include "base/loop.h"	/* event loop: fds, struct sim_timer */

#define SIM_PAGE 4096u

enum link { LINK_IB, LINK_ETH };
enum function { FUNCTION_PF, FUNCTION_VF, FUNCTION_PORT };

struct hca;

/* ---- counted errors; the control socket has these names in lower case */
#define SIM_ERRORS(X)                                                     \
	X(WRONG_UAR)	/* doorbell on a UAR page that the QP does not own */ \
	X(DEAD_UAR)	/* doorbell on a page that is not allocated */        \
	X(TORN)		/* interleaved BlueFlame writes on one uUAR */        \
	X(BAD_DOORBELL)	/* no such QP, CQ or EQ, or it cannot be rung now */  \
	X(BAD_WQE)	/* a work request the PRM forbids */                  \
	X(BAD_CMD)	/* a command the PRM forbids */                       \
	X(BAD_MMIO)	/* an access no register answers to */                \
	X(DMA_FAULT)	/* address not mapped by the VMM, or read-only */     \
	X(DMA_GUARD)	/* access of a queue outside its own memory */        \
	X(CQ_OVERRUN)                                                         \
	X(EQ_OVERRUN)                                                         \
	X(PAGES)	/* pages given to the firmware and not taken back */  \
	X(LEAKED)	/* objects that a driver left when it ended */

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

/* ---- commands: each object has a table of its own, cmd_table.c lists them */

struct cmd {
	struct hca *hca;
	uint16_t opcode;	/* MLX5_CMD_OP_* */
	uint16_t op_mod;
	uint16_t uid;		/* DevX uid of the caller, 0: the driver */
	const uint8_t *in;	/* whole input, mailboxes joined */
	size_t in_len;
	uint8_t *out;		/* zeroed; fw/cmd.c writes status, syndrome */
	size_t out_len;
	uint32_t syndrome;	/* a handler that fails may set it */
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

/* MLX5_CMD_STAT_*: linux/mlx5/device.h is no user-space header. */
enum {
	CMD_OK = 0x0, CMD_BAD_OP = 0x2, CMD_BAD_PARAM = 0x3, CMD_BAD_RES = 0x5,
	CMD_LIM = 0x8, CMD_BAD_RES_STATE = 0x9, CMD_NO_RES = 0xf,
	CMD_BAD_QP_STATE = 0x10, CMD_BAD_SIZE_OUTS_CQES = 0x40,
	CMD_BAD_INP_LEN = 0x50, CMD_BAD_OUTP_LEN = 0x51,
};

/* The uid of resources that every user may name (MLX5_SHARED_RESOURCE_UID). */
#define SIM_SHARED_UID 0xffffu

/* ---- the adapter itself */

struct dma;
struct bus_ops;
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
struct line;
struct lag;
struct faults;
struct objects;
struct memic;
struct eth;
struct nic;

/**
 * struct hca - one adapter; each part belongs to the file of its name
 * @link: link layer of its port
 * @function: a PF, a VF, or a PF whose card has two ports
 * @eswitch: it has an e-switch that a driver can program (eth/switch.c)
 * @native_port: 1 or 2 on such a card (fabric/lag.h), else 0
 * @fatal: the firmware has died: no command, event or access to memory until
 *	the driver sets the interface up again (fw/iseg.c)
 * @mute: an injected fault: CQs of users post no completion event
 * @wrong_uar: an injected fault: where a command names an odd UAR page for a
 *	user's new QP, the QP takes the page before
 * @large_uar: an injected fault: from the next start of a driver on, UAR pages
 *	are as large as the driver's pages, as in old adapters
 * @few_uars: an injected fault: from then on a driver is told that there is one UAR
 *	page in a page of the system, however many one command allocates
 * @no_wc: an injected fault: a driver's test of write combining fails, as where the CPU
 *	writes each word of a copy by itself
 * @flip: an injected fault: the lowest bit of the first byte is another one when a
 *	transfer arrives at a signature key
 * @uars_together: UAR pages that one command allocates
 * @uar_log: log2 of the size of a UAR page in units of 4 KiB
 * @odp_cap: capabilities of on-demand paging that are in force (fw/caps_odp.c)
 */
struct hca {
	unsigned int index;
	enum link link;
	enum function function;
	unsigned int native_port;
	bool eswitch;
	bool fatal;
	bool mute;
	bool wrong_uar;
	bool large_uar;
	bool few_uars;
	bool no_wc;
	bool flip;
	unsigned int uars_together;
	unsigned int uar_log;
	const struct bus_ops *bus_ops;
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
	struct line *line;
	struct lag *lag;
	struct faults *faults;
	struct objects *objs;
	struct memic *memic;
	struct eth *eth;
	struct nic *nic;
	uint8_t odp_cap[IFC_SZ(odp_cap)];
	uint64_t errors[SIM_ERR_MAX];
};

static inline bool hca_is_vf(const struct hca *hca)
{
	return hca->function == FUNCTION_VF;
}

#endif
