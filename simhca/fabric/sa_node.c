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
#define NODE_WORD 2	/* which ports or blocks it is about; see struct node_kind */
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
 * struct node_index - a number that a record is about: a block, or a port
 * @what: what it counts
 * @first: of blocks
 * @last: of blocks
 * @word: how far it is shifted in the word at NODE_WORD
 * @modifier: the same for the modifier of the agent's attribute
 */
struct node_index {
	enum { BLOCKS, PORTS, PORTS_IN } what;
	unsigned int first, last, word, modifier;
};

/**
 * struct node_kind - a kind of records that say what the agents of nodes say
 * @record: number of the record
 * @attr: of the agent
 * @at: where the attribute is in the record
 * @bytes: of a record
 * @outer: a node has records for each of these
 * @inner: and each of these
 * @asked: what of the word at NODE_WORD the components with the bits 1, 2, 3 are about
 */
struct node_kind {
	uint16_t record, attr;
	size_t at, bytes;
	struct node_index outer, inner;
	uint32_t asked[3];
};

static const struct node_kind node_kinds[] = {
	{ SA_ATTR_NODE_RECORD, SMI_ATTR_NODE_INFO, 4, SA_NODE_BYTES,
	  { 0 }, { 0 }, { 0 } },
	{ SA_ATTR_PORT_INFO_RECORD, SMI_ATTR_PORT_INFO, 4, SA_PORT_INFO_BYTES,
	  { 0 }, { PORTS, 0, 0, 24, 0 }, { 0xff000000 } },
	{ SA_ATTR_SL2VL_RECORD, SMI_ATTR_SL2VL, 8, SA_SL2VL_BYTES,
	  { PORTS_IN, 0, 0, 24, 8 }, { PORTS, 0, 0, 16, 0 }, { 0xff000000, 0x00ff0000 } },
	{ SA_ATTR_SWITCH_INFO_RECORD, SMI_ATTR_SWITCH_INFO, 4, SA_SWITCH_INFO_BYTES,
	  { 0 }, { 0 }, { 0 } },
	{ SA_ATTR_LINEAR_FDB_RECORD, SMI_ATTR_LINEAR_FDB, 8, SA_BLOCK_BYTES,
	  { 0 }, { BLOCKS, 0, SMI_SWITCH_LID / SMI_DATA_BYTES, 16, 0 }, { 0xffff0000 } },
	{ SA_ATTR_MULTICAST_FDB_RECORD, SMI_ATTR_MULTICAST_FDB, 8, SA_BLOCK_BYTES,
	  { BLOCKS, 0, FABRIC_MAX / 16, 28, 28 },
	  { BLOCKS, 0, MC_GROUPS / 32 - 1, 16, 0 }, { 0xf0000000, 0, 0x01ff0000 } },
	{ SA_ATTR_SM_INFO_RECORD, SMI_ATTR_SM_INFO, 4, SA_SM_INFO_BYTES,
	  { 0 }, { 0 }, { 0 } },
	{ SA_ATTR_GUID_INFO_RECORD, SMI_ATTR_GUID_INFO, 8, SA_BLOCK_BYTES,
	  { 0 }, { BLOCKS, 0, 0, 24, 0 }, { 0xff000000 } },
	{ SA_ATTR_PKEY_TABLE_RECORD, SMI_ATTR_PKEY_TABLE, 8, SA_BLOCK_BYTES,
	  { PORTS, 0, 0, 8, 16 }, { BLOCKS, 0, PORT_PKEYS / 32 - 1, 16, 0 },
	  { 0xffff0000, 0x0000ff00 } },
	{ SA_ATTR_VL_ARB_RECORD, SMI_ATTR_VL_ARB, 8, SA_BLOCK_BYTES,
	  { PORTS, 0, 0, 24, 0 }, { BLOCKS, 1, 4, 16, 16 }, { 0xff000000, 0x00ff0000 } },
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

/* Is the record with that word one of those that are asked for? */
static bool node_asked(const struct node_kind *kind, const uint8_t *mad, uint32_t word)
{
	uint32_t differs = mad_get32(mad + SA_DATA, NODE_WORD) ^ word;
	uint64_t mask = mad_get64(mad, SA_COMP_MASK);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kind->asked); i++)
		if (mask & 2ull << i && differs & kind->asked[i])
			return false;
	return true;
}

static void node_add(const struct node_kind *kind, const uint8_t *mad,
		     const struct smi_attr *attrs, struct hca *hca,
		     unsigned int lid, unsigned int outer, unsigned int inner)
{
	uint32_t word = outer << kind->outer.word | inner << kind->inner.word;
	uint32_t modifier = outer << kind->outer.modifier |
			    inner << kind->inner.modifier;
	uint8_t rec[SA_NODE_BYTES] = { 0 }, data[SMI_DATA_BYTES];
	size_t room = kind->bytes - kind->at;

	if (!node_asked(kind, mad, word) ||
	    smi_attribute(attrs, hca, kind->attr, modifier, data))
		return;
	if (kind->attr == SMI_ATTR_PORT_INFO && !node_has_caps(mad, data))
		return;
	mad_put16(rec, NODE_LID, (uint16_t)lid);
	mad_put32(rec, NODE_WORD, word);
	memcpy(rec + kind->at, data, sizeof(data) < room ? sizeof(data) : room);
	if (kind->attr == SMI_ATTR_NODE_INFO)
		smi_attribute(attrs, hca, SMI_ATTR_NODE_DESC, 0, rec + NODE_DESC);
	sa_table_add(rec, kind->bytes, kind->bytes);
}

/* An adapter has port 1 alone, and packets come into it at no other. */
static unsigned int index_first(const struct node_index *index, bool is_switch)
{
	return index->what == PORTS && !is_switch ? 1 : index->first;
}

static unsigned int index_last(const struct node_index *index, bool is_switch)
{
	if (index->what == BLOCKS)
		return index->last;
	return is_switch ? fabric_hcas() : index->what == PORTS;
}

static void node_add_all(const struct node_kind *kind, const uint8_t *mad,
			 const struct smi_attr *attrs, struct hca *hca,
			 unsigned int lid)
{
	const struct node_index *outer = &kind->outer, *inner = &kind->inner;
	unsigned int o, i;

	if (mad_get64(mad, SA_COMP_MASK) & NODE_HAS_LID &&
	    mad_get16(mad + SA_DATA, NODE_LID) != lid)
		return;
	for (o = index_first(outer, attrs); o <= index_last(outer, attrs); o++)
		for (i = index_first(inner, attrs); i <= index_last(inner, attrs); i++)
			node_add(kind, mad, attrs, hca, lid, o, i);
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
	for (i = 0; i < ARRAY_SIZE(kind->asked); i++)
		known |= kind->asked[i] ? 2ull << i : 0;
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
