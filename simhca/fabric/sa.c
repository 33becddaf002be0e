// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The subnet administrator: nodes, paths, multicast groups, and as much of services
 * and subscriptions as consumers insist on (IBTA 15.2). A table that does not fit one
 * datagram goes out in segments (RMPP), without waiting for acknowledgements.
 *
 * Invariant
 * - Every pair of ports has one path; records say so exactly.
 */
#include "fabric/fabric.h"
#include "fabric/mad.h"
#include "fabric/mc_group.h"

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

enum {
	ATTR_CLASS_PORT_INFO = 0x01,
	ATTR_INFORM_INFO = 0x03,
	ATTR_NODE_RECORD = 0x11,
	ATTR_PORT_INFO_RECORD = 0x12,
	ATTR_SWITCH_INFO_RECORD = 0x14,
	ATTR_LINEAR_FDB_RECORD = 0x15,
	ATTR_MULTICAST_FDB_RECORD = 0x17,
	ATTR_SM_INFO_RECORD = 0x18,
	ATTR_LINK_RECORD = 0x20,
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

/* Records of nodes */
#define NODE_LID 0
#define NODE_PART 2	/* the port or block that it is about */
#define NODE_HAS_LID (1ull << 0)
#define NODE_HAS_PART (1ull << 1)
#define NODE_DESC (4 + SMI_NODE_INFO_BYTES)
#define NODE_BYTES 112u
#define PORT_INFO_BYTES 72u
#define SWITCH_INFO_BYTES 24u
#define FDB_BYTES 72u		/* of both kinds */
#define SM_INFO_BYTES 32u

/* LinkRecord */
#define LINK_FROM_LID 0
#define LINK_FROM_PORT 2
#define LINK_TO_PORT 3
#define LINK_TO_LID 4
#define LINK_BYTES 8u
#define LINK_HAS_FROM_LID (1ull << 0)
#define LINK_HAS_TO_LID (1ull << 3)

/* The records of an answer. */
static struct {
	uint8_t bytes[RMPP_WINDOW * SA_DATA_BYTES];
	size_t len;
} table;

static uint16_t mcmember(struct hca *hca, uint8_t *mad)
{
	uint8_t *rec = mad + SA_DATA;

	if (!mc_group_ready())
		return SA_STATUS_NO_RESOURCES;
	switch (mad[MAD_METHOD]) {
	case MAD_SET:
		return mc_group_join(hca, rec, mad_get64(mad, SA_COMP_MASK));
	case MAD_DELETE:
		return mc_group_leave(hca, rec);
	case MAD_GET:
	case MAD_GET_TABLE:
		return mc_group_get(hca, rec);
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
	const uint8_t *record;
	unsigned int i;
	uint16_t ret;

	if (!mc_group_ready())
		return SA_STATUS_NO_RESOURCES;
	if (mad_get64(mad, SA_COMP_MASK) & MC_HAS_MGID) {
		ret = mc_group_get(hca, mad + SA_DATA);
		if (!ret)
			table_add(mad + SA_DATA, MC_BYTES, MC_PADDED);
		return ret;
	}
	for (i = 0; i < MC_GROUPS; i++) {
		record = mc_group_record(i);
		if (record)
			table_add(record, MC_BYTES, MC_PADDED);
	}
	return 0;
}

/**
 * struct node_kind - a kind of records that say what the agents of nodes say
 * @record: number of the record
 * @attr: of the agent
 * @at: where the attribute is in the record
 * @bytes: of a record
 * @wide: NODE_PART is a block of 16 bits: the ports' in the highest four, as in MFTRecord.
 *	Else it is a port, of eight bits
 * @parts: no node has a port or block of this number or above
 */
struct node_kind {
	uint16_t record, attr;
	size_t at, bytes;
	bool wide;
	unsigned int parts;
};

static const struct node_kind node_kinds[] = {
	{ ATTR_NODE_RECORD, SMI_ATTR_NODE_INFO, 4, NODE_BYTES, false, 1 },
	{ ATTR_PORT_INFO_RECORD, SMI_ATTR_PORT_INFO, 4, PORT_INFO_BYTES, false,
	  FABRIC_MAX + 1 },
	{ ATTR_SWITCH_INFO_RECORD, SMI_ATTR_SWITCH_INFO, 4, SWITCH_INFO_BYTES,
	  false, 1 },
	{ ATTR_LINEAR_FDB_RECORD, SMI_ATTR_LINEAR_FDB, 8, FDB_BYTES, true,
	  SMI_SWITCH_LID / SMI_DATA_BYTES + 1 },
	{ ATTR_MULTICAST_FDB_RECORD, SMI_ATTR_MULTICAST_FDB, 8, FDB_BYTES, true,
	  0x10000 },
	{ ATTR_SM_INFO_RECORD, SMI_ATTR_SM_INFO, 4, SM_INFO_BYTES, false, 1 },
};

struct node_search {
	const struct node_kind *kind;
	bool one_lid, one_part;
	unsigned int lid, part;
};

static void node_add(const struct node_search *search,
		     const struct smi_attr *attrs, struct hca *hca,
		     unsigned int lid)
{
	/* Of an adapter port 0 would be port 1 once more. */
	unsigned int part = search->kind->attr == SMI_ATTR_PORT_INFO && !attrs;
	const struct node_kind *kind = search->kind;
	uint8_t rec[NODE_BYTES], data[SMI_DATA_BYTES];

	for (; part < kind->parts; part++) {
		if ((search->one_lid && lid != search->lid) ||
		    (search->one_part && part != search->part) ||
		    smi_attribute(attrs, hca, kind->attr,
				  part >> 12 << 28 | (part & 0xfff), data))
			continue;
		memset(rec, 0, sizeof(rec));
		mad_put16(rec, NODE_LID, (uint16_t)lid);
		if (kind->wide)
			mad_put16(rec, NODE_PART, (uint16_t)part);
		else
			rec[NODE_PART] = (uint8_t)part;
		memcpy(rec + kind->at, data, sizeof(data) < kind->bytes - kind->at ?
		       sizeof(data) : kind->bytes - kind->at);
		if (kind->attr == SMI_ATTR_NODE_INFO)
			smi_attribute(attrs, hca, SMI_ATTR_NODE_DESC, 0,
				      rec + NODE_DESC);
		table_add(rec, kind->bytes, kind->bytes);
	}
}

static uint16_t node_table(struct hca *hca, uint8_t *mad)
{
	uint64_t mask = mad_get64(mad, SA_COMP_MASK);
	struct node_search search = {
		.one_lid = mask & NODE_HAS_LID,
		.lid = mad_get16(mad + SA_DATA, NODE_LID),
		.part = mad[SA_DATA + NODE_PART],
	};
	struct hca *node;
	unsigned int i;

	search.kind = node_kinds;
	while (search.kind->record != mad_get16(mad, MAD_ATTR))
		search.kind++;
	search.one_part = mask & NODE_HAS_PART && search.kind->parts > 1;
	if (search.kind->wide)
		search.part = mad_get16(mad + SA_DATA, NODE_PART);
	for (i = 0; i < FABRIC_MAX; i++) {
		node = fabric_hca(i);
		if (node && port_active(node))
			node_add(&search, NULL, node, port_lid(node));
	}
	node_add(&search, smi_switch_attrs, hca, SMI_SWITCH_LID);
	return table.len ? 0 : SA_STATUS_NO_RECORDS;
}

/* Of the port with that LID, or of who asks. */
static uint16_t node_record(struct hca *hca, uint8_t *mad)
{
	uint64_t mask = mad_get64(mad, SA_COMP_MASK);
	uint16_t status;

	if (mad[MAD_METHOD] != MAD_GET)
		return MAD_STATUS_BAD_METHOD;
	if (!(mask & NODE_HAS_LID))
		mad_put16(mad, SA_DATA + NODE_LID, port_lid(hca));
	mad_put64(mad, SA_COMP_MASK, mask | NODE_HAS_LID);
	status = node_table(hca, mad);
	if (!status)
		memcpy(mad + SA_DATA, table.bytes, NODE_BYTES);
	return status;
}

static void link_add(const uint8_t *mad, unsigned int from, unsigned int from_port,
		     unsigned int to, unsigned int to_port)
{
	uint64_t mask = mad_get64(mad, SA_COMP_MASK);
	const uint8_t *asked = mad + SA_DATA;
	uint8_t rec[LINK_BYTES] = { 0 };

	if ((mask & LINK_HAS_FROM_LID && mad_get16(asked, LINK_FROM_LID) != from) ||
	    (mask & LINK_HAS_TO_LID && mad_get16(asked, LINK_TO_LID) != to))
		return;
	mad_put16(rec, LINK_FROM_LID, (uint16_t)from);
	mad_put16(rec, LINK_TO_LID, (uint16_t)to);
	rec[LINK_FROM_PORT] = (uint8_t)from_port;
	rec[LINK_TO_PORT] = (uint8_t)to_port;
	table_add(rec, LINK_BYTES, LINK_BYTES);
}

static uint16_t link_table(struct hca *hca, uint8_t *mad)
{
	unsigned int i;

	for (i = 0; i < FABRIC_MAX; i++) {
		hca = fabric_hca(i);
		if (!hca || !port_active(hca))
			continue;
		link_add(mad, port_lid(hca), 1, SMI_SWITCH_LID, i + 1);
		link_add(mad, SMI_SWITCH_LID, i + 1, port_lid(hca), 1);
	}
	return table.len ? 0 : SA_STATUS_NO_RECORDS;
}

static uint16_t only_tables(struct hca *hca, uint8_t *mad)
{
	(void)hca;
	(void)mad;
	return MAD_STATUS_BAD_METHOD;
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
	{ ATTR_PORT_INFO_RECORD, PORT_INFO_BYTES, node_record, node_table },
	{ ATTR_SWITCH_INFO_RECORD, SWITCH_INFO_BYTES, node_record, node_table },
	{ ATTR_LINEAR_FDB_RECORD, FDB_BYTES, node_record, node_table },
	{ ATTR_MULTICAST_FDB_RECORD, FDB_BYTES, node_record, node_table },
	{ ATTR_SM_INFO_RECORD, SM_INFO_BYTES, node_record, node_table },
	{ ATTR_LINK_RECORD, LINK_BYTES, only_tables, link_table },
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
