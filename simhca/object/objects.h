/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The verbs objects of one HCA: tables, holds, ownership.
 *
 * Invariants
 * - Every object starts with a struct obj and is found by number in its table.
 * - An object that another object uses is held and cannot be destroyed. The
 *   hold is taken when the other object is created and released when it is
 *   destroyed.
 * - A command of a DevX user (uid) may use and change the objects of that uid.
 *   It may name objects of the driver (uid 0 or shared), but not change them.
 * - Pointers into guest memory are valid for one call only.
 */
#ifndef SIMHCA_OBJECTS_H
#define SIMHCA_OBJECTS_H

#include "base/left.h"
#include "base/sglist.h"
#include "hca.h"
#include "qos/cong.h"
#include "qos/pace.h"

/* Limits of each kind of object. The capabilities announce the same limits. */
enum {
	LOG_MAX_PD = 18,
	LOG_MAX_TD = 16,
	LOG_MAX_XRCD = 16,
	LOG_MAX_MKEY = 20,
	LOG_MAX_CQ = 18,
	LOG_MAX_CQ_SZ = 22,
	LOG_MAX_QP = 18,
	LOG_MAX_QP_SZ = 15,
	LOG_MAX_SRQ = 17,
	LOG_MAX_SRQ_SZ = 15,
	LOG_MAX_MSG = 30,
	LOG_MAX_MCG = 12,
	LOG_MAX_QP_MCG = 12,
	LOG_MAX_TIS = 10,
	LOG_MAX_UMEM = 16,
	LOG_MAX_DCI_STREAMS = 4,
	LOG_MAX_DCI_ERRORED = 4,
	LOG_MAX_QPN_BLOCKS = 13,
	LOG_MAX_AV_MAPS = 16,
	LOG_MAX_SCHED = 10,
	LOG_MAX_PSV = 16,
	LOG_MAX_TAGS = 7,	/* of one queue for tag matching */
	LOG_MAX_MMO = 20,	/* bytes of one copy */
	LOG_MAX_FAULT = 20,
};

struct obj {
	uint32_t id;
	uint16_t uid;
	uint32_t holds;
};

/* A protection domain, transport domain or XRC domain, and its users. */
struct domain {
	struct obj obj;
};

/**
 * struct miss - what the last translation that returned -EAGAIN did not find
 * @key: the key whose page it is
 * @va: under that key
 * @len: bytes that the access needs from there on
 * @end: of the key's range; 0 if it has no end
 * @listed: was the key found in a list of keys?
 */
struct miss {
	uint32_t key;
	uint64_t va;
	uint64_t len;
	uint64_t end;
	bool listed;
};

/* Page faults since the counters were cleared (object/page_fault.h). */
struct fault_counts {
	uint64_t raised[3];	/* of each enum fault_kind */
	uint64_t resumed;
	uint64_t failed;	/* of those, with an error */
};

/**
 * struct sig_counts - signatures since the counters were set to 0
 * @checked: of blocks that came from memory or from the wire
 * @bad: of these, those that were wrong
 */
struct sig_counts {
	uint64_t checked;
	uint64_t bad;
};

struct objects {
	struct hca *hca;
	struct idtable pds;
	struct idtable tds;
	struct idtable xrcds;
	struct idtable mkeys;
	struct idtable cqs;
	struct idtable srqs;	/* SRQ, XRC SRQ, RMP and XRQ share the numbers */
	struct idtable qps;	/* QP, SQ and RQ too, and DCT */
	struct idtable tiss;
	struct idtable umems;
	struct idtable qpn_blocks;	/* general objects (general.h) */
	struct idtable av_maps;
	struct idtable scheds;
	struct idtable psvs;
	struct idtable faults;
	struct fault_counts fault_counts;
	struct miss miss;
	struct pace paces[PACE_ENTRIES];
	struct cong cong;
	struct mcgs *mcgs;
	struct qp *special[2];	/* QP0 and QP1 */
	struct qp *err_list;	/* QPs in error that have a receive queue */
	struct sim_timer err_poll;
	uint64_t err_poll_ns;
	struct sglist src;	/* used during one transfer */
	struct sglist dst;
	struct sig_counts sig_counts;
	uint8_t *sig_wire;	/* what a signature key sends (data/sig.c) */
	uint8_t *sig_sink;	/* what such a key reads */
};

/* ---- objects.c */
int objects_init(struct hca *hca);
void objects_fini(struct hca *hca);
void objects_reset(struct hca *hca);
void objects_left(struct hca *hca, struct left *left);
void objects_kick(struct hca *hca);
void objects_dump(struct hca *hca, struct json_object *o,
		  struct json_object *alive);
void objects_clear_counters(struct hca *hca);

/* ---- event.c */
void event_post(struct hca *hca, uint8_t type, uint32_t id);

/* ---- obj.c */
int obj_add(struct idtable *t, struct obj *o, uint16_t uid);
void *obj_find(const struct idtable *t, uint32_t id, uint16_t uid);
void *obj_own(const struct idtable *t, uint32_t id, uint16_t uid);
uint8_t obj_destroy(struct idtable *t, uint32_t id, uint16_t uid);
bool uid_privileged(uint16_t uid);
void cmd_note(struct cmd *cmd, const char *name, uint64_t value);

static inline void obj_hold(struct obj *o)
{
	o->holds++;
}

static inline void obj_release(struct obj *o)
{
	o->holds--;
}

/* ---- pd.c */
struct domain *pd_find(struct hca *hca, uint32_t id, uint16_t uid);
struct domain *xrcd_find(struct hca *hca, uint32_t id, uint16_t uid);
struct domain *td_find(struct hca *hca, uint32_t id, uint16_t uid);

#endif
