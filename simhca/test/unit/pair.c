// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See pair.h.
 */
#include <string.h>

#include "test/unit/pair.h"

#define ALL_RIGHTS (ACCESS_WRITES | ACCESS_REMOTE_READ | ACCESS_LOCAL_READ)

/**
 * pair_make() - CQs, memory and QPs, which stay in reset
 * @p: set
 * @attr: of both QPs
 */
bool pair_make(struct pair *p, const struct w_qp_attr *attr)
{
	struct w_qp_attr a = *attr;
	unsigned int i;

	memset(p, 0, sizeof(*p));
	for (i = 0; i < W_HCAS; i++) {
		p->pd[i] = w_pd(i);
		p->mem[i] = w_alloc(i, PAIR_MEM);
		p->key[i] = w_mkey(i, p->pd[i], p->mem[i], PAIR_MEM,
				   ALL_RIGHTS);
		w_cq(&p->scq[i], i, 6);
		w_cq(&p->rcq[i], i, 6);
		a.pd = p->pd[i];
		if (w_qp(&p->qp[i], i, &a, &p->scq[i], &p->rcq[i]))
			return false;
	}
	return true;
}

/**
 * pair_connect() - make a pair and bring both QPs to RTS
 * @p: set
 * @attr: of both QPs
 */
bool pair_connect(struct pair *p, const struct w_qp_attr *attr)
{
	return pair_make(p, attr) && !w_qp_rts(&p->qp[0], attr, &p->qp[1]) &&
	       !w_qp_rts(&p->qp[1], attr, &p->qp[0]);
}

/**
 * pair_fill() - put a pattern into one side's memory
 * @hca: which side
 * @len: bytes
 * @seed: makes patterns differ
 */
void pair_fill(struct pair *p, unsigned int hca, uint32_t len, uint8_t seed)
{
	uint8_t *at = w_at(hca, p->mem[hca]);
	uint32_t i;

	for (i = 0; i < len; i++)
		at[i] = i * 7 + i / 251 + seed;
}

/**
 * pair_same() - do both sides' memories begin alike?
 * @len: bytes
 */
bool pair_same(struct pair *p, uint32_t len)
{
	return !memcmp(w_at(0, p->mem[0]), w_at(1, p->mem[1]), len);
}

unsigned int pair_done(struct pair *p)
{
	struct cqe cqe;
	unsigned int n = 0;

	while (w_poll(&p->scq[0], &cqe))
		n++;
	return n;
}

/**
 * pair_ring_in_turns() - ring for three requests, of which each takes a whole turn
 * @p: the first side has posted them, and wants a completion of each
 */
void pair_ring_in_turns(struct pair *p)
{
	struct cqe cqe;
	unsigned int n;

	w_ring(&p->qp[0]);
	for (n = 0; w_poll(&p->scq[0], &cqe); n++)
		CHECK_EQ(w_opcode(&cqe), CQE_REQ);
	CHECK_EQ(n, 1);
	w_run(1);
	for (; w_poll(&p->scq[0], &cqe); n++)
		CHECK_EQ(w_opcode(&cqe), CQE_REQ);
	CHECK_EQ(n, 3);
}

/**
 * pair_move() - one RDMA operation with memory of any key
 * @op: WQE_OP_RDMA_*
 * @va: where, under the key
 * @key: of the first adapter
 *
 * Return: the syndrome
 */
uint8_t pair_move(struct pair *p, uint8_t op, uint64_t va, uint32_t len,
		  uint32_t key)
{
	struct w_wqe w;

	w_wqe(&w, &p->qp[0], op, W_SIGNALED, 0);
	w_raddr(&w, p->mem[1], p->key[1]);
	w_data(&w, va, len, key);
	w_post(&p->qp[0], &w);
	w_ring(&p->qp[0]);
	return pair_syndrome(p, 10);
}

/**
 * pair_send() - post one request with data from the first side's memory
 * @op: WQE_OP_*; with an address where it needs one: the start of the second
 * side's memory
 * @flags: of the control segment
 * @len: bytes
 */
void pair_send(struct pair *p, uint8_t op, uint8_t flags, uint32_t len)
{
	struct w_wqe w;

	w_wqe(&w, &p->qp[0], op, flags, 0x11223344);
	if (op == WQE_OP_RDMA_WRITE || op == WQE_OP_RDMA_WRITE_IMM ||
	    op == WQE_OP_RDMA_READ)
		w_raddr(&w, p->mem[1], p->key[1]);
	if (len)
		w_data(&w, p->mem[0], len, p->key[0]);
	w_post(&p->qp[0], &w);
	w_ring(&p->qp[0]);
}

/**
 * pair_syndrome() - wait for the first side's next completion
 * @ms: how long
 *
 * Return: its syndrome, SYND_OK of a good one; 0xff where none came
 */
uint8_t pair_syndrome(struct pair *p, unsigned int ms)
{
	struct cqe cqe;

	if (!w_wait(&p->scq[0], &cqe, ms))
		return 0xff;
	return w_opcode(&cqe) == CQE_REQ_ERR ? cqe.syndrome : SYND_OK;
}
