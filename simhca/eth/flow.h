/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Flow tables: tables, groups and entries; what an entry does with a frame; and the
 * way of a frame through the tables.
 *
 * Invariants
 * - The groups of a table lie within it and do not overlap.
 * - An entry is in the group that covers its index. It names TIRs, tables, counters
 *   and contexts that exist; all are held as long as the entry lives.
 * - A table and all that its entries name are of one side: receiving, sending, the FDB
 *   of the e-switch, or what lets messages of QPs in.
 * - A command that makes a table go on to another, by an entry or as what a miss does,
 *   names one of a higher level. So frames do not go in circles, unless a program gives
 *   the number of a table that it destroyed to a new one: pass.c bounds that.
 */
#ifndef SIMHCA_FLOW_H
#define SIMHCA_FLOW_H

#include "eth/eth.h"
#include "eth/match.h"

#define FLOW_DESTS 8u		/* 1 << log_max_destination */
#define PACKET_BYTES 11264u	/* the longest frame, and headers of a tunnel */

/* bits of the action of an entry */
enum {
	ACTION_ALLOW = 0x1,
	ACTION_DROP = 0x2,
	ACTION_FWD_DEST = 0x4,
	ACTION_COUNT = 0x8,
	ACTION_REFORMAT = 0x10,
	ACTION_DECAP = 0x20,
	ACTION_MOD_HDR = 0x40,
};

/* Ports of the e-switch. The manager is the adapter's function itself. */
enum { VPORT_MANAGER = 0, VPORT_UPLINK = 0xffff };

/**
 * struct packet - a frame on its way through flow tables
 * @f: the frame; its data is @buf once an entry has changed it
 * @headers: the frame, @source and @regs in the layout of flows
 * @source: where it came into the adapter
 * @regs: metadata_reg_c_0 to 7
 * @td: transport domain of the queue that sent it; 0: it is from the cable
 * @affinity: of its TIS
 */
struct packet {
	struct frame f;
	uint8_t headers[MATCH_BYTES];
	struct match_source source;
	uint32_t regs[MATCH_REGS];
	uint32_t td;
	uint32_t affinity;
	uint8_t buf[PACKET_BYTES];
};

struct flow_counter {
	struct obj obj;
	uint64_t packets;
	uint64_t bytes;
};

/**
 * struct flow_dest - where an entry sends frames
 * @obj: a table or a TIR; NULL: a port of the e-switch
 * @vport: that port
 */
struct flow_dest {
	enum { TO_TABLE, TO_TIR, TO_VPORT } kind;
	struct obj *obj;
	uint16_t vport;
};

/**
 * struct fte - an entry of a flow table
 * @n: destinations
 * @counter: NULL where the action does not count
 * @header: context that changes the headers, or NULL
 * @reformat: context that adds or removes headers, or NULL
 */
struct fte {
	struct fte *next;
	const struct flow_group *group;
	uint32_t index;
	uint32_t tag;
	uint32_t action;
	uint8_t value[MATCH_BYTES];
	uint32_t n;
	struct flow_dest dests[FLOW_DESTS];
	struct flow_counter *counter;
	struct header_ctx *header;
	struct reformat_ctx *reformat;
};

struct flow_group {
	struct obj obj;
	struct flow_table *table;
	uint32_t first;
	uint32_t last;
	uint8_t mask[MATCH_BYTES];
};

struct flow_table {
	struct obj obj;
	enum flow_side side;
	uint32_t level;
	uint32_t log_size;
	bool decap;		/* entries may take frames out of tunnels */
	bool reformat;		/* entries may name a struct reformat_ctx */
	uint32_t miss;		/* number of a table, 0: drop, or send */
	bool miss_is_frame;	/* what no entry lets in is not for QPs: it is a frame */
	struct fte *entries;
};

/* ---- flow.c */
struct flow_table *flow_table_find(struct cmd *cmd, uint32_t type, uint32_t id);
struct flow_group *flow_group_over(struct flows *flows,
				   const struct flow_table *t, uint32_t first,
				   uint32_t last);
uint8_t flow_table_next(struct cmd *cmd, const struct flow_table *t,
			uint32_t id, struct flow_table **next);

/* ---- flow_counter.c */
struct flow_counter *flow_counter_find(struct cmd *cmd, uint32_t id);

/* ---- flow_header.c */
struct header_ctx *header_ctx_find(struct cmd *cmd, uint32_t id,
				   enum flow_side side);
struct obj *header_ctx_obj(struct header_ctx *ctx);
void header_ctx_apply(const struct header_ctx *ctx, struct packet *p);

/* ---- flow_reformat.c */
struct reformat_ctx *reformat_ctx_find(struct cmd *cmd, uint32_t id,
				       enum flow_side side);
bool reformat_ctx_leaves(const struct reformat_ctx *ctx);
struct obj *reformat_ctx_obj(struct reformat_ctx *ctx);
bool reformat_ctx_apply(const struct reformat_ctx *ctx, struct packet *p);
bool packet_decap(struct packet *p);

/* ---- admit.c */
bool flows_admit(const struct hca *hca, bool own);

/* ---- packet.c */
void packet_init(struct packet *p, const uint8_t *data, size_t len,
		 uint32_t td);
void packet_source(struct packet *p, uint16_t vport, uint32_t sqn);
void packet_copy(struct packet *p, const struct packet *from);
bool packet_replace(struct packet *p, size_t skip, const uint8_t *head,
		    size_t head_len);
void packet_parse(struct packet *p);

#endif
