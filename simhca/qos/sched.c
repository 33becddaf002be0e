// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Scheduling elements: trees of nodes, whose leaves are groups of queues. An element
 * limits the rate of all queues below it, and what the limit of a node lets through is
 * shared by those below it that have something to send, by their shares.
 *
 * Invariants
 * - An element holds its parent, and a queue holds its groups.
 * - Of two elements with one parent that both could send, the next to send is the one
 *   that has sent less, counted in bytes over its share.
 */
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "fw/cmd.h"
#include "qos/sched.h"

/* An element, behind the header of a command or of its answer (offsets in bits) */
enum {
	SELECT = 0x80,
	HIERARCHY = 0xc0,
	CONTEXT = 0x180,
	NODE_TYPE = CONTEXT + 0x28,
	LEN = 0x480,
};

enum { HIERARCHY_NIC = 3 };
enum { ELEMENT_NODE = 0, ELEMENT_GROUP = 4 };
enum { NODE_DWRR = 0 };
enum { SELECT_SHARE = 1, SELECT_RATE = 2, SELECT_ALL = 3 };

#define BITS_PER_BYTE 8u
#define NSEC_PER_MBIT_BIT 1000u	/* time of a bit at one megabit in a second */

/* How long the others wait for one whose turn it is */
#define PATIENCE NSEC_PER_MSEC
#define LOOK_AGAIN NSEC_PER_USEC

/**
 * struct sched - an element
 * @parent: NULL for the root of a tree
 * @group: is it a group of queues, or a node?
 * @depth: elements from the root of its tree to it
 * @mbps: limit of the rate in megabits a second, 0: none
 * @share: of what the parent lets through
 * @next: when the limit lets the next request through, by loop_now()
 * @sent: bytes below it over its share
 * @turn: what the element below it that was the last to send had sent before
 * @wish: when it wants to send next, 0: it has nothing to send
 */
struct sched {
	struct obj obj;
	struct sched *parent;
	bool group;
	unsigned int depth;
	uint32_t mbps;
	uint32_t share;
	uint64_t next;
	uint64_t sent;
	uint64_t turn;
	uint64_t wish;
};

/* Takes what the mask names; false and nothing changes if the share is none. */
static bool take(struct sched *s, const struct cmd *cmd)
{
	const uint8_t *c = cmd->in + CONTEXT / 8;
	uint64_t select = ifc_get64(cmd->in, SELECT);
	uint32_t share = IFC_GET(scheduling_context, c, bw_share);

	if (select & ~(uint64_t)SELECT_ALL ||
	    (select & SELECT_SHARE && share > SCHED_SHARE_MAX))
		return false;
	if (select & SELECT_SHARE)
		s->share = share;
	if (select & SELECT_RATE)
		s->mbps = IFC_GET(scheduling_context, c, max_average_bw);
	return true;
}

static bool fits(const struct cmd *cmd)
{
	return cmd->hca->link == LINK_IB && cmd->in_len >= LEN / 8 &&
	       ifc_get32(cmd->in, HIERARCHY, 8) == HIERARCHY_NIC;
}

static bool kind_fits(const struct cmd *cmd, const struct sched *s)
{
	uint32_t type = IFC_GET(scheduling_context, cmd->in + CONTEXT / 8,
				element_type);

	if (s->group)
		return type == ELEMENT_GROUP;
	return type == ELEMENT_NODE &&
	       ifc_get32(cmd->in, NODE_TYPE, 8) == NODE_DWRR;
}

static struct sched *find(const struct cmd *cmd)
{
	return obj_own(&cmd->hca->objs->scheds,
		       IFC_GET(general_obj_in_cmd_hdr, cmd->in, obj_id),
		       cmd->uid);
}

/**
 * sched_create() - CREATE_GENERAL_OBJECT of an element
 *
 * Return: CMD_OK; CMD_BAD_PARAM: not such an element; CMD_BAD_RES: no such parent;
 * CMD_LIM: there are too many, or too many above it; CMD_NO_RES
 */
uint8_t sched_create(struct cmd *cmd)
{
	const uint8_t *c = cmd->in + CONTEXT / 8;
	struct sched *parent = NULL, *s, new = { 0 };
	uint32_t id;

	if (!fits(cmd))
		return CMD_BAD_PARAM;
	id = IFC_GET(scheduling_context, c, parent_element_id);
	new.group = IFC_GET(scheduling_context, c, element_type) ==
		    ELEMENT_GROUP;
	if (!kind_fits(cmd, &new) || !take(&new, cmd) || (new.group && !id))
		return CMD_BAD_PARAM;
	if (id) {
		parent = obj_own(&cmd->hca->objs->scheds, id, cmd->uid);
		if (!parent)
			return CMD_BAD_RES;
		if (parent->group)
			return CMD_BAD_PARAM;
		if (parent->depth == SCHED_DEPTH)
			return CMD_LIM;
	}
	new.depth = parent ? parent->depth + 1 : 1;
	s = malloc(sizeof(*s));
	if (!s)
		return CMD_NO_RES;
	*s = new;
	if (obj_add(&cmd->hca->objs->scheds, &s->obj, cmd->uid)) {
		free(s);
		return CMD_LIM;
	}
	s->parent = parent;
	if (parent)
		obj_hold(&parent->obj);
	IFC_SET(general_obj_out_cmd_hdr, cmd->out, obj_id, s->obj.id);
	return CMD_OK;
}

/**
 * sched_modify() - MODIFY_GENERAL_OBJECT of an element: its share, its rate or both
 */
uint8_t sched_modify(struct cmd *cmd)
{
	struct sched *s = find(cmd);

	if (!s)
		return CMD_BAD_RES;
	if (!fits(cmd) || !kind_fits(cmd, s) || !take(s, cmd))
		return CMD_BAD_PARAM;
	/* what it has sent faster or slower before counts no more */
	s->next = 0;
	return CMD_OK;
}

/**
 * sched_query() - QUERY_GENERAL_OBJECT of an element
 */
uint8_t sched_query(struct cmd *cmd)
{
	const struct sched *s = find(cmd);
	uint8_t *c = cmd->out + CONTEXT / 8;

	if (cmd->out_len < LEN / 8)
		return CMD_BAD_PARAM;
	if (!s)
		return CMD_BAD_RES;
	ifc_set32(cmd->out, HIERARCHY, 8, HIERARCHY_NIC);
	IFC_SET(scheduling_context, c, element_type,
		s->group ? ELEMENT_GROUP : ELEMENT_NODE);
	IFC_SET(scheduling_context, c, parent_element_id,
		s->parent ? s->parent->obj.id : 0);
	IFC_SET(scheduling_context, c, bw_share, s->share);
	IFC_SET(scheduling_context, c, max_average_bw, s->mbps);
	return CMD_OK;
}

/**
 * sched_destroy() - DESTROY_GENERAL_OBJECT of an element
 *
 * Return: CMD_OK, CMD_BAD_RES, CMD_BAD_RES_STATE: something is below it
 */
uint8_t sched_destroy(struct cmd *cmd)
{
	struct sched *s = find(cmd);

	if (!s)
		return CMD_BAD_RES;
	if (s->obj.holds)
		return CMD_BAD_RES_STATE;
	if (s->parent)
		obj_release(&s->parent->obj);
	free(idtable_remove(&cmd->hca->objs->scheds, s->obj.id));
	return CMD_OK;
}

/**
 * sched_group() - the group that a queue may join
 * @uid: DevX uid of the command
 *
 * Return: the group, NULL: there is none with that number
 */
struct sched *sched_group(struct hca *hca, uint32_t id, uint16_t uid)
{
	struct sched *s = obj_find(&hca->objs->scheds, id, uid);

	return s && s->group ? s : NULL;
}

/**
 * sched_move() - a queue goes from one group to another
 * @at: the group of the queue, NULL for none
 * @to: the new one
 */
void sched_move(struct sched **at, struct sched *to)
{
	if (to)
		obj_hold(&to->obj);
	if (*at)
		obj_release(&(*at)->obj);
	*at = to;
}

/* What it has sent; one that had nothing to send for a while has no more left. */
static uint64_t rank(const struct sched *s)
{
	return s->sent > s->parent->turn ? s->sent : s->parent->turn;
}

/* Does another one below the same parent come first? */
static bool other_first(struct hca *hca, const struct sched *s, uint64_t now)
{
	const struct sched *o;
	uint32_t id;

	if (!s->parent)
		return false;
	idtable_for_each(&hca->objs->scheds, id, o)
		if (o != s && o->parent == s->parent && o->wish &&
		    o->wish <= now && now - o->wish <= PATIENCE &&
		    rank(o) < rank(s))
			return true;
	return false;
}

/**
 * sched_wait() - how long a queue must wait, in nanoseconds
 * @group: that it is in, NULL for none
 *
 * The queue asks again then.
 */
uint64_t sched_wait(struct hca *hca, struct sched *group)
{
	uint64_t now = loop_now(), ns = 0;
	struct sched *s;

	for (s = group; s; s = s->parent)
		if (s->mbps && s->next > now && s->next - now > ns)
			ns = s->next - now;
	for (s = group; s && !ns; s = s->parent)
		if (other_first(hca, s, now))
			ns = LOOK_AGAIN;
	for (s = group; s; s = s->parent)
		s->wish = ns > LOOK_AGAIN ? now + ns : now;
	return ns;
}

/**
 * sched_stop() - a queue could not send, although it was its turn
 * @group: that it is in, NULL for none
 *
 * The others do not wait for it.
 */
void sched_stop(struct sched *group)
{
	struct sched *s;

	for (s = group; s; s = s->parent)
		s->wish = 0;
}

/**
 * sched_charge() - a queue has sent
 * @group: that it is in, NULL for none
 * @bytes: of data
 */
void sched_charge(struct sched *group, uint64_t bytes)
{
	uint64_t now = loop_now();
	struct sched *s;

	for (s = group; s; s = s->parent) {
		s->wish = 0;
		if (s->parent) {
			s->sent = rank(s);
			s->parent->turn = s->sent;
			s->sent += bytes * SCHED_SHARE_MAX /
				   (s->share ? s->share : 1);
		}
		if (!s->mbps)
			continue;
		if (s->next < now)
			s->next = now;
		s->next += bytes * BITS_PER_BYTE * NSEC_PER_MBIT_BIT / s->mbps;
	}
}
