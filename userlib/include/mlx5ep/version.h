/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_VERSION_H
#define MLX5EP_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: Version
 *
 * The macros are of the header that a program was compiled with, and the calls
 * are of the library that it runs with. What a release adds is there if
 * MLX5EP_VERSION, or mlx5ep_version(), is at least the number of that release.
 */

#define MLX5EP_VERSION_MAJOR 0
#define MLX5EP_VERSION_MINOR 9
#define MLX5EP_VERSION_PATCH 0

/* The number of a release, for instance MLX5EP_VERSION_NUMBER(0, 9, 0). */
#define MLX5EP_VERSION_NUMBER(major, minor, patch) \
	((major) << 16 | (minor) << 8 | (patch))

#define MLX5EP_VERSION							\
	MLX5EP_VERSION_NUMBER(MLX5EP_VERSION_MAJOR,			\
			      MLX5EP_VERSION_MINOR, MLX5EP_VERSION_PATCH)

/**
 * mlx5ep_version() - the release of the library
 *
 * Return: as MLX5EP_VERSION of its header.
 */
unsigned int mlx5ep_version(void);

/**
 * mlx5ep_version_string() - the build of the library, for people
 *
 * Return: for instance "0.9.0", or "0.9.0+12.g1a2b3c4" for a build of a checkout
 * that is 12 commits younger.
 */
const char *mlx5ep_version_string(void);

#ifdef __cplusplus
}
#endif

#endif
