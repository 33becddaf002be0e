// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UMR work requests: change an mkey from a send queue. Registering fast,
 * binding a memory window and invalidating are all of this one form. Also the
 * remote and the plain form of invalidation.
 *
 * A UMR that fails changes nothing.
 */
#include <stdlib.h>

#include "object/mkey.h"
#include "object/wqe.h"

#define OCTOWORD 16u
#define MKC_SIZE IFC_SZ(mkc)
#define UMR_ALIGN 64u

#define UMR_MASK_KNOWN                                                     \
	(UMR_MASK_LEN | UMR_MASK_PAGE_SIZE | UMR_MASK_START | UMR_MASK_PD | \
	 UMR_MASK_RINVAL | UMR_MASK_KEY | UMR_MASK_QPN | UMR_MASK_LR |      \
	 UMR_MASK_LW | UMR_MASK_RR | UMR_MASK_RW | UMR_MASK_A |             \
	 UMR_MASK_FREE | UMR_MASK_SIG_ERR | UMR_MASK_BSF | UMR_MASK_FENCE)

/**
 * struct umr - a UMR being executed
 * @who: the QP's rights
 * @ctrl: control segment
 * @mkc: mkey context segment
 * @mask: fields that change
 * @rest: what follows the context: inline entries or a data segment
 * @rest_len: bytes of @rest
 * @bsf: the new format, within @rest; NULL: there is none
 * @format: @bsf, if there is one
 */
struct umr {
	struct hca *hca;
	const struct accessor *who;
	struct wqe_umr ctrl;
	const uint8_t *mkc;
	uint64_t mask;
	const uint8_t *rest;
	size_t rest_len;
	const uint8_t *bsf;
	struct sig_format format;
};

/* Fetch the new entries into @to: from the WQE, or from memory. */
static uint8_t umr_fetch(const struct umr *u, uint8_t *to, size_t len)
{
	struct sglist *l = &u->hca->objs->src;
	struct wqe_data d;

	if (u->ctrl.flags & UMR_INLINE) {
		if (len > u->rest_len)
			return SYND_LOCAL_QP_OP;
		memcpy(to, u->rest, len);
		return SYND_OK;
	}
	if (u->rest_len < sizeof(d))
		return SYND_LOCAL_QP_OP;
	memcpy(&d, u->rest, sizeof(d));
	if (be32toh(d.byte_count) < len)
		return SYND_LOCAL_QP_OP;
	sgl_reset(l);
	if (mkey_map(u->hca, u->who, be32toh(d.lkey), be64toh(d.addr), len,
		     ACCESS_LOCAL_READ, l))
		return SYND_LOCAL_PROT;
	sgl_read(l, to, len);
	return SYND_OK;
}

static uint8_t umr_translations(const struct umr *u, struct mkey *m)
{
	size_t len = (size_t)be16toh(u->ctrl.xlt_octowords) * OCTOWORD;
	uint64_t off = 0;
	uint8_t *entries, synd;

	if (!len)
		return SYND_OK;
	if (u->ctrl.flags & UMR_XLT_OFFSET)
		off = ((uint64_t)be32toh(u->ctrl.xlt_offset_47_16) << 16 |
		       be16toh(u->ctrl.xlt_offset)) * OCTOWORD;
	if (!m->xlt || off > m->xlt_len)
		return SYND_MW_BIND;
	entries = malloc(len);
	if (!entries)
		return SYND_LOCAL_QP_OP;
	synd = umr_fetch(u, entries, len);
	/* The guest pads the list to 64 bytes; the padding need not fit. */
	if (!synd && len > m->xlt_len - off) {
		if (len - (m->xlt_len - off) >= UMR_ALIGN)
			synd = SYND_MW_BIND;
		else
			len = m->xlt_len - off;
	}
	if (!synd)
		memcpy(m->xlt + off, entries, len);
	free(entries);
	return synd;
}

/*
 * Check the new format, which stands behind the entries. It has the place of their offset
 * in the control segment.
 */
static uint8_t umr_format_check(struct umr *u, const struct mkey *m)
{
	size_t at = (size_t)be16toh(u->ctrl.xlt_octowords) * OCTOWORD;
	size_t len = (size_t)be16toh(u->ctrl.xlt_offset) * OCTOWORD;

	if (!(u->mask & UMR_MASK_BSF))
		return SYND_OK;
	if (!m->bsf_room || u->ctrl.flags & UMR_XLT_OFFSET)
		return SYND_MW_BIND;
	if (!IFC_GET(mkc, u->mkc, bsf_en))
		return SYND_OK;
	if (len != SIG_FORMAT_LEN || !(u->ctrl.flags & UMR_INLINE) ||
	    at + len > u->rest_len)
		return SYND_LOCAL_QP_OP;
	if (!sig_parse(u->rest + at, &u->format))
		return SYND_MW_BIND;
	u->bsf = u->rest + at;
	return SYND_OK;
}

/* A key without a format has none from then on. */
static void umr_format(const struct umr *u, struct mkey *m)
{
	if (!(u->mask & UMR_MASK_BSF))
		return;
	if (u->bsf)
		memcpy(m->bsf, u->bsf, SIG_FORMAT_LEN);
	m->bsf_en = u->bsf && u->format.mem.block;
}

static void umr_fields(const struct umr *u, struct mkey *m)
{
	unsigned int rights = 0;

	if (u->mask & UMR_MASK_LEN) {
		m->len = IFC_GET64(mkc, u->mkc, len);
		m->length64 = IFC_GET(mkc, u->mkc, length64);
	}
	if (u->mask & UMR_MASK_PAGE_SIZE)
		m->log_page = IFC_GET(mkc, u->mkc, log_page_size);
	if (u->mask & UMR_MASK_START)
		m->start = IFC_GET64(mkc, u->mkc, start_addr);
	if (u->mask & UMR_MASK_PD)
		m->pd = IFC_GET(mkc, u->mkc, pd);
	if (u->mask & UMR_MASK_RINVAL)
		m->rinval = IFC_GET(mkc, u->mkc, en_rinval);
	if (u->mask & UMR_MASK_KEY)
		m->variant = IFC_GET(mkc, u->mkc, mkey_7_0);
	if (u->mask & UMR_MASK_QPN)
		m->qpn = IFC_GET(mkc, u->mkc, qpn);
	if (u->mask & UMR_MASK_FREE)
		m->free = IFC_GET(mkc, u->mkc, free);
	if (u->mask & UMR_MASK_LR)
		rights |= ACCESS_LOCAL_READ;
	if (u->mask & UMR_MASK_LW)
		rights |= ACCESS_LOCAL_WRITE;
	if (u->mask & UMR_MASK_RR)
		rights |= ACCESS_REMOTE_READ;
	if (u->mask & UMR_MASK_RW)
		rights |= ACCESS_REMOTE_WRITE;
	if (u->mask & UMR_MASK_A)
		rights |= ACCESS_ATOMIC;
	if (u->mask & UMR_MASK_SIG_ERR)
		m->sig_err = false;
	mkey_set_rights(m, u->mkc, rights);
	mkey_hold_pd(u->hca, m);
}

/* The PD that the mkey will have, if it is not free then. */
static bool umr_pd_exists(const struct umr *u, const struct mkey *m)
{
	bool is_free = u->mask & UMR_MASK_FREE ? IFC_GET(mkc, u->mkc, free) :
						 m->free;

	return is_free || pd_find(u->hca, u->mask & UMR_MASK_PD ?
				  IFC_GET(mkc, u->mkc, pd) : m->pd, 0);
}

static uint8_t umr_check(const struct umr *u, const struct mkey *m,
			 uint32_t key)
{
	uint8_t flags = u->ctrl.flags;

	if (!m || !m->umr_en || u->mask & ~UMR_MASK_KNOWN)
		return SYND_MW_BIND;
	/* Whoever sets the variant need not know the old one. */
	if (!(u->mask & UMR_MASK_KEY) && m->variant != (key & 0xff))
		return SYND_MW_BIND;
	if (flags & UMR_MUST_BE_FREE && !m->free)
		return SYND_MW_BIND;
	if (flags & UMR_MUST_NOT_BE_FREE && m->free)
		return SYND_MW_BIND;
	if (flags & UMR_CHECK_QPN && m->qpn != MKEY_ANY_QP &&
	    m->qpn != u->who->qpn)
		return SYND_MW_BIND;
	if (!u->who->any_pd &&
	    (m->pd != u->who->pd || u->mask & UMR_MASK_PD))
		return SYND_MW_BIND;
	if (!umr_pd_exists(u, m))
		return SYND_MW_BIND;
	/* Others name addresses, not keys that are checked in turn. */
	if (!u->who->fre && !u->who->any_pd && m->mode != MKEY_KLM &&
	    m->mode != MKEY_KSM)
		return SYND_MW_BIND;
	if (u->mask & UMR_MASK_PAGE_SIZE &&
	    IFC_GET(mkc, u->mkc, log_page_size) > MKEY_LOG_PAGE_MAX)
		return SYND_MW_BIND;
	return SYND_OK;
}

/**
 * umr_execute() - execute the segments of a UMR
 * @who: the QP's rights; any_pd marks the driver's own UMR QP
 * @key: from the control segment of the work request
 * @seg: UMR control segment, mkey context, entries or data segment
 * @len: bytes of @seg
 *
 * Return: SYND_OK or the syndrome of the error
 */
uint8_t umr_execute(struct hca *hca, const struct accessor *who, uint32_t key,
		    const uint8_t *seg, size_t len)
{
	struct umr u = { .hca = hca, .who = who };
	struct mkey *m = idtable_get(&hca->objs->mkeys, key >> 8);
	uint8_t synd;

	if (len < sizeof(u.ctrl) + MKC_SIZE)
		return SYND_LOCAL_QP_OP;
	memcpy(&u.ctrl, seg, sizeof(u.ctrl));
	u.mkc = seg + sizeof(u.ctrl);
	u.mask = be64toh(u.ctrl.mkey_mask);
	u.rest = u.mkc + MKC_SIZE;
	u.rest_len = len - sizeof(u.ctrl) - MKC_SIZE;
	synd = umr_check(&u, m, key);
	if (!synd)
		synd = umr_format_check(&u, m);
	/* The last step that may fail, and it changes nothing then. */
	if (!synd)
		synd = umr_translations(&u, m);
	if (synd)
		return synd;
	umr_format(&u, m);
	umr_fields(&u, m);
	return SYND_OK;
}

/**
 * mkey_invalidate() - make an mkey free on behalf of a peer
 * @who: the responder QP's rights
 * @key: index and variant
 *
 * Return: SYND_OK, or SYND_REMOTE_ACCESS where the key may not be invalidated
 */
uint8_t mkey_invalidate(struct hca *hca, const struct accessor *who,
			uint32_t key)
{
	struct mkey *m = mkey_get(hca, key);

	if (!m || m->free || !m->rinval || m->pd != who->pd ||
	    (m->qpn != MKEY_ANY_QP && m->qpn != who->qpn))
		return SYND_REMOTE_ACCESS;
	m->free = true;
	mkey_hold_pd(hca, m);
	return SYND_OK;
}
