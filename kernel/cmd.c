// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The firmware commands that mlx5_ep uses, one function each. Layouts are the
 * kernel's own (include/linux/mlx5/mlx5_ifc.h).
 */

#include <linux/mlx5/device.h>
#include <linux/mlx5/driver.h>

#include "cmd.h"

/*
 * A machine without mlx5 has notifiers too, so what mlx5_core exports may be missing when
 * the module is loaded. mlx5_ep_cmd_is_linked() tells.
 */
#pragma weak mlx5_cmd_exec

/**
 * mlx5_ep_cmd_is_linked() - was mlx5_core there when mlx5_ep was loaded?
 *
 * modprobe loads mlx5_core before, where there is one.
 *
 * Return: false: no command can be run, and no device attached
 */
bool mlx5_ep_cmd_is_linked(void)
{
	return mlx5_cmd_exec;
}

/**
 * mlx5_ep_cmd_query_qp_uar() - ask the device which UAR page a QP rings
 * @mdev: mlx5_core device that owns @qpn, while its driver is bound
 * @qpn: number of a QP that exists, 24 bits
 * @uar: answer, valid where 0 is returned: number of the UAR page (PRM,
 *	QPC.uar_page)
 *
 * Sleeps for one firmware command.
 *
 * Return: 0; -ENOMEM; -EIO or another error of the command interface
 */
int mlx5_ep_cmd_query_qp_uar(struct mlx5_core_dev *mdev, u32 qpn, u32 *uar)
{
	u32 in[MLX5_ST_SZ_DW(query_qp_in)] = {};
	u32 *out;
	int ret;

	out = kzalloc(MLX5_ST_SZ_BYTES(query_qp_out), GFP_KERNEL);
	if (!out)
		return -ENOMEM;
	MLX5_SET(query_qp_in, in, opcode, MLX5_CMD_OP_QUERY_QP);
	MLX5_SET(query_qp_in, in, qpn, qpn);
	ret = mlx5_cmd_exec(mdev, in, sizeof(in), out,
			    MLX5_ST_SZ_BYTES(query_qp_out));
	*uar = MLX5_GET(qpc, MLX5_ADDR_OF(query_qp_out, out, qpc), uar_page);
	kfree(out);
	return ret;
}

/**
 * mlx5_ep_cmd_uar_pages() - how many UAR pages the device has
 * @mdev: mlx5_core device whose capabilities have been read
 *
 * No command is run: mlx5_core read the capability when the device came up (PRM,
 * HCA_CAP.uar_sz: log2 of the UAR area in MiB).
 *
 * Return: pages, of 4 KiB or as large as those of the system
 */
unsigned int mlx5_ep_cmd_uar_pages(struct mlx5_core_dev *mdev)
{
	unsigned int shift = MLX5_CAP_GEN(mdev, uar_4k) ?
				     MLX5_ADAPTER_PAGE_SHIFT : PAGE_SHIFT;

	return 1U << (MLX5_CAP_GEN(mdev, uar_sz) + 20 - shift);
}

/**
 * mlx5_ep_cmd_uars_together() - how many UAR pages one ALLOC_UAR gives
 * @mdev: mlx5_core device whose capabilities have been read
 *
 * They are the UAR pages of 4 KiB in one page of the system, and have
 * consecutive numbers (PRM, HCA_CAP.uar_4k and log_uar_page_sz, which mlx5_core
 * sets).
 *
 * Return: 1 where pages of the system have 4 KiB, or UAR pages are as large
 */
unsigned int mlx5_ep_cmd_uars_together(struct mlx5_core_dev *mdev)
{
	return MLX5_CAP_GEN(mdev, uar_4k) ? MLX5_UARS_IN_PAGE : 1;
}

/**
 * mlx5_ep_cmd_uars_told() - how many UAR pages libmlx5 takes for one ALLOC_UAR
 * @mdev: mlx5_core device whose capabilities have been read
 *
 * mlx5_ib passes this number of the device on to the library (PRM,
 * HCA_CAP.num_of_uars_per_page; mlx5_ib's set_ucontext_resp()), and calculates with
 * that of mlx5_ep_cmd_uars_together() itself.
 *
 * Return: UAR pages
 */
unsigned int mlx5_ep_cmd_uars_told(struct mlx5_core_dev *mdev)
{
	return MLX5_CAP_GEN(mdev, uar_4k) ?
		       MLX5_CAP_GEN(mdev, num_of_uars_per_page) : 1;
}
