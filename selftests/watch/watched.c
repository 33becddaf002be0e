// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "fdpass.h"
#include "page.h"
#include "patience.h"
#include "watched.h"

#define PAGE page_bytes()
#define READ_SECONDS 10

static bool in_pairs(const struct watched_setup *setup)
{
	return setup->verbs.ctx->device->transport_type == IBV_TRANSPORT_IWARP;
}

static int endpoint_create(struct watched_setup *setup)
{
	if (!in_pairs(setup))
		return verbs_endpoint_create(&setup->verbs, &setup->endpoint,
					     IBV_QPT_RC);
	return &iwarp_pairs ? iwarp_pairs.open(setup) : -EOPNOTSUPP;
}

static void endpoint_destroy(struct watched_setup *setup)
{
	if (in_pairs(setup))
		iwarp_pairs.close(setup);
	else
		verbs_endpoint_destroy(&setup->endpoint);
}

int watched_open(struct watched_setup *setup, uint32_t watches)
{
	int ret;

	memset(setup, 0, sizeof(*setup));
	ret = verbs_open(&setup->verbs, NULL, 1);
	if (ret)
		return ret;
	ret = endpoint_create(setup);
	if (ret)
		goto err_close;
	ret = mlx5ep_notifier_create(setup->verbs.ctx, watches,
				     &setup->notifier);
	/* A device of another driver. */
	if (ret == -EOPNOTSUPP)
		ret = mlx5ep_notifier_open(watches, &setup->notifier);
	if (ret)
		goto err_ep;
	return 0;

err_ep:
	endpoint_destroy(setup);
err_close:
	verbs_close(&setup->verbs);
	return ret;
}

void watched_close(struct watched_setup *setup)
{
	mlx5ep_notifier_destroy(setup->notifier);
	endpoint_destroy(setup);
	verbs_close(&setup->verbs);
}

int watched_give_notifier(int sock)
{
	struct mlx5ep_notifier *notifier;
	struct mlx5ep_watch watch;
	struct verbs_setup setup;
	int ret;

	ret = verbs_open(&setup, NULL, 1);
	if (!ret)
		ret = mlx5ep_notifier_create(setup.ctx, 4, &notifier);
	if (!ret)
		ret = mlx5ep_watch_add(notifier, (void *)0x10000, PAGE, 0,
				       &watch);
	if (!ret)
		ret = fdpass_send(sock, mlx5ep_notifier_fd(notifier));
	return ret;
}

static void pattern(uint64_t *to, size_t page, unsigned int seed)
{
	size_t i;

	for (i = 0; i < WATCHED_SAMPLE / sizeof(*to); i++)
		to[i] = ((uint64_t)seed << 40 ^ page << 8 ^ i) *
			0x9e3779b97f4a7c15ull;
}

void watched_fill(void *addr, size_t len, unsigned int seed)
{
	size_t page;

	for (page = 0; page < len / PAGE; page++)
		pattern(addr + page * PAGE, page, seed);
}

int watched_hca_read(struct watched_setup *setup, const struct ibv_mr *mr,
		     const void *addr, void *out)
{
	unsigned int seconds = READ_SECONDS * PATIENCE * patience_factor();
	int ret;

	memset(setup->endpoint.dst, 0xee, WATCHED_SAMPLE);
	ret = verbs_write(setup->endpoint.qp, setup->verbs.cq, addr, mr->lkey,
			  setup->endpoint.dst, setup->verbs.mr->rkey,
			  WATCHED_SAMPLE, seconds);
	if (!ret && in_pairs(setup))
		ret = iwarp_pairs.placed(setup, seconds);
	if (ret)
		return ret;
	memcpy(out, setup->endpoint.dst, WATCHED_SAMPLE);
	return 0;
}

/* Read the memory as the process sees it, without a signal. 0 or -errno. */
static int process_read(const void *addr, void *out)
{
	struct iovec to = { out, WATCHED_SAMPLE };
	struct iovec from = { (void *)addr, WATCHED_SAMPLE };

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) ==
	       WATCHED_SAMPLE ? 0 : -errno;
}

static void process_write(void *addr, void *data)
{
	struct iovec from = { data, WATCHED_SAMPLE };
	struct iovec to = { addr, WATCHED_SAMPLE };

	/* Memory that cannot be written keeps its old content. */
	(void)!process_vm_writev(getpid(), &from, 1, &to, 1, 0);
}

int watched_differs(struct watched_setup *setup, const struct ibv_mr *mr,
		    void *addr, size_t len)
{
	static unsigned int seed = 1000;
	uint64_t mine[WATCHED_SAMPLE / 8], hca[WATCHED_SAMPLE / 8];
	size_t page;
	int ret;

	seed++;
	for (page = 0; page < len / PAGE; page++) {
		pattern(mine, page, seed);
		process_write(addr + page * PAGE, mine);
	}
	for (page = 0; page < len / PAGE; page++) {
		if (process_read(addr + page * PAGE, mine))
			return 1;
		ret = watched_hca_read(setup, mr, addr + page * PAGE, hca);
		if (ret)
			return ret;
		if (memcmp(mine, hca, sizeof(mine)))
			return 1;
	}
	return 0;
}
