// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 60 */
/*
 * The tables in debugfs, line by line: they have what a program is told about its own
 * context, and nothing else.
 */
#include "kselftest_harness.h"

#include <sys/prctl.h>

#include <mlx5ep/uuar.h>

#include "sysfs.h"
#include "verbs.h"

#define PAGES 3
#define QPS 6
#define LINES (2 * PAGES + 2)

/* The lines of a table without that of its columns. */
struct table {
	char lines[LINES][160];
	unsigned int n;
};

FIXTURE(tables)
{
	struct verbs_setup setup;
	struct verbs_endpoint endpoints[QPS];
	struct mlx5_ep_context_info info;
	struct table table;
};

FIXTURE_SETUP(tables)
{
	int i;

	ASSERT_EQ(0, sysfs_policy("shared-uuar", PAGES, true));
	ASSERT_EQ(0, prctl(PR_SET_NAME, "two\nlines"));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, QPS));
	for (i = 0; i < QPS; i++)
		ASSERT_EQ(0, verbs_endpoint_create(&self->setup,
						   &self->endpoints[i],
						   IBV_QPT_RC));
	ASSERT_EQ(0, mlx5ep_context_query(self->setup.ctx, &self->info));
}

FIXTURE_TEARDOWN(tables)
{
	int i;

	for (i = 0; i < QPS; i++)
		verbs_endpoint_destroy(&self->endpoints[i]);
	verbs_close(&self->setup);
	EXPECT_EQ(0, sysfs_defaults());
}

static int table_read(struct table *table, const char *name)
{
	FILE *file = debugfs_open(name);

	table->n = 0;
	if (!file)
		return -errno;
	while (table->n < LINES &&
	       fgets(table->lines[table->n], sizeof(table->lines[0]), file))
		table->n++;
	fclose(file);
	return 0;
}

TEST_F(tables, contexts)
{
	const struct mlx5_ep_context_info *info = &self->info;
	char line[160];

	EXPECT_EQ(QPS, info->qps);
	EXPECT_LT(0, info->shared_uuars);
	ASSERT_EQ(0, table_read(&self->table, "contexts"));
	ASSERT_EQ(1, self->table.n);
	snprintf(line, sizeof(line),
		 "%d shared-uuar 1 device 1 %u %u %u %u %u %u %u %u %u two\\012lines\n",
		 getpid(), info->static_pages, info->dynamic_pages,
		 info->held_pages, info->low_latency, info->qps,
		 info->placed_qps, info->used_pages, info->used_uuars,
		 info->shared_uuars);
	EXPECT_STREQ(line, self->table.lines[0]);
}

TEST_F(tables, uuars)
{
	struct mlx5_ep_uuar_info uuars[2 * PAGES];
	unsigned int n = 2 * PAGES, i;
	char line[160], uar[16];

	ASSERT_EQ(0, mlx5ep_context_dump(self->setup.ctx, uuars, &n));
	ASSERT_EQ(2 * PAGES, n);
	ASSERT_EQ(0, table_read(&self->table, "uuars"));
	ASSERT_EQ(2 * PAGES, self->table.n);
	for (i = 0; i < n; i++) {
		snprintf(uar, sizeof(uar),
			 uuars[i].uar == MLX5_EP_UAR_UNKNOWN ? "-" : "%u",
			 uuars[i].uar);
		snprintf(line, sizeof(line), "%d %s %u %u %u %d %d\n", getpid(),
			 uar, i / 2, i % 2, uuars[i].qps,
			 !!(uuars[i].flags & MLX5_EP_UUAR_LOCKED), i != 0);
		EXPECT_STREQ(line, self->table.lines[i]);
	}
}

TEST_F(tables, qps)
{
	struct mlx5_ep_qp_uuar at;
	char line[160];
	int i;

	ASSERT_EQ(0, table_read(&self->table, "qps"));
	ASSERT_EQ(QPS, self->table.n);
	for (i = 0; i < QPS; i++) {
		ASSERT_EQ(0, mlx5ep_qp_query_uuar(self->endpoints[i].qp, &at));
		EXPECT_LT(0, at.level);
		snprintf(line, sizeof(line), "%d 0x%x %u %u %u %u %u %u policy\n",
			 getpid(), self->endpoints[i].qp->qp_num, at.uar,
			 at.page, at.slot, at.level, at.uuar_qps, at.page_qps);
		EXPECT_STREQ(line, self->table.lines[i]);
	}
}

TEST_F(tables, users)
{
	char line[160];

	ASSERT_EQ(0, table_read(&self->table, "users"));
	ASSERT_EQ(1, self->table.n);
	snprintf(line, sizeof(line), "0 1 %u -\n", self->info.held_pages);
	EXPECT_STREQ(line, self->table.lines[0]);
}

/* A context without a policy has no uUARs that the module knows. */
TEST(a_stock_context_has_no_uuars)
{
	struct mlx5_ep_context_info info;
	struct verbs_setup setup;
	struct table table;

	ASSERT_EQ(0, sysfs_defaults());
	ASSERT_EQ(0, verbs_open(&setup, NULL, 1));
	ASSERT_EQ(0, table_read(&table, "contexts"));
	EXPECT_EQ(1, table.n);
	ASSERT_EQ(0, table_read(&table, "uuars"));
	EXPECT_EQ(0, table.n);
	ASSERT_EQ(0, mlx5ep_context_query(setup.ctx, &info));
	EXPECT_EQ(0, info.low_latency);
	verbs_close(&setup);
}

TEST_HARNESS_MAIN
