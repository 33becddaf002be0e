// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 240 */
/*
 * UAR pages of a context, for each way to allocate them. What the module counts
 * for the context, the process, the user and the device must be what the HCA
 * gave out.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <mlx5ep.h>

#include "late_page.h"
#include "simhca.h"
#include "sysfs.h"
#include "uar_page.h"
#include "verbs.h"

#define MANY 8

FIXTURE(observed)
{
	struct verbs_setup setup;
	int64_t before;		/* UAR pages of the HCA */
};

FIXTURE_VARIANT(observed)
{
	const char *policy;
	const char *counter;	/* of the device, in sysfs */
};

FIXTURE_VARIANT_ADD(observed, stock) { "stock", "uar_observed" };
FIXTURE_VARIANT_ADD(observed, managed) { "independent", "uar_in_use" };

FIXTURE_SETUP(observed)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_policy(variant->policy, 6, false));
	/* The driver creates some objects now, and keeps them. */
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 8));
	verbs_close(&self->setup);
	ASSERT_EQ(0, sysfs_number("uar_observed"));
	ASSERT_EQ(0, sysfs_number("uar_in_use"));
	self->before = simhca_count("uar");
	ASSERT_LE(0, self->before);
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 8));
}

FIXTURE_TEARDOWN(observed)
{
	verbs_close(&self->setup);
	EXPECT_EQ(self->before, simhca_count("uar"));
	EXPECT_EQ(0, sysfs_number("uar_observed"));
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(0, sysfs_write("uar_user_limit", "0"));
	EXPECT_EQ(0, sysfs_defaults());
}

/* Pages that the HCA gave out since the test began. All counters must agree. */
static int64_t counted(struct __test_metadata *_metadata,
		       struct _test_data_observed *self, const char *counter)
{
	int64_t pages = simhca_count("uar") - self->before;
	struct mlx5_ep_context_info info;
	struct mlx5_ep_features features;

	EXPECT_EQ(0, mlx5ep_context_query(self->setup.ctx, &info));
	EXPECT_EQ(0, mlx5ep_device_query(self->setup.ctx, &features));
	EXPECT_EQ(pages, info.held_pages);
	EXPECT_EQ(pages, features.uar_user_held);
	EXPECT_EQ(pages, sysfs_number(counter));
	return pages;
}

#define COUNTED() counted(_metadata, self, variant->counter)

/*
 * Pages of mlx5dv_devx_alloc_uar(). In a managed context libmlx5 has no page of
 * its own to share.
 */
static void devx_uars(struct __test_metadata *_metadata,
		      struct _test_data_observed *self, const char *counter)
{
	static const uint32_t types[] = {
		MLX5DV_UAR_ALLOC_TYPE_BF, MLX5DV_UAR_ALLOC_TYPE_NC,
		MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED,
	};
	int64_t pages = counted(_metadata, self, counter);
	struct mlx5dv_devx_uar *uars[3];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		uars[i] = mlx5dv_devx_alloc_uar(self->setup.ctx, types[i]);
		ASSERT_NE(NULL, uars[i]);
		counted(_metadata, self, counter);
	}
	EXPECT_LT(pages, counted(_metadata, self, counter));
	for (i = 0; i < 3; i++) {
		mlx5dv_devx_free_uar(uars[i]);
		counted(_metadata, self, counter);
	}
}

TEST_F_TIMEOUT(observed, every_way_to_get_a_page_is_counted, 60)
{
	struct ibv_td_init_attr td_attr = {};
	struct verbs_endpoint endpoints[8];
	struct ibv_td *tds[3];
	int64_t pages;
	unsigned int i;

	COUNTED();
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, verbs_endpoint_create(&self->setup, &endpoints[i],
						   IBV_QPT_RC));
		COUNTED();
	}
	pages = COUNTED();
	EXPECT_LT(0, pages);
	/* Two thread domains share a page; the third takes another page. */
	for (i = 0; i < 3; i++) {
		tds[i] = ibv_alloc_td(self->setup.ctx, &td_attr);
		ASSERT_NE(NULL, tds[i]);
		COUNTED();
	}
	EXPECT_LE(pages + 1, COUNTED());
	if (!strcmp(variant->policy, "stock"))
		devx_uars(_metadata, self, variant->counter);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, ibv_dealloc_td(tds[i]));
		COUNTED();
	}
	for (i = 0; i < 8; i++)
		verbs_endpoint_destroy(&endpoints[i]);
	COUNTED();
}

TEST_F(observed, pages_that_nobody_maps_count_and_are_limited)
{
	int64_t pages = COUNTED();
	uint32_t handles[MANY], none;
	char limit[24];
	int i;

	snprintf(limit, sizeof(limit), "%jd", (intmax_t)pages + MANY);
	ASSERT_EQ(0, sysfs_write("uar_user_limit", limit));
	for (i = 0; i < MANY; i++) {
		ASSERT_EQ(0, uar_page_alloc(self->setup.ctx, &handles[i], NULL));
		EXPECT_EQ(pages + i + 1, COUNTED());
	}
	for (i = 0; i < MANY; i++)
		EXPECT_EQ(-EDQUOT, uar_page_alloc(self->setup.ctx, &none, NULL));
	EXPECT_EQ(pages + MANY, COUNTED());
	ASSERT_EQ(0, uar_page_free(self->setup.ctx, handles[0]));
	EXPECT_EQ(pages + MANY - 1, COUNTED());
	ASSERT_EQ(0, uar_page_alloc(self->setup.ctx, &handles[0], NULL));
	/*
	 * A page that the HCA refused does not count. The others go with the
	 * context.
	 */
	ASSERT_EQ(0, uar_page_free(self->setup.ctx, handles[0]));
	ASSERT_EQ(0, simhca_fail("ALLOC_UAR", 1, 1, 15));
	EXPECT_GT(0, uar_page_alloc(self->setup.ctx, &none, NULL));
	EXPECT_EQ(0, simhca_fail_nothing());
	EXPECT_EQ(pages + MANY - 1, COUNTED());
}

/* The command is not answered before simhca_fail_nothing() is called. */
static int never_answer(const char *opcode)
{
	return simhca_ask(
		"{\"op\":\"fault\",\"kind\":\"cmd\",\"opcode\":\"%s\",\"status\":\"never\",\"run\":\"%s\"}",
		opcode, opcode);
}

struct page {
	struct ibv_context *ctx;
	uint32_t handle;
	uint64_t at;
};

static void *page_free(void *arg)
{
	struct page *page = arg;

	return (void *)(intptr_t)uar_page_free(page->ctx, page->handle);
}

/*
 * The core of uverbs frees the mmap offset before the driver has freed the
 * page, so that another page can get the same offset.
 */
TEST_F(observed, a_page_counts_at_the_offset_of_one_that_is_being_freed)
{
	struct page old = { .ctx = self->setup.ctx }, new = old;
	int64_t pages = COUNTED();
	unsigned int tries = 0;
	pthread_t thread;
	void *ret;

	ASSERT_EQ(0, uar_page_alloc(old.ctx, &old.handle, &old.at));
	ASSERT_EQ(0, never_answer("DEALLOC_UAR"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, page_free, &old));
	while (simhca_count("uar") - self->before != pages && tries++ < 1000)
		usleep(10000);
	EXPECT_EQ(0, uar_page_alloc(new.ctx, &new.handle, &new.at));
	EXPECT_EQ(old.at, new.at);
	EXPECT_EQ(0, simhca_fail_nothing());
	ASSERT_EQ(0, pthread_join(thread, &ret));
	EXPECT_EQ(NULL, ret);
	EXPECT_EQ(pages + 1, COUNTED());
	ASSERT_EQ(0, uar_page_free(new.ctx, new.handle));
	EXPECT_EQ(pages, COUNTED());
}

/* Maps a page as soon as the driver writes its offset. */
struct mapper {
	struct late_page late;
	struct ibv_context *ctx;
	uint64_t at;
	void *page;
};

static void *map_early(void *arg)
{
	static char empty[LATE_PAGE] __attribute__((aligned(LATE_PAGE)));
	struct mapper *mapper = arg;

	if (!late_page_needed(&mapper->late))
		return "nothing was written";
	mapper->page = mmap(NULL, LATE_PAGE, PROT_WRITE, MAP_SHARED,
			    mapper->ctx->cmd_fd, mapper->at);
	return late_page_give(&mapper->late, empty) ? "no page" : NULL;
}

/*
 * The driver makes a page, and cannot write its number into the answer. A thread has
 * mapped the page before: the page is held until it is unmapped, and counts as long.
 */
TEST_F(observed, a_page_that_is_mapped_counts_though_its_making_failed)
{
	struct mapper mapper = { .ctx = self->setup.ctx };
	int64_t pages = COUNTED();
	uint32_t handle;
	pthread_t thread;
	void *wrong;

	/* The next page gets the offset of this one. */
	ASSERT_EQ(0, uar_page_alloc(mapper.ctx, &handle, &mapper.at));
	ASSERT_EQ(0, uar_page_free(mapper.ctx, handle));
	ASSERT_EQ(0, late_page_make(&mapper.late));
	ASSERT_EQ(0, pthread_create(&thread, NULL, map_early, &mapper));
	EXPECT_EQ(-EFAULT, uar_page_ask(mapper.ctx, &handle,
					(void *)(mapper.late.pages + LATE_PAGE),
					NULL));
	ASSERT_EQ(0, pthread_join(thread, &wrong));
	EXPECT_EQ(NULL, wrong);
	ASSERT_NE(MAP_FAILED, mapper.page);
	EXPECT_EQ(pages + 1, COUNTED());
	EXPECT_EQ(0, munmap(mapper.page, LATE_PAGE));
	EXPECT_EQ(pages, COUNTED());
	late_page_end(&mapper.late);
}

/* If a QP is refused a page, the HCA keeps no page for it. */
TEST_F(observed, who_is_refused_a_page_takes_none)
{
	int64_t pages = COUNTED();
	struct verbs_endpoint endpoints[8];
	char limit[24];
	unsigned int n, tries;

	if (strcmp(variant->policy, "stock"))
		SKIP(return, "a managed context has its pages from the start");
	snprintf(limit, sizeof(limit), "%jd", (intmax_t)pages + 1);
	ASSERT_EQ(0, sysfs_write("uar_user_limit", limit));
	for (n = 0; n < 8; n++)
		if (verbs_endpoint_create(&self->setup, &endpoints[n],
					  IBV_QPT_RC))
			break;
	EXPECT_EQ(2, n);
	for (tries = 0; tries < 3; tries++)
		EXPECT_EQ(-EDQUOT,
			  verbs_endpoint_create(&self->setup, &endpoints[n],
						IBV_QPT_RC));
	EXPECT_EQ(pages + 1, COUNTED());
	while (n--)
		verbs_endpoint_destroy(&endpoints[n]);
}

/* Pages of a process in the table of contexts; -1 if it has no row. */
static long pages_of(pid_t pid)
{
	FILE *table = debugfs_open("contexts");
	unsigned int is, held;
	char line[256];
	long pages = -1;

	while (table && fgets(line, sizeof(line), table))
		/* pid policy strict source managed static dynamic held */
		if (sscanf(line, "%u %*s %*s %*s %*s %*u %*u %u", &is,
			   &held) == 2 && is == (unsigned int)pid)
			pages = (pages < 0 ? 0 : pages) + held;
	if (table)
		fclose(table);
	return pages;
}

/* Rows of the table that begin with @number. */
static unsigned int rows_of(unsigned int number)
{
	FILE *table = debugfs_open("contexts");
	unsigned int is, rows = 0;
	char line[256];

	while (table && fgets(line, sizeof(line), table))
		rows += sscanf(line, "%u", &is) == 1 && is == number;
	if (table)
		fclose(table);
	return rows;
}

/* Has a name that would be two rows, were it told as it is. */
#define HOLDER "x\n777 y"

/*
 * Start a process with a context and @tds thread domains. It writes to @up when
 * it has them.
 */
static pid_t holder(unsigned int tds, int up)
{
	struct ibv_td_init_attr attr = {};
	struct verbs_setup setup;
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_NAME, HOLDER);
	if (verbs_open(&setup, NULL, 1))
		_exit(1);
	while (tds--)
		if (!ibv_alloc_td(setup.ctx, &attr))
			_exit(2);
	if (write(up, "", 1) != 1)
		_exit(3);
	for (;;)
		pause();
}

TEST_F(observed, each_process_has_its_own_account)
{
	int64_t mine = COUNTED(), one;
	int up[2], status;
	pid_t pids[2];
	char byte;

	ASSERT_EQ(0, pipe(up));
	pids[0] = holder(1, up[1]);
	ASSERT_LT(0, pids[0]);
	ASSERT_EQ(1, read(up[0], &byte, 1));
	one = simhca_count("uar") - self->before - mine;
	EXPECT_EQ(one, pages_of(pids[0]));
	EXPECT_EQ(0, rows_of(777));
	pids[1] = holder(5, up[1]);
	ASSERT_LT(0, pids[1]);
	ASSERT_EQ(1, read(up[0], &byte, 1));
	EXPECT_EQ(simhca_count("uar") - self->before - mine - one,
		  pages_of(pids[1]));
	EXPECT_LT(one, pages_of(pids[1]));
	EXPECT_EQ(mine, pages_of(getpid()));
	EXPECT_EQ(simhca_count("uar") - self->before,
		  sysfs_number(variant->counter));
	for (unsigned int i = 0; i < 2; i++) {
		EXPECT_EQ(0, kill(pids[i], SIGKILL));
		EXPECT_EQ(pids[i], waitpid(pids[i], &status, 0));
		EXPECT_EQ(-1, pages_of(pids[i]));
	}
	EXPECT_EQ(mine, COUNTED());
}

TEST_HARNESS_MAIN
