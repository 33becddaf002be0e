/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_FI_MONITOR_H
#define MLX5EP_FI_MONITOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: Memory monitor for libfabric
 *
 * libfabric keeps registrations in caches of its own. It accepts a memory
 * monitor from another library, which tells it which registrations are stale.
 * The library libmlx5ep-fi.so imports such a monitor into libfabric when it is
 * loaded. A program can link it, preload it, or open it with dlopen(). It must
 * be loaded before the program opens its first domain.
 *
 * The library is never unloaded, not even by dlclose(), because libfabric 2.1
 * calls a monitor after it was closed.
 *
 * If the environment variable MLX5EP_FI_MONITOR is "off", loading imports
 * nothing. If it is "verbose", the library prints a line on stderr when it is
 * loaded and one at exit.
 *
 * mlx5ep.h does not include this header. Link with -lmlx5ep-fi.
 */

/**
 * struct mlx5ep_fi_monitor_stats - counters of the monitor
 * @subscribed: requests of libfabric to watch a region
 * @refused: of @subscribed, those that failed: libfabric does not keep these
 *	regions
 * @valid: checks that found a registration valid
 * @verified: of @valid, those that needed a system call
 * @stale: checks that found a registration stale
 * @notified: regions that the monitor told libfabric to drop
 * @watched: regions that are watched now
 */
struct mlx5ep_fi_monitor_stats {
	uint64_t subscribed;
	uint64_t refused;
	uint64_t valid;
	uint64_t verified;
	uint64_t stale;
	uint64_t notified;
	uint64_t watched;
};

/**
 * mlx5ep_fi_monitor_import() - import the monitor into libfabric
 *
 * Loading the library does this too. If it is imported already, the call does
 * nothing. If the call fails, libfabric keeps the monitor that it has.
 *
 * Return: 0. -EOPNOTSUPP if the module is not loaded. -EBUSY if
 * another monitor was imported, or a domain is open. -ENOSYS if libfabric
 * accepts no monitor. -EXDEV in a forked child.
 */
int mlx5ep_fi_monitor_import(void);

/* The exported calls. @size: size of the structure in the calling program. */
void _mlx5ep_fi_monitor_query(struct mlx5ep_fi_monitor_stats *stats,
			      size_t size);

/**
 * mlx5ep_fi_monitor_query() - read the counters
 */
static inline void
mlx5ep_fi_monitor_query(struct mlx5ep_fi_monitor_stats *stats)
{
	_mlx5ep_fi_monitor_query(stats, sizeof(*stats));
}

#ifdef __cplusplus
}
#endif

#endif
