// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * Management datagrams: the agents of adapters and of the switch between them, ways by
 * directions, and the tables of the subnet administrator. diags has the stock tools.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include "fabric/mad.h"
#include "fabric/mc_group.h"
#include "fabric/sa.h"
#include "test/unit/ktap.h"

#define ADAPTERS 3u
#define PERMISSIVE 0xffff
#define WAY_BACK 0x8000	/* of the status */
#define MLID_BLOCK 32u

/* Where a datagram has its directions, and a segment its length */
#define POINTER 6
#define COUNT 7
#define SLID 32
#define DLID 34
#define OUT 128
#define BACK 192
#define PAYLOAD 32
#define HEADER 20u

static struct hca *hcas[ADAPTERS];
static uint8_t request[MAD_BYTES], answer[MAD_BYTES], table[64 * SA_DATA_BYTES];
static size_t table_len;

static void begin(uint8_t class, uint8_t method, uint16_t attr, uint32_t modifier)
{
	memset(request, 0, sizeof(request));
	request[0] = 1;
	request[MAD_CLASS] = class;
	request[MAD_METHOD] = method;
	mad_put16(request, MAD_ATTR, attr);
	mad_put32(request, MAD_MODIFIER, modifier);
}

/* Adapter 0 sends the request. */
static enum mad_verdict send_to(uint32_t qpn, uint16_t dlid, unsigned int segment)
{
	struct ud_packet reply, pkt = {
		.slid = 1,
		.dlid = dlid,
		.dst_qpn = qpn,
		.data = request,
		.len = MAD_BYTES,
	};

	return mad_receive(hcas[0], &pkt, segment, &reply, answer);
}

static uint16_t status(void)
{
	return mad_get16(answer, MAD_STATUS);
}

/* An agent of subnet management is asked, at its LID. */
static bool asks(uint16_t dlid, uint16_t attr, uint32_t modifier)
{
	begin(MAD_CLASS_SMI_LID, MAD_GET, attr, modifier);
	return send_to(0, dlid, 1) == MAD_ANSWERED;
}

/* The subnet administrator is asked for a table, and sends it. */
static bool lists(uint16_t attr, uint64_t components, const uint8_t *record, size_t len,
		  uint32_t modifier)
{
	enum mad_verdict verdict = MAD_CONTINUED;
	unsigned int segment;

	begin(MAD_CLASS_SA, MAD_GET_TABLE, attr, modifier);
	mad_put64(request, SA_COMP_MASK, components);
	if (record)
		memcpy(request + SA_DATA, record, len);
	table_len = 0;
	for (segment = 1; verdict == MAD_CONTINUED && segment <= 64; segment++) {
		verdict = send_to(1, 1, segment);
		memcpy(table + table_len, answer + SA_DATA, SA_DATA_BYTES);
		table_len += verdict == MAD_CONTINUED ? SA_DATA_BYTES :
			     mad_get32(answer, PAYLOAD) - HEADER;
	}
	return verdict == MAD_ANSWERED;
}

static bool joins(unsigned int i, uint8_t last, uint8_t state)
{
	uint8_t rec[SA_DATA_BYTES] = { 0xff, 0x12, [14] = last, [15] = last, [48] = state };

	rec[13] = (uint8_t)(i >> 8);
	return !mc_group_join(hcas[i % ADAPTERS], rec, 0);
}

static void directed(uint8_t pointer, uint8_t count, uint8_t first, uint8_t second)
{
	begin(MAD_CLASS_SMI_DR, MAD_GET, SMI_ATTR_NODE_INFO, 0);
	request[POINTER] = pointer;
	request[COUNT] = count;
	request[OUT + 1] = first;
	request[OUT + 2] = second;
	mad_put16(request, SLID, PERMISSIVE);
	mad_put16(request, DLID, PERMISSIVE);
}

static void directions_lead_to_the_switch_and_to_adapters(void)
{
	directed(1, 1, 1, 0);
	CHECK_EQ(send_to(0, PERMISSIVE, 1), MAD_ANSWERED);
	CHECK_EQ(status(), WAY_BACK);
	CHECK_EQ(answer[POINTER], 1);
	CHECK_EQ(answer[BACK + 1], 1);
	CHECK_EQ(answer[SMI_DATA + 2], 2);	/* a switch */
	CHECK_EQ(answer[SMI_DATA + 3], ADAPTERS);
	directed(1, 2, 1, 0);
	CHECK_EQ(send_to(0, PERMISSIVE, 1), MAD_ANSWERED);
	CHECK_EQ(answer[SMI_DATA + 2], 2);
	directed(1, 2, 1, 3);
	CHECK_EQ(send_to(0, PERMISSIVE, 1), MAD_ANSWERED);
	CHECK_EQ(answer[SMI_DATA + 2], 1);	/* an adapter */
	CHECK_EQ(mad_get64(answer + SMI_DATA, 12), hcas[2]->port->node_guid);
	CHECK_EQ(answer[BACK + 1], 1);
	CHECK_EQ(answer[BACK + 2], 1);
}

static void other_directions_lead_nowhere(void)
{
	static const uint8_t bad[][4] = {
		{ 0, 1, 1, 0 }, { 2, 1, 1, 0 }, { 1, 0, 1, 0 }, { 1, 1, 0, 0 },
		{ 1, 1, 2, 0 }, { 1, 3, 1, 2 }, { 1, 63, 1, 2 }, { 1, 255, 1, 2 },
		{ 1, 2, 1, ADAPTERS + 1 }, { 1, 2, 1, 64 }, { 1, 2, 1, 255 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		directed(bad[i][0], bad[i][1], bad[i][2], bad[i][3]);
		CHECK_EQ(send_to(0, PERMISSIVE, 1), MAD_DROPPED);
	}
	directed(1, 1, 1, 0);
	CHECK_EQ(send_to(0, 2, 1), MAD_DROPPED);
	mad_put16(request, SLID, 1);
	CHECK_EQ(send_to(0, PERMISSIVE, 1), MAD_DROPPED);
	directed(1, 1, 1, 0);
	mad_put16(request, DLID, 2);
	CHECK_EQ(send_to(0, PERMISSIVE, 1), MAD_DROPPED);
	directed(1, 2, 1, 2);
	hcas[1]->port->up = false;
	CHECK_EQ(send_to(0, PERMISSIVE, 1), MAD_DROPPED);
}

/* ibportstate asks the neighbour of a port so: to the switch by LID, then by its port. */
static void directions_begin_at_the_switch(void)
{
	directed(0, 1, 2, 0);
	mad_put16(request, SLID, 1);
	CHECK_EQ(send_to(0, SMI_SWITCH_LID, 1), MAD_ANSWERED);
	CHECK_EQ(mad_get64(answer + SMI_DATA, 12), hcas[1]->port->node_guid);
	CHECK_EQ(answer[POINTER], 0);
	request[COUNT] = 0;
	CHECK_EQ(send_to(0, SMI_SWITCH_LID, 1), MAD_ANSWERED);
	CHECK_EQ(answer[SMI_DATA + 2], 2);
	request[COUNT] = 2;
	CHECK_EQ(send_to(0, SMI_SWITCH_LID, 1), MAD_DROPPED);
	request[COUNT] = 1;
	mad_put16(request, SLID, 2);
	CHECK_EQ(send_to(0, SMI_SWITCH_LID, 1), MAD_DROPPED);
}

static void each_adapter_is_at_a_port(void)
{
	CHECK(asks(SMI_SWITCH_LID, SMI_ATTR_PORT_INFO, 0));
	CHECK_EQ(mad_get16(answer + SMI_DATA, 16), SMI_SWITCH_LID);
	CHECK(asks(SMI_SWITCH_LID, SMI_ATTR_PORT_INFO, 2));
	CHECK_EQ(answer[SMI_DATA + 32] & 0xf, PORT_ACTIVE);
	hcas[1]->fatal = true;
	CHECK(asks(SMI_SWITCH_LID, SMI_ATTR_PORT_INFO, 2));
	CHECK_EQ(answer[SMI_DATA + 32] & 0xf, PORT_DOWN);
	CHECK(asks(SMI_SWITCH_LID, SMI_ATTR_PORT_INFO, ADAPTERS + 1));
	CHECK_EQ(status(), MAD_STATUS_BAD_FIELD);
	/* Who knows extended speeds says so by a bit beside the port. */
	CHECK(asks(SMI_SWITCH_LID, SMI_ATTR_PORT_INFO, 1u << 31 | 1));
	CHECK_EQ(status(), 0);
	CHECK(asks(1, SMI_ATTR_PORT_INFO, 1u << 31 | 1));
	CHECK_EQ(status(), 0);
	CHECK(asks(1, SMI_ATTR_PORT_INFO, 2));
	CHECK_EQ(status(), MAD_STATUS_BAD_FIELD);
}

static void its_tables_say_where_everything_is(void)
{
	CHECK(asks(SMI_SWITCH_LID, SMI_ATTR_LINEAR_FDB, 0));
	CHECK_EQ(answer[SMI_DATA + 0], 0xff);
	CHECK_EQ(answer[SMI_DATA + 3], 3);
	CHECK_EQ(answer[SMI_DATA + 4], 0xff);
	CHECK(asks(SMI_SWITCH_LID, SMI_ATTR_LINEAR_FDB, 1));
	CHECK_EQ(answer[SMI_DATA + 1], 0);	/* itself */
	CHECK(asks(SMI_SWITCH_LID, SMI_ATTR_LINEAR_FDB, 0xc000 / 64));
	CHECK_EQ(status(), MAD_STATUS_BAD_FIELD);
	CHECK(mc_group_ready());
	CHECK(joins(0, 1, 1) && joins(2, 1, 2) && joins(1, 1, 4));
	CHECK(asks(SMI_SWITCH_LID, SMI_ATTR_MULTICAST_FDB, 0));
	/* Behind the broadcast group. Adapter 1 only sends. */
	CHECK_EQ(mad_get16(answer + SMI_DATA, 2), BIT(1) | BIT(3));
	CHECK(asks(SMI_SWITCH_LID, SMI_ATTR_MULTICAST_FDB, MC_GROUPS / MLID_BLOCK));
	CHECK_EQ(status(), MAD_STATUS_BAD_FIELD);
	CHECK(asks(SMI_SWITCH_LID, SMI_ATTR_MULTICAST_FDB, 1u << 28));
	CHECK_EQ(status(), MAD_STATUS_BAD_FIELD);
}

static void the_last_group_has_a_row(void)
{
	unsigned int i;

	CHECK(mc_group_ready());
	for (i = 1; i < MC_GROUPS; i++)
		CHECK(joins(i * ADAPTERS, (uint8_t)i, 1));
	CHECK(!joins(ADAPTERS * MC_GROUPS, 0, 1));
	CHECK(asks(SMI_SWITCH_LID, SMI_ATTR_MULTICAST_FDB, MC_GROUPS / MLID_BLOCK - 1));
	CHECK_EQ(mad_get16(answer + SMI_DATA, 2 * (MLID_BLOCK - 1)), BIT(1));
}

static void a_table_has_what_is_asked_for(void)
{
	static const uint8_t of_switch[SA_DATA_BYTES] = { 0, SMI_SWITCH_LID, 2 };
	static const uint8_t block_3[SA_DATA_BYTES] = { 0, SMI_SWITCH_LID, 0, 3 };

	CHECK(lists(SA_ATTR_NODE_RECORD, 0, NULL, 0, 0));
	CHECK_EQ(table_len, (ADAPTERS + 1) * SA_NODE_BYTES);
	CHECK(lists(SA_ATTR_PORT_INFO_RECORD, 0, NULL, 0, 0));
	CHECK_EQ(table_len, (ADAPTERS + ADAPTERS + 1) * SA_PORT_INFO_BYTES);
	CHECK(lists(SA_ATTR_PORT_INFO_RECORD, BIT(0) | BIT(1), of_switch, 3, 0));
	CHECK_EQ(table_len, SA_PORT_INFO_BYTES);
	CHECK_EQ(table[2], 2);
	CHECK(lists(SA_ATTR_MULTICAST_FDB_RECORD, BIT(0) | BIT(1), block_3, 4, 0));
	CHECK_EQ(table_len, MC_GROUPS / MLID_BLOCK * SA_BLOCK_BYTES);
	CHECK(lists(SA_ATTR_MULTICAST_FDB_RECORD, BIT(3), block_3, 4, 0));
	CHECK_EQ(table_len, SA_BLOCK_BYTES);
	CHECK_EQ(mad_get16(table, 2), 3);
	CHECK(lists(SA_ATTR_LINEAR_FDB_RECORD, BIT(1), block_3, 4, 0));
	CHECK_EQ(table_len, 0);
	/* M_Key, which no record is compared by */
	CHECK(lists(SA_ATTR_PORT_INFO_RECORD, BIT(4), NULL, 0, 0));
	CHECK_EQ(status(), SA_STATUS_INVALID);
}

/* A port of the switch has as many lanes, keys and turns as that of an adapter. */
static void tables_of_ports_have_each_port(void)
{
	static const uint8_t out_2[SA_DATA_BYTES] = { 0, SMI_SWITCH_LID, 1, 2 };
	static const uint8_t keys[SA_DATA_BYTES] = { 0, SMI_SWITCH_LID, 0, 3, 2 };
	static const uint8_t turns[SA_DATA_BYTES] = { 0, SMI_SWITCH_LID, 2, 3 };
	static const uint8_t adapter[SA_DATA_BYTES] = { 0, 2 };

	CHECK(lists(SA_ATTR_SL2VL_RECORD, BIT(0), adapter, 2, 0));
	CHECK_EQ(table_len, SA_SL2VL_BYTES);
	CHECK_EQ(mad_get32(table, 0), 2u << 16 | 0 << 8 | 1);
	CHECK_EQ(table[8], 0x01);
	CHECK(lists(SA_ATTR_SL2VL_RECORD, BIT(0), out_2, 4, 0));
	CHECK_EQ(table_len, (ADAPTERS + 1) * (ADAPTERS + 1) * SA_SL2VL_BYTES);
	CHECK(lists(SA_ATTR_SL2VL_RECORD, BIT(0) | BIT(1) | BIT(2), out_2, 4, 0));
	CHECK_EQ(table_len, SA_SL2VL_BYTES);
	CHECK_EQ(mad_get16(table, 2), 1 << 8 | 2);

	CHECK(lists(SA_ATTR_PKEY_TABLE_RECORD, BIT(0), adapter, 2, 0));
	CHECK_EQ(table_len, PORT_PKEYS / 32 * SA_BLOCK_BYTES);
	CHECK_EQ(mad_get16(table, 8), SA_DEFAULT_PKEY);
	CHECK_EQ(table[4], 1);
	CHECK(lists(SA_ATTR_PKEY_TABLE_RECORD, BIT(0) | BIT(1) | BIT(2), keys, 5, 0));
	CHECK_EQ(table_len, SA_BLOCK_BYTES);
	CHECK_EQ(mad_get16(table, 2), 3);
	CHECK_EQ(table[4], 2);

	CHECK(lists(SA_ATTR_VL_ARB_RECORD, BIT(0), adapter, 2, 0));
	CHECK_EQ(table_len, 2 * SA_BLOCK_BYTES);
	CHECK_EQ(mad_get16(table, 2), 1 << 8 | 1);
	CHECK(lists(SA_ATTR_VL_ARB_RECORD, BIT(0) | BIT(1) | BIT(2), turns, 4, 0));
	CHECK_EQ(table_len, SA_BLOCK_BYTES);
	CHECK_EQ(mad_get16(table, 2), 2 << 8 | 3);

	/* The switch has none but that of its node. */
	CHECK(lists(SA_ATTR_GUID_INFO_RECORD, 0, NULL, 0, 0));
	CHECK_EQ(table_len, ADAPTERS * SA_BLOCK_BYTES);
	CHECK(!memcmp(table + 8, port_gid(hcas[0]) + 8, 8));
}

static void ports_are_found_by_what_they_can(void)
{
	uint8_t rec[SA_DATA_BYTES] = { 0 };

	mad_put32(rec, 4 + 20, PORT_CAP_SM);
	CHECK(lists(SA_ATTR_PORT_INFO_RECORD, BIT(7), rec, sizeof(rec), 1u << 31));
	CHECK_EQ(table_len, SA_PORT_INFO_BYTES);
	CHECK_EQ(mad_get16(table, 0), 1);
	CHECK(lists(SA_ATTR_PORT_INFO_RECORD, BIT(7), rec, sizeof(rec), 0));
	CHECK_EQ(table_len, 0);
}

static void links_are_found_by_their_ends(void)
{
	uint8_t rec[SA_DATA_BYTES] = { 0, SMI_SWITCH_LID, 2, 1, 0, 2 };

	CHECK(lists(SA_ATTR_LINK_RECORD, 0, NULL, 0, 0));
	CHECK_EQ(table_len, 2 * ADAPTERS * SA_LINK_BYTES);
	CHECK(lists(SA_ATTR_LINK_RECORD, BIT(0) | BIT(1), rec, sizeof(rec), 0));
	CHECK_EQ(table_len, SA_LINK_BYTES);
	CHECK_EQ(mad_get16(table, 4), 2);
	CHECK(lists(SA_ATTR_LINK_RECORD, BIT(2), rec, sizeof(rec), 0));
	CHECK_EQ(table_len, (ADAPTERS + 1) * SA_LINK_BYTES);
	CHECK(lists(SA_ATTR_LINK_RECORD, BIT(3), rec, sizeof(rec), 0));
	CHECK_EQ(table_len, SA_LINK_BYTES);
}

static void one_record_is_one_and_nothing_else(void)
{
	static const uint8_t nothing[SA_DATA_BYTES];

	CHECK(lists(SA_ATTR_NODE_RECORD, 0, NULL, 0, 0));
	begin(MAD_CLASS_SA, MAD_GET, SA_ATTR_SWITCH_INFO_RECORD, 0);
	mad_put64(request, SA_COMP_MASK, BIT(0));
	mad_put16(request, SA_DATA, SMI_SWITCH_LID);
	CHECK_EQ(send_to(1, 1, 1), MAD_ANSWERED);
	CHECK_EQ(status(), 0);
	CHECK(!memcmp(answer + SA_DATA + SA_SWITCH_INFO_BYTES, nothing,
		      SA_DATA_BYTES - SA_SWITCH_INFO_BYTES));
	begin(MAD_CLASS_SA, MAD_GET, SA_ATTR_PORT_INFO_RECORD, 0);
	mad_put64(request, SA_COMP_MASK, BIT(0));
	mad_put16(request, SA_DATA, SMI_SWITCH_LID);
	CHECK_EQ(send_to(1, 1, 1), MAD_ANSWERED);
	CHECK_EQ(status(), SA_STATUS_TOO_MANY_RECORDS);
}

static void the_switch_has_a_path(void)
{
	uint8_t gid[16];

	smi_switch_gid(gid);
	begin(MAD_CLASS_SA, MAD_GET, SA_ATTR_PATH_RECORD, 0);
	mad_put64(request, SA_COMP_MASK, BIT(2));
	memcpy(request + SA_DATA + 8, gid, sizeof(gid));
	CHECK_EQ(send_to(1, 1, 1), MAD_ANSWERED);
	CHECK_EQ(status(), 0);
	CHECK_EQ(mad_get16(answer + SA_DATA, 40), SMI_SWITCH_LID);
	CHECK_EQ(mad_get16(answer + SA_DATA, 42), 1);
	begin(MAD_CLASS_SA, MAD_GET, SA_ATTR_PATH_RECORD, 0);
	mad_put64(request, SA_COMP_MASK, BIT(4) | BIT(5));
	mad_put16(request, SA_DATA + 40, 3);
	mad_put16(request, SA_DATA + 42, SMI_SWITCH_LID);
	CHECK_EQ(send_to(1, 1, 1), MAD_ANSWERED);
	CHECK_EQ(status(), 0);
	CHECK(!memcmp(answer + SA_DATA + 24, gid, sizeof(gid)));
	mad_put16(request, SA_DATA + 40, ADAPTERS + 1);
	CHECK_EQ(send_to(1, 1, 1), MAD_ANSWERED);
	CHECK_EQ(status(), SA_STATUS_NO_RECORDS);
}

/* What is not an agent's is the guest's; the switch has no guest. */
static void the_rest_is_forwarded(void)
{
	begin(0x32, MAD_GET, 1, 0);
	CHECK_EQ(send_to(1, 2, 1), MAD_FORWARD);
	CHECK_EQ(send_to(1, SMI_SWITCH_LID, 1), MAD_DROPPED);
	begin(MAD_CLASS_VENDOR, MAD_GET, 0x17, 0);
	CHECK_EQ(send_to(1, 2, 1), MAD_FORWARD);	/* the driver asks MAD_IFC */
	CHECK_EQ(send_to(1, SMI_SWITCH_LID, 1), MAD_ANSWERED);
	CHECK_EQ(mad_get16(answer, 24 + 10), MAD_DEVICE_SWITCH);
	begin(MAD_CLASS_PERF, MAD_GET, 0x12, 0);
	request[64 + 1] = ADAPTERS;
	CHECK_EQ(send_to(1, SMI_SWITCH_LID, 1), MAD_ANSWERED);
	CHECK_EQ(status(), 0);
	CHECK_EQ(send_to(1, 2, 1), MAD_ANSWERED);
	CHECK_EQ(status(), MAD_STATUS_BAD_FIELD);
	CHECK_EQ(send_to(1, 9, 1), MAD_DROPPED);
}

static void setup(void)
{
	unsigned int i;

	for (i = 0; i < ADAPTERS; i++) {
		hcas[i] = calloc(1, sizeof(*hcas[i]));
		if (!hcas[i])
			exit(1);
		hcas[i]->index = i;
		if (port_init(hcas[i]))
			exit(1);
		fabric_add(hcas[i]);
	}
}

static void teardown(void)
{
	unsigned int i;

	for (i = ADAPTERS; i-- > 0;) {
		fabric_remove(hcas[i]);
		port_fini(hcas[i]);
		free(hcas[i]);
	}
	mc_group_fini();
}

#define TEST(name) { #name, name }

int main(void)
{
	static const struct ktap_test tests[] = {
		TEST(directions_lead_to_the_switch_and_to_adapters),
		TEST(other_directions_lead_nowhere),
		TEST(directions_begin_at_the_switch),
		TEST(each_adapter_is_at_a_port),
		TEST(its_tables_say_where_everything_is),
		TEST(the_last_group_has_a_row),
		TEST(a_table_has_what_is_asked_for),
		TEST(tables_of_ports_have_each_port),
		TEST(ports_are_found_by_what_they_can),
		TEST(links_are_found_by_their_ends),
		TEST(one_record_is_one_and_nothing_else),
		TEST(the_switch_has_a_path),
		TEST(the_rest_is_forwarded),
	};

	return ktap_main(tests, ARRAY_SIZE(tests), setup, teardown);
}
