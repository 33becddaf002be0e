// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Signature keys, without a VMM: protected blocks in memory and on the wire, bad
 * signatures and their completions, protection signature variables.
 */
#include <string.h>

#include "object/sig.h"
#include "test/unit/pair.h"

#define BLOCK 512u
#define BLOCKS 3u
#define T10 8u			/* bytes of the signature */
#define CRC 4u
#define GUARD 0xc0		/* bytes that are checked */
#define APP 0x30
#define REF 0x0f
#define CRC_BYTES 0xf0
#define OUT 32768u		/* in the memory of the pair */

enum side { NOWHERE, IN_MEMORY, ON_WIRE };

static uint32_t psvs(unsigned int hca, uint32_t pd, uint32_t n, uint8_t *status)
{
	uint8_t in[IFC_SZ(create_psv_in)] = { 0 };
	uint8_t out[IFC_SZ(create_psv_out)] = { 0 };

	IFC_SET(create_psv_in, in, num_psv, n);
	IFC_SET(create_psv_in, in, pd, pd);
	*status = w_cmd(hca, psv_cmds, MLX5_CMD_OP_CREATE_PSV, 0, 0, in,
			sizeof(in), out, sizeof(out));
	return IFC_GET(create_psv_out, out, psv0_index);
}

/* A free key that can have a format, of up to four pieces */
static uint32_t sig_mkey(struct pair *p, unsigned int hca, uint32_t octowords)
{
	uint8_t in[IFC_SZ(create_mkey_in)] = { 0 };
	uint8_t out[IFC_SZ(create_mkey_out)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

	IFC_SET(mkc, c, access_mode_1_0, MKEY_KLM);
	IFC_SET(mkc, c, free, 1);
	IFC_SET(mkc, c, umr_en, 1);
	IFC_SET(mkc, c, lr, 1);
	IFC_SET(mkc, c, qpn, MKEY_ANY_QP);
	IFC_SET(mkc, c, pd, p->pd[hca]);
	IFC_SET(mkc, c, translations_octword_size, 4);
	IFC_SET(mkc, c, bsf_en, 1);
	IFC_SET(mkc, c, bsf_octword_size, octowords);
	if (w_cmd(hca, mkey_cmds, MLX5_CMD_OP_CREATE_MKEY, 0, 0, in, sizeof(in),
		  out, sizeof(out)))
		return 0;
	return IFC_GET(create_mkey_out, out, mkey_index) << 8;
}

/* Formats as the PRM has them: T10 DIF with a CRC, and CRC32 */
static void t10_format(uint8_t *bsf, enum side side, uint8_t check)
{
	uint8_t *t10 = bsf + (side == ON_WIRE ? 32 : 48);

	memset(bsf, 0, SIG_FORMAT_LEN);
	bsf[0] = 2 << 6;
	bsf[1] = check;
	bsf[side == ON_WIRE ? 2 : 3] = 1;	/* blocks of 512 bytes */
	t10[0] = 0xc0;				/* valid */
	t10[2] = 0xab;
	t10[3] = 0xcd;				/* application tag */
	t10[7] = 9;				/* reference tag */
	t10[8] = 1;				/* CRC */
	t10[9] = 0x88;				/* begins with ones */
	t10[13] = 0x40;				/* tags are counted */
}

static void crc_format(uint8_t *bsf, enum side side, uint8_t check)
{
	memset(bsf, 0, SIG_FORMAT_LEN);
	bsf[0] = 2 << 6;
	bsf[1] = check;
	bsf[side == ON_WIRE ? 2 : 3] = 1;
	bsf[side == ON_WIRE ? 8 : 12] = 0x22;
}

#define ENTRIES 4u		/* that a key has room for */

/* The UMR that gives a key @n pieces of memory and a format, and its syndrome. */
static uint8_t configure_n(struct pair *p, unsigned int hca, uint32_t key,
			   uint64_t at, uint32_t len, const uint8_t *bsf,
			   uint16_t n)
{
	struct wqe_klm list[2 * ENTRIES] = { { .bcount = htobe32(len),
					       .key = htobe32(p->key[hca]),
					       .va = htobe64(at) } };
	struct wqe_umr ctrl = { .flags = UMR_INLINE, .xlt_octowords = htobe16(n) };
	uint8_t mkc[IFC_SZ(mkc)] = { 0 };
	uint64_t mask = UMR_MASK_FREE | UMR_MASK_LEN | UMR_MASK_START |
			UMR_MASK_LW | UMR_MASK_RR | UMR_MASK_RW |
			UMR_MASK_BSF | UMR_MASK_SIG_ERR;
	struct w_wqe w;
	struct cqe cqe;

	ctrl.mkey_mask = htobe64(mask);
	ctrl.xlt_offset = htobe16(bsf ? SIG_FORMAT_LEN / 16 : 0);
	IFC_SET(mkc, mkc, bsf_en, !!bsf);
	IFC_SET(mkc, mkc, lw, 1);
	IFC_SET(mkc, mkc, rr, 1);
	IFC_SET(mkc, mkc, rw, 1);
	IFC_SET64(mkc, mkc, len, len);
	w_wqe(&w, &p->qp[hca], WQE_OP_UMR, W_SIGNALED, key);
	w_add(&w, &ctrl, sizeof(ctrl));
	w_add(&w, mkc, sizeof(mkc));
	w_add(&w, list, n * sizeof(list[0]));
	if (bsf)
		w_add(&w, bsf, SIG_FORMAT_LEN);
	w_post(&p->qp[hca], &w);
	w_ring(&p->qp[hca]);
	if (!w_poll(&p->scq[hca], &cqe))
		return 0xff;
	return w_opcode(&cqe) == CQE_REQ_ERR ? cqe.syndrome : SYND_OK;
}

static uint8_t configure(struct pair *p, unsigned int hca, uint32_t key,
			 uint64_t at, uint32_t len, const uint8_t *bsf)
{
	return configure_n(p, hca, key, at, len, bsf, ENTRIES);
}

/* Send @len bytes on the wire from a key of the first side to one of the second. */
static uint8_t send_signed(struct pair *p, uint32_t from, uint32_t to,
			   uint64_t to_at, uint32_t len)
{
	struct w_wqe w;

	w_recv(&p->qp[1], to_at, len, to);
	w_wqe(&w, &p->qp[0], WQE_OP_SEND, W_SIGNALED, 0);
	w_data(&w, 0, len, from);
	w_post(&p->qp[0], &w);
	w_ring(&p->qp[0]);
	return pair_syndrome(p, 10);
}

static uint8_t *out(struct pair *p, uint32_t off)
{
	return w_at(1, p->mem[1] + OUT + off);
}

static void t10_is_made_on_the_wire_and_counts_blocks(void)
{
	uint8_t bsf[SIG_FORMAT_LEN], sum[2];
	struct pair p;
	uint32_t key, i;

	CHECK(pair_connect(&p, &w_rc_attr));
	pair_fill(&p, 0, BLOCK * BLOCKS, 4);
	key = sig_mkey(&p, 0, 4);
	t10_format(bsf, ON_WIRE, GUARD | APP | REF);
	CHECK_EQ(configure(&p, 0, key, p.mem[0], BLOCK * BLOCKS, bsf), SYND_OK);
	CHECK_EQ(send_signed(&p, key, p.key[1], p.mem[1] + OUT,
			     (BLOCK + T10) * BLOCKS), SYND_OK);
	for (i = 0; i < BLOCKS; i++) {
		const uint8_t *block = out(&p, i * (BLOCK + T10));

		CHECK(!memcmp(block, w_at(0, p.mem[0] + i * BLOCK), BLOCK));
		CHECK_EQ(block[BLOCK + 2], 0xab);
		CHECK_EQ(block[BLOCK + 3], 0xcd);
		CHECK_EQ(block[BLOCK + 7], 9 + i);
		memcpy(sum, block + BLOCK, sizeof(sum));
		CHECK(sum[0] || sum[1]);
	}
	/* A key does not reach beyond its memory. */
	CHECK_EQ(send_signed(&p, key, p.key[1], p.mem[1] + OUT,
			     (BLOCK + T10) * BLOCKS + 1), SYND_LOCAL_PROT);
}

static void guards_are_the_known_ones(void)
{
	static const struct { enum sig_kind kind; uint32_t block; bool ones;
			      uint8_t guard[4]; } known[] = {
		/* "123456789": CRC-32 of IEEE 802.3, CRC-16/T10-DIF */
		{ SIG_CRC32, 9, true, { 0xcb, 0xf4, 0x39, 0x26 } },
		{ SIG_T10_CRC, 9, false, { 0xd0, 0xdb } },
		/* the example of RFC 1071: 0001 f203 f4f5 f6f7 */
		{ SIG_T10_SUM, 8, false, { 0x22, 0x0d } },
	};
	static const uint8_t rfc[] = { 0, 1, 0xf2, 3, 0xf4, 0xf5, 0xf6, 0xf7 };
	uint8_t sig[SIG_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		struct sig_domain d = { .kind = known[i].kind,
					.block = known[i].block,
					.ones = known[i].ones };

		sig_make(&d, 0, d.block == 9 ? (const uint8_t *)"123456789" :
					       rfc, sig);
		CHECK(!memcmp(sig, known[i].guard, d.kind == SIG_CRC32 ? 4 : 2));
	}
}

/* A CRC of 16 or 32 bits by its definition, bit by bit, most significant bit first. */
static uint32_t crc_of(const uint8_t *p, size_t len, unsigned int bits,
		       uint32_t polynomial, bool reflected)
{
	uint32_t crc = 0, top = 1u << (bits - 1), in, out = 0;
	unsigned int bit;

	for (bit = 0; bit < len * 8; bit++) {
		in = p[bit / 8] >> (reflected ? bit % 8 : 7 - bit % 8) & 1;
		in ^= !!(crc & top);
		crc = crc << 1 ^ (in ? polynomial : 0);
	}
	for (bit = 0; bit < bits; bit++)
		out |= (crc >> bit & 1) << (reflected ? bits - 1 - bit : bit);
	return out & (top | (top - 1));
}

static void each_byte_counts_in_a_guard(void)
{
	struct sig_domain d = { .kind = SIG_CRC32 };
	uint8_t block[512], sig[SIG_MAX];
	uint32_t guard, crc;
	size_t i;

	for (i = 0; i < sizeof(block); i++)
		block[i] = i < 256 ? i : i * 37 + 11;
	for (d.block = 1; d.block <= sizeof(block); d.block++) {
		d.kind = SIG_CRC32;
		sig_make(&d, 0, block, sig);
		crc = ~crc_of(block, d.block, 32, 0x04c11db7, true);
		memcpy(&guard, sig, sizeof(guard));
		CHECK_EQ(be32toh(guard), crc);
		d.kind = SIG_T10_CRC;
		sig_make(&d, 0, block, sig);
		CHECK_EQ((uint32_t)(sig[0] << 8 | sig[1]),
			 crc_of(block, d.block, 16, 0x8bb7, false));
	}
}

static void what_one_key_made_another_one_checks_and_takes_off(void)
{
	uint8_t bsf[SIG_FORMAT_LEN];
	uint32_t from, to;
	struct cqe cqe;
	struct pair p;

	CHECK(pair_connect(&p, &w_rc_attr));
	pair_fill(&p, 0, BLOCK * BLOCKS, 6);
	from = sig_mkey(&p, 0, 4);
	to = sig_mkey(&p, 1, 4);
	t10_format(bsf, ON_WIRE, GUARD | APP | REF);
	CHECK_EQ(configure(&p, 0, from, p.mem[0], BLOCK * BLOCKS, bsf), SYND_OK);
	CHECK_EQ(configure(&p, 1, to, p.mem[1] + OUT, BLOCK * BLOCKS, bsf), SYND_OK);
	CHECK_EQ(send_signed(&p, from, to, 0, (BLOCK + T10) * BLOCKS), SYND_OK);
	CHECK(!memcmp(out(&p, 0), w_at(0, p.mem[0]), BLOCK * BLOCKS));
	CHECK_EQ(out(&p, BLOCK * BLOCKS)[0], 0);
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(w_opcode(&cqe), CQE_RESP_SEND);
	CHECK(!w_poll(&p.rcq[1], &cqe));
	/* another tag than the receiver's: told before the receive, which is good */
	bsf[32 + 3] = 0xce;
	CHECK_EQ(configure(&p, 0, from, p.mem[0], BLOCK * BLOCKS, bsf), SYND_OK);
	CHECK_EQ(send_signed(&p, from, to, 0, (BLOCK + T10) * BLOCKS), SYND_OK);
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(w_opcode(&cqe), CQE_SIG_ERR);
	CHECK_EQ(((uint8_t *)&cqe)[32] << 8 | ((uint8_t *)&cqe)[33], 1 << 12);
	CHECK_EQ(((uint8_t *)&cqe)[35], 0);	/* on the wire */
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(w_opcode(&cqe), CQE_RESP_SEND);
}

static void a_bad_signature_in_memory_is_told_once(void)
{
	uint8_t bsf[SIG_FORMAT_LEN], *sig;
	struct pair p;
	struct cqe cqe;
	uint32_t key;

	CHECK(pair_connect(&p, &w_rc_attr));
	pair_fill(&p, 0, BLOCK + CRC, 8);
	key = sig_mkey(&p, 0, 4);
	crc_format(bsf, IN_MEMORY, CRC_BYTES);
	CHECK_EQ(configure(&p, 0, key, p.mem[0], BLOCK + CRC, bsf), SYND_OK);
	CHECK_EQ(send_signed(&p, key, p.key[1], p.mem[1] + OUT, BLOCK), SYND_OK);
	CHECK(!memcmp(out(&p, 0), w_at(0, p.mem[0]), BLOCK));
	CHECK(w_poll(&p.scq[0], &cqe));		/* after that of the key */
	CHECK_EQ(w_opcode(&cqe), CQE_REQ);
	CHECK_EQ(send_signed(&p, key, p.key[1], p.mem[1] + OUT, BLOCK), SYND_OK);
	CHECK(!w_poll(&p.scq[0], &cqe));

	/* acknowledged, and the right signature in its place */
	sig = (uint8_t *)w_at(0, p.mem[0]) + BLOCK;
	sig_make(&(struct sig_domain){ .kind = SIG_CRC32, .block = BLOCK,
				       .ones = true }, 0, w_at(0, p.mem[0]), bsf);
	memcpy(sig, bsf, CRC);
	crc_format(bsf, IN_MEMORY, CRC_BYTES);
	CHECK_EQ(configure(&p, 0, key, p.mem[0], BLOCK + CRC, bsf), SYND_OK);
	CHECK_EQ(send_signed(&p, key, p.key[1], p.mem[1] + OUT, BLOCK), SYND_OK);
	CHECK(!w_poll(&p.scq[0], &cqe));
	/* bytes that are not checked may be wrong */
	sig[0]++;
	crc_format(bsf, IN_MEMORY, 0);
	CHECK_EQ(configure(&p, 0, key, p.mem[0], BLOCK + CRC, bsf), SYND_OK);
	CHECK_EQ(send_signed(&p, key, p.key[1], p.mem[1] + OUT, BLOCK), SYND_OK);
	CHECK(!w_poll(&p.scq[0], &cqe));
}

/* One RDMA operation between the keys at the start of both. */
static void post(struct pair *p, uint8_t op, uint32_t key, uint64_t at, uint32_t rkey,
		 uint64_t rat, uint32_t len)
{
	struct w_wqe w;

	w_wqe(&w, &p->qp[0], op, W_SIGNALED, 0);
	w_raddr(&w, rat, rkey);
	w_data(&w, at, len, key);
	w_post(&p->qp[0], &w);
	w_ring(&p->qp[0]);
}

/* ... and its syndrome */
static uint8_t rdma(struct pair *p, uint8_t op, uint32_t key, uint64_t at,
		    uint32_t rkey, uint64_t rat, uint32_t len)
{
	post(p, op, key, at, rkey, rat, len);
	return pair_syndrome(p, 10);
}

static void writes_and_reads_sign_too(void)
{
	uint8_t bsf[SIG_FORMAT_LEN];
	uint32_t remote, local, len = BLOCK + T10;
	struct pair p;

	CHECK(pair_connect(&p, &w_rc_attr));
	pair_fill(&p, 0, BLOCK, 1);
	remote = sig_mkey(&p, 1, 4);
	local = sig_mkey(&p, 0, 4);
	t10_format(bsf, ON_WIRE, GUARD | APP | REF);
	CHECK_EQ(configure(&p, 0, local, p.mem[0], BLOCK, bsf), SYND_OK);
	t10_format(bsf, IN_MEMORY, GUARD | APP | REF);
	CHECK_EQ(configure(&p, 1, remote, p.mem[1] + OUT, len, bsf), SYND_OK);
	/* memory of the second side gets the signature of its own format */
	CHECK_EQ(rdma(&p, WQE_OP_RDMA_WRITE, p.key[0], p.mem[0], remote, 0,
		      BLOCK), SYND_OK);
	CHECK(!memcmp(out(&p, 0), w_at(0, p.mem[0]), BLOCK));
	CHECK_EQ(out(&p, BLOCK)[2], 0xab);
	/* a read takes it off, */
	CHECK_EQ(rdma(&p, WQE_OP_RDMA_READ, p.key[0], p.mem[0] + OUT, remote, 0,
		      BLOCK), SYND_OK);
	CHECK(!memcmp(w_at(0, p.mem[0] + OUT), w_at(0, p.mem[0]), BLOCK));
	/* or the reader's key does */
	memset(w_at(0, p.mem[0]), 0, BLOCK);
	CHECK_EQ(rdma(&p, WQE_OP_RDMA_READ, local, 0, p.key[1], p.mem[1] + OUT,
		      len), SYND_OK);
	CHECK(!memcmp(out(&p, 0), w_at(0, p.mem[0]), BLOCK));
}

/* The key has no such address: the write fails when its receive is taken already. */
static void a_write_that_fails_gives_its_receive_back(void)
{
	uint8_t bsf[SIG_FORMAT_LEN];
	struct pair p;
	struct cqe cqe;
	uint32_t key;

	CHECK(pair_connect(&p, &w_rc_attr));
	key = sig_mkey(&p, 1, 4);
	t10_format(bsf, IN_MEMORY, GUARD | APP | REF);
	CHECK_EQ(configure(&p, 1, key, p.mem[1] + OUT, BLOCK + T10, bsf), SYND_OK);
	w_recv(&p.qp[1], p.mem[1], 8, p.key[1]);
	CHECK_EQ(rdma(&p, WQE_OP_RDMA_WRITE_IMM, p.key[0], p.mem[0], key, BLOCK,
		      BLOCK), SYND_REMOTE_ACCESS);
	/* The QP is in error, so the receive is flushed. */
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(w_opcode(&cqe), CQE_RESP_ERR);
	CHECK_EQ(cqe.syndrome, SYND_FLUSH);
	CHECK(!w_poll(&p.rcq[1], &cqe));
}

/* The key has no room for so many entries. */
static void a_change_that_fails_leaves_the_format(void)
{
	uint8_t bsf[SIG_FORMAT_LEN], old[SIG_FORMAT_LEN];
	const struct mkey *m;
	struct pair p;
	uint32_t key;

	CHECK(pair_connect(&p, &w_rc_attr));
	key = sig_mkey(&p, 0, 4);
	m = idtable_get(&w_hca[0].objs->mkeys, key >> 8);
	t10_format(old, ON_WIRE, GUARD | APP | REF);
	CHECK_EQ(configure(&p, 0, key, p.mem[0], BLOCK, old), SYND_OK);
	CHECK_EQ(configure_n(&p, 0, key, p.mem[0], BLOCK, NULL, 2 * ENTRIES),
		 SYND_MW_BIND);
	CHECK(m->bsf_en);
	CHECK(pair_connect(&p, &w_rc_attr));
	key = sig_mkey(&p, 0, 4);
	m = idtable_get(&w_hca[0].objs->mkeys, key >> 8);
	CHECK_EQ(configure(&p, 0, key, p.mem[0], BLOCK, old), SYND_OK);
	crc_format(bsf, IN_MEMORY, CRC_BYTES);
	CHECK_EQ(configure_n(&p, 0, key, p.mem[0], BLOCK, bsf, 2 * ENTRIES),
		 SYND_MW_BIND);
	CHECK(!memcmp(m->bsf, old, sizeof(old)));
}

/* The dump has the signatures that were checked, and the bad ones among them. */
static bool counted(unsigned int hca, int64_t checked, int64_t bad)
{
	struct json_object *o = json_object_new_object(), *n, *c, *b;
	bool same;

	sig_dump(&w_hca[hca], o);
	same = json_object_object_get_ex(o, "signatures", &n) &&
	       json_object_object_get_ex(n, "checked", &c) &&
	       json_object_object_get_ex(n, "bad", &b) &&
	       json_object_get_int64(c) == checked &&
	       json_object_get_int64(b) == bad;
	json_object_put(o);
	return same;
}

static void a_flipped_bit_is_a_bad_signature_and_all_are_counted(void)
{
	uint8_t bsf[SIG_FORMAT_LEN];
	struct pair p;
	struct cqe cqe;
	uint32_t key;

	CHECK(pair_connect(&p, &w_rc_attr));
	pair_fill(&p, 0, BLOCK, 1);
	objects_clear_counters(&w_hca[0]);
	key = sig_mkey(&p, 0, 4);
	t10_format(bsf, ON_WIRE, GUARD | APP | REF);
	CHECK_EQ(configure(&p, 0, key, p.mem[0], BLOCK, bsf), SYND_OK);
	CHECK_EQ(rdma(&p, WQE_OP_RDMA_WRITE, key, 0, p.key[1], p.mem[1] + OUT,
		      BLOCK + T10), SYND_OK);
	CHECK(counted(0, 0, 0));	/* memory has none */
	CHECK_EQ(rdma(&p, WQE_OP_RDMA_READ, key, 0, p.key[1], p.mem[1] + OUT,
		      BLOCK + T10), SYND_OK);
	CHECK(counted(0, 1, 0));
	w_hca[0].flip = true;
	post(&p, WQE_OP_RDMA_READ, key, 0, p.key[1], p.mem[1] + OUT, BLOCK + T10);
	CHECK(w_poll(&p.scq[0], &cqe));
	CHECK_EQ(w_opcode(&cqe), CQE_SIG_ERR);
	CHECK_EQ(be32toh(cqe.opcode_qpn), p.qp[0].qpn);
	CHECK(w_poll(&p.scq[0], &cqe));
	CHECK_EQ(w_opcode(&cqe), CQE_REQ);
	CHECK(counted(0, 2, 1));
	w_hca[0].flip = false;
	CHECK_EQ(rdma(&p, WQE_OP_RDMA_READ, key, 0, p.key[1], p.mem[1] + OUT,
		      BLOCK + T10), SYND_OK);
	CHECK(counted(0, 3, 1));
	/* what is not checked is not counted */
	t10_format(bsf, ON_WIRE, 0);
	CHECK_EQ(configure(&p, 0, key, p.mem[0], BLOCK, bsf), SYND_OK);
	CHECK_EQ(rdma(&p, WQE_OP_RDMA_READ, key, 0, p.key[1], p.mem[1] + OUT,
		      BLOCK + T10), SYND_OK);
	CHECK(counted(0, 3, 1));
	objects_clear_counters(&w_hca[0]);
	CHECK(counted(0, 0, 0));
}

/* INIT2INIT: the QP's send queue stops behind a request with a bad signature. */
static uint8_t drain_at_errors(const struct w_qp *qp)
{
	uint8_t in[IFC_SZ(init2init_qp_in)] = { 0 };

	IFC_SET(init2init_qp_in, in, qpn, qp->qpn);
	IFC_SET(init2init_qp_in, in, opt_param_mask, 1 << 11);
	IFC_SET(init2init_qp_in, in, qpc.drain_sigerr, 1);
	return w_cmd(qp->hca, qp_cmds, MLX5_CMD_OP_INIT2INIT_QP, 0, 0, in,
		     sizeof(in), NULL, 0);
}

static void a_queue_stops_behind_a_bad_signature_if_asked_to(void)
{
	struct w_qp_attr attr = w_rc_attr;
	uint8_t bsf[SIG_FORMAT_LEN];
	struct pair p;
	struct cqe cqe;
	uint32_t key;

	attr.in_init = drain_at_errors;
	CHECK(pair_connect(&p, &attr));
	key = sig_mkey(&p, 0, 4);
	crc_format(bsf, IN_MEMORY, CRC_BYTES);
	CHECK_EQ(configure(&p, 0, key, p.mem[0], BLOCK + CRC, bsf), SYND_OK);
	CHECK_EQ(rdma(&p, WQE_OP_RDMA_WRITE, key, 0, p.key[1], p.mem[1], BLOCK),
		 SYND_OK);			/* that of the key */
	CHECK(w_poll(&p.scq[0], &cqe));
	CHECK_EQ(w_opcode(&cqe), CQE_REQ);
	CHECK_EQ(w_qp_state(&p.qp[0]), QP_SQD);
	CHECK(w_event_seen(0, EVENT_SQ_DRAINED, p.qp[0].qpn));
	CHECK_EQ(rdma(&p, WQE_OP_RDMA_WRITE, p.key[0], p.mem[0], p.key[1],
		      p.mem[1], 8), 0xff);
	CHECK_EQ(w_qp_simple(&p.qp[0], MLX5_CMD_OP_SQD_RTS_QP), 0);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_OK);
	CHECK_EQ(w_qp_state(&p.qp[0]), QP_RTS);
}

static void formats_and_variables_are_checked(void)
{
	struct wqe_psv seg = { 0 };
	uint8_t bsf[SIG_FORMAT_LEN], status;
	uint32_t key, psv, plain;
	struct pair p;
	struct w_wqe w;

	CHECK(pair_connect(&p, &w_rc_attr));
	CHECK(!sig_mkey(&p, 0, 5));
	key = sig_mkey(&p, 0, 4);
	crc_format(bsf, IN_MEMORY, CRC_BYTES);
	bsf[12] = 0x42;				/* CRC32C is not announced */
	CHECK_EQ(configure(&p, 0, key, p.mem[0], BLOCK, bsf), SYND_MW_BIND);
	CHECK(pair_connect(&p, &w_rc_attr));
	key = sig_mkey(&p, 0, 4);
	CHECK_EQ(configure(&p, 0, key, p.mem[0], BLOCK, NULL), SYND_OK);
	plain = key;
	CHECK_EQ(send_signed(&p, plain, p.key[1], p.mem[1] + OUT, 7), SYND_OK);

	psvs(0, p.pd[0], 0, &status);
	CHECK_EQ(status, CMD_BAD_PARAM);
	psv = psvs(0, p.pd[0], 2, &status);
	CHECK_EQ(status, 0);
	seg.index = htobe32(psv);
	w_wqe(&w, &p.qp[0], WQE_OP_SET_PSV, W_SIGNALED, 0);
	w_add(&w, &seg, sizeof(seg));
	w_post(&p.qp[0], &w);
	w_ring(&p.qp[0]);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	seg.index = htobe32(psvs(0, w_pd(0), 1, &status));
	w_wqe(&w, &p.qp[0], WQE_OP_SET_PSV, W_SIGNALED, 0);
	w_add(&w, &seg, sizeof(seg));
	w_post(&p.qp[0], &w);
	w_ring(&p.qp[0]);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_LOCAL_PROT);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(guards_are_the_known_ones),
	TEST(t10_is_made_on_the_wire_and_counts_blocks),
	TEST(each_byte_counts_in_a_guard),
	TEST(what_one_key_made_another_one_checks_and_takes_off),
	TEST(a_bad_signature_in_memory_is_told_once),
	TEST(writes_and_reads_sign_too),
	TEST(a_write_that_fails_gives_its_receive_back),
	TEST(a_change_that_fails_leaves_the_format),
	TEST(a_flipped_bit_is_a_bad_signature_and_all_are_counted),
	TEST(a_queue_stops_behind_a_bad_signature_if_asked_to),
	TEST(formats_and_variables_are_checked),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
