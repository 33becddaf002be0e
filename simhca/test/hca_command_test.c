// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * runs on: host, tier: full, timeout: 300
 *
 * The command interface, pages, event queues, injected faults and recovery of
 * simhca.
 */
#include <errno.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "test/unit/vmm.h"

#include "kselftest_harness.h"

#define BAD_OP 0x2
#define BAD_PARAM 0x3
#define BAD_RES 0x5
#define BAD_RES_STATE 0x9
#define BAD_INP_LEN 0x50
#define BAD_OUTP_LEN 0x51
#define PORT_EVENT MLX5_EVENT_TYPE_CODING_PORT_STATE_CHANGE
#define EQE 64u
#define SYND_AT 0x23c	/* the dword of the syndrome */

FIXTURE(command)
{
	struct vmm vmm;
	struct vmm_driver drv;
};

FIXTURE_SETUP(command)
{
	ASSERT_EQ(0, vmm_start(&self->vmm));
	ASSERT_EQ(0, vmm_connect(&self->vmm));
	ASSERT_EQ(0, vmm_probe(&self->vmm, &self->drv));
}

FIXTURE_TEARDOWN(command)
{
	EXPECT_EQ(0, vmm_stop(&self->vmm));
}

static int simple(struct vmm *vmm, uint16_t opcode, size_t in_len,
		  size_t out_len)
{
	uint8_t in[64] = { 0 }, out[128];

	IFC_SET(cmd_in, in, opcode, opcode);
	return vmm_cmd(vmm, in, in_len, out, out_len);
}

/* Ask for something by JSON; it must work. */
static bool ask(struct vmm *vmm, const char *request)
{
	struct json_object *o = vmm_control(vmm, request), *ok;
	bool good = o && json_object_object_get_ex(o, "ok", &ok) &&
		    json_object_get_boolean(ok);

	json_object_put(o);
	return good;
}

#define NONE 200	/* ms to wait for an interrupt that must not come */
#define SOON 20000	/* ms to wait for an interrupt that must come */

/* Did an interrupt come on vector 1? */
static bool interrupted(struct vmm *vmm, int ms)
{
	struct pollfd pfd = { .fd = vmm->irqs[1], .events = POLLIN };
	uint64_t n;

	return poll(&pfd, 1, ms) == 1 && read(pfd.fd, &n, 8) == 8;
}

static void arm(struct vmm *vmm, const struct vmm_driver *drv, uint32_t ci)
{
	uint32_t val = htobe32(drv->eqn << 24 | ci);

	vmm_uar(vmm, drv->uar, 0x40, &val, sizeof(val));
}

TEST_F(command, probe_leaves_no_error)
{
	EXPECT_EQ(0, vmm_count(&self->vmm, "errors", "bad_cmd"));
	EXPECT_EQ(0, vmm_count(&self->vmm, "errors", "dma_fault"));
	EXPECT_EQ(48, vmm_count(&self->vmm, "alive", "page"));
	EXPECT_EQ(1, vmm_count(&self->vmm, "alive", "eq"));
}

TEST_F(command, unknown_and_short_commands_are_refused)
{
	EXPECT_EQ(BAD_OP, simple(&self->vmm, 0xfff, 16, 16));
	EXPECT_EQ(BAD_INP_LEN,
		  simple(&self->vmm, MLX5_CMD_OP_CREATE_EQ, 16, 16));
	EXPECT_EQ(BAD_OUTP_LEN,
		  simple(&self->vmm, MLX5_CMD_OP_QUERY_HCA_CAP, 16, 12));
	EXPECT_EQ(-EIO, simple(&self->vmm, MLX5_CMD_OP_QUERY_ISSI, 4, 16));
	EXPECT_EQ(-EIO, simple(&self->vmm, MLX5_CMD_OP_QUERY_ISSI, 16, 4));
	EXPECT_EQ(2, vmm_count(&self->vmm, "errors", "bad_cmd"));
}

/* Post a command of two mailboxes, spoil one, ring again. */
static int spoiled(struct vmm *vmm, void (*spoil)(uint8_t *entry, uint8_t *box))
{
	uint8_t in[16 + 600] = { 0 }, *e = vmm->ram + vmm->cmdq;
	uint64_t pa;

	IFC_SET(cmd_in, in, opcode, MLX5_CMD_OP_QUERY_ISSI);
	vmm_post(vmm, 0, in, sizeof(in), 16);
	if (!vmm_answered(vmm, 0))
		return -ETIMEDOUT;
	pa = (uint64_t)IFC_GET(cmd_queue_entry, e, input_mailbox_pointer_31_9)
	     << 9;
	spoil(e, vmm->ram + pa);
	IFC_SET(cmd_queue_entry, e, ownership, 1);
	vmm_write_be32(vmm, IFC_OFF(initial_seg, command_doorbell_vector), 1);
	if (!vmm_answered(vmm, 0))
		return -ETIMEDOUT;
	return IFC_GET(cmd_queue_entry, e, status);
}

static void spoil_nothing(uint8_t *entry, uint8_t *box)
{
	(void)entry;
	(void)box;
}

static void spoil_token(uint8_t *entry, uint8_t *box)
{
	(void)entry;
	IFC_SET(cmd_if_box, box, token, 0xee);
}

static void spoil_block(uint8_t *entry, uint8_t *box)
{
	(void)entry;
	IFC_SET(cmd_if_box, box, block_number, 7);
}

static void spoil_next(uint8_t *entry, uint8_t *box)
{
	(void)entry;
	IFC_SET(cmd_if_box, box, next_pointer_63_32, 0xffffffff);
}

static void spoil_loop(uint8_t *entry, uint8_t *box)
{
	IFC_SET(cmd_if_box, box, next_pointer_63_32, 0);
	IFC_SET(cmd_if_box, box, next_pointer_31_10,
		IFC_GET(cmd_queue_entry, entry, input_mailbox_pointer_31_9) >>
			1);
}

static void spoil_length(uint8_t *entry, uint8_t *box)
{
	(void)box;
	IFC_SET(cmd_queue_entry, entry, input_length, 0xffffffff);
}

static void spoil_type(uint8_t *entry, uint8_t *box)
{
	(void)box;
	IFC_SET(cmd_queue_entry, entry, type, 3);
}

TEST_F(command, spoiled_messages_get_a_delivery_status)
{
	EXPECT_EQ(0x0, spoiled(&self->vmm, spoil_nothing));
	EXPECT_EQ(0x2, spoiled(&self->vmm, spoil_token));
	EXPECT_EQ(0x3, spoiled(&self->vmm, spoil_block));
	EXPECT_EQ(0x5, spoiled(&self->vmm, spoil_next));
	EXPECT_EQ(0x3, spoiled(&self->vmm, spoil_loop));
	EXPECT_EQ(0x7, spoiled(&self->vmm, spoil_length));
	EXPECT_EQ(0x10, spoiled(&self->vmm, spoil_type));
	EXPECT_EQ(0, simple(&self->vmm, MLX5_CMD_OP_QUERY_ISSI, 16, 112));
}

TEST_F(command, a_queue_outside_memory_is_survived)
{
	struct vmm *vmm = &self->vmm;

	vmm_write_be32(vmm, 0x10, 0xffff);
	vmm_write_be32(vmm, 0x14, 0xfffff000);
	vmm_write_be32(vmm, 0x18, ~0u);
	EXPECT_LT(0, vmm_count(vmm, "errors", "dma_fault"));
}

TEST_F(command, a_new_queue_forgets_the_old_life)
{
	struct vmm *vmm = &self->vmm;

	ASSERT_EQ(0, vmm_enable(vmm));
	EXPECT_EQ(0, vmm_count(vmm, "alive", "eq"));
	EXPECT_EQ(0, vmm_count(vmm, "alive", "uar"));
	EXPECT_EQ(0, vmm_count(vmm, "alive", "page"));
}

static int manage(struct vmm *vmm, uint16_t how, uint32_t n, uint64_t pa,
		  uint8_t *out, size_t out_len)
{
	uint8_t in[IFC_SZ(manage_pages_in) + 16] = { 0 };

	IFC_SET(manage_pages_in, in, opcode, MLX5_CMD_OP_MANAGE_PAGES);
	IFC_SET(manage_pages_in, in, op_mod, how);
	IFC_SET(manage_pages_in, in, input_num_entries, n);
	IFC_SET64(manage_pages_in, in, pas[0], pa);
	IFC_SET64(manage_pages_in, in, pas[1], pa);
	return vmm_cmd(vmm, in, sizeof(in), out, out_len);
}

TEST_F(command, pages_come_back_as_they_were_given)
{
	uint8_t out[IFC_SZ(manage_pages_out) + 64 * 8];
	struct vmm *vmm = &self->vmm;
	uint64_t pa = vmm_page(vmm, 1);
	unsigned int i;
	bool found = false;

	EXPECT_EQ(BAD_PARAM, manage(vmm, 1, 2, pa, out, 16));
	EXPECT_EQ(BAD_PARAM, manage(vmm, 1, 1, pa + 8, out, 16));
	EXPECT_EQ(BAD_PARAM, manage(vmm, 1, 1, VMM_RAM, out, 16));
	EXPECT_EQ(BAD_INP_LEN, manage(vmm, 1, 3, pa, out, 16));
	EXPECT_EQ(48, vmm_count(vmm, "alive", "page"));
	EXPECT_EQ(0, manage(vmm, 1, 1, pa, out, 16));
	ASSERT_EQ(0, manage(vmm, 2, 20, 0, out, sizeof(out)));
	EXPECT_EQ(20, IFC_GET(manage_pages_out, out, output_num_entries));
	for (i = 0; i < 20; i++)
		found |= IFC_GET64(manage_pages_out, out, pas[i]) == pa;
	EXPECT_TRUE(found);
	ASSERT_EQ(0, manage(vmm, 2, 1000, 0, out, sizeof(out)));
	EXPECT_EQ(29, IFC_GET(manage_pages_out, out, output_num_entries));
	EXPECT_EQ(0, vmm_count(vmm, "alive", "page"));
}

TEST_F(command, pages_that_are_kept_are_told)
{
	EXPECT_EQ(0, vmm_count(&self->vmm, "errors", "pages"));
	EXPECT_EQ(0, simple(&self->vmm, MLX5_CMD_OP_DISABLE_HCA, 16, 16));
	EXPECT_EQ(1, vmm_count(&self->vmm, "errors", "pages"));
}

/* A command that names one object, in the dword behind its header. */
static int named(struct vmm *vmm, uint16_t opcode, uint32_t number)
{
	uint32_t in[4] = { htobe32(opcode << 16), 0, htobe32(number) }, out[4];

	return vmm_cmd(vmm, in, sizeof(in), out, sizeof(out));
}

static int teardown(struct vmm *vmm, uint16_t profile)
{
	uint8_t in[IFC_SZ(teardown_hca_in)] = { 0 };
	uint8_t out[IFC_SZ(teardown_hca_out)];

	IFC_SET(teardown_hca_in, in, opcode, MLX5_CMD_OP_TEARDOWN_HCA);
	IFC_SET(teardown_hca_in, in, profile, profile);
	return vmm_cmd(vmm, in, sizeof(in), out, sizeof(out));
}

TEST_F(command, objects_that_are_left_at_the_end_are_told)
{
	struct vmm *vmm = &self->vmm;

	EXPECT_EQ(0, teardown(vmm, 0));
	EXPECT_EQ(1, vmm_count(vmm, "errors", "leaked"));
	/* They are forgotten: what is left is the UAR page. */
	EXPECT_EQ(0, teardown(vmm, 0));
	EXPECT_EQ(1, vmm_count(vmm, "errors", "leaked"));
	EXPECT_EQ(0, simple(vmm, MLX5_CMD_OP_DISABLE_HCA, 16, 16));
	EXPECT_EQ(2, vmm_count(vmm, "errors", "leaked"));
}

TEST_F(command, a_driver_that_destroys_all_leaves_nothing)
{
	struct vmm *vmm = &self->vmm;

	EXPECT_EQ(0, named(vmm, MLX5_CMD_OP_DEALLOC_PD, self->drv.pd));
	EXPECT_EQ(0, named(vmm, MLX5_CMD_OP_DESTROY_EQ, self->drv.eqn));
	EXPECT_EQ(0, teardown(vmm, 0));
	EXPECT_EQ(0, named(vmm, MLX5_CMD_OP_DEALLOC_UAR, self->drv.uar));
	EXPECT_EQ(0, simple(vmm, MLX5_CMD_OP_DISABLE_HCA, 16, 16));
	EXPECT_EQ(0, vmm_count(vmm, "errors", "leaked"));
}

TEST_F(command, a_driver_in_a_hurry_leaves_what_it_has)
{
	struct vmm *vmm = &self->vmm;

	EXPECT_EQ(0, teardown(vmm, 1));
	EXPECT_EQ(0, vmm_count(vmm, "errors", "leaked"));
	EXPECT_EQ(0, vmm_count(vmm, "alive", "eq"));
}

TEST_F(command, queues_that_are_forgotten_hold_no_page)
{
	struct vmm *vmm = &self->vmm;
	uint32_t qpn;

	ASSERT_EQ(0, vmm_ready_qp(vmm, &self->drv, self->drv.uar, &qpn));
	EXPECT_EQ(0, teardown(vmm, 0));
	EXPECT_EQ(0, named(vmm, MLX5_CMD_OP_DEALLOC_UAR, self->drv.uar));
	EXPECT_EQ(0, vmm_count(vmm, "alive", "uar_held"));
}

#define FIRST_CQ 0x10

TEST_F(command, an_event_queue_waits_for_its_completion_queues)
{
	struct vmm *vmm = &self->vmm;
	uint32_t qpn;

	ASSERT_EQ(0, vmm_ready_qp(vmm, &self->drv, self->drv.uar, &qpn));
	EXPECT_EQ(BAD_RES_STATE, named(vmm, MLX5_CMD_OP_DESTROY_EQ, self->drv.eqn));
	EXPECT_EQ(1, vmm_count(vmm, "alive", "eq"));
	EXPECT_EQ(0, named(vmm, MLX5_CMD_OP_DESTROY_QP, qpn));
	EXPECT_EQ(0, named(vmm, MLX5_CMD_OP_DESTROY_CQ, FIRST_CQ));
	EXPECT_EQ(0, named(vmm, MLX5_CMD_OP_DESTROY_EQ, self->drv.eqn));
}

TEST_F(command, an_armed_queue_interrupts_once)
{
	const uint8_t *eq = self->vmm.ram + self->drv.eq;
	struct vmm *vmm = &self->vmm;

	arm(vmm, &self->drv, 0);
	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"port\","
			     "\"state\":\"down\"}"));
	EXPECT_TRUE(interrupted(vmm, SOON));
	EXPECT_EQ(PORT_EVENT, IFC_GET(eqe, eq, event_type));
	EXPECT_EQ(1, IFC_GET(eqe, eq, event_sub_type));
	EXPECT_EQ(0, IFC_GET(eqe, eq, owner));
	/* not armed */
	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"port\","
			     "\"state\":\"up\"}"));
	EXPECT_EQ(4, IFC_GET(eqe, eq + EQE, event_sub_type));
	EXPECT_FALSE(interrupted(vmm, NONE));
	/* armed with one waiting */
	arm(vmm, &self->drv, 1);
	EXPECT_TRUE(interrupted(vmm, SOON));
}

TEST_F(command, an_overrun_queue_keeps_what_was_not_read)
{
	const uint8_t *eq = self->vmm.ram + self->drv.eq;
	struct vmm *vmm = &self->vmm;
	unsigned int i;

	for (i = 0; i < 18; i++)
		ASSERT_TRUE(ask(vmm, i % 2 ? "{\"op\":\"fault\",\"kind\":"
					     "\"port\",\"state\":\"up\"}" :
					     "{\"op\":\"fault\",\"kind\":"
					     "\"port\",\"state\":\"down\"}"));
	EXPECT_EQ(2, vmm_count(vmm, "errors", "eq_overrun"));
	for (i = 0; i < 16; i++)
		EXPECT_EQ(0, IFC_GET(eqe, eq + i * EQE, owner));
	/* read all: the next one turns the owner bit */
	arm(vmm, &self->drv, 16);
	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"port\","
			     "\"state\":\"down\"}"));
	EXPECT_EQ(1, IFC_GET(eqe, eq, owner));
}

TEST_F(command, bad_event_queues_are_refused)
{
	struct vmm *vmm = &self->vmm;
	uint64_t pa = vmm_page(vmm, 1);
	uint32_t eqn, uar;

	ASSERT_EQ(0, vmm_alloc_uar(vmm, 0, &uar));
	EXPECT_EQ(BAD_RES, vmm_create_eq(vmm, 0x1fff, 4, 0, pa, &eqn));
	EXPECT_EQ(BAD_PARAM, vmm_create_eq(vmm, uar, 31, 0, pa, &eqn));
	EXPECT_EQ(BAD_INP_LEN, vmm_create_eq(vmm, uar, 12, 0, pa, &eqn));
	/* An event type goes to one EQ only. */
	EXPECT_EQ(BAD_PARAM,
		  vmm_create_eq(vmm, uar, 4, 1ull << PORT_EVENT, pa, &eqn));
	EXPECT_EQ(0, vmm_create_eq(vmm, uar, 4, 0, pa, &eqn));
	EXPECT_EQ(2, vmm_count(vmm, "alive", "eq"));
}

/* Its pages may be larger than what it needs of them, and than all memory. */
TEST_F(command, an_event_queue_takes_no_more_of_a_page_than_it_needs)
{
	uint8_t in[IFC_SZ(create_eq_in) + 8] = { 0 };
	uint8_t *ctx = IFC_ADDR_OF(create_eq_in, in, eq_context_entry);
	uint8_t out[IFC_SZ(create_eq_out)];
	struct vmm *vmm = &self->vmm;

	IFC_SET(create_eq_in, in, opcode, MLX5_CMD_OP_CREATE_EQ);
	IFC_SET(eqc, ctx, log_eq_size, 4);
	IFC_SET(eqc, ctx, log_page_size, 31);
	IFC_SET(eqc, ctx, uar_page, self->drv.uar);
	IFC_SET64(create_eq_in, in, pas[0], vmm_page(vmm, 1));
	EXPECT_EQ(0, vmm_cmd(vmm, in, sizeof(in), out, sizeof(out)));
	EXPECT_EQ(2, vmm_count(vmm, "alive", "eq"));
}

TEST_F(command, commands_complete_by_event_where_an_eq_takes_them)
{
	struct vmm *vmm = &self->vmm;
	uint64_t pa = vmm_page(vmm, 1);
	uint32_t eqn, vector;

	ASSERT_EQ(0, vmm_create_eq(
			     vmm, self->drv.uar, 4,
			     1ull << MLX5_EVENT_TYPE_CODING_COMMAND_INTERFACE_COMPLETION,
			     pa, &eqn));
	/* not for the command that made it */
	EXPECT_EQ(0, IFC_GET(eqe, vmm->ram + pa, event_type));
	ASSERT_EQ(0, simple(vmm, MLX5_CMD_OP_QUERY_ISSI, 16, 112));
	/* The event follows the answer; what is asked now comes after both. */
	EXPECT_EQ(2, vmm_count(vmm, "alive", "eq"));
	EXPECT_EQ(0xa, IFC_GET(eqe, vmm->ram + pa, event_type));
	memcpy(&vector, vmm->ram + pa + 32, sizeof(vector));
	EXPECT_EQ(1, be32toh(vector));
}

TEST_F(command, the_nth_command_fails)
{
	struct vmm *vmm = &self->vmm;
	uint32_t uar;

	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"cmd\",\"opcode\":"
			     "\"ALLOC_UAR\",\"nth\":2,\"count\":2,"
			     "\"status\":15}"));
	EXPECT_EQ(0, vmm_alloc_uar(vmm, 0, &uar));
	EXPECT_EQ(15, vmm_alloc_uar(vmm, 0, &uar));
	EXPECT_EQ(15, vmm_alloc_uar(vmm, 0, &uar));
	EXPECT_EQ(0, vmm_alloc_uar(vmm, 0, &uar));
	EXPECT_EQ(3, vmm_count(vmm, "alive", "uar"));
}

TEST_F(command, what_faults_did_is_told_when_they_are_cleared)
{
	struct vmm *vmm = &self->vmm;
	struct json_object *answer;
	uint32_t uar;

	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"cmd\",\"nth\":2,"
			     "\"status\":15}"));
	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"cmd\",\"opcode\":"
			     "\"CREATE_CQ\",\"status\":3}"));
	EXPECT_EQ(0, vmm_alloc_uar(vmm, 0, &uar));
	EXPECT_EQ(15, vmm_alloc_uar(vmm, 0, &uar));
	answer = vmm_control(vmm, "{\"op\":\"clear\"}");
	EXPECT_STREQ("{\"ok\":true,\"waiting\":1,\"hits\":[\"ALLOC_UAR\"]}",
		     json_object_to_json_string_ext(answer,
						    JSON_C_TO_STRING_PLAIN));
	json_object_put(answer);
	answer = vmm_control(vmm, "{\"op\":\"clear\"}");
	EXPECT_STREQ("{\"ok\":true,\"waiting\":0,\"hits\":[]}",
		     json_object_to_json_string_ext(answer,
						    JSON_C_TO_STRING_PLAIN));
	json_object_put(answer);
}

TEST_F(command, a_command_can_be_run_and_yet_fail)
{
	struct vmm *vmm = &self->vmm;
	uint32_t uar;

	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"cmd\",\"status\":9,"
			     "\"run\":\"ALLOC_UAR\"}"));
	EXPECT_EQ(9, vmm_alloc_uar(vmm, 0, &uar));
	EXPECT_EQ(2, vmm_count(vmm, "alive", "uar"));
	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"cmd\",\"status\":9,"
			     "\"run\":\"ALLOC_PD\"}"));
	EXPECT_EQ(9, vmm_alloc_uar(vmm, 0, &uar));
	EXPECT_EQ(2, vmm_count(vmm, "alive", "uar"));
}

TEST_F(command, drivers_are_told_how_long_to_wait)
{
	struct vmm *vmm = &self->vmm;

	EXPECT_EQ(0, vmm_read_be32(vmm, 0xff8));
	EXPECT_EQ(0, vmm_read_be32(vmm, 0xffc));
	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"timeout\","
			     "\"ms\":700}"));
	EXPECT_EQ(700, vmm_read_be32(vmm, 0xff8));
	EXPECT_EQ(2000, vmm_read_be32(vmm, 0xffc));
	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"timeout\","
			     "\"ms\":0}"));
	EXPECT_EQ(0, vmm_read_be32(vmm, 0xffc));
}

static long us_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - then->tv_sec) * 1000000 +
	       (now.tv_nsec - then->tv_nsec) / 1000;
}

TEST_F(command, a_command_is_late_or_never_answered)
{
	struct vmm *vmm = &self->vmm;
	uint8_t in[16] = { 0 }, *e = vmm->ram + vmm->cmdq + 64;
	struct timespec posted;

	IFC_SET(cmd_in, in, opcode, MLX5_CMD_OP_QUERY_ISSI);
	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"delay\",\"us\":"
			     "300000,\"count\":1}"));
	clock_gettime(CLOCK_MONOTONIC, &posted);
	ASSERT_EQ(0, vmm_post(vmm, 1, in, sizeof(in), 112));
	EXPECT_TRUE(vmm_answered(vmm, 1));
	EXPECT_LE(300000, us_since(&posted));
	EXPECT_FALSE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"delay\",\"us\":1,"
			      "\"status\":256}"));
	EXPECT_FALSE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"delay\",\"us\":1,"
			      "\"status\":-1}"));
	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"delay\",\"us\":"
			     "300000,\"count\":1,\"status\":15}"));
	clock_gettime(CLOCK_MONOTONIC, &posted);
	EXPECT_EQ(15, simple(vmm, MLX5_CMD_OP_QUERY_ISSI, 16, 112));
	EXPECT_LE(300000, us_since(&posted));
	EXPECT_EQ(0, simple(vmm, MLX5_CMD_OP_QUERY_ISSI, 16, 112));
	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"cmd\",\"status\":"
			     "\"never\"}"));
	ASSERT_EQ(0, vmm_post(vmm, 1, in, sizeof(in), 112));
	usleep(300000);
	EXPECT_EQ(1, IFC_GET(cmd_queue_entry, e, ownership));
	/* the others go on */
	EXPECT_EQ(0, simple(vmm, MLX5_CMD_OP_QUERY_ISSI, 16, 112));
	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"cmd\",\"status\":"
			     "3,\"count\":0}"));
	EXPECT_EQ(3, simple(vmm, MLX5_CMD_OP_QUERY_ISSI, 16, 112));
	EXPECT_EQ(3, simple(vmm, MLX5_CMD_OP_QUERY_ISSI, 16, 112));
	EXPECT_EQ(1, IFC_GET(cmd_queue_entry, e, ownership));
	ASSERT_TRUE(ask(vmm, "{\"op\":\"clear\"}"));
	EXPECT_EQ(0, IFC_GET(cmd_queue_entry, e, ownership));
	EXPECT_EQ(0x6, IFC_GET(cmd_queue_entry, e, status));
	EXPECT_EQ(0, simple(vmm, MLX5_CMD_OP_QUERY_ISSI, 16, 112));
}

TEST_F(command, after_a_fatal_error_nothing_is_done_until_it_is_reset)
{
	struct vmm *vmm = &self->vmm;
	uint32_t counter, low;

	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"fatal\","
			     "\"syndrome\":1}"));
	EXPECT_NE(0, vmm_read_be32(vmm, SYND_AT) >> 16 & 0xff);
	counter = vmm_read_be32(vmm, 0x1010);
	usleep(50000);
	EXPECT_EQ(counter, vmm_read_be32(vmm, 0x1010));
	EXPECT_EQ(-ETIMEDOUT, simple(vmm, MLX5_CMD_OP_QUERY_ISSI, 16, 112));
	/* a software reset, as the driver does it */
	low = vmm_read_be32(vmm, 0x14) & 0xfffff000;
	ASSERT_EQ(0, vmm_write_be32(vmm, 0x14, low | 7 << 8));
	EXPECT_EQ(1, vmm_read_be32(vmm, 0x14) >> 8 & 7);
	EXPECT_EQ(0, vmm_read_be32(vmm, SYND_AT) >> 16 & 0xff);
	EXPECT_EQ(0, vmm_count(vmm, "alive", "eq"));
	EXPECT_EQ(0, vmm_enable(vmm));
}

/* A NOP that completes, posted and not rung. */
static void post_nop(uint8_t *sq, uint8_t *dbr, uint32_t qpn)
{
	uint64_t ctrl = vmm_ctrl(qpn, 0, 1);
	uint32_t posted = htobe32(1);

	memcpy(sq, &ctrl, sizeof(ctrl));
	sq[11] = 2 << 2;	/* fm_ce_se: a CQE always */
	memcpy(dbr + 4, &posted, sizeof(posted));
}

/* Work that had begun stops, and so does work that waits for the port. */
TEST_F(command, firmware_that_died_leaves_memory_alone)
{
	struct vmm *vmm = &self->vmm;
	uint8_t in[16] = { 0 }, *e = vmm->ram + vmm->cmdq + 64;
	uint8_t *queues, before[4 * VMM_PAGE];
	uint32_t qpn;

	ASSERT_EQ(0, vmm_ready_qp(vmm, &self->drv, self->drv.uar, &qpn));
	/* the last pages: doorbell record and buffer of the CQ, of the QP */
	queues = vmm->ram + vmm->next - sizeof(before);
	post_nop(queues + 3 * VMM_PAGE, queues + 2 * VMM_PAGE, qpn);
	memcpy(before, queues, sizeof(before));
	IFC_SET(cmd_in, in, opcode, MLX5_CMD_OP_QUERY_ISSI);
	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"delay\",\"us\":"
			     "300000,\"count\":1}"));
	ASSERT_EQ(0, vmm_post(vmm, 1, in, sizeof(in), 112));
	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"fatal\"}"));
	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"port\","
			     "\"state\":\"down\"}"));
	ASSERT_TRUE(ask(vmm, "{\"op\":\"fault\",\"kind\":\"port\","
			     "\"state\":\"up\"}"));
	EXPECT_EQ(0, memcmp(before, queues, sizeof(before)));
	usleep(400000);
	EXPECT_EQ(1, IFC_GET(cmd_queue_entry, e, ownership));
}

/* Programs ask for the state of a bond before they make a QP. */
TEST_F(command, there_is_no_bond)
{
	uint8_t in[IFC_SZ(query_lag_in)] = { 0 };
	uint8_t out[IFC_SZ(query_lag_out)];

	IFC_SET(query_lag_in, in, opcode, MLX5_CMD_OP_QUERY_LAG);
	memset(out, 0xff, sizeof(out));
	ASSERT_EQ(0, vmm_cmd(&self->vmm, in, sizeof(in), out, sizeof(out)));
	EXPECT_EQ(0, IFC_GET(query_lag_out, out, ctx.lag_state));
}

/* Clients look at the version before they trust what the other fields mean. */
TEST_F(command, a_dump_has_the_version_of_the_protocol)
{
	struct json_object *of_op, *of_dump, *a = NULL, *b = NULL;

	of_op = vmm_control(&self->vmm, "{\"op\":\"version\"}");
	of_dump = vmm_control(&self->vmm, "{\"op\":\"dump\"}");
	EXPECT_TRUE(json_object_object_get_ex(of_op, "version", &a));
	EXPECT_TRUE(json_object_object_get_ex(of_dump, "version", &b));
	EXPECT_EQ(2, json_object_get_int64(a));
	EXPECT_EQ(2, json_object_get_int64(b));
	json_object_put(of_op);
	json_object_put(of_dump);
}

TEST_F(command, the_log_tells_what_was_run)
{
	struct json_object *o, *log, *op;
	uint32_t uar;

	ASSERT_EQ(0, vmm_alloc_uar(&self->vmm, 0, &uar));
	o = vmm_control(&self->vmm, "{\"op\":\"cmdlog\",\"since\":0}");
	ASSERT_TRUE(json_object_object_get_ex(o, "log", &log));
	ASSERT_LT(0, json_object_array_length(log));
	ASSERT_TRUE(json_object_object_get_ex(
		json_object_array_get_idx(log,
					  json_object_array_length(log) - 1),
		"op", &op));
	EXPECT_STREQ("ALLOC_UAR", json_object_get_string(op));
	json_object_put(o);
}

/* The last event of a trace that a request asks for. */
TEST_F(command, a_trace_has_the_times_of_a_command)
{
	struct json_object *o, *all, *last, *v = NULL;
	uint64_t begun, done;
	uint32_t uar;

	json_object_put(vmm_control(&self->vmm, "{\"op\":\"trace\",\"set\":true}"));
	ASSERT_TRUE(ask(&self->vmm, "{\"op\":\"fault\",\"kind\":\"delay\",\"us\":20000,"
				    "\"count\":1}"));
	ASSERT_EQ(0, vmm_alloc_uar(&self->vmm, 0, &uar));
	o = vmm_control(&self->vmm, "{\"op\":\"trace\"}");
	ASSERT_TRUE(json_object_object_get_ex(o, "trace", &all));
	ASSERT_LT(0, json_object_array_length(all));
	last = json_object_array_get_idx(all, json_object_array_length(all) - 1);
	EXPECT_TRUE(json_object_object_get_ex(last, "op", &v));
	EXPECT_STREQ("ALLOC_UAR", json_object_get_string(v));
	EXPECT_FALSE(json_object_object_get_ex(last, "bytes", &v));
	EXPECT_TRUE(json_object_object_get_ex(last, "failed", &v));
	EXPECT_FALSE(json_object_get_boolean(v));
	EXPECT_TRUE(json_object_object_get_ex(last, "begun", &v));
	begun = json_object_get_int64(v);
	EXPECT_TRUE(json_object_object_get_ex(last, "done", &v));
	done = json_object_get_int64(v);
	EXPECT_TRUE(json_object_object_get_ex(o, "now", &v));
	EXPECT_TRUE(begun && begun + 20000000 <= done && done <= (uint64_t)json_object_get_int64(v));
	json_object_put(o);

	o = vmm_control(&self->vmm, "{\"op\":\"trace\",\"set\":false}");
	EXPECT_TRUE(json_object_object_get_ex(o, "on", &v));
	EXPECT_FALSE(json_object_get_boolean(v));
	json_object_put(o);
	o = vmm_control(&self->vmm, "{\"op\":\"trace\",\"set\":1}");
	EXPECT_TRUE(json_object_object_get_ex(o, "error", &v));
	json_object_put(o);
}

/* What is refused starts no trace. */
TEST_F(command, a_trace_is_not_read_from_where_no_event_is)
{
	static const char *const wrong[] = { "-1", "\"1\"", "1.5", "{}", "null" };
	struct json_object *o, *v = NULL;
	char request[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		snprintf(request, sizeof(request),
			 "{\"op\":\"trace\",\"set\":true,\"since\":%s}", wrong[i]);
		o = vmm_control(&self->vmm, request);
		EXPECT_TRUE(json_object_object_get_ex(o, "error", &v)) {
			TH_LOG("since %s", wrong[i]);
		}
		json_object_put(o);
	}
	o = vmm_control(&self->vmm, "{\"op\":\"trace\"}");
	EXPECT_TRUE(json_object_object_get_ex(o, "on", &v));
	EXPECT_FALSE(json_object_get_boolean(v));
	json_object_put(o);
}

/* Every opcode, with random input of random length. */
TEST_F(command, noise_for_every_command)
{
	static uint8_t in[5000], out[5000];
	struct vmm *vmm = &self->vmm;
	unsigned int seed = 7, opcode, i, round;
	uint32_t uar;
	size_t len;

	for (round = 0; round < 3; round++) {
		for (opcode = 0x100; opcode < 0xb80; opcode++) {
			if (opcode >= 0x200 && opcode < 0x400 && opcode % 16 > 8)
				continue;
			len = 16 + rand_r(&seed) % (round ? 2000 : 200);
			for (i = 0; i < len; i++)
				in[i] = rand_r(&seed) % 3 ? 0 : rand_r(&seed);
			IFC_SET(cmd_in, in, opcode, opcode);
			if (round == 2)
				IFC_SET(create_qp_in, in, uid, 0);
			IFC_SET(cmd_in, in, op_mod, rand_r(&seed) % 4);
			ASSERT_LE(0, vmm_cmd(vmm, in, len, out,
					     round ? 4200 : 300));
		}
	}
	/* it has been disabled on the way, and comes up again */
	ASSERT_EQ(0, vmm_enable(vmm));
	EXPECT_EQ(0, vmm_alloc_uar(vmm, 0, &uar));
}

TEST_HARNESS_MAIN
