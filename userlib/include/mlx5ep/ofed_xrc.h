/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The XRC calls of OFED 1.3 to 1.5 by their old names, for code that was
 * written for them. Include it after <infiniband/verbs.h> and link with
 * libmlx5ep.
 *
 * struct ibv_qp_init_attr has lost its field xrc_domain: the name is mapped to
 * qp_context, which an XRC receive QP of OFED had no use for. Define
 * MLX5EP_OFED_KEEP_XRC_DOMAIN before including where that name must stay; then
 * set qp_context.
 *
 * As in OFED a process is registered once for each create and each reg, and
 * the calls return 0 or a positive errno.
 */
#ifndef MLX5EP_OFED_XRC_H
#define MLX5EP_OFED_XRC_H

#include <errno.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ibv_xrc_domain ibv_xrcd

int mlx5ep_ofed_create_xrc_rcv_qp(struct ibv_xrcd *domain, uint32_t *qp_num);
int mlx5ep_ofed_modify_xrc_rcv_qp(struct ibv_xrcd *domain, uint32_t qp_num,
				  struct ibv_qp_attr *attr, int attr_mask);
int mlx5ep_ofed_query_xrc_rcv_qp(struct ibv_xrcd *domain, uint32_t qp_num,
				 struct ibv_qp_attr *attr, int attr_mask,
				 struct ibv_qp_init_attr *init_attr);
int mlx5ep_ofed_reg_xrc_rcv_qp(struct ibv_xrcd *domain, uint32_t qp_num);
int mlx5ep_ofed_unreg_xrc_rcv_qp(struct ibv_xrcd *domain, uint32_t qp_num);

/**
 * ibv_create_xrc_rcv_qp - create a kernel-owned receive QP, register with it
 * @init_attr: its xrc_domain says where; nothing else is used
 * @xrc_rcv_qpn: written on success
 */
static inline int ibv_create_xrc_rcv_qp(struct ibv_qp_init_attr *init_attr,
					uint32_t *xrc_rcv_qpn)
{
	return mlx5ep_ofed_create_xrc_rcv_qp(
		(struct ibv_xrcd *)init_attr->qp_context, xrc_rcv_qpn);
}

/**
 * ibv_modify_xrc_rcv_qp - change a receive QP that this process registered with
 * @domain: its domain
 * @xrc_qp_num: its number
 * @attr: new attributes
 * @attr_mask: which of them
 */
static inline int ibv_modify_xrc_rcv_qp(struct ibv_xrc_domain *domain,
					uint32_t xrc_qp_num,
					struct ibv_qp_attr *attr, int attr_mask)
{
	return mlx5ep_ofed_modify_xrc_rcv_qp(domain, xrc_qp_num, attr,
					     attr_mask);
}

/**
 * ibv_query_xrc_rcv_qp - ask for the attributes of a receive QP
 * @domain: its domain
 * @xrc_qp_num: its number
 * @attr: written on success
 * @attr_mask: ignored, all are given
 * @init_attr: written on success: QP type and domain
 */
static inline int ibv_query_xrc_rcv_qp(struct ibv_xrc_domain *domain,
				       uint32_t xrc_qp_num,
				       struct ibv_qp_attr *attr, int attr_mask,
				       struct ibv_qp_init_attr *init_attr)
{
	return mlx5ep_ofed_query_xrc_rcv_qp(domain, xrc_qp_num, attr, attr_mask,
					    init_attr);
}

/**
 * ibv_reg_xrc_rcv_qp - register with a receive QP
 * @domain: its domain
 * @xrc_qp_num: its number
 */
static inline int ibv_reg_xrc_rcv_qp(struct ibv_xrc_domain *domain,
				     uint32_t xrc_qp_num)
{
	return mlx5ep_ofed_reg_xrc_rcv_qp(domain, xrc_qp_num);
}

/**
 * ibv_unreg_xrc_rcv_qp - end one registration of this process
 * @domain: its domain
 * @xrc_qp_num: its number
 */
static inline int ibv_unreg_xrc_rcv_qp(struct ibv_xrc_domain *domain,
				       uint32_t xrc_qp_num)
{
	return mlx5ep_ofed_unreg_xrc_rcv_qp(domain, xrc_qp_num);
}

/* The calls that upstream renamed, so that old code finds a domain at all. */
static inline struct ibv_xrc_domain *
ibv_open_xrc_domain(struct ibv_context *context, int fd, int oflag)
{
	struct ibv_xrcd_init_attr attr;

	attr.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	attr.fd = fd;
	attr.oflags = oflag;
	return ibv_open_xrcd(context, &attr);
}

static inline int ibv_close_xrc_domain(struct ibv_xrc_domain *domain)
{
	return ibv_close_xrcd(domain);
}

#ifndef MLX5EP_OFED_KEEP_XRC_DOMAIN
#define xrc_domain qp_context
#endif

#ifdef __cplusplus
}
#endif

#endif
