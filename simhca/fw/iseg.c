// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The initialisation segment: what a driver reads before and beside the command
 * interface. Registers are big-endian dwords.
 *
 * Invariants
 * - When a command queue address is set, the objects of the earlier driver are
 *   freed before the first command of the new driver is read.
 * - After a fatal error no command is taken, the health counter stands still
 *   and guest memory is left alone, until the driver disables the interface or
 *   sets a command queue again, or the function is reset.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "fw/cmd.h"
#include "fw/iseg.h"

#define FW_MAJOR 16
#define FW_MINOR 35
#define FW_SUBMINOR 4030
#define CMDIF_REV 5

/* Not in mlx5_ifc.h: struct mlx5_init_seg of linux/mlx5/driver.h. */
#define ISEG_CMD_EXEC_TO 0xff8
#define ISEG_CMD_Q_INIT_TO 0xffc
#define ISEG_TIMER_H 0x1000
#define ISEG_TIMER_L 0x1004

/* initial_seg.nic_interface, with the reserved bit above it, and what says that
 * a software reset can be asked for there (linux/mlx5/device.h)
 */
#define NIC_STATE_SHIFT 8
#define NIC_STATE_MASK 0x7u
#define FW_RESET_SUPPORTED 0x40

#define HEALTH_TICK (10 * NSEC_PER_MSEC)
#define INIT_MS 2000u /* what the driver waits for by itself */

struct iseg {
	uint8_t regs[ISEG_BYTES];
	uint32_t cmd_ms; /* a test's wish, which outlives resets */
};

#define HEALTH(iseg) IFC_ADDR_OF(initial_seg, (iseg)->regs, health_buffer)

/**
 * iseg_init() - make the segment
 *
 * Return: 0 or -ENOMEM
 */
int iseg_init(struct hca *hca)
{
	hca->iseg = calloc(1, sizeof(*hca->iseg));
	if (!hca->iseg)
		return -ENOMEM;
	iseg_reset(hca);
	return 0;
}

/**
 * iseg_fini() - free the segment
 */
void iseg_fini(struct hca *hca)
{
	free(hca->iseg);
	hca->iseg = NULL;
}

/**
 * iseg_timeout() - tell drivers how long a command may take
 * @ms: from the next time that a driver starts; 0: do not tell, which makes it
 *	a minute
 *
 * Both fields are struct mlx5_ifc_default_timeout_bits in milliseconds. A
 * driver that finds cmd_q_init_to set reads DTOR too, where 0 means its own
 * default.
 */
void iseg_timeout(struct hca *hca, uint32_t ms)
{
	uint32_t exec = htobe32(ms), init = htobe32(ms ? INIT_MS : 0);

	hca->iseg->cmd_ms = ms;
	memcpy(hca->iseg->regs + ISEG_CMD_EXEC_TO, &exec, sizeof(exec));
	memcpy(hca->iseg->regs + ISEG_CMD_Q_INIT_TO, &init, sizeof(init));
}

/**
 * iseg_reset() - the state after a reset: firmware is up, no driver is there
 *
 * The interface is disabled until a command queue is set. A driver that did not
 * ask for the reset notices it by that.
 */
void iseg_reset(struct hca *hca)
{
	uint8_t *r = hca->iseg->regs;
	uint32_t cmd_ms = hca->iseg->cmd_ms;

	memset(hca->iseg, 0, sizeof(*hca->iseg));
	hca->fatal = false;
	iseg_timeout(hca, cmd_ms);
	IFC_SET(initial_seg, r, fw_rev_major, FW_MAJOR);
	IFC_SET(initial_seg, r, fw_rev_minor, FW_MINOR);
	IFC_SET(initial_seg, r, fw_rev_subminor, FW_SUBMINOR);
	IFC_SET(initial_seg, r, cmd_interface_rev, CMDIF_REV);
	IFC_SET(initial_seg, r, log_cmdq_size, CMDQ_LOG_ENTRIES);
	IFC_SET(initial_seg, r, log_cmdq_stride, CMDQ_LOG_STRIDE);
	IFC_SET(initial_seg, r, nic_interface,
		MLX5_INITIAL_SEG_NIC_INTERFACE_DISABLED);
	r[IFC_OFF(initial_seg, initializing)] |= FW_RESET_SUPPORTED;
	IFC_SET(initial_seg, r, nic_interface_supported, 1);
	IFC_SET(health_buffer, HEALTH(hca->iseg), fw_version,
		FW_MAJOR << 24 | FW_MINOR << 16 | FW_SUBMINOR);
	IFC_SET(health_buffer, HEALTH(hca->iseg), hw_id, HW_ID);
}

static void iseg_tick(struct hca *hca)
{
	struct iseg *iseg = hca->iseg;
	uint64_t now = loop_now();
	uint32_t dw;

	dw = htobe32(now >> 32);
	memcpy(iseg->regs + ISEG_TIMER_H, &dw, sizeof(dw));
	dw = htobe32(now);
	memcpy(iseg->regs + ISEG_TIMER_L, &dw, sizeof(dw));
	if (!hca->fatal)
		IFC_SET(initial_seg, iseg->regs, health_counter,
			now / HEALTH_TICK);
}

/**
 * iseg_read() - read registers
 * @buf: set to what is there
 * @len: bytes, within ISEG_BYTES
 */
void iseg_read(struct hca *hca, uint32_t off, uint8_t *buf, size_t len)
{
	iseg_tick(hca);
	memcpy(buf, hca->iseg->regs + off, len);
}

static void iseg_clear_fatal(struct hca *hca)
{
	struct iseg *iseg = hca->iseg;

	hca->fatal = false;
	IFC_SET(health_buffer, HEALTH(iseg), synd, 0);
	IFC_SET(health_buffer, HEALTH(iseg), rfr, 0);
	IFC_SET(health_buffer, HEALTH(iseg), valid, 0);
	IFC_SET(initial_seg, iseg->regs, health_syndrome, 0);
}

/*
 * The low dword of the address also has the state of the interface that the
 * driver asks for. A software reset is over as soon as it is asked for: the
 * interface is then disabled.
 */
static void iseg_cmdq(struct hca *hca, uint32_t val)
{
	uint32_t nic = val >> NIC_STATE_SHIFT & NIC_STATE_MASK;
	uint8_t *r = hca->iseg->regs;
	uint64_t addr;
	uint32_t dw;

	if (nic == MLX5_INITIAL_SEG_NIC_INTERFACE_SW_RESET)
		nic = MLX5_INITIAL_SEG_NIC_INTERFACE_DISABLED;
	dw = htobe32((val & ~0xfffu) | nic << NIC_STATE_SHIFT |
		     CMDQ_LOG_ENTRIES << 4 | CMDQ_LOG_STRIDE);
	memcpy(r + IFC_OFF(initial_seg, cmdq_phy_addr_31_12), &dw, sizeof(dw));
	addr = (uint64_t)IFC_GET(initial_seg, r, cmdq_phy_addr_63_32) << 32;
	addr |= val & ~0xfffu;
	iseg_clear_fatal(hca);
	hca_drop_state(hca);
	if (nic != MLX5_INITIAL_SEG_NIC_INTERFACE_FULL_DRIVER)
		addr = 0;
	cmdq_set(hca, addr);
}

/**
 * iseg_write() - write registers; read-only ones are left as they are
 * @len: bytes, within ISEG_BYTES
 */
void iseg_write(struct hca *hca, uint32_t off, const uint8_t *buf, size_t len)
{
	const uint32_t high = IFC_OFF(initial_seg, cmdq_phy_addr_63_32);
	const uint32_t low = IFC_OFF(initial_seg, cmdq_phy_addr_31_12);
	const uint32_t bell = IFC_OFF(initial_seg, command_doorbell_vector);
	uint32_t val;

	if (off % sizeof(val) || len % sizeof(val)) {
		hca_error(hca, SIM_ERR_BAD_MMIO,
			  "write of %zu bytes at 0x%x of the iseg", len, off);
		return;
	}
	for (; len; off += sizeof(val), buf += sizeof(val),
		    len -= sizeof(val)) {
		memcpy(&val, buf, sizeof(val));
		if (off == high)
			memcpy(hca->iseg->regs + off, &val, sizeof(val));
		else if (off == low)
			iseg_cmdq(hca, be32toh(val));
		else if (off == bell)
			cmdq_doorbell(hca, be32toh(val));
		else
			log_debug("hca%u: iseg 0x%x <- 0x%x", hca->index, off,
				  be32toh(val));
	}
}

/**
 * iseg_fatal() - let the firmware die
 * @syndrome: health_buffer.synd, not 0
 */
void iseg_fatal(struct hca *hca, uint8_t syndrome)
{
	struct iseg *iseg = hca->iseg;

	iseg_tick(hca);
	hca->fatal = true;
	IFC_SET(health_buffer, HEALTH(iseg), synd, syndrome);
	IFC_SET(health_buffer, HEALTH(iseg), rfr, 1);
	IFC_SET(health_buffer, HEALTH(iseg), valid, 1);
	IFC_SET(initial_seg, iseg->regs, health_syndrome, syndrome);
	log_line("hca%u: fatal, syndrome 0x%x", hca->index, syndrome);
}
