// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The way of a frame through flow tables. Of the entries of a table that match, the
 * one with the lowest index counts; without one the table's miss action does. A frame
 * that leaves the last table is dropped on the receiving side and in the e-switch, and
 * sent on the sending side. An entry acts on a frame in this order: count, leave a
 * tunnel, change headers, enter a tunnel, go on.
 */
#include <stdlib.h>

#include "eth/pass.h"
#include "eth/rx.h"

#define MAX_HOPS 128u		/* tables on the way of one frame */

/**
 * struct pass - one frame's way
 * @sent: gets frames that leave the tables of the sending side
 * @forward: gets frames that the e-switch forwards
 * @hops: tables that it may still come to
 */
struct pass {
	struct hca *hca;
	enum flow_side side;
	pass_sent *sent;
	pass_forward *forward;
	unsigned int hops;
};

static const struct fte *fte_match(const struct flow_table *t,
				   const uint8_t *headers)
{
	const struct fte *fte, *found = NULL;

	for (fte = t->entries; fte; fte = fte->next)
		if ((!found || fte->index < found->index) &&
		    match(headers, fte->group->mask, fte->value))
			found = fte;
	return found;
}

static void pass_end(struct pass *pass, const struct packet *p)
{
	if (pass->side == FLOW_TX)
		pass->sent(pass->hca, p);
}

static void table_pass(struct pass *pass, uint32_t id, const struct packet *p);

static void fte_forward(struct pass *pass, const struct fte *fte,
			const struct packet *p)
{
	const struct flow_dest *to;

	for (to = fte->dests; to < fte->dests + fte->n; to++) {
		if (to->kind == TO_TIR)
			tir_receive(container_of(to->obj, struct tir, obj),
				    &p->f, fte->tag, p->td);
		else if (to->kind == TO_VPORT)
			pass->forward(pass->hca, p, to->vport);
		else
			table_pass(pass, to->obj->id, p);
	}
	if (fte->action & ACTION_ALLOW)
		pass_end(pass, p);
}

/* Return: false where the frame cannot be changed so, and is lost */
static bool fte_change(const struct fte *fte, struct packet *p)
{
	bool leave = fte->reformat && reformat_ctx_leaves(fte->reformat);

	if (fte->action & ACTION_DECAP && !packet_decap(p))
		return false;
	if (leave && !reformat_ctx_apply(fte->reformat, p))
		return false;
	if (fte->header)
		header_ctx_apply(fte->header, p);
	return !fte->reformat || leave || reformat_ctx_apply(fte->reformat, p);
}

static void fte_act(struct pass *pass, const struct fte *fte,
		    const struct packet *p)
{
	struct packet *copy;

	if (fte->action & ACTION_COUNT && fte->counter) {
		fte->counter->packets++;
		fte->counter->bytes += p->f.len;
	}
	if (fte->action & ACTION_DROP)
		return;
	if (!(fte->action & ACTION_DECAP) && !fte->header && !fte->reformat) {
		fte_forward(pass, fte, p);
		return;
	}
	copy = malloc(sizeof(*copy));
	if (!copy)
		return;
	packet_copy(copy, p);
	if (fte_change(fte, copy))
		fte_forward(pass, fte, copy);
	free(copy);
}

/* One table; tables behind it follow, as far as the hops reach. */
static void table_pass(struct pass *pass, uint32_t id, const struct packet *p)
{
	const struct flow_table *t;
	const struct fte *fte;

	t = idtable_get(&pass->hca->eth->flows.tables, id);
	/* A program may give the number of a table that it destroyed to another side. */
	if (!t || t->side != pass->side) {
		pass_end(pass, p);
		return;
	}
	if (!pass->hops)
		return;
	pass->hops--;
	fte = fte_match(t, p->headers);
	if (fte)
		fte_act(pass, fte, p);
	else
		table_pass(pass, t->miss, p);
}

/**
 * pass_receive() - send a frame through the tables of the receiving side
 */
void pass_receive(struct hca *hca, const struct packet *p)
{
	struct pass pass = {
		.hca = hca, .side = FLOW_RX, .hops = MAX_HOPS,
	};

	table_pass(&pass, hca->eth->flows.root[FLOW_RX], p);
}

/**
 * pass_send() - send a frame through the tables of the sending side
 * @sent: gets each frame that leaves them
 */
void pass_send(struct hca *hca, const struct packet *p, pass_sent *sent)
{
	struct pass pass = {
		.hca = hca, .side = FLOW_TX, .sent = sent, .hops = MAX_HOPS,
	};

	table_pass(&pass, hca->eth->flows.root[FLOW_TX], p);
}

/**
 * pass_switch() - send a frame through the tables of the e-switch
 * @forward: gets it, once for each port that an entry names
 */
void pass_switch(struct hca *hca, const struct packet *p, pass_forward *forward)
{
	struct pass pass = {
		.hca = hca, .side = FLOW_FDB, .forward = forward,
		.hops = MAX_HOPS,
	};

	table_pass(&pass, hca->eth->flows.root[FLOW_FDB], p);
}
