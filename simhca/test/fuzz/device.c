// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * libFuzzer target: the whole model with arbitrary input of a VMM and a guest.
 *
 * An input is a list of steps: a vfio-user message, a command (laid out in
 * mailboxes by the target, so that the fuzzer gets beyond the framing), a store
 * to a UAR page, bytes of guest memory, a frame from the cable, a doorbell of
 * the command queue as the input left it. Each input starts from two adapters
 * after a reset, with memory mapped and a few objects made.
 *
 * $SIMHCA_FUZZ_KIND says what the adapters are: ib (the default) or eswitch.
 */
#include <errno.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "adapter.h"
#include "bus/bus.h"
#include "bus/dma.h"
#include "bus/vfio_user.h"
#include "control/control.h"
#include "eth/flow.h"
#include "eth/switch.h"
#include "fabric/fabric.h"
#include "fw/cmd.h"
#include "object/mkey.h"

#define RAM (1u << 20)
#define CMDQ 0x1000u
#define IN_BOXES 0x10000u
#define OUT_BOXES 0x20000u
#define BOX 1024u
#define BOX_DATA 512u
#define MAX_BOXES 8u
#define ENTRY 64u
#define NIC_RX 0u		/* table_type */
#define FDB 4u

static struct hca *hca;
static uint8_t *ram;
static int ram_fd;
static struct sim_timer stop;

/* What is left of the input. */
struct input {
	const uint8_t *at;
	size_t len;
};

static uint32_t take(struct input *in, size_t n)
{
	uint32_t v = 0;

	for (; n && in->len; n--, in->at++, in->len--)
		v = v << 8 | *in->at;
	return v;
}

static const uint8_t *take_bytes(struct input *in, size_t *n)
{
	const uint8_t *at = in->at;

	if (*n > in->len)
		*n = in->len;
	in->at += *n;
	in->len -= *n;
	return at;
}

static void stop_now(struct sim_timer *timer)
{
	(void)timer;
	loop_stop();
}

/* Run the event loop for @ns of simulated time. */
static void turn(uint64_t ns)
{
	stop.fire = stop_now;
	timer_arm(&stop, ns);
	loop_run();
	timer_cancel(&stop);
}

static void boxes(uint32_t pa, const uint8_t *data, size_t len)
{
	unsigned int i;
	uint8_t *box;
	size_t n;

	for (i = 0; i < MAX_BOXES; i++, pa += BOX, data += n, len -= n) {
		box = ram + pa;
		n = len < BOX_DATA ? len : BOX_DATA;
		memset(box, 0, BOX);
		memcpy(box, data, n);
		IFC_SET(cmd_if_box, box, block_number, i);
		IFC_SET(cmd_if_box, box, next_pointer_31_10,
			i + 1 == MAX_BOXES ? 0 : (pa + BOX) >> 10);
	}
}

static void command(const uint8_t *in, size_t len, size_t out_len)
{
	static const uint8_t none[1];
	uint8_t *e = ram + CMDQ;
	size_t head = len < 16 ? len : 16;

	memset(e, 0, ENTRY);
	IFC_SET(cmd_queue_entry, e, type, 7);
	IFC_SET(cmd_queue_entry, e, input_length, len);
	IFC_SET(cmd_queue_entry, e, output_length, out_len);
	memcpy(IFC_ADDR_OF(cmd_queue_entry, e, command_input_inline_data), in,
	       head);
	boxes(IN_BOXES, in + head, len - head);
	boxes(OUT_BOXES, none, 0);
	IFC_SET(cmd_queue_entry, e, input_mailbox_pointer_31_9, IN_BOXES >> 9);
	IFC_SET(cmd_queue_entry, e, output_mailbox_pointer_31_9,
		OUT_BOXES >> 9);
	IFC_SET(cmd_queue_entry, e, ownership, 1);
	cmdq_doorbell(hca, 1);
}

static void plain(uint16_t opcode)
{
	uint8_t in[64] = { 0 };

	IFC_SET(cmd_in, in, opcode, opcode);
	command(in, sizeof(in), 64);
}

static void step_command(struct input *in)
{
	static uint8_t buf[16 + MAX_BOXES * BOX_DATA];
	uint32_t opcode = take(in, 2) % 0xc00;
	size_t len = take(in, 2) % sizeof(buf);
	const uint8_t *data = take_bytes(in, &len);

	memset(buf, 0, sizeof(buf));
	memcpy(buf, data, len);
	IFC_SET(cmd_in, buf, opcode, opcode);
	/* Long enough for every command; missing input bytes are 0. */
	command(buf, len < 2048 ? 2048 : len, 4096);
}

static void step_message(struct input *in)
{
	static struct vfio_user_msg msg;
	int fds[1] = { -1 };
	size_t len;

	msg = (struct vfio_user_msg){ .fds = fds };
	msg.hdr.command = (uint16_t)(take(in, 1) % 20);
	len = take(in, 1);
	msg.body = take_bytes(in, &len);
	msg.len = len;
	if (msg.hdr.command == VFIO_USER_DMA_MAP && len & 1) {
		fds[0] = dup(ram_fd);
		msg.nfds = 1;
	}
	hca->vfio->ready = true;
	vfio_msg_handle(hca->vfio, &msg);
	if (msg.nfds && fds[0] >= 0)
		close(fds[0]);
}

static void step_uar(struct input *in)
{
	uint32_t index = UAR_FIRST + take(in, 1) % 8;
	uint32_t off = take(in, 2) % SIM_PAGE;
	size_t len = 1 + take(in, 1) % 64;
	const uint8_t *data;

	if (len > SIM_PAGE - off)
		len = SIM_PAGE - off;
	data = take_bytes(in, &len);
	pci_bar_write(hca, (uint64_t)index * SIM_PAGE + off, data, len);
}

/* A frame from the cable */
static void step_frame(struct input *in)
{
	static uint8_t frame[2048];
	size_t len = take(in, 2) % sizeof(frame), given = len;
	const uint8_t *data = take_bytes(in, &given);
	struct packet p;

	if (hca->link != LINK_ETH || len < ETH_HEAD)
		return;
	memset(frame, 0, sizeof(frame));
	memcpy(frame, data, given);
	packet_init(&p, frame, len, 0);
	packet_source(&p, VPORT_UPLINK, 0);
	switch_receive(hca, &p);
}

static void step_memory(struct input *in)
{
	uint32_t pa = take(in, 3) % RAM;
	size_t len = 1 + take(in, 1);
	const uint8_t *data;

	if (len > RAM - pa)
		len = RAM - pa;
	data = take_bytes(in, &len);
	memcpy(ram + pa, data, len);
}

/* Execute a command. Return: the first bytes of its answer */
static const uint8_t *call(const uint8_t *in, size_t len)
{
	command(in, len, 4096);
	return IFC_ADDR_OF(cmd_queue_entry, ram + CMDQ,
			   command_output_inline_data);
}

#define CALL(op, in) \
	(IFC_SET(cmd_in, in, opcode, MLX5_CMD_OP_##op), \
	 call(in, sizeof(in)))

/* The first table of a side, whose one entry takes all frames. */
static void make_table(uint32_t type, uint32_t action)
{
	uint8_t table[IFC_SZ(create_flow_table_in)] = { 0 };
	uint8_t root[IFC_SZ(set_flow_table_root_in)] = { 0 };
	uint8_t group[IFC_SZ(create_flow_group_in)] = { 0 };
	uint8_t fte[IFC_SZ(set_fte_in) + 8] = { 0 };
	uint8_t *c = IFC_ADDR_OF(set_fte_in, fte, flow_context);
	uint32_t id;

	IFC_SET(create_flow_table_in, table, table_type, type);
	IFC_SET(create_flow_table_in, table, flow_table_context.log_size, 4);
	id = IFC_GET(create_flow_table_out,
		     CALL(CREATE_FLOW_TABLE, table), table_id);
	IFC_SET(create_flow_group_in, group, table_type, type);
	IFC_SET(create_flow_group_in, group, table_id, id);
	IFC_SET(create_flow_group_in, group, end_flow_index, 3);
	CALL(CREATE_FLOW_GROUP, group);
	IFC_SET(set_fte_in, fte, table_type, type);
	IFC_SET(set_fte_in, fte, table_id, id);
	IFC_SET(flow_context, c, action, action);
	IFC_SET(flow_context, c, destination_list_size,
		action == ACTION_FWD_DEST);
	CALL(SET_FLOW_TABLE_ENTRY, fte);
	IFC_SET(set_flow_table_root_in, root, table_type, type);
	IFC_SET(set_flow_table_root_in, root, table_id, id);
	CALL(SET_FLOW_TABLE_ROOT, root);
}

/* What the steps are about. A driver's commands work after each reset. */
static void make_objects(void)
{
	if (hca->eswitch) {
		make_table(FDB, ACTION_FWD_DEST);
		make_table(NIC_RX, ACTION_DROP);
		if (!switch_on(hca) || !hca->eth->flows.root[FLOW_RX])
			abort();
	}
}

static void reset(void)
{
	unsigned int i;

	for (i = 0; i < fabric_hcas(); i++)
		hca->bus_ops->reset(fabric_hca(i));
	memset(ram, 0, RAM);
	dma_unmap_all(hca->dma);
	dma_map(hca->dma, 0, RAM, ram_fd, 0, true);
	dma_set_master(hca->dma, true);
	faults_clear(hca);
	cmdq_set(hca, CMDQ);
	plain(MLX5_CMD_OP_ENABLE_HCA);
	plain(MLX5_CMD_OP_ALLOC_UAR);
	plain(MLX5_CMD_OP_ALLOC_PD);
	plain(MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN);
	make_objects();
}

static struct adapter_kind kind(void)
{
	const char *name = getenv("SIMHCA_FUZZ_KIND");

	if (!name || !strcmp(name, "ib"))
		return (struct adapter_kind){ .link = LINK_IB };
	if (!strcmp(name, "eswitch"))
		return (struct adapter_kind){ .link = LINK_ETH, .eswitch = true };
	fputs("SIMHCA_FUZZ_KIND is ib or eswitch\n", stderr);
	exit(2);
}

static void init(void)
{
	const struct adapter_kind what = kind();
	char dir[] = "/tmp/simhca-fuzz.XXXXXX";

	ram_fd = memfd_create("ram", MFD_CLOEXEC);
	if (!mkdtemp(dir) || ftruncate(ram_fd, RAM) || loop_init() ||
	    log_open("/dev/null", false) ||
	    adapters_init(2, &what, dir))
		abort();
	ram = mmap(NULL, RAM, PROT_READ | PROT_WRITE, MAP_SHARED, ram_fd, 0);
	hca = fabric_hca(0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	if (!hca)
		init();
	reset();
	while (in.len) {
		switch (take(&in, 1) % 7) {
		case 0:
		case 1:
			step_command(&in);
			break;
		case 2:
			step_message(&in);
			break;
		case 3:
			step_uar(&in);
			break;
		case 4:
			step_memory(&in);
			break;
		case 5:
			cmdq_doorbell(hca, take(&in, 1));
			break;
		case 6:
			step_frame(&in);
			break;
		}
	}
	turn(200 * NSEC_PER_USEC);
	return 0;
}
