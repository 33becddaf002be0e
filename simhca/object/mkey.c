// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands of memory keys. See mkey.h for the model.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "fw/cmd.h"
#include "object/memic.h"
#include "object/mkey.h"
#include "object/wqe.h"

#define OCTOWORD 16u
#define MAX_XLT (1u << 26)	/* bytes of translation one mkey may have */

/**
 * mkey_get() - find an mkey by its whole key
 * @key: index and variant
 *
 * Return: the mkey, free or not; NULL where index or variant is wrong
 */
struct mkey *mkey_get(struct hca *hca, uint32_t key)
{
	struct mkey *mkey = idtable_get(&hca->objs->mkeys, key >> 8);

	return mkey && mkey->variant == (key & 0xff) ? mkey : NULL;
}

/**
 * mkey_free() - free an mkey that is in no table any more
 */
void mkey_free(struct mkey *mkey)
{
	free(mkey->xlt);
	free(mkey);
}

/**
 * mkey_hold_pd() - hold the PD that an mkey names, and let go of the old one
 * @mkey: the mkey; a free one holds nothing
 *
 * Return: true, or false where there is no such PD
 */
bool mkey_hold_pd(struct hca *hca, struct mkey *mkey)
{
	struct domain *pd = NULL;

	if (!mkey->free) {
		pd = pd_find(hca, mkey->pd, 0);
		if (!pd)
			return false;
		obj_hold(&pd->obj);
	}
	if (mkey->held)
		obj_release(&mkey->held->obj);
	mkey->held = pd;
	return true;
}

/**
 * mkey_set_rights() - take access rights from an mkey context
 * @which: ACCESS_* that are taken; others stay as they are
 */
void mkey_set_rights(struct mkey *mkey, const void *mkc, unsigned int which)
{
	unsigned int rights = 0;

	if (IFC_GET(mkc, mkc, lr))
		rights |= ACCESS_LOCAL_READ;
	if (IFC_GET(mkc, mkc, lw))
		rights |= ACCESS_LOCAL_WRITE;
	if (IFC_GET(mkc, mkc, rr))
		rights |= ACCESS_REMOTE_READ;
	if (IFC_GET(mkc, mkc, rw))
		rights |= ACCESS_REMOTE_WRITE;
	if (IFC_GET(mkc, mkc, a))
		rights |= ACCESS_ATOMIC;
	mkey->rights = (mkey->rights & ~which) | (rights & which);
}

static uint8_t mkey_take(struct cmd *cmd, struct mkey *mkey, const void *mkc)
{
	uint32_t mode = IFC_GET(mkc, mkc, access_mode_4_2) << 2 |
			IFC_GET(mkc, mkc, access_mode_1_0);

	mkey->variant = IFC_GET(mkc, mkc, mkey_7_0);
	mkey->free = IFC_GET(mkc, mkc, free);
	mkey->umr_en = IFC_GET(mkc, mkc, umr_en);
	mkey->rinval = IFC_GET(mkc, mkc, en_rinval);
	mkey->length64 = IFC_GET(mkc, mkc, length64);
	mkey->mode = mode;
	mkey->pd = IFC_GET(mkc, mkc, pd);
	mkey->qpn = IFC_GET(mkc, mkc, qpn);
	mkey->start = IFC_GET64(mkc, mkc, start_addr);
	mkey->len = IFC_GET64(mkc, mkc, len);
	mkey->log_page = IFC_GET(mkc, mkc, log_page_size);
	mkey_set_rights(mkey, mkc, ~0u);
	/* A UMR sets the format. */
	mkey->bsf_room = IFC_GET(mkc, mkc, bsf_en);
	if (mkey->bsf_room && (mode != MKEY_KLM || !mkey->free ||
			       IFC_GET(mkc, mkc, bsf_octword_size) !=
				       SIG_FORMAT_LEN / OCTOWORD))
		return CMD_BAD_PARAM;
	if ((mode > MKEY_KSM && mode != MKEY_MEMIC) ||
	    IFC_GET(mkc, mkc, ma_translation_mode) ||
	    IFC_GET(create_mkey_in, cmd->in, mkey_umem_valid))
		return CMD_BAD_PARAM;
	/* A key without bytes is allowed, and reaches none. */
	if (mode == MKEY_MEMIC && mkey->len &&
	    !memic_ptr(cmd->hca, mkey->start, mkey->len))
		return CMD_BAD_PARAM;
	/* A page size of 0 is valid here: a UMR can set it later. */
	if (mkey->log_page > MKEY_LOG_PAGE_MAX)
		return CMD_BAD_PARAM;
	if (!mkey->free && !pd_find(cmd->hca, mkey->pd, cmd->uid))
		return CMD_BAD_RES;
	return CMD_OK;
}

/* Entries without permission bits (pg_access 0) allow what the mkey does. */
static void mkey_allow_pages(struct mkey *mkey, size_t len)
{
	uint64_t e;
	size_t i;

	for (i = 0; i + sizeof(e) <= len; i += sizeof(e)) {
		memcpy(&e, mkey->xlt + i, sizeof(e));
		e |= htobe64(MTT_READ | MTT_WRITE);
		memcpy(mkey->xlt + i, &e, sizeof(e));
	}
}

static uint8_t mkey_take_xlt(struct cmd *cmd, struct mkey *mkey,
			     const void *mkc)
{
	size_t head = IFC_OFF(create_mkey_in, klm_pas_mtt);
	uint64_t size = IFC_GET(mkc, mkc, translations_octword_size);
	uint64_t given = IFC_GET(create_mkey_in, cmd->in,
				 translations_octword_actual_size);

	if (mkey->mode == MKEY_PA || mkey->mode == MKEY_MEMIC)
		return CMD_OK;
	size *= OCTOWORD;
	given *= OCTOWORD;
	if (size > MAX_XLT || given > size || given > cmd->in_len - head)
		return CMD_BAD_PARAM;
	mkey->xlt = calloc(1, size ? size : OCTOWORD);
	if (!mkey->xlt)
		return CMD_NO_RES;
	mkey->xlt_len = size;
	memcpy(mkey->xlt, cmd->in + head, given);
	if (mkey->mode == MKEY_MTT &&
	    !IFC_GET(create_mkey_in, cmd->in, pg_access))
		mkey_allow_pages(mkey, given);
	return CMD_OK;
}

static uint8_t create_mkey(struct cmd *cmd)
{
	const uint8_t *mkc = IFC_ADDR_OF(create_mkey_in, cmd->in,
					 memory_key_mkey_entry);
	struct mkey *mkey = calloc(1, sizeof(*mkey));
	uint8_t status;

	if (!mkey)
		return CMD_NO_RES;
	status = mkey_take(cmd, mkey, mkc);
	if (!status)
		status = mkey_take_xlt(cmd, mkey, mkc);
	if (!status && obj_add(&cmd->hca->objs->mkeys, &mkey->obj, cmd->uid))
		status = CMD_LIM;
	if (status) {
		mkey_free(mkey);
		return status;
	}
	mkey_hold_pd(cmd->hca, mkey);
	IFC_SET(create_mkey_out, cmd->out, mkey_index, mkey->obj.id);
	cmd_note(cmd, "mode", mkey->mode);
	cmd_note(cmd, "rights", mkey->rights);
	cmd_note(cmd, "free", mkey->free);
	return CMD_OK;
}

/* Adds what the entries of one mkey map of its range. */
static void mtts_in_use(const struct mkey *mkey, uint64_t *entries,
			uint64_t *bytes)
{
	uint64_t page = 1ull << mkey->log_page, e, i, left, piece;
	uint64_t in_page = mkey->start & (page - 1);

	left = mkey->length64 ? UINT64_MAX : mkey->len;
	for (i = 0; left && i < mkey->xlt_len / sizeof(e); i++) {
		piece = page - in_page < left ? page - in_page : left;
		memcpy(&e, mkey->xlt + i * sizeof(e), sizeof(e));
		if (be64toh(e) & (MTT_READ | MTT_WRITE)) {
			++*entries;
			*bytes += piece;
		}
		left -= piece;
		in_page = 0;
	}
}

/**
 * mkeys_dump() - tell the control socket how much memory is registered
 * @o: gets "mtt", with the entries of all mkeys that are not free, and the bytes
 *	that the entries map
 */
void mkeys_dump(struct hca *hca, struct json_object *o)
{
	struct json_object *mtt = json_object_new_object();
	uint64_t entries = 0, bytes = 0;
	struct mkey *mkey;
	uint32_t id;

	idtable_for_each(&hca->objs->mkeys, id, mkey)
		if (!mkey->free && mkey->mode == MKEY_MTT)
			mtts_in_use(mkey, &entries, &bytes);
	json_add_number(mtt, "entries", entries);
	json_add_number(mtt, "bytes", bytes);
	json_object_object_add(o, "mtt", mtt);
}

/* What a list of keys names, as far as the output has room. */
static void put_list(struct cmd *cmd, const struct mkey *mkey)
{
	size_t off = IFC_OFF(query_mkey_out, bsf0_klm0_pas_mtt0_1);
	size_t len = cmd->out_len - off;

	if (mkey->mode == MKEY_KLM || mkey->mode == MKEY_KSM)
		memcpy(cmd->out + off, mkey->xlt,
		       len < mkey->xlt_len ? len : mkey->xlt_len);
}

static uint8_t query_mkey(struct cmd *cmd)
{
	uint8_t *mkc = IFC_ADDR_OF(query_mkey_out, cmd->out,
				   memory_key_mkey_entry);
	struct mkey *mkey = obj_own(&cmd->hca->objs->mkeys,
				    IFC_GET(query_mkey_in, cmd->in,
					    mkey_index), cmd->uid);

	if (!mkey)
		return CMD_BAD_RES;
	IFC_SET(mkc, mkc, free, mkey->free);
	IFC_SET(mkc, mkc, access_mode_1_0, mkey->mode);
	IFC_SET(mkc, mkc, access_mode_4_2, mkey->mode >> 2);
	IFC_SET(mkc, mkc, umr_en, mkey->umr_en);
	IFC_SET(mkc, mkc, en_rinval, mkey->rinval);
	IFC_SET(mkc, mkc, length64, mkey->length64);
	IFC_SET(mkc, mkc, lr, !!(mkey->rights & ACCESS_LOCAL_READ));
	IFC_SET(mkc, mkc, lw, !!(mkey->rights & ACCESS_LOCAL_WRITE));
	IFC_SET(mkc, mkc, rr, !!(mkey->rights & ACCESS_REMOTE_READ));
	IFC_SET(mkc, mkc, rw, !!(mkey->rights & ACCESS_REMOTE_WRITE));
	IFC_SET(mkc, mkc, a, !!(mkey->rights & ACCESS_ATOMIC));
	IFC_SET(mkc, mkc, qpn, mkey->qpn);
	IFC_SET(mkc, mkc, mkey_7_0, mkey->variant);
	IFC_SET(mkc, mkc, pd, mkey->pd);
	IFC_SET64(mkc, mkc, start_addr, mkey->start);
	IFC_SET64(mkc, mkc, len, mkey->len);
	IFC_SET(mkc, mkc, log_page_size, mkey->log_page);
	IFC_SET(mkc, mkc, translations_octword_size,
		mkey->xlt_len / OCTOWORD);
	put_list(cmd, mkey);
	return CMD_OK;
}

static uint8_t destroy_mkey(struct cmd *cmd)
{
	uint32_t index = IFC_GET(destroy_mkey_in, cmd->in, mkey_index);
	struct mkey *mkey = obj_own(&cmd->hca->objs->mkeys, index, cmd->uid);

	if (!mkey)
		return CMD_BAD_RES;
	idtable_remove(&cmd->hca->objs->mkeys, index);
	if (mkey->held)
		obj_release(&mkey->held->obj);
	mkey_free(mkey);
	return CMD_OK;
}

static uint8_t query_special_contexts(struct cmd *cmd)
{
	IFC_SET(query_special_contexts_out, cmd->out, dump_fill_mkey,
		MKEY_DUMP_FILL);
	IFC_SET(query_special_contexts_out, cmd->out, resd_lkey,
		MKEY_RESERVED_LKEY);
	IFC_SET(query_special_contexts_out, cmd->out, null_mkey, MKEY_NULL);
	return CMD_OK;
}

const struct cmd_def mkey_cmds[] = {
	{ MLX5_CMD_OP_CREATE_MKEY, "CREATE_MKEY", IFC_SZ(create_mkey_in),
	  IFC_SZ(create_mkey_out), create_mkey },
	{ MLX5_CMD_OP_QUERY_MKEY, "QUERY_MKEY", IFC_SZ(query_mkey_in),
	  IFC_SZ(query_mkey_out), query_mkey },
	{ MLX5_CMD_OP_DESTROY_MKEY, "DESTROY_MKEY", IFC_SZ(destroy_mkey_in),
	  IFC_SZ(destroy_mkey_out), destroy_mkey },
	{ MLX5_CMD_OP_QUERY_SPECIAL_CONTEXTS, "QUERY_SPECIAL_CONTEXTS",
	  IFC_SZ(query_special_contexts_in), 0x20,
	  query_special_contexts },
	{ 0 },
};
