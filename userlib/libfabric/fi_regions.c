// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The regions that libfabric's caches keep. libfabric names a region by its
 * address and length.
 *
 * Several caches may keep the same region. Their registrations may be of
 * different memory, because one may have registered before a change of the
 * range and another after it. As long as the watch is valid their memory is the
 * same, and they share the watch. Once the watch is not valid, no new
 * subscriber is accepted and all present ones are told so, until the last has
 * unsubscribed. libfabric also unsubscribes a subscription that was refused, so
 * refused ones are counted too.
 *
 * The monitor locks these calls.
 */
#include <errno.h>
#include <stdlib.h>

#include "fi_regions.h"

#define REGIONS_FIRST_BUCKETS 256

/**
 * struct fi_region - one range
 * @next: next region of the same bucket
 * @subscribers: subscriptions, accepted or refused, that were not ended
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

/* Returns the link to the region, or the link where a new one is to be put. */
static struct fi_region **region_find(struct fi_regions *regions,
				      const void *addr, size_t len)
{
	struct fi_region **at = region_bucket(regions, addr, len);

	while (*at && ((*at)->addr != addr || (*at)->len != len))
		at = &(*at)->next;
	return at;
}

/* If there is no memory the table stays small, which is only slower. */
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
 * fi_regions_init() - make an empty table
 *
 * Return: 0 or -ENOMEM.
 */
int fi_regions_init(struct fi_regions *regions)
{
	regions->mask = REGIONS_FIRST_BUCKETS - 1;
	regions->buckets = calloc(REGIONS_FIRST_BUCKETS,
				  sizeof(*regions->buckets));
	return regions->buckets ? 0 : -ENOMEM;
}

/**
 * fi_regions_clear() - delete all regions and their watches
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
 * fi_regions_fini() - undo fi_regions_init()
 * @regions: after fi_regions_clear()
 */
void fi_regions_fini(struct fi_regions *regions)
{
	free(regions->buckets);
	regions->buckets = NULL;
}

/**
 * fi_regions_subscribe() - watch a region that libfabric has just registered
 *
 * Return: 0. -EAGAIN if another cache keeps a stale registration of the region,
 * or if the range changed during the call. -ENOMEM. The errors of
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
 * fi_regions_unsubscribe() - end a subscription
 *
 * The last one deletes the watch.
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
 * fi_regions_valid() - are all registrations of a region valid?
 *
 * Return: false if one may be stale.
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
