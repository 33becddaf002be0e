// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Objects and data with random input of a guest: commands, work requests,
 * doorbell records, links of shared queues. The test fails if ASan or UBSan
 * reports an error, or if the model does not work afterwards.
 *
 * Usage: hca_fuzz_test [SEED [ROUNDS]]; a failure repeats with its seed.
 */
#include <stdlib.h>
#include <string.h>

#include "object/page_fault.h"
#include "test/unit/pair.h"

#define DEFAULT_ROUNDS 500	/* of ROUND steps */
#define ROUND 2000	/* steps with one set of objects */
#define CMD_BYTES 1024

enum { T_RC, T_UC, T_UD, T_XRC, T_SRQ, TYPES };

static uint64_t rng;
static unsigned int rounds = DEFAULT_ROUNDS;

static uint32_t rnd(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng >> 16;
}

static bool chance(unsigned int percent)
{
	return rnd() % 100 < percent;
}

struct set {
	struct pair p[TYPES];
	struct w_qp_attr attr[TYPES][W_HCAS];
	struct w_srq rmp;
	struct w_srq xrc;
	struct w_cq xrc_cq;
};

static void connect(struct set *s, unsigned int t)
{
	struct pair *p = &s->p[t];
	unsigned int i;

	for (i = 0; i < W_HCAS; i++) {
		w_qp_simple(&p->qp[i], MLX5_CMD_OP_2RST_QP);
		memset(w_at(i, p->qp[i].dbr), 0, DB_RECORD);
		p->qp[i].sq_pi = 0;
		p->qp[i].rq_pi = 0;
		w_qp_rts(&p->qp[i], &s->attr[t][i], &p->qp[!i]);
	}
}

static void make_set(struct set *s)
{
	static const enum qp_type types[TYPES] = { QP_RC, QP_UC, QP_UD, QP_XRC,
						   QP_RC };
	struct w_qp_attr *a;
	unsigned int t, i;

	for (t = 0; t < TYPES; t++) {
		pair_make(&s->p[t], &w_rc_attr);
		for (i = 0; i < W_HCAS; i++) {
			a = &s->attr[t][i];
			*a = w_rc_attr;
			a->type = types[t];
			a->pd = s->p[t].pd[i];
			a->rnr_retry = 1;
		}
	}
	s->attr[T_XRC][0].xrcd = w_xrcd(0);
	s->attr[T_XRC][1].xrcd = w_xrcd(1);
	s->attr[T_XRC][1].no_sq = true;
	w_cq(&s->xrc_cq, 1, 6);
	w_xrc_srq(&s->xrc, 1, s->p[T_XRC].pd[1], s->attr[T_XRC][1].xrcd,
		  &s->xrc_cq);
	w_rmp(&s->rmp, 1, s->p[T_SRQ].pd[1], W_RMP_LIST);
	s->attr[T_SRQ][1].srqn = s->rmp.srqn;
	for (t = 0; t < TYPES; t++) {
		for (i = 0; i < W_HCAS; i++)
			w_qp(&s->p[t].qp[i], i, &s->attr[t][i],
			     &s->p[t].scq[i], &s->p[t].rcq[i]);
		connect(s, t);
	}
}

static uint32_t any_key(const struct set *s, unsigned int t, unsigned int hca)
{
	switch (rnd() % 10) {
	case 0:
		return rnd();
	case 1:
		return MKEY_NULL;
	case 2:
		return s->p[rnd() % TYPES].key[hca];
	}
	return s->p[t].key[hca];
}

static uint64_t any_addr(const struct set *s, unsigned int t, unsigned int hca)
{
	if (chance(5))
		return (uint64_t)rnd() << 32 | rnd();
	return s->p[t].mem[hca] + rnd() % (PAIR_MEM + 64);
}

static uint32_t any_len(void)
{
	switch (rnd() % 8) {
	case 0:
		return rnd();
	case 1:
		return 0;
	case 2:
		return rnd() % PAIR_MEM;
	}
	return rnd() % 256;
}

static void any_segs(const struct set *s, unsigned int t, unsigned int hca,
		     struct w_wqe *w)
{
	uint8_t noise[64];
	unsigned int n = rnd() % 5, i;

	while (n--) {
		for (i = 0; i < sizeof(noise); i++)
			noise[i] = rnd();
		switch (rnd() % 6) {
		case 0:
			w_inline(w, noise, rnd() % sizeof(noise));
			break;
		case 1:
			w_add(w, noise, 16 * (rnd() % 4));
			break;
		default:
			w_data(w, any_addr(s, t, hca), any_len(),
			       any_key(s, t, hca));
		}
	}
}

static void any_wqe(struct set *s, unsigned int t, unsigned int hca)
{
	static const uint8_t ops[] = { 0x00, 0x01, 0x08, 0x09, 0x0a, 0x0b,
				       0x10, 0x11, 0x12, 0x25, 0x25, 0x7e };
	struct w_qp *qp = &s->p[t].qp[hca];
	struct wqe_xrc xrc = { .srqn = htobe32(s->xrc.srqn) };
	struct wqe_av av = { .dqpn = htobe32(s->p[t].qp[!hca].qpn |
					     WQE_AV_EXTENDED),
			     .rlid = htobe16(!hca + 1) };
	uint8_t op = ops[rnd() % ARRAY_SIZE(ops)];
	struct w_wqe w;

	w_wqe(&w, qp, op, rnd(), chance(50) ? any_key(s, t, hca) : rnd());
	if (t == T_XRC && chance(95))
		w_add(&w, &xrc, sizeof(xrc));
	if (t == T_UD && chance(95))
		w_add(&w, &av, sizeof(av));
	if (op == 0x25) {
		struct wqe_umr umr = { .flags = rnd() & 0xf8,
				       .xlt_octowords = htobe16(rnd() % 8),
				       .mkey_mask = htobe64(rnd() % 3 ? rnd() :
							    UMR_MASK_FREE) };

		w_add(&w, &umr, sizeof(umr));
	} else if (op >= 8 && op != 0x0a && op != 0x0b) {
		w_raddr(&w, any_addr(s, t, !hca), any_key(s, t, !hca));
	}
	any_segs(s, t, hca, &w);
	if (chance(5))
		w.b[rnd() % w.len] ^= rnd();
	w_post(qp, &w);
	if (chance(2))
		qp->sq_pi += rnd();
	w_ring(qp);
}

static void any_command(struct set *s)
{
	static const struct cmd_def *const tables[] = {
		pd_cmds, mkey_cmds, cq_cmds, srq_cmds, qp_cmds, mcg_cmds,
		rawq_cmds, umem_cmds, fault_cmds,
	};
	const struct cmd_def *table = tables[rnd() % ARRAY_SIZE(tables)];
	size_t n = 0, len, i;
	uint8_t *in, out[8192] = { 0 };
	unsigned int hca = rnd() % W_HCAS;

	while (table[n].handler)
		n++;
	n = rnd() % n;
	len = table[n].in_min + rnd() % CMD_BYTES;
	in = calloc(1, len);	/* so that ASan sees its end */
	if (!in)
		abort();
	for (i = 0; i < rnd() % 64; i++)
		in[rnd() % len] = rnd();
	if (chance(80))		/* number of an object that may exist */
		IFC_SET(rst2init_qp_in, in, qpn,
			chance(50) ? rnd() % 0x80 :
				     s->p[rnd() % TYPES].qp[hca].qpn);
	w_cmd(hca, table, table[n].opcode, rnd() % 3, chance(20) ? 1 : 0, in,
	      len, out, sizeof(out));
	free(in);
}

/* Take the pages of a key away. */
static void any_eviction(struct set *s)
{
	unsigned int t = rnd() % TYPES, hca = rnd() % W_HCAS;
	struct mkey *m = mkey_get(&w_hca[hca], any_key(s, t, hca));

	if (m && m->xlt && m->mode == MKEY_MTT)
		memset(m->xlt, 0, rnd() % (m->xlt_len + 1));
}

/* Resume a fault that may exist, as a driver does. */
static void any_resume(void)
{
	uint8_t in[IFC_SZ(page_fault_resume_in)] = { 0 };
	uint8_t *i = IFC_ADDR_OF(page_fault_resume_in, in, page_fault_info);
	unsigned int hca = rnd() % W_HCAS;
	struct page_fault *f;
	uint32_t id = 0;

	f = idtable_next(&w_hca[hca].objs->faults, &id);
	if (!f)
		return;
	IFC_SET(trans_page_fault_info, i, page_fault_type, f->type);
	IFC_SET(trans_page_fault_info, i, wq_number, f->wq);
	IFC_SET(trans_page_fault_info, i, fault_token, id);
	IFC_SET(trans_page_fault_info, i, error, chance(20));
	w_must(w_cmd(hca, fault_cmds, MLX5_CMD_OP_PAGE_FAULT_RESUME, 0, 0, in,
		     sizeof(in), NULL, 0));
	w_run(0);
}

static void any_damage(struct set *s)
{
	unsigned int t = rnd() % TYPES, hca = rnd() % W_HCAS;
	uint8_t *at;

	switch (rnd() % 8) {
	case 0:
		at = w_at(1, chance(50) ? s->rmp.buf : s->xrc.buf);
		at[rnd() % 512] = rnd();
		break;
	case 1:
		at = w_at(hca, s->p[t].qp[hca].buf);
		at[rnd() % 2048] = rnd();
		break;
	case 2:
		at = w_at(hca, s->p[t].qp[hca].dbr);
		at[rnd() % DB_RECORD] = rnd();
		break;
	case 3:
		cq_ring(&w_hca[hca], W_UAR, rnd(), s->p[t].scq[hca].cqn);
		break;
	case 4:
		any_eviction(s);
		break;
	default:
		any_resume();
	}
}

static void step(struct set *s)
{
	unsigned int t = rnd() % TYPES, hca = rnd() % W_HCAS;
	struct pair *p = &s->p[t];
	struct cqe cqe;

	switch (rnd() % 16) {
	case 0:
		any_damage(s);
		break;
	case 1:
		any_command(s);
		break;
	case 2:
		connect(s, t);
		break;
	case 3:
		w_srq_recv(chance(50) ? &s->rmp : &s->xrc,
			   any_addr(s, t, 1), any_len(), any_key(s, t, 1));
		break;
	case 4:
		w_poll(&p->scq[hca], &cqe);
		w_poll(&p->rcq[hca], &cqe);
		break;
	case 5:
	case 6:
	case 7:
		w_recv(&p->qp[hca], any_addr(s, t, hca), any_len(),
		       any_key(s, t, hca));
		break;
	default:
		any_wqe(s, t, t == T_XRC ? 0 : hca);
	}
}

static void the_model_survives_any_guest(void)
{
	unsigned int round, i;
	struct set s;

	for (round = 0; round < rounds; round++) {
		make_set(&s);
		w_fault_queue = round % 2 ? W_FAULTS_TAKEN : W_FAULTS_NONE;
		for (i = 0; i < ROUND; i++) {
			/* positions stay sane, contents need not be */
			s.rmp.head %= 8;
			s.xrc.head %= 8;
			step(&s);
		}
		w_run(1);
		w_teardown();
		w_setup();
	}
	printf("# %u steps\n", rounds * ROUND);
}

static void it_still_works(void)
{
	struct pair p;

	CHECK(pair_connect(&p, &w_rc_attr));
	pair_fill(&p, 0, 1000, 1);
	pair_send(&p, WQE_OP_RDMA_WRITE, W_SIGNALED, 1000);
	CHECK_EQ(pair_syndrome(&p, 10), SYND_OK);
	CHECK(pair_same(&p, 1000));
}

static const struct ktap_test tests[] = {
	{ "the_model_survives_any_guest", the_model_survives_any_guest },
	{ "it_still_works", it_still_works },
};

int main(int argc, char **argv)
{
	rng = argc > 1 ? strtoull(argv[1], NULL, 0) : 0x9e3779b97f4a7c15;
	if (argc > 2)
		rounds = strtoul(argv[2], NULL, 0);
	printf("# seed 0x%llx\n", (unsigned long long)rng);
	if (!rng)
		return 1;
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
