// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "proc.h"
#include "xrc.h"
#include "xrc_bytes.h"

static long slab_kb(void)
{
	return proc_number("/proc/meminfo", "Slab:");
}

double xrc_registration_bytes(void)
{
	enum { MANY = 4000 };
	static struct mlx5ep_xrc_rcv_qp *qps[MANY];
	struct xrc_node node;
	double bytes = -1;
	unsigned int n;
	long before;

	if (xrc_node_open(&node, NULL, NULL, 0))
		return -1;
	if (mlx5ep_xrc_rcv_qp_create(node.xrcd, NULL, &qps[0]))
		goto out_close;
	before = slab_kb();
	for (n = 1; n < MANY; n++)
		if (mlx5ep_xrc_rcv_qp_reg(node.xrcd,
					  mlx5ep_xrc_rcv_qp_num(qps[0]), NULL,
					  &qps[n]))
			break;
	if (n == MANY)
		bytes = (slab_kb() - before) * 1024.0 / (MANY - 1);
	while (n--)
		mlx5ep_xrc_rcv_qp_unreg(qps[n]);
out_close:
	xrc_node_close(&node);
	return bytes;
}
