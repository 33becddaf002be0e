/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * Ids of mlx5_ep: uverbs objects, methods and attributes. The structures and
 * the meaning of each errno are in mlx5_ep_user_ioctl_verbs.h.
 *
 * All ids are in the driver's namespace of an mlx5 device. User space learns
 * from /sys/class/infiniband/<device>/mlx5_ep/uverbs_ids which of them are
 * there; it never probes, since on a device without mlx5_ep another method may
 * own the id.
 */

#ifndef MLX5_EP_USER_IOCTL_CMDS_H
#define MLX5_EP_USER_IOCTL_CMDS_H

#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>

/* Read from sysfs (abi_version); a change that breaks a caller raises it. */
#define MLX5_EP_ABI_VERSION 1

/* Objects: mlx5_ib owns 0 to 9 of the twelve that a driver may have. */
enum mlx5_ep_objects {
	MLX5_EP_OBJECT_XRC_RCV_QP = (1U << UVERBS_ID_NS_SHIFT) + 10,
	MLX5_EP_OBJECT_NOTIFIER,
};

/*
 * Methods added to UVERBS_OBJECT_DEVICE. mlx5_ib counts up from 0 of eight, so
 * these count down from 7.
 */
enum mlx5_ep_device_methods {
	MLX5_EP_METHOD_CONTEXT_DUMP = (1U << UVERBS_ID_NS_SHIFT) + 4,
	MLX5_EP_METHOD_CONTEXT_QUERY,
	MLX5_EP_METHOD_CONTEXT_SET_POLICY,
	MLX5_EP_METHOD_QUERY_FEATURES,
};

/* Methods added to UVERBS_OBJECT_QP. */
enum mlx5_ep_qp_methods {
	MLX5_EP_METHOD_QP_LIST = (1U << UVERBS_ID_NS_SHIFT) + 6,
	MLX5_EP_METHOD_QP_QUERY_UUAR,
};

enum mlx5_ep_query_features_attrs {
	/* out: struct mlx5_ep_features */
	MLX5_EP_ATTR_QUERY_FEATURES_RESP = (1U << UVERBS_ID_NS_SHIFT),
};

enum mlx5_ep_context_set_policy_attrs {
	/* in: struct mlx5_ep_context_policy */
	MLX5_EP_ATTR_CONTEXT_SET_POLICY_REQ = (1U << UVERBS_ID_NS_SHIFT),
};

enum mlx5_ep_context_query_attrs {
	/* out: struct mlx5_ep_context_info */
	MLX5_EP_ATTR_CONTEXT_QUERY_RESP = (1U << UVERBS_ID_NS_SHIFT),
};

enum mlx5_ep_context_dump_attrs {
	/* out: array of struct mlx5_ep_uuar_info, by static bfreg index */
	MLX5_EP_ATTR_CONTEXT_DUMP_RESP_UUARS = (1U << UVERBS_ID_NS_SHIFT),
	/* out: __u32, entries that the context's table has */
	MLX5_EP_ATTR_CONTEXT_DUMP_RESP_COUNT,
	/* in: __u32, size of an entry in the calling program */
	MLX5_EP_ATTR_CONTEXT_DUMP_ENTRY_SIZE,
};

enum mlx5_ep_qp_query_uuar_attrs {
	/* in: handle of the QP */
	MLX5_EP_ATTR_QP_QUERY_UUAR_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	/* out: struct mlx5_ep_qp_uuar */
	MLX5_EP_ATTR_QP_QUERY_UUAR_RESP,
};

enum mlx5_ep_qp_list_attrs {
	/* in: __u32, QPs to pass over: 0 begins with the oldest */
	MLX5_EP_ATTR_QP_LIST_FIRST = (1U << UVERBS_ID_NS_SHIFT),
	/* out: array of struct mlx5_ep_qp_info */
	MLX5_EP_ATTR_QP_LIST_RESP_QPS,
	/* out: __u32, QPs that the context has */
	MLX5_EP_ATTR_QP_LIST_RESP_COUNT,
	/* in: __u32, size of an entry in the calling program */
	MLX5_EP_ATTR_QP_LIST_ENTRY_SIZE,
};

/* Methods of MLX5_EP_OBJECT_NOTIFIER; its file: rdma/mlx5_ep_notifier.h */
enum mlx5_ep_notifier_methods {
	MLX5_EP_METHOD_NOTIFIER_CREATE = (1U << UVERBS_ID_NS_SHIFT),
	MLX5_EP_METHOD_NOTIFIER_WATCH_DMABUF,
};

enum mlx5_ep_notifier_create_attrs {
	/* out: file descriptor */
	MLX5_EP_ATTR_NOTIFIER_CREATE_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	/* in, optional: __u32, watches at a time */
	MLX5_EP_ATTR_NOTIFIER_CREATE_CAPACITY,
};

enum mlx5_ep_notifier_watch_dmabuf_attrs {
	/* in: file descriptor of the notifier */
	MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	/* in: struct mlx5_ep_watch_dmabuf */
	MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_REQ,
	/* out: struct mlx5_ep_watch_dmabuf_resp */
	MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_RESP,
};

/*
 * Methods of MLX5_EP_OBJECT_XRC_RCV_QP. Number 0 was CREATE before 0.9.0 was released;
 * it answers EPROTONOSUPPORT, and is not given to another method.
 */
enum mlx5_ep_xrc_rcv_qp_methods {
	MLX5_EP_METHOD_XRC_RCV_QP_REG = (1U << UVERBS_ID_NS_SHIFT) + 1,
	MLX5_EP_METHOD_XRC_RCV_QP_GET,
	MLX5_EP_METHOD_XRC_RCV_QP_MODIFY,
	MLX5_EP_METHOD_XRC_RCV_QP_QUERY,
	MLX5_EP_METHOD_XRC_RCV_QP_UNREG,
};

/*
 * Attributes of REG and GET. uverbs keeps the state of a call on its
 * stack, instead of allocating it, while the attribute ids of the method are few
 * and dense (uapi_compute_bundle_size()); it counts them with those of its two
 * namespaces taking turns, hence ids of both.
 */
enum mlx5_ep_xrc_rcv_qp_reg_attrs {
	/* new: the registration */
	MLX5_EP_ATTR_XRC_RCV_QP_REG_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	/* in: handle of the XRC domain */
	MLX5_EP_ATTR_XRC_RCV_QP_REG_XRCD,
	/* in, optional: file descriptor of a MLX5_EP_OBJECT_NOTIFIER */
	MLX5_EP_ATTR_XRC_RCV_QP_REG_NOTIFIER,
	/* in, optional: __u64, returned with each event; default 0 */
	MLX5_EP_ATTR_XRC_RCV_QP_REG_COOKIE,
	/* out, GET only: struct mlx5_ep_xrc_rcv_qp_reg */
	MLX5_EP_ATTR_XRC_RCV_QP_REG_ANSWER = 0,
	/* in, REG only: __u32, number of the QP to join */
	MLX5_EP_ATTR_XRC_RCV_QP_REG_QP_NUM,
	/* in, GET only, optional: handle of the QP that is offered */
	MLX5_EP_ATTR_XRC_RCV_QP_GET_QP = MLX5_EP_ATTR_XRC_RCV_QP_REG_QP_NUM,
	/* in, GET only: the key, 1 to MLX5_EP_XRC_KEY_MAX bytes */
	MLX5_EP_ATTR_XRC_RCV_QP_REG_KEY,
	/* in, GET only, optional: enum mlx5_ep_xrc_rcv_qp_get_flags */
	MLX5_EP_ATTR_XRC_RCV_QP_REG_FLAGS,
};

enum mlx5_ep_xrc_rcv_qp_modify_attrs {
	/* in: handle of the registration */
	MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	/* in: struct ib_uverbs_qp_attr of rdma/ib_user_verbs.h */
	MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_ATTR,
	/* out, optional: struct mlx5_ep_xrc_rcv_qp_modify */
	MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_ANSWER,
};

enum mlx5_ep_xrc_rcv_qp_query_attrs {
	/* in: handle of the registration */
	MLX5_EP_ATTR_XRC_RCV_QP_QUERY_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	/* out: struct mlx5_ep_xrc_rcv_qp_info */
	MLX5_EP_ATTR_XRC_RCV_QP_QUERY_INFO,
	/* out, optional: struct ib_uverbs_qp_attr of rdma/ib_user_verbs.h */
	MLX5_EP_ATTR_XRC_RCV_QP_QUERY_ATTR,
};

enum mlx5_ep_xrc_rcv_qp_unreg_attrs {
	/* in: handle of the registration, gone afterwards */
	MLX5_EP_ATTR_XRC_RCV_QP_UNREG_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
};

#endif
