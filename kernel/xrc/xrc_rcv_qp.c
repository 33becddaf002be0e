// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared XRC receive QPs: the uverbs object. One object is one registration.
 *
 * What always holds:
 *   - a QP lives while it has a registration, whoever created it;
 *   - a registration lives until it is destroyed or its user context ends, for
 *     whatever reason: close, exit, kill, removal of the device;
 *   - an XRC domain outlives its registrations (see xrc_domain.c);
 *   - the caller's memory is written only if the call succeeds.
 */
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "compat/compat.h"
#include "device.h"
#include "uuar/context.h"
#include "uuar/qp_uuar.h"
#include "watch/notifier.h"
#include "xrc.h"

#define UVERBS_MODULE_NAME mlx5_ep
#include <rdma/uverbs_named_ioctl.h>

/* Connects the registration, whose QP is open, to the caller's notifier. */
static int rcv_qp_notify(struct mlx5_ep_xrc_reg *reg,
			 struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *notifier =
		uverbs_attr_get_uobject(attrs,
					MLX5_EP_ATTR_XRC_RCV_QP_REG_NOTIFIER);
	u64 cookie = 0;
	int ret;

	if (IS_ERR(notifier))
		return 0;
	ret = uverbs_copy_from(&cookie, attrs,
			       MLX5_EP_ATTR_XRC_RCV_QP_REG_COOKIE);
	if (ret && ret != -ENOENT)
		return ret;
	return mlx5_ep_notifier_source_init(&reg->source, notifier,
					    reg->ib_qp->qp_num, cookie);
}

/* Ends a registration that was made; the same if it is only half made. */
static void rcv_qp_undo(struct mlx5_ep_xrc_reg *reg)
{
	mlx5_ep_xrc_qp_leave(reg);
	mlx5_ep_notifier_source_fini(&reg->source);
	mlx5_ep_xrc_domain_unpin(reg);
	mlx5_ep_xrc_limits_uncharge(reg);
}

static struct mlx5_ep_xrc_reg *rcv_qp_reg(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs,
		MLX5_EP_ATTR_XRC_RCV_QP_REG_HANDLE);

	return container_of(uobj, struct mlx5_ep_xrc_reg, uobj);
}

/*
 * The part that REG and GET share; their attributes have equal ids. Returns 1 if a key
 * was given to the QP that the caller offers.
 */
static int rcv_qp_method(struct uverbs_attr_bundle *attrs,
			 struct mlx5_ep_xrc_request *request)
{
	struct ib_uobject *xrcd = uverbs_attr_get_uobject(attrs,
		MLX5_EP_ATTR_XRC_RCV_QP_REG_XRCD);
	struct mlx5_ep_xrc_reg *reg = rcv_qp_reg(attrs);
	struct ib_ucontext *uctx = reg->uobj.context;
	int given, ret;

	reg->ectx = mlx5_ep_context_of(mlx5_ep_device_find(uctx->device), uctx);
	/* The context is older than the attachment. */
	if (!reg->ectx)
		return -EOPNOTSUPP;
	ret = mlx5_ep_xrc_limits_charge(reg);
	if (ret)
		return ret;
	given = mlx5_ep_xrc_qp_join(reg, xrcd->object, request);
	if (given < 0) {
		mlx5_ep_xrc_limits_uncharge(reg);
		return given;
	}
	mlx5_ep_xrc_domain_pin(reg, xrcd);
	ret = rcv_qp_notify(reg, attrs);
	if (ret) {
		rcv_qp_undo(reg);
		return ret;
	}

	reg->uobj.object = reg;
	uverbs_finalize_uobj_create(attrs, MLX5_EP_ATTR_XRC_RCV_QP_REG_HANDLE);
	return given;
}

static int UVERBS_HANDLER(MLX5_EP_METHOD_XRC_RCV_QP_REG)(
	struct uverbs_attr_bundle *attrs)
{
	struct mlx5_ep_xrc_request request = {};
	int ret;

	ret = uverbs_copy_from(&request.num, attrs,
			       MLX5_EP_ATTR_XRC_RCV_QP_REG_QP_NUM);
	if (ret)
		return ret;
	return rcv_qp_method(attrs, &request);
}

/* The QP that the caller of GET offers has no state yet, and is in the domain. */
static int rcv_qp_offered(struct uverbs_attr_bundle *attrs, struct ib_qp *ib_qp)
{
	const struct ib_uobject *xrcd = uverbs_attr_get_uobject(attrs,
		MLX5_EP_ATTR_XRC_RCV_QP_REG_XRCD);
	struct mlx5_ep_device *edev = mlx5_ep_device_find(ib_qp->device);
	const struct mlx5_ep_qp *eqp;

	if (ib_qp->qp_type != IB_QPT_XRC_TGT ||
	    ib_qp->real_qp->xrcd != xrcd->object)
		return -EINVAL;
	eqp = mlx5_ep_qp_of(edev, ib_qp->real_qp);
	if (!eqp)
		return -ENOMEM;
	return READ_ONCE(eqp->state) == IB_QPS_RESET ? 0 : -EINVAL;
}

/* Fills in what GET was asked for. */
static int rcv_qp_get_request(struct uverbs_attr_bundle *attrs,
			      struct mlx5_ep_xrc_request *request, u32 *flags)
{
	struct ib_qp *ib_qp = uverbs_attr_get_obj(attrs,
		MLX5_EP_ATTR_XRC_RCV_QP_GET_QP);
	int ret;

	ret = uverbs_get_flags32(flags, attrs,
				 MLX5_EP_ATTR_XRC_RCV_QP_REG_FLAGS,
				 MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY |
				 MLX5_EP_XRC_RCV_QP_GET_ANNOUNCE);
	if (ret)
		return ret;
	request->announce = *flags & MLX5_EP_XRC_RCV_QP_GET_ANNOUNCE;
	if (!IS_ERR(ib_qp)) {
		ret = *flags ? -EINVAL : rcv_qp_offered(attrs, ib_qp);
		if (ret)
			return ret;
		request->num = ib_qp->qp_num;
	}
	request->key.len = uverbs_attr_get_len(attrs,
		MLX5_EP_ATTR_XRC_RCV_QP_REG_KEY);
	return uverbs_copy_from_or_zero(&request->key.data, attrs,
					MLX5_EP_ATTR_XRC_RCV_QP_REG_KEY);
}

static int UVERBS_HANDLER(MLX5_EP_METHOD_XRC_RCV_QP_GET)(
	struct uverbs_attr_bundle *attrs)
{
	struct mlx5_ep_xrc_rcv_qp_reg answer = {};
	struct mlx5_ep_xrc_request request = {};
	u32 flags;
	int ret;

	ret = rcv_qp_get_request(attrs, &request, &flags);
	if (ret)
		return ret;
	ret = rcv_qp_method(attrs, &request);
	/* A caller from before QPs were offered expects that GET creates one. */
	if (ret == -ENOENT && !flags)
		return -EOPNOTSUPP;
	if (ret < 0)
		return ret;
	answer.qp_num = rcv_qp_reg(attrs)->ib_qp->qp_num;
	if (ret)
		answer.flags |= MLX5_EP_XRC_RCV_QP_REG_CREATED;
	return uverbs_copy_to_struct_or_zero(
		attrs, MLX5_EP_ATTR_XRC_RCV_QP_REG_ANSWER, &answer,
		sizeof(answer));
}

static int UVERBS_HANDLER(MLX5_EP_METHOD_XRC_RCV_QP_MODIFY)(
	struct uverbs_attr_bundle *attrs)
{
	struct mlx5_ep_xrc_reg *reg = uverbs_attr_get_obj(attrs,
		MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_HANDLE);
	struct mlx5_ep_xrc_rcv_qp_modify answer = {};
	struct ib_uverbs_qp_attr user;
	struct ib_qp_attr attr = {};
	int ret;

	ret = uverbs_copy_from(&user, attrs,
			       MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_ATTR);
	if (ret)
		return ret;
	ret = mlx5_ep_xrc_attr_from_user(reg->ib_qp->device, &attr, &user);
	if (ret)
		return ret;
	ret = mlx5_ep_xrc_qp_modify(reg, &attr, user.qp_attr_mask,
				    &attrs->driver_udata, &answer);
	if (ret)
		return ret;
	ret = uverbs_copy_to_struct_or_zero(
		attrs, MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_ANSWER, &answer,
		sizeof(answer));
	return ret == -ENOENT ? 0 : ret;
}

static int UVERBS_HANDLER(MLX5_EP_METHOD_XRC_RCV_QP_QUERY)(
	struct uverbs_attr_bundle *attrs)
{
	struct mlx5_ep_xrc_reg *reg = uverbs_attr_get_obj(attrs,
		MLX5_EP_ATTR_XRC_RCV_QP_QUERY_HANDLE);
	struct mlx5_ep_xrc_rcv_qp_info info = {};
	struct ib_uverbs_qp_attr user = {};
	struct ib_qp_attr attr = {};
	int ret;

	ret = mlx5_ep_xrc_qp_query(reg, &attr, &info);
	if (ret)
		return ret;
	mlx5_ep_xrc_attr_to_user(&user, &attr);
	ret = uverbs_copy_to_struct_or_zero(
		attrs, MLX5_EP_ATTR_XRC_RCV_QP_QUERY_INFO, &info, sizeof(info));
	if (ret)
		return ret;
	ret = uverbs_copy_to(attrs, MLX5_EP_ATTR_XRC_RCV_QP_QUERY_ATTR, &user,
			     sizeof(user));
	return ret == -ENOENT ? 0 : ret;
}

/*
 * Ends a registration. The user destroyed it, a later step of its method
 * failed, its context ends or the device goes.
 */
static int rcv_qp_cleanup(struct ib_uobject *uobj, enum rdma_remove_reason why,
			  struct uverbs_attr_bundle *attrs)
{
	struct mlx5_ep_xrc_reg *reg = uobj->object;

	rcv_qp_undo(reg);
	return 0;
}

/* Attributes that REG and GET share. */
#define REG_ATTR_HANDLE							\
	UVERBS_ATTR_IDR(MLX5_EP_ATTR_XRC_RCV_QP_REG_HANDLE,		\
			MLX5_EP_OBJECT_XRC_RCV_QP,			\
			UVERBS_ACCESS_NEW,				\
			UA_MANDATORY)

#define REG_ATTR_XRCD							\
	UVERBS_ATTR_IDR(MLX5_EP_ATTR_XRC_RCV_QP_REG_XRCD,		\
			UVERBS_OBJECT_XRCD,				\
			UVERBS_ACCESS_READ,				\
			UA_MANDATORY)

#define REG_ATTR_NOTIFIER						\
	UVERBS_ATTR_FD(MLX5_EP_ATTR_XRC_RCV_QP_REG_NOTIFIER,		\
		       MLX5_EP_OBJECT_NOTIFIER,				\
		       UVERBS_ACCESS_READ,				\
		       UA_OPTIONAL)

#define REG_ATTR_COOKIE							\
	UVERBS_ATTR_PTR_IN(MLX5_EP_ATTR_XRC_RCV_QP_REG_COOKIE,		\
			   UVERBS_ATTR_TYPE(u64),			\
			   UA_OPTIONAL)

DECLARE_UVERBS_NAMED_METHOD(
	MLX5_EP_METHOD_XRC_RCV_QP_REG,
	REG_ATTR_HANDLE,
	REG_ATTR_XRCD,
	REG_ATTR_NOTIFIER,
	REG_ATTR_COOKIE,
	UVERBS_ATTR_PTR_IN(MLX5_EP_ATTR_XRC_RCV_QP_REG_QP_NUM,
			   UVERBS_ATTR_TYPE(u32),
			   UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	MLX5_EP_METHOD_XRC_RCV_QP_GET,
	REG_ATTR_HANDLE,
	REG_ATTR_XRCD,
	REG_ATTR_NOTIFIER,
	REG_ATTR_COOKIE,
	UVERBS_ATTR_PTR_OUT(MLX5_EP_ATTR_XRC_RCV_QP_REG_ANSWER,
			    UVERBS_ATTR_STRUCT(struct mlx5_ep_xrc_rcv_qp_reg,
					       flags),
			    UA_MANDATORY),
	UVERBS_ATTR_IDR(MLX5_EP_ATTR_XRC_RCV_QP_GET_QP,
			UVERBS_OBJECT_QP,
			UVERBS_ACCESS_READ,
			UA_OPTIONAL),
	UVERBS_ATTR_PTR_IN(MLX5_EP_ATTR_XRC_RCV_QP_REG_KEY,
			   UVERBS_ATTR_SIZE(1, MLX5_EP_XRC_KEY_MAX),
			   UA_MANDATORY),
	UVERBS_ATTR_FLAGS_IN(MLX5_EP_ATTR_XRC_RCV_QP_REG_FLAGS,
			     enum mlx5_ep_xrc_rcv_qp_get_flags,
			     UA_OPTIONAL));

DECLARE_UVERBS_NAMED_METHOD(
	MLX5_EP_METHOD_XRC_RCV_QP_MODIFY,
	UVERBS_ATTR_IDR(MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_HANDLE,
			MLX5_EP_OBJECT_XRC_RCV_QP,
			UVERBS_ACCESS_READ,
			UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_ATTR,
			   UVERBS_ATTR_TYPE(struct ib_uverbs_qp_attr),
			   UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_ANSWER,
			    UVERBS_ATTR_STRUCT(struct mlx5_ep_xrc_rcv_qp_modify,
					       flags),
			    UA_OPTIONAL));

DECLARE_UVERBS_NAMED_METHOD(
	MLX5_EP_METHOD_XRC_RCV_QP_QUERY,
	UVERBS_ATTR_IDR(MLX5_EP_ATTR_XRC_RCV_QP_QUERY_HANDLE,
			MLX5_EP_OBJECT_XRC_RCV_QP,
			UVERBS_ACCESS_READ,
			UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MLX5_EP_ATTR_XRC_RCV_QP_QUERY_INFO,
			    UVERBS_ATTR_STRUCT(struct mlx5_ep_xrc_rcv_qp_info,
					       key),
			    UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MLX5_EP_ATTR_XRC_RCV_QP_QUERY_ATTR,
			    UVERBS_ATTR_TYPE(struct ib_uverbs_qp_attr),
			    UA_OPTIONAL));

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	MLX5_EP_METHOD_XRC_RCV_QP_UNREG,
	UVERBS_ATTR_IDR(MLX5_EP_ATTR_XRC_RCV_QP_UNREG_HANDLE,
			MLX5_EP_OBJECT_XRC_RCV_QP,
			UVERBS_ACCESS_DESTROY,
			UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(
	MLX5_EP_OBJECT_XRC_RCV_QP,
	UVERBS_TYPE_ALLOC_IDR_SZ(sizeof(struct mlx5_ep_xrc_reg),
				 rcv_qp_cleanup),
	&UVERBS_METHOD(MLX5_EP_METHOD_XRC_RCV_QP_REG),
	&UVERBS_METHOD(MLX5_EP_METHOD_XRC_RCV_QP_GET),
	&UVERBS_METHOD(MLX5_EP_METHOD_XRC_RCV_QP_MODIFY),
	&UVERBS_METHOD(MLX5_EP_METHOD_XRC_RCV_QP_QUERY),
	&UVERBS_METHOD(MLX5_EP_METHOD_XRC_RCV_QP_UNREG));

const struct uapi_definition mlx5_ep_xrc_rcv_qp_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(MLX5_EP_OBJECT_XRC_RCV_QP),
	{},
};
