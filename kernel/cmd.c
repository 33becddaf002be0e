// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The firmware commands that mlx5_ep uses, one function each. Layouts are the
 * kernel's own (include/linux/mlx5/mlx5_ifc.h).
 */

#include <linux/mlx5/device.h>
#include <linux/mlx5/driver.h>

#include "cmd.h"

/**
 * mlx5_ep_cmd_query_qp_uar() - ask the device which UAR page a QP rings
 * @mdev: mlx5_core device that owns @qpn, while its driver is bound
 * @qpn: number of a QP that exists, 24 bits
 * @uar: answer: number of the UAR page (PRM, QPC.uar_page)
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
	if (!ret)
		*uar = MLX5_GET(qpc, MLX5_ADDR_OF(query_qp_out, out, qpc),
				uar_page);
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
 * Return: pages of 4 KiB
 */
unsigned int mlx5_ep_cmd_uar_pages(struct mlx5_core_dev *mdev)
{
	return 1U << (MLX5_CAP_GEN(mdev, uar_sz) + 20 - 12);
}
