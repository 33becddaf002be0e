// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Translation: from key and address to pieces of host memory.
 * See mkey.h for the model.
 *
 * An indirect mkey names others. The depth is bounded, so that a cycle of mkeys
 * ends in an error. The number of entries is bounded too: otherwise lists of
 * empty pieces, or of lists, could keep the adapter busy for ever.
 */
#include <errno.h>

#include "bus/dma.h"
#include "fw/caps_odp.h"
#include "object/memic.h"
#include "object/mkey.h"
#include "object/wqe.h"

#define MAX_MESSAGE (1ull << 31)
#define MAX_STEPS (1u << 22)	/* many times the pieces of a whole message */

static uint64_t walked;	/* entries that all translations have looked at */

/**
 * struct walk - one translation
 * @who: on whose behalf
 * @out: where pieces go
 * @steps: entries that may still be looked at
 * @write: will they be written?
 */
struct walk {
	struct hca *hca;
	const struct accessor *who;
	struct sglist *out;
	unsigned int *steps;
	bool write;
};

/* Count an entry that is looked at. False if there have been too many. */
static bool walk_step(const struct walk *w)
{
	if (!*w->steps)
		return false;
	--*w->steps;
	walked++;
	return true;
}

/**
 * mkey_steps() - how many entries were looked at since the start of the program
 *
 * The difference is what a request costs beside its bytes, at both of its ends.
 */
uint64_t mkey_steps(void)
{
	return walked;
}

static int walk_key(const struct walk *w, uint32_t key, uint64_t va,
		    uint64_t len, unsigned int access, unsigned int depth);

static int walk_phys(const struct walk *w, uint64_t addr, uint64_t len)
{
	void *p = dma_ptr(w->hca, addr, len, w->write);

	return p ? sgl_add(w->out, p, len) : -EFAULT;
}

/* The page is not present, or not to be written yet: tell which. */
static int missing(const struct walk *w, const struct mkey *m, uint64_t va,
		   uint64_t len)
{
	w->hca->objs->miss = (struct miss){
		.key = m->obj.id << 8 | m->variant,
		.va = va,
		.len = len,
		.end = m->length64 ? 0 : m->start + m->len,
	};
	return -EAGAIN;
}

static int walk_mtt(const struct walk *w, const struct mkey *m, uint64_t va,
		    uint64_t len)
{
	uint64_t page = 1ull << m->log_page, need, in_page, piece, e;
	uint64_t i = (va >> m->log_page) - (m->start >> m->log_page);
	int ret;

	need = w->write ? MTT_WRITE : MTT_READ;
	for (; len; i++) {
		if (i >= m->xlt_len / sizeof(e) || !walk_step(w))
			return -EACCES;
		memcpy(&e, m->xlt + i * sizeof(e), sizeof(e));
		e = be64toh(e);
		if (!(e & need))
			return missing(w, m, va, len);
		in_page = va & (page - 1);
		piece = page - in_page < len ? page - in_page : len;
		e &= ~(MTT_FLAGS | (page - 1));
		ret = walk_phys(w, e + in_page, piece);
		if (ret)
			return ret;
		va += piece;
		len -= piece;
	}
	return 0;
}

static unsigned int inner_access(const struct walk *w)
{
	return w->write ? ACCESS_LOCAL_WRITE : ACCESS_LOCAL_READ;
}

static int walk_ksm(const struct walk *w, const struct mkey *m, uint64_t va,
		    uint64_t len, unsigned int depth)
{
	uint64_t page = 1ull << m->log_page, in_page, piece;
	uint64_t i = (va >> m->log_page) - (m->start >> m->log_page);
	struct wqe_klm e;
	int ret;

	for (; len; i++) {
		if (i >= m->xlt_len / sizeof(e) || !walk_step(w))
			return -EACCES;
		memcpy(&e, m->xlt + i * sizeof(e), sizeof(e));
		in_page = va & (page - 1);
		piece = page - in_page < len ? page - in_page : len;
		ret = walk_key(w, be32toh(e.key), be64toh(e.va) + in_page,
			       piece, inner_access(w), depth + 1);
		if (ret)
			return ret;
		va += piece;
		len -= piece;
	}
	return 0;
}

/* A repeat block: cycles through strided pieces of several keys. */
static int walk_repeat(const struct walk *w, const struct mkey *m, uint64_t off,
		       uint64_t len, unsigned int depth)
{
	size_t n = m->xlt_len / sizeof(struct wqe_repeat_entry), i;
	struct wqe_repeat_entry e;
	struct wqe_repeat head;
	uint64_t cycle, per_cycle, piece;
	int ret;

	memcpy(&head, m->xlt, sizeof(head));
	per_cycle = be32toh(head.bcount_per_cycle);
	if (!per_cycle || be16toh(head.num_entries) > n - 1)
		return -EACCES;
	n = be16toh(head.num_entries);
	cycle = off / per_cycle;
	off %= per_cycle;
	for (; len; cycle++, off = 0) {
		if (cycle >= be32toh(head.repeat_count) || !walk_step(w))
			return -EACCES;
		for (i = 1; i <= n && len; i++) {
			if (!walk_step(w))
				return -EACCES;
			memcpy(&e, m->xlt + i * sizeof(e), sizeof(e));
			if (off >= be16toh(e.bcount)) {
				off -= be16toh(e.bcount);
				continue;
			}
			piece = be16toh(e.bcount) - off;
			if (piece > len)
				piece = len;
			ret = walk_key(w, be32toh(e.key), be64toh(e.va) + off +
				       cycle * be16toh(e.stride), piece,
				       inner_access(w), depth + 1);
			if (ret)
				return ret;
			off = 0;
			len -= piece;
		}
		if (off)
			return -EACCES;
	}
	return 0;
}

static int walk_klm(const struct walk *w, const struct mkey *m, uint64_t off,
		    uint64_t len, unsigned int depth)
{
	size_t i, n = m->xlt_len / sizeof(struct wqe_klm);
	uint64_t bytes, piece;
	struct wqe_klm e;
	int ret;

	for (i = 0; len; i++) {
		if (i >= n || !walk_step(w))
			return -EACCES;
		memcpy(&e, m->xlt + i * sizeof(e), sizeof(e));
		if (!i && be32toh(e.key) == KLM_REPEAT_OP)
			return walk_repeat(w, m, off, len, depth);
		bytes = be32toh(e.bcount);
		if (off >= bytes) {
			off -= bytes;
			continue;
		}
		piece = bytes - off < len ? bytes - off : len;
		ret = walk_key(w, be32toh(e.key), be64toh(e.va) + off, piece,
			       inner_access(w), depth + 1);
		if (ret)
			return ret;
		off = 0;
		len -= piece;
	}
	return 0;
}

/* What the null mkey reads, and where writes to it go. */
static int walk_null(const struct walk *w, uint64_t len)
{
	static uint8_t zeroes[SIM_PAGE], sink[SIM_PAGE];
	uint64_t piece;
	int ret = 0;

	for (; len && !ret; len -= piece) {
		piece = len < SIM_PAGE ? len : SIM_PAGE;
		ret = sgl_add(w->out, w->write ? sink : zeroes, piece);
	}
	return ret;
}

/* Addresses under such a key count from 0, and the key begins where its memory is. */
static int walk_memic(const struct walk *w, const struct mkey *m, uint64_t va,
		      uint64_t len)
{
	void *p = memic_ptr(w->hca, m->start + va, len);

	return p ? sgl_add(w->out, p, len) : -EACCES;
}

static bool mkey_covers(const struct mkey *m, uint64_t va, uint64_t len)
{
	if (m->mode == MKEY_MEMIC)
		return va <= m->len && len <= m->len - va;
	if (va + len < va)
		return false;
	if (m->length64)
		return true;
	return va >= m->start && va - m->start <= m->len &&
	       len <= m->len - (va - m->start);
}

static int walk_key(const struct walk *w, uint32_t key, uint64_t va,
		    uint64_t len, unsigned int access, unsigned int depth)
{
	const struct mkey *m;
	int ret;

	/* In a list it holds the place of a key that a driver will put there. */
	if (key == MKEY_NULL)
		return depth && !odp_memory_scheme(w->hca) ? -EAGAIN :
							     walk_null(w, len);
	if (key == MKEY_RESERVED_LKEY && w->who->rlky &&
	    !(access & ~(ACCESS_LOCAL_READ | ACCESS_LOCAL_WRITE)))
		return walk_phys(w, va, len);
	m = mkey_get(w->hca, key);
	if (!m || m->free || depth > MKEY_MAX_DEPTH)
		return -EACCES;
	if ((m->rights & access) != access || !mkey_covers(m, va, len))
		return -EACCES;
	if (m->pd != w->who->pd && !w->who->any_pd)
		return -EACCES;
	if (m->qpn != MKEY_ANY_QP && m->qpn != w->who->qpn)
		return -EACCES;
	switch (m->mode) {
	case MKEY_PA:
		return walk_phys(w, va, len);
	case MKEY_MTT:
		ret = walk_mtt(w, m, va, len);
		w->hca->objs->miss.listed = depth > 0;
		return ret;
	case MKEY_KLM:
		return walk_klm(w, m, va - m->start, len, depth);
	case MKEY_KSM:
		return walk_ksm(w, m, va, len, depth);
	case MKEY_MEMIC:
		return walk_memic(w, m, va, len);
	}
	return -EACCES;
}

/**
 * mkey_map() - translate a stretch of memory and check the right to it
 * @hca: the adapter whose key it is
 * @who: on whose behalf
 * @key: index and variant
 * @va: address under that key
 * @len: bytes, 0 is always allowed
 * @access: ACCESS_* that are needed
 * @out: gets the pieces, after those it already has
 *
 * Return: 0; -EAGAIN where a page is not present, which objects.miss then tells;
 * -EACCES where a rule forbids it or the key has a format of signatures, -EFAULT where
 * the memory is not mapped, -ENOMEM. On failure @out has some of the pieces.
 */
int mkey_map(struct hca *hca, const struct accessor *who, uint32_t key,
	     uint64_t va, uint64_t len, unsigned int access,
	     struct sglist *out)
{
	const struct mkey *m = mkey_get(hca, key);

	if (m && m->bsf_en)
		return len ? -EACCES : 0;
	return mkey_map_below(hca, who, key, va, len, access, out);
}

/**
 * mkey_map_below() - the same for a key with a format of signatures too
 *
 * Return: as mkey_map(); the pieces are those in memory, with their signatures
 */
int mkey_map_below(struct hca *hca, const struct accessor *who, uint32_t key,
		   uint64_t va, uint64_t len, unsigned int access,
		   struct sglist *out)
{
	unsigned int steps = MAX_STEPS;
	struct walk w = { .hca = hca, .who = who, .out = out, .steps = &steps,
			  .write = access & ACCESS_WRITES };

	if (!len)
		return 0;
	if (len > MAX_MESSAGE)
		return -EACCES;
	return walk_key(&w, key, va, len, access, 0);
}
