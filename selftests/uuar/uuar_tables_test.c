// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 60 */
/*
 * The tables in debugfs, line by line: they have what a program is told about its own
 * context, and nothing else.
 */
#include "kselftest_harness.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <mlx5ep.h>

#include "sysfs.h"
#include "verbs.h"
#include "xrc.h"

#define PAGES 3
#define QPS 6
#define LINES (2 * PAGES + 2)
#define DEV_WATCHES "/sys/kernel/debug/mlx5_ep/watches"
/* It has what parts columns, what ends a line, and what looks like an escaped byte. */
#define NAME "a b\nc\\101"
#define NAME_SHOWN "a b\\012c\\134101"

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
	ASSERT_EQ(0, prctl(PR_SET_NAME, NAME));
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
		 "%d shared-uuar 1 device 1 %u %u %u %u %u %u %u %u %u " NAME_SHOWN "\n",
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

/* What has the name of the program in a table. */
struct named {
	struct verbs_setup *setup;
	struct xrc_node node;
	struct mlx5ep_notifier *of_device, *of_dev;
	struct mlx5ep_xrc_rcv_qp *qp;
	int ret;
};

/* A thread has a name of its own, which no table has. */
static void *name_in_thread(void *arg)
{
	struct named *named = arg;

	prctl(PR_SET_NAME, "a thread");
	named->ret =
		xrc_node_open(&named->node, NULL, NULL, 0) ?:
		mlx5ep_xrc_rcv_qp_create(named->node.xrcd, NULL, &named->qp) ?:
		mlx5ep_notifier_create(named->setup->ctx, 1, &named->of_device) ?:
		mlx5ep_notifier_open(1, &named->of_dev);
	return NULL;
}

/* How many lines of the table have this process's number, and behind it the text? */
static int lines_of_mine(FILE *table, const char *number, const char *text)
{
	char line[256], mine[32], *at;
	int n = 0;

	snprintf(mine, sizeof(mine), "%s%d ", number, getpid());
	while (table && fgets(line, sizeof(line), table)) {
		at = strstr(line, mine);
		n += at && strstr(at, text);
	}
	if (table)
		fclose(table);
	return n;
}

TEST_F(tables, have_the_name_of_the_program)
{
	struct named named = { .setup = &self->setup };
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, name_in_thread, &named));
	pthread_join(thread, NULL);
	ASSERT_EQ(0, named.ret);
	EXPECT_EQ(2, lines_of_mine(debugfs_open("contexts"), "",
				   " " NAME_SHOWN "\n"));
	EXPECT_EQ(1, lines_of_mine(debugfs_open("watches"), "",
				   " " NAME_SHOWN "\n"));
	EXPECT_EQ(1, lines_of_mine(fopen(DEV_WATCHES, "re"), "",
				   " " NAME_SHOWN "\n"));
	EXPECT_EQ(1, lines_of_mine(debugfs_open("xrc"), "pid=",
				   "comm=a\\040b\\012c\\134101 "));
	EXPECT_EQ(0, mlx5ep_notifier_destroy(named.of_dev));
	EXPECT_EQ(0, mlx5ep_notifier_destroy(named.of_device));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(named.qp));
	EXPECT_EQ(0, xrc_node_close(&named.node));
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
