// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Capabilities of flow tables: of each side what eth/flow.c, eth/fte.c and the
 * contexts have, and of headers what eth/match.c compares.
 */
#include "base/ifc.h"
#include "fw/fw.h"

#define LOG_TABLES 10u
#define LOG_DESTS 3u

#define FIELD(fld) IFC_SET(flow_table_fields_supported, c, fld, 1)
#define BOTH(fld) \
	do { \
		FIELD(outer_##fld); \
		FIELD(inner_##fld); \
	} while (0)

static void caps_fields(uint8_t *c)
{
	BOTH(dmac);
	BOTH(smac);
	BOTH(ether_type);
	BOTH(ip_version);
	BOTH(first_prio);
	BOTH(first_cfi);
	BOTH(first_vid);
	BOTH(sip);
	BOTH(dip);
	BOTH(frag);
	BOTH(ip_protocol);
	BOTH(ip_ecn);
	BOTH(ip_dscp);
	BOTH(udp_sport);
	BOTH(udp_dport);
	BOTH(tcp_sport);
	BOTH(tcp_dport);
	BOTH(tcp_flags);
	FIELD(outer_ipv4_ttl);
	FIELD(outer_gre_protocol);
	FIELD(outer_gre_key);
	FIELD(outer_vxlan_vni);
	FIELD(outer_geneve_vni);
	FIELD(outer_geneve_oam);
	FIELD(outer_geneve_protocol_type);
	FIELD(outer_geneve_opt_len);
	FIELD(metadata_reg_c_7);
	FIELD(metadata_reg_c_6);
	FIELD(metadata_reg_c_5);
	FIELD(metadata_reg_c_4);
	FIELD(metadata_reg_c_3);
	FIELD(metadata_reg_c_2);
	FIELD(metadata_reg_c_1);
	FIELD(metadata_reg_c_0);
}

#define PROP(fld, v) IFC_SET(flow_table_prop_layout, c, fld, v)

/* What tables of all kinds can do. */
static void caps_tables(uint8_t *c, unsigned int levels)
{
	PROP(ft_support, 1);
	PROP(flow_modify_en, 1);
	PROP(modify_root, 1);
	PROP(identified_miss_table_mode, 1);
	PROP(flow_table_modify, 1);
	PROP(log_max_ft_size, FLOW_LOG_ENTRIES);
	PROP(log_max_ft_num, LOG_TABLES);
	PROP(log_max_flow, FLOW_LOG_ENTRIES);
	PROP(log_max_destination, LOG_DESTS);
	PROP(max_ft_level, levels);
}

static void caps_side(uint8_t *c, unsigned int levels)
{
	caps_tables(c, levels);
	PROP(flow_counter, 1);
	PROP(reformat, 1);
	PROP(log_max_modify_header_context, FLOW_LOG_CONTEXTS);
	PROP(max_modify_header_actions, FLOW_HEADER_ACTIONS);
	caps_fields(IFC_ADDR_OF(flow_table_prop_layout, c, ft_field_support));
	caps_fields(IFC_ADDR_OF(flow_table_prop_layout, c,
				ft_field_bitmask_support));
}

/**
 * caps_flow() - what flow tables can do
 * @caps: a struct mlx5_ifc_flow_table_nic_cap_bits, all 0
 * @levels: of tables
 */
void caps_flow(uint8_t *caps, unsigned int levels)
{
	uint8_t *c;

	IFC_SET(flow_table_nic_cap, caps, encap_general_header, 1);
	IFC_SET(flow_table_nic_cap, caps, log_max_packet_reformat_context,
		FLOW_LOG_CONTEXTS);
	IFC_SET(flow_table_nic_cap, caps, max_encap_header_size, FLOW_ENCAP_BYTES);
	c = IFC_ADDR_OF(flow_table_nic_cap, caps,
			flow_table_properties_nic_receive);
	caps_side(c, levels);
	PROP(decap, 1);
	PROP(reformat_l3_tunnel_to_l2, 1);
	c = IFC_ADDR_OF(flow_table_nic_cap, caps,
			flow_table_properties_nic_transmit);
	caps_side(c, levels);
	PROP(reformat_l2_to_l3_tunnel, 1);
}

static void caps_source(uint8_t *c)
{
	FIELD(source_eswitch_port);
}

#define RDMA_LEVELS 64u

/**
 * caps_flow_messages() - tables that say which messages of QPs may come in
 * @caps: a struct mlx5_ifc_flow_table_nic_cap_bits
 *
 * The driver needs them where there is an e-switch.
 */
void caps_flow_messages(uint8_t *caps)
{
	uint8_t *c = IFC_ADDR_OF(flow_table_nic_cap, caps,
				 flow_table_properties_nic_receive_rdma);

	caps_tables(c, RDMA_LEVELS);
	PROP(table_miss_action_domain, 1);
	caps_source(IFC_ADDR_OF(flow_table_prop_layout, c, ft_field_support));
	caps_source(IFC_ADDR_OF(flow_table_prop_layout, c,
				ft_field_bitmask_support));
}

/**
 * caps_flow_eswitch() - what tables of the e-switch can do
 * @caps: a struct mlx5_ifc_flow_table_eswitch_cap_bits, all 0
 * @levels: of tables
 *
 * No frame is changed, ports have no tables of their own, and the driver compares the
 * source of a frame and not a register.
 */
void caps_flow_eswitch(uint8_t *caps, unsigned int levels)
{
	uint8_t *c = IFC_ADDR_OF(flow_table_eswitch_cap, caps,
				 flow_table_properties_nic_esw_fdb);
	uint8_t *fields = IFC_ADDR_OF(flow_table_prop_layout, c,
				      ft_field_support);

	caps_tables(c, levels);
	PROP(flow_counter, 1);
	caps_fields(fields);
	caps_source(fields);
	fields = IFC_ADDR_OF(flow_table_prop_layout, c,
			     ft_field_bitmask_support);
	caps_fields(fields);
	caps_source(fields);
}
