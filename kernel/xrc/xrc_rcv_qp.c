// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared XRC receive QPs: the uverbs object. One object is one registration.
 *
 * What always holds:
 *   - a QP of ours lives while it has a registration, whoever created it;
 *   - a registration lives until it is destroyed or its user context ends, for
 *     whatever reason: close, exit, kill, removal of the device;
 *   - an XRC domain outlives its registrations (see xrc_domain.c);
 *   - the caller's memory is written only if the call succeeds.
 */
#include <rdma/ib_marshall.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "compat/compat.h"
#include "device.h"
#include "watch/notifier.h"
#include "xrc.h"

#define UVERBS_MODULE_NAME mlx5_ep
#include <rdma/uverbs_named_ioctl.h>

/* What CREATE, REG or GET was asked for. */
struct reg_request {
	u32 num;		/* of the QP to join; 0: none given */
	struct ib_qp *ib_qp;	/* handle on the QP of that number */
	bool create;
	struct mlx5_ep_xrc_key key;	/* length 0: none given */
};

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

static int rcv_qp_join(struct mlx5_ep_xrc_reg *reg, struct reg_request *request,
		       struct mlx5_ep_xrc_spare *spare)
{
	if (request->ib_qp)
		return mlx5_ep_xrc_qp_join(reg, request->ib_qp, spare);
	if (request->key.len)
		return mlx5_ep_xrc_qp_join_key(reg, &request->key,
					       request->create, spare);
	return mlx5_ep_xrc_qp_join_new(reg, spare);
}

static int rcv_qp_enter_locked(struct mlx5_ep_xrc_reg *reg,
			       struct ib_uobject *xrcd,
			       struct reg_request *request,
			       struct mlx5_ep_xrc_spare *spare)
{
	int ret;

	ret = mlx5_ep_xrc_limits_charge(reg, spare);
	if (ret)
		return ret;
	ret = mlx5_ep_xrc_domain_handle_get(reg, xrcd, spare);
	if (ret)
		goto err_charge;
	ret = rcv_qp_join(reg, request, spare);
	if (ret)
		goto err_handle;
	return 0;

err_handle:
	mlx5_ep_xrc_domain_handle_put(reg);
err_charge:
	mlx5_ep_xrc_limits_uncharge(reg);
	return ret;
}

/*
 * Enters the registration into the tables. Each further attempt knows of one
 * kind of entry more that is missing, so there are few.
 */
static int rcv_qp_enter(struct mlx5_ep_xrc_reg *reg, struct ib_uobject *xrcd,
			struct reg_request *request)
{
	struct mlx5_ep_xrc_spare spare = {};
	struct mlx5_ep_xrc *xrc = reg->xrc;
	int ret;

	/* CREATE always needs a record. */
	if (!request->ib_qp && !request->key.len)
		spare.wanted = BIT(XRC_SPARE_QP);
	do {
		ret = mlx5_ep_xrc_spare_fill(&spare);
		if (ret)
			break;
		mutex_lock(&xrc->lock);
		ret = rcv_qp_enter_locked(reg, xrcd, request, &spare);
		mutex_unlock(&xrc->lock);
	} while (ret == -EAGAIN);
	mlx5_ep_xrc_spare_free(&spare);
	return ret;
}

static void rcv_qp_leave(struct mlx5_ep_xrc_reg *reg)
{
	struct mlx5_ep_xrc *xrc = reg->xrc;

	mutex_lock(&xrc->lock);
	mlx5_ep_xrc_qp_leave(reg);
	mlx5_ep_xrc_domain_handle_put(reg);
	mlx5_ep_xrc_limits_uncharge(reg);
	mutex_unlock(&xrc->lock);
}

static void rcv_qp_undo(struct mlx5_ep_xrc_reg *reg)
{
	mlx5_ep_xrc_qp_close(reg);
	mlx5_ep_notifier_source_fini(&reg->source);
	rcv_qp_leave(reg);
}

/* Registers with the QP of a number. */
static int rcv_qp_by_num(struct mlx5_ep_xrc_reg *reg, struct ib_uobject *xrcd,
			 struct reg_request *request)
{
	int ret;

	request->ib_qp = mlx5_ep_xrc_qp_find(reg, xrcd->object, request->num);
	if (IS_ERR(request->ib_qp))
		return PTR_ERR(request->ib_qp);
	mlx5_ep_xrc_qp_wait_record(reg->xrc, xrcd->object, request->ib_qp);
	ret = rcv_qp_enter(reg, xrcd, request);
	if (ret)
		ib_destroy_qp_user(request->ib_qp, NULL);
	return ret;
}

/* Registers with the QP of a key or a new QP. Returns 1 if it created the QP. */
static int rcv_qp_by_key(struct mlx5_ep_xrc_reg *reg, struct ib_uobject *xrcd,
			 struct reg_request *request)
{
	int ret;

	ret = rcv_qp_enter(reg, xrcd, request);
	if (ret)
		return ret;
	ret = mlx5_ep_xrc_qp_open(reg, request->create);
	if (ret < 0)
		rcv_qp_leave(reg);
	return ret;
}

/*
 * The part that CREATE, REG and GET share; their attributes have equal ids.
 * Returns 1 if it created the QP.
 */
static int rcv_qp_method(struct uverbs_attr_bundle *attrs,
			 struct reg_request *request)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs,
		MLX5_EP_ATTR_XRC_RCV_QP_REG_HANDLE);
	struct ib_uobject *xrcd = uverbs_attr_get_uobject(attrs,
		MLX5_EP_ATTR_XRC_RCV_QP_REG_XRCD);
	struct mlx5_ep_xrc_reg *reg =
		container_of(uobj, struct mlx5_ep_xrc_reg, uobj);
	int created, ret;

	reg->xrc = mlx5_ep_device_find(uobj->context->device)->xrc;
	if (request->num)
		created = rcv_qp_by_num(reg, xrcd, request);
	else
		created = rcv_qp_by_key(reg, xrcd, request);
	if (created < 0)
		return created;
	ret = rcv_qp_notify(reg, attrs);
	if (ret) {
		rcv_qp_undo(reg);
		return ret;
	}

	uobj->object = reg;
	uverbs_finalize_uobj_create(attrs, MLX5_EP_ATTR_XRC_RCV_QP_REG_HANDLE);
	return created;
}

/* For CREATE and GET, which answer with the QP's number. */
static int rcv_qp_method_answer(struct uverbs_attr_bundle *attrs,
				struct reg_request *request)
{
	struct mlx5_ep_xrc_rcv_qp_reg answer = {};
	struct ib_uobject *uobj;
	int created;

	created = rcv_qp_method(attrs, request);
	if (created < 0)
		return created;
	uobj = uverbs_attr_get_uobject(attrs,
				       MLX5_EP_ATTR_XRC_RCV_QP_REG_HANDLE);
	answer.qp_num = container_of(uobj, struct mlx5_ep_xrc_reg,
				     uobj)->ib_qp->qp_num;
	if (created)
		answer.flags |= MLX5_EP_XRC_RCV_QP_REG_CREATED;
	return uverbs_copy_to_struct_or_zero(
		attrs, MLX5_EP_ATTR_XRC_RCV_QP_REG_ANSWER, &answer,
		sizeof(answer));
}

static int UVERBS_HANDLER(MLX5_EP_METHOD_XRC_RCV_QP_CREATE)(
	struct uverbs_attr_bundle *attrs)
{
	struct reg_request request = { .create = true };

	return rcv_qp_method_answer(attrs, &request);
}

static int UVERBS_HANDLER(MLX5_EP_METHOD_XRC_RCV_QP_REG)(
	struct uverbs_attr_bundle *attrs)
{
	struct reg_request request = {};
	int ret;

	ret = uverbs_copy_from(&request.num, attrs,
			       MLX5_EP_ATTR_XRC_RCV_QP_REG_QP_NUM);
	if (ret)
		return ret;
	/* QP 0 is the subnet management interface's and in no domain. */
	if (!request.num)
		return -ENOENT;
	return rcv_qp_method(attrs, &request);
}

static int UVERBS_HANDLER(MLX5_EP_METHOD_XRC_RCV_QP_GET)(
	struct uverbs_attr_bundle *attrs)
{
	struct reg_request request = {};
	u32 flags;
	int ret;

	ret = uverbs_get_flags32(&flags, attrs,
				 MLX5_EP_ATTR_XRC_RCV_QP_REG_FLAGS,
				 MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY);
	if (ret)
		return ret;
	request.create = !(flags & MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY);
	ret = uverbs_copy_from_or_zero(&request.key.data, attrs,
				       MLX5_EP_ATTR_XRC_RCV_QP_REG_KEY);
	if (ret)
		return ret;
	request.key.len = uverbs_attr_get_len(attrs,
		MLX5_EP_ATTR_XRC_RCV_QP_REG_KEY);
	return rcv_qp_method_answer(attrs, &request);
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
	ib_copy_qp_attr_to_user(reg->ib_qp->device, &user, &attr);
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

/* Attributes that CREATE, REG and GET share; REG has no ANSWER. */
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

#define REG_ATTR_ANSWER							\
	UVERBS_ATTR_PTR_OUT(MLX5_EP_ATTR_XRC_RCV_QP_REG_ANSWER,		\
			    UVERBS_ATTR_STRUCT(struct mlx5_ep_xrc_rcv_qp_reg, \
					       flags),			\
			    UA_MANDATORY)

DECLARE_UVERBS_NAMED_METHOD(
	MLX5_EP_METHOD_XRC_RCV_QP_CREATE,
	REG_ATTR_HANDLE,
	REG_ATTR_XRCD,
	REG_ATTR_NOTIFIER,
	REG_ATTR_COOKIE,
	REG_ATTR_ANSWER);

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
	REG_ATTR_ANSWER,
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
	&UVERBS_METHOD(MLX5_EP_METHOD_XRC_RCV_QP_CREATE),
	&UVERBS_METHOD(MLX5_EP_METHOD_XRC_RCV_QP_REG),
	&UVERBS_METHOD(MLX5_EP_METHOD_XRC_RCV_QP_GET),
	&UVERBS_METHOD(MLX5_EP_METHOD_XRC_RCV_QP_MODIFY),
	&UVERBS_METHOD(MLX5_EP_METHOD_XRC_RCV_QP_QUERY),
	&UVERBS_METHOD(MLX5_EP_METHOD_XRC_RCV_QP_UNREG));

const struct uapi_definition mlx5_ep_xrc_rcv_qp_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(MLX5_EP_OBJECT_XRC_RCV_QP),
	{},
};
