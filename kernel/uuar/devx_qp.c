// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * QPs that programs make by DevX: UCX's transport rc_mlx5 for instance. Send queues
 * that programs make by DevX without a QP, as DPDK does, are noted as QPs are: they
 * ring UAR pages too, and their numbers and those of QPs are of one range. DC targets
 * are noted too. They ring nothing.
 *
 * With DevX a program hands the command CREATE_QP or CREATE_SQ to the firmware. The
 * core has no ib_qp for it, and no operation of the device is called. So the
 * methods that create and modify DevX objects are wrapped, and what destroys
 * them. Such a QP is noted, never placed: the program has chosen the UAR page
 * before, and it chooses the uUAR in that page whenever it rings.
 *
 * uverbs copies the command into the kernel once, and mlx5_ib runs that copy. So
 * the UAR page is read from what the device was told, whatever the process does
 * to its own buffer meanwhile, and no command is run to learn it.
 *
 * The number of the QP is in the answer, which lies in the process's memory,
 * where another thread can overwrite it before it is read here. It is read again
 * from the command RST2INIT_QP, without which no QP can be used, or MODIFY_SQ, for
 * which the same holds: mlx5_ib refuses these if they name another QP than the object.
 * No command follows that of a DC target, whose number stays as answered.
 *
 * A record is made before the driver creates the QP, and belongs to the object
 * once the driver has succeeded. It goes exactly once: when the driver has
 * destroyed the object, for whatever reason; or when the context is closed, if
 * the device failed to destroy the object. Behind the uobject, in the same
 * allocation, lies only a pointer to the record, since the core frees a uobject
 * whose destruction failed while the list of QPs can still be read.
 *
 * The core holds the uobject exclusively while it is created or destroyed, and at
 * least shared while it is modified. Only the first two change the pointer, so it
 * needs no lock. No wrapper is called without a uobject: its handle is mandatory, and
 * the driver's methods do not look either. The handle of MODIFY may be that of any
 * object, such as a QP or CQ of verbs: only a DevX object has a record behind it.
 */

#include <linux/mlx5/driver.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>

#include "compat/compat.h"
#include "device.h"
#include "object_hook.h"
#include "trace.h"
#include "uuar/context.h"
#include "uuar/devx_qp.h"
#include "uuar/qp_uuar.h"

/* Where a DevX object has the pointer to its record: NULL if it is no QP. */
static struct mlx5_ep_qp **devx_qp_record_of(const struct mlx5_ep_device *edev,
					     struct ib_uobject *uobj)
{
	return (void *)uobj + edev->devx_hook->offset;
}

/* The kernel's copy of a command of at least @len bytes; NULL if it differs. */
static void *devx_qp_command(struct uverbs_attr_bundle *attrs, u16 attr,
			     int opcode, int len)
{
	void *in = uverbs_attr_get_alloced_ptr(attrs, attr);

	if (IS_ERR_OR_NULL(in) || uverbs_attr_get_len(attrs, attr) < len ||
	    MLX5_GET(general_obj_in_cmd_hdr, in, opcode) != opcode)
		return NULL;
	return in;
}

/*
 * Does the command make a QP, a send queue or a DC target? Then @uar is the page that
 * it names.
 */
static bool devx_qp_is_made(struct uverbs_attr_bundle *attrs, u32 *uar,
			    enum mlx5_ep_placer *placer)
{
	const u16 attr = MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN;
	void *in;

	*placer = MLX5_EP_PLACER_DEVX;
	in = devx_qp_command(attrs, attr, MLX5_CMD_OP_CREATE_QP,
			     MLX5_ST_SZ_BYTES(create_qp_in));
	if (in) {
		*uar = MLX5_GET(create_qp_in, in, qpc.uar_page);
		return true;
	}
	in = devx_qp_command(attrs, attr, MLX5_CMD_OP_CREATE_SQ,
			     MLX5_ST_SZ_BYTES(create_sq_in));
	if (in) {
		*uar = MLX5_GET(create_sq_in, in, ctx.wq.uar_page);
		return true;
	}
	*uar = MLX5_EP_UAR_UNKNOWN;
	*placer = MLX5_EP_PLACER_NONE;
	return devx_qp_command(attrs, attr, MLX5_CMD_OP_CREATE_DCT,
			       MLX5_ST_SZ_BYTES(create_dct_in));
}

/* The number of a new QP, send queue or DC target, as the program has been told. */
static u32 devx_qp_answered_number(struct uverbs_attr_bundle *attrs)
{
	const struct uverbs_attr *attr =
		uverbs_attr_get(attrs, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT);
	u32 out[MLX5_ST_SZ_DW(create_qp_out)];

	/* All answers have the number in one place. */
	BUILD_BUG_ON(MLX5_BYTE_OFF(create_qp_out, qpn) !=
			     MLX5_BYTE_OFF(create_sq_out, sqn) ||
		     sizeof(out) != MLX5_ST_SZ_BYTES(create_sq_out) ||
		     MLX5_BYTE_OFF(create_qp_out, qpn) !=
			     MLX5_BYTE_OFF(create_dct_out, dctn) ||
		     sizeof(out) != MLX5_ST_SZ_BYTES(create_dct_out));
	if (IS_ERR(attr) || attr->ptr_attr.len < sizeof(out) ||
	    copy_from_user(out, u64_to_user_ptr(attr->ptr_attr.data),
			   sizeof(out)))
		return MLX5_EP_QPN_UNKNOWN;
	return MLX5_GET(create_qp_out, out, qpn);
}

static int devx_qp_obj_create(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(
		attrs, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE);
	struct ib_ucontext *uctx = uobj->context;
	struct mlx5_ep_device *edev = mlx5_ep_device_find(uctx->device);
	struct mlx5_ep_qp *eqp = NULL;
	enum mlx5_ep_placer placer;
	u32 uar;
	int ret;

	/* Without memory the QP is not listed, and is created still. */
	if (devx_qp_is_made(attrs, &uar, &placer))
		eqp = kzalloc_obj(*eqp, GFP_KERNEL_ACCOUNT);
	ret = edev->devx_hook->handlers[0](attrs);
	if (ret || !eqp) {
		kfree(eqp);
		return ret;
	}
	/* Nobody can find the object before this returns. */
	eqp->told_qpn = devx_qp_answered_number(attrs);
	*devx_qp_record_of(edev, uobj) = eqp;
	mlx5_ep_qp_uuar_note(mlx5_ep_context_of(edev, uctx), eqp, placer, uar,
			     MLX5_EP_SLOT_UNKNOWN);
	return 0;
}

/* Learn the number from the command that makes a QP or send queue ready for use. */
static void devx_qp_learn_number(struct uverbs_attr_bundle *attrs,
				 struct mlx5_ep_qp *eqp)
{
	const u16 attr = MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN;
	void *in;

	in = devx_qp_command(attrs, attr, MLX5_CMD_OP_RST2INIT_QP,
			     MLX5_ST_SZ_BYTES(rst2init_qp_in));
	if (in) {
		mlx5_ep_qp_uuar_set_number(eqp,
					   MLX5_GET(rst2init_qp_in, in, qpn));
		return;
	}
	in = devx_qp_command(attrs, attr, MLX5_CMD_OP_MODIFY_SQ,
			     MLX5_ST_SZ_BYTES(modify_sq_in));
	if (in)
		mlx5_ep_qp_uuar_set_number(eqp,
					   MLX5_GET(modify_sq_in, in, sqn));
}

static int devx_qp_obj_modify(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(
		attrs, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE);
	struct mlx5_ep_device *edev =
		mlx5_ep_device_find(uobj->context->device);
	int ret = edev->devx_hook->handlers[1](attrs);
	struct mlx5_ep_qp *eqp;

	if (ret || uobj_get_object_id(uobj) != MLX5_IB_OBJECT_DEVX_OBJ)
		return ret;
	eqp = *devx_qp_record_of(edev, uobj);
	if (eqp)
		devx_qp_learn_number(attrs, eqp);
	return 0;
}

static int devx_qp_obj_destroy(struct ib_uobject *uobj,
			       enum rdma_remove_reason why,
			       struct uverbs_attr_bundle *attrs)
{
	struct mlx5_ep_device *edev =
		mlx5_ep_device_find(uobj->context->device);
	struct mlx5_ep_qp **record = devx_qp_record_of(edev, uobj);
	int ret = edev->devx_hook->destroy(uobj, why, attrs);

	if (ret || !*record)
		return ret;
	mlx5_ep_qp_uuar_release(*record);
	kfree(*record);
	*record = NULL;
	return 0;
}

static const struct mlx5_ep_object_change devx_change = {
	.object = MLX5_IB_OBJECT_DEVX_OBJ,
	.ids = {
		MLX5_IB_METHOD_DEVX_OBJ_CREATE,
		MLX5_IB_METHOD_DEVX_OBJ_MODIFY,
	},
	.handlers = { devx_qp_obj_create, devx_qp_obj_modify },
	.destroy = devx_qp_obj_destroy,
	.size = sizeof(struct mlx5_ep_qp *),
};

/**
 * mlx5_ep_devx_qp_hook() - note the DevX QPs of a device from now on
 * @edev: device that nobody uses yet
 * @defs: its definitions, which have been checked
 *
 * Return: the definitions to be used instead of @defs; @defs where the driver
 * has no DevX; -ENOMEM or -EOPNOTSUPP as a pointer
 */
const struct uapi_definition *
mlx5_ep_devx_qp_hook(struct mlx5_ep_device *edev,
		     const struct uapi_definition *defs)
{
	return mlx5_ep_object_hook_create(&edev->devx_hook, &devx_change, defs);
}

/**
 * mlx5_ep_devx_qp_unhook() - free the changed definitions
 * @edev: device that nobody uses any more
 */
void mlx5_ep_devx_qp_unhook(struct mlx5_ep_device *edev)
{
	mlx5_ep_object_hook_destroy(edev->devx_hook);
	edev->devx_hook = NULL;
}
