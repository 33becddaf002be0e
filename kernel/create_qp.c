// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Creation of users' QPs. The policy of a managed context chooses the uUAR of a
 * QP. The request then gets MLX5_QP_FLAG_UAR_PAGE_INDEX and the number of a static
 * page of the same context, and the driver's answer gets the bfreg_index of a uUAR
 * there.
 *
 * Three kinds of QP are created as their library asks: QPs for which the library
 * named a page or uUAR itself (thread domains), QPs for which the driver chooses no
 * uUAR, and all QPs of a context that is not managed. They are noted, and so are DC
 * targets, which ring nothing. Other QPs without a send queue of their own (XRC targets,
 * RSS) are not noted.
 */

#include <linux/uaccess.h>
#include <rdma/mlx5-abi.h>

#include "create_qp.h"
#include "device.h"
#include "request.h"
#include "trace.h"
#include "uuar/context.h"
#include "uuar/qp_uuar.h"
#include "uuar/uar_map.h"

/* What mlx5_ib answers for bfreg_index when the request named the page. */
#define INVALID_BFREG BIT(31)
/* bfregs per page as libmlx5 numbers them; the upper two are not used. */
#define BFREGS_PER_PAGE 4

/* The consecutive fields of struct mlx5_ib_create_qp that matter here. */
struct create_qp_request {
	__u32 flags;
	__u32 uidx;
	__u32 bfreg_index;
};

#define CREATE_QP_OFFSET offsetof(struct mlx5_ib_create_qp, flags)

static_assert(offsetof(struct mlx5_ib_create_qp, bfreg_index) ==
	      offsetof(struct mlx5_ib_create_qp, flags) +
		      offsetof(struct create_qp_request, bfreg_index));

/*
 * Read the fields that matter. Returns false if the request is shorter or cannot
 * be read, which the driver refuses, and for XRC targets and RSS.
 */
static bool create_qp_read(const struct ib_qp_init_attr *attr,
			   struct ib_udata *udata,
			   struct create_qp_request *req)
{
	const size_t len = CREATE_QP_OFFSET + sizeof(*req);
	struct mlx5_ib_create_qp whole;

	if (attr->rwq_ind_tbl || attr->qp_type == IB_QPT_XRC_TGT ||
	    udata->inlen < len || ib_copy_from_udata(&whole, udata, len))
		return false;
	memcpy(req, (void *)&whole + CREATE_QP_OFFSET, sizeof(*req));
	return true;
}

/* Does mlx5_ib choose a uUAR for such a QP? */
static bool create_qp_wants_uuar(const struct ib_qp_init_attr *attr,
				 const struct create_qp_request *req)
{
	return !(req->flags & (MLX5_QP_FLAG_UAR_PAGE_INDEX |
			       MLX5_QP_FLAG_BFREG_INDEX |
			       MLX5_QP_FLAG_TYPE_DCT)) &&
	       /* mlx5_ib refuses this flag, unless the request names a page */
	       !(attr->create_flags & IB_QP_CREATE_CROSS_CHANNEL);
}

/*
 * If the driver confirms that it used our page, tell the library the uUAR. Returns 1 if
 * the driver chose a uUAR itself, and so did not see our request. The answer is in memory
 * of the process, so nothing follows from it for another context.
 */
static int create_qp_answer(struct ib_udata *udata, unsigned int uuar)
{
	__u32 __user *bfreg_index = udata->outbuf;
	__u32 answer;

	if (udata->outlen < sizeof(answer))
		return 0;
	if (get_user(answer, bfreg_index))
		return -EFAULT;
	if (answer != INVALID_BFREG)
		return 1;
	answer = uuar / MLX5_EP_UUARS_PER_PAGE * BFREGS_PER_PAGE +
		 uuar % MLX5_EP_UUARS_PER_PAGE;
	return put_user(answer, bfreg_index);
}

/*
 * Have the driver create a QP that has its uUAR, on the page @uar. Returns 1 if the QP
 * is created and elsewhere.
 */
static int create_qp_placed(struct mlx5_ep_device *edev, struct ib_qp *qp,
			    struct ib_qp_init_attr *attr,
			    struct mlx5_ep_request *request,
			    const struct create_qp_request *asked,
			    unsigned int uuar, u32 uar)
{
	struct ib_udata *udata = request->udata;
	struct create_qp_request ours = {
		.flags = asked->flags | MLX5_QP_FLAG_UAR_PAGE_INDEX,
		.uidx = asked->uidx,
		.bfreg_index = uar,
	};
	bool intact;
	int ret;

	ret = mlx5_ep_request_patch(request, CREATE_QP_OFFSET, asked, &ours,
				    sizeof(ours));
	if (ret)
		return ret;
	ret = edev->stock.create_qp(qp, attr, udata);
	intact = mlx5_ep_request_restore(request);
	if (ret)
		return ret;
	ret = intact ? create_qp_answer(udata, uuar) : -EFAULT;
	if (ret < 0)
		edev->stock.destroy_qp(qp, udata);
	return ret;
}

/*
 * Take a uUAR for a new QP, and make sure that a UAR page is behind it. If
 * another page cannot be allocated, take the best uUAR of the pages that the
 * context has.
 */
static int create_qp_place(struct mlx5_ep_context *ectx,
			   struct ib_ucontext *uctx, struct mlx5_ep_qp *eqp,
			   u32 *uar)
{
	DECLARE_BITMAP(avoid, MLX5_EP_MAX_PAGES) = { 0 };
	bool closed = false;
	unsigned int page;
	int uuar, ret;

	for (;;) {
		uuar = mlx5_ep_qp_uuar_place(ectx, eqp, closed, avoid);
		if (uuar < 0)
			return uuar;
		page = uuar / MLX5_EP_UUARS_PER_PAGE;
		ret = mlx5_ep_uar_map_back(ectx, uctx, page, uar);
		if (!ret) {
			mlx5_ep_qp_uuar_placed(eqp, *uar);
			return uuar;
		}
		mlx5_ep_qp_uuar_unplace(eqp);
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
static void create_qp_note(struct mlx5_ep_context *ectx, struct mlx5_ep_qp *eqp,
			   const struct create_qp_request *req)
{
	enum mlx5_ep_placer placer = MLX5_EP_PLACER_LIBRARY;
	u32 uar = MLX5_EP_UAR_UNKNOWN;
	u8 slot = MLX5_EP_SLOT_UNKNOWN;

	if (req->flags & MLX5_QP_FLAG_TYPE_DCT) {
		placer = MLX5_EP_PLACER_NONE;
		eqp->told_qpn = MLX5_EP_QPN_UNKNOWN;
	} else if (req->flags & MLX5_QP_FLAG_UAR_PAGE_INDEX) {
		uar = req->bfreg_index;
	} else if (req->flags & MLX5_QP_FLAG_BFREG_INDEX) {
		uar = mlx5_ep_uar_map_dynamic(ectx, req->bfreg_index);
		slot = req->bfreg_index % MLX5_EP_UUARS_PER_PAGE;
	} else {
		placer = MLX5_EP_PLACER_DRIVER;
	}
	mlx5_ep_qp_uuar_note(ectx, eqp, placer, uar, slot);
}

/* The driver does not place QPs where it is told, so it places those of the context. */
static void create_qp_elsewhere(struct mlx5_ep_context *ectx)
{
	spin_lock(&ectx->lock);
	if (ectx->placing)
		mlx5_ep_context_fall_back(ectx, -EPROTO,
					  "mlx5_ib does not use the UAR page that a request names");
	spin_unlock(&ectx->lock);
}

/*
 * Create a QP on a uUAR that the policy chooses. Returns 1 if it chooses none. What the
 * driver returns is never that, or the driver would be called twice.
 */
static int create_qp_by_policy(struct mlx5_ep_context *ectx,
			       struct ib_ucontext *uctx, struct mlx5_ep_qp *eqp,
			       struct ib_qp_init_attr *attr,
			       struct mlx5_ep_request *request,
			       const struct create_qp_request *req)
{
	u32 uar;
	int ret;

	/* The driver would choose a uUAR of which the policy does not know. */
	if (!eqp)
		return -ENOMEM;
	ret = create_qp_place(ectx, uctx, eqp, &uar);
	if (ret < 0)
		return ret == -EOPNOTSUPP ? 1 : ret;
	ret = create_qp_placed(ectx->edev, eqp->qp, attr, request, req, ret,
			       uar);
	if (!ret) {
		trace_mlx5_ep_qp_placed(eqp);
		return 0;
	}
	mlx5_ep_qp_uuar_release(eqp);
	if (ret < 0)
		return ret;
	create_qp_elsewhere(ectx);
	create_qp_note(ectx, eqp, req);
	return 0;
}

/* Create a QP that is listed: placed, or noted. Without memory it is not noted. */
static int create_qp_listed(struct mlx5_ep_context *ectx,
			    struct ib_ucontext *uctx, struct ib_qp *qp,
			    struct ib_qp_init_attr *attr,
			    struct mlx5_ep_request *request,
			    const struct create_qp_request *req)
{
	struct mlx5_ep_device *edev = ectx->edev;
	struct mlx5_ep_qp *eqp = mlx5_ep_qp_create(edev, qp);
	int ret = 1;

	if (ectx->table && create_qp_wants_uuar(attr, req))
		ret = create_qp_by_policy(ectx, uctx, eqp, attr, request, req);
	if (ret > 0) {
		ret = edev->stock.create_qp(qp, attr, request->udata);
		if (!ret && eqp)
			create_qp_note(ectx, eqp, req);
	}
	if (ret)
		mlx5_ep_qp_destroy(edev, eqp);
	return ret;
}

/**
 * mlx5_ep_create_qp_modified() - learn the number of a DC target
 * @edev: attached device of the QP
 * @qp: a QP that the driver has just modified
 * @udata: of that call
 *
 * mlx5_ib makes a DC target in the device when it goes to RTR, and tells the number to
 * the library only. The process can change the answer before it is read here, and so
 * can make its own list wrong. Sleeps.
 */
void mlx5_ep_create_qp_modified(struct mlx5_ep_device *edev, struct ib_qp *qp,
				const struct ib_udata *udata)
{
	struct mlx5_ib_modify_qp_resp resp;
	struct mlx5_ep_qp *eqp;

	if (!qp->uobject || !udata || qp->qp_type == IB_QPT_XRC_TGT ||
	    udata->outlen < offsetofend(typeof(resp), dctn))
		return;
	eqp = mlx5_ep_qp_of(edev, qp);
	if (eqp && eqp->ectx && eqp->placer == MLX5_EP_PLACER_NONE &&
	    !copy_from_user(&resp, udata->outbuf,
			    offsetofend(typeof(resp), dctn)) &&
	    resp.response_length >= offsetofend(typeof(resp), dctn))
		mlx5_ep_qp_uuar_set_number(eqp, resp.dctn);
}

/**
 * mlx5_ep_create_qp() - create a user's QP, placed where a policy wants that
 * @edev: attached device of the QP
 * @qp: the QP, with a uobject, as the driver's create_qp operation gets it
 * @attr: the second argument of that operation
 * @udata: of the call, from user space
 *
 * The driver is called once at most. Sleeps.
 *
 * Return: 0; -ENOSPC: the policy is strict and its level is used up; -EINTR: the
 * caller is being killed; -EFAULT: the process changed the request meanwhile;
 * -ENOMEM; another error of the driver
 */
int mlx5_ep_create_qp(struct mlx5_ep_device *edev, struct ib_qp *qp,
		      struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct ib_ucontext *uctx =
		rdma_udata_to_uverbs_attr_bundle(udata)->context;
	struct mlx5_ep_context *ectx = mlx5_ep_context_of(edev, uctx);
	struct create_qp_request req;
	struct mlx5_ep_request request;
	int ret;

	if (!ectx)
		return edev->stock.create_qp(qp, attr, udata);

	ret = mlx5_ep_request_begin(&request, udata);
	if (ret)
		return ret;
	if (create_qp_read(attr, udata, &req))
		ret = create_qp_listed(ectx, uctx, qp, attr, &request, &req);
	else
		ret = edev->stock.create_qp(qp, attr, udata);
	mlx5_ep_request_end(&request);
	return ret;
}
