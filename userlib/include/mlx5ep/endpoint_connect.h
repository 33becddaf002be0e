/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_ENDPOINT_CONNECT_H
#define MLX5EP_ENDPOINT_CONNECT_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: Connecting
 *
 * Two processes connect two RC or UC QPs in three steps. Each asks for the
 * address of its own QP, sends it to the other over a channel of its own, and
 * connects to the address that it received. Both pass the same attributes to
 * both calls. The calls work for any QP of an mlx5 device, on InfiniBand and on
 * RoCE. The kernel module is not needed.
 */

/**
 * struct mlx5ep_endpoint_address - what a remote process must know of a QP
 * @qp_num: number of the QP
 * @psn: packet sequence number that its first send has
 * @lid: LID of its port; 0 on Ethernet
 * @mtu: enum ibv_mtu that its port has active
 * @link_layer: IBV_LINK_LAYER_INFINIBAND or IBV_LINK_LAYER_ETHERNET
 * @reserved1: must be 0
 * @gid: GID of its port
 * @reserved: must be 0
 *
 * The numbers have the byte order of the host. The length is 64 bytes for ever.
 */
struct mlx5ep_endpoint_address {
	uint32_t qp_num;
	uint32_t psn;
	uint16_t lid;
	uint8_t mtu;
	uint8_t link_layer;
	uint32_t reserved1;
	uint8_t gid[16];
	uint32_t reserved[8];
};

/**
 * enum mlx5ep_connect_flags - flags of struct mlx5ep_connect_attr
 * @MLX5EP_CONNECT_SGID_INDEX: sgid_index is set. Without it, the calls take the
 *	GID 0 on InfiniBand. On Ethernet they take the first RoCE v2 GID of an IPv4
 *	address, or else the first RoCE v2 GID, or else GID 0
 * @MLX5EP_CONNECT_GLOBAL: send a GRH on InfiniBand too, for another subnet
 */
enum mlx5ep_connect_flags {
	MLX5EP_CONNECT_SGID_INDEX = 1 << 0,
	MLX5EP_CONNECT_GLOBAL = 1 << 1,
};

/**
 * struct mlx5ep_connect_attr - how to connect; all may be 0
 * @flags: enum mlx5ep_connect_flags
 * @port: port of the device; 0: 1
 * @sgid_index: GID of the port, with %MLX5EP_CONNECT_SGID_INDEX
 * @psn: packet sequence number of the first send, below 2^24
 * @access: IBV_ACCESS_* of the QP for the remote process; 0: write and read
 * @pkey_index: index of the partition key
 * @sl: service level, at most 15
 * @traffic_class: of the GRH
 * @hop_limit: of the GRH; 0: 64
 * @mtu: enum ibv_mtu; 0: the smaller one of both ports
 * @rd_atomic: reads and atomics at the same time in each direction; 0: as many
 *	as the device can, at most 16
 * @timeout: of an acknowledgment, as for ibv_modify_qp(), at most 31; 0: 14
 * @retry_cnt: at most 7; 0: 7
 * @rnr_retry: at most 7, which is without end; 0: 7
 * @min_rnr_timer: at most 31; 0: 12
 * @reserved1: must be 0
 * @reserved: must be 0
 */
struct mlx5ep_connect_attr {
	uint32_t flags;
	uint32_t port;
	uint32_t sgid_index;
	uint32_t psn;
	uint32_t access;
	uint16_t pkey_index;
	uint8_t sl;
	uint8_t traffic_class;
	uint8_t hop_limit;
	uint8_t mtu;
	uint8_t rd_atomic;
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t min_rnr_timer;
	uint8_t reserved1;
	uint64_t reserved[4];
};

/**
 * mlx5ep_endpoint_address() - the address of a QP, for the remote process
 * @attr: NULL: all 0
 *
 * Return: 0. -EINVAL for an attribute that is not valid. Else the errno of a
 * verbs call.
 */
int mlx5ep_endpoint_address(struct ibv_qp *qp,
			    const struct mlx5ep_connect_attr *attr,
			    struct mlx5ep_endpoint_address *address);

/**
 * mlx5ep_endpoint_connect() - bring a QP from RESET to RTS
 * @qp: RC or UC
 * @attr: NULL: all 0; as for mlx5ep_endpoint_address()
 * @remote: address of the QP to connect to
 *
 * The remote process may send as soon as it is connected too. An RC QP without a
 * receive answers RNR, and the remote QP tries again.
 *
 * Return: 0. -EINVAL for an attribute or an address that is not valid, or for an
 * address of the other link layer. -EISCONN if the QP is not in state RESET.
 * -EOPNOTSUPP for another type of QP. Else the errno of a verbs call; the QP is
 * in state RESET then.
 */
int mlx5ep_endpoint_connect(struct ibv_qp *qp,
			    const struct mlx5ep_connect_attr *attr,
			    const struct mlx5ep_endpoint_address *remote);

#ifdef __cplusplus
}
#endif

#endif
