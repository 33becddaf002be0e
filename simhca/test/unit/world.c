// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Replacements of bus, firmware and fabric; guest memory. See world.h.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bus/dma.h"
#include "data/transport.h"
#include "eth/eth.h"
#include "fabric/fabric.h"
#include "fabric/lag.h"
#include "fabric/line.h"
#include "fabric/mad.h"
#include "fw/caps_odp.h"
#include "fw/eq.h"
#include "test/unit/world.h"

#define W_MTU 5
#define W_PKEY 0xffff

struct hca w_hca[W_HCAS];
struct w_event w_events[W_EVENTS];
unsigned int w_nevents;
bool w_port_down[W_HCAS];
enum w_fault_queue w_fault_queue;
struct w_fault w_faults[W_EVENTS];
unsigned int w_nfaults;

static uint8_t *mem[W_HCAS];
static uint64_t mem_end[W_HCAS];
static uint8_t gids[W_HCAS][16];

bool uar_usable(struct hca *hca, uint32_t index, uint16_t uid)
{
	(void)hca;
	(void)uid;
	return index == W_UAR;
}

void uar_hold(struct hca *hca, uint32_t index)
{
	(void)hca;
	(void)index;
}

void uar_release(struct hca *hca, uint32_t index)
{
	(void)hca;
	(void)index;
}

void eq_hold(struct hca *hca, uint32_t eqn)
{
	(void)hca;
	(void)eqn;
}

void eq_release(struct hca *hca, uint32_t eqn)
{
	(void)hca;
	(void)eqn;
}

static void keep(struct hca *hca, uint8_t type, const void *data)
{
	const struct event_cq_err *cq = data;
	const struct event_qp_srq *qp = data;
	const struct event_comp *comp = data;
	uint32_t number = qp->qp_srq_n;

	if (type == EVENT_COMP)
		number = comp->cqn;
	else if (type == EVENT_CQ_ERROR)
		number = cq->cqn;
	if (w_nevents < W_EVENTS)
		w_events[w_nevents++] = (struct w_event){
			.hca = hca->index,
			.type = type,
			.number = be32toh(number),
		};
}

void eq_post(struct hca *hca, uint32_t eqn, uint8_t type, uint8_t sub_type,
	     const void *data)
{
	(void)eqn;
	(void)sub_type;
	keep(hca, type, data);
}

void eq_post_async(struct hca *hca, uint8_t type, uint8_t sub_type,
		   const void *data)
{
	struct w_fault *f = &w_faults[w_nfaults];

	if (type != EVENT_PAGE_FAULT) {
		keep(hca, type, data);
	} else if (w_nfaults < W_EVENTS) {
		w_nfaults++;
		f->hca = hca->index;
		f->kind = sub_type;
		memcpy(&f->ev, data, sizeof(f->ev));
	}
}

bool eq_for_event(struct hca *hca, uint8_t type, uint32_t *eqn)
{
	(void)hca;
	*eqn = W_EQN;
	return type != EVENT_PAGE_FAULT || w_fault_queue != W_FAULTS_NONE;
}

bool eq_has_room(struct hca *hca, uint32_t eqn)
{
	(void)hca;
	(void)eqn;
	return w_fault_queue != W_FAULTS_FULL;
}

bool eq_exists(struct hca *hca, uint32_t eqn)
{
	(void)hca;
	return eqn == W_EQN;
}

struct hca *fabric_by_lid(uint16_t lid)
{
	return lid >= 1 && lid <= W_HCAS ? &w_hca[lid - 1] : NULL;
}

struct hca *fabric_by_gid(const uint8_t gid[16])
{
	unsigned int i;

	for (i = 0; i < W_HCAS; i++)
		if (!memcmp(gids[i], gid, sizeof(gids[i])))
			return &w_hca[i];
	return NULL;
}

unsigned int fabric_hcas(void)
{
	return W_HCAS;
}

struct hca *fabric_hca(unsigned int i)
{
	return &w_hca[i];
}

uint16_t port_lid(struct hca *hca)
{
	return hca->index + 1;
}

const uint8_t *port_gid(struct hca *hca)
{
	return gids[hca->index];
}

const void *nic_roce_address(const struct hca *hca, unsigned int index)
{
	(void)hca;
	(void)index;
	return NULL;
}

bool nic_answers(const struct hca *hca, const void *from,
		 const uint8_t gid[16], uint64_t mac)
{
	(void)hca;
	(void)from;
	(void)gid;
	(void)mac;
	return false;
}

bool nic_owns(const struct hca *hca, const void *entry)
{
	(void)hca;
	(void)entry;
	return false;
}

/* The test of the e-switch has the real one. */
__attribute__((weak)) bool flows_admit(const struct hca *hca, bool own)
{
	(void)hca;
	(void)own;
	return true;
}

void nic_count(struct hca *hca, uint32_t set, enum nic_counter which)
{
	(void)hca;
	(void)set;
	(void)which;
}

uint8_t eth_send(struct qp *sq, const struct send_wqe *w)
{
	(void)sq;
	(void)w;
	return SYND_OK;
}

bool port_active(struct hca *hca)
{
	return !w_port_down[hca->index];
}

bool port_link_up(const struct hca *hca)
{
	return !w_port_down[hca->index];
}

uint8_t port_mtu(struct hca *hca)
{
	(void)hca;
	return W_MTU;
}

bool port_pkey(struct hca *hca, unsigned int index, uint16_t *pkey)
{
	static const uint16_t pkeys[] = {
		W_PKEY, W_PKEY ^ 1, W_PKEY & 0x7fff,
	};

	(void)hca;
	if (index >= ARRAY_SIZE(pkeys))
		return false;
	*pkey = pkeys[index];
	return true;
}

enum mad_verdict mad_receive(struct hca *from, const struct ud_packet *pkt,
			     unsigned int segment, struct ud_packet *answer,
			     uint8_t mad[MAD_BYTES])
{
	(void)from;
	(void)pkt;
	(void)segment;
	(void)answer;
	(void)mad;
	return MAD_FORWARD;
}

static void setup_one(unsigned int i)
{
	struct hca *hca = &w_hca[i];
	int fd = memfd_create("guest", MFD_CLOEXEC);

	memset(hca, 0, sizeof(*hca));
	hca->index = i;
	caps_odp_reset(hca);
	memset(gids[i], 0, sizeof(gids[i]));
	gids[i][0] = 0xfe;
	gids[i][15] = i + 1;
	mem_end[i] = SIM_PAGE;
	if (fd < 0 || ftruncate(fd, W_MEM))
		abort();
	mem[i] = mmap(NULL, W_MEM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	hca->dma = dma_create();
	if (mem[i] == MAP_FAILED || !hca->dma ||
	    dma_map(hca->dma, 0, W_MEM, fd, 0, true) || objects_init(hca) || lag_init(hca) ||
	    line_init(hca))
		abort();
	dma_set_master(hca->dma, true);
	close(fd);
}

/**
 * w_setup() - two adapters, all in order
 */
void w_setup(void)
{
	unsigned int i;

	cable_time = (struct cable_time){ 0 };
	w_nevents = 0;
	memset(w_port_down, 0, sizeof(w_port_down));
	w_fault_queue = W_FAULTS_NONE;
	w_nfaults = 0;
	if (loop_init())
		abort();
	loop_simulate_time();
	for (i = 0; i < W_HCAS; i++)
		setup_one(i);
}

/**
 * w_teardown() - free them, whatever the test left behind
 */
void w_teardown(void)
{
	unsigned int i;

	for (i = 0; i < W_HCAS; i++) {
		objects_fini(&w_hca[i]);
		lag_fini(&w_hca[i]);
		line_fini(&w_hca[i]);
		dma_destroy(w_hca[i].dma);
		munmap(mem[i], W_MEM);
	}
	loop_fini();
}

static void stop(struct sim_timer *timer)
{
	(void)timer;
	loop_stop();
}

/**
 * w_run() - let the event loop run
 * @ms: for so long, in the loop's simulated time
 */
void w_run(unsigned int ms)
{
	struct sim_timer timer = { .fire = stop };

	timer_arm(&timer, ms * NSEC_PER_MSEC);
	loop_run();
	timer_cancel(&timer);
}

/**
 * w_event_seen() - did an adapter post this event?
 * @hca: index of the adapter
 * @type: EVENT_*
 * @number: of the CQ, QP or SRQ
 */
bool w_event_seen(unsigned int hca, uint8_t type, uint32_t number)
{
	unsigned int i;

	for (i = 0; i < w_nevents; i++)
		if (w_events[i].hca == hca && w_events[i].type == type &&
		    w_events[i].number == number)
			return true;
	return false;
}

/**
 * w_alloc() - guest memory, zeroed, at the start of a page
 * @hca: index of the adapter
 * @len: bytes
 */
uint64_t w_alloc(unsigned int hca, size_t len)
{
	uint64_t addr = mem_end[hca];

	mem_end[hca] += (len + SIM_PAGE - 1) / SIM_PAGE * SIM_PAGE;
	if (mem_end[hca] > W_MEM)
		abort();
	return addr;
}

/**
 * w_at() - where guest memory is
 * @hca: index of the adapter
 * @addr: guest address
 */
void *w_at(unsigned int hca, uint64_t addr)
{
	return mem[hca] + addr;
}

/**
 * w_cmd() - run a command
 * @hca: index of the adapter
 * @opcode: MLX5_CMD_OP_*
 * @uid: DevX uid
 * @in_len: bytes of it
 * @out: output, may be NULL
 * @out_len: bytes of it
 *
 * Return: the handler's status, or that of an input that is too short
 */
uint8_t w_cmd(unsigned int hca, const struct cmd_def *table, uint16_t opcode,
	      uint16_t op_mod, uint16_t uid, const void *in, size_t in_len,
	      void *out, size_t out_len)
{
	uint8_t scratch[4096] = { 0 };
	struct cmd cmd = {
		.hca = &w_hca[hca],
		.opcode = opcode,
		.op_mod = op_mod,
		.uid = uid,
		.in = in,
		.in_len = in_len,
		.out = out ? out : scratch,
		.out_len = out ? out_len : sizeof(scratch),
	};

	for (; table->handler; table++)
		if (table->opcode == opcode)
			return in_len < table->in_min ? CMD_BAD_INP_LEN :
							table->handler(&cmd);
	return CMD_BAD_OP;
}
