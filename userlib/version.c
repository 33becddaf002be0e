// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Which release, and which build, the library is. */
#include <mlx5ep/version.h>

#include "internal.h"

MLX5EP_EXPORT unsigned int mlx5ep_version(void)
{
	return MLX5EP_VERSION;
}

MLX5EP_EXPORT const char *mlx5ep_version_string(void)
{
	return MLX5EP_BUILD;
}
