// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Scheduling elements, without a VMM: trees of nodes and groups, and QPs in groups that
 * share a rate, in the loop's simulated time.
 */
#include <string.h>

#include "object/general.h"
#include "qos/sched.h"
#include "test/unit/pair.h"

#define UID 3
#define OTHER_UID 4
#define BITS 0x480		/* length of an element's commands */
/* Where they and INIT2INIT_QP have it (offsets in bits) */
#define SELECT 0x80
#define HIERARCHY 0xc0
#define CONTEXT 0x180
#define NODE_TYPE 0x1a8
#define QPC_EXT 0x40
#define MASK 0x840
#define GROUP 0x8a0
#define READ_GROUP 0x8c0
#define QP_BITS 0x8e0
#define MASK_GROUPS 2u

#define NIC 3
#define NODE 0
#define LEAF 4
#define SHARE 1
#define RATE 2
#define ANY_ID 77u

/* At a megabit in a second a message takes 100 ms. */
#define LEN 12500u
#define MS 100u

struct element {
	uint8_t type;
	uint32_t parent;
	uint8_t select;
	uint32_t share;
	uint32_t mbps;
};

static uint8_t out[BITS / 8];
static unsigned int side;	/* the adapter that has the elements */

static uint8_t command(uint16_t opcode, uint16_t uid, uint32_t id, uint8_t *in)
{
	IFC_SET(general_obj_in_cmd_hdr, in, obj_type, GENERAL_SCHED);
	IFC_SET(general_obj_in_cmd_hdr, in, obj_id, id);
	return w_cmd(side, general_cmds, opcode, 0, uid, in, BITS / 8, out,
		     sizeof(out));
}

static void put(uint8_t *in, const struct element *e)
{
	uint8_t *c = in + CONTEXT / 8;

	memset(in, 0, BITS / 8);
	ifc_set32(in, HIERARCHY, 8, NIC);
	ifc_set64(in, SELECT, e->select);
	IFC_SET(scheduling_context, c, element_type, e->type);
	IFC_SET(scheduling_context, c, parent_element_id, e->parent);
	IFC_SET(scheduling_context, c, bw_share, e->share);
	IFC_SET(scheduling_context, c, max_average_bw, e->mbps);
}

static uint8_t create(uint16_t uid, const struct element *e, uint32_t *id)
{
	uint8_t in[BITS / 8], status;

	put(in, e);
	status = command(MLX5_CMD_OP_CREATE_GENERAL_OBJECT, uid, 0, in);
	*id = IFC_GET(general_obj_out_cmd_hdr, out, obj_id);
	return status;
}

static uint8_t modify(uint16_t uid, uint32_t id, const struct element *e)
{
	uint8_t in[BITS / 8];

	put(in, e);
	return command(MLX5_CMD_OP_MODIFY_GENERAL_OBJECT, uid, id, in);
}

static uint8_t simple(uint16_t opcode, uint16_t uid, uint32_t id)
{
	uint8_t in[BITS / 8] = { 0 };

	return command(opcode, uid, id, in);
}

static uint8_t destroy(uint16_t uid, uint32_t id)
{
	return simple(MLX5_CMD_OP_DESTROY_GENERAL_OBJECT, uid, id);
}

static uint32_t element(uint8_t type, uint32_t parent, uint32_t share,
			uint32_t mbps)
{
	struct element e = { type, parent, SHARE | RATE, share, mbps };
	uint32_t id;

	w_must(create(0, &e, &id));
	return id;
}

static uint8_t join(const struct w_qp *qp, uint16_t opcode, uint32_t group,
		    uint32_t read_group)
{
	uint8_t in[QP_BITS / 8] = { 0 };

	IFC_SET(rst2init_qp_in, in, qpn, qp->qpn);
	ifc_set32(in, QPC_EXT, 1, 1);
	ifc_set64(in, MASK, MASK_GROUPS);
	ifc_set32(in, GROUP, 32, group);
	ifc_set32(in, READ_GROUP, 32, read_group);
	return w_cmd(qp->hca, qp_cmds, opcode, 0, 0, in, sizeof(in), NULL, 0);
}

static uint8_t join_rts(const struct w_qp *qp, uint32_t group)
{
	return join(qp, MLX5_CMD_OP_RTS2RTS_QP, group, 0);
}

static void send(struct pair *p, unsigned int n)
{
	while (n--)
		pair_send(p, WQE_OP_RDMA_WRITE, W_SIGNALED, LEN);
}

static void elements_make_a_tree(void)
{
	struct element node = { .type = NODE }, leaf = { .type = LEAF };
	uint32_t root, mid, id;

	CHECK_EQ(create(UID, &node, &root), 0);
	node.parent = root;
	CHECK_EQ(create(OTHER_UID, &node, &id), CMD_BAD_RES);
	CHECK_EQ(create(UID, &node, &mid), 0);
	leaf.parent = mid;
	CHECK_EQ(create(UID, &leaf, &id), 0);
	CHECK_EQ(general_count(w_hca[0].objs), 3);
	/* nothing is below a group, and no group is a root */
	node.parent = id;
	CHECK_EQ(create(UID, &node, &id), CMD_BAD_PARAM);
	node.parent = ANY_ID;
	CHECK_EQ(create(UID, &node, &id), CMD_BAD_RES);
	leaf.parent = 0;
	CHECK_EQ(create(UID, &leaf, &id), CMD_BAD_PARAM);
	CHECK_EQ(destroy(UID, root), CMD_BAD_RES_STATE);
	CHECK_EQ(destroy(OTHER_UID, mid + 1), CMD_BAD_RES);
	CHECK_EQ(destroy(UID, mid + 1), 0);
	CHECK_EQ(destroy(UID, mid), 0);
	CHECK_EQ(destroy(UID, root), 0);
	CHECK_EQ(general_count(w_hca[0].objs), 0);
}

/* Each request looks at all elements, once for each level above its group. */
static void a_tree_has_a_depth(void)
{
	struct element node = { .type = NODE };
	unsigned int i;
	uint32_t id;

	for (i = 0; i < SCHED_DEPTH; i++) {
		CHECK_EQ(create(UID, &node, &id), 0);
		node.parent = id;
	}
	CHECK_EQ(create(UID, &node, &id), CMD_LIM);
	CHECK_EQ(general_count(w_hca[0].objs), SCHED_DEPTH);
}

static void bad_elements_are_refused(void)
{
	struct element e = { .type = NODE };
	uint8_t in[BITS / 8];
	uint32_t id;

	e.type = 1;
	CHECK_EQ(create(0, &e, &id), CMD_BAD_PARAM);
	e.type = NODE;
	e.select = 4;
	CHECK_EQ(create(0, &e, &id), CMD_BAD_PARAM);
	e.select = SHARE;
	e.share = SCHED_SHARE_MAX + 1;
	CHECK_EQ(create(0, &e, &id), CMD_BAD_PARAM);
	e.share = SCHED_SHARE_MAX;
	put(in, &e);
	ifc_set32(in, HIERARCHY, 8, NIC - 1);
	CHECK_EQ(command(MLX5_CMD_OP_CREATE_GENERAL_OBJECT, 0, 0, in),
		 CMD_BAD_PARAM);
	put(in, &e);
	ifc_set32(in, NODE_TYPE, 8, 1);
	CHECK_EQ(command(MLX5_CMD_OP_CREATE_GENERAL_OBJECT, 0, 0, in),
		 CMD_BAD_PARAM);
	w_hca[0].link = LINK_ETH;
	CHECK_EQ(create(0, &e, &id), CMD_BAD_PARAM);
	w_hca[0].link = LINK_IB;
	CHECK_EQ(general_count(w_hca[0].objs), 0);
}

static void the_mask_says_what_changes(void)
{
	struct element e = { NODE, 0, SHARE | RATE, 10, 4 };
	const uint8_t *c = out + CONTEXT / 8;
	uint32_t id;

	CHECK_EQ(create(UID, &e, &id), 0);
	e = (struct element){ NODE, 0, RATE, 99, 5 };
	CHECK_EQ(modify(OTHER_UID, id, &e), CMD_BAD_RES);
	CHECK_EQ(modify(UID, id, &e), 0);
	CHECK_EQ(simple(MLX5_CMD_OP_QUERY_GENERAL_OBJECT, UID, id), 0);
	CHECK_EQ(IFC_GET(scheduling_context, c, bw_share), 10);
	CHECK_EQ(IFC_GET(scheduling_context, c, max_average_bw), 5);
	e.type = LEAF;
	CHECK_EQ(modify(UID, id, &e), CMD_BAD_PARAM);
	e = (struct element){ NODE, 0, SHARE | RATE, SCHED_SHARE_MAX + 1, 6 };
	CHECK_EQ(modify(UID, id, &e), CMD_BAD_PARAM);
	CHECK_EQ(simple(MLX5_CMD_OP_QUERY_GENERAL_OBJECT, UID, id), 0);
	CHECK_EQ(IFC_GET(scheduling_context, c, max_average_bw), 5);
	CHECK_EQ(simple(MLX5_CMD_OP_QUERY_GENERAL_OBJECT, UID, ANY_ID),
		 CMD_BAD_RES);
}

static void a_group_has_its_rate_and_that_of_its_nodes(void)
{
	uint32_t root = element(NODE, 0, 0, 1), leaf = element(LEAF, root, 0, 2);
	struct element none = { NODE, 0, RATE, 0, 0 };
	struct pair p, q;

	CHECK(pair_connect(&p, &w_rc_attr) && pair_connect(&q, &w_rc_attr));
	CHECK_EQ(join_rts(&p.qp[0], leaf), 0);
	send(&p, 4);
	send(&q, 4);
	CHECK_EQ(pair_done(&q), 4);
	CHECK_EQ(pair_done(&p), 1);
	w_run(MS - 5);
	CHECK_EQ(pair_done(&p), 0);
	w_run(10);
	CHECK_EQ(pair_done(&p), 1);
	/* its own rate is twice as high */
	CHECK_EQ(modify(0, root, &none), 0);
	w_run(2 * MS);
	CHECK_EQ(pair_done(&p), 2);
	CHECK_EQ(join_rts(&p.qp[0], 0), 0);
	send(&p, 4);
	CHECK_EQ(pair_done(&p), 4);
}

static void groups_share_a_rate_by_their_shares(void)
{
	uint32_t root = element(NODE, 0, 0, 1);
	struct pair p, q;
	unsigned int np, nq;

	CHECK(pair_connect(&p, &w_rc_attr) && pair_connect(&q, &w_rc_attr));
	CHECK_EQ(join_rts(&p.qp[0], element(LEAF, root, 3, 0)), 0);
	CHECK_EQ(join_rts(&q.qp[0], element(LEAF, root, 1, 0)), 0);
	send(&p, 14);
	send(&q, 14);
	w_run(12 * MS + 5);
	np = pair_done(&p);
	nq = pair_done(&q);
	CHECK(np + nq >= 12 && np + nq <= 13);
	CHECK(np >= 9 && np <= 10);
	/* one that sends alone has all of it, and owes nothing for that */
	w_run(20 * MS);
	CHECK_EQ(pair_done(&p) + pair_done(&q) + np + nq, 28);
	send(&q, 4);
	w_run(4 * MS);
	CHECK_EQ(pair_done(&q), 4);
	send(&p, 4);
	send(&q, 4);
	w_run(4 * MS + 5);
	CHECK(pair_done(&q) >= 1);
}

/* A request that the receiver does not take yet is not one that could be sent. */
static void who_cannot_send_holds_nobody_up(void)
{
	uint32_t root = element(NODE, 0, 0, 0);
	struct pair p, q;

	CHECK(pair_connect(&p, &w_rc_attr) && pair_connect(&q, &w_rc_attr));
	CHECK_EQ(join_rts(&p.qp[0], element(LEAF, root, 1, 0)), 0);
	CHECK_EQ(join_rts(&q.qp[0], element(LEAF, root, 1, 0)), 0);
	send(&q, 4);
	CHECK_EQ(pair_done(&q), 4);
	pair_send(&p, WQE_OP_SEND, W_SIGNALED, LEN);	/* RNR */
	send(&q, 4);
	w_run(3);
	CHECK_EQ(pair_done(&q), 4);
	CHECK_EQ(pair_done(&p), 0);
}

static void what_answers_reads_has_a_rate(void)
{
	struct pair p;
	uint32_t leaf;

	CHECK(pair_connect(&p, &w_rc_attr));
	side = 1;
	leaf = element(LEAF, element(NODE, 0, 0, 1), 0, 0);
	side = 0;
	CHECK_EQ(join(&p.qp[1], MLX5_CMD_OP_RTS2RTS_QP, 0, leaf), 0);
	pair_send(&p, WQE_OP_RDMA_READ, W_SIGNALED, LEN);
	pair_send(&p, WQE_OP_RDMA_READ, W_SIGNALED, LEN);
	CHECK_EQ(pair_done(&p), 1);
	w_run(MS - 5);
	CHECK_EQ(pair_done(&p), 0);
	w_run(10);
	CHECK_EQ(pair_done(&p), 1);
}

static void qps_hold_groups_and_their_type_must_fit(void)
{
	uint32_t root = element(NODE, 0, 0, 0), leaf = element(LEAF, root, 0, 0);
	struct w_qp_attr uc = w_rc_attr;
	struct pair p, q;

	uc.type = QP_UC;
	CHECK(pair_connect(&p, &w_rc_attr) && pair_connect(&q, &uc));
	CHECK_EQ(join_rts(&p.qp[0], root), CMD_BAD_RES);
	CHECK_EQ(join_rts(&p.qp[0], ANY_ID), CMD_BAD_RES);
	CHECK_EQ(join(&p.qp[0], MLX5_CMD_OP_INIT2INIT_QP, leaf, 0),
		 CMD_BAD_QP_STATE);
	CHECK_EQ(join(&q.qp[0], MLX5_CMD_OP_RTS2RTS_QP, leaf, leaf),
		 CMD_BAD_PARAM);
	CHECK_EQ(join_rts(&q.qp[0], leaf), 0);
	CHECK_EQ(join(&p.qp[0], MLX5_CMD_OP_RTS2RTS_QP, leaf, leaf), 0);
	CHECK_EQ(destroy(0, leaf), CMD_BAD_RES_STATE);
	CHECK_EQ(w_qp_simple(&q.qp[0], MLX5_CMD_OP_2RST_QP), 0);
	CHECK_EQ(destroy(0, leaf), CMD_BAD_RES_STATE);
	CHECK_EQ(w_qp_simple(&p.qp[0], MLX5_CMD_OP_DESTROY_QP), 0);
	CHECK_EQ(destroy(0, leaf), 0);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(elements_make_a_tree),
	TEST(a_tree_has_a_depth),
	TEST(bad_elements_are_refused),
	TEST(the_mask_says_what_changes),
	TEST(a_group_has_its_rate_and_that_of_its_nodes),
	TEST(groups_share_a_rate_by_their_shares),
	TEST(who_cannot_send_holds_nobody_up),
	TEST(what_answers_reads_has_a_rate),
	TEST(qps_hold_groups_and_their_type_must_fit),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
