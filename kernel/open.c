// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Opening of contexts. The request of a context that is to be managed is rewritten:
 * no MLX5_LIB_CAP_DYN_UAR, so that libmlx5 maps static pages and rings where the
 * kernel tells it; total_num_bfregs two per page of the plan;
 * num_low_latency_bfregs never above the library's.
 *
 * If the driver refuses that request, it is called a second time with the caller's
 * own, and the context stays stock. So an open fails only where it would fail
 * without mlx5_ep, for a limit, or for a strict policy.
 *
 * A context that is open can be imported (ibv_import_device()): a second library,
 * often that of the same process, asks what the driver answered at open. libmlx5
 * refuses to import a context with static pages, since it could not know which of
 * their uUARs are free. So it is told of none, and allocates its own pages. The
 * policy places no QP of that library.
 *
 * The driver refuses every request until the device is active, which is some time
 * after the device can be opened. Without a look at that first, a device that
 * becomes active between the two calls would serve the second one only.
 */

#include <linux/module.h>
#include <linux/uaccess.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/uverbs_ioctl.h>

#include "compat/compat.h"
#include "device.h"
#include "open.h"
#include "request.h"
#include "uuar/context.h"
#include "uuar/context_pages.h"

/*
 * Read the open request into @req, which is all zero: members beyond the end of the
 * caller's request stay so.
 *
 * Return: false if the request cannot be rewritten, because the driver will
 * refuse it, or because the library is so old that it knows only uUAR 0.
 */
static bool open_read(struct ib_udata *udata,
		      struct mlx5_ib_alloc_ucontext_req_v2 *req)
{
	if (ib_copy_from_udata(req, udata, min(udata->inlen, sizeof(*req))))
		return false;
	return udata->inlen >= offsetof(struct mlx5_ib_alloc_ucontext_req_v2,
					max_cqe_version) &&
	       req->total_num_bfregs &&
	       req->total_num_bfregs <= MLX5_EP_MAX_PAGES * 2 &&
	       req->num_low_latency_bfregs < req->total_num_bfregs;
}

/* The driver expects its part of a context zeroed, as the core allocated it. */
static void open_undo(struct ib_ucontext *uctx)
{
	memset((void *)uctx + sizeof(*uctx), 0,
	       uctx->device->ops.size_ib_ucontext - sizeof(*uctx));
}

/*
 * Does the driver read a request where udata->inbuf points, from user memory, and when it
 * is called? Only then it sees what mlx5_ep writes there. It is asked to read the memory
 * of the kernel, which is no user's: it must refuse that. A driver that would copy it
 * as the kernel's finds a request of zeroes, and refuses that otherwise.
 *
 * Returns -EFAULT: it does; -EAGAIN: the device is not active yet, which the driver
 * checks first. An active device stays active until it fails or goes. Another value: the
 * driver has read something else.
 */
static int open_probe(struct mlx5_ep_device *edev, struct ib_ucontext *uctx,
		      struct ib_udata *udata)
{
	static const struct mlx5_ib_alloc_ucontext_req_v2 zeroes;
	const struct ib_udata asked = *udata;
	int ret;

	udata->inbuf = (const void __force __user *)&zeroes;
	udata->inlen = sizeof(zeroes);
	ret = edev->stock.alloc_ucontext(uctx, udata);
	udata->inbuf = asked.inbuf;
	udata->inlen = asked.inlen;
	if (!ret) {
		edev->stock.dealloc_ucontext(uctx);
		open_undo(uctx);
	}
	return ret;
}

/* Nothing that mlx5_ep writes into a request reaches the driver, see open_probe(). */
static const char open_not_read[] =
	"mlx5_ib does not read requests where mlx5_ep changes them";

/*
 * Returns 1: the driver sees what mlx5_ep changes in a request; 0: it does not, and
 * @attached says so; -EAGAIN: the device is not active yet.
 */
static int open_is_read(struct mlx5_ep_device *edev, struct ib_ucontext *uctx,
			struct ib_udata *udata)
{
	int ret = open_probe(edev, uctx, udata);

	if (ret == -EFAULT)
		return 1;
	if (ret == -EAGAIN)
		return ret;
	/* What the caller chooses decides nothing for others. */
	if (!ret ||
	    (ret == -EINVAL &&
	     udata->outlen >= sizeof(struct mlx5_ib_alloc_ucontext_resp)))
		WRITE_ONCE(edev->no_policies, open_not_read);
	return 0;
}

/*
 * Does the library use all UAR pages of a page of the system? Older ones use
 * the first only, where the system's pages are larger than 4 KiB.
 */
static bool open_uses_all(struct mlx5_ep_device *edev,
			  const struct mlx5_ib_alloc_ucontext_req_v2 *req)
{
	return edev->uars_together == 1 ||
	       req->lib_caps & MLX5_LIB_CAP_4K_UAR;
}

/* UAR pages that mlx5_ib allocates at open, if it serves such a request. */
static unsigned int
open_static_pages(struct mlx5_ep_device *edev,
		  const struct mlx5_ib_alloc_ucontext_req_v2 *req)
{
	unsigned int together = edev->uars_together;
	unsigned int used = open_uses_all(edev, req) ? together : 1;

	if (req->lib_caps & MLX5_LIB_CAP_DYN_UAR ||
	    req->total_num_bfregs > MLX5_EP_MAX_PAGES * 2)
		return 0;
	return DIV_ROUND_UP(req->total_num_bfregs,
			    MLX5_EP_UUARS_PER_PAGE * used) * together;
}

/*
 * Open a context with a request of ours. If uar_budget or a limit is set, the
 * request is protected, so that the process cannot change it before the driver
 * reads it. A protected request costs one mmap() and one munmap().
 */
static int open_changed(struct mlx5_ep_context *ectx, struct ib_ucontext *uctx,
			struct mlx5_ep_request *request,
			const struct mlx5_ib_alloc_ucontext_req_v2 *asked,
			const struct mlx5_ib_alloc_ucontext_req_v2 *ours)
{
	size_t len = min(request->udata->inlen, sizeof(*ours));
	struct mlx5_ep_device *edev = ectx->edev;
	struct mlx5_ep_stock *stock = &edev->stock;
	bool intact;
	int ret;

	if (mlx5_ep_context_pages_are_limited(ectx) ||
	    READ_ONCE(edev->values.budget))
		ret = mlx5_ep_request_protect(request, 0, ours, len);
	else
		ret = mlx5_ep_request_patch(request, 0, asked, ours, len);
	if (ret)
		return ret;
	ret = stock->alloc_ucontext(uctx, request->udata);
	intact = mlx5_ep_request_restore(request);
	if (ret || intact)
		return ret;
	/*
	 * The process changed the request while the driver ran. How many pages
	 * the driver allocated is not known, so the context is closed.
	 */
	stock->dealloc_ucontext(uctx);
	return -EFAULT;
}

/*
 * Without write combining mlx5_ib gives nobody a UAR page on demand, so that all QPs of a
 * managed context would be on its first page.
 */
static const char open_no_wc[] = "the device has no write combining";

/*
 * Does the driver's answer say so, or that it gave other pages than it was asked for?
 * Returns why the context cannot be managed, or NULL. The answer is in memory of the
 * process, so nothing follows from it for another context.
 */
static const char *
open_denied(const struct ib_udata *udata,
	    const struct mlx5_ib_alloc_ucontext_req_v2 *ours)
{
	struct mlx5_ib_alloc_ucontext_resp __user *resp = udata->outbuf;
	__u32 size, bfregs;

	if (!get_user(size, &resp->bf_reg_size) && !size)
		return open_no_wc;
	if (!get_user(bfregs, &resp->tot_bfregs) &&
	    bfregs != ours->total_num_bfregs)
		return "mlx5_ib gives no static UAR pages";
	return NULL;
}

/*
 * Tell the library of all pages of the table, also of those that mlx5_ib has not
 * allocated: the library maps them, see uar_map.c.
 */
static int open_answer(struct ib_udata *udata, unsigned int pages)
{
	__u32 __user *tot_bfregs =
		udata->outbuf +
		offsetof(struct mlx5_ib_alloc_ucontext_resp, tot_bfregs);

	return put_user(pages * MLX5_EP_UUARS_PER_PAGE, tot_bfregs);
}

/* Open a managed context. -EOPNOTSUPP: *@why says why there can be none. */
static int open_managed(struct mlx5_ep_context *ectx, struct ib_ucontext *uctx,
			struct mlx5_ep_request *request,
			const struct mlx5_ib_alloc_ucontext_req_v2 *asked,
			const char **why)
{
	struct mlx5_ib_alloc_ucontext_req_v2 ours = *asked;
	int pages, ret;

	pages = mlx5_ep_context_plan(ectx,
				     DIV_ROUND_UP(asked->total_num_bfregs, 2),
				     asked->num_low_latency_bfregs);
	if (pages < 0)
		return pages;
	ours.total_num_bfregs = pages * MLX5_EP_UUARS_PER_PAGE;
	ours.num_low_latency_bfregs = mlx5_ep_uuar_policy_low_latency(
		asked->num_low_latency_bfregs, pages);
	ours.lib_caps &= ~(__u64)MLX5_LIB_CAP_DYN_UAR;
	ret = open_changed(ectx, uctx, request, asked, &ours);
	if (!ret) {
		*why = open_denied(request->udata, &ours);
		ret = *why ? -EOPNOTSUPP :
		      open_answer(request->udata, ectx->table->nr_pages);
		if (!ret)
			return 0;
		ectx->edev->stock.dealloc_ucontext(uctx);
	}
	open_undo(uctx);
	mlx5_ep_context_unplan(ectx);
	return ret;
}

/*
 * Open a context as the caller asked, and count its pages. @is_read: the driver sees what
 * mlx5_ep changes in a request. Where it does not, the process may be able to change
 * what was counted, or the pages that the driver allocates at open are not known.
 */
static int open_observed(struct mlx5_ep_context *ectx, struct ib_ucontext *uctx,
			 struct mlx5_ep_request *request,
			 const struct mlx5_ib_alloc_ucontext_req_v2 *req,
			 bool is_read)
{
	int ret = mlx5_ep_context_observe(ectx,
					  open_static_pages(ectx->edev, req),
					  req->lib_caps & MLX5_LIB_CAP_DYN_UAR);

	if (ret)
		return ret;
	/*
	 * A protected request can fail for lack of memory. Without a limit, an
	 * open must not fail that succeeds without mlx5_ep.
	 */
	if (is_read && mlx5_ep_context_pages_are_limited(ectx))
		return open_changed(ectx, uctx, request, req, req);
	return ectx->edev->stock.alloc_ucontext(uctx, request->udata);
}

/*
 * Why a context with this request cannot be managed; NULL: it can, for all that is known
 * before the driver opens it. A managed context changes the request, and open_answer() the
 * driver's answer.
 */
static const char *
open_why_stock(struct mlx5_ep_device *edev, bool rewritable,
	       const struct mlx5_ib_alloc_ucontext_req_v2 *req,
	       const struct ib_udata *udata)
{
	const char *was = READ_ONCE(edev->no_policies), *why;

	if (was && was != open_no_wc)
		return was;
	/* mlx5_core also says no where it could not find out, and then asks again. */
	why = compat_wc_support(edev->mdev) ? NULL : open_no_wc;
	if (why != was)
		WRITE_ONCE(edev->no_policies, why);
	if (why)
		return why;
	if (rewritable && open_uses_all(edev, req) &&
	    udata->outlen >= offsetofend(struct mlx5_ib_alloc_ucontext_resp,
					 tot_bfregs))
		return NULL;
	return "its library is too old";
}

/*
 * Open a context as the caller asked, because @error kept it from being
 * managed. The driver then serves the caller's own request, so ours caused
 * @error. If the library's page cannot be had later either, the context has
 * queries and memory regions, and no CQ. That is what it would have without
 * mlx5_ep. A strict policy takes nothing less than a managed context, unless
 * @why says that there can be none.
 */
static int open_fall_back(struct mlx5_ep_context *ectx,
			  struct ib_ucontext *uctx,
			  struct mlx5_ep_request *request,
			  const struct mlx5_ib_alloc_ucontext_req_v2 *req,
			  bool is_read, int error, const char *why)
{
	static const char failed[] =
		"it could not be opened as a managed context";
	int ret = open_observed(ectx, uctx, request, req, is_read);

	/*
	 * The device is active, as open_probe() said, so the driver lacks
	 * something of it. The last try of libmlx5 is one that needs a page
	 * under stock, too.
	 */
	if (ret == -EAGAIN && ectx->settings.strict)
		return -EDQUOT;
	if (ret)
		return ret;
	if (why || !ectx->settings.strict) {
		mlx5_ep_context_fall_back(ectx, error, why ?: failed);
		return MLX5_EP_OPENED_FALLBACK;
	}
	ectx->edev->stock.dealloc_ucontext(uctx);
	mlx5_ep_context_refuse(ectx, error, failed);
	return error == -ENOMEM ? error : -EDQUOT;
}

/* Open a context for which a policy other than stock is due. */
static int open_due(struct mlx5_ep_context *ectx, struct ib_ucontext *uctx,
		    struct mlx5_ep_request *request,
		    const struct mlx5_ib_alloc_ucontext_req_v2 *req,
		    bool rewritable, bool is_read)
{
	const char *why = open_not_read;
	int ret;

	if (is_read)
		why = open_why_stock(ectx->edev, rewritable, req,
				     request->udata);
	if (why)
		return open_fall_back(ectx, uctx, request, req, is_read,
				      -EOPNOTSUPP, why);
	ret = open_managed(ectx, uctx, request, req, &why);
	if (!ret)
		return MLX5_EP_OPENED_MANAGED;
	if (ret == -EDQUOT)
		return ret;
	return open_fall_back(ectx, uctx, request, req, is_read, ret, why);
}

/**
 * mlx5_ep_open() - open a context, managed where its policy wants that
 * @ectx: our side of @uctx, new; it is freed where the context is not opened
 * @uctx: the context, as the driver's alloc_ucontext operation gets it
 * @udata: of the call, from user space
 *
 * Sleeps.
 *
 * Return: enum mlx5_ep_opened, for mlx5_ep_context_open(); -EDQUOT: the user
 * may not have another page, or the device has none and the policy is strict;
 * -EAGAIN: the device is not active yet; -EINTR: the caller is being killed;
 * -ENOMEM; another error of the driver
 */
int mlx5_ep_open(struct mlx5_ep_context *ectx, struct ib_ucontext *uctx,
		 struct ib_udata *udata)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = {};
	struct mlx5_ep_request request;
	bool rewritable, due;
	int ret, is_read = 0;

	ret = mlx5_ep_request_begin(&request, udata);
	if (ret)
		goto out_close;
	rewritable = open_read(udata, &req);
	ectx->on_demand = req.lib_caps & MLX5_LIB_CAP_DYN_UAR;
	ret = mlx5_ep_context_init(ectx);
	if (ret < 0)
		goto out_end;
	due = ret;
	/* A managed context needs mlx5_ep; so does the file of a protected request. */
	ectx->pinned = (due || mlx5_ep_context_pages_are_limited(ectx)) &&
		       try_module_get(THIS_MODULE);
	if (ectx->pinned)
		is_read = open_is_read(ectx->edev, uctx, udata);
	if (is_read < 0)
		ret = is_read;
	else if (ectx->pinned && due)
		ret = open_due(ectx, uctx, &request, &req, rewritable, is_read);
	else
		ret = open_observed(ectx, uctx, &request, &req, is_read) ?:
			      MLX5_EP_OPENED_OBSERVED;

out_end:
	mlx5_ep_request_end(&request);
	/* What was opened without a table needs the wrappers only. */
	if (ectx->pinned && !ectx->table) {
		ectx->pinned = false;
		module_put(THIS_MODULE);
	}

out_close:
	if (ret < 0)
		mlx5_ep_context_close(ectx);
	return ret;
}

/* Tell an importing library of no static pages, in the answer of the driver. */
static int open_again_answer(struct uverbs_attr_bundle *attrs)
{
	const struct uverbs_attr *attr =
		uverbs_attr_get(attrs, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX);
	struct mlx5_ib_alloc_ucontext_resp __user *resp;

	if (IS_ERR(attr))
		return PTR_ERR(attr);
	resp = u64_to_user_ptr(attr->ptr_attr.data);
	if (attr->ptr_attr.len >= offsetofend(typeof(*resp), tot_bfregs) &&
	    put_user(0, &resp->tot_bfregs))
		return -EFAULT;
	if (attr->ptr_attr.len >= offsetofend(typeof(*resp), num_dyn_bfregs) &&
	    put_user(0, &resp->num_dyn_bfregs))
		return -EFAULT;
	return 0;
}

/**
 * mlx5_ep_open_again() - a library asks what an open context has, to import it
 * @ectx: our side of @uctx, open; its lock is not held
 * @uctx: context on whose file the call was made
 * @attrs: of the call, from user space
 *
 * Sleeps.
 *
 * Return: 0; -EDQUOT: the user or the cgroup may not have the page that the library
 * allocates next; -EFAULT; another error of the driver
 */
int mlx5_ep_open_again(struct mlx5_ep_context *ectx, struct ib_ucontext *uctx,
		       struct uverbs_attr_bundle *attrs)
{
	int ret;

	/* Without on_demand the library that opened the context is older than import. */
	if (!ectx->on_demand)
		return ectx->edev->stock.query_ucontext(uctx, attrs);
	ret = mlx5_ep_context_pages_reserve(ectx);
	if (ret)
		return ret;
	ret = ectx->edev->stock.query_ucontext(uctx, attrs);
	return ret || !ectx->table ? ret : open_again_answer(attrs);
}
