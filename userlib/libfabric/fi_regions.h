/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_FI_REGIONS_H
#define MLX5EP_FI_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mlx5ep/fi_monitor.h>
#include <mlx5ep/mr_watch.h>

struct fi_region;

/**
 * struct fi_regions - the regions that libfabric's caches keep, each watched
 * @buckets: hash table over address and length
 * @mask: its size minus 1
 */
struct fi_regions {
	struct fi_region **buckets;
	size_t mask;
	struct mlx5ep_fi_monitor_stats stats;
};

int fi_regions_init(struct fi_regions *regions);
void fi_regions_clear(struct fi_regions *regions);
void fi_regions_fini(struct fi_regions *regions);
int fi_regions_subscribe(struct fi_regions *regions,
			 struct mlx5ep_notifier *notifier, const void *addr,
			 size_t len);
void fi_regions_unsubscribe(struct fi_regions *regions, const void *addr,
			    size_t len);
bool fi_regions_valid(struct fi_regions *regions, const void *addr, size_t len);

#endif
