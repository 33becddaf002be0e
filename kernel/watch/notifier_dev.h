/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* /dev/mlx5_ep, for the module's init and for debugfs. */
#ifndef MLX5_EP_NOTIFIER_DEV_H
#define MLX5_EP_NOTIFIER_DEV_H

struct seq_file;

void mlx5_ep_notifier_dev_init(void);
void mlx5_ep_notifier_dev_fini(void);
void mlx5_ep_notifier_dev_show(struct seq_file *seq);

#endif
