/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory keys.
 *
 * Invariants
 * - A key consists of an index, which the adapter chose, and a variant byte,
 *   which the guest chose. Both must match.
 * - A free mkey translates nothing.
 * - The translation table has a size fixed at creation; UMR changes entries
 *   and never the size.
 * - Guest memory is accessed only after access rights, PD, QP and range of
 *   every mkey of the translation were checked.
 */
#ifndef SIMHCA_MKEY_H
#define SIMHCA_MKEY_H

#include "object/objects.h"
#include "object/sig.h"

/* Reserved indices, below the first that CREATE_MKEY hands out. */
enum {
	MKEY_RESERVED_LKEY = 0x200,	/* physical addresses, for rlky QPs */
	MKEY_NULL = 0x300,		/* reads zeroes, swallows writes */
	MKEY_DUMP_FILL = 0x400,
	MKEY_FIRST = 0x10,
};

#define MKEY_ANY_QP 0xffffffu
#define MKEY_MAX_DEPTH 4	/* lists of lists of keys: so many above the memory */
#define MKEY_LOG_PAGE_MAX 62

enum mkey_mode { MKEY_PA, MKEY_MTT, MKEY_KLM, MKEY_KSM, MKEY_MEMIC = 5 };

/* Access rights of an mkey, and rights that an access needs */
enum {
	ACCESS_LOCAL_READ = 1 << 0,
	ACCESS_LOCAL_WRITE = 1 << 1,
	ACCESS_REMOTE_READ = 1 << 2,
	ACCESS_REMOTE_WRITE = 1 << 3,
	ACCESS_ATOMIC = 1 << 4,
	ACCESS_WRITES = ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE |
			ACCESS_ATOMIC,
};

struct mkey {
	struct obj obj;
	uint8_t variant;
	bool free;
	bool umr_en;
	bool rinval;
	bool length64;
	enum mkey_mode mode;
	unsigned int rights;
	uint32_t pd;
	struct domain *held;	/* the PD, while not free */
	uint32_t qpn;
	uint64_t start;
	uint64_t len;
	uint8_t log_page;
	size_t xlt_len;		/* bytes */
	uint8_t *xlt;
	bool bsf_room;		/* it can have a format of signatures (sig.h) */
	bool bsf_en;		/* it has one */
	bool sig_err;		/* it has reported a bad signature */
	uint8_t bsf[SIG_FORMAT_LEN];
};

/**
 * struct accessor - the QP that accesses memory, and its rights
 * @pd: number of its protection domain
 * @any_pd: it may use keys of any PD; true for the driver's REG_UMR QP
 * @rlky: it may use the reserved key
 * @fre: fast registration: its UMRs may change mkeys of any mode. Without it
 *	they may change lists of keys only.
 */
struct accessor {
	uint32_t pd;
	uint32_t qpn;
	bool any_pd;
	bool rlky;
	bool fre;
};

struct mkey *mkey_get(struct hca *hca, uint32_t key);
void mkey_free(struct mkey *mkey);
bool mkey_hold_pd(struct hca *hca, struct mkey *mkey);
void mkey_set_rights(struct mkey *mkey, const void *mkc, unsigned int which);
void mkeys_dump(struct hca *hca, struct json_object *o);

/* mkey_map.c */
uint64_t mkey_steps(void);
int mkey_map(struct hca *hca, const struct accessor *who, uint32_t key,
	     uint64_t va, uint64_t len, unsigned int access,
	     struct sglist *out);
int mkey_map_below(struct hca *hca, const struct accessor *who, uint32_t key,
		   uint64_t va, uint64_t len, unsigned int access,
		   struct sglist *out);

/* umr.c */
uint8_t umr_execute(struct hca *hca, const struct accessor *who, uint32_t key,
		    const uint8_t *seg, size_t len);
uint8_t mkey_invalidate(struct hca *hca, const struct accessor *who,
			uint32_t key);

#endif
