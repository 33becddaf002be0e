// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The regions that libfabric's caches keep, found by address and length, which
 * is all that libfabric says of them.
 *
 * Several caches may keep the same region, and their registrations need not be
 * of the same memory: one may have registered before the range changed and one
 * after. They share a watch as long as it is valid, since then their memory is
 * the same. Once it is not, nobody new is let in and every subscriber is told
 * so, until the last has gone. libfabric unsubscribes what it was refused too,
 * so that those are counted as well.
 *
 * Not thread-safe: the monitor has a lock.
 */
#include <errno.h>
#include <stdlib.h>

#include "fi_regions.h"

#define REGIONS_FIRST_BUCKETS 256

/**
 * struct fi_region - one range
 * @next: in its bucket
 * @addr: first byte
 * @len: bytes
 * @subscribers: subscriptions, granted or refused, that are not taken back
 * @watch: of the range
 */
struct fi_region {
	struct fi_region *next;
	const void *addr;
	size_t len;
	uint64_t subscribers;
	struct mlx5ep_watch watch;
};

static struct fi_region **region_bucket(struct fi_regions *regions,
					const void *addr, size_t len)
{
	uint64_t key = ((uintptr_t)addr ^ (uint64_t)len << 20) *
		       0x9e3779b97f4a7c15ull;

	return &regions->buckets[(key >> 32) & regions->mask];
}

/* Where the region is, or would be linked. */
static struct fi_region **region_find(struct fi_regions *regions,
				      const void *addr, size_t len)
{
	struct fi_region **at = region_bucket(regions, addr, len);

	while (*at && ((*at)->addr != addr || (*at)->len != len))
		at = &(*at)->next;
	return at;
}

/* Without memory for it, the table stays as it is: slower, not wrong. */
static void regions_grow(struct fi_regions *regions)
{
	struct fi_regions wider = { .mask = 2 * regions->mask + 1 };
	struct fi_region *region, **to;
	size_t i;

	wider.buckets = calloc(wider.mask + 1, sizeof(*wider.buckets));
	if (!wider.buckets)
		return;
	for (i = 0; i <= regions->mask; i++) {
		while ((region = regions->buckets[i])) {
			regions->buckets[i] = region->next;
			to = region_bucket(&wider, region->addr, region->len);
			region->next = *to;
			*to = region;
		}
	}
	free(regions->buckets);
	regions->buckets = wider.buckets;
	regions->mask = wider.mask;
}

static bool region_valid(struct fi_regions *regions, struct fi_region *region)
{
	if (mlx5ep_watch_valid(&region->watch))
		return true;
	if (mlx5ep_watch_verify(&region->watch))
		return false;
	regions->stats.verified++;
	return true;
}

/**
 * fi_regions_init - make an empty table
 * @regions: the table
 *
 * Return: 0; -ENOMEM.
 */
int fi_regions_init(struct fi_regions *regions)
{
	regions->mask = REGIONS_FIRST_BUCKETS - 1;
	regions->buckets = calloc(REGIONS_FIRST_BUCKETS,
				  sizeof(*regions->buckets));
	return regions->buckets ? 0 : -ENOMEM;
}

/**
 * fi_regions_clear - watch nothing any more
 * @regions: the table
 */
void fi_regions_clear(struct fi_regions *regions)
{
	struct fi_region *region;
	size_t i;

	if (!regions->buckets)
		return;
	for (i = 0; i <= regions->mask; i++) {
		while ((region = regions->buckets[i])) {
			regions->buckets[i] = region->next;
			mlx5ep_watch_del(&region->watch);
			free(region);
		}
	}
	regions->stats.watched = 0;
}

/**
 * fi_regions_fini - undo fi_regions_init()
 * @regions: the table, cleared
 */
void fi_regions_fini(struct fi_regions *regions)
{
	free(regions->buckets);
	regions->buckets = NULL;
}

/**
 * fi_regions_subscribe - watch a region that was just registered
 * @regions: the table
 * @notifier: where to watch
 * @addr: first byte
 * @len: bytes
 *
 * Return: 0; -EAGAIN where a registration of the region by another cache is
 * stale and still kept, or the range changes right now; -ENOMEM; as
 * mlx5ep_watch_add().
 */
int fi_regions_subscribe(struct fi_regions *regions,
			 struct mlx5ep_notifier *notifier, const void *addr,
			 size_t len)
{
	struct fi_region **at = region_find(regions, addr, len);
	struct fi_region *region = *at;
	int ret;

	if (region) {
		region->subscribers++;
		return region_valid(regions, region) ? 0 : -EAGAIN;
	}
	region = calloc(1, sizeof(*region));
	if (!region)
		return -ENOMEM;
	region->addr = addr;
	region->len = len;
	region->subscribers = 1;
	ret = mlx5ep_watch_add(notifier, addr, len, 0, &region->watch);
	if (ret)
		goto err_free;
	ret = mlx5ep_watch_record(&region->watch);
	if (ret)
		goto err_del;
	*at = region;
	if (++regions->stats.watched > regions->mask)
		regions_grow(regions);
	return 0;

err_del:
	mlx5ep_watch_del(&region->watch);
err_free:
	free(region);
	return ret;
}

/**
 * fi_regions_unsubscribe - a cache keeps a region no more
 * @regions: the table
 * @addr: first byte
 * @len: bytes
 */
void fi_regions_unsubscribe(struct fi_regions *regions, const void *addr,
			    size_t len)
{
	struct fi_region **at = region_find(regions, addr, len);
	struct fi_region *region = *at;

	if (!region || --region->subscribers)
		return;
	*at = region->next;
	regions->stats.watched--;
	mlx5ep_watch_del(&region->watch);
	free(region);
}

/**
 * fi_regions_valid - is every kept registration of a region good?
 * @regions: the table
 * @addr: first byte
 * @len: bytes
 *
 * Return: true if all are; false where one may not be.
 */
bool fi_regions_valid(struct fi_regions *regions, const void *addr, size_t len)
{
	struct fi_region *region = *region_find(regions, addr, len);

	if (!region || !region_valid(regions, region)) {
		regions->stats.stale++;
		return false;
	}
	regions->stats.valid++;
	return true;
}
