// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Objects and data without a VMM: memory keys of every mode, UMR, windows,
 * invalidation.
 */
#include <string.h>

#include "test/unit/pair.h"

#define OK W_SIGNALED

/* CREATE_MKEY of an empty one that a UMR can fill, or of mode PA. */
static uint32_t empty_mkey(unsigned int hca, uint32_t pd, enum mkey_mode mode,
			   unsigned int octowords, bool is_free)
{
	uint8_t in[IFC_SZ(create_mkey_in)] = { 0 };
	uint8_t out[IFC_SZ(create_mkey_out)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

	IFC_SET(mkc, c, access_mode_1_0, mode);
	IFC_SET(mkc, c, free, is_free);
	IFC_SET(mkc, c, umr_en, 1);
	IFC_SET(mkc, c, lr, 1);
	IFC_SET(mkc, c, lw, mode == MKEY_PA);
	IFC_SET(mkc, c, length64, mode == MKEY_PA);
	IFC_SET(mkc, c, en_rinval, 1);
	IFC_SET(mkc, c, qpn, MKEY_ANY_QP);
	IFC_SET(mkc, c, mkey_7_0, 0x55);
	IFC_SET(mkc, c, pd, pd);
	IFC_SET(mkc, c, log_page_size, 12);
	IFC_SET(mkc, c, translations_octword_size, octowords);
	if (w_cmd(hca, mkey_cmds, MLX5_CMD_OP_CREATE_MKEY, 0, 0, in,
		  sizeof(in), out, sizeof(out)))
		return 0;
	return IFC_GET(create_mkey_out, out, mkey_index) << 8 | 0x55;
}

/* CREATE_MKEY of mode KLM over [0, len) with its entries. */
static uint32_t klm_mkey(struct pair *p, uint64_t len, const struct wqe_klm *e,
			 unsigned int n)
{
	static uint8_t in[IFC_SZ(create_mkey_in) + 4096 * sizeof(*e)];
	uint8_t out[IFC_SZ(create_mkey_out)] = { 0 };
	uint8_t *c = IFC_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

	memset(in, 0, sizeof(in));
	IFC_SET(mkc, c, access_mode_1_0, MKEY_KLM);
	IFC_SET(mkc, c, lr, 1);
	IFC_SET(mkc, c, qpn, MKEY_ANY_QP);
	IFC_SET(mkc, c, mkey_7_0, 0x55);
	IFC_SET(mkc, c, pd, p->pd[0]);
	IFC_SET64(mkc, c, len, len);
	IFC_SET(mkc, c, translations_octword_size, n);
	IFC_SET(create_mkey_in, in, translations_octword_actual_size, n);
	memcpy(in + IFC_OFF(create_mkey_in, klm_pas_mtt), e, n * sizeof(*e));
	w_must(w_cmd(0, mkey_cmds, MLX5_CMD_OP_CREATE_MKEY, 0, 0, in,
		     sizeof(in), out, sizeof(out)));
	return IFC_GET(create_mkey_out, out, mkey_index) << 8 | 0x55;
}

#define EMPTY 4095u		/* pieces of a list before the one that is none */
#define LISTS 512u

/* Each byte of the outer key is found behind all the empty pieces of the inner one. */
static void looking_through_long_lists_takes_turns_too(void)
{
	static struct wqe_klm inner[EMPTY + 1], outer[LISTS];
	unsigned int i;
	struct w_wqe w;
	struct pair p;
	uint32_t key;

	CHECK(pair_connect(&p, &w_rc_attr));
	memset(inner, 0, sizeof(inner));
	inner[EMPTY] = (struct wqe_klm){ htobe32(1), htobe32(p.key[0]),
					 htobe64(p.mem[0]) };
	key = klm_mkey(&p, 1, inner, EMPTY + 1);
	for (i = 0; i < LISTS; i++)
		outer[i] = (struct wqe_klm){ htobe32(1), htobe32(key), 0 };
	key = klm_mkey(&p, LISTS, outer, LISTS);
	for (i = 0; i < 3; i++) {
		w_wqe(&w, &p.qp[0], WQE_OP_RDMA_WRITE, OK, 0);
		w_raddr(&w, p.mem[1], p.key[1]);
		w_data(&w, 0, LISTS, key);
		w_post(&p.qp[0], &w);
	}
	pair_ring_in_turns(&p);
}

struct umr_seg {
	struct wqe_umr ctrl;
	uint8_t mkc[IFC_SZ(mkc)];
};

/* Post a UMR of the first adapter with inline KLMs; its syndrome. */
static uint8_t umr(struct pair *p, uint32_t key, struct umr_seg *seg,
		   const struct wqe_klm *klm, unsigned int n)
{
	struct wqe_klm entries[4] = { 0 };
	struct w_wqe w;

	w_wqe(&w, &p->qp[0], WQE_OP_UMR, OK, key);
	seg->ctrl.flags |= UMR_INLINE;
	seg->ctrl.xlt_octowords = htobe16(n ? 4 : 0);
	w_add(&w, seg, sizeof(*seg));
	if (n) {
		memcpy(entries, klm, n * sizeof(*klm));
		w_add(&w, entries, sizeof(entries));
	}
	w_post(&p->qp[0], &w);
	w_ring(&p->qp[0]);
	return pair_syndrome(p, 0);
}

static void bind_seg(struct umr_seg *s, uint64_t start, uint64_t len,
		     uint8_t variant)
{
	memset(s, 0, sizeof(*s));
	s->ctrl.mkey_mask = htobe64(UMR_MASK_FREE | UMR_MASK_KEY |
				    UMR_MASK_LEN | UMR_MASK_START |
				    UMR_MASK_LW | UMR_MASK_RR | UMR_MASK_RW |
				    UMR_MASK_LR);
	IFC_SET64(mkc, s->mkc, start_addr, start);
	IFC_SET64(mkc, s->mkc, len, len);
	IFC_SET(mkc, s->mkc, mkey_7_0, variant);
	IFC_SET(mkc, s->mkc, lr, 1);
	IFC_SET(mkc, s->mkc, lw, 1);
	IFC_SET(mkc, s->mkc, rr, 1);
	IFC_SET(mkc, s->mkc, rw, 1);
}

/* Send what @key names, @len bytes from @va, into the peer's memory. */
static uint8_t write_from(struct pair *p, uint64_t va, uint32_t len,
			  uint32_t key)
{
	return pair_move(p, WQE_OP_RDMA_WRITE, va, len, key);
}

static struct wqe_klm klm(uint64_t va, uint32_t len, uint32_t key)
{
	return (struct wqe_klm){ htobe32(len), htobe32(key), htobe64(va) };
}

static void physical_keys_name_guest_addresses(void)
{
	struct pair p;
	uint32_t key;

	CHECK(pair_connect(&p, &w_rc_attr));
	pair_fill(&p, 0, 5000, 3);
	key = empty_mkey(0, p.pd[0], MKEY_PA, 0, false);
	CHECK_EQ(write_from(&p, p.mem[0], 5000, key), SYND_OK);
	CHECK(pair_same(&p, 5000));
	/* beyond the guest's memory: counted, and the QP dies */
	CHECK_EQ(write_from(&p, W_MEM, 64, key), SYND_LOCAL_PROT);
	CHECK_EQ(w_hca[0].errors[SIM_ERR_DMA_FAULT], 1);
}

static void a_umr_makes_a_list_of_pieces(void)
{
	struct wqe_klm list[2];
	struct umr_seg s;
	struct pair p;
	uint32_t key;

	CHECK(pair_connect(&p, &w_rc_attr));
	pair_fill(&p, 0, 5000, 3);
	key = empty_mkey(0, p.pd[0], MKEY_KLM, 4, true);
	CHECK_EQ(write_from(&p, 0, 64, key), SYND_LOCAL_PROT);	/* free */

	CHECK(pair_connect(&p, &w_rc_attr));
	pair_fill(&p, 0, 5000, 3);
	key = empty_mkey(0, p.pd[0], MKEY_KLM, 4, true);
	list[0] = klm(p.mem[0] + 1000, 100, p.key[0]);
	list[1] = klm(p.mem[0], 200, p.key[0]);
	bind_seg(&s, 0, 300, 0x56);
	CHECK_EQ(umr(&p, key, &s, list, 2), SYND_OK);
	key = (key & ~0xffu) | 0x56;
	CHECK_EQ(write_from(&p, 50, 250, key), SYND_OK);
	CHECK(!memcmp(w_at(1, p.mem[1]), w_at(0, p.mem[0] + 1050), 50));
	CHECK(!memcmp(w_at(1, p.mem[1] + 50), w_at(0, p.mem[0]), 200));
	CHECK_EQ(write_from(&p, 51, 250, key), SYND_LOCAL_PROT);
}

static void invalidation_frees_a_key(void)
{
	struct umr_seg s;
	struct wqe_klm list;
	struct pair p;
	uint32_t key;

	CHECK(pair_connect(&p, &w_rc_attr));
	key = empty_mkey(0, p.pd[0], MKEY_KLM, 4, true);
	list = klm(p.mem[0], 200, p.key[0]);
	bind_seg(&s, 0, 200, 0x56);
	CHECK_EQ(umr(&p, key, &s, &list, 1), SYND_OK);
	key++;
	CHECK_EQ(write_from(&p, 0, 64, key), SYND_OK);
	memset(&s, 0, sizeof(s));
	s.ctrl.mkey_mask = htobe64(UMR_MASK_FREE);
	IFC_SET(mkc, s.mkc, free, 1);
	CHECK_EQ(umr(&p, key, &s, NULL, 0), SYND_OK);
	CHECK_EQ(write_from(&p, 0, 64, key), SYND_LOCAL_PROT);
}

static void a_send_can_invalidate_the_receivers_key(void)
{
	struct pair p;
	struct cqe cqe;
	struct w_wqe w;
	uint32_t key;

	CHECK(pair_connect(&p, &w_rc_attr));
	key = empty_mkey(1, p.pd[1], MKEY_KLM, 4, false);
	w_recv(&p.qp[1], p.mem[1], 64, p.key[1]);
	w_wqe(&w, &p.qp[0], WQE_OP_SEND_INVAL, OK, key);
	w_data(&w, p.mem[0], 64, p.key[0]);
	w_post(&p.qp[0], &w);
	w_ring(&p.qp[0]);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	CHECK(w_poll(&p.rcq[1], &cqe));
	CHECK_EQ(w_opcode(&cqe), CQE_RESP_SEND_INV);
	CHECK_EQ(be32toh(cqe.imm), key);
	CHECK(mkey_get(&w_hca[1], key)->free);
}

/* A UMR queue pair of the driver's in place of the first adapter's. */
static void umr_qp(struct pair *p)
{
	struct w_qp_attr attr = w_rc_attr;
	struct w_qp peer = p->qp[0];

	attr.type = QP_REG_UMR;
	w_must(w_qp(&p->qp[0], 0, &attr, &p->scq[0], &p->rcq[0]));
	w_must(w_qp_rts(&p->qp[0], &attr, &peer));
}

static uint8_t dealloc_pd(unsigned int hca, uint32_t pd)
{
	uint8_t in[IFC_SZ(dealloc_pd_in)] = { 0 };

	IFC_SET(dealloc_pd_in, in, pd, pd);
	return w_cmd(hca, pd_cmds, MLX5_CMD_OP_DEALLOC_PD, 0, 0, in, sizeof(in),
		     NULL, 0);
}

static void umr_keeps_to_its_rules(void)
{
	struct umr_seg s;
	struct wqe_klm list;
	uint32_t key, pd;
	struct pair p;

	/* must be free, and is not */
	CHECK(pair_connect(&p, &w_rc_attr));
	list = klm(p.mem[0], 200, p.key[0]);
	key = empty_mkey(0, p.pd[0], MKEY_KLM, 4, false);
	bind_seg(&s, 0, 200, 0x56);
	s.ctrl.flags = UMR_MUST_BE_FREE;
	CHECK_EQ(umr(&p, key, &s, &list, 1), SYND_MW_BIND);
	CHECK(mkey_get(&w_hca[0], key));	/* nothing has changed */
	/* not free, then, but of a PD that is gone */
	CHECK(pair_connect(&p, &w_rc_attr));
	umr_qp(&p);
	pd = w_pd(0);
	key = empty_mkey(0, pd, MKEY_KLM, 4, true);
	w_must(dealloc_pd(0, pd));
	bind_seg(&s, 0, 200, 0x56);
	CHECK_EQ(umr(&p, key, &s, &list, 1), SYND_MW_BIND);
	CHECK(mkey_get(&w_hca[0], key)->free);
	/* another PD */
	CHECK(pair_connect(&p, &w_rc_attr));
	key = empty_mkey(0, w_pd(0), MKEY_KLM, 4, false);
	bind_seg(&s, 0, 200, 0x56);
	CHECK_EQ(umr(&p, key, &s, &list, 1), SYND_MW_BIND);
	/* more entries than there is room for */
	CHECK(pair_connect(&p, &w_rc_attr));
	key = empty_mkey(0, p.pd[0], MKEY_KLM, 4, false);
	bind_seg(&s, 0, 200, 0x56);
	s.ctrl.flags = UMR_XLT_OFFSET;
	s.ctrl.xlt_offset = htobe16(4);
	CHECK_EQ(umr(&p, key, &s, &list, 1), SYND_MW_BIND);
}

static void keys_that_name_each_other_end_somewhere(void)
{
	struct umr_seg s;
	struct wqe_klm list;
	struct pair p;
	uint32_t key;

	CHECK(pair_connect(&p, &w_rc_attr));
	key = empty_mkey(0, p.pd[0], MKEY_KLM, 4, false);
	list = klm(0, 200, key);
	bind_seg(&s, 0, 200, 0x55);
	CHECK_EQ(umr(&p, key, &s, &list, 1), SYND_OK);
	CHECK_EQ(write_from(&p, 0, 64, key), SYND_LOCAL_PROT);
}

/* A repeat block: cycles of so many bytes, and what a cycle takes them from. */
union repeat {
	struct wqe_repeat head;
	struct wqe_repeat_entry entry;
	struct wqe_klm klm;
};

static void repeat_head(union repeat *r, uint32_t per_cycle, uint32_t cycles,
			uint16_t n)
{
	r->head = (struct wqe_repeat){ htobe32(per_cycle),
				       htobe32(KLM_REPEAT_OP), htobe32(cycles),
				       0, htobe16(n) };
}

static void interleaved_pieces_are_gathered(void)
{
	union repeat r[3];
	const uint8_t *to;
	struct pair p;
	uint32_t key;
	int i;

	CHECK(pair_connect(&p, &w_rc_attr));
	pair_fill(&p, 0, 5000, 3);
	repeat_head(&r[0], 24, 10, 2);
	r[1].entry = (struct wqe_repeat_entry){ htobe16(100), htobe16(16),
						htobe32(p.key[0]),
						htobe64(p.mem[0]) };
	r[2].entry = (struct wqe_repeat_entry){ htobe16(50), htobe16(8),
						htobe32(p.key[0]),
						htobe64(p.mem[0] + 3000) };
	key = klm_mkey(&p, 240, &r[0].klm, 3);
	CHECK_EQ(write_from(&p, 0, 240, key), SYND_OK);
	to = w_at(1, p.mem[1]);
	for (i = 0; i < 10; i++) {
		CHECK(!memcmp(to + 24 * i, w_at(0, p.mem[0] + 100 * i), 16));
		CHECK(!memcmp(to + 24 * i + 16,
			      w_at(0, p.mem[0] + 3000 + 50 * i), 8));
	}
	/* from within a piece, over two cycles */
	CHECK_EQ(write_from(&p, 24 * 7 + 20, 10, key), SYND_OK);
	CHECK(!memcmp(to, w_at(0, p.mem[0] + 3000 + 50 * 7 + 4), 4));
	CHECK(!memcmp(to + 4, w_at(0, p.mem[0] + 800), 6));
	CHECK_EQ(write_from(&p, 239, 2, key), SYND_LOCAL_PROT);
}

/* A list that would take very long to walk is refused soon. */
static void a_list_without_end_is_refused(void)
{
	static struct wqe_klm list[4096];
	union repeat *r = (union repeat *)list;
	struct pair p;
	uint32_t key;
	int i;

	CHECK(pair_connect(&p, &w_rc_attr));
	for (i = 1; i < 4096; i++)
		r[i].entry = (struct wqe_repeat_entry){ 0, 0, htobe32(p.key[0]),
							htobe64(p.mem[0]) };
	repeat_head(&r[0], 64, UINT32_MAX, 4095);
	key = klm_mkey(&p, 64, list, 4096);
	CHECK_EQ(write_from(&p, 0, 64, key), SYND_LOCAL_PROT);

	/* each byte is behind 4095 empty pieces, twice over */
	CHECK(pair_connect(&p, &w_rc_attr));
	for (i = 0; i < 4095; i++)
		list[i] = klm(p.mem[0], 0, p.key[0]);
	list[4095] = klm(p.mem[0], 4096, p.key[0]);
	key = klm_mkey(&p, 4096, list, 4096);
	for (i = 0; i < 4096; i++)
		list[i] = klm(i, 1, key);
	key = klm_mkey(&p, 4096, list, 4096);
	for (i = 0; i < 4096; i++)
		list[i] = klm(i, 1, key);
	key = klm_mkey(&p, 4096, list, 4096);
	CHECK_EQ(write_from(&p, 0, 4096, key), SYND_LOCAL_PROT);
}

static void a_key_of_a_qp_is_no_other_qps(void)
{
	struct pair p;

	CHECK(pair_connect(&p, &w_rc_attr));
	mkey_get(&w_hca[0], p.key[0])->qpn = p.qp[0].qpn;
	CHECK_EQ(write_from(&p, p.mem[0], 64, p.key[0]), SYND_OK);
	mkey_get(&w_hca[0], p.key[0])->qpn = p.qp[0].qpn + 1;
	CHECK_EQ(write_from(&p, p.mem[0], 64, p.key[0]), SYND_LOCAL_PROT);
}

static uint8_t destroy_mkey(unsigned int hca, uint32_t key)
{
	uint8_t in[IFC_SZ(destroy_mkey_in)] = { 0 };

	IFC_SET(destroy_mkey_in, in, mkey_index, key >> 8);
	return w_cmd(hca, mkey_cmds, MLX5_CMD_OP_DESTROY_MKEY, 0, 0, in,
		     sizeof(in), NULL, 0);
}

/* A data segment with byte count 0 stands for 2 GiB. */
static void a_segment_without_a_length_has_all(void)
{
	struct pair p;

	CHECK(pair_connect(&p, &w_rc_attr));
	pair_fill(&p, 0, 100, 3);
	w_recv(&p.qp[1], p.mem[1], 0, p.key[1]);
	pair_send(&p, WQE_OP_SEND, OK, 100);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_OK);
	CHECK(pair_same(&p, 100));
	w_recv(&p.qp[1], p.mem[1] + PAIR_MEM - 99, 0, p.key[1]);
	pair_send(&p, WQE_OP_SEND, OK, 100);
	CHECK_EQ(pair_syndrome(&p, 0), SYND_REMOTE_OP);
}

/* No request may access memory by a key that was destroyed. */
static void a_destroyed_key_reaches_nothing(void)
{
	struct pair p;
	struct cqe cqe;

	CHECK(pair_connect(&p, &w_rc_attr));
	pair_fill(&p, 0, 64, 3);
	CHECK_EQ(destroy_mkey(1, p.key[1]), 0);
	CHECK_EQ(write_from(&p, p.mem[0], 64, p.key[0]), SYND_REMOTE_ACCESS);
	CHECK(!pair_same(&p, 64));

	/* Nor may a request that started before the key was destroyed. */
	CHECK(pair_connect(&p, &w_rc_attr));
	pair_fill(&p, 0, 64, 3);
	pair_send(&p, WQE_OP_SEND, OK, 64);
	CHECK(!w_wait(&p.scq[0], &cqe, 5));
	CHECK_EQ(destroy_mkey(0, p.key[0]), 0);
	w_recv(&p.qp[1], p.mem[1], 64, p.key[1]);
	CHECK_EQ(pair_syndrome(&p, 50), SYND_LOCAL_PROT);
	CHECK(!pair_same(&p, 64));
}

static int64_t mtt(const char *name)
{
	struct json_object *o = json_object_new_object(), *group, *value;
	int64_t n;

	mkeys_dump(&w_hca[0], o);
	json_object_object_get_ex(o, "mtt", &group);
	json_object_object_get_ex(group, name, &value);
	n = json_object_get_int64(value);
	json_object_put(o);
	return n;
}

static void the_dump_counts_what_is_registered(void)
{
	uint32_t pd = w_pd(0), key;
	uint64_t mem = w_alloc(0, 4 * SIM_PAGE);

	CHECK_EQ(mtt("entries"), 0);
	w_mkey(0, pd, mem, SIM_PAGE, ACCESS_LOCAL_WRITE);
	CHECK_EQ(mtt("entries"), 1);
	CHECK_EQ(mtt("bytes"), SIM_PAGE);
	/* Two pages in part, and one page again. */
	key = w_mkey(0, pd, mem + 1000, SIM_PAGE, ACCESS_LOCAL_WRITE);
	CHECK_EQ(mtt("entries"), 3);
	CHECK_EQ(mtt("bytes"), 2 * SIM_PAGE);
	/* What is free, or has no entries, maps nothing. */
	empty_mkey(0, pd, MKEY_MTT, 4, true);
	empty_mkey(0, pd, MKEY_MTT, 4, false);
	CHECK_EQ(destroy_mkey(0, key), 0);
	CHECK_EQ(mtt("entries"), 1);
	CHECK_EQ(mtt("bytes"), SIM_PAGE);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(looking_through_long_lists_takes_turns_too),
	TEST(physical_keys_name_guest_addresses),
	TEST(a_umr_makes_a_list_of_pieces),
	TEST(invalidation_frees_a_key),
	TEST(a_send_can_invalidate_the_receivers_key),
	TEST(umr_keeps_to_its_rules),
	TEST(keys_that_name_each_other_end_somewhere),
	TEST(interleaved_pieces_are_gathered),
	TEST(a_list_without_end_is_refused),
	TEST(a_key_of_a_qp_is_no_other_qps),
	TEST(a_segment_without_a_length_has_all),
	TEST(a_destroyed_key_reaches_nothing),
	TEST(the_dump_counts_what_is_registered),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
