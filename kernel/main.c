// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5_ep: a companion of the stock mlx5_ib driver. Module init and exit.
 */

#include <linux/module.h>

#include "attach.h"
#include "debugfs.h"
#include "watch/notifier_dev.h"
#include "watch/slots.h"
#include "watch/space.h"

static int __init mlx5_ep_init(void)
{
	int ret;

	mlx5_ep_debugfs_init();
	mlx5_ep_fingerprint_init();
	ret = mlx5_ep_attach_init();
	if (ret) {
		mlx5_ep_debugfs_fini();
		return ret;
	}
	/* From here on programs use what is there: nothing may fail any more. */
	mlx5_ep_notifier_dev_init();
	return 0;
}

static void __exit mlx5_ep_exit(void)
{
	mlx5_ep_notifier_dev_fini();
	mlx5_ep_attach_fini();
	mlx5_ep_debugfs_fini();
	mlx5_ep_watch_spaces_flush();
}

module_init(mlx5_ep_init);
module_exit(mlx5_ep_exit);

MODULE_DESCRIPTION("uUAR policy, shared XRC receive QPs and registration notifications for mlx5");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(MLX5_EP_VERSION);
