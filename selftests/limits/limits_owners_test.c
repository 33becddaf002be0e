// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 120, config: USER_NS */
/*
 * A user who owns user namespaces holds no more UAR pages than uar_user_limit,
 * whatever user ids its processes have there.
 */
#include "kselftest_harness.h"

#include "ctx_open.h"
#include "holder.h"
#include "simhca.h"
#include "sysfs.h"

#define LIMIT 4

FIXTURE(owner)
{
	int64_t before;
};

FIXTURE_VARIANT(owner)
{
	const char *policy;
};

FIXTURE_VARIANT_ADD(owner, stock) { "stock" };
FIXTURE_VARIANT_ADD(owner, independent) { "independent" };

FIXTURE_SETUP(owner)
{
	struct ibv_context *ctx;

	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, ctx_open_to_all());
	ASSERT_EQ(0, sysfs_policy(variant->policy, 2, false));
	ctx = ctx_open();
	ASSERT_NE(NULL, ctx);
	ibv_close_device(ctx);
	self->before = simhca_count("uar");
	ASSERT_EQ(0, sysfs_write("uar_user_limit", "4"));
}

FIXTURE_TEARDOWN(owner)
{
	EXPECT_EQ(0, sysfs_write("uar_user_limit", "0"));
	EXPECT_EQ(0, sysfs_defaults());
	EXPECT_EQ(self->before, simhca_count("uar"));
	EXPECT_EQ(0, sysfs_number("uar_observed"));
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
}

/* Pages that the user @uid holds below @owner, "-" for none; -1: no such row. */
static long pages_below(unsigned int uid, const char *owner)
{
	FILE *table = debugfs_open("users");
	char line[128], below[16];
	long pages = -1, n;
	unsigned int is;

	while (table && fgets(line, sizeof(line), table))
		if (sscanf(line, "%u %*u %ld %15s", &is, &n, below) == 3 &&
		    is == uid && !strcmp(below, owner))
			pages = n;
	if (table)
		fclose(table);
	return pages;
}

/* The same of a user of the initial namespace. */
static long pages_of(unsigned int uid)
{
	return pages_below(uid, "-");
}

TEST_F(owner, has_no_more_with_subordinate_ids)
{
	static const struct holder_user users[] = {
		{ .owner = 1000 },
		{ .owner = 1000, .first = 100000, .uid = 0, .depth = 1 },
		{ .owner = 1000, .first = 100000, .uid = 5, .depth = 1 },
		{ .owner = 1000, .first = 1000, .uid = 0, .depth = 1 },
		{ .owner = 1000, .first = 100000, .uid = 7, .depth = 2 },
	};
	struct holder holders[5], other;
	size_t i;

	/* Each takes one page, and the last is refused. */
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, holder_start(&holders[i], holder_enter_user,
					  &users[i], 1));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(1, holders[i].pages);
	EXPECT_EQ(-EDQUOT, holders[4].pages);
	EXPECT_EQ(LIMIT, simhca_count("uar") - self->before);
	EXPECT_EQ(LIMIT, pages_of(1000));
	/* Others are not affected. */
	ASSERT_EQ(0, holder_start(&other, holder_enter_user,
				  &(struct holder_user){ .owner = 1001 }, 9));
	EXPECT_EQ(LIMIT, other.pages);
	holder_end(&other);
	/* What one gives back, another may take. */
	holder_end(&holders[1]);
	holder_end(&holders[4]);
	ASSERT_EQ(0, holder_start(&holders[4], holder_enter_user, &users[4],
				  9));
	EXPECT_EQ(1, holders[4].pages);
	for (i = 0; i < 5; i++)
		if (i != 1)
			holder_end(&holders[i]);
	EXPECT_EQ(-1, pages_of(1000));
}

/* A user in a namespace of another has its own limit too. */
TEST_F(owner, of_more_than_one_user_bounds_each)
{
	static const struct holder_user users[] = {
		{ .owner = 1000, .first = 100000, .uid = 5, .depth = 1 },
		{ .owner = 1000, .first = 100000, .uid = 6, .depth = 1 },
	};
	struct holder holders[2];

	ASSERT_EQ(0, holder_start(&holders[0], holder_enter_user, &users[0],
				  3));
	EXPECT_EQ(3, holders[0].pages);
	ASSERT_EQ(0, holder_start(&holders[1], holder_enter_user, &users[1],
				  3));
	EXPECT_EQ(1, holders[1].pages);
	EXPECT_EQ(LIMIT, simhca_count("uar") - self->before);
	EXPECT_EQ(3, pages_below(100005, "1000"));
	EXPECT_EQ(1, pages_below(100006, "1000"));
	EXPECT_EQ(LIMIT, pages_of(1000));
	holder_end(&holders[0]);
	holder_end(&holders[1]);
}

TEST_HARNESS_MAIN
