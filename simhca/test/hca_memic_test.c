// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Device memory without a VMM: pieces of it, memory keys for them, and what neither the
 * guest nor a key may reach.
 */
#include <errno.h>
#include <string.h>

#include "bus/bus.h"
#include "object/memic.h"
#include "test/unit/pair.h"

#define PIECE 4096u

enum { INCREMENT, TEST_AND_SET };	/* memic_operation_type */

/* ALLOC_MEMIC in the range that begins @off behind the start; sets @at. */
static uint8_t alloc_aligned(uint64_t off, uint32_t range, uint32_t size,
			     uint32_t log, uint64_t *at)
{
	uint8_t in[IFC_SZ(alloc_memic_in)] = { 0 };
	uint8_t out[IFC_SZ(alloc_memic_out)] = { 0 };
	uint8_t status;

	IFC_SET64(alloc_memic_in, in, range_start_addr,
		  pci_memic_at(&w_hca[0]) + off);
	IFC_SET(alloc_memic_in, in, range_size, range);
	IFC_SET(alloc_memic_in, in, memic_size, size);
	IFC_SET(alloc_memic_in, in, log_memic_addr_alignment, log);
	status = w_cmd(0, memic_cmds, MLX5_CMD_OP_ALLOC_MEMIC, 0, 0, in,
		       sizeof(in), out, sizeof(out));
	*at = IFC_GET64(alloc_memic_out, out, memic_start_addr);
	return status;
}

static uint8_t alloc(uint64_t off, uint32_t range, uint32_t size, uint64_t *at)
{
	return alloc_aligned(off, range, size, 0, at);
}

static uint8_t dealloc(uint64_t at, uint32_t size)
{
	uint8_t in[IFC_SZ(dealloc_memic_in)] = { 0 };

	IFC_SET64(dealloc_memic_in, in, memic_start_addr, at);
	IFC_SET(dealloc_memic_in, in, memic_size, size);
	return w_cmd(0, memic_cmds, MLX5_CMD_OP_DEALLOC_MEMIC, 0, 0, in,
		     sizeof(in), NULL, 0);
}

/* CREATE_MKEY for @len bytes at @at of the BAR; 0 if it is refused. */
static uint32_t memic_mkey(uint32_t pd, uint64_t at, uint64_t len)
{
	uint8_t in[IFC_SZ(create_mkey_in)] = { 0 };
	uint8_t out[IFC_SZ(create_mkey_out)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

	IFC_SET(mkc, c, access_mode_1_0, MKEY_MEMIC & 3);
	IFC_SET(mkc, c, access_mode_4_2, MKEY_MEMIC >> 2);
	IFC_SET(mkc, c, lr, 1);
	IFC_SET(mkc, c, lw, 1);
	IFC_SET(mkc, c, qpn, MKEY_ANY_QP);
	IFC_SET(mkc, c, mkey_7_0, 0x55);
	IFC_SET(mkc, c, pd, pd);
	IFC_SET64(mkc, c, start_addr, at);
	IFC_SET64(mkc, c, len, len);
	if (w_cmd(0, mkey_cmds, MLX5_CMD_OP_CREATE_MKEY, 0, 0, in, sizeof(in),
		  out, sizeof(out)))
		return 0;
	return IFC_GET(create_mkey_out, out, mkey_index) << 8 | 0x55;
}

static void a_key_moves_the_bytes_of_its_piece(void)
{
	uint8_t bytes[PIECE];
	struct pair p;
	uint64_t at;
	uint32_t key;

	CHECK(pair_connect(&p, &w_rc_attr));
	CHECK_EQ(alloc(PIECE, PIECE, PIECE, &at), 0);
	CHECK_EQ(at, pci_memic_at(&w_hca[0]) + PIECE);
	/* the key has all but the first and last 64 bytes, and counts from 0 */
	key = memic_mkey(p.pd[0], at + 64, PIECE - 128);
	CHECK(key);
	pair_fill(&p, 0, PIECE, 5);
	CHECK(!memic_write(&w_hca[0], at, w_at(0, p.mem[0]), PIECE));
	CHECK_EQ(pair_move(&p, WQE_OP_RDMA_WRITE, 36, 1000, key), SYND_OK);
	CHECK(!memcmp(w_at(1, p.mem[1]), w_at(0, p.mem[0] + 100), 1000));

	pair_fill(&p, 1, PIECE, 9);
	CHECK_EQ(pair_move(&p, WQE_OP_RDMA_READ, 0, PIECE - 128, key), SYND_OK);
	CHECK(!memic_read(&w_hca[0], at, bytes, PIECE));
	CHECK(!memcmp(bytes, w_at(0, p.mem[0]), 64));
	CHECK(!memcmp(bytes + 64, w_at(1, p.mem[1]), PIECE - 128));
	CHECK(!memcmp(bytes + PIECE - 64, w_at(0, p.mem[0] + PIECE - 64), 64));
	CHECK_EQ(pair_move(&p, WQE_OP_RDMA_WRITE, 1, PIECE - 128, key),
		 SYND_LOCAL_PROT);
}

static void a_key_of_a_freed_piece_reaches_nothing(void)
{
	struct pair p;
	uint64_t at, again;
	uint32_t key;

	CHECK(pair_connect(&p, &w_rc_attr));
	CHECK_EQ(alloc(0, PIECE, 128, &at), 0);
	CHECK(!memic_mkey(p.pd[0], at, 129));
	CHECK(memic_mkey(p.pd[0], at, 0));
	CHECK(!memic_mkey(p.pd[0], at + PIECE, 64));
	key = memic_mkey(p.pd[0], at, 128);
	CHECK_EQ(pair_move(&p, WQE_OP_RDMA_WRITE, 0, 128, key), SYND_OK);
	CHECK_EQ(dealloc(at, 128), 0);
	CHECK_EQ(pair_move(&p, WQE_OP_RDMA_WRITE, 0, 128, key), SYND_LOCAL_PROT);

	/* Two pieces have these bytes now. */
	CHECK(pair_connect(&p, &w_rc_attr));
	CHECK_EQ(alloc(0, 64, 64, &at), 0);
	CHECK_EQ(alloc(64, 64, 64, &again), 0);
	CHECK_EQ(pair_move(&p, WQE_OP_RDMA_WRITE, 0, 128, key), SYND_LOCAL_PROT);
}

static void pieces_have_nothing_in_common(void)
{
	const uint8_t zeroes[128] = { 0 };
	uint8_t bytes[128] = { 1, [127] = 2 };
	uint64_t at, other;

	CHECK_EQ(alloc(0, PIECE, 128, &at), 0);
	CHECK_EQ(memic_pieces(&w_hca[0]), 1);
	CHECK_EQ(alloc(0, PIECE, 64, &other), CMD_NO_RES);
	CHECK_EQ(alloc(128, PIECE, 64, &other), 0);
	CHECK(!memic_write(&w_hca[0], at, bytes, 128));
	CHECK(!memic_read(&w_hca[0], other, bytes, 64));
	CHECK(!memcmp(bytes, zeroes, 64));
	CHECK_EQ(memic_write(&w_hca[0], at + 64, bytes, 128), -EFAULT);
	CHECK_EQ(memic_read(&w_hca[0], other + 64, bytes, 1), -EFAULT);

	/* only a whole piece is freed, and what it held is gone */
	CHECK_EQ(dealloc(at, 64), CMD_BAD_RES);
	CHECK_EQ(dealloc(at + 64, 64), CMD_BAD_RES);
	CHECK_EQ(dealloc(at, 192), CMD_BAD_RES);
	CHECK_EQ(dealloc(at, 128), 0);
	CHECK_EQ(dealloc(at, 128), CMD_BAD_RES);
	CHECK_EQ(memic_pieces(&w_hca[0]), 1);
	CHECK_EQ(memic_read(&w_hca[0], at, bytes, 128), -EFAULT);
	CHECK_EQ(alloc(0, 128, 128, &at), 0);
	CHECK(!memic_read(&w_hca[0], at, bytes, 128));
	CHECK(!memcmp(bytes, zeroes, 128));
}

static void pieces_are_where_they_may_be(void)
{
	uint64_t at;

	CHECK_EQ(alloc(0, PIECE, 0, &at), CMD_BAD_PARAM);
	CHECK_EQ(alloc(0, PIECE, 96, &at), CMD_BAD_PARAM);
	CHECK_EQ(alloc(0, PIECE, PIECE + 64, &at), CMD_NO_RES);
	CHECK_EQ(alloc(MEMIC_BYTES, 64, 64, &at), CMD_BAD_PARAM);
	CHECK_EQ(alloc(-64, 64, 64, &at), CMD_BAD_PARAM);
	CHECK_EQ(alloc(0, MEMIC_BYTES + 64, 64, &at), CMD_BAD_PARAM);
	CHECK_EQ(alloc_aligned(64, 2048, 1024, 10, &at), 0);
	CHECK_EQ(at, pci_memic_at(&w_hca[0]) + 1024);
	CHECK_EQ(alloc_aligned(64, 1984, 1088, 10, &at), CMD_NO_RES);
	CHECK_EQ(alloc_aligned(0, PIECE, 64, MEMIC_LOG_ALIGN_MAX + 1, &at),
		 CMD_BAD_PARAM);
	CHECK_EQ(alloc(MEMIC_BYTES - 64, 64, 64, &at), 0);
	CHECK_EQ(dealloc(at, 64), 0);
	CHECK_EQ(memic_pieces(&w_hca[0]), 1);

	w_hca[0].function = FUNCTION_VF;
	CHECK_EQ(alloc(0, PIECE, 64, &at), CMD_BAD_PARAM);
	CHECK_EQ(memic_write(&w_hca[0], 1u << 20, &at, 8), -EFAULT);
	w_hca[0].function = FUNCTION_PF;
}

/* MODIFY_MEMIC: an address for operation @op of the piece at @at, or its end */
static uint8_t operation(bool end, uint32_t op, uint64_t at, uint64_t *op_at)
{
	uint8_t in[IFC_SZ(modify_memic_in)] = { 0 };
	uint8_t out[IFC_SZ(modify_memic_out)] = { 0 };
	uint8_t status;

	IFC_SET(modify_memic_in, in, memic_operation_type, op);
	IFC_SET64(modify_memic_in, in, memic_start_addr, at);
	status = w_cmd(0, memic_cmds, MLX5_CMD_OP_MODIFY_MEMIC, end, 0, in,
		       sizeof(in), out, sizeof(out));
	*op_at = IFC_GET64(modify_memic_out, out, memic_operation_addr);
	return status;
}

static void a_byte_is_incremented_and_tested_by_a_store_and_a_load(void)
{
	const uint8_t three = 3;
	uint64_t at, sum, set;
	uint8_t byte = 250;

	CHECK_EQ(alloc(0, PIECE, PIECE, &at), 0);
	CHECK_EQ(operation(false, INCREMENT, at, &sum), 0);
	CHECK_EQ(operation(false, TEST_AND_SET, at, &set), 0);
	CHECK(!memic_write(&w_hca[0], at + 70, &byte, 1));
	CHECK(!memic_write(&w_hca[0], sum + 70, &three, 1));
	CHECK(!memic_read(&w_hca[0], set + 70, &byte, 1));
	CHECK_EQ(byte, 253);
	CHECK(!memic_read(&w_hca[0], at + 70, &byte, 1));
	CHECK_EQ(byte, 1);
	CHECK(!memic_read(&w_hca[0], at + 71, &byte, 1));
	CHECK_EQ(byte, 0);
	/* one byte, and each address for its operation only */
	CHECK_EQ(memic_write(&w_hca[0], sum, &at, 2), -EFAULT);
	CHECK_EQ(memic_read(&w_hca[0], set, &byte, 2), -EFAULT);
	CHECK_EQ(memic_read(&w_hca[0], sum, &byte, 1), -EFAULT);
	CHECK_EQ(memic_write(&w_hca[0], set, &byte, 1), -EFAULT);
}

static void an_operation_has_an_address_until_it_is_freed(void)
{
	uint64_t at, other, op_at, no;
	uint8_t byte = 0;

	CHECK_EQ(alloc(0, PIECE, 128, &at), 0);
	CHECK_EQ(alloc(128, PIECE, 64, &other), 0);
	CHECK_EQ(operation(false, TEST_AND_SET + 1, at, &no), CMD_BAD_PARAM);
	CHECK_EQ(operation(false, INCREMENT, at + 1, &no), CMD_BAD_PARAM);
	CHECK_EQ(operation(false, INCREMENT, at + 64, &no), CMD_BAD_RES);
	CHECK_EQ(operation(false, INCREMENT, at + PIECE, &no), CMD_BAD_RES);
	CHECK_EQ(operation(true, INCREMENT, at, &no), CMD_BAD_RES_STATE);
	CHECK_EQ(operation(false, INCREMENT, at, &op_at), 0);
	CHECK_EQ(operation(false, INCREMENT, at, &no), CMD_BAD_RES_STATE);
	CHECK_EQ(memic_op_addresses(&w_hca[0]), 1);
	CHECK(!memic_write(&w_hca[0], op_at + 127, &byte, 1));
	CHECK_EQ(memic_write(&w_hca[0], op_at + 128, &byte, 1), -EFAULT);
	CHECK_EQ(dealloc(at, 128), CMD_BAD_RES_STATE);
	CHECK_EQ(operation(true, INCREMENT, at, &no), 0);
	CHECK_EQ(memic_write(&w_hca[0], op_at + 127, &byte, 1), -EFAULT);
	CHECK_EQ(dealloc(at, 128), 0);
	CHECK_EQ(memic_op_addresses(&w_hca[0]), 0);
}

/* Post two requests and ring for the one of this index. Returns how many complete. */
static unsigned int two_rung_for(struct pair *p, uint16_t index)
{
	struct w_qp *qp = &p->qp[0];
	unsigned int n = 0, i;
	struct w_wqe w;
	struct cqe cqe;

	for (i = 0; i < 2; i++) {
		w_wqe(&w, qp, WQE_OP_RDMA_WRITE, W_SIGNALED, 0);
		w_raddr(&w, p->mem[1], p->key[1]);
		w_data(&w, p->mem[0], 64, p->key[0]);
		w_post(qp, &w);
	}
	qp_ring(&w_hca[0], W_UAR, qp->qpn, index, NULL, 0);
	while (w_poll(&p->scq[0], &cqe))
		n++;
	return n;
}

static void a_request_waits_for_its_own_doorbell_behind_device_memory(void)
{
	struct pair p;
	struct cqe cqe;
	uint64_t at;

	CHECK(pair_connect(&p, &w_rc_attr));
	CHECK_EQ(two_rung_for(&p, 0), 2);
	CHECK_EQ(alloc(0, PIECE, 64, &at), 0);
	CHECK_EQ(two_rung_for(&p, 2), 1);
	CHECK_EQ(qp_ring(&w_hca[0], W_UAR, p.qp[0].qpn, 3, NULL, 0), RING_OK);
	CHECK(w_poll(&p.scq[0], &cqe));
	CHECK_EQ(two_rung_for(&p, 5), 2);
	CHECK_EQ(dealloc(at, 64), 0);
	CHECK_EQ(two_rung_for(&p, 6), 2);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(a_key_moves_the_bytes_of_its_piece),
	TEST(a_key_of_a_freed_piece_reaches_nothing),
	TEST(pieces_have_nothing_in_common),
	TEST(pieces_are_where_they_may_be),
	TEST(a_byte_is_incremented_and_tested_by_a_store_and_a_load),
	TEST(an_operation_has_an_address_until_it_is_freed),
	TEST(a_request_waits_for_its_own_doorbell_behind_device_memory),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
