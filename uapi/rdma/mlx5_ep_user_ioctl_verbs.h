/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * Structures and flags of mlx5_ep's uverbs methods; the ids are in
 * mlx5_ep_user_ioctl_cmds.h.
 */

#ifndef MLX5_EP_USER_IOCTL_VERBS_H
#define MLX5_EP_USER_IOCTL_VERBS_H

#include <linux/types.h>

/**
 * DOC: General rules
 *
 * Structures grow at the end only. A caller hands in at least what the first
 * version had. An input may be longer than the kernel knows when the rest is
 * zero (EOPNOTSUPP when not); of a longer output the rest is zeroed, of a
 * shorter one what does not fit is cut off. Outputs are written on success only.
 * Unknown flags and reserved fields that are not zero are refused, so that they
 * can get a meaning later.
 *
 * Entries of an array grow at the end too: the caller says how long an entry is
 * in its header, and each entry of the answer is cut off or filled up with
 * zeroes to that length.
 *
 * These errno mean the same in every method:
 *
 * EINVAL: a field is out of range, a flag is unknown, a reserved field is set,
 * an attribute is missing or too short.
 *
 * EFAULT: an address of the caller's cannot be read or written.
 *
 * ENOENT: the handle names no object of this context and type.
 *
 * EBUSY: the state of the object forbids it now; the method says which state.
 *
 * EOPNOTSUPP: the object is of a kind that cannot do this, ever.
 *
 * ENOSPC: a strict policy has no uUAR left at its level.
 *
 * EDQUOT: a limit that the administrator set is reached; or at open, the policy is
 * strict and the device has no UAR page left.
 *
 * ENOMEM: no memory.
 *
 * EIO: the device is gone, or its firmware failed the command.
 *
 * ENOTTY, EPROTONOSUPPORT: uverbs does not know the object or method: no
 * mlx5_ep on this device, or an older one.
 */

/**
 * enum mlx5_ep_uuar_policy - who decides which uUAR a QP rings, and how
 * @MLX5_EP_UUAR_POLICY_STOCK: mlx5_ib and libmlx5, as without mlx5_ep
 * @MLX5_EP_UUAR_POLICY_INDEPENDENT: each QP a UAR page of its own while there
 *	are pages; then the second uUAR of a page; then the least shared uUAR
 * @MLX5_EP_UUAR_POLICY_SHARED_UAR: both uUARs of a page before the next page;
 *	then the least shared uUAR
 * @MLX5_EP_UUAR_POLICY_SHARED_UUAR: QPs share uUARs evenly
 */
enum mlx5_ep_uuar_policy {
	MLX5_EP_UUAR_POLICY_STOCK,
	MLX5_EP_UUAR_POLICY_INDEPENDENT,
	MLX5_EP_UUAR_POLICY_SHARED_UAR,
	MLX5_EP_UUAR_POLICY_SHARED_UUAR,
};

/* POLICY(value, name) for each policy. Everything that names policies uses the name. */
#define MLX5_EP_UUAR_POLICIES(POLICY) \
	POLICY(MLX5_EP_UUAR_POLICY_STOCK, "stock") \
	POLICY(MLX5_EP_UUAR_POLICY_INDEPENDENT, "independent") \
	POLICY(MLX5_EP_UUAR_POLICY_SHARED_UAR, "shared-uar") \
	POLICY(MLX5_EP_UUAR_POLICY_SHARED_UUAR, "shared-uuar")

/**
 * enum mlx5_ep_policy_source - why a context has the policy that it has
 * @MLX5_EP_POLICY_SOURCE_DEVICE: the device's attributes in sysfs
 * @MLX5_EP_POLICY_SOURCE_EXEMPT: the program is named in uuar_exempt
 * @MLX5_EP_POLICY_SOURCE_CGROUP: the cgroup of the opener, or one above it
 * @MLX5_EP_POLICY_SOURCE_PROCESS: an open context of the same process asked so,
 *	with %MLX5_EP_POLICY_LATER_OPENS
 * @MLX5_EP_POLICY_SOURCE_CONTEXT: %MLX5_EP_METHOD_CONTEXT_SET_POLICY on it
 * @MLX5_EP_POLICY_SOURCE_FALLBACK: another policy was due, but could not be
 *	had: stock instead (the library cannot, no UAR pages or memory left, or
 *	its pages were not mapped before the first QP)
 */
enum mlx5_ep_policy_source {
	MLX5_EP_POLICY_SOURCE_DEVICE,
	MLX5_EP_POLICY_SOURCE_EXEMPT,
	MLX5_EP_POLICY_SOURCE_CGROUP,
	MLX5_EP_POLICY_SOURCE_PROCESS,
	MLX5_EP_POLICY_SOURCE_CONTEXT,
	MLX5_EP_POLICY_SOURCE_FALLBACK,
};

/**
 * enum mlx5_ep_feature - what this mlx5_ep can do
 * @MLX5_EP_FEATURE_UUAR_POLICY: contexts can be managed
 * @MLX5_EP_FEATURE_QUERY_UUAR: %MLX5_EP_METHOD_QP_QUERY_UUAR
 * @MLX5_EP_FEATURE_CONTEXT: %MLX5_EP_METHOD_CONTEXT_QUERY, _DUMP, _SET_POLICY
 * @MLX5_EP_FEATURE_XRC_RCV_QP: %MLX5_EP_OBJECT_XRC_RCV_QP
 * @MLX5_EP_FEATURE_NOTIFIER: %MLX5_EP_OBJECT_NOTIFIER
 * @MLX5_EP_FEATURE_USER_LIMIT: UAR pages are counted per user and can be limited;
 *	uar_user_limit and uar_user_held of struct mlx5_ep_features
 * @MLX5_EP_FEATURE_WATCH_DMABUF: %MLX5_EP_METHOD_NOTIFIER_WATCH_DMABUF; the kernel
 *	tells of dma-bufs that are moved
 */
enum mlx5_ep_feature {
	MLX5_EP_FEATURE_UUAR_POLICY = 1 << 0,
	MLX5_EP_FEATURE_QUERY_UUAR = 1 << 1,
	MLX5_EP_FEATURE_CONTEXT = 1 << 2,
	MLX5_EP_FEATURE_XRC_RCV_QP = 1 << 3,
	MLX5_EP_FEATURE_NOTIFIER = 1 << 4,
	MLX5_EP_FEATURE_USER_LIMIT = 1 << 5,
	MLX5_EP_FEATURE_WATCH_DMABUF = 1 << 6,
};

/**
 * struct mlx5_ep_features - answer of %MLX5_EP_METHOD_QUERY_FEATURES
 * @abi_version: MLX5_EP_ABI_VERSION of the kernel
 * @policies: bit n is set when policy n of enum mlx5_ep_uuar_policy is known
 * @features: of enum mlx5_ep_feature
 * @max_context_pages: most static UAR pages of a managed context
 * @uar_pages: UAR pages that the device has, all users together
 * @uar_budget: pages that all managed contexts may hold; 0: three quarters of
 *	@uar_pages
 * @uar_in_use: pages that they hold now
 * @uar_user_limit: pages that one user may hold on the device; 0: no limit
 * @uar_user_held: pages that the user who opened this context holds
 */
struct mlx5_ep_features {
	__u32 abi_version;
	__u32 policies;
	__aligned_u64 features;
	__u32 max_context_pages;
	__u32 uar_pages;
	__u32 uar_budget;
	__u32 uar_in_use;
	__u32 uar_user_limit;
	__u32 uar_user_held;
};

/**
 * enum mlx5_ep_policy_flags - flags of struct mlx5_ep_context_policy
 * @MLX5_EP_POLICY_STRICT: fail the creation of a QP (ENOSPC) rather than give
 *	it a uUAR of the next level; fail an open (EDQUOT) for which the device
 *	has no UAR page left
 * @MLX5_EP_POLICY_LATER_OPENS: leave this context as it is; the policy is for
 *	the contexts that this process opens on this device later, for as long
 *	as this context stays open; what the process asked for last holds
 */
enum mlx5_ep_policy_flags {
	MLX5_EP_POLICY_STRICT = 1 << 0,
	MLX5_EP_POLICY_LATER_OPENS = 1 << 1,
};

/**
 * struct mlx5_ep_context_policy - request of %MLX5_EP_METHOD_CONTEXT_SET_POLICY
 * @policy: of enum mlx5_ep_uuar_policy
 * @flags: of enum mlx5_ep_policy_flags
 * @pages: with %MLX5_EP_POLICY_LATER_OPENS, static UAR pages to ask for, at most 256;
 *	0: as many as for the device. Without it 0: an open context keeps its pages.
 * @reserved: 0
 *
 * EBUSY: the context has or had a QP already. EOPNOTSUPP: this context's
 * library places its QPs by itself, because it was opened under policy stock;
 * only stock can be set on it (and is: nothing changes).
 */
struct mlx5_ep_context_policy {
	__u32 policy;
	__u32 flags;
	__u32 pages;
	__u32 reserved;
};

/**
 * enum mlx5_ep_context_flags - flags of struct mlx5_ep_context_info
 * @MLX5_EP_CONTEXT_MANAGED: the policy places this context's QPs. Without it
 *	the context is observed: the library or mlx5_ib places them.
 * @MLX5_EP_CONTEXT_STRICT: the policy is strict
 * @MLX5_EP_CONTEXT_STATIC: UAR pages were allocated when it was opened
 */
enum mlx5_ep_context_flags {
	MLX5_EP_CONTEXT_MANAGED = 1 << 0,
	MLX5_EP_CONTEXT_STRICT = 1 << 1,
	MLX5_EP_CONTEXT_STATIC = 1 << 2,
};

/**
 * struct mlx5_ep_context_info - answer of %MLX5_EP_METHOD_CONTEXT_QUERY
 * @policy: of enum mlx5_ep_uuar_policy
 * @flags: of enum mlx5_ep_context_flags
 * @source: of enum mlx5_ep_policy_source
 * @pid: who opened it, as the caller's pid namespace numbers it; 0: it has no number there
 * @static_pages: static pages, as the library counts them
 * @dynamic_pages: UAR pages that the library allocated since it was opened
 * @low_latency: uUARs that the library rings without a lock, at the top
 * @qps: QPs of the context
 * @placed_qps: of these, the ones that the policy placed
 * @used_pages: pages with a placed QP
 * @used_uuars: uUARs with a placed QP
 * @shared_uuars: uUARs with more than one
 * @held_pages: UAR pages that the context has in the device. Of the static pages of
 *	a managed context these are the first one and those on which a QP was placed
 * @reserved: 0
 */
struct mlx5_ep_context_info {
	__u32 policy;
	__u32 flags;
	__u32 source;
	__u32 pid;
	__u32 static_pages;
	__u32 dynamic_pages;
	__u32 low_latency;
	__u32 qps;
	__u32 placed_qps;
	__u32 used_pages;
	__u32 used_uuars;
	__u32 shared_uuars;
	__u32 held_pages;
	__u32 reserved;
};

/**
 * enum mlx5_ep_uuar_flags - what libmlx5 does with a uUAR
 * @MLX5_EP_UUAR_LOCKED: rings it under a lock, so that QPs may share it
 * @MLX5_EP_UUAR_NO_BLUEFLAME: rings the 64-bit doorbell only
 * @MLX5_EP_UUAR_UNUSABLE: the page was never mapped: nothing is placed there
 * @MLX5_EP_UUAR_PLACED: (of a QP) the policy placed it
 */
enum mlx5_ep_uuar_flags {
	MLX5_EP_UUAR_LOCKED = 1 << 0,
	MLX5_EP_UUAR_NO_BLUEFLAME = 1 << 1,
	MLX5_EP_UUAR_UNUSABLE = 1 << 2,
	MLX5_EP_UUAR_PLACED = 1 << 3,
};

/**
 * struct mlx5_ep_uuar_info - one entry of %MLX5_EP_METHOD_CONTEXT_DUMP
 * @uar: the UAR page, as the device numbers it
 * @page: the static page of the context, from 0
 * @slot: uUAR of the page: 0 or 1
 * @flags: of enum mlx5_ep_uuar_flags
 * @qps: QPs placed on it
 * @reserved: 0
 *
 * The array is cut to what the caller's buffer takes. EOPNOTSUPP: the context
 * is observed and has no table.
 */
struct mlx5_ep_uuar_info {
	__u32 uar;
	__u16 page;
	__u8 slot;
	__u8 flags;
	__u32 qps;
	__u32 reserved;
};

/**
 * enum mlx5_ep_placer - who chose the uUAR of a QP
 * @MLX5_EP_PLACER_DRIVER: mlx5_ib
 * @MLX5_EP_PLACER_POLICY: the policy of the context
 * @MLX5_EP_PLACER_LIBRARY: libmlx5. In a managed context the QP is in a thread domain
 * @MLX5_EP_PLACER_DEVX: the program, which made the QP or send queue by DevX
 * @MLX5_EP_PLACER_NONE: nobody. A DC target has no send queue and rings no uUAR
 */
enum mlx5_ep_placer {
	MLX5_EP_PLACER_DRIVER,
	MLX5_EP_PLACER_POLICY,
	MLX5_EP_PLACER_LIBRARY,
	MLX5_EP_PLACER_DEVX,
	MLX5_EP_PLACER_NONE,
};

/* Values of struct mlx5_ep_qp_uuar for what is not known. */
#define MLX5_EP_UAR_UNKNOWN 0xffffffffU
#define MLX5_EP_SLOT_UNKNOWN 0xff

/**
 * struct mlx5_ep_qp_uuar - answer of %MLX5_EP_METHOD_QP_QUERY_UUAR
 * @uar: the UAR page that the device accepts doorbells of this QP on, asked of
 *	the device now; %MLX5_EP_UAR_UNKNOWN for a QP that rings none (XRC
 *	target, DC target, RSS), or is several objects (raw packet)
 * @page: static page of the context; %MLX5_EP_UAR_UNKNOWN when not placed
 * @slot: uUAR of the page; %MLX5_EP_SLOT_UNKNOWN where the library chose it and
 *	tells nobody
 * @level: 1: alone on its page, 2: own uUAR on a shared page, 3: shared uUAR,
 *	0: not known, because a QP on the same page may ring either uUAR
 * @flags: of enum mlx5_ep_uuar_flags
 * @placer: of enum mlx5_ep_placer
 * @uuar_qps: QPs on this uUAR, itself included; 0 when not known
 * @page_qps: QPs of the context on this page, itself included; 0 when not known
 * @reserved: 0
 *
 * EIO: the device did not answer.
 */
struct mlx5_ep_qp_uuar {
	__u32 uar;
	__u32 page;
	__u8 slot;
	__u8 level;
	__u8 flags;
	__u8 placer;
	__u32 uuar_qps;
	__u32 page_qps;
	__u32 reserved;
};

/* Value of struct mlx5_ep_qp_info for a number that is not known. */
#define MLX5_EP_QPN_UNKNOWN 0xffffffffU

/**
 * struct mlx5_ep_qp_info - one entry of %MLX5_EP_METHOD_QP_LIST
 * @qpn: number of the QP, or of a send queue that was made without a QP by DevX;
 *	%MLX5_EP_QPN_UNKNOWN for one of DevX whose creator took the number away, until
 *	it is initialised, and for a DC target of verbs before RTR
 * @where: as struct mlx5_ep_qp_uuar says, but @where.uar is the page that was
 *	named at creation
 *
 * @where grows as struct mlx5_ep_qp_uuar does; other fields come from @reserved.
 *
 * The list has the QPs of the context in the order of their creation, as many as the
 * buffer takes. QPs created or destroyed during the call may be in it; none is twice.
 */
struct mlx5_ep_qp_info {
	__u32 qpn;
	__u32 reserved[3];
	struct mlx5_ep_qp_uuar where;
};

/**
 * DOC: Watches of dma-bufs
 *
 * %MLX5_EP_METHOD_NOTIFIER_WATCH_DMABUF watches a range of a dma-buf: memory of
 * another device, or of another process, whose exporter may move or revoke it. The
 * watch lives in a slot of the notifier as others do (rdma/mlx5_ep_notifier.h), and
 * MLX5_EP_IOC_WATCH_DEL deletes it. Its word is armed, and becomes stale before the
 * exporter moves or revokes the memory. It is never suspect. The event has the cause
 * %MLX5_EP_WATCH_CAUSE_DMABUF, and the whole range, since an exporter does not say
 * which part it moves.
 *
 * A watch holds the dma-buf, as a registration does: closing the descriptor neither
 * ends the watch nor frees the memory. Deleting the watch does, and so does the end
 * of the notifier.
 *
 * What a watch cannot see: an exporter that changes the memory and tells nobody; a
 * program that gives memory back to its allocator while a dma-buf of it exists, and
 * gets other memory at the same address. An exporter that pins its memory for each
 * importer never moves it, so the word never changes. If the kernel maps the memory for
 * each importer too (6.12, of an exporter without .pin), the watch holds the dma-buf and
 * is no importer: the exporter is not asked.
 *
 * EINVAL: the range is empty, wraps, is longer than 2^32 - 1 pages or not within the
 * buffer; a flag is unknown; the descriptor is none of a dma-buf.
 *
 * EBADF: the descriptor is not open.
 *
 * EOPNOTSUPP: the kernel tells nobody of dma-bufs that are moved, or the exporter
 * allows no importer of this kind.
 *
 * EDQUOT: the user has as many of these watches as dmabuf_watches_per_user allows.
 *
 * ENOSPC, ENOMEM, EXDEV, EIO: as rdma/mlx5_ep_notifier.h says. Any other errno is the
 * exporter's.
 */

/**
 * struct mlx5_ep_watch_dmabuf - request of %MLX5_EP_METHOD_NOTIFIER_WATCH_DMABUF
 * @offset: first byte in the buffer; rounded down to a page
 * @length: bytes, not 0; the end is rounded up to a page
 * @cookie: returned with each event
 * @fd: of the dma-buf
 * @flags: zero
 */
struct mlx5_ep_watch_dmabuf {
	__aligned_u64 offset;
	__aligned_u64 length;
	__aligned_u64 cookie;
	__s32 fd;
	__u32 flags;
};

/**
 * struct mlx5_ep_watch_dmabuf_resp - its answer
 * @word: the armed word, which names the watch with @slot
 * @slot: index of the word in the mapping
 * @reserved: zero
 */
struct mlx5_ep_watch_dmabuf_resp {
	__aligned_u64 word;
	__u32 slot;
	__u32 reserved;
};

/**
 * DOC: Shared XRC receive QPs
 *
 * An object of type %MLX5_EP_OBJECT_XRC_RCV_QP is one registration with a receive
 * QP (XRC target) of an XRC domain. The QP lives while it has a registration,
 * whoever created it. When a user context ends, for whatever reason, its registrations
 * end. While a registration made through an XRCD handle lives, closing that handle is
 * refused with EBUSY.
 *
 * Upstream's call creates the QP. REG registers with the QP of a number, GET with the QP
 * of a key. If there is none, the QP that the caller offers gets the key: of any number of
 * racing callers one gives the key to its QP, and all register with it. The caller destroys
 * its own handle of the QP that it offered. UNREG ends a registration.
 *
 * ENOENT: (REG) the domain has no QP of that number; (GET with a flag) none of that key; the
 * handle offered names none. EOPNOTSUPP: (GET without a flag) none of that key, none is offered.
 * EEXIST: (GET) the QP that is offered has another key.
 * EDQUOT: a limit on the registrations or QPs of the user, or the QPs of the device.
 * EINVAL: the key is empty or longer than MLX5_EP_XRC_KEY_MAX; the QP that is offered is
 * no XRC target, of another domain, not in the state RESET, or comes with a flag; an
 * attribute of MODIFY is out of range, or IBA forbids the transition.
 * EISCONN: (MODIFY to RTR) the QP is connected to another remote QP than asked for.
 * EBUSY: (UNREG) another call is using this registration. EXDEV: as for a notifier's file.
 * EIO: the device was removed, and the registration ended. UNREG succeeds. Any other errno
 * is that of ib_core: of its security hooks, or of the address that MODIFY resolves.
 */

#define MLX5_EP_XRC_KEY_MAX 64

/**
 * enum mlx5_ep_xrc_rcv_qp_get_flags - flags of GET
 * @MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY: only join a QP that is there
 * @MLX5_EP_XRC_RCV_QP_GET_ANNOUNCE: the same; if there is none, the caller offers one next.
 *	If another caller has announced one, wait for it, some 20 ms at most
 */
enum mlx5_ep_xrc_rcv_qp_get_flags {
	MLX5_EP_XRC_RCV_QP_GET_JOIN_ONLY = 1 << 0,
	MLX5_EP_XRC_RCV_QP_GET_ANNOUNCE = 1 << 1,
};

/**
 * enum mlx5_ep_xrc_rcv_qp_reg_flags - flags of struct mlx5_ep_xrc_rcv_qp_reg
 * @MLX5_EP_XRC_RCV_QP_REG_CREATED: this call gave the key to the QP that it offered
 */
enum mlx5_ep_xrc_rcv_qp_reg_flags {
	MLX5_EP_XRC_RCV_QP_REG_CREATED = 1 << 0,
};

/**
 * struct mlx5_ep_xrc_rcv_qp_reg - answer of GET
 * @qp_num: the QP's number
 * @flags: of enum mlx5_ep_xrc_rcv_qp_reg_flags
 */
struct mlx5_ep_xrc_rcv_qp_reg {
	__u32 qp_num;
	__u32 flags;
};

/**
 * enum mlx5_ep_xrc_rcv_qp_modify_flags - flags of struct mlx5_ep_xrc_rcv_qp_modify
 * @MLX5_EP_XRC_RCV_QP_MODIFY_ALREADY: another registrant had already brought
 *	the QP to the state asked for; nothing was changed
 */
enum mlx5_ep_xrc_rcv_qp_modify_flags {
	MLX5_EP_XRC_RCV_QP_MODIFY_ALREADY = 1 << 0,
};

/**
 * struct mlx5_ep_xrc_rcv_qp_modify - answer of MODIFY
 * @qp_state: enum ib_qp_state that the QP is in now
 * @flags: of enum mlx5_ep_xrc_rcv_qp_modify_flags
 *
 * Calls for one QP are carried out one after another. If another registrant
 * was faster, a request for INIT, RTR or RTS finds the QP in that state or in a
 * later one of them. That is success, with %MLX5_EP_XRC_RCV_QP_MODIFY_ALREADY.
 * A request for RTR that has IB_QP_DEST_QPN in its mask is EISCONN instead if
 * the QP is connected to another number; with IB_QP_AV in the mask, also if it is connected
 * to another port: another GID, or another LID where not both paths have a GID.
 *
 * With IB_QP_CUR_STATE in the mask the caller insists on a transition from that
 * state. Without IB_QP_STATE, attributes change and the state does not. As
 * upstream, attributes that only a sender has are ignored:
 * IB_QP_MAX_QP_RD_ATOMIC, IB_QP_RETRY_CNT, IB_QP_RNR_RETRY.
 */
struct mlx5_ep_xrc_rcv_qp_modify {
	__u32 qp_state;
	__u32 flags;
};

/**
 * struct mlx5_ep_xrc_rcv_qp_info - answer of QUERY
 * @qp_num: the QP's number
 * @qp_state: enum ib_qp_state, asked of the device now
 * @registrants: registrations with it, of all processes
 * @key_len: bytes of @key; 0 for a QP without one
 * @key: what GET found it by
 */
struct mlx5_ep_xrc_rcv_qp_info {
	__u32 qp_num;
	__u32 qp_state;
	__u32 registrants;
	__u32 key_len;
	__u8 key[MLX5_EP_XRC_KEY_MAX];
};

#endif
