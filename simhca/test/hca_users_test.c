// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Objects and data without a VMM: rights that a user of DevX or verbs must not
 * get. The driver passes commands of users on. It changes only the uid, and the
 * bits that say that memory is a UMEM's. Users write their work requests
 * themselves.
 */
#include <string.h>

#include "test/unit/pair.h"

#define OK W_SIGNALED
#define USER 3

static uint8_t in[4096], out[1024];

/* Run the command in @in as a user, then zero @in. */
static uint8_t user_cmd(const struct cmd_def *table, uint16_t opcode,
			uint16_t op_mod)
{
	uint8_t status = w_cmd(0, table, opcode, op_mod, USER, in, sizeof(in),
			       out, sizeof(out));

	memset(in, 0, sizeof(in));
	return status;
}

static uint8_t user_mkey(bool umem, uint64_t page)
{
	uint8_t *c = IFC_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

	IFC_SET(create_mkey_in, in, mkey_umem_valid, umem);
	IFC_SET(mkc, c, access_mode_1_0, MKEY_MTT);
	IFC_SET(mkc, c, lr, 1);
	IFC_SET(mkc, c, qpn, MKEY_ANY_QP);
	IFC_SET(mkc, c, pd, w_pd(0));
	IFC_SET64(mkc, c, len, SIM_PAGE);
	IFC_SET(mkc, c, log_page_size, 12);
	IFC_SET(mkc, c, translations_octword_size, 1);
	IFC_SET(create_mkey_in, in, translations_octword_actual_size, 1);
	w_put_pas(in + IFC_OFF(create_mkey_in, klm_pas_mtt), page, SIM_PAGE);
	return user_cmd(mkey_cmds, MLX5_CMD_OP_CREATE_MKEY, 0);
}

static uint8_t user_xrc_srq(bool umem, bool dbr_umem, uint64_t page)
{
	uint8_t *c = IFC_ADDR_OF(create_xrc_srq_in, in, xrc_srq_context_entry);
	struct w_cq cq;

	w_cq(&cq, 0, 4);
	IFC_SET(create_xrc_srq_in, in, xrc_srq_umem_valid, umem);
	IFC_SET(xrc_srqc, c, dbr_umem_valid, dbr_umem);
	IFC_SET(xrc_srqc, c, log_xrc_srq_size, 3);
	IFC_SET(xrc_srqc, c, log_rq_stride, 2);
	IFC_SET(xrc_srqc, c, xrcd, w_xrcd(0));
	IFC_SET(xrc_srqc, c, cqn, cq.cqn);
	IFC_SET(xrc_srqc, c, pd, w_pd(0));
	w_put_pas(in + IFC_OFF(create_xrc_srq_in, pas), page, SIM_PAGE);
	return user_cmd(srq_cmds, MLX5_CMD_OP_CREATE_XRC_SRQ, 0);
}

static uint8_t user_sq(bool umem, bool dbr_umem, uint64_t page)
{
	uint8_t *c = IFC_ADDR_OF(create_sq_in, in, ctx);
	uint8_t *wq = IFC_ADDR_OF(sqc, c, wq);
	struct w_cq cq;

	w_cq(&cq, 0, 4);
	IFC_SET(sqc, c, cqn, cq.cqn);
	IFC_SET(wq, wq, wq_umem_valid, umem);
	IFC_SET(wq, wq, dbr_umem_valid, dbr_umem);
	IFC_SET(wq, wq, uar_page, W_UAR);
	IFC_SET(wq, wq, log_wq_stride, 6);
	IFC_SET(wq, wq, log_wq_sz, 4);
	w_put_pas(IFC_ADDR_OF(wq, wq, pas), page, SIM_PAGE);
	return user_cmd(rawq_cmds, MLX5_CMD_OP_CREATE_SQ, 0);
}

/* CREATE_CQ of a user's own, then MODIFY_CQ that resizes it. */
static uint8_t user_resize(bool umem, uint64_t page)
{
	uint8_t *c = IFC_ADDR_OF(create_cq_in, in, cq_context);

	IFC_SET(cqc, c, log_cq_size, 4);
	IFC_SET(cqc, c, uar_page, W_UAR);
	IFC_SET(cqc, c, c_eqn_or_apu_element, W_EQN);
	IFC_SET64(cqc, c, dbr_addr, w_alloc(0, DB_RECORD));
	w_put_pas(in + IFC_OFF(create_cq_in, pas), w_alloc(0, SIM_PAGE),
		  SIM_PAGE);
	w_must(user_cmd(cq_cmds, MLX5_CMD_OP_CREATE_CQ, 0));
	c = IFC_ADDR_OF(modify_cq_in, in, cq_context);
	IFC_SET(modify_cq_in, in, cqn, IFC_GET(create_cq_out, out, cqn));
	IFC_SET(modify_cq_in, in, cq_umem_valid, umem);
	IFC_SET(modify_cq_in, in,
		modify_field_select_resize_field_select.modify_field_select
			.modify_field_select, 1);
	IFC_SET(cqc, c, log_cq_size, 5);
	w_put_pas(in + IFC_OFF(modify_cq_in, pas), page, SIM_PAGE);
	return user_cmd(cq_cmds, MLX5_CMD_OP_MODIFY_CQ, 1);
}

/* Addresses of the driver's are taken: it writes the same commands. */
static void addresses_are_not_taken_for_those_of_a_umem(void)
{
	uint64_t page = w_alloc(0, SIM_PAGE);

	CHECK_EQ(user_mkey(false, page), 0);
	CHECK_EQ(user_mkey(true, page), CMD_BAD_PARAM);
	CHECK_EQ(user_xrc_srq(false, false, page), 0);
	CHECK_EQ(user_xrc_srq(true, false, page), CMD_BAD_PARAM);
	CHECK_EQ(user_xrc_srq(false, true, page), CMD_BAD_PARAM);
	CHECK_EQ(user_sq(false, false, page), 0);
	CHECK_EQ(user_sq(true, false, page), CMD_BAD_PARAM);
	CHECK_EQ(user_sq(false, true, page), CMD_BAD_PARAM);
	CHECK_EQ(user_resize(false, page), 0);
	CHECK_EQ(user_resize(true, page), CMD_BAD_PARAM);
}

/* The status of a CREATE_QP that names no object, by driver and by user. */
static uint8_t create_qp(bool user)
{
	uint8_t status = w_cmd(0, qp_cmds, MLX5_CMD_OP_CREATE_QP, 0,
			       user ? USER : 0, in, IFC_SZ(create_qp_in), out,
			       IFC_SZ(create_qp_out));

	memset(in, 0, sizeof(in));
	return status;
}

static void some_queue_pairs_are_the_drivers(void)
{
	CHECK_EQ(create_qp(true), CMD_BAD_RES);
	IFC_SET(create_qp_in, in, qpc.rlky, 1);
	CHECK_EQ(create_qp(false), CMD_BAD_RES);
	IFC_SET(create_qp_in, in, qpc.rlky, 1);
	CHECK_EQ(create_qp(true), CMD_BAD_PARAM);
	IFC_SET(create_qp_in, in, qpc.fre, 1);
	CHECK_EQ(create_qp(false), CMD_BAD_RES);
	IFC_SET(create_qp_in, in, qpc.fre, 1);
	CHECK_EQ(create_qp(true), CMD_BAD_PARAM);
	IFC_SET(create_qp_in, in, qpc.deth_sqpn, 1);
	CHECK_EQ(create_qp(false), CMD_BAD_RES);
	IFC_SET(create_qp_in, in, qpc.deth_sqpn, 1);
	CHECK_EQ(create_qp(true), CMD_BAD_PARAM);
}

static uint8_t query_mkey(uint16_t uid, uint32_t key)
{
	uint8_t q[IFC_SZ(query_mkey_in)] = { 0 };

	IFC_SET(query_mkey_in, q, mkey_index, key >> 8);
	return w_cmd(0, mkey_cmds, MLX5_CMD_OP_QUERY_MKEY, 0, uid, q, sizeof(q),
		     out, sizeof(out));
}

static void a_memory_key_of_the_drivers_is_not_shown(void)
{
	uint32_t key = w_mkey(0, w_pd(0), w_alloc(0, SIM_PAGE), SIM_PAGE,
			      ACCESS_LOCAL_READ);

	CHECK_EQ(query_mkey(0, key), 0);
	CHECK_EQ(query_mkey(USER, key), CMD_BAD_RES);
}

/* A UMR that puts another page behind the key of the first adapter's memory. */
static uint8_t other_page(struct pair *p, uint64_t page)
{
	struct {
		struct wqe_umr ctrl;
		uint8_t mkc[IFC_SZ(mkc)];
		uint64_t mtt[8];
	} seg = { .ctrl.flags = UMR_INLINE, .ctrl.xlt_octowords = htobe16(4) };
	struct w_wqe w;

	seg.mtt[0] = htobe64(page | MTT_READ | MTT_WRITE);
	w_wqe(&w, &p->qp[0], WQE_OP_UMR, OK, p->key[0]);
	w_add(&w, &seg, sizeof(seg));
	w_post(&p->qp[0], &w);
	w_ring(&p->qp[0]);
	return pair_syndrome(p, 0);
}

static void only_the_driver_changes_lists_of_pages(void)
{
	struct w_qp_attr driver = w_rc_attr;
	uint64_t page = w_alloc(0, SIM_PAGE);
	struct pair p;

	memset(w_at(0, page), 0x5a, 64);
	CHECK(pair_connect(&p, &w_rc_attr));
	CHECK_EQ(other_page(&p, page), SYND_MW_BIND);
	CHECK_EQ(w_qp_state(&p.qp[0]), QP_ERR);

	driver.fre = true;
	CHECK(pair_connect(&p, &driver));
	CHECK_EQ(other_page(&p, page), SYND_OK);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 64);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	CHECK(!memcmp(w_at(1, p.mem[1]), w_at(0, page), 64));
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(addresses_are_not_taken_for_those_of_a_umem),
	TEST(some_queue_pairs_are_the_drivers),
	TEST(a_memory_key_of_the_drivers_is_not_shown),
	TEST(only_the_driver_changes_lists_of_pages),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
