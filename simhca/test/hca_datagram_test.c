// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Objects and data without a VMM: UD, Q_Keys, multicast.
 */
#include <string.h>

#include "test/unit/pair.h"

#define OK W_SIGNALED
#define QKEY 0x1234
#define QP1_QKEY 0x80010000
#define GRH 40
#define MLID 0xc001

static const struct w_qp_attr ud_attr = {
	.type = QP_UD,
	.qkey = QKEY,
};

static const uint8_t mgid[16] = { 0xff, 0x12, [15] = 7 };

static void send_to(struct pair *p, const struct wqe_av *av, uint32_t len)
{
	struct w_wqe w;

	w_wqe(&w, &p->qp[0], WQE_OP_SEND, OK, 0);
	w_add(&w, av, sizeof(*av));
	w_data(&w, p->mem[0], len, p->key[0]);
	w_post(&p->qp[0], &w);
	w_ring(&p->qp[0]);
}

static struct wqe_av unicast(struct pair *p, uint32_t qkey)
{
	return (struct wqe_av){
		.qkey = htobe32(qkey),
		.dqpn = htobe32(p->qp[1].qpn | WQE_AV_EXTENDED),
		.rlid = htobe16(2),
		.stat_rate_sl = 3,
	};
}

static void a_datagram_leaves_room_for_a_grh(void)
{
	struct wqe_av av;
	struct pair p;
	struct cqe cqe;

	CHECK(pair_connect(&p, &ud_attr));
	av = unicast(&p, QKEY);
	pair_fill(&p, 0, 100, 2);
	w_recv(&p.qp[1], p.mem[1], 4096, p.key[1]);
	send_to(&p, &av, 100);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(be32toh(cqe.byte_cnt), 100 + GRH);
	CHECK_EQ(be32toh(cqe.flags_rqpn) & 0xffffff, p.qp[0].qpn);
	CHECK_EQ(be32toh(cqe.flags_rqpn) >> 24, 3);	/* SL, no GRH */
	CHECK_EQ(be16toh(cqe.slid), 1);
	CHECK(!memcmp(w_at(1, p.mem[1] + GRH), w_at(0, p.mem[0]), 100));
}

static void a_grh_has_what_its_sender_gave(void)
{
	/* version 6, class 0x2a, flow label 0x54321; length 64 and 0x1b; 9 hops */
	static const uint8_t begin[] = {
		0x62, 0xa5, 0x43, 0x21, 0, 64, 0x1b, 9,
	};
	struct wqe_av av;
	struct pair p;
	struct cqe cqe;

	CHECK(pair_connect(&p, &ud_attr));
	av = unicast(&p, QKEY);
	av.grh_gid_fl = htobe32(WQE_AV_GRH | 0x54321);
	av.tclass = 0x2a;
	av.hop_limit = 9;
	w_recv(&p.qp[1], p.mem[1], 4096, p.key[1]);
	send_to(&p, &av, 64);
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK(be32toh(cqe.flags_rqpn) & CQE_GRH_IN_BUFFER);
	CHECK(!memcmp(w_at(1, p.mem[1]), begin, sizeof(begin)));
}

static void another_partition_is_dropped(void)
{
	struct w_qp_attr attr = ud_attr;
	struct wqe_av av;
	struct pair p;
	struct cqe cqe;

	CHECK(pair_make(&p, &attr));
	CHECK_EQ(w_qp_rts(&p.qp[0], &attr, &p.qp[1]), 0);
	attr.pkey_index = 1;
	CHECK_EQ(w_qp_rts(&p.qp[1], &attr, &p.qp[0]), 0);
	w_recv(&p.qp[1], p.mem[1], 4096, p.key[1]);
	av = unicast(&p, QKEY);
	send_to(&p, &av, 100);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	CHECK(!w_poll(&p.rcq[1], &cqe));
}

static void a_wrong_qkey_is_dropped(void)
{
	struct wqe_av av;
	struct pair p;
	struct cqe cqe;

	CHECK(pair_connect(&p, &ud_attr));
	w_recv(&p.qp[1], p.mem[1], 4096, p.key[1]);
	av = unicast(&p, QKEY + 1);
	send_to(&p, &av, 100);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	CHECK(!w_poll(&p.rcq[1], &cqe));
	av = unicast(&p, 0x80000000);	/* "the QP's own" */
	send_to(&p, &av, 100);
	CHECK(w_poll(&p.rcq[1], &cqe));
}

/* Drivers send from QP1, to QP1 of another port, "with the QP's own". */
static void qp1_has_a_qkey_of_its_own(void)
{
	static const struct w_qp_attr qp1 = {
		.type = QP_QP1,
		.qkey = QP1_QKEY,
	};
	struct wqe_av av;
	struct pair p;
	struct cqe cqe;

	CHECK(pair_connect(&p, &qp1));
	w_recv(&p.qp[1], p.mem[1], 4096, p.key[1]);
	av = unicast(&p, 0x80000000);
	av.dqpn = htobe32(1 | WQE_AV_EXTENDED);
	send_to(&p, &av, 100);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(be32toh(cqe.flags_rqpn) & 0xffffff, 1);
}

static void without_a_receive_it_is_dropped(void)
{
	struct wqe_av av;
	struct pair p;

	CHECK(pair_connect(&p, &ud_attr));
	av = unicast(&p, QKEY);
	send_to(&p, &av, 100);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	CHECK_EQ(w_qp_state(&p.qp[1]), QP_RTS);
}

static void a_short_receive_is_an_error_of_the_receiver(void)
{
	struct wqe_av av;
	struct pair p;
	struct cqe cqe;

	CHECK(pair_connect(&p, &ud_attr));
	av = unicast(&p, QKEY);
	w_recv(&p.qp[1], p.mem[1], 100 + GRH - 1, p.key[1]);
	send_to(&p, &av, 100);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(cqe.syndrome, SYND_LOCAL_LENGTH);
}

static void more_than_the_mtu_is_an_error_of_the_sender(void)
{
	struct wqe_av av;
	struct pair p;

	CHECK(pair_connect(&p, &ud_attr));
	av = unicast(&p, QKEY);
	send_to(&p, &av, 4097);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_LOCAL_LENGTH);
	CHECK_EQ(w_qp_state(&p.qp[0]), QP_SQER);
	CHECK_EQ(w_qp_simple(&p.qp[0], MLX5_CMD_OP_SQERR2RTS_QP), 0);
	send_to(&p, &av, 4096);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
}

/* Drivers take QP1 back to RTS from there, as any QP of datagrams. */
static void a_management_qp_ends_in_sq_error(void)
{
	static const struct w_qp_attr qp1 = {
		.type = QP_QP1,
		.qkey = QP1_QKEY,
	};
	struct wqe_av av;
	struct pair p;
	uint32_t key;

	CHECK(pair_connect(&p, &qp1));
	av = unicast(&p, 0x80000000);
	key = p.key[0]++;
	send_to(&p, &av, 64);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_LOCAL_PROT);
	CHECK_EQ(w_qp_state(&p.qp[0]), QP_SQER);
	CHECK_EQ(w_qp_simple(&p.qp[0], MLX5_CMD_OP_SQERR2RTS_QP), 0);
	p.key[0] = key;
	send_to(&p, &av, 64);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
}

/* Management packets have a lane of their own, which is QP0's. */
static void qp0_hears_qp0_alone(void)
{
	static const struct w_qp_attr qp0 = { .type = QP_QP0 };
	struct pair p, management;
	struct wqe_av av;
	struct cqe cqe;

	CHECK(pair_connect(&p, &ud_attr));
	CHECK(pair_connect(&management, &qp0));
	w_recv(&management.qp[1], management.mem[1], 4096, management.key[1]);
	av = unicast(&p, 0);
	av.dqpn = htobe32(0 | WQE_AV_EXTENDED);
	send_to(&p, &av, 64);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	CHECK(!w_poll(&management.rcq[1], &cqe));
	send_to(&management, &av, 64);
	CHECK_EQ(pair_syndrome(&management, 0), SYND_OK);
	CHECK(w_poll(&management.rcq[1], &cqe));
}

static uint8_t group(const struct w_qp *qp, uint16_t opcode)
{
	uint8_t in[IFC_SZ(attach_to_mcg_in)] = { 0 };

	IFC_SET(attach_to_mcg_in, in, qpn, qp->qpn);
	memcpy(IFC_ADDR_OF(attach_to_mcg_in, in, multicast_gid), mgid,
	       sizeof(mgid));
	return w_cmd(qp->hca, mcg_cmds, opcode, 0, 0, in, sizeof(in), NULL, 0);
}

static struct wqe_av to_group(void)
{
	struct wqe_av av = {
		.qkey = htobe32(QKEY),
		.dqpn = htobe32(0xffffff | WQE_AV_EXTENDED),
		.rlid = htobe16(MLID),
		.grh_gid_fl = htobe32(WQE_AV_GRH),
	};

	memcpy(av.rgid, mgid, sizeof(mgid));
	return av;
}

static void a_group_gets_what_is_sent_to_it(void)
{
	struct wqe_av av = to_group();
	struct pair p;
	struct cqe cqe;
	unsigned int i;

	CHECK(pair_connect(&p, &ud_attr));
	for (i = 0; i < W_HCAS; i++) {
		w_recv(&p.qp[i], p.mem[i] + 1024, 1024, p.key[i]);
		CHECK_EQ(group(&p.qp[i], MLX5_CMD_OP_ATTACH_TO_MCG), 0);
	}
	send_to(&p, &av, 64);
	for (i = 0; i < W_HCAS; i++) {
		CHECK(w_poll(&p.rcq[i], &cqe));
		CHECK(be32toh(cqe.flags_rqpn) & CQE_GRH_IN_BUFFER);
		CHECK(!memcmp(w_at(i, p.mem[i] + 1024 + 24), mgid, 16));
	}
	CHECK_EQ(w_qp_simple(&p.qp[1], MLX5_CMD_OP_DESTROY_QP),
		 CMD_BAD_RES_STATE);
	CHECK_EQ(group(&p.qp[1], MLX5_CMD_OP_DETACH_FROM_MCG), 0);
	CHECK_EQ(group(&p.qp[1], MLX5_CMD_OP_DETACH_FROM_MCG), CMD_BAD_RES);
	w_recv(&p.qp[1], p.mem[1], 1024, p.key[1]);
	send_to(&p, &av, 64);
	CHECK(!w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(w_qp_simple(&p.qp[1], MLX5_CMD_OP_DESTROY_QP), 0);
}

static void a_qp_can_be_spared_what_its_own_adapter_sends(void)
{
	struct w_qp_attr attr = ud_attr;
	struct wqe_av av = to_group();
	struct pair p;
	struct cqe cqe;
	unsigned int i;

	attr.block_lb = true;
	CHECK(pair_connect(&p, &attr));
	for (i = 0; i < W_HCAS; i++) {
		w_recv(&p.qp[i], p.mem[i] + 1024, 1024, p.key[i]);
		CHECK_EQ(group(&p.qp[i], MLX5_CMD_OP_ATTACH_TO_MCG), 0);
	}
	send_to(&p, &av, 64);
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK(!w_poll(&p.rcq[0], &cqe));
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(a_datagram_leaves_room_for_a_grh),
	TEST(a_grh_has_what_its_sender_gave),
	TEST(another_partition_is_dropped),
	TEST(a_wrong_qkey_is_dropped),
	TEST(qp1_has_a_qkey_of_its_own),
	TEST(without_a_receive_it_is_dropped),
	TEST(a_short_receive_is_an_error_of_the_receiver),
	TEST(more_than_the_mtu_is_an_error_of_the_sender),
	TEST(a_management_qp_ends_in_sq_error),
	TEST(qp0_hears_qp0_alone),
	TEST(a_group_gets_what_is_sent_to_it),
	TEST(a_qp_can_be_spared_what_its_own_adapter_sends),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
