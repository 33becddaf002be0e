// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Capabilities: what the adapter says it can do, which is what the model does.
 *
 * Invariants
 * - What a driver sets never exceeds what the adapter has.
 * - A capability that the model does not implement is 0, so that drivers do not
 *   use it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "fabric/port.h"
#include "fw/caps_odp.h"
#include "fw/cmd.h"
#include "fw/fw.h"
#include "object/objects.h"

#define CAP_SZ IFC_UN_SZ(hca_cap_union)

/* enum mlx5_cap_type of linux/mlx5/device.h */
enum {
	CAP_GENERAL = 0,
	CAP_ETH = 1,
	CAP_ODP = 2,
	CAP_ATOMIC = 3,
	CAP_ROCE = 4,
	CAP_FLOW = 7,
	CAP_ESWITCH_FLOW = 8,
	CAP_QOS = 0xc,
	CAP_MEMORY = 0xf,
	CAP_GENERAL_2 = 0x20,
	CAP_LAST = 0x2a,
};
/* op_mod: type << 1 | mode (enum mlx5_cap_mode, same source) */
enum { CAP_MAX = 0, CAP_CUR = 1 };

#define UAR_LOG_MOST 4u		/* pages of 64 KiB */

#define ATOMIC_CMP_SWAP 0x1
#define ATOMIC_FETCH_ADD 0x2
#define ATOMIC_SIZE_8B 0x8

/*
 * Only the first two change. Those with an Ethernet port have the next three, and the
 * fourth if they have an e-switch. A PF has the one of device memory.
 */
struct caps {
	uint8_t general[2][CAP_SZ];
	uint8_t atomic[2][CAP_SZ];
	uint8_t eth[CAP_SZ];
	uint8_t roce[CAP_SZ];
	uint8_t flow[CAP_SZ];
	uint8_t eswitch_flow[CAP_SZ];
	uint8_t memory[CAP_SZ];
	uint8_t general_2[CAP_SZ];
	uint8_t qos[CAP_SZ];
};

#define GEN(fld, v) IFC_SET(cmd_hca_cap, c, fld, v)

static void caps_sizes(uint8_t *c)
{
	GEN(log_max_srq_sz, 15);
	GEN(log_max_qp_sz, 15);
	GEN(log_max_qp, 18);
	GEN(log_max_srq, 16);
	GEN(log_max_cq_sz, 22);
	GEN(log_max_cq, 18);
	GEN(log_max_eq_sz, 22);
	GEN(log_max_eq, 7);
	GEN(log_max_mkey, 20);
	GEN(log_max_mrw_sz, 63);
	GEN(log_max_klm_list_size, 16);
	GEN(max_indirection, 4);
	GEN(log_max_ra_req_qp, 4);
	GEN(log_max_ra_res_qp, 4);
	GEN(log_max_ra_req_dc, 4);
	GEN(log_max_ra_res_dc, 4);
	GEN(log_max_dci_stream_channels, 4);
	GEN(log_max_dci_errored_streams, 4);
	GEN(log_max_msg, 30);
	GEN(max_wqe_sz_sq, 1024);
	GEN(max_wqe_sz_rq, 512);
	GEN(max_qp_mcg, 240);
	GEN(log_max_mcg, 13);
	GEN(log_max_transport_domain, 16);
	GEN(log_max_pd, 18);
	GEN(log_max_xrcd, 16);
	GEN(log_max_sq, 10);
	GEN(log_max_rmp, 16);
	GEN(log_max_wq_sz, 15);
	GEN(log_max_uctx, 8);
	GEN(log_max_umem, 16);
	GEN(log_bf_reg_size, 9);
	GEN(log_pg_sz, 12);
	GEN(num_of_uars_per_page, 1);
}

/* What depends on the function: a VF manages no other one. */
static void caps_function(const struct hca *hca, uint8_t *c)
{
	/* MB, a power of two */
	GEN(uar_sz, (unsigned int)__builtin_ctz(pci_uar_bytes(hca) >> 20));
	GEN(uar_4k, !hca->large_uar);
	if (hca_is_vf(hca))
		GEN(vport_group_manager, 0);
}

static void caps_features(uint8_t *c)
{
	GEN(hca_cap_2, 1);
	GEN(page_request_disable, 1);
	GEN(num_ports, 1);
	GEN(ib_virt, 1);
	GEN(vport_group_manager, 1);
	GEN(vport_counters, 1);
	GEN(local_ca_ack_delay, 16);
	GEN(stat_rate_support, 0x3ff);
	GEN(cqe_version, 1);
	GEN(rc, 1);
	GEN(uc, 1);
	GEN(ud, 1);
	GEN(xrc, 1);
	GEN(dct, 1);
	GEN(qpc_extension, 1);	/* its only part: streams of DC */
	GEN(block_lb_mc, 1);
	GEN(pkv, 1);
	GEN(qkv, 1);
	GEN(bf, 1);
	GEN(driver_version, 1);
	GEN(atomic, 1);
	GEN(imaicl, 1);
	GEN(pg, 1);		/* on-demand paging: caps_odp.c has the rest */
	GEN(null_mkey, 1);
	GEN(fixed_buffer_size, 1); /* KSM: lists of keys of one size */
	GEN(umr_ptr_rlky, 1);
	GEN(sho, 1);	/* signatures */
	GEN(drain_sigerr, 1);
	GEN(umr_extended_translation_offset, 1);
	/* A receiver that takes packets in any order: the cable has one order. */
	GEN(dp_ordering_ooo_all_rc, 1);
	GEN(dp_ordering_ooo_all_xrc, 1);
	GEN(cq_oi, 1);
	GEN(cq_resize, 1);
	GEN(cq_moderation, 1);
	GEN(cqe_128_always, 1);	/* entries of 128 bytes can be padded */
	GEN(device_frequency_mhz, 1000);
	GEN(device_frequency_khz, 1000000);
}

static void caps_atomic(uint8_t *c)
{
	IFC_SET(atomic_caps, c, supported_atomic_req_8B_endianness_mode_1, 1);
	IFC_SET(atomic_caps, c, atomic_operations,
		ATOMIC_CMP_SWAP | ATOMIC_FETCH_ADD);
	IFC_SET(atomic_caps, c, atomic_size_qp, ATOMIC_SIZE_8B);
	IFC_SET(atomic_caps, c, atomic_size_dc, ATOMIC_SIZE_8B);
}

/* On Ethernet: no agent of a subnet, but a NIC and RoCE. */
static void caps_eth_general(const struct hca *hca, uint8_t *c)
{
	/* An e-switch without tables stays in the legacy mode. */
	GEN(eswitch_manager, !hca_is_vf(hca));
	GEN(port_type, 1);
	GEN(ib_virt, 0);
	GEN(eth_net_offloads, 1);
	GEN(nic_flow_table, 1);
	GEN(max_flow_counter_15_0, FLOW_COUNTERS);
	GEN(log_max_flow_counter_bulk, FLOW_LOG_BULK);
	GEN(disable_local_lb_uc, 1);
	GEN(disable_local_lb_mc, 1);
	GEN(roce, 1);
	GEN(log_max_rq, 10);
	GEN(log_max_tir, 10);
	GEN(log_max_tis, 10);
	GEN(log_max_rqt, 10);
	GEN(log_max_rqt_size, 8);
	GEN(max_qp_cnt, 63);	/* counter sets */
	GEN(log_max_current_uc_list, 7);
	GEN(log_max_current_mc_list, 7);
	GEN(log_max_vlan_list, 7);
	GEN(cc_query_allowed, !hca_is_vf(hca));
	GEN(cc_modify_allowed, !hca_is_vf(hca));
}

/* Where device_mem_cap has what mlx5_ifc.h calls reserved (offsets in bits). */
#define MEMIC_INCREMENT_SIZES 0x20
#define MEMIC_TEST_AND_SET_SIZES 0x30
#define MEMIC_ONE_BYTE 1	/* of their bits */
#define MEMIC_BOTH_OPERATIONS 3

/* Device memory, and increments and test-and-set of its bytes. */
static void caps_memory(const struct hca *hca, uint8_t *c)
{
	IFC_SET(device_mem_cap, c, memic, 1);
	IFC_SET(device_mem_cap, c, log_min_memic_alloc_size, MEMIC_LOG_UNIT);
	IFC_SET(device_mem_cap, c, log_max_memic_addr_alignment,
		MEMIC_LOG_ALIGN_MAX);
	IFC_SET64(device_mem_cap, c, memic_bar_start_addr, pci_memic_at(hca));
	IFC_SET(device_mem_cap, c, memic_bar_size, MEMIC_BYTES);
	IFC_SET(device_mem_cap, c, max_memic_size, MEMIC_BYTES);
	IFC_SET(device_mem_cap, c, memic_operations, MEMIC_BOTH_OPERATIONS);
	ifc_set32(c, MEMIC_INCREMENT_SIZES, 8, MEMIC_ONE_BYTE);
	ifc_set32(c, MEMIC_TEST_AND_SET_SIZES, 8, MEMIC_ONE_BYTE);
}

/*
 * Packet pacing and scheduling of queues, on InfiniBand: an Ethernet driver would expect the shaping of
 * its traffic classes with it.
 */
static void caps_qos(struct caps *caps)
{
	uint8_t *c = caps->general[CAP_MAX];

	GEN(qos, 1);
	c = caps->qos;
	IFC_SET(qos_cap, c, packet_pacing, 1);
	IFC_SET(qos_cap, c, packet_pacing_uid, 1);
	IFC_SET(qos_cap, c, nic_sq_scheduling, 1);
	IFC_SET(qos_cap, c, nic_bw_share, 1);
	IFC_SET(qos_cap, c, nic_rate_limit, 1);
	IFC_SET(qos_cap, c, log_max_qos_nic_queue_group, LOG_MAX_SCHED);
	caps_user_qos(c);
	IFC_SET(qos_cap, c, packet_pacing_req_ud, 1);
	IFC_SET(qos_cap, c, packet_pacing_req_uc, 1);
	IFC_SET(qos_cap, c, packet_pacing_min_rate, 1);
	IFC_SET(qos_cap, c, packet_pacing_max_rate, PACE_KBPS_MAX);
	IFC_SET(qos_cap, c, packet_pacing_rate_table_size, PACE_ENTRIES);
}

/*
 * Tag matching, on InfiniBand: libmlx5 makes the QP of a list of tags without a GID,
 * which an Ethernet port needs.
 */
static void caps_tags(uint8_t *c)
{
	GEN(tag_matching, 1);
	GEN(rndv_offload_rc, 1);
	GEN(log_tag_matching_list_sz, LOG_MAX_TAGS);
	GEN(log_max_xrq, 16);
}

/* Two functions of a card, which a driver can join. */
static void caps_two_ports(const struct hca *hca, uint8_t *c)
{
	GEN(lag_master, 1);
	GEN(num_lag_ports, 2);
	GEN(lag_tx_port_affinity, 1);
	GEN(native_port_num, hca->native_port);
}

#define R_ROCE_PORT 4791
#define R_ROCE_SPORT_MIN 0xc000
#define R_ROCE_SPORT_MAX 0xffff
#define ROCE_L3_IPV4_IPV6 6	/* a bit for each value of roce_l3_type */
#define ROCE_V1_V2 5		/* a bit for each value of roce_version */

/* The driver has a table for joined ports behind all of its other ones. */
enum { FT_LEVELS = 64, FT_LEVELS_LAG = 128, FT_LEVELS_ESWITCH = 255 };

static void caps_eth(struct caps *caps, unsigned int levels)
{
	uint8_t *c = caps->eth;

	/* mlx5e insists on the first three and on rss_ind_tbl_cap. */
	IFC_SET(per_protocol_networking_offload_caps, c, csum_cap, 1);
	IFC_SET(per_protocol_networking_offload_caps, c, vlan_cap, 1);
	IFC_SET(per_protocol_networking_offload_caps, c, max_lso_cap, 16);
	IFC_SET(per_protocol_networking_offload_caps, c, wqe_inline_mode, 1);
	IFC_SET(per_protocol_networking_offload_caps, c, rss_ind_tbl_cap, 8);
	IFC_SET(per_protocol_networking_offload_caps, c,
		self_lb_en_modifiable, 1);
	c = caps->roce;
	IFC_SET(roce_cap, c, l3_type, ROCE_L3_IPV4_IPV6);
	IFC_SET(roce_cap, c, roce_version, ROCE_V1_V2);
	IFC_SET(roce_cap, c, r_roce_dest_udp_port, R_ROCE_PORT);
	IFC_SET(roce_cap, c, r_roce_min_src_udp_port, R_ROCE_SPORT_MIN);
	IFC_SET(roce_cap, c, r_roce_max_src_udp_port, R_ROCE_SPORT_MAX);
	IFC_SET(roce_cap, c, roce_address_table_size, PORT_ROCE_GIDS);
	IFC_SET(roce_cap, c, roce_cc_general, 1);
	caps_flow(caps->flow, levels);
}

/**
 * caps_init() - make the capabilities
 *
 * Return: 0 or -ENOMEM
 */
int caps_init(struct hca *hca)
{
	hca->caps = calloc(1, sizeof(*hca->caps));
	if (!hca->caps)
		return -ENOMEM;
	caps_reset(hca);
	return 0;
}

/**
 * caps_fini() - free the capabilities
 */
void caps_fini(struct hca *hca)
{
	free(hca->caps);
	hca->caps = NULL;
}

/*
 * A driver with pages of 4 KiB << log gets so many UAR pages at once where it has
 * asked for UAR pages of 4 KiB, and else UAR pages that are as large as its own.
 * mlx5_ib passes their number on to libmlx5, which maps that many at once.
 */
static void uar_sizes(struct hca *hca)
{
	uint8_t *cur = hca->caps->general[CAP_CUR];
	unsigned int log = IFC_GET(cmd_hca_cap, cur, log_uar_page_sz);
	bool small = IFC_GET(cmd_hca_cap, cur, uar_4k);

	hca->uars_together = small ? 1u << log : 1;
	hca->uar_log = small ? 0 : log;
	IFC_SET(cmd_hca_cap, cur, num_of_uars_per_page,
		hca->few_uars ? 1 : hca->uars_together);
}

/**
 * caps_reset() - forget what a driver set
 */
void caps_reset(struct hca *hca)
{
	struct caps *caps = hca->caps;

	memset(caps, 0, sizeof(*caps));
	caps_odp_reset(hca);
	caps_sizes(caps->general[CAP_MAX]);
	caps_features(caps->general[CAP_MAX]);
	caps_function(hca, caps->general[CAP_MAX]);
	caps_user_general(hca, caps->general[CAP_MAX]);
	caps_atomic(caps->atomic[CAP_MAX]);
	if (pci_memic_at(hca)) {
		IFC_SET(cmd_hca_cap, caps->general[CAP_MAX], device_memory, 1);
		caps_memory(hca, caps->memory);
	}
	if (hca->link == LINK_IB) {
		caps_qos(caps);
		caps_tags(caps->general[CAP_MAX]);
	}
	if (hca->link == LINK_ETH) {
		caps_eth_general(hca, caps->general[CAP_MAX]);
		caps_eth(caps, hca->native_port ? FT_LEVELS_LAG : FT_LEVELS);
		if (hca->native_port)
			caps_two_ports(hca, caps->general[CAP_MAX]);
	}
	if (hca->eswitch) {
		caps_flow_messages(caps->flow);
		caps_flow_eswitch(caps->eswitch_flow, FT_LEVELS_ESWITCH);
	}
	IFC_SET(cmd_hca_cap_2, caps->general_2, dp_ordering_force, 1);
	caps_user_2(caps->general_2);
	memcpy(caps->general[CAP_CUR], caps->general[CAP_MAX], CAP_SZ);
	/* A driver asks for it where its pages are larger. */
	IFC_SET(cmd_hca_cap, caps->general[CAP_CUR], uar_4k, 0);
	uar_sizes(hca);
	memcpy(caps->atomic[CAP_CUR], caps->atomic[CAP_MAX], CAP_SZ);
}

static uint8_t query_hca_cap(struct cmd *cmd)
{
	size_t room = cmd->out_len - IFC_OFF(query_hca_cap_out, capability);
	unsigned int type = cmd->op_mod >> 1;
	uint8_t odp[CAP_SZ] = { 0 };
	const uint8_t *from;

	if (IFC_GET(query_hca_cap_in, cmd->in, other_function) ||
	    type > CAP_LAST)
		return CMD_BAD_PARAM;
	switch (type) {
	case CAP_GENERAL:
		from = cmd->hca->caps->general[cmd->op_mod & 1];
		break;
	case CAP_ODP:
		caps_odp_get(cmd->hca, cmd->op_mod & 1, odp);
		from = odp;
		break;
	case CAP_ATOMIC:
		from = cmd->hca->caps->atomic[cmd->op_mod & 1];
		break;
	case CAP_ETH:
		from = cmd->hca->caps->eth;
		break;
	case CAP_ROCE:
		from = cmd->hca->caps->roce;
		break;
	case CAP_FLOW:
		from = cmd->hca->caps->flow;
		break;
	case CAP_ESWITCH_FLOW:
		from = cmd->hca->caps->eswitch_flow;
		break;
	case CAP_MEMORY:
		from = cmd->hca->caps->memory;
		break;
	case CAP_QOS:
		from = cmd->hca->caps->qos;
		break;
	case CAP_GENERAL_2:
		from = cmd->hca->caps->general_2;
		break;
	default:	/* of what the adapter cannot do, all is 0 */
		return CMD_OK;
	}
	/* A DevX user may ask for a shorter output than the layout. */
	memcpy(IFC_ADDR_OF(query_hca_cap_out, cmd->out, capability), from,
	       room < CAP_SZ ? room : CAP_SZ);
	return CMD_OK;
}

static uint8_t set_general(struct hca *hca, const uint8_t *cap)
{
	struct caps *caps = hca->caps;
	const uint8_t *max = caps->general[CAP_MAX];

	if (IFC_GET(cmd_hca_cap, cap, log_max_qp) >
		    IFC_GET(cmd_hca_cap, max, log_max_qp) ||
	    IFC_GET(cmd_hca_cap, cap, log_uar_page_sz) > UAR_LOG_MOST ||
	    IFC_GET(cmd_hca_cap, cap, uar_4k) >
		    IFC_GET(cmd_hca_cap, max, uar_4k) ||
	    IFC_GET(cmd_hca_cap, cap, cmdif_checksum))
		return CMD_BAD_PARAM;
	memcpy(caps->general[CAP_CUR], cap, CAP_SZ);
	uar_sizes(hca);
	return CMD_OK;
}

/* The driver sends the endianness alone. All other fields stay as they are. */
static uint8_t set_atomic(struct caps *caps, const uint8_t *cap)
{
	uint32_t mode = IFC_GET(atomic_caps, cap,
				atomic_req_8B_endianness_mode);

	if (mode > 1)
		return CMD_BAD_PARAM;
	IFC_SET(atomic_caps, caps->atomic[CAP_CUR],
		atomic_req_8B_endianness_mode, mode);
	return CMD_OK;
}

static uint8_t set_hca_cap(struct cmd *cmd)
{
	const uint8_t *cap = IFC_ADDR_OF(set_hca_cap_in, cmd->in, capability);

	switch (cmd->op_mod >> 1) {
	case CAP_GENERAL:
		return set_general(cmd->hca, cap);
	case CAP_ODP:
		return caps_odp_set(cmd->hca, cap);
	case CAP_ATOMIC:
		return set_atomic(cmd->hca->caps, cap);
	default:
		return CMD_BAD_PARAM;
	}
}

const struct cmd_def caps_cmds[] = {
	{ MLX5_CMD_OP_QUERY_HCA_CAP, "QUERY_HCA_CAP", IFC_SZ(query_hca_cap_in),
	  IFC_OFF(query_hca_cap_out, capability), query_hca_cap },
	{ MLX5_CMD_OP_SET_HCA_CAP, "SET_HCA_CAP", IFC_SZ(set_hca_cap_in),
	  IFC_SZ(set_hca_cap_out), set_hca_cap },
	{ 0 },
};
