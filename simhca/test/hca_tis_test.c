// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * TISs and the affinity of queues to a port of a card with two, without a VMM.
 */
#include "object/tis.h"
#include "test/unit/pair.h"

#define UID 3
#define OTHER_UID 4
#define PART_LAG (1u << 15)
#define ANY_TIS 999u

static uint32_t domain(uint16_t uid)
{
	uint8_t in[IFC_SZ(alloc_transport_domain_in)] = { 0 };
	uint8_t out[IFC_SZ(alloc_transport_domain_out)];

	w_must(w_cmd(0, pd_cmds, MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN, 0, uid, in,
		     sizeof(in), out, sizeof(out)));
	return IFC_GET(alloc_transport_domain_out, out, transport_domain);
}

static uint8_t create(uint16_t uid, uint32_t td, uint32_t affinity, uint32_t *tisn)
{
	uint8_t in[IFC_SZ(create_tis_in)] = { 0 };
	uint8_t out[IFC_SZ(create_tis_out)] = { 0 }, status;

	IFC_SET(create_tis_in, in, ctx.transport_domain, td);
	IFC_SET(create_tis_in, in, ctx.lag_tx_port_affinity, affinity);
	status = w_cmd(0, tis_cmds, MLX5_CMD_OP_CREATE_TIS, 0, uid, in,
		       sizeof(in), out, sizeof(out));
	*tisn = IFC_GET(create_tis_out, out, tisn);
	return status;
}

static uint8_t modify(uint16_t uid, uint32_t tisn, bool named, uint32_t affinity)
{
	uint8_t in[IFC_SZ(modify_tis_in)] = { 0 };

	IFC_SET(modify_tis_in, in, tisn, tisn);
	IFC_SET(modify_tis_in, in, bitmask.lag_tx_port_affinity, named);
	IFC_SET(modify_tis_in, in, ctx.lag_tx_port_affinity, affinity);
	return w_cmd(0, tis_cmds, MLX5_CMD_OP_MODIFY_TIS, 0, uid, in, sizeof(in),
		     NULL, 0);
}

static uint8_t query(uint16_t uid, uint32_t tisn, uint32_t *td, uint32_t *affinity)
{
	uint8_t in[IFC_SZ(query_tis_in)] = { 0 };
	uint8_t out[IFC_SZ(query_tis_out)] = { 0 }, status;

	IFC_SET(query_tis_in, in, tisn, tisn);
	status = w_cmd(0, tis_cmds, MLX5_CMD_OP_QUERY_TIS, 0, uid, in,
		       sizeof(in), out, sizeof(out));
	*td = IFC_GET(query_tis_out, out, tis_context.transport_domain);
	*affinity = IFC_GET(query_tis_out, out, tis_context.lag_tx_port_affinity);
	return status;
}

static void a_tis_has_an_affinity(void)
{
	uint32_t td, tisn, got_td, affinity;

	w_hca[0].native_port = 1;
	td = domain(UID);
	CHECK_EQ(create(UID, td, 3, &tisn), CMD_BAD_PARAM);
	CHECK_EQ(create(UID, td, 2, &tisn), 0);
	CHECK_EQ(query(UID, tisn, &got_td, &affinity), 0);
	CHECK_EQ(got_td, td);
	CHECK_EQ(affinity, 2);
	CHECK_EQ(tis_affinity(&w_hca[0], tisn), 2);
	CHECK_EQ(modify(UID, tisn, true, 3), CMD_BAD_PARAM);
	CHECK_EQ(modify(UID, tisn, false, 1), 0);
	CHECK_EQ(tis_affinity(&w_hca[0], tisn), 2);
	CHECK_EQ(modify(UID, tisn, true, 1), 0);
	CHECK_EQ(tis_affinity(&w_hca[0], tisn), 1);
	CHECK_EQ(modify(OTHER_UID, tisn, true, 2), CMD_BAD_RES);
	CHECK_EQ(query(OTHER_UID, tisn, &got_td, &affinity), CMD_BAD_RES);
	CHECK_EQ(query(UID, ANY_TIS, &got_td, &affinity), CMD_BAD_RES);
	CHECK_EQ(tis_affinity(&w_hca[0], ANY_TIS), 0);
}

static void one_port_has_no_affinities(void)
{
	uint32_t tisn;

	w_hca[0].native_port = 0;
	CHECK_EQ(create(0, domain(0), 1, &tisn), CMD_BAD_PARAM);
	CHECK_EQ(create(0, domain(0), 0, &tisn), 0);
	CHECK_EQ(modify(0, tisn, true, 1), CMD_BAD_PARAM);
}

static uint8_t change(const struct w_qp *qp, uint32_t affinity)
{
	uint8_t in[IFC_SZ(rts2rts_qp_in)] = { 0 };

	IFC_SET(rts2rts_qp_in, in, qpn, qp->qpn);
	IFC_SET(rts2rts_qp_in, in, opt_param_mask, PART_LAG);
	IFC_SET(rts2rts_qp_in, in, qpc.lag_tx_port_affinity, affinity);
	return w_cmd(0, qp_cmds, MLX5_CMD_OP_RTS2RTS_QP, 0, 0, in, sizeof(in),
		     NULL, 0);
}

static uint8_t begin(const struct w_qp *qp, uint32_t affinity)
{
	uint8_t in[IFC_SZ(rst2init_qp_in)] = { 0 };

	IFC_SET(rst2init_qp_in, in, qpn, qp->qpn);
	IFC_SET(rst2init_qp_in, in, qpc.primary_address_path.vhca_port_num, 1);
	IFC_SET(rst2init_qp_in, in, qpc.lag_tx_port_affinity, affinity);
	return w_cmd(0, qp_cmds, MLX5_CMD_OP_RST2INIT_QP, 0, 0, in, sizeof(in),
		     NULL, 0);
}

static uint32_t of_qp(const struct w_qp *qp)
{
	return IFC_GET(qpc, qp_find(&w_hca[0], qp->qpn, 0)->qpc,
		       lag_tx_port_affinity);
}

static void a_qp_has_an_affinity_from_init_on(void)
{
	struct pair p, q;

	w_hca[0].native_port = 1;
	CHECK(pair_make(&p, &w_rc_attr) && pair_connect(&q, &w_rc_attr));
	CHECK_EQ(begin(&p.qp[0], 3), CMD_BAD_PARAM);
	CHECK_EQ(begin(&p.qp[0], 2), 0);
	CHECK_EQ(of_qp(&p.qp[0]), 2);
	CHECK_EQ(change(&q.qp[0], 3), CMD_BAD_PARAM);
	CHECK_EQ(change(&q.qp[0], 1), 0);
	CHECK_EQ(of_qp(&q.qp[0]), 1);
	w_hca[0].native_port = 0;
	CHECK_EQ(change(&q.qp[0], 1), CMD_BAD_PARAM);
}

static uint8_t destroy(uint32_t tisn)
{
	uint8_t in[IFC_SZ(destroy_tis_in)] = { 0 };

	IFC_SET(destroy_tis_in, in, tisn, tisn);
	return w_cmd(0, tis_cmds, MLX5_CMD_OP_DESTROY_TIS, 0, 0, in, sizeof(in),
		     NULL, 0);
}

/* A bare SQ that names a TIS; 0 where it is refused. */
static uint32_t sq_of(uint32_t tisn)
{
	uint8_t in[IFC_SZ(create_sq_in) + sizeof(uint64_t)] = { 0 };
	uint8_t out[IFC_SZ(create_sq_out)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(create_sq_in, in, ctx);
	uint8_t *wq = IFC_ADDR_OF(sqc, c, wq);
	struct w_cq cq;

	w_cq(&cq, 0, 4);
	IFC_SET(sqc, c, cqn, cq.cqn);
	IFC_SET(sqc, c, tis_lst_sz, 1);
	IFC_SET(sqc, c, tis_num_0, tisn);
	IFC_SET(wq, wq, uar_page, W_UAR);
	IFC_SET(wq, wq, log_wq_stride, 6);
	IFC_SET(wq, wq, log_wq_sz, 4);
	IFC_SET64(wq, wq, dbr_addr, w_alloc(0, DB_RECORD));
	w_put_pas(IFC_ADDR_OF(wq, wq, pas), w_alloc(0, SIM_PAGE), SIM_PAGE);
	if (w_cmd(0, rawq_cmds, MLX5_CMD_OP_CREATE_SQ, 0, 0, in, sizeof(in),
		  out, sizeof(out)))
		return 0;
	return IFC_GET(create_sq_out, out, sqn);
}

static void a_tis_waits_for_its_queues(void)
{
	uint8_t in[IFC_SZ(destroy_sq_in)] = { 0 };
	uint32_t tisn, sqn;

	CHECK_EQ(create(0, domain(0), 0, &tisn), 0);
	CHECK(!sq_of(ANY_TIS));
	sqn = sq_of(tisn);
	CHECK(sqn);
	CHECK_EQ(destroy(tisn), CMD_BAD_RES_STATE);
	IFC_SET(destroy_sq_in, in, sqn, sqn);
	CHECK_EQ(w_cmd(0, rawq_cmds, MLX5_CMD_OP_DESTROY_SQ, 0, 0, in,
		       sizeof(in), NULL, 0), 0);
	CHECK_EQ(destroy(tisn), 0);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(a_tis_has_an_affinity),
	TEST(one_port_has_no_affinities),
	TEST(a_qp_has_an_affinity_from_init_on),
	TEST(a_tis_waits_for_its_queues),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
