/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Signatures: a memory key can have a format that says how blocks of data are protected
 * in memory and how on the wire. The adapter checks the signatures where data comes
 * from, and makes those where it goes.
 *
 * Invariants
 * - A transfer begins with a block. The signatures of its blocks depend on the format
 *   and on their number in the transfer alone.
 * - A key reports one bad signature, and then none until a UMR acknowledges that.
 */
#ifndef SIMHCA_SIG_H
#define SIMHCA_SIG_H

#include "object/objects.h"

#define SIG_FORMAT_LEN 64u	/* bytes of a format (BSF) */
#define SIG_MAX 8u		/* bytes of the longest signature */

enum sig_kind { SIG_NONE, SIG_CRC32, SIG_T10_CRC, SIG_T10_SUM };

/**
 * struct sig_domain - how blocks are protected in memory, or on the wire
 * @block: bytes of data in a block
 * @ones: the guard begins with ones and not with 0
 * @app: T10: application tag
 * @ref: T10: reference tag of the first block
 * @step: T10: what is added to it for each block
 * @escape: T10: SIG_ESCAPE_*: tags that say not to check the block
 */
struct sig_domain {
	enum sig_kind kind;
	uint32_t block;
	bool ones;
	uint16_t app;
	uint32_t ref;
	uint32_t step;
	uint8_t escape;
};

enum { SIG_ESCAPE_APP = 1 << 0, SIG_ESCAPE_APP_REF = 1 << 1 };

/**
 * struct sig_format - the format of a key
 * @check: bytes of signatures that are checked, the first one in the highest bit
 * @copy: bytes that go from one side to the other as they are
 */
struct sig_format {
	struct sig_domain mem;
	struct sig_domain wire;
	uint8_t check;
	uint8_t copy;
};

/* ---- sig_format.c */
bool sig_parse(const uint8_t *bsf, struct sig_format *f);
size_t sig_len(const struct sig_domain *d);
void sig_make(const struct sig_domain *d, uint32_t number, const uint8_t *data,
	      uint8_t sig[SIG_MAX]);
bool sig_escaped(const struct sig_domain *d, const uint8_t sig[SIG_MAX]);

/* ---- psv.c */
uint8_t psv_set(struct hca *hca, const struct domain *pd, const uint8_t *seg,
		size_t len);
void sig_dump(const struct hca *hca, struct json_object *o);

#endif
