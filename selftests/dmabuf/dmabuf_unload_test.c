// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * runs on: guest, tier: core, guest: attach, kernels: 6.1 6.12 7.2 7.3 newest debug kcsan, smp: 2, timeout: 100
 */
/*
 * Modules are unloaded while a dma-buf is watched and its exporter moves it all the
 * time. The driver may go: then the word is stale and the exporter has no importer.
 * mlx5_ep stays until the file of the notifier is closed.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <mlx5ep.h>

#include "dmabuf.h"
#include "sysfs.h"
#include "verbs.h"

#define SIZE	(16 * 4096u)

FIXTURE(unload)
{
	struct verbs_setup verbs;
	struct mlx5ep_notifier *notifier;
	struct mlx5ep_watch watch;
	int exporter;
	int fd;
	int failed;
	bool over;
};

/* Loads both modules. Returns 0 when mlx5_ep is attached. */
static int insert(void)
{
	char command[512];
	struct utsname u;
	int i;

	uname(&u);
	snprintf(command, sizeof(command),
		 "insmod build/modules/%s/mlx5_ep.ko && modprobe mlx5_ib",
		 u.release);
	if (system(command))
		return -EINVAL;
	for (i = 0; i < 100 && !sysfs_attached(); i++)
		usleep(100000);
	return sysfs_attached() ? 0 : -ETIMEDOUT;
}

/* Opens the device, and watches the buffer. Returns 0 or -errno. */
static int hold(FIXTURE_DATA(unload) *self)
{
	int ret = verbs_open(&self->verbs, NULL, 1);

	if (!ret)
		ret = mlx5ep_notifier_create(self->verbs.ctx, 8,
					     &self->notifier);
	if (!ret)
		ret = mlx5ep_watch_dmabuf(self->notifier, self->fd, 0, SIZE, 0,
					  &self->watch);
	return ret;
}

static void release(FIXTURE_DATA(unload) *self)
{
	mlx5ep_notifier_destroy(self->notifier);
	verbs_close(&self->verbs);
}

static void *move(void *arg)
{
	FIXTURE_DATA(unload) *self = arg;
	uint8_t byte = 0;

	while (!__atomic_load_n(&self->over, __ATOMIC_SEQ_CST))
		self->failed += !!dmabuf_move(self->exporter, self->fd, byte++);
	return NULL;
}

FIXTURE_SETUP(unload)
{
	self->exporter = dmabuf_exporter();
	ASSERT_LE(0, self->exporter);
	self->fd = dmabuf_create(self->exporter, SIZE, 0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(unload)
{
	close(self->fd);
	EXPECT_EQ(0, dmabuf_buffers(self->exporter));
	close(self->exporter);
}

TEST_F_TIMEOUT(unload, modules_go_although_a_dmabuf_was_watched, 300)
{
	pthread_t thread;
	int round;

	ASSERT_EQ(0, pthread_create(&thread, NULL, move, self));
	for (round = 0; round < 4; round++) {
		ASSERT_EQ(0, hold(self));
		EXPECT_EQ(1, dmabuf_attachments(self->exporter, self->fd));
		EXPECT_NE(0, system("rmmod mlx5_ep 2>/dev/null"));
		ASSERT_EQ(0, system("rmmod mlx5_ib"));
		EXPECT_FALSE(mlx5ep_watch_valid(&self->watch));
		EXPECT_EQ(0, dmabuf_attachments(self->exporter, self->fd));
		/* The file of the notifier has code of the module. */
		EXPECT_NE(0, system("rmmod mlx5_ep 2>/dev/null"));
		release(self);
		ASSERT_EQ(0, system("rmmod mlx5_ep"));
		ASSERT_EQ(0, insert());
	}
	__atomic_store_n(&self->over, true, __ATOMIC_SEQ_CST);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, self->failed);

	ASSERT_EQ(0, hold(self));
	EXPECT_TRUE(mlx5ep_watch_valid(&self->watch));
	ASSERT_EQ(0, dmabuf_move(self->exporter, self->fd, 1));
	EXPECT_FALSE(mlx5ep_watch_valid(&self->watch));
	release(self);
}

TEST_HARNESS_MAIN
