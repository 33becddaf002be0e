// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * The texts that say what a device is to have: values as sysfs takes them, and the
 * lines of the module parameter "defaults"; with values.c and defaults.c of the
 * module compiled into this program.
 */
#include <rdma/mlx5_ep_user_ioctl_verbs.h>

#include "kselftest_harness.h"

#include "values_kernel.h"

/* As kernel/device.h and uuar_policy.h have them. */
#define MLX5_EP_NR_POLICIES (MLX5_EP_UUAR_POLICY_SHARED_UUAR + 1)

#define POLICY_NAME(policy, name) [policy] = name,

static const char *const mlx5_ep_uuar_policy_names[] = {
	MLX5_EP_UUAR_POLICIES(POLICY_NAME)
};

#define MLX5_EP_MAX_PAGES	256
#define MLX5_EP_EXEMPT_LEN	1024

struct mlx5_ep_settings {
	enum mlx5_ep_uuar_policy policy;
	bool strict;
	unsigned int pages;
};

struct mlx5_ep_values {
	struct mlx5_ep_settings settings;
	unsigned int budget;
	unsigned int user_limit;
	char exempt[MLX5_EP_EXEMPT_LEN];
};

struct mlx5_ep_device {
	struct {
		struct device dev;
	} *ibdev;
	int mdev;
};

#define mlx5_ep_cmd_uar_pages(mdev) ((void)(mdev), fake.uar_pages)

#include "values.inc"	/* values.c and defaults.c, without what they include */

FIXTURE(values)
{
	struct mlx5_ep_values values;
	struct mlx5_ep_device dev;
	struct device parent;
	char page[PAGE_SIZE];
	char text[2 * PAGE_SIZE];
};

FIXTURE_SETUP(values)
{
	memset(&fake, 0, sizeof(fake));
	fake.uar_pages = 100;
	memset(&self->values, 0, sizeof(self->values));
	self->parent.name = "0000:01:00.0";
	self->dev.ibdev = calloc(1, sizeof(*self->dev.ibdev));
	self->dev.ibdev->dev.name = "mlx5_0";
	self->dev.ibdev->dev.parent = &self->parent;
}

FIXTURE_TEARDOWN(values)
{
	param_defaults->free(NULL);
	EXPECT_EQ(0, fake.blocks);
	EXPECT_EQ(0, fake.misuses);
	EXPECT_FALSE(text_lock.held);
	free(self->dev.ibdev);
}

#define SET(name, text) mlx5_ep_values_set(&self->values, name, text, 100)
#define EXPECT_SHOWN(name, text)					\
	do {								\
		EXPECT_EQ(strlen(text), mlx5_ep_values_show(&self->values, \
							    name, self->page)); \
		EXPECT_STREQ(text, self->page);				\
	} while (0)

TEST_F(values, are_read_as_they_are_written)
{
	EXPECT_EQ(0, SET("uuar_policy", "shared-uar\n"));
	EXPECT_EQ(MLX5_EP_UUAR_POLICY_SHARED_UAR, self->values.settings.policy);
	EXPECT_SHOWN("uuar_policy", "shared-uar\n");
	EXPECT_EQ(0, SET("uuar_policy", "stock"));
	EXPECT_SHOWN("uuar_policy", "stock\n");
	EXPECT_EQ(0, SET("uuar_policy", "shared-uuar"));
	EXPECT_EQ(0, SET("uuar_strict", "1"));
	EXPECT_SHOWN("uuar_strict", "1\n");
	EXPECT_EQ(0, SET("uuar_strict", "0\n"));
	EXPECT_SHOWN("uuar_strict", "0\n");
	EXPECT_EQ(0, SET("uuar_pages", "7"));
	EXPECT_EQ(0, SET("uar_budget", "8\n"));
	EXPECT_EQ(0, SET("uar_user_limit", "0x9"));
	EXPECT_SHOWN("uuar_pages", "7\n");
	EXPECT_SHOWN("uar_budget", "8\n");
	EXPECT_SHOWN("uar_user_limit", "9\n");
	EXPECT_EQ(7, self->values.settings.pages);
	EXPECT_EQ(8, self->values.budget);
	EXPECT_EQ(9, self->values.user_limit);
}

TEST_F(values, stay_as_they_were_where_a_text_is_wrong)
{
	EXPECT_EQ(0, SET("uuar_policy", "shared-uar"));
	EXPECT_EQ(-EINVAL, SET("uuar_policy", "shared"));
	EXPECT_EQ(-EINVAL, SET("uuar_policy", ""));
	EXPECT_SHOWN("uuar_policy", "shared-uar\n");
	EXPECT_EQ(0, SET("uuar_strict", "1"));
	EXPECT_EQ(-EINVAL, SET("uuar_strict", "yesterday"));
	EXPECT_SHOWN("uuar_strict", "1\n");
	EXPECT_EQ(0, SET("uar_budget", "5"));
	EXPECT_EQ(-EINVAL, SET("uar_budget", "5x"));
	EXPECT_EQ(-EINVAL, SET("uar_budget", "-1"));
	EXPECT_SHOWN("uar_budget", "5\n");
	EXPECT_EQ(-EINVAL, SET("uar_budge", "5"));
	EXPECT_EQ(-EINVAL, SET("uar_budgets", "5"));
}

TEST_F(values, reach_to_what_the_device_has)
{
	EXPECT_EQ(0, SET("uar_budget", "100"));
	EXPECT_EQ(-EINVAL, SET("uar_budget", "101"));
	EXPECT_EQ(0, SET("uar_user_limit", "100"));
	EXPECT_EQ(-EINVAL, SET("uar_user_limit", "101"));
	/* This one has a bound of its own. */
	EXPECT_EQ(0, SET("uuar_pages", "256"));
	EXPECT_EQ(-EINVAL, SET("uuar_pages", "257"));
	EXPECT_SHOWN("uar_budget", "100\n");
	EXPECT_SHOWN("uuar_pages", "256\n");
}

TEST_F(values, have_names_with_one_space_between)
{
	char *most = self->text;
	int i;

	EXPECT_SHOWN("uuar_exempt", "\n");
	EXPECT_EQ(0, SET("uuar_exempt", " \tone\n two  three\t\n"));
	EXPECT_SHOWN("uuar_exempt", "one two three\n");
	EXPECT_EQ(-EINVAL, SET("uuar_exempt", "one 1234567890123456"));
	EXPECT_SHOWN("uuar_exempt", "one two three\n");
	EXPECT_EQ(0, SET("uuar_exempt", "123456789012345 x"));
	EXPECT_SHOWN("uuar_exempt", "123456789012345 x\n");
	EXPECT_EQ(0, SET("uuar_exempt", "\n"));
	EXPECT_SHOWN("uuar_exempt", "\n");

	/* 64 names of 15 bytes and their spaces are 1023 bytes, which is the most. */
	for (i = 0; i < 63; i++)
		strcpy(most + 16 * i, "123456789012345 ");
	strcpy(most + 16 * 63, "123456789012345");
	EXPECT_EQ(0, SET("uuar_exempt", most));
	EXPECT_STREQ(most, self->values.exempt);
	strcpy(most + 16 * 63, "12345678901234 x");
	EXPECT_EQ(-EINVAL, SET("uuar_exempt", most));
	fake.fails = fake.asked + 1;
	EXPECT_EQ(-ENOMEM, SET("uuar_exempt", "one"));
}

TEST_F(values, of_a_policy_come_together)
{
	struct mlx5_ep_settings settings = { 0 };
	char good[] = "independent 1 256", more[] = "independent 1 257";
	char policy[] = "indepen 1 2", strict[] = "stock x 2", number[] = "stock 1 x";
	char lacks[] = "stock 1", alone[] = "stock", none[] = "";

	EXPECT_EQ(0, mlx5_ep_values_parse_settings(good, &settings));
	EXPECT_EQ(MLX5_EP_UUAR_POLICY_INDEPENDENT, settings.policy);
	EXPECT_TRUE(settings.strict);
	EXPECT_EQ(256, settings.pages);
	EXPECT_EQ(-EINVAL, mlx5_ep_values_parse_settings(more, &settings));
	EXPECT_EQ(-EINVAL, mlx5_ep_values_parse_settings(policy, &settings));
	EXPECT_EQ(-EINVAL, mlx5_ep_values_parse_settings(strict, &settings));
	EXPECT_EQ(-EINVAL, mlx5_ep_values_parse_settings(number, &settings));
	EXPECT_EQ(-EINVAL, mlx5_ep_values_parse_settings(lacks, &settings));
	EXPECT_EQ(-EINVAL, mlx5_ep_values_parse_settings(alone, &settings));
	EXPECT_EQ(-EINVAL, mlx5_ep_values_parse_settings(none, &settings));
}

#define WRITE(text) param_defaults->set(text, NULL)
#define EXPECT_DEFAULTS(text)						\
	do {								\
		EXPECT_EQ(strlen(text), param_defaults->get(self->page, NULL)); \
		EXPECT_STREQ(text, self->page);				\
	} while (0)

/* What the device has from its first moment on. */
#define GET()								\
	do {								\
		memset(&self->values, 0, sizeof(self->values));		\
		memset(fake.log, 0, sizeof(fake.log));			\
		mlx5_ep_defaults_get(&self->dev, &self->values);	\
	} while (0)

TEST_F(values, that_devices_begin_with_are_kept)
{
	GET();
	EXPECT_EQ(0, self->values.budget);
	EXPECT_DEFAULTS("\n");
	EXPECT_EQ(0, WRITE("mlx5_0 uar_budget 5\nmlx5_0 uar_user_limit 6\n\t\n"));
	EXPECT_DEFAULTS("mlx5_0 uar_budget 5\nmlx5_0 uar_user_limit 6\n");
	GET();
	EXPECT_EQ(5, self->values.budget);
	EXPECT_EQ(6, self->values.user_limit);
	EXPECT_STREQ("", fake.log);
	EXPECT_EQ(0, WRITE("mlx5_0 uar_budget 7"));
	EXPECT_EQ(1, fake.blocks);
	GET();
	EXPECT_EQ(7, self->values.budget);
	EXPECT_EQ(0, self->values.user_limit);
	EXPECT_EQ(0, WRITE(""));
	GET();
	EXPECT_EQ(0, self->values.budget);
}

TEST_F(values, are_for_one_device_or_its_parent_or_all)
{
	EXPECT_EQ(0, WRITE("* uar_budget 5; 0000:01:00.0 uar_user_limit 6;"
			   "mlx5_0 uuar_pages 7;mlx5_1 uuar_pages 8;"
			   ";0000:01:00.1 uar_user_limit 9;mlx5 uar_budget 10"));
	GET();
	EXPECT_EQ(5, self->values.budget);
	EXPECT_EQ(6, self->values.user_limit);
	EXPECT_EQ(7, self->values.settings.pages);
	/* The later line holds. */
	EXPECT_EQ(0, WRITE("mlx5_0 uar_budget 5\n* uar_budget 6"));
	GET();
	EXPECT_EQ(6, self->values.budget);
}

TEST_F(values, may_be_several_words_or_none)
{
	EXPECT_EQ(0, WRITE("* uuar_exempt one two\n"));
	GET();
	EXPECT_STREQ("one two", self->values.exempt);
	EXPECT_EQ(0, WRITE("* uuar_exempt"));
	GET();
	EXPECT_STREQ("", self->values.exempt);
}

TEST_F(values, of_a_wrong_line_are_all_refused)
{
	EXPECT_EQ(0, WRITE("* uar_budget 5"));
	EXPECT_EQ(-EINVAL, WRITE("* uar_budget 6\n*"));
	EXPECT_EQ(-EINVAL, WRITE("*\n* uar_budget 6"));
	EXPECT_EQ(-EINVAL, WRITE("mlx5_9 uar_budgets 6\n* uar_budget 6"));
	EXPECT_EQ(-EINVAL, WRITE("* uar_budget"));
	EXPECT_EQ(-EINVAL, WRITE("* uar_budget x;* uar_budget 6"));
	EXPECT_DEFAULTS("* uar_budget 5\n");
	EXPECT_EQ(1, fake.blocks);
}

TEST_F(values, that_are_too_large_for_a_device_are_left_out)
{
	EXPECT_EQ(0, WRITE("* uar_user_limit 100;* uar_budget 101;* uuar_pages 3"));
	GET();
	EXPECT_EQ(100, self->values.user_limit);
	EXPECT_EQ(0, self->values.budget);
	EXPECT_EQ(3, self->values.settings.pages);
	EXPECT_STREQ("mlx5_0: mlx5_ep: the parameter defaults has uar_budget 101, but the device has 100 UAR pages: left out\n",
		     fake.log);
}

TEST_F(values, of_more_than_a_page_are_refused)
{
	memset(self->text, ' ', sizeof(self->text));
	strcpy(self->text + PAGE_SIZE - 2 - 14, "* uar_budget 5");
	EXPECT_EQ(0, WRITE(self->text));
	EXPECT_EQ(PAGE_SIZE - 1, param_defaults->get(self->page, NULL));
	EXPECT_EQ('\n', self->page[PAGE_SIZE - 2]);
	strcpy(self->text + PAGE_SIZE - 2 - 14, "* uar_budget 66");
	EXPECT_EQ(-E2BIG, WRITE(self->text));
	GET();
	EXPECT_EQ(5, self->values.budget);
}

TEST_F(values, need_memory)
{
	int i;

	for (i = 1; i <= 3; i++) {
		fake.fails = fake.asked + i;
		EXPECT_EQ(-ENOMEM, WRITE("* uar_budget 5"));
		EXPECT_EQ(0, fake.blocks);
	}
	EXPECT_EQ(0, WRITE("* uar_budget 5"));
	fake.fails = fake.asked + 1;
	GET();
	EXPECT_EQ(0, self->values.budget);
	EXPECT_STREQ("mlx5_0: mlx5_ep: no memory for the parameter defaults\n",
		     fake.log);
	EXPECT_EQ(1, fake.blocks);
}

TEST_HARNESS_MAIN
