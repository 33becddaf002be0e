// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * General objects, without a VMM: reservations of QP numbers, and mappings of addresses
 * to QPs.
 */
#include <string.h>

#include "object/general.h"
#include "test/unit/pair.h"

#define UID 3
#define OTHER_UID 4
#define MAP_BITS 0x280		/* length of a mapping's commands */
#define MAP_QPN 0xe0		/* offset in bits */
#define MAP_GID 0x200
#define RANGE (1u << GENERAL_LOG_QPNS)

static uint8_t general(uint16_t opcode, uint16_t uid, uint16_t type,
		       uint32_t log_range, uint32_t id, uint8_t *body, uint8_t *out)
{
	uint8_t in[MAP_BITS / 8] = { 0 };

	if (body)
		memcpy(in, body, sizeof(in));
	IFC_SET(general_obj_in_cmd_hdr, in, obj_type, type);
	IFC_SET(general_obj_in_cmd_hdr, in, obj_id, id);
	if (opcode == MLX5_CMD_OP_CREATE_GENERAL_OBJECT)
		IFC_SET(general_obj_in_cmd_hdr, in, op_param.create.log_obj_range,
			log_range);
	return w_cmd(0, general_cmds, opcode, 0, uid, in, sizeof(in), out,
		     out ? MAP_BITS / 8 : 0);
}

static uint8_t create(uint16_t type, uint32_t log_range, uint8_t *body,
		      uint32_t *id)
{
	uint8_t out[MAP_BITS / 8] = { 0 };
	uint8_t status = general(MLX5_CMD_OP_CREATE_GENERAL_OBJECT, UID, type,
				 log_range, 0, body, out);

	*id = IFC_GET(general_obj_out_cmd_hdr, out, obj_id);
	return status;
}

static uint8_t destroy(uint16_t uid, uint16_t type, uint32_t id)
{
	return general(MLX5_CMD_OP_DESTROY_GENERAL_OBJECT, uid, type, 0, id,
		       NULL, NULL);
}

static void no_qp_has_a_reserved_number(void)
{
	uint32_t first, next;
	struct pair p;

	CHECK_EQ(create(GENERAL_RESERVED_QPN, GENERAL_LOG_QPNS, NULL, &first), 0);
	CHECK_EQ(create(GENERAL_RESERVED_QPN, GENERAL_LOG_QPNS, NULL, &next), 0);
	CHECK(first % RANGE == 0 && first < 1u << 24);
	CHECK(next >= first + RANGE || first >= next + RANGE);
	CHECK(pair_make(&p, &w_rc_attr));
	CHECK(first >= w_hca[0].objs->qps.first + w_hca[0].objs->qps.limit);
	CHECK_EQ(general_count(w_hca[0].objs), 2);
	CHECK_EQ(destroy(UID, GENERAL_RESERVED_QPN, first + 1), CMD_BAD_RES);
	CHECK_EQ(destroy(OTHER_UID, GENERAL_RESERVED_QPN, first), CMD_BAD_RES);
	CHECK_EQ(destroy(UID, GENERAL_AV_QP_MAPPING, first), CMD_BAD_RES);
	CHECK_EQ(destroy(UID, GENERAL_RESERVED_QPN, first), 0);
	CHECK_EQ(destroy(UID, GENERAL_RESERVED_QPN, first), CMD_BAD_RES);
	CHECK_EQ(general_count(w_hca[0].objs), 1);
}

static void a_reservation_has_the_announced_number_of_numbers(void)
{
	uint32_t id, n = 0;

	CHECK_EQ(create(GENERAL_RESERVED_QPN, GENERAL_LOG_QPNS + 1, NULL, &id),
		 CMD_BAD_PARAM);
	CHECK_EQ(create(GENERAL_RESERVED_QPN, 0, NULL, &id), CMD_BAD_PARAM);
	while (!create(GENERAL_RESERVED_QPN, GENERAL_LOG_QPNS, NULL, &id))
		n++;
	CHECK_EQ(n, 1u << LOG_MAX_QPN_BLOCKS);
	CHECK_EQ(create(GENERAL_RESERVED_QPN, GENERAL_LOG_QPNS, NULL, &id),
		 CMD_LIM);
}

static void a_mapping_names_a_qp_and_outlives_it(void)
{
	uint8_t body[MAP_BITS / 8] = { 0 }, out[MAP_BITS / 8] = { 0 };
	uint32_t id;
	struct pair p;

	CHECK(pair_make(&p, &w_rc_attr));
	ifc_set32(body, MAP_QPN, 32, p.qp[0].qpn + 100);
	ifc_set64(body, MAP_GID, 0xfe80000000000001ull);
	CHECK_EQ(create(GENERAL_AV_QP_MAPPING, 0, body, &id), CMD_BAD_RES);
	ifc_set32(body, MAP_QPN, 32, p.qp[0].qpn);
	CHECK_EQ(create(GENERAL_AV_QP_MAPPING, 1, body, &id), CMD_BAD_PARAM);
	CHECK_EQ(create(GENERAL_AV_QP_MAPPING, 0, body, &id), 0);
	CHECK_EQ(w_qp_simple(&p.qp[0], MLX5_CMD_OP_DESTROY_QP), 0);
	CHECK_EQ(general(MLX5_CMD_OP_QUERY_GENERAL_OBJECT, UID,
			 GENERAL_AV_QP_MAPPING, 0, id, NULL, out), 0);
	CHECK_EQ(ifc_get32(out, MAP_QPN, 32), p.qp[0].qpn);
	CHECK_EQ(ifc_get64(out, MAP_GID), 0xfe80000000000001ull);
	CHECK_EQ(destroy(OTHER_UID, GENERAL_AV_QP_MAPPING, id), CMD_BAD_RES);
	CHECK_EQ(destroy(UID, GENERAL_AV_QP_MAPPING, id), 0);
}

static void other_kinds_are_refused(void)
{
	uint32_t id;

	CHECK_EQ(create(0x1f, 0, NULL, &id), CMD_BAD_PARAM);
	CHECK_EQ(destroy(UID, 0x1f, 0), CMD_BAD_PARAM);
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(no_qp_has_a_reserved_number),
	TEST(a_reservation_has_the_announced_number_of_numbers),
	TEST(a_mapping_names_a_qp_and_outlives_it),
	TEST(other_kinds_are_refused),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, w_teardown);
}
