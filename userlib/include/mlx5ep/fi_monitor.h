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
 * libfabric keeps registrations in caches of its own and takes a monitor from
 * outside that tells it which are no longer good. libmlx5ep-fi.so, which is a
 * library apart from libmlx5ep, imports one as it is loaded: linked, preloaded
 * or opened with dlopen(). It must be there before the first domain is opened.
 *
 * It stays for the life of the process, dlclose() or not: libfabric 2.1 calls a
 * monitor that was closed.
 *
 * MLX5EP_FI_MONITOR in the environment: "off", nothing is imported on loading;
 * "verbose", a line on stderr on loading and one at exit.
 *
 * These calls are for programs that want to know. They are not part of mlx5ep.h
 * and are linked with -lmlx5ep-fi.
 */

/**
 * struct mlx5ep_fi_monitor_stats - what the monitor did
 * @subscribed: regions that libfabric asked to be watched, ever
 * @refused: of these, those that were not: libfabric does not keep them
 * @valid: times that a kept registration was found good
 * @verified: of @valid, those that took a system call
 * @stale: times that a kept registration was found stale
 * @notified: invalidations that libfabric was told of before it asked
 * @watched: regions watched now
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
 * mlx5ep_fi_monitor_import - have libfabric use this monitor
 *
 * No-op where it was imported already, as it is on loading where it can be.
 *
 * Return: 0; -EOPNOTSUPP where the module is attached to no device, and nothing
 * is imported; -EBUSY where a monitor of somebody else was imported, or a
 * domain is open already, and libfabric goes on with the monitor that it has;
 * -ENOSYS where libfabric takes no monitor; -EXDEV in a forked child.
 */
int mlx5ep_fi_monitor_import(void);

/* What is exported: @size is that of the structure which the program knows. */
void _mlx5ep_fi_monitor_query(struct mlx5ep_fi_monitor_stats *stats,
			      size_t size);

/**
 * mlx5ep_fi_monitor_query - what it did so far
 * @stats: written
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
