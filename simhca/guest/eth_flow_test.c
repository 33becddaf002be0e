// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: guest, tier: full, hca: 2, link: eth, module: no, timeout: 240
/*
 * Flows of user space on stock mlx5_ib: frames from one adapter to raw packet QPs of
 * the other one. The adapter has executed a send before its completion, so a frame
 * that is not there then was not delivered.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "simhca.h"
#include "patience.h"
#include "verbs.h"

#define FRAMES 16u
#define LEN 128u
#define VLAN 7u
#define PORT 1000u
#define TAG_BYTES 4u
#define RECEIVER 1u	/* HCA */

/* A raw packet QP in RTS, with receive requests. */
struct raw {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *scq, *rcq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t buf[FRAMES * LEN];
};

/* What a flow compares; and a frame that has it. */
struct what {
	uint8_t mac[ETHER_ADDR_LEN];
	unsigned int vlan;	/* 0: no tag */
	uint16_t port;		/* of UDP */
};

static int raw_recv(struct raw *raw, unsigned int i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(raw->buf + i * LEN),
		.length = LEN, .lkey = raw->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	return ibv_post_recv(raw->qp, &wr, &bad);
}

static int raw_ready(struct raw *raw)
{
	unsigned int i;

	if (verbs_qp_connect(raw->qp, 0, NULL))
		return -EIO;
	for (i = 0; i < FRAMES; i++)
		if (raw_recv(raw, i))
			return -EIO;
	return 0;
}

static void raw_close(struct raw *raw)
{
	if (raw->qp)
		ibv_destroy_qp(raw->qp);
	if (raw->mr)
		ibv_dereg_mr(raw->mr);
	if (raw->rcq)
		ibv_destroy_cq(raw->rcq);
	if (raw->scq)
		ibv_destroy_cq(raw->scq);
	if (raw->pd)
		ibv_dealloc_pd(raw->pd);
	if (raw->ctx)
		ibv_close_device(raw->ctx);
	free(raw);
}

static struct raw *raw_open(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RAW_PACKET, .sq_sig_all = 1,
		.cap = { FRAMES, FRAMES, 1, 1 },
	};
	struct raw *raw = calloc(1, sizeof(*raw));

	raw->ctx = ibv_open_device(verbs_find_device(list, name));
	ibv_free_device_list(list);
	raw->pd = raw->ctx ? ibv_alloc_pd(raw->ctx) : NULL;
	if (raw->pd) {
		raw->mr = ibv_reg_mr(raw->pd, raw->buf, sizeof(raw->buf),
				     IBV_ACCESS_LOCAL_WRITE);
		raw->scq = ibv_create_cq(raw->ctx, FRAMES, NULL, NULL, 0);
		raw->rcq = ibv_create_cq(raw->ctx, FRAMES, NULL, NULL, 0);
		attr.send_cq = raw->scq;
		attr.recv_cq = raw->rcq;
		raw->qp = ibv_create_qp(raw->pd, &attr);
	}
	if (raw->qp && raw->mr && !raw_ready(raw))
		return raw;
	raw_close(raw);
	return NULL;
}

/* Frames that arrived since the last call; the last one's length is in @len. */
static int raw_got(struct raw *raw, uint32_t *len)
{
	struct ibv_wc wc;
	int n = 0;

	while (ibv_poll_cq(raw->rcq, 1, &wc) > 0) {
		if (wc.status || raw_recv(raw, (unsigned int)wc.wr_id))
			return -EIO;
		if (len)
			*len = wc.byte_len;
		n++;
	}
	return n;
}

static size_t frame_put(uint8_t *to, const struct what *what)
{
	static const uint8_t from[ETHER_ADDR_LEN] = { 2, 0, 0, 0, 0, 0x11 };
	struct iphdr ip = {
		.version = 4, .ihl = 5, .ttl = 9, .protocol = IPPROTO_UDP,
		.saddr = htonl(0xc0000201), .daddr = htonl(0xc0000202),
	};
	struct udphdr udp = { .dest = htons(what->port) };
	uint16_t tag[2] = { htons(ETHERTYPE_VLAN), htons(what->vlan) };
	uint16_t type = htons(ETHERTYPE_IP);
	size_t at = 2 * ETHER_ADDR_LEN, end;

	memset(to, 0x5a, LEN);
	memcpy(to, what->mac, ETHER_ADDR_LEN);
	memcpy(to + ETHER_ADDR_LEN, from, ETHER_ADDR_LEN);
	if (what->vlan) {
		memcpy(to + at, tag, TAG_BYTES);
		at += TAG_BYTES;
	}
	end = LEN - at - sizeof(type);
	ip.tot_len = htons(end);
	udp.len = htons(end - sizeof(ip));
	memcpy(to + at, &type, sizeof(type));
	memcpy(to + at + sizeof(type), &ip, sizeof(ip));
	memcpy(to + at + sizeof(type) + sizeof(ip), &udp, sizeof(udp));
	return LEN;
}

/* Send one frame and wait until it is sent. */
static int raw_send(struct raw *raw, const struct what *what)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)raw->buf, .lkey = raw->mr->lkey,
		.length = (uint32_t)frame_put(raw->buf, what),
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	}, *bad;
	time_t end = patience_now() + 20;
	struct ibv_wc wc;
	int n;

	if (ibv_post_send(raw->qp, &wr, &bad))
		return -EIO;
	do
		n = ibv_poll_cq(raw->scq, 1, &wc);
	while (!n && patience_now() < end);
	return n == 1 && !wc.status ? 0 : -EIO;
}

/* What ibv_create_flow() wants: the attributes, and the specifications behind them. */
struct flow_attr {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_eth eth;
	struct ibv_flow_spec_ipv4 ip;
	struct ibv_flow_spec_tcp_udp udp;
	union {
		struct ibv_flow_spec_action_drop drop;
		struct ibv_flow_spec_counter_action count;
	};
} __attribute__((packed, aligned(8)));

static struct flow_attr flow_attr(const struct what *what, uint16_t priority)
{
	struct flow_attr flow = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(flow),
			  .priority = priority, .num_of_specs = 3, .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(flow.eth) },
		.ip = { .type = IBV_FLOW_SPEC_IPV4, .size = sizeof(flow.ip) },
		.udp = { .type = IBV_FLOW_SPEC_UDP, .size = sizeof(flow.udp) },
	};

	memcpy(flow.eth.val.dst_mac, what->mac, ETHER_ADDR_LEN);
	memset(flow.eth.mask.dst_mac, 0xff, ETHER_ADDR_LEN);
	flow.eth.val.vlan_tag = htons(what->vlan);
	flow.eth.mask.vlan_tag = what->vlan ? htons(0xfff) : 0;
	flow.udp.val.dst_port = htons(what->port);
	flow.udp.mask.dst_port = htons(0xffff);
	return flow;
}

static struct ibv_flow *flow_create(struct ibv_qp *qp, struct flow_attr *flow)
{
	return ibv_create_flow(qp, (struct ibv_flow_attr *)flow);
}

static struct ibv_flow *flow_add(struct raw *raw, const struct what *what,
				 uint16_t priority)
{
	struct flow_attr flow = flow_attr(what, priority);

	return flow_create(raw->qp, &flow);
}

static struct ibv_flow *flow_drop(struct raw *raw, const struct what *what,
				  uint16_t priority)
{
	struct flow_attr flow = flow_attr(what, priority);

	flow.attr.num_of_specs++;
	flow.drop.type = IBV_FLOW_SPEC_ACTION_DROP;
	flow.drop.size = sizeof(flow.drop);
	return flow_create(raw->qp, &flow);
}

static struct ibv_flow *flow_count(struct raw *raw, const struct what *what,
				   struct ibv_counters *counters)
{
	struct flow_attr flow = flow_attr(what, 0);

	flow.attr.num_of_specs++;
	flow.count.type = IBV_FLOW_SPEC_ACTION_COUNT;
	flow.count.size = sizeof(flow.count);
	flow.count.counters = counters;
	return flow_create(raw->qp, &flow);
}

/* How many of a kind the receiving adapter has. */
static int64_t alive(const char *kind)
{
	struct simhca_view view;
	int64_t n;

	if (simhca_look(RECEIVER, &view))
		return -1;
	n = simhca_alive(&view, kind);
	simhca_view_put(&view);
	return n;
}

static bool becomes(const char *kind, int64_t n)
{
	time_t end = patience_now() + 20;

	while (alive(kind) != n)
		if (patience_now() > end)
			return false;
	return true;
}

/* Bring the netdev of a device up; read its address. */
static int netdev_up(const char *device, uint8_t mac[ETHER_ADDR_LEN])
{
	char words[512];
	unsigned int v[ETHER_ADDR_LEN];
	unsigned int i;
	FILE *pipe;
	int n;

	snprintf(words, sizeof(words),
		 "n=$(echo /sys/class/infiniband/%s/device/net/*); "
		 "ip link set ${n##*/} up; for i in $(seq 100); do "
		 "[ \"$(cat $n/carrier)\" != 1 ] || break; sleep 0.2; done; "
		 "cat $n/address", device);
	pipe = popen(words, "r");
	if (!pipe)
		return -errno;
	n = fscanf(pipe, "%x:%x:%x:%x:%x:%x", v, v + 1, v + 2, v + 3, v + 4,
		   v + 5);
	pclose(pipe);
	for (i = 0; i < ETHER_ADDR_LEN; i++)
		mac[i] = (uint8_t)v[i];
	return n == ETHER_ADDR_LEN ? 0 : -ENODEV;
}

FIXTURE(flows)
{
	struct raw *from, *one, *two;
	struct what what;
	int64_t flows;
	int64_t tables;
	int64_t counters;
};

FIXTURE_SETUP(flows)
{
	uint8_t mac[ETHER_ADDR_LEN];

	self->what = (struct what){ .port = PORT };
	ASSERT_EQ(0, netdev_up("mlx5_0", mac));
	ASSERT_EQ(0, netdev_up("mlx5_1", self->what.mac));
	self->from = raw_open("mlx5_0");
	ASSERT_NE(NULL, self->from);
	self->one = raw_open("mlx5_1");
	ASSERT_NE(NULL, self->one);
	self->two = raw_open("mlx5_1");
	ASSERT_NE(NULL, self->two);
	self->flows = alive("flow");
	self->tables = alive("flow_table");
	self->counters = alive("flow_counter");
	ASSERT_LE(0, self->flows);
}

/* Closing removes what a test has left: tables of the driver stay no longer. */
FIXTURE_TEARDOWN(flows)
{
	raw_close(self->from);
	raw_close(self->one);
	raw_close(self->two);
	EXPECT_TRUE(becomes("flow", self->flows));
	EXPECT_TRUE(becomes("flow_table", self->tables));
	EXPECT_TRUE(becomes("flow_counter", self->counters));
}

TEST_F(flows, a_frame_reaches_the_queue_of_its_flow_alone)
{
	struct what other = self->what;
	uint8_t expected[LEN];
	struct ibv_flow *a, *b;
	uint32_t len = 0;

	other.port++;
	a = flow_add(self->one, &self->what, 0);
	b = flow_add(self->two, &other, 0);
	ASSERT_NE(NULL, a);
	ASSERT_NE(NULL, b);
	EXPECT_EQ(self->flows + 2, alive("flow"));
	ASSERT_EQ(0, raw_send(self->from, &self->what));
	EXPECT_EQ(1, raw_got(self->one, &len));
	EXPECT_EQ(0, raw_got(self->two, NULL));
	EXPECT_EQ(LEN, len);
	frame_put(expected, &self->what);
	EXPECT_EQ(0, memcmp(expected, self->one->buf, LEN));
	ASSERT_EQ(0, raw_send(self->from, &other));
	EXPECT_EQ(0, raw_got(self->one, NULL));
	EXPECT_EQ(1, raw_got(self->two, NULL));
	EXPECT_EQ(0, ibv_destroy_flow(a));
	EXPECT_EQ(0, ibv_destroy_flow(b));
}

TEST_F(flows, another_address_vlan_or_port_is_not_delivered)
{
	struct what what = self->what, wrong;
	struct ibv_flow *flow;

	what.vlan = VLAN;
	flow = flow_add(self->one, &what, 0);
	ASSERT_NE(NULL, flow);
	ASSERT_EQ(0, raw_send(self->from, &what));
	ASSERT_EQ(1, raw_got(self->one, NULL));
	wrong = what;
	wrong.mac[5] ^= 1;
	ASSERT_EQ(0, raw_send(self->from, &wrong));
	wrong = what;
	wrong.vlan++;
	ASSERT_EQ(0, raw_send(self->from, &wrong));
	wrong.vlan = 0;
	ASSERT_EQ(0, raw_send(self->from, &wrong));
	wrong = what;
	wrong.port++;
	ASSERT_EQ(0, raw_send(self->from, &wrong));
	EXPECT_EQ(0, raw_got(self->one, NULL));
	EXPECT_EQ(0, ibv_destroy_flow(flow));
	ASSERT_EQ(0, raw_send(self->from, &what));
	EXPECT_EQ(0, raw_got(self->one, NULL));
}

TEST_F(flows, the_first_priority_wins_and_equal_ones_share)
{
	struct ibv_flow *a, *b;

	a = flow_add(self->one, &self->what, 1);
	b = flow_add(self->two, &self->what, 0);
	ASSERT_NE(NULL, a);
	ASSERT_NE(NULL, b);
	ASSERT_EQ(0, raw_send(self->from, &self->what));
	EXPECT_EQ(0, raw_got(self->one, NULL));
	EXPECT_EQ(1, raw_got(self->two, NULL));
	EXPECT_EQ(0, ibv_destroy_flow(b));
	ASSERT_EQ(0, raw_send(self->from, &self->what));
	EXPECT_EQ(1, raw_got(self->one, NULL));
	EXPECT_EQ(0, raw_got(self->two, NULL));
	/* one entry with two destinations */
	b = flow_add(self->two, &self->what, 1);
	ASSERT_NE(NULL, b);
	EXPECT_EQ(self->flows + 1, alive("flow"));
	ASSERT_EQ(0, raw_send(self->from, &self->what));
	EXPECT_EQ(1, raw_got(self->one, NULL));
	EXPECT_EQ(1, raw_got(self->two, NULL));
	EXPECT_EQ(0, ibv_destroy_flow(a));
	ASSERT_EQ(0, raw_send(self->from, &self->what));
	EXPECT_EQ(0, raw_got(self->one, NULL));
	EXPECT_EQ(1, raw_got(self->two, NULL));
	EXPECT_EQ(0, ibv_destroy_flow(b));
}

TEST_F(flows, what_is_dropped_reaches_nobody)
{
	struct ibv_flow *flow, *drop;

	flow = flow_add(self->one, &self->what, 1);
	drop = flow_drop(self->two, &self->what, 0);
	ASSERT_NE(NULL, flow);
	ASSERT_NE(NULL, drop);
	ASSERT_EQ(0, raw_send(self->from, &self->what));
	EXPECT_EQ(0, raw_got(self->one, NULL));
	EXPECT_EQ(0, raw_got(self->two, NULL));
	EXPECT_EQ(0, ibv_destroy_flow(drop));
	ASSERT_EQ(0, raw_send(self->from, &self->what));
	EXPECT_EQ(1, raw_got(self->one, NULL));
	EXPECT_EQ(0, ibv_destroy_flow(flow));
}

TEST_F(flows, a_counter_counts_the_frames_of_its_flow)
{
	struct ibv_counters_init_attr init = { 0 };
	struct ibv_counter_attach_attr packets = {
		.counter_desc = IBV_COUNTER_PACKETS, .index = 0,
	};
	struct ibv_counter_attach_attr bytes = {
		.counter_desc = IBV_COUNTER_BYTES, .index = 1,
	};
	struct ibv_counters *counters;
	struct what other = self->what;
	struct ibv_flow *flow;
	uint64_t v[2] = { 0 };

	counters = ibv_create_counters(self->one->ctx, &init);
	ASSERT_NE(NULL, counters);
	ASSERT_EQ(0, ibv_attach_counters_point_flow(counters, &packets, NULL));
	ASSERT_EQ(0, ibv_attach_counters_point_flow(counters, &bytes, NULL));
	flow = flow_count(self->one, &self->what, counters);
	ASSERT_NE(NULL, flow);
	EXPECT_EQ(self->counters + 1, alive("flow_counter"));
	other.port++;
	ASSERT_EQ(0, raw_send(self->from, &self->what));
	ASSERT_EQ(0, raw_send(self->from, &other));
	ASSERT_EQ(0, raw_send(self->from, &self->what));
	EXPECT_EQ(2, raw_got(self->one, NULL));
	ASSERT_EQ(0, ibv_read_counters(counters, v, 2, 0));
	EXPECT_EQ(2, v[0]);
	EXPECT_EQ(2 * LEN, v[1]);
	EXPECT_EQ(0, ibv_destroy_flow(flow));
	EXPECT_EQ(0, ibv_destroy_counters(counters));
}

/* Each context has a transport domain: a frame comes back from another one only. */
TEST_F(flows, frames_of_the_own_adapter_arrive_from_another_context)
{
	struct ibv_flow *flow = flow_add(self->one, &self->what, 0);

	ASSERT_NE(NULL, flow);
	ASSERT_EQ(0, raw_send(self->two, &self->what));
	EXPECT_EQ(1, raw_got(self->one, NULL));
	ASSERT_EQ(0, raw_send(self->one, &self->what));
	EXPECT_EQ(0, raw_got(self->one, NULL));
	EXPECT_EQ(0, ibv_destroy_flow(flow));
}

TEST_F(flows, a_killed_owner_leaves_no_flow)
{
	int fds[2], status;
	struct raw *raw;
	char word = 0;
	pid_t pid;

	ASSERT_EQ(0, pipe(fds));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		raw = raw_open("mlx5_1");
		word = raw && flow_add(raw, &self->what, 0) ? 'y' : 'n';
		if (write(fds[1], &word, 1) == 1)
			pause();
		_exit(1);
	}
	ASSERT_EQ(1, read(fds[0], &word, 1));
	EXPECT_EQ('y', word);
	EXPECT_EQ(self->flows + 1, alive("flow"));
	EXPECT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(becomes("flow", self->flows));
	EXPECT_TRUE(becomes("flow_table", self->tables));
	close(fds[0]);
	close(fds[1]);
}

TEST_F(flows, what_is_not_there_is_refused)
{
	struct flow_attr flow = flow_attr(&self->what, 0);

	flow.attr.port = 2;
	EXPECT_EQ(NULL, flow_create(self->one->qp, &flow));
	flow = flow_attr(&self->what, UINT16_MAX);
	EXPECT_EQ(NULL, flow_create(self->one->qp, &flow));
	flow = flow_attr(&self->what, 0);
	flow.attr.type = IBV_FLOW_ATTR_SNIFFER;
	flow.attr.num_of_specs = 0;
	EXPECT_EQ(NULL, flow_create(self->one->qp, &flow));
	EXPECT_EQ(EOPNOTSUPP, errno);
	EXPECT_EQ(self->flows, alive("flow"));
}

TEST_HARNESS_MAIN
