// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The driver: command queue, and as many objects as tests of bus and firmware
 * need.
 */
#include <errno.h>
#include <linux/vfio.h>
#include <poll.h>
#include <time.h>

#include "test/unit/vmm.h"

#define ENTRY_BYTES 64u
#define BOX_STRIDE 1024u /* mailboxes are aligned to this */
#define BOX_DATA 512u
#define INLINE 16u
#define TYPE_PCI 7
#define WAIT_MS 5000
#define LOG_QUEUE 4u

uint64_t vmm_page(struct vmm *vmm, unsigned int pages)
{
	uint64_t pa = vmm->next;

	vmm->next += (uint64_t)pages * VMM_PAGE;
	return vmm->next <= VMM_RAM ? pa : 0;
}

/* A chain of mailboxes for @len bytes, filled from @data. */
static uint64_t boxes(struct vmm *vmm, const uint8_t *data, size_t len)
{
	unsigned int n = (len + BOX_DATA - 1) / BOX_DATA, i;
	uint64_t first, pa, next;
	size_t part;

	if (!n)
		return 0;
	first = vmm_page(vmm, (n * BOX_STRIDE + VMM_PAGE - 1) / VMM_PAGE);
	for (i = 0; i < n; i++) {
		pa = first + (uint64_t)i * BOX_STRIDE;
		next = i + 1 < n ? pa + BOX_STRIDE : 0;
		part = len < BOX_DATA ? len : BOX_DATA;
		memset(vmm->ram + pa, 0, IFC_SZ(cmd_if_box));
		if (data)
			memcpy(vmm->ram + pa, data + (size_t)i * BOX_DATA,
			       part);
		len -= part;
		IFC_SET(cmd_if_box, vmm->ram + pa, next_pointer_63_32,
			next >> 32);
		IFC_SET(cmd_if_box, vmm->ram + pa, next_pointer_31_10,
			next >> 10);
		IFC_SET(cmd_if_box, vmm->ram + pa, block_number, i);
		IFC_SET(cmd_if_box, vmm->ram + pa, token, vmm->token);
	}
	return first;
}

/* Fill an entry of the command queue and ring; do not wait. */
int vmm_post(struct vmm *vmm, unsigned int index, const void *in, size_t in_len,
	     size_t out_len)
{
	uint8_t *e = vmm->ram + vmm->cmdq + (size_t)index * ENTRY_BYTES;
	size_t head = in_len < INLINE ? in_len : INLINE;
	uint64_t pa;

	vmm->token++;
	memset(e, 0, ENTRY_BYTES);
	IFC_SET(cmd_queue_entry, e, type, TYPE_PCI);
	IFC_SET(cmd_queue_entry, e, input_length, in_len);
	IFC_SET(cmd_queue_entry, e, output_length, out_len);
	memcpy(IFC_ADDR_OF(cmd_queue_entry, e, command_input_inline_data), in,
	       head);
	pa = boxes(vmm, (const uint8_t *)in + head, in_len - head);
	IFC_SET(cmd_queue_entry, e, input_mailbox_pointer_63_32, pa >> 32);
	IFC_SET(cmd_queue_entry, e, input_mailbox_pointer_31_9, pa >> 9);
	pa = boxes(vmm, NULL, out_len > INLINE ? out_len - INLINE : 0);
	IFC_SET(cmd_queue_entry, e, output_mailbox_pointer_63_32, pa >> 32);
	IFC_SET(cmd_queue_entry, e, output_mailbox_pointer_31_9, pa >> 9);
	IFC_SET(cmd_queue_entry, e, token, vmm->token);
	IFC_SET(cmd_queue_entry, e, ownership, 1);
	return vmm_write_be32(vmm, IFC_OFF(initial_seg,
					   command_doorbell_vector),
			      1u << index);
}

static void take(struct vmm *vmm, uint8_t *e, uint8_t *out, size_t len)
{
	uint64_t pa = (uint64_t)IFC_GET(cmd_queue_entry, e,
					output_mailbox_pointer_63_32) << 32 |
		      IFC_GET(cmd_queue_entry, e, output_mailbox_pointer_31_9)
			      << 9;
	size_t part = len < INLINE ? len : INLINE;

	memcpy(out,
	       IFC_ADDR_OF(cmd_queue_entry, e, command_output_inline_data),
	       part);
	for (out += part, len -= part; len; out += part, len -= part) {
		part = len < BOX_DATA ? len : BOX_DATA;
		memcpy(out, vmm->ram + pa, part);
		pa += BOX_STRIDE;
	}
}

bool vmm_answered(struct vmm *vmm, unsigned int index)
{
	uint8_t *e = vmm->ram + vmm->cmdq + (size_t)index * ENTRY_BYTES;
	int ms;

	for (ms = 0; ms < WAIT_MS; ms++) {
		if (!IFC_GET(cmd_queue_entry, e, ownership))
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	return false;
}

/*
 * Run a command on entry 0. Return its status or -errno: -EIO for a delivery
 * status, -ETIMEDOUT if there is no answer.
 */
int vmm_cmd(struct vmm *vmm, const void *in, size_t in_len, void *out,
	    size_t out_len)
{
	uint8_t *e = vmm->ram + vmm->cmdq;
	uint64_t next = vmm->next;
	int ret = vmm_post(vmm, 0, in, in_len, out_len);

	if (ret)
		return ret;
	if (!vmm_answered(vmm, 0))
		return -ETIMEDOUT;
	vmm->next = next;
	if (IFC_GET(cmd_queue_entry, e, status))
		return -EIO;
	take(vmm, e, out, out_len);
	return IFC_GET(cmd_out, (uint8_t *)out, status);
}

/* A command of one opcode and nothing else. */
static int plain(struct vmm *vmm, uint16_t opcode, uint16_t op_mod)
{
	uint8_t in[64] = { 0 }, out[64];

	IFC_SET(cmd_in, in, opcode, opcode);
	IFC_SET(cmd_in, in, op_mod, op_mod);
	return vmm_cmd(vmm, in, sizeof(in), out, 16);
}

/* Set the command queue, ENABLE_HCA. */
int vmm_enable(struct vmm *vmm)
{
	int ret;

	vmm->cmdq = vmm_page(vmm, 1);
	ret = vmm_write_be32(vmm, IFC_OFF(initial_seg, cmdq_phy_addr_63_32), 0);
	if (!ret)
		ret = vmm_write_be32(
			vmm, IFC_OFF(initial_seg, cmdq_phy_addr_31_12),
			(uint32_t)vmm->cmdq);
	return ret ? ret : plain(vmm, MLX5_CMD_OP_ENABLE_HCA, 0);
}

/* Give the firmware the pages of a kind (1 boot, 2 init) that it asks for. */
static int vmm_give_pages(struct vmm *vmm, uint16_t which)
{
	uint8_t in[IFC_SZ(manage_pages_in) + 64 * 8] = { 0 }, out[64];
	uint32_t n, i;
	int ret;

	IFC_SET(query_pages_in, in, opcode, MLX5_CMD_OP_QUERY_PAGES);
	IFC_SET(query_pages_in, in, op_mod, which);
	ret = vmm_cmd(vmm, in, IFC_SZ(query_pages_in), out,
		      IFC_SZ(query_pages_out));
	if (ret)
		return ret;
	n = IFC_GET(query_pages_out, out, num_pages);
	if (n > 64)
		return -E2BIG;
	memset(in, 0, sizeof(in));
	IFC_SET(manage_pages_in, in, opcode, MLX5_CMD_OP_MANAGE_PAGES);
	IFC_SET(manage_pages_in, in, op_mod, 1);
	IFC_SET(manage_pages_in, in, input_num_entries, n);
	for (i = 0; i < n; i++)
		IFC_SET64(manage_pages_in, in, pas[i], vmm_page(vmm, 1));
	return vmm_cmd(vmm, in, IFC_SZ(manage_pages_in) + n * 8, out,
		       IFC_SZ(manage_pages_out));
}

int vmm_alloc_uar(struct vmm *vmm, uint16_t uid, uint32_t *uar)
{
	uint8_t in[IFC_SZ(alloc_uar_in)] = { 0 }, out[IFC_SZ(alloc_uar_out)];
	int ret;

	IFC_SET(alloc_uar_in, in, opcode, MLX5_CMD_OP_ALLOC_UAR);
	IFC_SET(alloc_uar_in, in, uid, uid);
	ret = vmm_cmd(vmm, in, sizeof(in), out, sizeof(out));
	*uar = ret ? 0 : IFC_GET(alloc_uar_out, out, uar);
	return ret;
}

int vmm_create_eq(struct vmm *vmm, uint32_t uar, unsigned int log_size,
		  uint64_t mask, uint64_t pa, uint32_t *eqn)
{
	uint8_t in[IFC_SZ(create_eq_in) + 8] = { 0 };
	uint8_t out[IFC_SZ(create_eq_out)];
	uint8_t *ctx = IFC_ADDR_OF(create_eq_in, in, eq_context_entry);
	int ret;

	IFC_SET(create_eq_in, in, opcode, MLX5_CMD_OP_CREATE_EQ);
	IFC_SET(eqc, ctx, log_eq_size, log_size);
	IFC_SET(eqc, ctx, uar_page, uar);
	IFC_SET(eqc, ctx, intr, 1);
	IFC_SET64(create_eq_in, in, event_bitmask[0], mask);
	IFC_SET64(create_eq_in, in, pas[0], pa);
	ret = vmm_cmd(vmm, in, sizeof(in), out, sizeof(out));
	*eqn = ret ? 0 : IFC_GET(create_eq_out, out, eq_number);
	return ret;
}

static int alloc_pd(struct vmm *vmm, uint32_t *pd)
{
	uint8_t in[IFC_SZ(alloc_pd_in)] = { 0 }, out[IFC_SZ(alloc_pd_out)];
	int ret;

	IFC_SET(alloc_pd_in, in, opcode, MLX5_CMD_OP_ALLOC_PD);
	ret = vmm_cmd(vmm, in, sizeof(in), out, sizeof(out));
	*pd = ret ? 0 : IFC_GET(alloc_pd_out, out, pd);
	return ret;
}

/* The driver's way from nothing to an EQ (port events) and a PD. */
int vmm_probe(struct vmm *vmm, struct vmm_driver *drv)
{
	uint8_t in[IFC_SZ(set_issi_in)] = { 0 }, out[16];
	int ret;

	ret = vmm_hello(vmm);
	ret = ret ? ret : vmm_map(vmm);
	ret = ret ? ret : vmm_irqs(vmm);
	ret = ret ? ret : vmm_enable(vmm);
	IFC_SET(set_issi_in, in, opcode, MLX5_CMD_OP_SET_ISSI);
	IFC_SET(set_issi_in, in, current_issi, 1);
	ret = ret ? ret : vmm_cmd(vmm, in, sizeof(in), out, sizeof(out));
	ret = ret ? ret : vmm_give_pages(vmm, 1);
	ret = ret ? ret : vmm_give_pages(vmm, 2);
	ret = ret ? ret : plain(vmm, MLX5_CMD_OP_INIT_HCA, 0);
	ret = ret ? ret : vmm_alloc_uar(vmm, 0, &drv->uar);
	drv->log_eq = LOG_QUEUE;
	drv->eq = vmm_page(vmm, 1);
	ret = ret ? ret :
		    vmm_create_eq(
			    vmm, drv->uar, drv->log_eq,
			    1ull << MLX5_EVENT_TYPE_CODING_PORT_STATE_CHANGE,
			    drv->eq, &drv->eqn);
	return ret ? ret : alloc_pd(vmm, &drv->pd);
}

static int vmm_create_cq(struct vmm *vmm, const struct vmm_driver *drv, uint32_t *cqn)
{
	uint8_t in[IFC_SZ(create_cq_in) + 8] = { 0 };
	uint8_t out[IFC_SZ(create_cq_out)];
	uint8_t *ctx = IFC_ADDR_OF(create_cq_in, in, cq_context);
	int ret;

	IFC_SET(create_cq_in, in, opcode, MLX5_CMD_OP_CREATE_CQ);
	IFC_SET(cqc, ctx, log_cq_size, LOG_QUEUE);
	IFC_SET(cqc, ctx, uar_page, drv->uar);
	IFC_SET(cqc, ctx, c_eqn_or_apu_element, drv->eqn);
	IFC_SET64(cqc, ctx, dbr_addr, vmm_page(vmm, 1));
	IFC_SET64(create_cq_in, in, pas[0], vmm_page(vmm, 1));
	ret = vmm_cmd(vmm, in, sizeof(in), out, sizeof(out));
	*cqn = ret ? 0 : IFC_GET(create_cq_out, out, cqn);
	return ret;
}

/* A UC QP in RESET with 16 basic blocks and no receive queue. */
static int vmm_create_qp(struct vmm *vmm, const struct vmm_driver *drv, uint32_t uar,
		  uint32_t cqn, uint32_t *qpn)
{
	uint8_t in[IFC_SZ(create_qp_in) + 8] = { 0 };
	uint8_t out[IFC_SZ(create_qp_out)];
	uint8_t *qpc = IFC_ADDR_OF(create_qp_in, in, qpc);
	int ret;

	IFC_SET(create_qp_in, in, opcode, MLX5_CMD_OP_CREATE_QP);
	IFC_SET(qpc, qpc, st, 1);
	IFC_SET(qpc, qpc, pm_state, 3);
	IFC_SET(qpc, qpc, pd, drv->pd);
	IFC_SET(qpc, qpc, uar_page, uar);
	IFC_SET(qpc, qpc, log_sq_size, LOG_QUEUE);
	IFC_SET(qpc, qpc, rq_type, 3); /* no receive queue */
	IFC_SET(qpc, qpc, cqn_snd, cqn);
	IFC_SET(qpc, qpc, cqn_rcv, cqn);
	IFC_SET64(qpc, qpc, dbr_addr, vmm_page(vmm, 1));
	IFC_SET64(create_qp_in, in, pas[0], vmm_page(vmm, 1));
	ret = vmm_cmd(vmm, in, sizeof(in), out, sizeof(out));
	*qpn = ret ? 0 : IFC_GET(create_qp_out, out, qpn);
	return ret;
}

uint64_t vmm_ctrl(uint32_t qpn, uint16_t index, unsigned int ds)
{
	return htobe64((uint64_t)index << 40 | (uint64_t)qpn << 8 | ds);
}

static int qp_step(struct vmm *vmm, uint16_t opcode, uint32_t qpn)
{
	uint8_t in[IFC_SZ(rst2init_qp_in)] = { 0 };
	uint8_t out[IFC_SZ(rst2init_qp_out)];
	uint8_t *qpc = IFC_ADDR_OF(rst2init_qp_in, in, qpc);

	/* the three steps have one layout */
	IFC_SET(rst2init_qp_in, in, opcode, opcode);
	IFC_SET(rst2init_qp_in, in, qpn, qpn);
	IFC_SET(qpc, qpc, pm_state, 3);
	IFC_SET(qpc, qpc, mtu, 5);
	IFC_SET(qpc, qpc, log_msg_max, 30);
	IFC_SET(qpc, qpc, remote_qpn, 2);
	IFC_SET(qpc, qpc, primary_address_path.vhca_port_num, 1);
	IFC_SET(qpc, qpc, primary_address_path.rlid, 2);
	return vmm_cmd(vmm, in, sizeof(in), out, sizeof(out));
}

/* A QP that may send. */
int vmm_ready_qp(struct vmm *vmm, const struct vmm_driver *drv, uint32_t uar,
		 uint32_t *qpn)
{
	uint32_t cqn;
	int ret = vmm_create_cq(vmm, drv, &cqn);

	ret = ret ? ret : vmm_create_qp(vmm, drv, uar, cqn, qpn);
	ret = ret ? ret : qp_step(vmm, MLX5_CMD_OP_RST2INIT_QP, *qpn);
	ret = ret ? ret : qp_step(vmm, MLX5_CMD_OP_INIT2RTR_QP, *qpn);
	return ret ? ret : qp_step(vmm, MLX5_CMD_OP_RTR2RTS_QP, *qpn);
}
