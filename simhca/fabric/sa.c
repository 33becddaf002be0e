// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The subnet administrator: nodes, paths, multicast groups, and as much of services
 * and subscriptions as consumers insist on (IBTA 15.2). A table that does not fit one
 * datagram goes out in segments (RMPP), without waiting for acknowledgements.
 *
 * Invariants
 * - Every pair of ports has one path; records say so exactly.
 * - A group lives while a port is a member. The IPoIB broadcast group always
 *   does, as every subnet manager makes it.
 * - A port is a member of a group once, whatever the number of joins.
 */
#include <errno.h>
#include <stdlib.h>

#include "fabric/fabric.h"
#include "fabric/mad.h"

/* RMPP header and SA header */
#define SA_RMPP_VERSION 24
#define SA_RMPP_TYPE 25
#define SA_RMPP_FLAGS 26
#define SA_RMPP_SEGMENT 28
#define SA_RMPP_PAYLOAD 32
#define SA_ATTR_OFFSET 44
#define SA_COMP_MASK 48
#define SA_DATA 56u
#define SA_DATA_BYTES 200u

#define RMPP_DATA 1
#define RMPP_ACTIVE 0x01
#define RMPP_FIRST 0x02
#define RMPP_LAST 0x04
/* A receiver takes at least so many before it has to be waited for. */
#define RMPP_WINDOW 64u
#define SA_HEADER_BYTES 20u	/* counted in the payload's length */

#define SA_STATUS_NO_RECORDS 0x0300
#define SA_STATUS_INVALID 0x0200
#define SA_STATUS_NO_RESOURCES 0x0100

enum {
	ATTR_CLASS_PORT_INFO = 0x01,
	ATTR_INFORM_INFO = 0x03,
	ATTR_NODE_RECORD = 0x11,
	ATTR_SERVICE_RECORD = 0x31,
	ATTR_PATH_RECORD = 0x35,
	ATTR_MCMEMBER = 0x38,
};

/* PathRecord */
#define PATH_DGID 8
#define PATH_SGID 24
#define PATH_DLID 40
#define PATH_SLID 42
#define PATH_REVERSIBLE 49
#define PATH_PKEY 50
#define PATH_MTU 54
#define PATH_RATE 55
#define PATH_LIFE 56
#define PATH_BYTES 64u
#define PATH_HAS_DGID (1ull << 2)
#define PATH_HAS_SGID (1ull << 3)
#define PATH_HAS_DLID (1ull << 4)
#define PATH_HAS_SLID (1ull << 5)

/* NodeRecord */
#define NODE_LID 0
#define NODE_INFO 4
#define NODE_DESC (NODE_INFO + SMI_NODE_INFO_BYTES)
#define NODE_BYTES 112u
#define NODE_HAS_LID (1ull << 0)

/* MCMemberRecord */
#define MC_MGID 0
#define MC_PORT_GID 16
#define MC_QKEY 32
#define MC_MLID 36
#define MC_MTU 38
#define MC_PKEY 40
#define MC_RATE 42
#define MC_LIFE 43
#define MC_SL_FLOW_HOP 44
#define MC_SCOPE_STATE 48
#define MC_BYTES 52u
#define MC_PADDED 56u
#define MC_HAS_MGID (1ull << 0)
#define MC_HAS_QKEY (1ull << 2)

#define EXACTLY 0x80u		/* selector of MTU, rate and life time */
#define MTU_4096 5
#define RATE_100_GBPS 16
#define LIFE_TIME 14		/* 67 ms */
#define DEFAULT_PKEY 0xffff

#define MLID_FIRST 0xc001u
#define MC_GROUPS 1024u
#define IPOIB_QKEY 0x0b1b

struct mc_group {
	uint8_t record[MC_BYTES];
	uint8_t state[FABRIC_MAX]; /* join state bits per adapter */
	bool forever;
};

/* The records of an answer. */
static struct {
	uint8_t bytes[RMPP_WINDOW * SA_DATA_BYTES];
	size_t len;
} table;

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
	mad_put16(r, MC_MLID, (uint16_t)(MLID_FIRST + i));
	r[MC_MTU] = EXACTLY | MTU_4096;
	mad_put16(r, MC_PKEY, DEFAULT_PKEY);
	r[MC_RATE] = EXACTLY | RATE_100_GBPS;
	r[MC_LIFE] = EXACTLY | LIFE_TIME;
	r[MC_SCOPE_STATE] = (mgid[1] & 0xf) << 4;
	groups[i] = group;
	return group;
}

/* The broadcast group has the first place. */
static bool groups_ready(void)
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
 * sa_fini() - forget all groups
 */
void sa_fini(void)
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

static uint16_t mc_join(struct hca *hca, uint8_t *rec, uint64_t mask)
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

static uint16_t mc_leave(struct hca *hca, uint8_t *rec)
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

static uint16_t mc_get(struct hca *hca, uint8_t *rec)
{
	unsigned int i = group_find(rec + MC_MGID);

	if (i == MC_GROUPS)
		return SA_STATUS_NO_RECORDS;
	memcpy(rec, groups[i]->record, MC_BYTES);
	memcpy(rec + MC_PORT_GID, hca->port->gid, 16);
	rec[MC_SCOPE_STATE] |= groups[i]->state[hca->index];
	return 0;
}

static uint16_t mcmember(struct hca *hca, uint8_t *mad)
{
	uint8_t *rec = mad + SA_DATA;

	if (!groups_ready())
		return SA_STATUS_NO_RESOURCES;
	switch (mad[MAD_METHOD]) {
	case MAD_SET:
		return mc_join(hca, rec, mad_get64(mad, SA_COMP_MASK));
	case MAD_DELETE:
		return mc_leave(hca, rec);
	case MAD_GET:
	case MAD_GET_TABLE:
		return mc_get(hca, rec);
	default:
		return MAD_STATUS_BAD_METHOD;
	}
}

static void table_add(const void *record, size_t len, size_t padded)
{
	if (padded > sizeof(table.bytes) - table.len)
		return;
	memset(table.bytes + table.len, 0, padded);
	memcpy(table.bytes + table.len, record, len);
	table.len += padded;
}

static uint16_t mc_table(struct hca *hca, uint8_t *mad)
{
	unsigned int i;
	uint16_t ret;

	if (!groups_ready())
		return SA_STATUS_NO_RESOURCES;
	if (mad_get64(mad, SA_COMP_MASK) & MC_HAS_MGID) {
		ret = mc_get(hca, mad + SA_DATA);
		if (!ret)
			table_add(mad + SA_DATA, MC_BYTES, MC_PADDED);
		return ret;
	}
	for (i = 0; i < MC_GROUPS; i++)
		if (groups[i])
			table_add(groups[i]->record, MC_BYTES, MC_PADDED);
	return 0;
}

static void node_fill(struct hca *hca, uint8_t *rec)
{
	memset(rec, 0, NODE_BYTES);
	mad_put16(rec, NODE_LID, port_lid(hca));
	smi_node_info(hca, rec + NODE_INFO);
	memcpy(rec + NODE_DESC, hca->port->node_desc, NODE_DESC_BYTES);
}

/* Of the port with that LID, or of who asks. */
static uint16_t node_record(struct hca *hca, uint8_t *mad)
{
	uint8_t *rec = mad + SA_DATA;

	if (mad[MAD_METHOD] != MAD_GET)
		return MAD_STATUS_BAD_METHOD;
	if (mad_get64(mad, SA_COMP_MASK) & NODE_HAS_LID)
		hca = fabric_by_lid(mad_get16(rec, NODE_LID));
	if (!hca)
		return SA_STATUS_NO_RECORDS;
	node_fill(hca, rec);
	return 0;
}

static uint16_t node_table(struct hca *hca, uint8_t *mad)
{
	bool one = mad_get64(mad, SA_COMP_MASK) & NODE_HAS_LID;
	uint16_t lid = mad_get16(mad + SA_DATA, NODE_LID);
	uint8_t rec[NODE_BYTES];
	unsigned int i;

	for (i = 0; i < FABRIC_MAX; i++) {
		hca = fabric_hca(i);
		if (!hca || !port_active(hca) || (one && port_lid(hca) != lid))
			continue;
		node_fill(hca, rec);
		table_add(rec, NODE_BYTES, NODE_BYTES);
	}
	return table.len ? 0 : SA_STATUS_NO_RECORDS;
}

static struct hca *path_end(const uint8_t *rec, bool has_gid, unsigned int gid,
			    bool has_lid, unsigned int lid)
{
	if (has_gid)
		return fabric_by_gid(rec + gid);
	if (has_lid)
		return fabric_by_lid(mad_get16(rec, lid));
	return NULL;
}

static uint16_t path_record(struct hca *hca, uint8_t *mad)
{
	uint64_t mask = mad_get64(mad, SA_COMP_MASK);
	uint8_t *rec = mad + SA_DATA;
	struct hca *from, *to;

	if (mad[MAD_METHOD] != MAD_GET && mad[MAD_METHOD] != MAD_GET_TABLE)
		return MAD_STATUS_BAD_METHOD;
	to = path_end(rec, mask & PATH_HAS_DGID, PATH_DGID,
		      mask & PATH_HAS_DLID, PATH_DLID);
	from = path_end(rec, mask & PATH_HAS_SGID, PATH_SGID,
			mask & PATH_HAS_SLID, PATH_SLID);
	if (!(mask & (PATH_HAS_SGID | PATH_HAS_SLID)))
		from = hca;
	if (!from || !to || !port_active(from) || !port_active(to))
		return SA_STATUS_NO_RECORDS;
	memset(rec, 0, PATH_BYTES);
	memcpy(rec + PATH_DGID, port_gid(to), 16);
	memcpy(rec + PATH_SGID, port_gid(from), 16);
	mad_put16(rec, PATH_DLID, port_lid(to));
	mad_put16(rec, PATH_SLID, port_lid(from));
	rec[PATH_REVERSIBLE] = 0x80 | 1; /* and one path */
	mad_put16(rec, PATH_PKEY, DEFAULT_PKEY);
	rec[PATH_MTU] = EXACTLY | MTU_4096;
	rec[PATH_RATE] = EXACTLY | RATE_100_GBPS;
	rec[PATH_LIFE] = EXACTLY | LIFE_TIME;
	return 0;
}

static uint16_t class_port_info(struct hca *hca, uint8_t *mad)
{
	uint8_t *rec = mad + SA_DATA;

	(void)hca;
	memset(rec, 0, SA_DATA_BYTES);
	rec[0] = 1; /* base version */
	rec[1] = 2; /* class version */
	mad_put32(rec, 4, 16); /* response time */
	return 0;
}

/* Subscriptions and services are granted; nothing is ever reported or found. */
static uint16_t granted(struct hca *hca, uint8_t *mad)
{
	(void)hca;
	if (mad[MAD_METHOD] == MAD_GET || mad[MAD_METHOD] == MAD_GET_TABLE)
		return SA_STATUS_NO_RECORDS;
	return 0;
}

static const struct sa_attr {
	uint16_t id;
	size_t bytes;	/* of a record */
	uint16_t (*answer)(struct hca *hca, uint8_t *mad);
	uint16_t (*list)(struct hca *hca, uint8_t *mad); /* NULL: one at most */
} attrs[] = {
	{ ATTR_CLASS_PORT_INFO, 72, class_port_info, NULL },
	{ ATTR_INFORM_INFO, 40, granted, NULL },
	{ ATTR_NODE_RECORD, NODE_BYTES, node_record, node_table },
	{ ATTR_SERVICE_RECORD, 176, granted, NULL },
	{ ATTR_PATH_RECORD, PATH_BYTES, path_record, NULL },
	{ ATTR_MCMEMBER, MC_PADDED, mcmember, mc_table },
};

static const struct sa_attr *attr_find(uint16_t id)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(attrs); i++)
		if (attrs[i].id == id)
			return &attrs[i];
	return NULL;
}

/* Fills @table. */
static uint16_t table_fill(const struct sa_attr *attr, struct hca *hca,
			   uint8_t *mad)
{
	uint16_t status;

	table.len = 0;
	if (attr->list)
		return attr->list(hca, mad);
	status = attr->answer(hca, mad);
	if (!status)
		table_add(mad + SA_DATA, attr->bytes, attr->bytes);
	return status;
}

/* One segment of @table. Is there another one? The lengths count headers too. */
static bool table_send(uint8_t *mad, size_t bytes, unsigned int segment)
{
	size_t at = (segment - 1) * (size_t)SA_DATA_BYTES, here, all, segments;
	uint8_t flags = RMPP_ACTIVE;

	segments = table.len ? (table.len + SA_DATA_BYTES - 1) / SA_DATA_BYTES : 1;
	here = table.len > at ? table.len - at : 0;
	if (here > SA_DATA_BYTES)
		here = SA_DATA_BYTES;
	all = table.len + segments * SA_HEADER_BYTES;
	flags |= segment == 1 ? RMPP_FIRST : 0;
	flags |= segment == segments ? RMPP_LAST : 0;
	mad[SA_RMPP_VERSION] = 1;
	mad[SA_RMPP_TYPE] = RMPP_DATA;
	mad[SA_RMPP_FLAGS] = flags;
	mad_put32(mad, SA_RMPP_SEGMENT, segment);
	mad_put32(mad, SA_RMPP_PAYLOAD, segment == 1 && segments > 1 ?
		  (uint32_t)all : (uint32_t)(SA_HEADER_BYTES + here));
	mad_put16(mad, SA_ATTR_OFFSET, (uint16_t)(bytes / 8));
	memset(mad + SA_DATA, 0, SA_DATA_BYTES);
	memcpy(mad + SA_DATA, table.bytes + at, here);
	return segment < segments;
}

/**
 * sa_asked() - is a datagram of this class a request, and not about a table's segments?
 */
bool sa_asked(const uint8_t *mad)
{
	return !(mad[SA_RMPP_FLAGS] & RMPP_ACTIVE) ||
	       mad[SA_RMPP_TYPE] == RMPP_DATA;
}

/**
 * sa_answer() - answer a request to the subnet administrator
 * @from: who asks
 * @mad: the request; becomes a segment of the answer
 * @segment: which one, from 1 on
 *
 * Return: true if the answer has another segment
 */
bool sa_answer(struct hca *from, uint8_t *mad, unsigned int segment)
{
	const struct sa_attr *attr = attr_find(mad_get16(mad, MAD_ATTR));
	bool is_table = mad[MAD_METHOD] == MAD_GET_TABLE, more = false;
	uint16_t status = MAD_STATUS_BAD_ATTR;

	table.len = 0;
	if (attr)
		status = is_table ? table_fill(attr, from, mad) :
				    attr->answer(from, mad);
	if (is_table) {
		more = table_send(mad, attr ? attr->bytes : 0, segment);
		/* A table without records is an answer. */
		if (status == SA_STATUS_NO_RECORDS)
			status = 0;
	}
	mad_put16(mad, MAD_STATUS, status);
	mad[MAD_METHOD] = mad[MAD_METHOD] == MAD_SET ?
				  MAD_GET | MAD_RESPONSE :
				  mad[MAD_METHOD] | MAD_RESPONSE;
	return more;
}
