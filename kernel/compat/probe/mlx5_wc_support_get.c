// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5_core says whether write combining works: 6.12 does, 6.1 does not.
 */
#include <linux/mlx5/driver.h>

bool probe(struct mlx5_core_dev *mdev);
bool probe(struct mlx5_core_dev *mdev)
{
	return mlx5_wc_support_get(mdev);
}
