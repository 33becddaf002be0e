// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * The formats of completions, without a VMM: entries of 64 and 128 bytes, and padding.
 */
#include <string.h>

#include "test/unit/pair.h"

#define LOG_ENTRIES 4u
#define ENTRIES (1u << LOG_ENTRIES)
#define BIG (2 * CQE_SIZE)
#define FILL 0xaa
#define INVALID 0xf0

/* A CQ with entries of any format, whose memory holds FILL and no completion. */
static uint8_t cq_of_format(struct w_cq *cq, enum cqe_sz format)
{
	uint8_t in[IFC_SZ(create_cq_in) + 64] = { 0 };
	uint8_t out[IFC_SZ(create_cq_out)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(create_cq_in, in, cq_context), *buf, status;
	size_t stride = format == CQE_SZ_64 ? CQE_SIZE : BIG, i, len;

	*cq = (struct w_cq){ .log_size = LOG_ENTRIES };
	cq->buf = w_alloc(0, stride * ENTRIES);
	cq->dbr = w_alloc(0, DB_RECORD);
	buf = w_at(0, cq->buf);
	memset(buf, FILL, stride * ENTRIES);
	for (i = 1; i <= ENTRIES; i++)
		buf[i * stride - 1] = INVALID;
	IFC_SET(cqc, c, log_cq_size, LOG_ENTRIES);
	IFC_SET(cqc, c, cqe_sz, format);
	IFC_SET(cqc, c, uar_page, W_UAR);
	IFC_SET(cqc, c, c_eqn_or_apu_element, W_EQN);
	IFC_SET64(cqc, c, dbr_addr, cq->dbr);
	len = w_put_pas(IFC_ADDR_OF(create_cq_in, in, pas), cq->buf,
			stride * ENTRIES);
	status = w_cmd(0, cq_cmds, MLX5_CMD_OP_CREATE_CQ, 0, 0, in,
		       IFC_OFF(create_cq_in, pas) + len, out, sizeof(out));
	cq->cqn = IFC_GET(create_cq_out, out, cqn);
	return status;
}

/* Complete one request of a QP on the CQ: the adapter then has written an entry. */
static bool complete_on(struct w_cq *cq)
{
	struct w_qp qp;
	struct w_wqe w;

	if (w_qp(&qp, 0, &w_rc_attr, cq, cq) ||
	    w_qp_rts(&qp, &w_rc_attr, &qp))
		return false;
	w_wqe(&w, &qp, WQE_OP_NOP, W_SIGNALED, 0);
	w_post(&qp, &w);
	return w_ring(&qp) == RING_OK;
}

static bool all_are(const uint8_t *p, size_t len, uint8_t value)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != value)
			return false;
	return true;
}

static void an_entry_of_128_bytes_has_its_cqe_in_the_second_half(void)
{
	struct w_cq cq;
	uint8_t *buf;

	CHECK_EQ(cq_of_format(&cq, CQE_SZ_128), 0);
	CHECK(complete_on(&cq));
	buf = w_at(0, cq.buf);
	CHECK_EQ(buf[BIG - 1] >> 4, CQE_REQ);
	CHECK(all_are(buf, CQE_SIZE, FILL));
	CHECK(all_are(buf + BIG, BIG - 1, FILL));
}

static void a_padded_entry_is_written_whole(void)
{
	struct w_cq cq;
	uint8_t *buf;

	CHECK_EQ(cq_of_format(&cq, CQE_SZ_128_PAD), 0);
	CHECK(complete_on(&cq));
	buf = w_at(0, cq.buf);
	CHECK_EQ(buf[BIG - 1] >> 4, CQE_REQ);
	CHECK(all_are(buf, CQE_SIZE, 0));
	CHECK(all_are(buf + BIG, BIG - 1, FILL));
}

static void there_are_no_other_formats(void)
{
	struct w_cq cq;

	CHECK_EQ(cq_of_format(&cq, CQE_SZ_128_PAD + 1), CMD_BAD_PARAM);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(an_entry_of_128_bytes_has_its_cqe_in_the_second_half),
	TEST(a_padded_entry_is_written_whole),
	TEST(there_are_no_other_formats),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
