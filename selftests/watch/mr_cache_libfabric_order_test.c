// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 120 */
/*
 * The monitor of libmlx5ep-fi in whatever order it is asked. This program stands
 * in for libfabric, which lets a second domain register memory while the first is
 * still about to start the monitor, or could not.
 *
 * The library takes one importer per process, and each case is a process.
 */
#include "kselftest_harness.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <rdma/fi_errno.h>
#include <rdma/fi_ext.h>

#define LEN 8192ul

static struct fid_mem_monitor *imported;

static void told(struct fid_mem_monitor *monitor, const void *addr, size_t len)
{
}

static struct fi_ops_mem_notify notify_ops = {
	.size = sizeof(notify_ops),
	.notify = told,
};

static int cache_close(struct fid *fid)
{
	return 0;
}

static int cache_bind(struct fid *cache, struct fid *fid, uint64_t flags)
{
	imported = (void *)((char *)fid -
			    offsetof(struct fid_mem_monitor, fid));
	imported->import_ops = &notify_ops;
	return 0;
}

static struct fi_ops cache_ops = {
	.size = sizeof(cache_ops),
	.close = cache_close,
	.bind = cache_bind,
};

static struct fid cache = { .ops = &cache_ops };

/* In place of libfabric's. */
int fi_open(uint32_t version, const char *name, void *attr, size_t attr_len,
	    uint64_t flags, struct fid **fid, void *context)
{
	*fid = &cache;
	return 0;
}

FIXTURE(order)
{
	struct fi_ops_mem_monitor *ops;
	void *mem;
};

FIXTURE_SETUP(order)
{
	/* Links libfabric, so that the fi_open() here is exported in its place. */
	ASSERT_NE(0, fi_version());
	ASSERT_NE(NULL, dlopen("libmlx5ep-fi.so.0", RTLD_NOW));
	ASSERT_NE(NULL, imported);
	self->ops = imported->export_ops;
	self->mem = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			 MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, self->mem);
}

FIXTURE_TEARDOWN(order)
{
	munmap(self->mem, LEN);
}

/* The monitor refuses the call and works on. */
static bool refuses(const struct fi_ops_mem_monitor *ops, void *mem)
{
	bool refused = ops->subscribe(imported, mem, LEN) != 0;

	refused = refused && !ops->valid(imported, mem, LEN);
	ops->unsubscribe(imported, mem, LEN);
	return refused;
}

TEST_F(order, it_watches_what_changes)
{
	ASSERT_EQ(0, self->ops->start(imported));
	ASSERT_EQ(0, self->ops->subscribe(imported, self->mem, LEN));
	EXPECT_TRUE(self->ops->valid(imported, self->mem, LEN));
	ASSERT_EQ(0, munmap(self->mem, LEN));
	EXPECT_FALSE(self->ops->valid(imported, self->mem, LEN));
	self->ops->unsubscribe(imported, self->mem, LEN);
	self->ops->stop(imported);
}

TEST_F(order, asked_before_it_has_started_it_refuses)
{
	EXPECT_TRUE(refuses(self->ops, self->mem));
	self->ops->stop(imported);
	ASSERT_EQ(0, self->ops->start(imported));
	ASSERT_EQ(0, self->ops->subscribe(imported, self->mem, LEN));
	EXPECT_TRUE(self->ops->valid(imported, self->mem, LEN));
}

TEST_F(order, asked_when_it_could_not_start_it_refuses)
{
	struct rlimit old, none;

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &old));
	none = old;
	none.rlim_cur = 0;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	EXPECT_GT(0, self->ops->start(imported));
	EXPECT_TRUE(refuses(self->ops, self->mem));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &old));
	ASSERT_EQ(0, self->ops->start(imported));
	ASSERT_EQ(0, self->ops->subscribe(imported, self->mem, LEN));
	EXPECT_TRUE(self->ops->valid(imported, self->mem, LEN));
}

TEST_F(order, stopped_it_knows_nothing_and_starts_again)
{
	ASSERT_EQ(0, self->ops->start(imported));
	ASSERT_EQ(0, self->ops->subscribe(imported, self->mem, LEN));
	self->ops->stop(imported);
	EXPECT_FALSE(self->ops->valid(imported, self->mem, LEN));
	ASSERT_EQ(0, self->ops->start(imported));
	ASSERT_EQ(0, self->ops->subscribe(imported, self->mem, LEN));
	EXPECT_TRUE(self->ops->valid(imported, self->mem, LEN));
}

TEST_HARNESS_MAIN
