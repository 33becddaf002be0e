// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The subnet administrator: nodes, paths, multicast groups, and as much of services
 * and subscriptions as consumers insist on (IBTA 15.2).
 *
 * Invariant
 * - Every pair of ports has one path; records say so exactly.
 */
#include "fabric/fabric.h"
#include "fabric/mad.h"
#include "fabric/mc_group.h"
#include "fabric/sa.h"

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
			sa_table_add(mad + SA_DATA, MC_BYTES, MC_PADDED);
		return ret;
	}
	for (i = 0; i < MC_GROUPS; i++) {
		record = mc_group_record(i);
		if (record)
			sa_table_add(record, MC_BYTES, MC_PADDED);
	}
	return 0;
}

/**
 * struct path_end - an end of a path: the port of an adapter, or the switch's own
 */
struct path_end {
	uint16_t lid;
	uint8_t gid[16];
};

static bool path_end_of(struct hca *hca, struct path_end *end)
{
	if (!hca || !port_active(hca))
		return false;
	end->lid = port_lid(hca);
	memcpy(end->gid, port_gid(hca), sizeof(end->gid));
	return true;
}

static void path_end_of_switch(struct path_end *end)
{
	smi_switch_gid(end->gid);
	end->lid = SMI_SWITCH_LID;
}

static bool path_end_by_gid(const uint8_t *gid, struct path_end *end)
{
	path_end_of_switch(end);
	return !memcmp(gid, end->gid, sizeof(end->gid)) ||
	       path_end_of(fabric_by_gid(gid), end);
}

static bool path_end_by_lid(uint16_t lid, struct path_end *end)
{
	path_end_of_switch(end);
	return lid == SMI_SWITCH_LID || path_end_of(fabric_by_lid(lid), end);
}

static uint16_t path_record(struct hca *hca, uint8_t *mad)
{
	uint64_t mask = mad_get64(mad, SA_COMP_MASK);
	uint8_t *rec = mad + SA_DATA;
	struct path_end from, to;
	bool found;

	if (mad[MAD_METHOD] != MAD_GET && mad[MAD_METHOD] != MAD_GET_TABLE)
		return MAD_STATUS_BAD_METHOD;
	if (mask & PATH_HAS_SGID)
		found = path_end_by_gid(rec + PATH_SGID, &from);
	else if (mask & PATH_HAS_SLID)
		found = path_end_by_lid(mad_get16(rec, PATH_SLID), &from);
	else
		found = path_end_of(hca, &from);
	if (mask & PATH_HAS_DGID)
		found = found && path_end_by_gid(rec + PATH_DGID, &to);
	else
		found = found && mask & PATH_HAS_DLID &&
			path_end_by_lid(mad_get16(rec, PATH_DLID), &to);
	if (!found)
		return SA_STATUS_NO_RECORDS;
	memset(rec, 0, PATH_BYTES);
	memcpy(rec + PATH_DGID, to.gid, sizeof(to.gid));
	memcpy(rec + PATH_SGID, from.gid, sizeof(from.gid));
	mad_put16(rec, PATH_DLID, to.lid);
	mad_put16(rec, PATH_SLID, from.lid);
	rec[PATH_REVERSIBLE] = 0x80 | 1; /* and one path */
	mad_put16(rec, PATH_PKEY, SA_DEFAULT_PKEY);
	rec[PATH_MTU] = SA_EXACTLY | SA_MTU_4096;
	rec[PATH_RATE] = SA_EXACTLY | SA_RATE_100_GBPS;
	rec[PATH_LIFE] = SA_EXACTLY | SA_LIFE_TIME;
	return 0;
}

static uint16_t only_tables(struct hca *hca, uint8_t *mad)
{
	(void)hca;
	(void)mad;
	return MAD_STATUS_BAD_METHOD;
}

static uint16_t class_port_info(struct hca *hca, uint8_t *mad)
{
	(void)hca;
	memset(mad + SA_DATA, 0, SA_DATA_BYTES);
	mad_class_port_info(mad + SA_DATA, 2, 0);
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
	{ MAD_ATTR_CLASS_PORT_INFO, 72, class_port_info, NULL },
	{ SA_ATTR_INFORM_INFO, 40, granted, NULL },
	{ SA_ATTR_NODE_RECORD, SA_NODE_BYTES, sa_node_record, sa_node_table },
	{ SA_ATTR_PORT_INFO_RECORD, SA_PORT_INFO_BYTES, sa_node_record, sa_node_table },
	{ SA_ATTR_SL2VL_RECORD, SA_SL2VL_BYTES, sa_node_record, sa_node_table },
	{ SA_ATTR_SWITCH_INFO_RECORD, SA_SWITCH_INFO_BYTES, sa_node_record, sa_node_table },
	{ SA_ATTR_LINEAR_FDB_RECORD, SA_BLOCK_BYTES, sa_node_record, sa_node_table },
	{ SA_ATTR_MULTICAST_FDB_RECORD, SA_BLOCK_BYTES, sa_node_record, sa_node_table },
	{ SA_ATTR_SM_INFO_RECORD, SA_SM_INFO_BYTES, sa_node_record, sa_node_table },
	{ SA_ATTR_LINK_RECORD, SA_LINK_BYTES, only_tables, sa_node_links },
	{ SA_ATTR_GUID_INFO_RECORD, SA_BLOCK_BYTES, sa_node_record, sa_node_table },
	{ SA_ATTR_SERVICE_RECORD, 176, granted, NULL },
	{ SA_ATTR_PKEY_TABLE_RECORD, SA_BLOCK_BYTES, sa_node_record, sa_node_table },
	{ SA_ATTR_PATH_RECORD, PATH_BYTES, path_record, NULL },
	{ SA_ATTR_VL_ARB_RECORD, SA_BLOCK_BYTES, sa_node_record, sa_node_table },
	{ SA_ATTR_MCMEMBER, MC_PADDED, mcmember, mc_table },
};

static const struct sa_attr *attr_find(uint16_t id)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(attrs); i++)
		if (attrs[i].id == id)
			return &attrs[i];
	return NULL;
}

static uint16_t table_fill(const struct sa_attr *attr, struct hca *hca,
			   uint8_t *mad)
{
	uint16_t status;

	if (attr->list)
		return attr->list(hca, mad);
	status = attr->answer(hca, mad);
	if (!status)
		sa_table_add(mad + SA_DATA, attr->bytes, attr->bytes);
	return status;
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

	sa_table_clear();
	if (attr)
		status = is_table ? table_fill(attr, from, mad) :
				    attr->answer(from, mad);
	if (is_table) {
		more = sa_table_send(mad, attr ? attr->bytes : 0, segment);
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
