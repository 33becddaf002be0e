// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * The ids of the module's objects and methods, as the library reads them: from
 * attributes that a module has, that another version has, and that cannot be read.
 */
#include "kselftest_harness.h"

#include <sys/wait.h>

#include "cancelled.h"
#include "xrc/xrc_fake.h"
#include "../../userlib/uverbs_ids.c"

#define NAME "object notifier"

FIXTURE(ids)
{
	struct fake_context c;
	struct ibv_context *ctx;
};

FIXTURE_SETUP(ids)
{
	ASSERT_EQ(0, fake_open(&self->c));
	self->ctx = &self->c.verbs.context;
	ASSERT_EQ(0, fake_put(self->c.dir, "uverbs_ids",
			      "method notifier create 0x1\n"
			      "object notifier 0x100b\nobject other 12\n"));
}

FIXTURE_TEARDOWN(ids)
{
	EXPECT_TRUE(thread_is_free());
	EXPECT_EQ(0, fake_close(&self->c));
}

TEST_F(ids, are_found_by_the_whole_name)
{
	EXPECT_EQ(0x100b, mlx5ep_uverbs_id(self->ctx, NAME));
	EXPECT_EQ(1, mlx5ep_uverbs_id(self->ctx, "method notifier create"));
	EXPECT_EQ(12, mlx5ep_uverbs_id(self->ctx, "object other"));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_uverbs_id(self->ctx, "object note"));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_uverbs_id(self->ctx, "object noti"));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_uverbs_id(self->ctx, "notifier"));
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
		mlx5ep_uverbs_forget(self->ctx);
		ASSERT_EQ(0, fake_put(self->c.dir, "uverbs_ids",
				       lines[i].line));
		EXPECT_EQ(lines[i].id, mlx5ep_uverbs_id(self->ctx, NAME)) {
			TH_LOG("%s", lines[i].line);
		}
	}
}

TEST_F(ids, of_another_abi_are_not_used)
{
	ASSERT_EQ(0, fake_put(self->c.dir, "abi_version", "99\n"));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_uverbs_id(self->ctx, NAME));
	ASSERT_EQ(0, fake_put(self->c.dir, "abi_version", ""));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_uverbs_id(self->ctx, NAME));
	/* What is refused is not kept, nor is what is empty. */
	ASSERT_EQ(0, fake_put(self->c.dir, "abi_version", "1\n"));
	ASSERT_EQ(0, fake_put(self->c.dir, "uverbs_ids", ""));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_uverbs_id(self->ctx, NAME));
	ASSERT_EQ(0, fake_put(self->c.dir, "uverbs_ids", NAME " 0x100b\n"));
	EXPECT_EQ(0x100b, mlx5ep_uverbs_id(self->ctx, NAME));
}

/* A module that lists the version is asked once. */
TEST_F(ids, are_listed_with_their_abi)
{
	ASSERT_EQ(0, fake_put(self->c.dir, "abi_version", "99\n"));
	ASSERT_EQ(0, fake_put(self->c.dir, "uverbs_ids",
			      "abi 1\n" NAME " 0x100b\n"));
	EXPECT_EQ(0x100b, mlx5ep_uverbs_id(self->ctx, NAME));
	mlx5ep_uverbs_forget(self->ctx);
	ASSERT_EQ(0, fake_put(self->c.dir, "abi_version", "1\n"));
	ASSERT_EQ(0, fake_put(self->c.dir, "uverbs_ids",
			      "abi 99\n" NAME " 0x100b\n"));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_uverbs_id(self->ctx, NAME));
}

TEST_F(ids, are_read_once_until_they_are_forgotten)
{
	EXPECT_EQ(0x100b, mlx5ep_uverbs_id(self->ctx, NAME));
	ASSERT_EQ(0, fake_put(self->c.dir, "uverbs_ids", NAME " 7\n"));
	EXPECT_EQ(0x100b, mlx5ep_uverbs_id(self->ctx, NAME));
	mlx5ep_uverbs_forget(self->ctx);
	EXPECT_EQ(7, mlx5ep_uverbs_id(self->ctx, NAME));
}

/* More devices than are kept: each has its own ids, and the first is read again. */
TEST_F(ids, of_a_device_are_never_those_of_another)
{
	static struct fake_context others[MAX_DEVICES];
	char line[32];
	int i, round;

	for (i = 0; i < MAX_DEVICES; i++) {
		ASSERT_EQ(0, fake_open(&others[i]));
		snprintf(line, sizeof(line), NAME " %d\n", 100 + i);
		ASSERT_EQ(0, fake_put(others[i].dir, "uverbs_ids", line));
	}
	for (round = 0; round < 2; round++) {
		EXPECT_EQ(0x100b, mlx5ep_uverbs_id(self->ctx, NAME));
		for (i = 0; i < MAX_DEVICES; i++)
			EXPECT_EQ(100 + i,
				  mlx5ep_uverbs_id(&others[i].verbs.context,
						   NAME));
	}
	/* Nor are those of another forgotten. */
	ASSERT_EQ(0, fake_put(others[2].dir, "uverbs_ids", NAME " 9\n"));
	mlx5ep_uverbs_forget(&others[3].verbs.context);
	EXPECT_EQ(102, mlx5ep_uverbs_id(&others[2].verbs.context, NAME));
	while (i--)
		EXPECT_EQ(0, fake_close(&others[i]));
}

TEST_F(ids, are_in_an_attribute_that_may_not_be_readable)
{
	char folder[IBV_SYSFS_PATH_MAX + 64];
	char buf[16] = "..............x";

	EXPECT_EQ(8, mlx5ep_read_sysfs(&self->c.dev, "uverbs_ids", buf, 9));
	EXPECT_STREQ("method n", buf);
	EXPECT_EQ('.', buf[9]);
	EXPECT_EQ(-ENOENT, mlx5ep_read_sysfs(&self->c.dev, "none", buf, 9));
	EXPECT_STREQ("", buf);
	/* A folder can be opened, and not read. */
	snprintf(folder, sizeof(folder), "%s/mlx5_ep/folder",
		 self->c.dir);
	ASSERT_EQ(0, mkdir(folder, 0700));
	strcpy(buf, "x");
	EXPECT_EQ(-EISDIR, mlx5ep_read_sysfs(&self->c.dev, "folder", buf, 9));
	EXPECT_STREQ("", buf);
}

/* The first descriptor that is free, also if the program has closed its own. */
TEST_F(ids, are_read_by_any_file)
{
	char buf[16];
	int i;

	ASSERT_EQ(0, fake_put(self->c.dir, "empty", ""));
	close(0);
	for (i = 0; i < 2; i++) {
		errno = EPERM;
		EXPECT_EQ(0, mlx5ep_read_sysfs(&self->c.dev, "empty", buf, sizeof(buf)));
		EXPECT_EQ(6, mlx5ep_read_sysfs(&self->c.dev, "uverbs_ids", buf, 7));
		/* And it is closed again. */
		EXPECT_EQ(-1, fcntl(0, F_GETFD));
	}
}

/* What a child finds that is forked while another thread is in a call. */
TEST_F(ids, are_found_by_a_child_of_a_process_that_looks_them_up)
{
	int status;
	pid_t pid;

	EXPECT_EQ(0x100b, mlx5ep_uverbs_id(self->ctx, NAME));
	/* The device is replaced, and its text is not there yet. */
	pthread_mutex_lock(&ids_lock);
	ids_text[0][0] = '\0';
	pid = fork();
	if (!pid) {
		alarm(5);
		if (mlx5ep_uverbs_id(self->ctx, NAME) != 0x100b)
			_exit(1);
		mlx5ep_uverbs_forget(self->ctx);
		_exit(mlx5ep_uverbs_id(self->ctx, "object other") != 12);
	}
	pthread_mutex_unlock(&ids_lock);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	/* The parent's are as they were. */
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_uverbs_id(self->ctx, NAME));
}

TEST_HARNESS_MAIN
