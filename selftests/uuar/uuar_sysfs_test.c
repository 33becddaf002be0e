// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 240 */
/*
 * Invalid input to the attributes is refused with the documented error, and
 * changes nothing.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "kselftest_harness.h"

#include "baseline.h"
#include "lab.h"
#include "sysfs.h"
#include "verbs.h"

/* All attributes of an attached device. */
static const struct {
	const char *name;
	const char *valid;	/* may be written, and changes it; NULL: 0444 */
} attrs[] = {
	{ "uuar_policy", "independent" },
	{ "uuar_strict", "1" },
	{ "uuar_pages", "5" },
	{ "uar_budget", "100" },
	{ "uar_user_limit", "100" },
	{ "uuar_exempt", "someone" },
	{ "uuar_cgroups", "/ stock 0 0" },
	{ "uar_cgroup_limits", "/ 100" },
	{ "uar_budget_effective", NULL },
	{ "uar_in_use", NULL },
	{ "uar_observed", NULL },
	{ "uuar_fallbacks", NULL },
	{ "xrc_domains", NULL },
	{ "xrc_qps", NULL },
	{ "xrc_registrations", NULL },
	{ "refusals", NULL },
	{ "attached", NULL },
	{ "abi_version", NULL },
	{ "uverbs_ids", NULL },
};

#define ATTRS ARRAY_SIZE(attrs)

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
		ASSERT_EQ(0, sysfs_read(attrs[i].name, self->before[i],
					sizeof(self->before[i]))) {
			TH_LOG("%s", attrs[i].name);
		}
	}
}

/* Takes away what a test may have set for the root of all cgroups. */
static bool unset(const char *attr)
{
	int ret = sysfs_write(attr, "/ none");

	return !ret || ret == -ENOENT;
}

FIXTURE_TEARDOWN(sysfs)
{
	EXPECT_TRUE(unset("uuar_cgroups"));
	EXPECT_TRUE(unset("uar_cgroup_limits"));
	EXPECT_EQ(0, sysfs_write("uar_user_limit", "0"));
	EXPECT_EQ(0, sysfs_write("uar_budget", self->before[3]));
	EXPECT_EQ(0, sysfs_defaults());
}

static void unchanged(struct __test_metadata *_metadata,
		      struct _test_data_sysfs *self)
{
	char now[4096];
	size_t i;

	for (i = 0; i < ATTRS; i++) {
		ASSERT_EQ(0, sysfs_read(attrs[i].name, now, sizeof(now)));
		EXPECT_STREQ(self->before[i], now) {
			TH_LOG("%s changed", attrs[i].name);
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

static void attr_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "/sys/class/infiniband/%s/mlx5_ep/%s",
		 verbs_device_name(), name);
}

TEST_F(sysfs, each_attribute_has_its_mode)
{
	char path[256];
	struct dirent *entry;
	struct stat st;
	size_t i, n = 0;
	DIR *dir;

	for (i = 0; i < ATTRS; i++) {
		attr_path(path, sizeof(path), attrs[i].name);
		ASSERT_EQ(0, stat(path, &st));
		EXPECT_EQ(attrs[i].valid ? 0644 : 0444, st.st_mode & 07777) {
			TH_LOG("%s", attrs[i].name);
		}
		EXPECT_EQ(0, st.st_uid);
	}
	/* The table above has all of them. */
	attr_path(path, sizeof(path), "");
	dir = opendir(path);
	ASSERT_NE(NULL, dir);
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	closedir(dir);
	EXPECT_EQ(ATTRS, n);
}

TEST_F(sysfs, other_users_cannot_write)
{
	size_t i;
	int ret;

	ASSERT_EQ(0, setresgid(65534, 65534, 0));
	ASSERT_EQ(0, setresuid(65534, 65534, 0));
	for (i = 0; i < ATTRS; i++) {
		ret = sysfs_write(attrs[i].name, attrs[i].valid ?: "1");
		EXPECT_TRUE(ret == -EPERM || ret == -EACCES) {
			TH_LOG("%s: %d", attrs[i].name, ret);
		}
	}
	unchanged(_metadata, self);
	ASSERT_EQ(0, setresuid(0, 0, 0));
	ASSERT_EQ(0, setresgid(0, 0, 0));
}

TEST_F(sysfs, an_inherited_descriptor_gives_no_power)
{
	char path[256];
	int fds[ATTRS];
	size_t i;

	for (i = 0; i < ATTRS; i++) {
		attr_path(path, sizeof(path), attrs[i].name);
		fds[i] = attrs[i].valid ? open(path, O_WRONLY) : -1;
		ASSERT_EQ(!attrs[i].valid, fds[i] < 0);
	}
	ASSERT_EQ(0, setresuid(65534, 65534, 0));
	for (i = 0; i < ATTRS; i++) {
		if (!attrs[i].valid)
			continue;
		EXPECT_EQ(-1, write(fds[i], attrs[i].valid,
				    strlen(attrs[i].valid))) {
			TH_LOG("%s", attrs[i].name);
		}
		EXPECT_EQ(EPERM, errno);
	}
	ASSERT_EQ(0, setresuid(0, 0, 0));
	unchanged(_metadata, self);
	/* The same values are valid. */
	for (i = 0; i < ATTRS; i++) {
		if (!attrs[i].valid)
			continue;
		EXPECT_EQ(strlen(attrs[i].valid),
			  write(fds[i], attrs[i].valid,
				strlen(attrs[i].valid))) {
			TH_LOG("%s", attrs[i].name);
		}
		close(fds[i]);
		ASSERT_EQ(0, sysfs_read(attrs[i].name, path, sizeof(path)));
		EXPECT_STRNE(self->before[i], path) {
			TH_LOG("%s is what it was", attrs[i].name);
		}
	}
}

TEST_F(sysfs, what_is_shown_cannot_be_written)
{
	size_t i;

	for (i = 0; i < ATTRS; i++)
		if (!attrs[i].valid)
			EXPECT_NE(0, sysfs_write(attrs[i].name, "1"));
	unchanged(_metadata, self);
}

/* The most that an attribute takes, and one more. */
TEST_F(sysfs, edges_of_numbers_are_exact)
{
	char text[32];
	long most;

	EXPECT_EQ(0, sysfs_write("uuar_pages", "256"));
	EXPECT_EQ(256, sysfs_number("uuar_pages"));
	EXPECT_EQ(-EINVAL, sysfs_write("uuar_pages", "257"));
	EXPECT_EQ(0, sysfs_write("uuar_pages", "0"));
	EXPECT_EQ(0, sysfs_number("uuar_pages"));
	/* Where the adapter has room for pages, the others end. */
	for (most = 1; most < 1 << 24; most *= 2) {
		snprintf(text, sizeof(text), "%ld", most);
		if (sysfs_write("uar_user_limit", text))
			break;
	}
	EXPECT_LT(1, most);
	EXPECT_EQ(-EINVAL, sysfs_write("uar_budget", text));
	snprintf(text, sizeof(text), "/ %ld", most);
	EXPECT_EQ(-EINVAL, sysfs_write("uar_cgroup_limits", text));
	snprintf(text, sizeof(text), "/ %ld", most / 2);
	EXPECT_EQ(0, sysfs_write("uar_cgroup_limits", text));
	EXPECT_EQ(-EINVAL, sysfs_write("uar_cgroup_limits", "/ 0"));
	EXPECT_EQ(0, sysfs_write("uar_cgroup_limits", "/ none"));
}

/* The length of a list of names, without the zero byte (MLX5_EP_EXEMPT_LEN). */
#define NAMES_LEN 1023

/* As many names of 15 bytes as fit are taken, and not a byte more of names. */
TEST_F(sysfs, edges_of_names_are_exact)
{
	char names[NAMES_LEN + 2], now[NAMES_LEN + 2];
	size_t at;

	for (at = 0; at < sizeof(names); at++)
		names[at] = at % 16 == 15 ? ' ' : 'a' + at / 16 % 26;
	names[NAMES_LEN] = '\0';
	EXPECT_EQ(0, sysfs_write("uuar_exempt", names));
	ASSERT_EQ(0, sysfs_read("uuar_exempt", now, sizeof(now)));
	EXPECT_STREQ(names, now);
	/* 64 names of 15 bytes, with a space between, are 1023 bytes. */
	names[NAMES_LEN - 1] = ' ';
	names[NAMES_LEN] = 'z';
	names[NAMES_LEN + 1] = '\0';
	EXPECT_EQ(-EINVAL, sysfs_write("uuar_exempt", names));
	EXPECT_EQ(-EINVAL, sysfs_write("uuar_exempt", "a_16_bytes_name_"));
	ASSERT_EQ(0, sysfs_read("uuar_exempt", now, sizeof(now)));
	EXPECT_EQ(NAMES_LEN, strlen(now));
	EXPECT_EQ(0, sysfs_write("uuar_exempt", "a_15_bytes_name"));
	/* Spaces around a name do not count. */
	memset(names, ' ', NAMES_LEN);
	memcpy(names + 500, "name", 4);
	names[NAMES_LEN] = '\0';
	EXPECT_EQ(0, sysfs_write("uuar_exempt", names));
	ASSERT_EQ(0, sysfs_read("uuar_exempt", now, sizeof(now)));
	EXPECT_STREQ("name", now);
}

/* What is refused beyond is counted: three quarters of the adapter, or what is set. */
TEST_F(sysfs, the_budget_in_force_is_shown)
{
	long pages = 1, quarters;
	char text[32];

	EXPECT_EQ(0, sysfs_write("uar_budget", "0"));
	quarters = sysfs_number("uar_budget_effective");
	/* The most that can be set is what the adapter has. */
	for (; pages < 1 << 24; pages++) {
		snprintf(text, sizeof(text), "%ld", pages * 4);
		if (sysfs_write("uar_budget", text))
			break;
	}
	EXPECT_EQ((pages - 1) * 3, quarters);
	EXPECT_EQ(0, sysfs_write("uar_budget", "7"));
	EXPECT_EQ(7, sysfs_number("uar_budget_effective"));
	EXPECT_EQ(0, sysfs_write("uar_budget", "0"));
	EXPECT_EQ(quarters, sysfs_number("uar_budget_effective"));
}

#define WRITES 600

/* What a valid and a refused list of names lose would be more than a megabyte. */
TEST_F(sysfs, writes_leave_no_memory)
{
	char endless[300];
	long before;
	int n;

	if (lab_kernel_is("debug"))
		SKIP(return, "KASAN keeps freed memory; kmemleak finds leaks");
	memset(endless, 'x', sizeof(endless) - 1);
	endless[sizeof(endless) - 1] = '\0';
	before = baseline_slab_kib();
	ASSERT_LT(0, before);
	for (n = 0; n < WRITES; n++) {
		ASSERT_EQ(0, sysfs_write("uuar_exempt", "someone"));
		ASSERT_EQ(-EINVAL, sysfs_write("uuar_exempt", endless));
	}
	EXPECT_GT(WRITES * 2 / 3, baseline_slab_kib() - before);
	EXPECT_EQ(0, sysfs_write("uuar_exempt", ""));
}

TEST_HARNESS_MAIN
