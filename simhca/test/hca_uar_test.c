// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * runs on: host, tier: full, timeout: 120
 *
 * UAR pages of simhca: who may ring where, and what each store counts as.
 */
#include <signal.h>
#include <sys/wait.h>

#include "test/unit/vmm.h"

#include "kselftest_harness.h"

#define SLOT0 0x800u
#define SLOT1 0xa00u
#define HALF 0x100u
#define WQE 64u

FIXTURE(uar)
{
	struct vmm vmm;
	struct vmm_driver drv;
	uint32_t page, qpn, other;
	uint8_t a[WQE], b[WQE];	/* WQEs of qpn and of other */
};

/* A WQE of one block: NOP for the QP, with as many 16-byte parts as fit. */
static void wqe_fill(uint8_t *wqe, uint32_t qpn, uint16_t index)
{
	uint64_t ctrl = vmm_ctrl(qpn, index, WQE / 16);

	memset(wqe, 0, WQE);
	memcpy(wqe, &ctrl, sizeof(ctrl));
}

FIXTURE_SETUP(uar)
{
	ASSERT_EQ(0, vmm_start(&self->vmm));
	ASSERT_EQ(0, vmm_connect(&self->vmm));
	ASSERT_EQ(0, vmm_probe(&self->vmm, &self->drv));
	ASSERT_EQ(0, vmm_alloc_uar(&self->vmm, 0, &self->page));
	ASSERT_EQ(0, vmm_ready_qp(&self->vmm, &self->drv, self->page,
				  &self->qpn));
	ASSERT_EQ(0, vmm_ready_qp(&self->vmm, &self->drv, self->page,
				  &self->other));
	wqe_fill(self->a, self->qpn, 0);
	wqe_fill(self->b, self->other, 0);
}

FIXTURE_TEARDOWN(uar)
{
	EXPECT_EQ(0, vmm_stop(&self->vmm));
}

static void store8(struct vmm *vmm, uint32_t page, uint32_t off,
		   const uint8_t *wqe, unsigned int i)
{
	vmm_uar(vmm, page, off + i * 8, wqe + i * 8, 8);
}

static void blueflame(struct vmm *vmm, uint32_t page, uint32_t off,
		      uint32_t qpn)
{
	uint8_t wqe[WQE];
	unsigned int i;

	wqe_fill(wqe, qpn, 0);
	for (i = 0; i < WQE / 8; i++)
		store8(vmm, page, off, wqe, i);
}

static void doorbell(struct vmm *vmm, uint32_t page, uint32_t off, uint32_t qpn)
{
	uint64_t ctrl = vmm_ctrl(qpn, 0, WQE / 16);

	vmm_uar(vmm, page, off, &ctrl, sizeof(ctrl));
}

/* Give a page back as DevX user @uid; what the command answers. */
static int dealloc(struct vmm *vmm, uint16_t uid, uint32_t page)
{
	uint8_t in[IFC_SZ(dealloc_uar_in)] = { 0 }, out[16];

	IFC_SET(dealloc_uar_in, in, opcode, MLX5_CMD_OP_DEALLOC_UAR);
	IFC_SET(dealloc_uar_in, in, uid, uid);
	IFC_SET(dealloc_uar_in, in, uar, page);
	return vmm_cmd(vmm, in, sizeof(in), out, sizeof(out));
}

static int destroy_qp(struct vmm *vmm, uint32_t qpn)
{
	uint8_t in[IFC_SZ(destroy_qp_in)] = { 0 }, out[16];

	IFC_SET(destroy_qp_in, in, opcode, MLX5_CMD_OP_DESTROY_QP);
	IFC_SET(destroy_qp_in, in, qpn, qpn);
	return vmm_cmd(vmm, in, sizeof(in), out, sizeof(out));
}

TEST_F(uar, doorbell_is_counted_once)
{
	struct vmm *vmm = &self->vmm;

	doorbell(vmm, self->page, SLOT0, self->qpn);
	doorbell(vmm, self->page, SLOT0, self->qpn);
	EXPECT_EQ(2, vmm_slot(vmm, self->page, 0, "doorbells"));
	EXPECT_EQ(0, vmm_slot(vmm, self->page, 0, "blueflame"));
	EXPECT_EQ(0, vmm_slot(vmm, self->page, 1, "doorbells"));
	EXPECT_EQ(0, vmm_count(vmm, "errors", "torn"));
	EXPECT_EQ(0, vmm_count(vmm, "errors", "bad_doorbell"));
}

TEST_F(uar, blueflame_is_told_from_a_doorbell)
{
	struct vmm *vmm = &self->vmm;

	blueflame(vmm, self->page, SLOT1, self->qpn);
	blueflame(vmm, self->page, SLOT1 + HALF, self->qpn);
	EXPECT_EQ(2, vmm_slot(vmm, self->page, 1, "blueflame"));
	EXPECT_EQ(0, vmm_slot(vmm, self->page, 1, "doorbells"));
	EXPECT_EQ(0, vmm_count(vmm, "errors", "torn"));
}

TEST_F(uar, blueflame_in_one_store)
{
	struct vmm *vmm = &self->vmm;

	vmm_uar(vmm, self->page, SLOT0, self->a, WQE);
	EXPECT_EQ(1, vmm_slot(vmm, self->page, 0, "blueflame"));
	EXPECT_EQ(0, vmm_count(vmm, "errors", "torn"));
}

TEST_F(uar, blueflame_that_comes_late_is_still_one)
{
	struct vmm *vmm = &self->vmm;
	unsigned int i;

	store8(vmm, self->page, SLOT0, self->a, 0);
	/* longer than a doorbell is held */
	usleep(5000);
	for (i = 1; i < WQE / 8; i++)
		store8(vmm, self->page, SLOT0, self->a, i);
	EXPECT_EQ(1, vmm_slot(vmm, self->page, 0, "blueflame"));
	EXPECT_EQ(0, vmm_slot(vmm, self->page, 0, "doorbells"));
	EXPECT_EQ(0, vmm_count(vmm, "errors", "torn"));
}

TEST_F(uar, who_looks_into_the_middle_of_a_copy_does_not_tear_it)
{
	struct vmm *vmm = &self->vmm;
	unsigned int i;

	store8(vmm, self->page, SLOT0, self->a, 0);
	EXPECT_EQ(1, vmm_slot(vmm, self->page, 0, "doorbells"));
	for (i = 1; i < WQE / 8; i++)
		store8(vmm, self->page, SLOT0, self->a, i);
	EXPECT_EQ(1, vmm_slot(vmm, self->page, 0, "doorbells"));
	EXPECT_EQ(0, vmm_slot(vmm, self->page, 0, "blueflame"));
	EXPECT_EQ(0, vmm_count(vmm, "errors", "torn"));
	blueflame(vmm, self->page, SLOT0, self->other);
	EXPECT_EQ(1, vmm_slot(vmm, self->page, 0, "doorbells"));
	EXPECT_EQ(1, vmm_slot(vmm, self->page, 0, "blueflame"));
}

#define ENTRY 1u	/* of the command queue */

/* Make the command in the entry one that destroys a QP, and do not ring yet. */
static uint8_t *prepare_destroy(struct vmm *vmm, uint32_t qpn)
{
	uint8_t in[IFC_SZ(destroy_qp_in)] = { 0 };
	uint8_t *e = vmm->ram + vmm->cmdq + ENTRY * IFC_SZ(cmd_queue_entry);

	IFC_SET(destroy_qp_in, in, opcode, MLX5_CMD_OP_DESTROY_QP);
	if (vmm_post(vmm, ENTRY, in, sizeof(in), 16) || !vmm_answered(vmm, ENTRY))
		return NULL;
	IFC_SET(destroy_qp_in, in, qpn, qpn);
	memcpy(IFC_ADDR_OF(cmd_queue_entry, e, command_input_inline_data), in,
	       sizeof(in));
	IFC_SET(cmd_queue_entry, e, ownership, 1);
	return e;
}

/* simhca reads all at once what is stored between these. */
static int pause_simhca(struct vmm *vmm)
{
	return kill(vmm->pid, SIGSTOP) ||
	       waitpid(vmm->pid, NULL, WUNTRACED) != vmm->pid;
}

static int go_on(struct vmm *vmm)
{
	return kill(vmm->pid, SIGCONT);
}

static void ring_command(struct vmm *vmm)
{
	uint32_t val = htobe32(1u << ENTRY);

	vmm_uar(vmm, 0, IFC_OFF(initial_seg, command_doorbell_vector), &val,
		sizeof(val));
}

static uint8_t status_of(const uint8_t *entry)
{
	return IFC_GET(cmd_out,
		       IFC_ADDR_OF(cmd_queue_entry, entry,
				   command_output_inline_data), status);
}

TEST_F(uar, a_command_does_not_overtake_a_doorbell)
{
	struct vmm *vmm = &self->vmm;
	uint8_t *entry = prepare_destroy(vmm, self->qpn);

	ASSERT_NE(NULL, entry);
	ASSERT_EQ(0, pause_simhca(vmm));
	doorbell(vmm, self->page, SLOT0, self->qpn);
	ring_command(vmm);
	ASSERT_EQ(0, go_on(vmm));
	ASSERT_TRUE(vmm_answered(vmm, ENTRY));
	EXPECT_EQ(0, status_of(entry));
	EXPECT_EQ(1, vmm_count(vmm, "alive", "qp"));
	EXPECT_EQ(0, vmm_count(vmm, "errors", "bad_doorbell"));
	EXPECT_EQ(1, vmm_slot(vmm, self->page, 0, "doorbells"));
}

TEST_F(uar, nor_the_beginning_of_a_copy)
{
	struct vmm *vmm = &self->vmm;
	uint8_t *entry = prepare_destroy(vmm, self->qpn);
	unsigned int i;

	ASSERT_NE(NULL, entry);
	ASSERT_EQ(0, pause_simhca(vmm));
	store8(vmm, self->page, SLOT0, self->a, 0);
	store8(vmm, self->page, SLOT0, self->a, 1);
	ring_command(vmm);
	for (i = 2; i < WQE / 8; i++)
		store8(vmm, self->page, SLOT0, self->a, i);
	ASSERT_EQ(0, go_on(vmm));
	ASSERT_TRUE(vmm_answered(vmm, ENTRY));
	EXPECT_EQ(0, status_of(entry));
	EXPECT_EQ(0, vmm_count(vmm, "errors", "bad_doorbell"));
	EXPECT_EQ(1, vmm_slot(vmm, self->page, 0, "blueflame"));
	EXPECT_EQ(0, vmm_slot(vmm, self->page, 0, "torn"));
}

/* The QP is not there: its ring is an error, which tells that it came. */
TEST_F(uar, a_copy_that_stops_rings_as_a_doorbell)
{
	struct vmm *vmm = &self->vmm;
	uint8_t wqe[WQE];

	wqe_fill(wqe, 0xabcdef, 0);
	store8(vmm, self->page, SLOT0, wqe, 0);
	store8(vmm, self->page, SLOT0, wqe, 1);
	EXPECT_EQ(1, vmm_count_until(vmm, "errors", "bad_doorbell", 1));
	EXPECT_EQ(0, vmm_slot(vmm, self->page, 0, "doorbells"));
}

TEST_F(uar, a_copy_that_stopped_is_counted_once)
{
	struct vmm *vmm = &self->vmm;
	unsigned int i;

	store8(vmm, self->page, SLOT0, self->a, 0);
	store8(vmm, self->page, SLOT0, self->a, 1);
	/* longer than a copy is waited for */
	usleep(300000);
	EXPECT_EQ(1, vmm_slot(vmm, self->page, 0, "doorbells"));
	for (i = 2; i < WQE / 8; i++)
		store8(vmm, self->page, SLOT0, self->a, i);
	EXPECT_EQ(1, vmm_slot(vmm, self->page, 0, "doorbells"));
	EXPECT_EQ(0, vmm_slot(vmm, self->page, 0, "blueflame"));
	EXPECT_EQ(0, vmm_count(vmm, "errors", "torn"));
}

TEST_F(uar, a_copy_that_stopped_rings_when_its_page_is_freed)
{
	struct vmm *vmm = &self->vmm;

	store8(vmm, self->page, SLOT0, self->a, 0);
	store8(vmm, self->page, SLOT0, self->a, 1);
	ASSERT_EQ(0, dealloc(vmm, 0, self->page));
	EXPECT_EQ(1, vmm_slot(vmm, self->page, 0, "doorbells"));
}

TEST_F(uar, stores_of_four_bytes_make_a_doorbell)
{
	struct vmm *vmm = &self->vmm;
	uint64_t ctrl = vmm_ctrl(self->qpn, 0, 4);

	vmm_uar(vmm, self->page, SLOT0, &ctrl, 4);
	vmm_uar(vmm, self->page, SLOT0 + 4, (uint8_t *)&ctrl + 4, 4);
	EXPECT_EQ(1, vmm_slot(vmm, self->page, 0, "doorbells"));
	EXPECT_EQ(0, vmm_count(vmm, "errors", "torn"));
}

TEST_F(uar, interleaved_writes_are_torn)
{
	struct vmm *vmm = &self->vmm;
	unsigned int i;

	for (i = 0; i < WQE / 8; i++) {
		store8(vmm, self->page, SLOT0, self->a, i);
		store8(vmm, self->page, SLOT0, self->b, i);
	}
	EXPECT_LT(0, vmm_slot(vmm, self->page, 0, "torn"));
	EXPECT_EQ(0, vmm_slot(vmm, self->page, 1, "torn"));
	EXPECT_LT(0, vmm_count(vmm, "errors", "torn"));
}

TEST_F(uar, a_write_within_another_is_torn_once)
{
	struct vmm *vmm = &self->vmm;
	unsigned int i;

	for (i = 0; i < 4; i++)
		store8(vmm, self->page, SLOT0, self->a, i);
	for (i = 0; i < WQE / 8; i++)
		store8(vmm, self->page, SLOT0, self->b, i);
	EXPECT_EQ(1, vmm_slot(vmm, self->page, 0, "torn"));
	EXPECT_EQ(1, vmm_slot(vmm, self->page, 0, "blueflame"));
}

TEST_F(uar, two_slots_and_two_halves_do_not_tear)
{
	struct vmm *vmm = &self->vmm;
	unsigned int i;

	for (i = 0; i < WQE / 8; i++) {
		store8(vmm, self->page, SLOT0, self->a, i);
		store8(vmm, self->page, SLOT1, self->b, i);
	}
	EXPECT_EQ(1, vmm_slot(vmm, self->page, 0, "blueflame"));
	EXPECT_EQ(1, vmm_slot(vmm, self->page, 1, "blueflame"));
	EXPECT_EQ(0, vmm_count(vmm, "errors", "torn"));
}

TEST_F(uar, a_ring_on_a_page_of_another_is_dropped)
{
	struct vmm *vmm = &self->vmm;
	uint32_t page;

	ASSERT_EQ(0, vmm_alloc_uar(vmm, 0, &page));
	doorbell(vmm, page, SLOT0, self->qpn);
	blueflame(vmm, page, SLOT1, self->qpn);
	EXPECT_EQ(2, vmm_count_until(vmm, "errors", "wrong_uar", 2));
	EXPECT_EQ(0, vmm_slot(vmm, page, 0, "doorbells"));
	EXPECT_EQ(0, vmm_slot(vmm, page, 1, "blueflame"));
}

TEST_F(uar, a_late_copy_on_a_page_of_another_is_one_error)
{
	struct vmm *vmm = &self->vmm;
	unsigned int i;
	uint32_t page;

	ASSERT_EQ(0, vmm_alloc_uar(vmm, 0, &page));
	store8(vmm, page, SLOT0, self->a, 0);
	ASSERT_EQ(1, vmm_count_until(vmm, "errors", "wrong_uar", 1));
	for (i = 1; i < WQE / 8; i++)
		store8(vmm, page, SLOT0, self->a, i);
	EXPECT_EQ(1, vmm_count(vmm, "errors", "wrong_uar"));
	EXPECT_EQ(0, vmm_count(vmm, "errors", "torn"));
}

TEST_F(uar, a_ring_on_a_dead_page_is_dropped)
{
	struct vmm *vmm = &self->vmm;
	uint32_t page;

	ASSERT_EQ(0, vmm_alloc_uar(vmm, 0, &page));
	ASSERT_EQ(0, dealloc(vmm, 0, page));
	doorbell(vmm, page, SLOT0, self->qpn);
	blueflame(vmm, page, SLOT1, self->qpn);
	EXPECT_EQ(2, vmm_count(vmm, "errors", "dead_uar"));
	EXPECT_EQ(0x5, dealloc(vmm, 0, page));
}

TEST_F(uar, a_page_given_back_is_dead_though_queues_name_it)
{
	struct vmm *vmm = &self->vmm;
	uint32_t qpn;

	ASSERT_EQ(0, dealloc(vmm, 0, self->page));
	EXPECT_EQ(1, vmm_count(vmm, "alive", "uar"));
	EXPECT_EQ(1, vmm_count(vmm, "alive", "uar_held"));
	doorbell(vmm, self->page, SLOT0, self->qpn);
	blueflame(vmm, self->page, SLOT1, self->other);
	EXPECT_EQ(2, vmm_count(vmm, "errors", "dead_uar"));
	EXPECT_EQ(-1, vmm_slot(vmm, self->page, 0, "doorbells"));
	EXPECT_EQ(0x5, dealloc(vmm, 0, self->page));
	EXPECT_NE(0, vmm_ready_qp(vmm, &self->drv, self->page, &qpn));
}

TEST_F(uar, the_number_of_a_page_waits_for_the_last_queue_on_it)
{
	struct vmm *vmm = &self->vmm;
	uint32_t page;

	ASSERT_EQ(0, dealloc(vmm, 0, self->page));
	ASSERT_EQ(0, destroy_qp(vmm, self->qpn));
	EXPECT_EQ(1, vmm_count(vmm, "alive", "uar_held"));
	/* all numbers but that of the driver's page and the one in question */
	while (!vmm_alloc_uar(vmm, 0, &page))
		EXPECT_NE(self->page, page);
	EXPECT_EQ(8192 - 16 - 1, vmm_count(vmm, "alive", "uar"));
	json_object_put(vmm_control(vmm, "{\"op\":\"reset\"}"));
	EXPECT_EQ(1, vmm_count(vmm, "alive", "uar_held"));
	ASSERT_EQ(0, destroy_qp(vmm, self->other));
	EXPECT_EQ(0, vmm_count(vmm, "alive", "uar_held"));
	ASSERT_EQ(0, vmm_alloc_uar(vmm, 0, &page));
	EXPECT_EQ(self->page, page);
}

TEST_F(uar, a_user_cannot_name_the_page_of_another)
{
	struct vmm *vmm = &self->vmm;
	uint32_t page;

	ASSERT_EQ(0, vmm_alloc_uar(vmm, 7, &page));
	EXPECT_EQ(0x5, dealloc(vmm, 8, page));
	EXPECT_EQ(0, dealloc(vmm, 7, page));
}

TEST_F(uar, a_ring_of_nobody_is_counted)
{
	doorbell(&self->vmm, self->page, SLOT0, 0xabcdef);
	EXPECT_EQ(1, vmm_count_until(&self->vmm, "errors", "bad_doorbell", 1));
}

TEST_F(uar, stores_elsewhere_are_counted)
{
	struct vmm *vmm = &self->vmm;
	uint64_t junk = ~0ull;

	vmm_uar(vmm, self->page, 0x0, &junk, 8);
	vmm_uar(vmm, self->page, 0x7f8, &junk, 8);
	vmm_uar(vmm, self->page, SLOT0 + 1, &junk, 2);
	EXPECT_EQ(3, vmm_count(vmm, "errors", "bad_mmio"));
}

TEST_F(uar, pages_run_out_and_come_back)
{
	struct vmm *vmm = &self->vmm;
	uint32_t page, last = 0;
	int ret;

	while (!(ret = vmm_alloc_uar(vmm, 0, &page)))
		last = page;
	EXPECT_EQ(0xf, ret);
	EXPECT_EQ(8192 - 16, vmm_count(vmm, "alive", "uar"));
	ASSERT_EQ(0, dealloc(vmm, 0, last));
	EXPECT_EQ(0, vmm_alloc_uar(vmm, 0, &page));
	EXPECT_EQ(last, page);
}

TEST_F(uar, reset_clears_counters_and_keeps_objects)
{
	struct vmm *vmm = &self->vmm;

	doorbell(vmm, self->page, SLOT0, self->qpn);
	EXPECT_EQ(1, vmm_slot(vmm, self->page, 0, "doorbells"));
	json_object_put(vmm_control(vmm, "{\"op\":\"reset\"}"));
	EXPECT_EQ(0, vmm_slot(vmm, self->page, 0, "doorbells"));
	EXPECT_EQ(2, vmm_count(vmm, "alive", "uar"));
	EXPECT_EQ(2, vmm_count(vmm, "alive", "qp"));
}

/* How many UAR pages a page of the driver has, as the device says; -1 for an error. */
static int uars_per_page(struct vmm *vmm)
{
	static uint8_t out[IFC_SZ(query_hca_cap_out)];
	uint8_t ask[IFC_SZ(query_hca_cap_in)] = { 0 };

	IFC_SET(query_hca_cap_in, ask, opcode, MLX5_CMD_OP_QUERY_HCA_CAP);
	IFC_SET(query_hca_cap_in, ask, op_mod, 1);
	if (vmm_cmd(vmm, ask, sizeof(ask), out, sizeof(out)))
		return -1;
	return IFC_GET(cmd_hca_cap,
		       IFC_ADDR_OF(query_hca_cap_out, out, capability),
		       num_of_uars_per_page);
}

/* Ask for UAR pages of 4 KiB, as a driver whose pages have 4 KiB << @log. */
static int small_uars(struct vmm *vmm, unsigned int log, bool small)
{
	static uint8_t out[IFC_SZ(query_hca_cap_out)];
	static uint8_t in[IFC_SZ(set_hca_cap_in)];
	uint8_t ask[IFC_SZ(query_hca_cap_in)] = { 0 }, done[16], *cap;
	int ret;

	IFC_SET(query_hca_cap_in, ask, opcode, MLX5_CMD_OP_QUERY_HCA_CAP);
	IFC_SET(query_hca_cap_in, ask, op_mod, 1);
	ret = vmm_cmd(vmm, ask, sizeof(ask), out, sizeof(out));
	if (ret)
		return ret;
	memset(in, 0, sizeof(in));
	cap = IFC_ADDR_OF(set_hca_cap_in, in, capability);
	memcpy(cap, IFC_ADDR_OF(query_hca_cap_out, out, capability),
	       sizeof(in) - IFC_OFF(set_hca_cap_in, capability));
	IFC_SET(set_hca_cap_in, in, opcode, MLX5_CMD_OP_SET_HCA_CAP);
	IFC_SET(cmd_hca_cap, cap, uar_4k, small);
	IFC_SET(cmd_hca_cap, cap, log_uar_page_sz, log);
	return vmm_cmd(vmm, in, sizeof(in), done, sizeof(done));
}

TEST_F(uar, larger_pages_of_the_driver_have_several_uar_pages)
{
	struct vmm *vmm = &self->vmm;
	long before = vmm_count(vmm, "alive", "uar");
	uint32_t first, second, qpn;

	EXPECT_EQ(1, uars_per_page(vmm));
	ASSERT_EQ(0, small_uars(vmm, 2, true));
	EXPECT_EQ(4, uars_per_page(vmm));
	ASSERT_EQ(0, vmm_alloc_uar(vmm, 0, &first));
	ASSERT_EQ(0, vmm_alloc_uar(vmm, 0, &second));
	EXPECT_EQ(0, first % 4);
	EXPECT_EQ(0, second % 4);
	EXPECT_NE(first, second);
	EXPECT_EQ(before + 8, vmm_count(vmm, "alive", "uar"));
	ASSERT_EQ(0, vmm_ready_qp(vmm, &self->drv, first + 3, &qpn));
	doorbell(vmm, first + 3, SLOT0, qpn);
	EXPECT_EQ(1, vmm_slot(vmm, first + 3, 0, "doorbells"));
	EXPECT_EQ(0x5, dealloc(vmm, 0, second + 1));
	EXPECT_EQ(0, dealloc(vmm, 0, second));
	EXPECT_EQ(before + 4, vmm_count(vmm, "alive", "uar"));
	EXPECT_EQ(0, destroy_qp(vmm, qpn));
}

TEST_F(uar, without_uar_4k_a_uar_page_is_as_large_as_a_page)
{
	struct vmm *vmm = &self->vmm;
	uint32_t page, qpn;

	ASSERT_EQ(0, small_uars(vmm, 2, false));
	EXPECT_EQ(1, uars_per_page(vmm));
	ASSERT_EQ(0, vmm_alloc_uar(vmm, 0, &page));
	ASSERT_EQ(0, vmm_ready_qp(vmm, &self->drv, page, &qpn));
	doorbell(vmm, page * 4, SLOT0, qpn);
	EXPECT_EQ(1, vmm_slot(vmm, page, 0, "doorbells"));
	doorbell(vmm, page * 4 + 1, SLOT0, qpn);
	EXPECT_EQ(1, vmm_slot(vmm, page, 0, "doorbells"));
	EXPECT_EQ(1, vmm_count(vmm, "errors", "dead_uar"));
	EXPECT_NE(0, small_uars(vmm, 5, true));
}

TEST_HARNESS_MAIN
