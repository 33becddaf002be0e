// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, timeout: 240 */
/*
 * Invalid input to the attributes is refused with the documented error, and
 * changes nothing.
 */
#include <fcntl.h>

#include "kselftest_harness.h"

#include "sysfs.h"
#include "verbs.h"

static const char *const attrs[] = {
	"uuar_policy", "uuar_strict", "uuar_pages", "uar_budget", "uuar_exempt",
	"uar_in_use", "uar_observed", "uuar_fallbacks", "attached",
	"abi_version", "uverbs_ids",
};

#define ATTRS ARRAY_SIZE(attrs)
#define WRITABLE 5

FIXTURE(sysfs)
{
	char before[ATTRS][4096];
};

FIXTURE_SETUP(sysfs)
{
	size_t i;

	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_policy("shared-uar", 6, false));
	for (i = 0; i < ATTRS; i++) {
		ASSERT_EQ(0, sysfs_read(attrs[i], self->before[i],
					sizeof(self->before[i]))) {
			TH_LOG("%s", attrs[i]);
		}
	}
}

FIXTURE_TEARDOWN(sysfs)
{
	EXPECT_EQ(0, sysfs_write("uar_budget", self->before[3]));
	EXPECT_EQ(0, sysfs_defaults());
}

static void unchanged(struct __test_metadata *_metadata,
		      struct _test_data_sysfs *self)
{
	char now[4096];
	size_t i;

	for (i = 0; i < ATTRS; i++) {
		ASSERT_EQ(0, sysfs_read(attrs[i], now, sizeof(now)));
		EXPECT_STREQ(self->before[i], now) {
			TH_LOG("%s changed", attrs[i]);
		}
	}
}

TEST_F(sysfs, bad_values_are_einval)
{
	static const struct {
		const char *attr, *value;
	} bad[] = {
		{ "uuar_policy", "bogus" },
		{ "uuar_policy", "" },
		{ "uuar_policy", "independent2" },
		{ "uuar_policy", "independen" },
		{ "uuar_policy", "INDEPENDENT" },
		{ "uuar_policy", "stock independent" },
		{ "uuar_policy", "0" },
		{ "uuar_strict", "maybe" },
		{ "uuar_strict", "2" },
		{ "uuar_strict", "" },
		{ "uuar_pages", "-1" },
		{ "uuar_pages", "257" },
		{ "uuar_pages", "100000" },
		{ "uuar_pages", "99999999999999999999" },
		{ "uuar_pages", "eight" },
		{ "uuar_pages", "8 pages" },
		{ "uuar_pages", "" },
		{ "uar_budget", "-1" },
		{ "uar_budget", "some" },
		{ "uar_budget", "99999999999999999999" },
		{ "uar_budget", "" },
	};
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ret = sysfs_write(bad[i].attr, bad[i].value);
		/*
		 * The kernel does not pass a write of 0 bytes to the attribute.
		 */
		if (!bad[i].value[0] && !ret)
			continue;
		EXPECT_EQ(-EINVAL, ret) {
			TH_LOG("%s <- \"%s\": %d", bad[i].attr, bad[i].value,
			       ret);
		}
	}
	unchanged(_metadata, self);
}

TEST_F(sysfs, an_endless_value_is_refused)
{
	char value[4000];

	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	EXPECT_NE(0, sysfs_write("uuar_policy", value));
	EXPECT_NE(0, sysfs_write("uuar_pages", value));
	EXPECT_NE(0, sysfs_write("uuar_exempt", value));
	unchanged(_metadata, self);
}

TEST_F(sysfs, a_newline_at_the_end_is_fine)
{
	char now[64];

	EXPECT_EQ(0, sysfs_write("uuar_policy", "independent\n"));
	EXPECT_EQ(0, sysfs_read("uuar_policy", now, sizeof(now)));
	EXPECT_NE(NULL, strstr(now, "independent"));
	EXPECT_EQ(0, sysfs_write("uuar_pages", "9\n"));
	EXPECT_EQ(9, sysfs_number("uuar_pages"));
}

TEST_F(sysfs, other_users_cannot_write)
{
	size_t i;
	int ret;

	ASSERT_EQ(0, setresgid(65534, 65534, 0));
	ASSERT_EQ(0, setresuid(65534, 65534, 0));
	for (i = 0; i < ATTRS; i++) {
		ret = sysfs_write(attrs[i], "1");
		EXPECT_TRUE(ret == -EPERM || ret == -EACCES) {
			TH_LOG("%s: %d", attrs[i], ret);
		}
	}
	unchanged(_metadata, self);
	ASSERT_EQ(0, setresuid(0, 0, 0));
	ASSERT_EQ(0, setresgid(0, 0, 0));
}

TEST_F(sysfs, an_inherited_descriptor_gives_no_power)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/mlx5_ep/uuar_policy",
		 verbs_device_name());
	fd = open(path, O_WRONLY);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, setresuid(65534, 65534, 0));
	EXPECT_EQ(-1, write(fd, "stock", 5));
	EXPECT_EQ(EPERM, errno);
	ASSERT_EQ(0, setresuid(0, 0, 0));
	close(fd);
	unchanged(_metadata, self);
}

TEST_F(sysfs, what_is_shown_cannot_be_written)
{
	size_t i;

	for (i = WRITABLE; i < ATTRS; i++)
		EXPECT_NE(0, sysfs_write(attrs[i], "1"));
	unchanged(_metadata, self);
}

TEST_HARNESS_MAIN
