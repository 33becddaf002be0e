// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Lets libfabric use mlx5_ep's memory monitor for its registration caches, and
 * prints what the monitor did while a buffer was registered three times.
 *
 *	cc -o libfabric libfabric.c $(pkg-config --cflags --libs mlx5ep-fi) -lfabric
 *	./libfabric
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <mlx5ep/fi_monitor.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>

#define LENGTH (16 * 4096)

static struct fid_domain *open_domain(void)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	struct fid_domain *domain;
	struct fid_fabric *fabric;
	int ret;

	hints->fabric_attr->prov_name = strdup("verbs");
	hints->ep_attr->type = FI_EP_DGRAM;
	hints->caps = FI_MSG;
	hints->mode = FI_MSG_PREFIX | FI_CONTEXT;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR |
				      FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	ret = fi_getinfo(FI_VERSION(1, 18), NULL, NULL, 0, hints, &info);
	if (!ret)
		ret = fi_fabric(info->fabric_attr, &fabric, NULL);
	if (!ret)
		ret = fi_domain(fabric, info, &domain, NULL);
	if (ret)
		errx(1, "libfabric: %s", fi_strerror(-ret));
	fi_freeinfo(hints);
	return domain;
}

static void use(struct fid_domain *domain, void *buffer)
{
	struct fid_mr *mr;
	int ret;

	ret = fi_mr_reg(domain, buffer, LENGTH, FI_SEND | FI_RECV, 0, 0, 0,
			&mr, NULL);
	if (ret)
		errx(1, "fi_mr_reg: %s", fi_strerror(-ret));
	fi_close(&mr->fid);	/* libfabric keeps the registration */
}

int main(void)
{
	int ret = mlx5ep_fi_monitor_import();	/* before the first domain */
	struct mlx5ep_fi_monitor_stats stats;
	struct fid_domain *domain;
	void *buffer;

	if (ret)
		errx(1, "mlx5ep_fi_monitor_import: %s", strerror(-ret));
	domain = open_domain();
	buffer = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	use(domain, buffer);
	use(domain, buffer);
	/* Other memory at the same address. */
	mmap(buffer, LENGTH, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	use(domain, buffer);

	mlx5ep_fi_monitor_query(&stats);
	printf("%lu subscribed, %lu found valid, %s\n", stats.subscribed,
	       stats.valid, stats.stale || stats.notified ?
	       "the change was noticed" : "the change was missed");
	return 0;
}
