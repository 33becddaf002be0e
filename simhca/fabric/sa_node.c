// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The subnet administrator's records of nodes and links (IBTA 15.2.5). They say what the
 * agents of the nodes say; a component that is not looked at is refused.
 */
#include "fabric/fabric.h"
#include "fabric/mad.h"
#include "fabric/mc_group.h"
#include "fabric/sa.h"

/* Records of nodes */
#define NODE_LID 0
#define NODE_WORD 2	/* which port or block it is about; see struct node_kind */
#define NODE_HAS_LID (1ull << 0)
#define NODE_DESC (4 + SMI_NODE_INFO_BYTES)
#define PORT_INFO_CAPS 20	/* in the attribute */
#define PORT_HAS_CAPS (1ull << 7)
#define CAPS_AT_LEAST (1u << 31)	/* modifier: these bits, and maybe others */

/* LinkRecord */
#define LINK_FROM_LID 0
#define LINK_FROM_PORT 2
#define LINK_TO_PORT 3
#define LINK_TO_LID 4
#define LINK_HAS_FROM_LID (1ull << 0)
#define LINK_HAS_FROM_PORT (1ull << 1)
#define LINK_HAS_TO_PORT (1ull << 2)
#define LINK_HAS_TO_LID (1ull << 3)

/**
 * struct node_kind - a kind of records that say what the agents of nodes say
 * @record: number of the record
 * @attr: of the agent
 * @at: where the attribute is in the record
 * @bytes: of a record
 * @positions: how many groups of numbers a node has, at most
 * @numbers: how many ports or blocks are in one, at most
 * @shift: the word at NODE_WORD is position << 12 | number << shift
 * @bit1: what of that word the component with bit 1 is about
 * @bit3: the same for bit 3
 */
struct node_kind {
	uint16_t record, attr;
	size_t at, bytes;
	unsigned int positions, numbers, shift;
	uint16_t bit1, bit3;
};

static const struct node_kind node_kinds[] = {
	{ SA_ATTR_NODE_RECORD, SMI_ATTR_NODE_INFO, 4, SA_NODE_BYTES, 1, 1, 0, 0, 0 },
	{ SA_ATTR_PORT_INFO_RECORD, SMI_ATTR_PORT_INFO, 4, SA_PORT_INFO_BYTES,
	  1, FABRIC_MAX + 1, 8, 0xff00, 0 },
	{ SA_ATTR_SWITCH_INFO_RECORD, SMI_ATTR_SWITCH_INFO, 4, SA_SWITCH_INFO_BYTES,
	  1, 1, 0, 0, 0 },
	{ SA_ATTR_LINEAR_FDB_RECORD, SMI_ATTR_LINEAR_FDB, 8, SA_FDB_BYTES,
	  1, SMI_SWITCH_LID / SMI_DATA_BYTES + 1, 0, 0xffff, 0 },
	{ SA_ATTR_MULTICAST_FDB_RECORD, SMI_ATTR_MULTICAST_FDB, 8, SA_FDB_BYTES,
	  FABRIC_MAX / 16 + 1, MC_GROUPS / 32, 0, 0xf000, 0x01ff },
	{ SA_ATTR_SM_INFO_RECORD, SMI_ATTR_SM_INFO, 4, SA_SM_INFO_BYTES,
	  1, 1, 0, 0, 0 },
};

static const struct node_kind *node_kind(const uint8_t *mad)
{
	size_t i = 0;

	while (node_kinds[i].record != mad_get16(mad, MAD_ATTR))
		if (++i == ARRAY_SIZE(node_kinds))
			return NULL;
	return &node_kinds[i];
}

/* Are the capabilities of a port those that are asked for, if any are? */
static bool node_has_caps(const uint8_t *mad, const uint8_t *port_info)
{
	uint32_t asked = mad_get32(mad + SA_DATA + 4, PORT_INFO_CAPS);
	uint32_t has = mad_get32(port_info, PORT_INFO_CAPS);

	if (!(mad_get64(mad, SA_COMP_MASK) & PORT_HAS_CAPS))
		return true;
	return mad_get32(mad, MAD_MODIFIER) & CAPS_AT_LEAST ?
	       !(asked & ~has) : asked == has;
}

static void node_add(const struct node_kind *kind, const uint8_t *mad,
		     const struct smi_attr *attrs, struct hca *hca,
		     unsigned int lid, unsigned int position, unsigned int number)
{
	uint16_t word = (uint16_t)(position << 12 | number << kind->shift);
	uint16_t asked = mad_get16(mad + SA_DATA, NODE_WORD) ^ word;
	uint64_t mask = mad_get64(mad, SA_COMP_MASK);
	uint8_t rec[SA_NODE_BYTES] = { 0 }, data[SMI_DATA_BYTES];
	size_t room = kind->bytes - kind->at;

	if ((mask & 1 << 1 && asked & kind->bit1) ||
	    (mask & 1 << 3 && asked & kind->bit3) ||
	    smi_attribute(attrs, hca, kind->attr, position << 28 | number, data))
		return;
	if (kind->attr == SMI_ATTR_PORT_INFO && !node_has_caps(mad, data))
		return;
	mad_put16(rec, NODE_LID, (uint16_t)lid);
	mad_put16(rec, NODE_WORD, word);
	memcpy(rec + kind->at, data, sizeof(data) < room ? sizeof(data) : room);
	if (kind->attr == SMI_ATTR_NODE_INFO)
		smi_attribute(attrs, hca, SMI_ATTR_NODE_DESC, 0, rec + NODE_DESC);
	sa_table_add(rec, kind->bytes, kind->bytes);
}

static void node_add_all(const struct node_kind *kind, const uint8_t *mad,
			 const struct smi_attr *attrs, struct hca *hca,
			 unsigned int lid)
{
	/* Port 0 of an adapter would be its port 1 once more. */
	unsigned int first = kind->attr == SMI_ATTR_PORT_INFO && !attrs;
	unsigned int position, number;

	if (mad_get64(mad, SA_COMP_MASK) & NODE_HAS_LID &&
	    mad_get16(mad + SA_DATA, NODE_LID) != lid)
		return;
	for (position = 0; position < kind->positions; position++)
		for (number = first; number < kind->numbers; number++)
			node_add(kind, mad, attrs, hca, lid, position, number);
}

/**
 * sa_node_table() - the records of nodes of the kind that is asked for
 *
 * Return: status
 */
uint16_t sa_node_table(struct hca *hca, uint8_t *mad)
{
	const struct node_kind *kind = node_kind(mad);
	uint64_t known = NODE_HAS_LID;
	struct hca *node;
	unsigned int i;

	if (!kind)
		return MAD_STATUS_BAD_ATTR;
	known |= (kind->bit1 ? 1 << 1 : 0) | (kind->bit3 ? 1 << 3 : 0);
	if (kind->attr == SMI_ATTR_PORT_INFO)
		known |= PORT_HAS_CAPS;
	if (mad_get64(mad, SA_COMP_MASK) & ~known)
		return SA_STATUS_INVALID;
	for (i = 0; i < FABRIC_MAX; i++) {
		node = fabric_hca(i);
		if (node && port_active(node))
			node_add_all(kind, mad, NULL, node, port_lid(node));
	}
	node_add_all(kind, mad, smi_switch_attrs, hca, SMI_SWITCH_LID);
	return sa_table_bytes() ? 0 : SA_STATUS_NO_RECORDS;
}

/**
 * sa_node_record() - the record of the node with that LID, or of who asks
 *
 * Return: status
 */
uint16_t sa_node_record(struct hca *hca, uint8_t *mad)
{
	uint64_t mask = mad_get64(mad, SA_COMP_MASK);
	uint16_t status;

	if (mad[MAD_METHOD] != MAD_GET)
		return MAD_STATUS_BAD_METHOD;
	if (!(mask & NODE_HAS_LID))
		mad_put16(mad, SA_DATA + NODE_LID, port_lid(hca));
	mad_put64(mad, SA_COMP_MASK, mask | NODE_HAS_LID);
	status = sa_node_table(hca, mad);
	if (status)
		return status;
	if (sa_table_bytes() > node_kind(mad)->bytes)
		return SA_STATUS_TOO_MANY_RECORDS;
	sa_table_get(mad + SA_DATA);
	return 0;
}

static void link_add(const uint8_t *mad, unsigned int from, unsigned int from_port,
		     unsigned int to, unsigned int to_port)
{
	uint64_t mask = mad_get64(mad, SA_COMP_MASK);
	const uint8_t *asked = mad + SA_DATA;
	uint8_t rec[SA_LINK_BYTES] = { 0 };

	if ((mask & LINK_HAS_FROM_LID && mad_get16(asked, LINK_FROM_LID) != from) ||
	    (mask & LINK_HAS_FROM_PORT && asked[LINK_FROM_PORT] != from_port) ||
	    (mask & LINK_HAS_TO_PORT && asked[LINK_TO_PORT] != to_port) ||
	    (mask & LINK_HAS_TO_LID && mad_get16(asked, LINK_TO_LID) != to))
		return;
	mad_put16(rec, LINK_FROM_LID, (uint16_t)from);
	mad_put16(rec, LINK_TO_LID, (uint16_t)to);
	rec[LINK_FROM_PORT] = (uint8_t)from_port;
	rec[LINK_TO_PORT] = (uint8_t)to_port;
	sa_table_add(rec, SA_LINK_BYTES, SA_LINK_BYTES);
}

/**
 * sa_node_links() - the records of links, each in both directions
 *
 * Return: status
 */
uint16_t sa_node_links(struct hca *hca, uint8_t *mad)
{
	unsigned int i;

	for (i = 0; i < FABRIC_MAX; i++) {
		hca = fabric_hca(i);
		if (!hca || !port_active(hca))
			continue;
		link_add(mad, port_lid(hca), 1, SMI_SWITCH_LID, i + 1);
		link_add(mad, SMI_SWITCH_LID, i + 1, port_lid(hca), 1);
	}
	return sa_table_bytes() ? 0 : SA_STATUS_NO_RECORDS;
}
