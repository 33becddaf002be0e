/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * ib_core exports ib_create_qp_user() and declares it in a private header. It
 * is the only way to an XRC target QP that ib_open_qp() finds. The fourth
 * parameter is a pointer to a struct uverbs_attr_bundle.
 * Before 7.x it was one to a struct ib_udata.
 * For this type of QP ib_core does not look at it, and it is NULL here.
 * Nothing to drop until a public header has it.
 */
#ifndef MLX5_EP_COMPAT_CREATE_QP_USER_H
#define MLX5_EP_COMPAT_CREATE_QP_USER_H

#include <rdma/ib_verbs.h>

struct ib_uqp_object;

struct ib_qp *ib_create_qp_user(struct ib_device *dev, struct ib_pd *pd,
				struct ib_qp_init_attr *attr, void *nothing,
				struct ib_uqp_object *uobj, const char *caller);

#endif
