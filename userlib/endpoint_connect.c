// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Brings a QP to RTS, connected to the QP of an address.
 *
 * Never: a QP left half way. A QP that cannot be connected is in state RESET.
 */
#include <stdbool.h>

#include <mlx5ep/endpoint_connect.h>

#include "internal.h"

#define PSN_MASK 0xffffffu
#define RD_ATOMIC_MOST 16
/* Fields of 5, 3 and 4 bits of a QP (InfiniBand Architecture, QP attributes). */
#define TIMEOUT_MOST 31
#define RETRY_MOST 7
#define SL_MOST 15
#define CONNECT_FLAGS (MLX5EP_CONNECT_SGID_INDEX | MLX5EP_CONNECT_GLOBAL)

_Static_assert(sizeof(struct mlx5ep_endpoint_address) == 64,
	       "it is sent to other hosts");

/* Are these in the range of their fields? mlx5_ib would cut off what is above. */
static bool timers_fit(const struct mlx5ep_connect_attr *attr)
{
	return attr->timeout <= TIMEOUT_MOST && attr->retry_cnt <= RETRY_MOST &&
		attr->rnr_retry <= RETRY_MOST &&
		attr->min_rnr_timer <= TIMEOUT_MOST;
}

static int attr_check(const struct mlx5ep_connect_attr *attr)
{
	if (attr->flags & ~CONNECT_FLAGS || attr->port > UINT8_MAX ||
	    attr->sgid_index > UINT8_MAX || attr->psn & ~PSN_MASK ||
	    attr->mtu > IBV_MTU_4096 || attr->sl > SL_MOST ||
	    !timers_fit(attr) || attr->reserved1 ||
	    attr->reserved[0] || attr->reserved[1] || attr->reserved[2] ||
	    attr->reserved[3])
		return -EINVAL;
	if (attr->sgid_index && !(attr->flags & MLX5EP_CONNECT_SGID_INDEX))
		return -EINVAL;
	return 0;
}

static uint8_t port_of(const struct mlx5ep_connect_attr *attr)
{
	return attr->port ? attr->port : 1;
}

/* Is this the GID of an IPv4 address (::ffff:a.b.c.d)? */
static bool is_ipv4(const union ibv_gid *gid)
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid->raw, prefix, sizeof(prefix));
}

/* Finds the entry of the GID table that the QP sends with. */
static int find_gid(struct ibv_context *context,
		    const struct mlx5ep_connect_attr *attr,
		    const struct ibv_port_attr *port,
		    struct ibv_gid_entry *gid)
{
	struct ibv_gid_entry entry;
	bool found = false;
	int i, ret;

	if (attr->flags & MLX5EP_CONNECT_SGID_INDEX ||
	    port->link_layer != IBV_LINK_LAYER_ETHERNET)
		return -ibv_query_gid_ex(context, port_of(attr),
					 attr->sgid_index, gid, 0);
	for (i = 0; i < port->gid_tbl_len && i <= UINT8_MAX; i++) {
		ret = ibv_query_gid_ex(context, port_of(attr), i, &entry, 0);
		if (ret == ENODATA)
			continue;
		if (ret)
			return -ret;
		if (entry.gid_type != IBV_GID_TYPE_ROCE_V2)
			continue;
		if (!found || is_ipv4(&entry.gid))
			*gid = entry;
		found = true;
		if (is_ipv4(&entry.gid))
			return 0;
	}
	return found ? 0 : -ibv_query_gid_ex(context, port_of(attr), 0, gid, 0);
}

static int query_port(struct ibv_context *context,
		      const struct mlx5ep_connect_attr *attr,
		      struct ibv_port_attr *port)
{
	int ret = attr_check(attr);

	return ret ? ret : -ibv_query_port(context, port_of(attr), port);
}

MLX5EP_EXPORT int
mlx5ep_endpoint_address(struct ibv_qp *qp,
			const struct mlx5ep_connect_attr *attr,
			struct mlx5ep_endpoint_address *address)
{
	static const struct mlx5ep_connect_attr none;
	struct ibv_port_attr port;
	struct ibv_gid_entry gid;
	int ret;

	attr = attr ? attr : &none;
	ret = query_port(qp->context, attr, &port);
	if (!ret)
		ret = find_gid(qp->context, attr, &port, &gid);
	if (ret)
		return ret;
	*address = (struct mlx5ep_endpoint_address) {
		.qp_num = qp->qp_num,
		.psn = attr->psn,
		.lid = port.lid,
		.mtu = port.active_mtu,
		.link_layer = port.link_layer,
	};
	memcpy(address->gid, gid.gid.raw, sizeof(address->gid));
	return 0;
}

static int address_check(const struct mlx5ep_endpoint_address *remote,
			 const struct mlx5ep_connect_attr *attr,
			 const struct ibv_port_attr *port)
{
	unsigned int i;

	for (i = 0; i < 8; i++)
		if (remote->reserved[i])
			return -EINVAL;
	if (remote->reserved1 || remote->qp_num & ~PSN_MASK ||
	    remote->psn & ~PSN_MASK || remote->mtu < IBV_MTU_256 ||
	    remote->mtu > IBV_MTU_4096 ||
	    remote->link_layer != port->link_layer)
		return -EINVAL;
	if (port->link_layer == IBV_LINK_LAYER_INFINIBAND && !remote->lid &&
	    !(attr->flags & MLX5EP_CONNECT_GLOBAL))
		return -EINVAL;
	return 0;
}

static int qp_init(struct ibv_qp *qp, const struct mlx5ep_connect_attr *attr)
{
	struct ibv_qp_attr to = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = attr->pkey_index,
		.port_num = port_of(attr),
		.qp_access_flags = attr->access ? attr->access :
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};

	return -ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			      IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int qp_rtr(struct ibv_qp *qp, const struct mlx5ep_connect_attr *attr,
		  const struct mlx5ep_endpoint_address *remote,
		  const struct ibv_port_attr *port, unsigned int sgid_index,
		  uint8_t rd_atomic)
{
	bool ethernet = port->link_layer == IBV_LINK_LAYER_ETHERNET;
	struct ibv_qp_attr to = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = port->active_mtu < remote->mtu ?
			port->active_mtu : remote->mtu,
		.dest_qp_num = remote->qp_num,
		.rq_psn = remote->psn,
		.max_dest_rd_atomic = rd_atomic,
		.min_rnr_timer = attr->min_rnr_timer ? attr->min_rnr_timer : 12,
		.ah_attr = {
			.dlid = remote->lid,
			.sl = attr->sl,
			.port_num = port_of(attr),
			.is_global = ethernet ||
				attr->flags & MLX5EP_CONNECT_GLOBAL,
			.grh = {
				.sgid_index = sgid_index,
				.hop_limit = attr->hop_limit ?
					attr->hop_limit : 64,
				.traffic_class = attr->traffic_class,
			},
		},
	};
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
		IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

	if (attr->mtu)
		to.path_mtu = attr->mtu;
	memcpy(to.ah_attr.grh.dgid.raw, remote->gid, sizeof(remote->gid));
	if (qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return -ibv_modify_qp(qp, &to, mask);
}

static int qp_rts(struct ibv_qp *qp, const struct mlx5ep_connect_attr *attr,
		  uint8_t rd_atomic)
{
	struct ibv_qp_attr to = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = attr->psn,
		.timeout = attr->timeout ? attr->timeout : 14,
		.retry_cnt = attr->retry_cnt ? attr->retry_cnt : 7,
		.rnr_retry = attr->rnr_retry ? attr->rnr_retry : 7,
		.max_rd_atomic = rd_atomic,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	return -ibv_modify_qp(qp, &to, mask);
}

static int find_rd_atomic(struct ibv_context *context,
			  const struct mlx5ep_connect_attr *attr,
			  uint8_t *rd_atomic)
{
	struct ibv_device_attr device;
	int most, ret;

	*rd_atomic = attr->rd_atomic;
	if (attr->rd_atomic)
		return 0;
	ret = -ibv_query_device(context, &device);
	if (ret)
		return ret;
	most = device.max_qp_rd_atom < device.max_qp_init_rd_atom ?
		device.max_qp_rd_atom : device.max_qp_init_rd_atom;
	*rd_atomic = most < RD_ATOMIC_MOST ? most : RD_ATOMIC_MOST;
	return 0;
}

MLX5EP_EXPORT int
mlx5ep_endpoint_connect(struct ibv_qp *qp,
			const struct mlx5ep_connect_attr *attr,
			const struct mlx5ep_endpoint_address *remote)
{
	static const struct mlx5ep_connect_attr none;
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_port_attr port;
	struct ibv_gid_entry gid;
	uint8_t rd_atomic;
	int ret;

	if (qp->qp_type != IBV_QPT_RC && qp->qp_type != IBV_QPT_UC)
		return -EOPNOTSUPP;
	if (qp->state != IBV_QPS_RESET)
		return -EISCONN;
	attr = attr ? attr : &none;
	ret = query_port(qp->context, attr, &port);
	if (!ret)
		ret = address_check(remote, attr, &port);
	if (!ret)
		ret = find_gid(qp->context, attr, &port, &gid);
	if (!ret)
		ret = find_rd_atomic(qp->context, attr, &rd_atomic);
	if (ret)
		return ret;
	ret = qp_init(qp, attr);
	if (!ret)
		ret = qp_rtr(qp, attr, remote, &port, gid.gid_index, rd_atomic);
	if (!ret)
		ret = qp_rts(qp, attr, rd_atomic);
	if (ret)
		ibv_modify_qp(qp, &reset, IBV_QP_STATE);
	return ret;
}
