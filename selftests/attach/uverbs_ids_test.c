// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host */
/*
 * The ids of the module's objects and methods, as the library reads them: from
 * attributes that a module has, that another version has, and that cannot be read.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <sys/stat.h>

#include "../../userlib/uverbs_ids.c"

#define NAME "object notifier"

FIXTURE(ids)
{
	char dir[32];
	struct ibv_device device;
	struct ibv_context ctx;
};

static int attribute(const struct ibv_device *device, const char *name,
		     const char *text)
{
	char path[IBV_SYSFS_PATH_MAX + 64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/mlx5_ep/%s", device->ibdev_path, name);
	file = fopen(path, "w");
	if (!file)
		return -errno;
	fputs(text, file);
	return fclose(file) ? -errno : 0;
}

/* A device in a folder of its own. */
static int device_add(const char *dir, const char *name,
		      struct ibv_device *device)
{
	char path[IBV_SYSFS_PATH_MAX + 64];
	char version[16];

	snprintf(device->ibdev_path, sizeof(device->ibdev_path), "%s/%s", dir,
		 name);
	snprintf(path, sizeof(path), "%s/mlx5_ep", device->ibdev_path);
	if (mkdir(device->ibdev_path, 0700) || mkdir(path, 0700))
		return -errno;
	snprintf(version, sizeof(version), "%u\n", MLX5_EP_ABI_VERSION);
	return attribute(device, "abi_version", version);
}

FIXTURE_SETUP(ids)
{
	strcpy(self->dir, "/tmp/uverbs_ids.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	ASSERT_EQ(0, device_add(self->dir, "one", &self->device));
	self->ctx.device = &self->device;
	ASSERT_EQ(0, attribute(&self->device, "uverbs_ids",
			       "method notifier create 0x1\n"
			       "object notifier 0x100b\nobject other 12\n"));
}

FIXTURE_TEARDOWN(ids)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", self->dir);
	EXPECT_EQ(0, system(command));
}

TEST_F(ids, are_found_by_the_whole_name)
{
	EXPECT_EQ(0x100b, mlx5ep_uverbs_id(&self->ctx, NAME));
	EXPECT_EQ(1, mlx5ep_uverbs_id(&self->ctx, "method notifier create"));
	EXPECT_EQ(12, mlx5ep_uverbs_id(&self->ctx, "object other"));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_uverbs_id(&self->ctx, "object note"));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_uverbs_id(&self->ctx, "object noti"));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_uverbs_id(&self->ctx, "notifier"));
}

TEST_F(ids, are_numbers_of_16_bits)
{
	static const struct {
		const char *line;
		int id;
	} lines[] = {
		{ NAME " 0", 0 },
		{ NAME " 0xffff\n", 0xffff },
		{ NAME " 0x10000\n", -EPROTO },
		{ NAME " -1\n", -EPROTO },
		{ NAME " ", -EPROTO },
		{ NAME " none\n", -EPROTO },
		{ NAME "\n", -EOPNOTSUPP },
		{ "", -EOPNOTSUPP },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		mlx5ep_uverbs_forget(&self->ctx);
		ASSERT_EQ(0, attribute(&self->device, "uverbs_ids",
				       lines[i].line));
		EXPECT_EQ(lines[i].id, mlx5ep_uverbs_id(&self->ctx, NAME)) {
			TH_LOG("%s", lines[i].line);
		}
	}
}

TEST_F(ids, of_another_abi_are_not_used)
{
	char version[16];

	ASSERT_EQ(0, attribute(&self->device, "abi_version", "99\n"));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_uverbs_id(&self->ctx, NAME));
	ASSERT_EQ(0, attribute(&self->device, "abi_version", ""));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_uverbs_id(&self->ctx, NAME));
	/* What is refused is not kept. */
	snprintf(version, sizeof(version), "%u\n", MLX5_EP_ABI_VERSION);
	ASSERT_EQ(0, attribute(&self->device, "abi_version", version));
	EXPECT_EQ(0x100b, mlx5ep_uverbs_id(&self->ctx, NAME));
}

TEST_F(ids, are_read_once_until_they_are_forgotten)
{
	EXPECT_EQ(0x100b, mlx5ep_uverbs_id(&self->ctx, NAME));
	ASSERT_EQ(0, attribute(&self->device, "uverbs_ids", NAME " 7\n"));
	EXPECT_EQ(0x100b, mlx5ep_uverbs_id(&self->ctx, NAME));
	mlx5ep_uverbs_forget(&self->ctx);
	EXPECT_EQ(7, mlx5ep_uverbs_id(&self->ctx, NAME));
}

/* More devices than are kept: each has its own ids, and the first is read again. */
TEST_F(ids, of_a_device_are_never_those_of_another)
{
	struct ibv_device others[MAX_DEVICES];
	struct ibv_context ctx = {};
	char name[8], line[32];
	int i, round;

	for (i = 0; i < MAX_DEVICES; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		ASSERT_EQ(0, device_add(self->dir, name, &others[i]));
		snprintf(line, sizeof(line), NAME " %d\n", 100 + i);
		ASSERT_EQ(0, attribute(&others[i], "uverbs_ids", line));
	}
	for (round = 0; round < 2; round++) {
		EXPECT_EQ(0x100b, mlx5ep_uverbs_id(&self->ctx, NAME));
		for (i = 0; i < MAX_DEVICES; i++) {
			ctx.device = &others[i];
			EXPECT_EQ(100 + i, mlx5ep_uverbs_id(&ctx, NAME));
		}
	}
}

TEST_F(ids, are_in_an_attribute_that_may_not_be_readable)
{
	char folder[IBV_SYSFS_PATH_MAX + 64];
	char buf[16] = "..............x";

	EXPECT_EQ(8, mlx5ep_read_sysfs(&self->device, "uverbs_ids", buf, 9));
	EXPECT_STREQ("method n", buf);
	EXPECT_EQ('.', buf[9]);
	EXPECT_EQ(-ENOENT, mlx5ep_read_sysfs(&self->device, "none", buf, 9));
	EXPECT_STREQ("", buf);
	/* A folder can be opened, and not read. */
	snprintf(folder, sizeof(folder), "%s/mlx5_ep/folder",
		 self->device.ibdev_path);
	ASSERT_EQ(0, mkdir(folder, 0700));
	strcpy(buf, "x");
	EXPECT_EQ(-EISDIR, mlx5ep_read_sysfs(&self->device, "folder", buf, 9));
	EXPECT_STREQ("", buf);
}

TEST_HARNESS_MAIN
