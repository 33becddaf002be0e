// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast groups of the subnet, and which ports are members (IBTA 15.2.5.17).
 *
 * Invariants
 * - A group lives while a port is a member. The IPoIB broadcast group always
 *   does, as every subnet manager makes it.
 * - A port is a member of a group once, whatever the number of joins.
 * - The group in place i has multicast LID MC_LID_FIRST + i.
 */
#include <stdlib.h>

#include "fabric/fabric.h"
#include "fabric/mad.h"
#include "fabric/mc_group.h"

/* MCMemberRecord */
#define MC_PORT_GID 16
#define MC_QKEY 32
#define MC_MLID 36
#define MC_MTU 38
#define MC_PKEY 40
#define MC_RATE 42
#define MC_LIFE 43
#define MC_SL_FLOW_HOP 44
#define MC_SCOPE_STATE 48
#define MC_HAS_QKEY (1ull << 2)

#define FULL_OR_NON_MEMBER 3u	/* of the join state: all but who only sends */
#define IPOIB_QKEY 0x0b1b

struct mc_group {
	uint8_t record[MC_BYTES];
	uint8_t state[FABRIC_MAX]; /* join state bits per adapter */
	bool forever;
};

/* One subnet, one table of groups. */
static struct mc_group *groups[MC_GROUPS];

static const uint8_t ipoib_broadcast[16] = {
	0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0,
	0,    0,    0,	  0,	0xff, 0xff, 0xff, 0xff,
};

static struct mc_group *group_new(const uint8_t *mgid, unsigned int i)
{
	struct mc_group *group = calloc(1, sizeof(*group));
	uint8_t *r;

	if (!group)
		return NULL;
	r = group->record;
	memcpy(r + MC_MGID, mgid, 16);
	mad_put16(r, MC_MLID, (uint16_t)(MC_LID_FIRST + i));
	r[MC_MTU] = SA_EXACTLY | SA_MTU_4096;
	mad_put16(r, MC_PKEY, SA_DEFAULT_PKEY);
	r[MC_RATE] = SA_EXACTLY | SA_RATE_100_GBPS;
	r[MC_LIFE] = SA_EXACTLY | SA_LIFE_TIME;
	r[MC_SCOPE_STATE] = (mgid[1] & 0xf) << 4;
	groups[i] = group;
	return group;
}

/**
 * mc_group_ready() - there is the broadcast group of IPoIB, in the first place
 *
 * Return: false where there is no memory
 */
bool mc_group_ready(void)
{
	if (!groups[0]) {
		if (!group_new(ipoib_broadcast, 0))
			return false;
		groups[0]->forever = true;
		mad_put32(groups[0]->record, MC_QKEY, IPOIB_QKEY);
	}
	return true;
}

/**
 * mc_group_fini() - forget all groups
 */
void mc_group_fini(void)
{
	unsigned int i;

	for (i = 0; i < MC_GROUPS; i++) {
		free(groups[i]);
		groups[i] = NULL;
	}
}

static unsigned int group_find(const uint8_t *mgid)
{
	unsigned int i;

	for (i = 0; i < MC_GROUPS; i++)
		if (groups[i] && !memcmp(groups[i]->record + MC_MGID, mgid, 16))
			break;
	return i;
}

static struct mc_group *group_make(const uint8_t *rec, uint64_t mask)
{
	struct mc_group *group = NULL;
	unsigned int i;

	for (i = 0; i < MC_GROUPS && groups[i];)
		i++;
	if (i < MC_GROUPS)
		group = group_new(rec + MC_MGID, i);
	if (group && mask & MC_HAS_QKEY)
		memcpy(group->record + MC_QKEY, rec + MC_QKEY, 4);
	if (group)
		memcpy(group->record + MC_SL_FLOW_HOP, rec + MC_SL_FLOW_HOP, 4);
	return group;
}

/**
 * mc_group_join() - a port becomes a member; the group is made if there is none
 * @rec: MCMemberRecord; becomes that of the group and the port
 * @mask: which of its components were given
 *
 * Return: status of the subnet administrator
 */
uint16_t mc_group_join(struct hca *hca, uint8_t *rec, uint64_t mask)
{
	uint8_t state = rec[MC_SCOPE_STATE] & 0xf, gid[16];
	unsigned int i = group_find(rec + MC_MGID);
	struct mc_group *group = i < MC_GROUPS ? groups[i] : NULL;

	if (rec[MC_MGID] != 0xff || !state)
		return SA_STATUS_INVALID;
	if (!group)
		group = group_make(rec, mask);
	if (!group)
		return SA_STATUS_NO_RESOURCES;
	group->state[hca->index] |= state;
	memcpy(gid, rec + MC_PORT_GID, 16);
	memcpy(rec, group->record, MC_BYTES);
	memcpy(rec + MC_PORT_GID, gid, 16);
	rec[MC_SCOPE_STATE] |= group->state[hca->index];
	return 0;
}

/**
 * mc_group_leave() - a port is no member any more; a group without members goes
 * @rec: MCMemberRecord with the group's GID and the states that end
 *
 * Return: status of the subnet administrator
 */
uint16_t mc_group_leave(struct hca *hca, uint8_t *rec)
{
	uint8_t state = rec[MC_SCOPE_STATE] & 0xf;
	unsigned int i = group_find(rec + MC_MGID), h;
	struct mc_group *group = i < MC_GROUPS ? groups[i] : NULL;

	if (!group || !(group->state[hca->index] & state))
		return SA_STATUS_NO_RECORDS;
	group->state[hca->index] &= ~state;
	for (h = 0; h < FABRIC_MAX; h++)
		if (group->state[h])
			return 0;
	if (!group->forever) {
		free(group);
		groups[i] = NULL;
	}
	return 0;
}

/**
 * mc_group_get() - the record of a group, as a port sees it
 * @rec: MCMemberRecord with the group's GID; becomes the whole
 *
 * Return: status of the subnet administrator
 */
uint16_t mc_group_get(struct hca *hca, uint8_t *rec)
{
	unsigned int i = group_find(rec + MC_MGID);

	if (i == MC_GROUPS)
		return SA_STATUS_NO_RECORDS;
	memcpy(rec, groups[i]->record, MC_BYTES);
	memcpy(rec + MC_PORT_GID, hca->port->gid, 16);
	rec[MC_SCOPE_STATE] |= groups[i]->state[hca->index];
	return 0;
}

/**
 * mc_group_record() - the record of the group in a place, below MC_GROUPS; NULL: none
 */
const uint8_t *mc_group_record(unsigned int i)
{
	return groups[i] ? groups[i]->record : NULL;
}

/**
 * mc_group_has() - does an adapter's port get what is sent to a multicast LID?
 * @i: number of the adapter; there may be none
 */
bool mc_group_has(uint16_t mlid, unsigned int i)
{
	unsigned int place = mlid - MC_LID_FIRST;

	return place < MC_GROUPS && groups[place] && i < FABRIC_MAX &&
	       groups[place]->state[i] & FULL_OR_NON_MEMBER;
}
