/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The XRC calls of OFED 1.3 to 1.5 by their old names, for programs that were
 * written for OFED. Include this header after <infiniband/verbs.h>, and link
 * with libmlx5ep.
 *
 * Today's struct ibv_qp_init_attr has no field xrc_domain. This header defines
 * the name as qp_context, which OFED did not use for an XRC receive QP. A
 * program that uses the name xrc_domain for something else defines
 * MLX5EP_OFED_KEEP_XRC_DOMAIN before it includes this header, and sets
 * qp_context itself.
 *
 * As in OFED, each create and each reg is one registration of the process, and
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
 * ibv_create_xrc_rcv_qp() - create a shared receive QP and register with it
 * @init_attr: only xrc_domain is used
 * @xrc_rcv_qpn: receives the number of the QP
 */
static inline int ibv_create_xrc_rcv_qp(struct ibv_qp_init_attr *init_attr,
					uint32_t *xrc_rcv_qpn)
{
	return mlx5ep_ofed_create_xrc_rcv_qp(
		(struct ibv_xrcd *)init_attr->qp_context, xrc_rcv_qpn);
}

/**
 * ibv_modify_xrc_rcv_qp() - change a QP that the process is registered with
 */
static inline int ibv_modify_xrc_rcv_qp(struct ibv_xrc_domain *domain,
					uint32_t xrc_qp_num,
					struct ibv_qp_attr *attr, int attr_mask)
{
	return mlx5ep_ofed_modify_xrc_rcv_qp(domain, xrc_qp_num, attr,
					     attr_mask);
}

/**
 * ibv_query_xrc_rcv_qp() - ask for attributes of a shared receive QP
 * @attr_mask: ignored; all attributes are returned
 * @init_attr: receives QP type and domain
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
 * ibv_reg_xrc_rcv_qp() - register with a shared receive QP
 */
static inline int ibv_reg_xrc_rcv_qp(struct ibv_xrc_domain *domain,
				     uint32_t xrc_qp_num)
{
	return mlx5ep_ofed_reg_xrc_rcv_qp(domain, xrc_qp_num);
}

/**
 * ibv_unreg_xrc_rcv_qp() - end one registration of the process
 */
static inline int ibv_unreg_xrc_rcv_qp(struct ibv_xrc_domain *domain,
				       uint32_t xrc_qp_num)
{
	return mlx5ep_ofed_unreg_xrc_rcv_qp(domain, xrc_qp_num);
}

/**
 * ibv_open_xrc_domain() - open an XRC domain: ibv_open_xrcd() of today
 * @fd: the file whose domain it is, or -1 for a domain of this process
 * @oflag: O_CREAT, O_EXCL; 0 opens a domain that exists
 *
 * Return: the domain, or NULL with errno.
 */
static inline struct ibv_xrc_domain *
ibv_open_xrc_domain(struct ibv_context *context, int fd, int oflag)
{
	struct ibv_xrcd_init_attr attr;

	attr.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	attr.fd = fd;
	attr.oflags = oflag;
	return ibv_open_xrcd(context, &attr);
}

/**
 * ibv_close_xrc_domain() - close an XRC domain: ibv_close_xrcd() of today
 */
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
