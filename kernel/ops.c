// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The operations of the ib_device that mlx5_ep wraps.
 *
 * Each wrapper calls the driver's own operation exactly once. There is one
 * exception, opening: open.c first asks the driver whether it serves requests, and
 * if the driver refuses a rewritten request, open.c repeats it as the caller asked
 * for it. Requests are rewritten only for a context that is to be
 * managed. That of create_qp gets MLX5_QP_FLAG_UAR_PAGE_INDEX and the number of a
 * static page of the same context, as the driver's answer bfreg_index of a uUAR
 * there.
 *
 * The wrappers never change calls of kernel users (no udata), QPs for which the
 * library named a page or uUAR itself (thread domains), or QPs without a send
 * queue of their own (XRC and DC targets, RSS).
 *
 * Our side of a context and of a QP lies behind the driver's, in the same
 * allocation: attaching raises the sizes that the core allocates. A QP that was
 * created before the device was attached lacks our side. Users' QPs are always
 * created later, so the wrappers look only at QPs with a uobject. They ignore
 * XRC target QPs, which can outlive the context that created them.
 */

#include <linux/module.h>
#include <linux/uaccess.h>
#include <rdma/mlx5-abi.h>

#include "compat/compat.h"
#include "device.h"
#include "open.h"
#include "ops.h"
#include "request.h"
#include "trace.h"
#include "uuar/context.h"
#include "uuar/context_pages.h"
#include "uuar/qp_uuar.h"
#include "uuar/uar_map.h"
#include "xrc/xrc.h"

/* What mlx5_ib answers for bfreg_index when the request named the page. */
#define INVALID_BFREG BIT(31)
/* bfregs per page as libmlx5 numbers them; the upper two are not used. */
#define BFREGS_PER_PAGE 4

static int ep_alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata)
{
	struct mlx5_ep_device *edev = mlx5_ep_device_find(uctx->device);
	struct mlx5_ep_request request;
	int ret;

	ret = mlx5_ep_request_begin(&request, udata);
	if (ret)
		return ret;
	ret = mlx5_ep_open(mlx5_ep_context_of(edev, uctx), uctx, &request);
	mlx5_ep_request_end(&request);
	return ret;
}

static void ep_dealloc_ucontext(struct ib_ucontext *uctx)
{
	struct mlx5_ep_device *edev = mlx5_ep_device_find(uctx->device);

	edev->stock.dealloc_ucontext(uctx);
	mlx5_ep_context_close(mlx5_ep_context_of(edev, uctx));
}

static int ep_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma)
{
	struct mlx5_ep_device *edev = mlx5_ep_device_find(uctx->device);

	return mlx5_ep_uar_map(mlx5_ep_context_of(edev, uctx), uctx, vma);
}

static void ep_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct ib_ucontext *uctx = entry->ucontext;
	struct mlx5_ep_device *edev = mlx5_ep_device_find(uctx->device);
	struct mlx5_ep_context *ectx = mlx5_ep_context_of(edev, uctx);
	bool counted = mlx5_ep_context_untrack_page(ectx, entry);

	edev->stock.mmap_free(entry);
	if (counted)
		mlx5_ep_context_uncharge_page(ectx);
}

/* The consecutive fields of struct mlx5_ib_create_qp that matter here. */
struct qp_request {
	__u32 flags;
	__u32 uidx;
	__u32 bfreg_index;
};

#define QP_REQUEST_OFFSET offsetof(struct mlx5_ib_create_qp, flags)

static_assert(offsetof(struct mlx5_ib_create_qp, bfreg_index) ==
	      offsetof(struct mlx5_ib_create_qp, flags) +
		      offsetof(struct qp_request, bfreg_index));

/* Does mlx5_ib choose a uUAR for such a QP? */
static bool wants_uuar(const struct ib_qp_init_attr *attr,
		       const struct qp_request *req)
{
	return !(req->flags & (MLX5_QP_FLAG_UAR_PAGE_INDEX |
			       MLX5_QP_FLAG_BFREG_INDEX)) &&
	       /* mlx5_ib refuses this flag, unless the request names a page */
	       !(attr->create_flags & IB_QP_CREATE_CROSS_CHANNEL);
}

/* If the driver confirms that it used our page, tell the library the uUAR. */
static int answer_uuar(struct ib_udata *udata, unsigned int uuar)
{
	__u32 __user *bfreg_index = udata->outbuf;
	__u32 answer;

	if (udata->outlen < sizeof(answer))
		return 0;
	if (get_user(answer, bfreg_index) || answer != INVALID_BFREG)
		return -EFAULT;
	answer = uuar / MLX5_EP_UUARS_PER_PAGE * BFREGS_PER_PAGE +
		 uuar % MLX5_EP_UUARS_PER_PAGE;
	return put_user(answer, bfreg_index);
}

static int create_placed_qp(struct mlx5_ep_device *edev, struct ib_qp *qp,
			    struct ib_qp_init_attr *attr,
			    struct mlx5_ep_request *request,
			    const struct qp_request *was, u32 uar)
{
	struct ib_udata *udata = request->udata;
	struct qp_request is = {
		.flags = was->flags | MLX5_QP_FLAG_UAR_PAGE_INDEX,
		.uidx = was->uidx,
		.bfreg_index = uar,
	};
	bool intact;
	int ret;

	ret = mlx5_ep_request_patch(request, QP_REQUEST_OFFSET, was, &is,
				    sizeof(is));
	if (ret)
		return ret;
	ret = edev->stock.create_qp(qp, attr, udata);
	intact = mlx5_ep_request_restore(request);
	if (ret)
		return ret;
	ret = intact ? answer_uuar(udata, mlx5_ep_qp_of(edev, qp)->uuar) :
		       -EFAULT;
	if (ret)
		edev->stock.destroy_qp(qp, udata);
	return ret;
}

/*
 * Take a uUAR for a new QP, and make sure that a UAR page is behind it. If
 * another page cannot be allocated, take the best uUAR of the pages that the
 * context has.
 */
static int place_qp(struct mlx5_ep_context *ectx, struct ib_ucontext *uctx,
		    struct mlx5_ep_qp *eqp, u32 *uar)
{
	DECLARE_BITMAP(avoid, MLX5_EP_MAX_PAGES) = { 0 };
	bool closed = false;
	unsigned int page;
	int uuar, ret;

	for (;;) {
		uuar = mlx5_ep_qp_place(ectx, eqp, closed, avoid);
		if (uuar < 0)
			return uuar;
		page = uuar / MLX5_EP_UUARS_PER_PAGE;
		ret = mlx5_ep_uar_back(ectx, uctx, page, uar);
		if (!ret) {
			mlx5_ep_qp_placed(eqp, *uar);
			return uuar;
		}
		mlx5_ep_qp_unplace(eqp);
		if (ret == -EINTR)
			return ret;
		/*
		 * No page is tried twice, so this ends. After -ENXIO the policy may
		 * choose another empty page. After any other error no page can be
		 * allocated.
		 */
		__set_bit(page, avoid);
		closed |= ret != -ENXIO;
		trace_mlx5_ep_policy_refused(ectx, ret);
	}
}

/* Note a QP that the policy did not place, and where its library put it. */
static void note_qp(struct mlx5_ep_context *ectx, struct mlx5_ep_qp *eqp,
		    const struct qp_request *req)
{
	enum mlx5_ep_placer placer = MLX5_EP_PLACER_LIBRARY;
	u32 uar = MLX5_EP_UAR_UNKNOWN;
	u8 slot = MLX5_EP_SLOT_UNKNOWN;

	if (req->flags & MLX5_QP_FLAG_UAR_PAGE_INDEX) {
		uar = req->bfreg_index;
	} else if (req->flags & MLX5_QP_FLAG_BFREG_INDEX) {
		uar = mlx5_ep_uar_dynamic(ectx, req->bfreg_index);
		slot = req->bfreg_index % MLX5_EP_UUARS_PER_PAGE;
	} else {
		placer = MLX5_EP_PLACER_DRIVER;
	}
	mlx5_ep_qp_note(ectx, eqp, placer, uar, slot);
}

static int create_users_qp(struct mlx5_ep_device *edev, struct ib_qp *qp,
			   struct ib_qp_init_attr *attr,
			   struct mlx5_ep_request *request)
{
	struct ib_udata *udata = request->udata;
	struct mlx5_ep_context *ectx;
	struct ib_ucontext *uctx;
	struct qp_request req;
	struct mlx5_ep_qp *eqp;
	u32 uar;
	int ret;

	if (attr->rwq_ind_tbl || attr->qp_type == IB_QPT_XRC_TGT ||
	    udata->inlen < QP_REQUEST_OFFSET + sizeof(req) ||
	    copy_from_user(&req, udata->inbuf + QP_REQUEST_OFFSET,
			   sizeof(req)) ||
	    /* a DC target has no send queue and rings nothing */
	    req.flags & MLX5_QP_FLAG_TYPE_DCT)
		return edev->stock.create_qp(qp, attr, udata);

	uctx = rdma_udata_to_uverbs_attr_bundle(udata)->context;
	ectx = mlx5_ep_context_of(edev, uctx);
	eqp = mlx5_ep_qp_of(edev, qp);
	eqp->qp = qp;
	if (ectx->table && wants_uuar(attr, &req)) {
		ret = place_qp(ectx, uctx, eqp, &uar);
		if (ret >= 0) {
			ret = create_placed_qp(edev, qp, attr, request, &req,
					       uar);
			if (ret)
				mlx5_ep_qp_release(eqp);
			else
				trace_mlx5_ep_qp_placed(eqp);
			return ret;
		}
		if (ret != -EOPNOTSUPP)
			return ret;
	}

	ret = edev->stock.create_qp(qp, attr, udata);
	if (!ret)
		note_qp(ectx, eqp, &req);
	return ret;
}

static int ep_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr,
			struct ib_udata *udata)
{
	struct mlx5_ep_device *edev = mlx5_ep_device_find(qp->device);
	struct mlx5_ep_request request;
	int ret;

	if (!udata || !qp->uobject)
		return edev->stock.create_qp(qp, attr, udata);
	ret = mlx5_ep_request_begin(&request, udata);
	if (ret)
		return ret;
	ret = create_users_qp(edev, qp, attr, &request);
	mlx5_ep_request_end(&request);
	return ret;
}

static int ep_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	struct mlx5_ep_device *edev = mlx5_ep_device_find(qp->device);
	struct mlx5_ep_qp *eqp = NULL;
	int ret;

	if (qp->uobject)
		eqp = mlx5_ep_qp_of(edev, qp);
	ret = edev->stock.destroy_qp(qp, udata);
	if (!ret && eqp && eqp->ectx)
		mlx5_ep_qp_release(eqp);
	return ret;
}

/* A context ends. Only some kernels have this operation, see xrc_domain.c. */
static void ep_ufile_hw_cleanup(struct ib_uverbs_file *ufile)
{
	struct mlx5_ep_device *edev =
		mlx5_ep_device_find(compat_ufile_device(ufile));

	mlx5_ep_xrc_ufile_cleanup(edev->xrc, ufile);
	edev->stock.ufile_hw_cleanup(ufile);
}

/*
 * Are the operations that will be wrapped those of the driver? Another module may have
 * put its own in their place. When it leaves, pointers to these would lead nowhere.
 */
static bool ops_are_stock(const struct ib_device *ibdev,
			  const compat_ufile_hw_cleanup_fn *cleanup)
{
	const struct ib_device_ops *ops = &ibdev->ops;
	const void *const wrapped[] = {
		ops->create_qp, ops->destroy_qp, ops->alloc_ucontext,
		ops->dealloc_ucontext, ops->mmap, ops->mmap_free,
		cleanup ? *cleanup : NULL,
	};
	size_t i;

	/* A driver that is built in has no module, and what it has is not known. */
	for (i = 0; ops->owner && i < ARRAY_SIZE(wrapped); i++)
		if (wrapped[i] &&
		    !within_module((unsigned long)wrapped[i], ops->owner))
			return false;
	return true;
}

/**
 * mlx5_ep_ops_wrap() - wrap the operations of a device
 * @edev: device that nobody uses yet
 *
 * Return: 0; -ENODEV, with the reason noted and nothing changed
 */
int mlx5_ep_ops_wrap(struct mlx5_ep_device *edev)
{
	struct ib_device *ibdev = edev->ibdev;
	compat_ufile_hw_cleanup_fn *cleanup =
		compat_ufile_hw_cleanup(&ibdev->ops);
	struct mlx5_ep_stock *stock = &edev->stock;

	if (!ibdev->ops.create_qp || !ibdev->ops.destroy_qp ||
	    !ibdev->ops.alloc_ucontext || !ibdev->ops.dealloc_ucontext ||
	    !ibdev->ops.mmap)
		return mlx5_ep_device_refuse(edev,
					     "an operation is missing");
	if (ibdev->ops.size_ib_ucontext < sizeof(struct ib_ucontext) ||
	    ibdev->ops.size_ib_qp < sizeof(struct ib_qp))
		return mlx5_ep_device_refuse(edev,
					     "the driver allocates its QPs itself");
	if (!ops_are_stock(ibdev, cleanup))
		return mlx5_ep_device_refuse(edev,
					     "another module has changed its operations");

	stock->create_qp = ibdev->ops.create_qp;
	stock->destroy_qp = ibdev->ops.destroy_qp;
	stock->alloc_ucontext = ibdev->ops.alloc_ucontext;
	stock->dealloc_ucontext = ibdev->ops.dealloc_ucontext;
	stock->mmap = ibdev->ops.mmap;
	stock->mmap_free = ibdev->ops.mmap_free;
	stock->size_ib_ucontext = ibdev->ops.size_ib_ucontext;
	stock->size_ib_qp = ibdev->ops.size_ib_qp;

	if (cleanup && *cleanup) {
		stock->ufile_hw_cleanup = *cleanup;
		*cleanup = ep_ufile_hw_cleanup;
	}
	ibdev->ops.create_qp = ep_create_qp;
	ibdev->ops.destroy_qp = ep_destroy_qp;
	ibdev->ops.alloc_ucontext = ep_alloc_ucontext;
	ibdev->ops.dealloc_ucontext = ep_dealloc_ucontext;
	ibdev->ops.mmap = ep_mmap;
	if (ibdev->ops.mmap_free)
		ibdev->ops.mmap_free = ep_mmap_free;
	ibdev->ops.size_ib_ucontext =
		mlx5_ep_context_offset(edev) + sizeof(struct mlx5_ep_context);
	ibdev->ops.size_ib_qp =
		mlx5_ep_qp_offset(edev) + sizeof(struct mlx5_ep_qp);
	return 0;
}

/* What another module has restored already is left alone, see uverbs_tree.c. */
#define RESTORE(_op)                                                           \
	do {                                                                   \
		if (ibdev->ops._op == ep_##_op)                                \
			ibdev->ops._op = edev->stock._op;                      \
	} while (0)

/**
 * mlx5_ep_ops_unwrap() - restore the operations of a device
 * @edev: device that nobody uses any more
 */
void mlx5_ep_ops_unwrap(struct mlx5_ep_device *edev)
{
	struct ib_device *ibdev = edev->ibdev;
	compat_ufile_hw_cleanup_fn *cleanup =
		compat_ufile_hw_cleanup(&ibdev->ops);

	if (cleanup && *cleanup == ep_ufile_hw_cleanup)
		*cleanup = edev->stock.ufile_hw_cleanup;
	RESTORE(create_qp);
	RESTORE(destroy_qp);
	RESTORE(alloc_ucontext);
	RESTORE(dealloc_ucontext);
	RESTORE(mmap);
	RESTORE(mmap_free);
	ibdev->ops.size_ib_ucontext = edev->stock.size_ib_ucontext;
	ibdev->ops.size_ib_qp = edev->stock.size_ib_qp;
}
