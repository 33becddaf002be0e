// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Watched registrations. After each call that changes memory, the adapter writes
 * the registered memory to a buffer, which is compared with what the process
 * sees. Where QPs connect by rdma_cm only, just the word is looked at.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "selftest.h"

#define LEN LOOPBACK_LEN

static void *memory(void *at, int byte, int flags)
{
	void *p = mmap(at, LEN, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	return p == MAP_FAILED ? NULL : memset(p, byte, LEN);
}

static int nothing(void *p)
{
	return p ? 0 : -EINVAL;
}

static int replace(void *p)
{
	return memory(p, 0x22, MAP_FIXED) ? 0 : -errno;
}

static int discard(void *p)
{
	return madvise(p, LEN, MADV_DONTNEED) ? -errno : 0;
}

static int unmap_and_map(void *p)
{
	if (munmap(p, LEN))
		return -errno;
	return memory(p, 0x33, MAP_FIXED) ? 0 : -errno;
}

static const struct {
	const char *check;
	int (*change)(void *p);
	bool same;
} changes[] = {
	{ "untouched memory stays valid", nothing, true },
	{ "MAP_FIXED is noticed", replace, false },
	{ "MADV_DONTNEED is noticed", discard, false },
	{ "munmap is noticed", unmap_and_map, false },
};

static void one(struct selftest *st, struct loopback *loop,
		struct mlx5ep_notifier *notifier, size_t i)
{
	uint8_t *seen = loop->buf + LOOPBACK_LEN;
	void *p = memory(NULL, 0x11, 0);
	struct mlx5ep_mr mr = {};
	bool compares = loop->n, valid, same;
	int ret;

	ret = p ? mlx5ep_reg_mr(notifier, loop->pd, p, LEN,
				IBV_ACCESS_LOCAL_WRITE, i, &mr) : -ENOMEM;
	if (!ret) {
		ret = changes[i].change(p);
		valid = !mlx5ep_mr_check(&mr);
		if (!ret && compares)
			ret = loopback_write(loop, 0, p, mr.mr->lkey, LEN, 0);
		same = compares ? !memcmp(seen, p, LEN) : changes[i].same;
		mlx5ep_dereg_mr(&mr);
	}
	if (p)
		munmap(p, LEN);
	if (ret)
		selftest_say(st, FAILED, changes[i].check, "%s",
			     strerror(-ret));
	else
		selftest_expect(st, valid == changes[i].same &&
				same == changes[i].same, changes[i].check,
				"the word is %s%s", valid ? "valid" : "not valid",
				!compares ? "" : same ?
				"; adapter and process have the same bytes" :
				"; adapter and process have other bytes");
}

/* A notifier of the device; where it has none, of /dev/mlx5_ep. */
static int make(struct loopback *loop, struct mlx5ep_notifier **notifier)
{
	int ret = mlx5ep_notifier_create(loop->ctx, 16, notifier);

	return ret == -EOPNOTSUPP ? mlx5ep_notifier_open(16, notifier) : ret;
}

/**
 * selftest_notifier() - the adapter's memory against the process's
 */
void selftest_notifier(struct selftest *st)
{
	struct mlx5ep_notifier *notifier = NULL;
	struct loopback loop;
	size_t i;
	int ret;

	ret = loopback_open(&loop, st->device, NULL);
	if (!ret && !loopback_managed(st->device))
		ret = loopback_add(&loop);
	if (!ret)
		ret = make(&loop, &notifier);
	if (selftest_expect(st, !ret, "a notifier is created", "%s",
			    ret ? strerror(-ret) : "16 watches"))
		for (i = 0; i < sizeof(changes) / sizeof(*changes); i++)
			one(st, &loop, notifier, i);
	mlx5ep_notifier_destroy(notifier);
	loopback_close(&loop);
}
