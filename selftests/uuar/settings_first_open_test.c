// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, smp: 2, guest: settings, timeout: 300 */
/*
 * The first context of a device that comes back has the policy. A process opens the
 * device without pause while it is bound. The driver refuses that until the device
 * is active, with or without a policy; the first open that it does not refuse has
 * to be managed.
 */
#include "kselftest_harness.h"

#include <sys/wait.h>

#include "ctx_open.h"
#include "patience.h"
#include "simhca.h"
#include "sysfs.h"

#define ROUNDS 60

/*
 * As libmlx5 asks: a stock context has no UAR page at open, and a managed one has
 * one.
 */
static const struct mlx5_ib_alloc_ucontext_req_v2 request = {
	.total_num_bfregs = 16,
	.num_low_latency_bfregs = 4,
	.max_cqe_version = 1,
	.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR,
};

FIXTURE(first_open)
{
	char file[128];
	char auxdev[256];
};

FIXTURE_SETUP(first_open)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, ctx_device_file(self->file, sizeof(self->file)));
	ASSERT_EQ(0, sysfs_auxdev(self->auxdev, sizeof(self->auxdev)));
	ASSERT_EQ(0, sysfs_policy("independent", 16, false));
	/* A request is protected then, which takes long, so that more can happen. */
	ASSERT_EQ(0, sysfs_write("uar_budget", "1000"));
}

FIXTURE_TEARDOWN(first_open)
{
	EXPECT_EQ(0, sysfs_defaults());
}

/* Opens without pause until that succeeds; @refused counts refusals. */
static int open_first(const char *path, unsigned long *refused)
{
	double seconds = 10 * PATIENCE * patience_factor();
	time_t end = time(NULL) + seconds;
	int fd;

	do {
		fd = ctx_open_file(path, &request, sizeof(request));
		*refused += fd == -EAGAIN;
	} while (fd < 0 && time(NULL) < end);
	return fd;
}

static void one_round(struct __test_metadata *_metadata,
		      FIXTURE_DATA(first_open) *self, unsigned long *refused)
{
	int64_t pages;
	int fd, status;
	pid_t pid;

	ASSERT_EQ(0, file_write(SYSFS_AUX_DRIVER "unbind", self->auxdev));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(!!file_write(SYSFS_AUX_DRIVER "bind", self->auxdev));
	fd = open_first(self->file, refused);
	ASSERT_LE(0, fd);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);

	pages = simhca_count("uar");
	EXPECT_EQ(1, sysfs_number("uar_in_use"));
	EXPECT_EQ(0, sysfs_number("uuar_fallbacks"));
	close(fd);
	EXPECT_EQ(pages - 1, simhca_count("uar"));
}

TEST_F_TIMEOUT(first_open, the_first_context_is_managed, 400)
{
	unsigned long refused = 0;
	int i;

	for (i = 0; i < ROUNDS; i++)
		one_round(_metadata, self, &refused);
	TH_LOG("refused %lu times", refused);
	/* The process was there before the device was active. */
	EXPECT_LT(0, refused);
}

TEST_HARNESS_MAIN
