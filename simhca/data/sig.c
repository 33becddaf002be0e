// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Transfers with signature keys: between the bytes in memory and those on the wire. A
 * transfer says how many bytes it has on the wire. A bad signature does not stop it: a
 * completion of its own tells the program before the one of the transfer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/transport.h"
#include "object/sig.h"

#define SIG_TRANSFER_MAX (64ull << 20)	/* bytes of one transfer */

enum { DOMAIN_WIRE, DOMAIN_MEMORY };
enum { BAD_REF = 1 << 11, BAD_APP = 1 << 12, BAD_GUARD = 1 << 13 };

/* The completion that tells about a bad signature */
struct sig_cqe {
	uint8_t rsvd0[16];
	uint32_t expected;	/* guard and application tag, or CRC */
	uint32_t actual;
	uint32_t expected_ref;
	uint32_t actual_ref;
	uint16_t syndrome;
	uint8_t type;		/* 0: of a block */
	uint8_t domain;
	uint32_t key;
	uint64_t offset;
	uint8_t rsvd1[8];
	uint32_t qpn;
	uint8_t rsvd2[3];
	uint8_t op_own;
};

_Static_assert(sizeof(struct sig_cqe) == CQE_SIZE, "wire format");

/**
 * struct way - one direction between memory and wire
 * @from: how the source is protected
 * @to: how the destination is
 * @counts: of the adapter
 * @bad: set to the first bad signature; op_own 0: none
 */
struct way {
	const struct sig_format *f;
	const struct sig_domain *from;
	const struct sig_domain *to;
	struct sig_counts *counts;
	struct sig_cqe bad;
};

static struct mkey *sig_mkey(struct hca *hca, uint32_t key)
{
	struct mkey *m = mkey_get(hca, key);

	return m && !m->free && m->bsf_en ? m : NULL;
}

/**
 * sig_key() - has the memory key a format of signatures?
 */
bool sig_key(struct hca *hca, uint32_t key)
{
	return sig_mkey(hca, key) != NULL;
}

/* Bytes of a transfer in the domain @to, if it has @len in @from. */
static uint64_t other_len(const struct sig_domain *from,
			  const struct sig_domain *to, uint64_t len)
{
	uint64_t unit = from->block + sig_len(from), rest = len % unit;

	len = len / unit * (to->block + sig_len(to));
	return len + (rest < from->block ? rest : to->block + sig_len(to));
}

static void note_bad(struct way *w, const uint8_t *expected,
		     const uint8_t *actual, uint64_t offset)
{
	uint8_t wrong = 0, i;

	for (i = 0; i < SIG_MAX; i++)
		if (expected[i] != actual[i])
			wrong |= 0x80 >> i;
	wrong &= w->f->check;
	w->counts->checked += !!w->f->check;
	w->counts->bad += !!wrong;
	if (!wrong || w->bad.op_own)
		return;
	if (w->from->kind == SIG_CRC32 || wrong & 0xc0)
		w->bad.syndrome |= htobe16(BAD_GUARD);
	else
		w->bad.syndrome |= htobe16(wrong & 0x30 ? BAD_APP : BAD_REF);
	memcpy(&w->bad.expected, expected, 4);
	memcpy(&w->bad.expected_ref, expected + 4, 4);
	memcpy(&w->bad.actual, actual, 4);
	memcpy(&w->bad.actual_ref, actual + 4, 4);
	w->bad.offset = htobe64(offset);
	w->bad.domain = w->from == &w->f->mem ? DOMAIN_MEMORY : DOMAIN_WIRE;
	w->bad.op_own = CQE_SIG_ERR << 4;
}

/*
 * The signature of a block whose data has gone from @in to @out. A signature that is
 * not whole is not checked.
 */
static void sign(struct way *w, uint32_t number, const uint8_t *in, size_t in_len,
		 uint8_t *out, size_t out_len, uint64_t offset)
{
	uint8_t actual[SIG_MAX] = { 0 }, good[SIG_MAX], made[SIG_MAX];
	size_t n = sig_len(w->from), i;

	if (in_len > n)
		in_len = n;
	memcpy(actual, in + w->from->block, in_len);
	sig_make(w->from, number, in, good);
	if (n && in_len == n && !sig_escaped(w->from, actual))
		note_bad(w, good, actual, offset);
	sig_make(w->to, number, in, made);
	for (i = 0; i < sig_len(w->to) && i < out_len; i++)
		out[w->to->block + i] = w->f->copy & 0x80 >> i ? actual[i] :
								made[i];
}

static void convert(struct way *w, const uint8_t *in, uint64_t in_len,
		    uint8_t *out, uint64_t out_len)
{
	uint64_t in_unit = w->from->block + sig_len(w->from), i, o;
	uint64_t out_unit = w->to->block + sig_len(w->to);
	uint32_t number = 0, n;

	for (i = 0, o = 0; i < in_len && o < out_len;
	     i += in_unit, o += out_unit, number++) {
		n = w->from->block;
		if (n > in_len - i)
			n = in_len - i;
		if (n > out_len - o)
			n = out_len - o;
		memcpy(out + o, in + i, n);
		if (n == w->from->block)
			sign(w, number, in + i, in_len - i - n, out + o,
			     out_len - o - n, i);
	}
}

/*
 * Tell the program about a bad signature, if it knows of none of this key yet. A send
 * queue whose user asked for that stops behind the request.
 */
static void report(struct way *w, struct mkey *m, uint32_t key, struct qp *qp,
		   enum sig_end end)
{
	struct cq *cq = end == SIG_REQUESTER ? qp->scq : qp->rcq;
	struct cqe cqe;

	if (!w->bad.op_own)
		return;
	if (end == SIG_REQUESTER && IFC_GET(qpc, qp->qpc, drain_sigerr))
		qp->drain = true;
	if (m->sig_err)
		return;
	m->sig_err = true;
	w->bad.key = htobe32(key);
	w->bad.qpn = htobe32(qp->obj.id);
	memcpy(&cqe, &w->bad, sizeof(cqe));
	if (cq)
		cq_post(cq, &cqe, true);
}

/*
 * Where a transfer of @len bytes on the wire is in memory: it begins with a block. The
 * pieces are in @l.
 */
static int map(struct qp *qp, const struct accessor *who, uint32_t key,
	       const struct mkey *m, const struct sig_format *f, uint64_t va,
	       uint64_t len, unsigned int access, struct sglist *l)
{
	uint64_t unit = f->wire.block + sig_len(&f->wire), off = va - m->start;

	if (len > SIG_TRANSFER_MAX || off % unit)
		return -EACCES;
	va = m->start + off / unit * (f->mem.block + sig_len(&f->mem));
	return mkey_map_below(qp->hca, who, key, va,
			      other_len(&f->wire, &f->mem, len), access, l);
}

/**
 * sig_read() - the bytes that a key sends
 * @qp: whose request it is
 * @end: of the connection that @qp is; its CQ gets the completion of a bad signature
 * @va: address under the key
 * @len: bytes on the wire
 * @access: ACCESS_* that are needed
 * @out: gets the bytes, which are valid until the next call
 *
 * Return: 0, -EACCES, -EFAULT, -ENOMEM as mkey_map()
 */
int sig_read(struct qp *qp, enum sig_end end, const struct accessor *who,
	     uint32_t key, uint64_t va, uint64_t len, unsigned int access,
	     struct sglist *out)
{
	struct mkey *m = sig_mkey(qp->hca, key);
	struct objects *objs = qp->hca->objs;
	struct sglist l = { 0 };
	struct sig_format f;
	struct way w = { .f = &f, .from = &f.mem, .to = &f.wire,
			 .counts = &objs->sig_counts };
	uint8_t *in = NULL;
	int ret = -EACCES;

	if (m && !out->len && sig_parse(m->bsf, &f))
		ret = map(qp, who, key, m, &f, va, len, access, &l);
	if (!ret) {
		in = malloc(l.len + 1);
		free(objs->sig_wire);
		objs->sig_wire = calloc(1, len + 1);
		ret = in && objs->sig_wire ? 0 : -ENOMEM;
	}
	if (!ret) {
		sgl_read(&l, in, l.len);
		convert(&w, in, l.len, objs->sig_wire, len);
		report(&w, m, key, qp, end);
		ret = sgl_add(out, objs->sig_wire, len);
	}
	free(in);
	sgl_free(&l);
	return ret;
}

/**
 * sig_sink() - room for the bytes on the wire that a request reads to a key
 * @len: bytes
 * @out: gets the room, which is valid until the next call
 *
 * Return: 0, -EACCES: too many, or not the only segment; -ENOMEM
 */
int sig_sink(struct qp *qp, uint64_t len, struct sglist *out)
{
	struct objects *objs = qp->hca->objs;

	if (out->len || len > SIG_TRANSFER_MAX)
		return -EACCES;
	free(objs->sig_sink);
	objs->sig_sink = calloc(1, len + 1);
	return objs->sig_sink ? sgl_add(out, objs->sig_sink, len) : -ENOMEM;
}

/**
 * sig_write() - write what came to the memory of a key
 * @qp: whose request it is
 * @end: of the connection that @qp is; its CQ gets the completion of a bad signature
 * @va: address under the key
 * @access: ACCESS_* that are needed
 * @from: the bytes on the wire
 *
 * Return: 0, -EACCES, -EFAULT, -ENOMEM as mkey_map()
 */
int sig_write(struct qp *qp, enum sig_end end, const struct accessor *who,
	      uint32_t key, uint64_t va, unsigned int access,
	      const struct sglist *from)
{
	struct mkey *m = sig_mkey(qp->hca, key);
	struct sglist l = { 0 };
	struct sig_format f;
	struct way w = { .f = &f, .from = &f.wire, .to = &f.mem,
			 .counts = &qp->hca->objs->sig_counts };
	uint8_t *in = NULL, *out = NULL;
	int ret = -EACCES;

	if (m && sig_parse(m->bsf, &f))
		ret = map(qp, who, key, m, &f, va, from->len, access, &l);
	if (!ret) {
		in = malloc(from->len + 1);
		out = calloc(1, l.len + 1);
		ret = in && out ? 0 : -ENOMEM;
	}
	if (!ret) {
		sgl_read(from, in, from->len);
		if (qp->hca->flip)
			in[0] ^= 1;
		convert(&w, in, from->len, out, l.len);
		report(&w, m, key, qp, end);
		sgl_write(&l, out, l.len);
	}
	free(in);
	free(out);
	sgl_free(&l);
	return ret;
}
