// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Methods that mlx5_ep adds to the core's uverbs objects: what it can do, the
 * policy of a context, its table, and where a QP is.
 */

#define UVERBS_MODULE_NAME mlx5_ep
#include <rdma/uverbs_named_ioctl.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>

#include "account/user.h"
#include "cmd.h"
#include "compat/dma_buf.h"
#include "device.h"
#include "methods.h"
#include "uuar/context.h"
#include "uuar/qp_list.h"
#include "uuar/qp_uuar.h"

static_assert(sizeof(struct mlx5_ep_features) == 40);
static_assert(sizeof(struct mlx5_ep_context_policy) == 16);
static_assert(sizeof(struct mlx5_ep_context_info) == 56);
static_assert(sizeof(struct mlx5_ep_uuar_info) == 16);
static_assert(sizeof(struct mlx5_ep_qp_uuar) == 24);
static_assert(sizeof(struct mlx5_ep_qp_info) == 40);
static_assert(MLX5_EP_UUAR_POLICY_STOCK == 0);
static_assert(MLX5_EP_UUAR_POLICY_INDEPENDENT == 1);
static_assert(MLX5_EP_UUAR_POLICY_SHARED_UAR == 2);
static_assert(MLX5_EP_UUAR_POLICY_SHARED_UUAR == 3);
static_assert(MLX5_EP_NR_POLICIES == 4);

static struct mlx5_ep_context *
methods_get_context(struct uverbs_attr_bundle *attrs)
{
	struct ib_ucontext *uctx = ib_uverbs_get_ucontext(attrs);

	if (IS_ERR(uctx))
		return ERR_CAST(uctx);
	return mlx5_ep_context_of(mlx5_ep_device_find(uctx->device), uctx);
}

static int UVERBS_HANDLER(MLX5_EP_METHOD_QUERY_FEATURES)(
	struct uverbs_attr_bundle *attrs)
{
	struct mlx5_ep_context *ectx = methods_get_context(attrs);
	struct mlx5_ep_features resp = {
		.abi_version = MLX5_EP_ABI_VERSION,
		.policies = BIT(MLX5_EP_NR_POLICIES) - 1,
		.features = MLX5_EP_FEATURE_UUAR_POLICY |
			    MLX5_EP_FEATURE_QUERY_UUAR |
			    MLX5_EP_FEATURE_CONTEXT |
			    MLX5_EP_FEATURE_NOTIFIER |
			    MLX5_EP_FEATURE_XRC_RCV_QP |
			    MLX5_EP_FEATURE_USER_LIMIT,
		.max_context_pages = MLX5_EP_MAX_PAGES,
	};

	if (IS_ERR(ectx))
		return PTR_ERR(ectx);
	if (COMPAT_HAS_DMA_BUF)
		resp.features |= MLX5_EP_FEATURE_WATCH_DMABUF;
	if (READ_ONCE(ectx->edev->no_policies)) {
		resp.policies = BIT(MLX5_EP_UUAR_POLICY_STOCK);
		resp.features &= ~MLX5_EP_FEATURE_UUAR_POLICY;
	}
	if (*ectx->edev->lacking[MLX5_EP_PART_QP])
		resp.features &= ~MLX5_EP_FEATURE_QUERY_UUAR;
	if (*ectx->edev->lacking[MLX5_EP_PART_NOTIFIER])
		resp.features &= ~(MLX5_EP_FEATURE_NOTIFIER |
				   MLX5_EP_FEATURE_WATCH_DMABUF);
	if (*ectx->edev->lacking[MLX5_EP_PART_XRC])
		resp.features &= ~MLX5_EP_FEATURE_XRC_RCV_QP;
	resp.uar_pages = mlx5_ep_cmd_uar_pages(ectx->edev->mdev);
	resp.uar_budget = READ_ONCE(ectx->edev->values.budget);
	resp.uar_in_use = atomic_read(&ectx->edev->managed_pages);
	resp.uar_user_limit = READ_ONCE(ectx->edev->values.user_limit);
	resp.uar_user_held = mlx5_ep_account_held(ectx->user, MLX5_EP_UAR_PAGES);
	return uverbs_copy_to_struct_or_zero(
		attrs, MLX5_EP_ATTR_QUERY_FEATURES_RESP, &resp, sizeof(resp));
}

static int UVERBS_HANDLER(MLX5_EP_METHOD_CONTEXT_SET_POLICY)(
	struct uverbs_attr_bundle *attrs)
{
	struct mlx5_ep_context *ectx = methods_get_context(attrs);
	struct mlx5_ep_context_policy req;
	struct mlx5_ep_settings settings;
	int ret;

	if (IS_ERR(ectx))
		return PTR_ERR(ectx);
	ret = uverbs_copy_from_or_zero(&req, attrs,
				       MLX5_EP_ATTR_CONTEXT_SET_POLICY_REQ);
	if (ret)
		return ret;
	if (req.policy >= MLX5_EP_NR_POLICIES || req.reserved ||
	    req.flags & ~(MLX5_EP_POLICY_STRICT | MLX5_EP_POLICY_LATER_OPENS) ||
	    req.pages > MLX5_EP_MAX_PAGES)
		return -EINVAL;

	settings.policy = req.policy;
	settings.strict = req.flags & MLX5_EP_POLICY_STRICT;
	settings.pages = req.pages;
	if (req.flags & MLX5_EP_POLICY_LATER_OPENS) {
		mlx5_ep_context_set_later(ectx, &settings);
		return 0;
	}
	if (req.pages)
		return -EINVAL;
	return mlx5_ep_context_set_policy(ectx, &settings);
}

static int UVERBS_HANDLER(MLX5_EP_METHOD_CONTEXT_QUERY)(
	struct uverbs_attr_bundle *attrs)
{
	struct mlx5_ep_context *ectx = methods_get_context(attrs);
	struct mlx5_ep_context_info resp;

	if (IS_ERR(ectx))
		return PTR_ERR(ectx);
	mlx5_ep_context_info_get(ectx, &resp);
	return uverbs_copy_to_struct_or_zero(
		attrs, MLX5_EP_ATTR_CONTEXT_QUERY_RESP, &resp, sizeof(resp));
}

/*
 * Find out how many entries of an array fit into the caller's buffer. @least is
 * the size of an entry in the first version of the header.
 */
static int methods_get_room(const struct uverbs_attr_bundle *attrs,
			    u16 id_entries, u16 id_size, size_t least,
			    u32 *entry_size)
{
	int len, ret;

	ret = uverbs_copy_from(entry_size, attrs, id_size);
	if (ret)
		return ret;
	if (*entry_size < least)
		return -EINVAL;
	len = uverbs_attr_get_len(attrs, id_entries);
	return len < 0 ? len : len / *entry_size;
}

/* Copy @n entries of @known bytes to the caller, who has others of @entry_size. */
static int methods_copy_entries(struct uverbs_attr_bundle *attrs, u16 id,
				const void *entries, size_t known,
				u32 entry_size, size_t n)
{
	void *copy;
	size_t i;

	if (entry_size == known)
		return uverbs_copy_to(attrs, id, entries, n * known);
	copy = uverbs_kcalloc(attrs, n, entry_size);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	for (i = 0; i < n; i++)
		memcpy(copy + i * entry_size, entries + i * known,
		       min_t(size_t, known, entry_size));
	return uverbs_copy_to(attrs, id, copy, n * entry_size);
}

static int UVERBS_HANDLER(MLX5_EP_METHOD_CONTEXT_DUMP)(
	struct uverbs_attr_bundle *attrs)
{
	struct mlx5_ep_context *ectx = methods_get_context(attrs);
	struct mlx5_ep_uuar_info *infos;
	u32 count, entry_size, i;
	int room, ret;

	if (IS_ERR(ectx))
		return PTR_ERR(ectx);
	if (!ectx->table)
		return -EOPNOTSUPP;
	count = ectx->table->nr_pages * MLX5_EP_UUARS_PER_PAGE;
	room = methods_get_room(attrs, MLX5_EP_ATTR_CONTEXT_DUMP_RESP_UUARS,
				MLX5_EP_ATTR_CONTEXT_DUMP_ENTRY_SIZE,
				sizeof(*infos), &entry_size);
	if (room < 0)
		return room;

	infos = uverbs_kcalloc(attrs, count, sizeof(*infos));
	if (IS_ERR(infos))
		return PTR_ERR(infos);
	spin_lock(&ectx->lock);
	for (i = 0; i < count; i++)
		mlx5_ep_qp_uuar_info_get(ectx->table, i, &infos[i]);
	spin_unlock(&ectx->lock);

	ret = methods_copy_entries(attrs, MLX5_EP_ATTR_CONTEXT_DUMP_RESP_UUARS,
				   infos, sizeof(*infos), entry_size,
				   min_t(u32, room, count));
	if (ret)
		return ret;
	return uverbs_copy_to(attrs, MLX5_EP_ATTR_CONTEXT_DUMP_RESP_COUNT,
			      &count, sizeof(count));
}

/*
 * Fill @infos with at most @room QPs, from QP number @first of the list on. Return the
 * number of QPs of the context. If QPs go meanwhile, the number still says how many
 * entries are in @infos: the number less @first, but at most @room.
 */
static u32 methods_list_qps(struct mlx5_ep_context *ectx,
			    struct mlx5_ep_qp_info *infos, u32 room, u32 first)
{
	struct mlx5_ep_qp_cursor cursor;
	u32 count, passed, n = 0;

	count = mlx5_ep_qp_list_begin(&cursor, ectx);
	if (first < count) {
		passed = mlx5_ep_qp_list_next(&cursor, NULL, first);
		if (passed == first)
			n = mlx5_ep_qp_list_next(&cursor, infos, room);
		if (n < room)
			count = passed + n;
	}
	mlx5_ep_qp_list_end(&cursor);
	return count;
}

static int UVERBS_HANDLER(MLX5_EP_METHOD_QP_LIST)(
	struct uverbs_attr_bundle *attrs)
{
	struct mlx5_ep_context *ectx = methods_get_context(attrs);
	struct mlx5_ep_qp_info *infos;
	u32 first, count, entry_size;
	int room, ret;

	if (IS_ERR(ectx))
		return PTR_ERR(ectx);
	ret = uverbs_copy_from(&first, attrs, MLX5_EP_ATTR_QP_LIST_FIRST);
	if (ret)
		return ret;
	room = methods_get_room(attrs, MLX5_EP_ATTR_QP_LIST_RESP_QPS,
				MLX5_EP_ATTR_QP_LIST_ENTRY_SIZE, sizeof(*infos),
				&entry_size);
	if (room < 0)
		return room;
	infos = uverbs_kcalloc(attrs, room, sizeof(*infos));
	if (IS_ERR(infos))
		return PTR_ERR(infos);
	count = methods_list_qps(ectx, infos, room, first);
	ret = methods_copy_entries(attrs, MLX5_EP_ATTR_QP_LIST_RESP_QPS, infos,
				   sizeof(*infos), entry_size,
				   min_t(u32, room, count - min(count, first)));
	if (ret)
		return ret;
	return uverbs_copy_to(attrs, MLX5_EP_ATTR_QP_LIST_RESP_COUNT, &count,
			      sizeof(count));
}

/*
 * Can QUERY_QP tell the UAR page of this QP? Of a DC target it cannot, whatever type
 * its creator named.
 */
static bool methods_has_uar(const struct ib_qp *qp, u8 placer)
{
	switch (qp->qp_type) {
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
	case IB_QPT_XRC_INI:
	case IB_QPT_DRIVER:
		return !qp->rwq_ind_tbl && placer != MLX5_EP_PLACER_NONE;
	default:
		return false;
	}
}

static int UVERBS_HANDLER(MLX5_EP_METHOD_QP_QUERY_UUAR)(
	struct uverbs_attr_bundle *attrs)
{
	struct ib_qp *qp = uverbs_attr_get_obj(
		attrs, MLX5_EP_ATTR_QP_QUERY_UUAR_HANDLE);
	struct mlx5_ep_device *edev = mlx5_ep_device_find(qp->device);
	struct mlx5_ep_qp_uuar resp = {
		.page = MLX5_EP_UAR_UNKNOWN,
		.slot = MLX5_EP_SLOT_UNKNOWN,
	};
	struct mlx5_ep_context *ectx = NULL;
	struct mlx5_ep_qp *eqp;
	u32 uar = MLX5_EP_UAR_UNKNOWN;
	int ret;

	/* Only XRC targets are handles, with nothing of ours behind them. */
	if (qp->qp_type != IB_QPT_XRC_TGT) {
		eqp = mlx5_ep_qp_of(edev, qp);
		ectx = eqp ? eqp->ectx : NULL;
	}
	if (ectx) {
		spin_lock(&ectx->lock);
		mlx5_ep_qp_uuar_get(eqp, &resp);
		spin_unlock(&ectx->lock);
	}
	if (methods_has_uar(qp, resp.placer)) {
		ret = mlx5_ep_cmd_query_qp_uar(edev->mdev, qp->qp_num, &uar);
		if (ret)
			return ret;
	}
	resp.uar = uar;
	return uverbs_copy_to_struct_or_zero(
		attrs, MLX5_EP_ATTR_QP_QUERY_UUAR_RESP, &resp, sizeof(resp));
}

DECLARE_UVERBS_NAMED_METHOD(
	MLX5_EP_METHOD_QUERY_FEATURES,
	UVERBS_ATTR_PTR_OUT(MLX5_EP_ATTR_QUERY_FEATURES_RESP,
			    UVERBS_ATTR_STRUCT(struct mlx5_ep_features,
					       uar_in_use),
			    UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	MLX5_EP_METHOD_CONTEXT_SET_POLICY,
	UVERBS_ATTR_PTR_IN(MLX5_EP_ATTR_CONTEXT_SET_POLICY_REQ,
			   UVERBS_ATTR_STRUCT(struct mlx5_ep_context_policy,
					      reserved),
			   UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	MLX5_EP_METHOD_CONTEXT_QUERY,
	UVERBS_ATTR_PTR_OUT(MLX5_EP_ATTR_CONTEXT_QUERY_RESP,
			    UVERBS_ATTR_STRUCT(struct mlx5_ep_context_info,
					       shared_uuars),
			    UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	MLX5_EP_METHOD_CONTEXT_DUMP,
	UVERBS_ATTR_PTR_OUT(MLX5_EP_ATTR_CONTEXT_DUMP_RESP_UUARS,
			    UVERBS_ATTR_MIN_SIZE(0),
			    UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MLX5_EP_ATTR_CONTEXT_DUMP_RESP_COUNT,
			    UVERBS_ATTR_TYPE(__u32),
			    UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(MLX5_EP_ATTR_CONTEXT_DUMP_ENTRY_SIZE,
			   UVERBS_ATTR_TYPE(__u32),
			   UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	MLX5_EP_METHOD_QP_QUERY_UUAR,
	UVERBS_ATTR_IDR(MLX5_EP_ATTR_QP_QUERY_UUAR_HANDLE, UVERBS_OBJECT_QP,
			UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MLX5_EP_ATTR_QP_QUERY_UUAR_RESP,
			    UVERBS_ATTR_STRUCT(struct mlx5_ep_qp_uuar,
					       page_qps),
			    UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	MLX5_EP_METHOD_QP_LIST,
	UVERBS_ATTR_PTR_IN(MLX5_EP_ATTR_QP_LIST_FIRST,
			   UVERBS_ATTR_TYPE(__u32),
			   UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MLX5_EP_ATTR_QP_LIST_RESP_QPS,
			    UVERBS_ATTR_MIN_SIZE(0),
			    UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MLX5_EP_ATTR_QP_LIST_RESP_COUNT,
			    UVERBS_ATTR_TYPE(__u32),
			    UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(MLX5_EP_ATTR_QP_LIST_ENTRY_SIZE,
			   UVERBS_ATTR_TYPE(__u32),
			   UA_MANDATORY));

ADD_UVERBS_METHODS(mlx5_ep_device, UVERBS_OBJECT_DEVICE,
		   &UVERBS_METHOD(MLX5_EP_METHOD_QUERY_FEATURES),
		   &UVERBS_METHOD(MLX5_EP_METHOD_CONTEXT_SET_POLICY),
		   &UVERBS_METHOD(MLX5_EP_METHOD_CONTEXT_QUERY),
		   &UVERBS_METHOD(MLX5_EP_METHOD_CONTEXT_DUMP));

ADD_UVERBS_METHODS(mlx5_ep_qp, UVERBS_OBJECT_QP,
		   &UVERBS_METHOD(MLX5_EP_METHOD_QP_LIST),
		   &UVERBS_METHOD(MLX5_EP_METHOD_QP_QUERY_UUAR));

const struct uapi_definition mlx5_ep_device_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &mlx5_ep_device),
	{},
};

const struct uapi_definition mlx5_ep_qp_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_QP, &mlx5_ep_qp),
	{},
};
