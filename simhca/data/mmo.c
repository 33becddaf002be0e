// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Work on memory (MMO): a QP that may do it copies bytes from one memory key of its
 * protection domain to another one. Nothing goes over the network.
 */
#include <string.h>

#include "data/transport.h"

#define COPY 1		/* operation modifier of the request */
#define STATUS_BYTES 64u	/* of the program, for what the adapter reports */

struct wqe_mmo {
	uint32_t control;
	uint32_t status_key;
	uint64_t status_addr;
	struct wqe_data from;
	struct wqe_data to;
};

_Static_assert(sizeof(struct wqe_mmo) == 48, "wire format");

static int map(struct qp *qp, const struct wqe_data *seg, uint32_t len,
	       unsigned int right, struct sglist *l)
{
	struct accessor who = qp_accessor(qp);

	sgl_reset(l);
	return mkey_map(qp->hca, &who, be32toh(seg->lkey), be64toh(seg->addr),
			len, right, l);
}

/**
 * mmo_execute() - copy memory
 * @mod: operation modifier of the request
 * @tail: what is behind the control segment
 * @len: bytes of it
 *
 * Return: SYND_OK; SYND_LOCAL_QP_OP: not a copy, or the QP may do none;
 * SYND_LOCAL_LENGTH: too many bytes, or not the same number on both sides;
 * SYND_LOCAL_PROT: a key does not allow it
 */
uint8_t mmo_execute(struct qp *qp, uint8_t mod, const uint8_t *tail, size_t len)
{
	struct objects *objs = qp->hca->objs;
	struct wqe_data status = { 0 };
	struct wqe_mmo w;
	uint32_t n;

	if (!qp->mmo || mod != COPY || len != sizeof(w))
		return SYND_LOCAL_QP_OP;
	memcpy(&w, tail, sizeof(w));
	n = be32toh(w.from.byte_count);
	if (!n || n > 1u << LOG_MAX_MMO || w.to.byte_count != w.from.byte_count)
		return SYND_LOCAL_LENGTH;
	status.lkey = w.status_key;
	status.addr = w.status_addr;
	if (map(qp, &status, STATUS_BYTES, ACCESS_LOCAL_WRITE, &objs->dst) ||
	    map(qp, &w.from, n, ACCESS_LOCAL_READ, &objs->src) ||
	    map(qp, &w.to, n, ACCESS_LOCAL_WRITE, &objs->dst))
		return SYND_LOCAL_PROT;
	sgl_copy(&objs->dst, &objs->src);
	return SYND_OK;
}
