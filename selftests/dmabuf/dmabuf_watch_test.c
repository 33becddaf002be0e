// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, kernels: 6.1 6.12 7.2 7.3 newest debug, timeout: 200 */
/*
 * Watches of dma-bufs: what an exporter does to its memory, and what the words and
 * events say. Who is attached to a buffer is asked of the exporter.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mlx5ep.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>

#include "dmabuf.h"
#include "sysfs.h"
#include "uverbs.h"
#include "verbs.h"

#define PAGE		4096u
#define SIZE		(16 * PAGE)
#define PER_USER	"/sys/module/mlx5_ep/parameters/dmabuf_watches_per_user"

FIXTURE(dmabuf)
{
	struct verbs_setup verbs;
	struct mlx5ep_notifier *notifier;
	struct mlx5ep_watch watch;
	int exporter;
	int fd;
};

FIXTURE_SETUP(dmabuf)
{
	self->exporter = dmabuf_exporter();
	ASSERT_LE(0, self->exporter);
	self->fd = dmabuf_create(self->exporter, SIZE, 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, verbs_open(&self->verbs, NULL, 1));
	ASSERT_EQ(0, mlx5ep_notifier_create(self->verbs.ctx, 8,
					    &self->notifier));
	ASSERT_EQ(0, fcntl(mlx5ep_notifier_fd(self->notifier), F_SETFL,
			   O_NONBLOCK));
}

FIXTURE_TEARDOWN(dmabuf)
{
	mlx5ep_notifier_destroy(self->notifier);
	verbs_close(&self->verbs);
	close(self->fd);
	EXPECT_EQ(0, dmabuf_buffers(self->exporter));
	close(self->exporter);
}

static int watch(FIXTURE_DATA(dmabuf) *self)
{
	return mlx5ep_watch_dmabuf(self->notifier, self->fd, PAGE + 1, PAGE, 7,
				   &self->watch);
}

static unsigned int state(const struct mlx5ep_watch *watch)
{
	return *watch->word & MLX5_EP_WATCH_STATE_MASK;
}

TEST_F(dmabuf, a_move_changes_the_word_before_it_returns)
{
	struct mlx5_ep_event event;

	ASSERT_EQ(0, watch(self));
	EXPECT_EQ(1, dmabuf_attachments(self->exporter, self->fd));
	EXPECT_TRUE(mlx5ep_watch_valid(&self->watch));
	EXPECT_EQ(0, mlx5ep_watch_record(&self->watch));
	EXPECT_EQ(0, mlx5ep_watch_verify(&self->watch));
	EXPECT_EQ(-EAGAIN, mlx5ep_notifier_read(self->notifier, &event, 1));

	ASSERT_EQ(0, dmabuf_move(self->exporter, self->fd, 1));
	EXPECT_EQ(MLX5_EP_WATCH_STATE_STALE, state(&self->watch));
	EXPECT_EQ(-EAGAIN, mlx5ep_watch_record(&self->watch));
	EXPECT_EQ(-ESTALE, mlx5ep_watch_verify(&self->watch));

	ASSERT_EQ(1, mlx5ep_notifier_read(self->notifier, &event, 1));
	EXPECT_EQ(MLX5_EP_EVENT_WATCH, event.type);
	EXPECT_EQ(7, event.cookie);
	EXPECT_EQ(self->watch.slot, event.slot);
	EXPECT_EQ(self->watch.armed, event.word);
	EXPECT_EQ(MLX5_EP_WATCH_CAUSE_DMABUF, event.cause);
	EXPECT_EQ(PAGE, event.start);
	EXPECT_EQ(2 * PAGE, event.length);
	EXPECT_EQ(1, event.count);

	/* It is stale for ever, and told of once. */
	ASSERT_EQ(0, dmabuf_move(self->exporter, self->fd, 2));
	EXPECT_EQ(-EAGAIN, mlx5ep_notifier_read(self->notifier, &event, 1));
	EXPECT_EQ(0, mlx5ep_watch_del(&self->watch));
	EXPECT_EQ(-ENOENT, mlx5ep_watch_del(&self->watch));
	EXPECT_EQ(0, dmabuf_attachments(self->exporter, self->fd));
}

TEST_F(dmabuf, a_revocation_changes_the_word_before_it_returns)
{
	ASSERT_EQ(0, watch(self));
	ASSERT_EQ(0, dmabuf_revoke(self->exporter, self->fd));
	EXPECT_EQ(MLX5_EP_WATCH_STATE_STALE, state(&self->watch));
}

TEST_F(dmabuf, a_move_of_one_buffer_leaves_the_watches_of_others)
{
	struct mlx5ep_watch other, memory;
	int fd = dmabuf_create(self->exporter, SIZE, 0);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, watch(self));
	ASSERT_EQ(0, mlx5ep_watch_dmabuf(self->notifier, fd, 0, SIZE, 8,
					 &other));
	/* The same page numbers as in the buffer. */
	ASSERT_EQ(0, mlx5ep_watch_add(self->notifier, (void *)(uintptr_t)PAGE,
				      PAGE, 9, &memory));
	ASSERT_EQ(0, dmabuf_move(self->exporter, fd, 1));
	EXPECT_FALSE(mlx5ep_watch_valid(&other));
	EXPECT_TRUE(mlx5ep_watch_valid(&self->watch));
	EXPECT_TRUE(mlx5ep_watch_valid(&memory));
	EXPECT_EQ(0, mlx5ep_watch_del(&other));
	EXPECT_EQ(0, mlx5ep_watch_del(&memory));
	close(fd);
}

TEST_F(dmabuf, what_an_exporter_does_not_tell_is_not_seen)
{
	int fd = dmabuf_create(self->exporter, SIZE, EXPORTER_SILENT);
	struct mlx5ep_watch watch;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, mlx5ep_watch_dmabuf(self->notifier, fd, 0, SIZE, 0,
					 &watch));
	ASSERT_EQ(0, dmabuf_move(self->exporter, fd, 1));
	EXPECT_TRUE(mlx5ep_watch_valid(&watch));
	close(fd);
}

TEST_F(dmabuf, an_exporter_that_pins_its_memory_is_watched_too)
{
	int fd = dmabuf_create(self->exporter, SIZE, EXPORTER_STATIC);
	struct mlx5ep_watch watch;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, mlx5ep_watch_dmabuf(self->notifier, fd, 0, SIZE, 0,
					 &watch));
	EXPECT_EQ(!dmabuf_attach_maps(self->exporter),
		  dmabuf_attachments(self->exporter, fd));
	EXPECT_EQ(-EBUSY, dmabuf_move(self->exporter, fd, 1));
	EXPECT_TRUE(mlx5ep_watch_valid(&watch));
	/* The watch holds the buffer, whether it is attached to it or not. */
	close(fd);
	EXPECT_EQ(2, dmabuf_buffers(self->exporter));
	EXPECT_EQ(0, mlx5ep_watch_del(&watch));
	EXPECT_EQ(1, dmabuf_buffers(self->exporter));
}

TEST_F(dmabuf, no_watch_maps_the_memory)
{
	static const uint32_t flags[] = { 0, EXPORTER_STATIC, EXPORTER_NO_PIN };
	struct mlx5ep_watch watches[2];
	unsigned int i, j;
	int fd;

	for (i = 0; i < 3; i++) {
		fd = dmabuf_create(self->exporter, SIZE, flags[i]);
		ASSERT_LE(0, fd);
		for (j = 0; j < 2; j++)
			ASSERT_EQ(0, mlx5ep_watch_dmabuf(self->notifier, fd, 0,
							 SIZE, j, &watches[j]));
		EXPECT_EQ(0, mlx5ep_watch_verify(&watches[0]));
		EXPECT_EQ(0, mlx5ep_watch_del_batch(watches, 2));
		EXPECT_EQ(0, dmabuf_maps(self->exporter, fd));
		EXPECT_EQ(0, dmabuf_attachments(self->exporter, fd));
		close(fd);
	}
}

TEST_F(dmabuf, an_exporter_without_pin_is_heard)
{
	int fd = dmabuf_create(self->exporter, SIZE, EXPORTER_NO_PIN);
	struct mlx5ep_watch watch;

	ASSERT_LE(0, fd);
	if (dmabuf_attach_maps(self->exporter)) {
		close(fd);
		SKIP(return, "this kernel maps what has no pin for ever");
	}
	ASSERT_EQ(0, mlx5ep_watch_dmabuf(self->notifier, fd, 0, SIZE, 0,
					 &watch));
	ASSERT_EQ(0, dmabuf_move(self->exporter, fd, 1));
	EXPECT_FALSE(mlx5ep_watch_valid(&watch));
	close(fd);
}

TEST_F(dmabuf, a_watch_holds_the_buffer)
{
	struct mlx5_ep_event event;

	ASSERT_EQ(0, watch(self));
	close(self->fd);
	EXPECT_EQ(1, dmabuf_buffers(self->exporter));
	EXPECT_TRUE(mlx5ep_watch_valid(&self->watch));
	EXPECT_EQ(0, mlx5ep_watch_del(&self->watch));
	EXPECT_EQ(0, dmabuf_buffers(self->exporter));
	EXPECT_EQ(-EAGAIN, mlx5ep_notifier_read(self->notifier, &event, 1));
	self->fd = -1;
}

TEST_F(dmabuf, what_is_wrong_is_refused_and_leaves_nothing)
{
	int refuses = dmabuf_create(self->exporter, SIZE, EXPORTER_REFUSES);
	int null = open("/dev/null", O_RDWR);
	struct mlx5ep_notifier *n = self->notifier;
	struct mlx5ep_watch *w = &self->watch;

	ASSERT_LE(0, refuses);
	ASSERT_LE(0, null);
	EXPECT_EQ(-EBADF, mlx5ep_watch_dmabuf(n, -1, 0, PAGE, 0, w));
	EXPECT_EQ(-EINVAL, mlx5ep_watch_dmabuf(n, null, 0, PAGE, 0, w));
	EXPECT_EQ(-EINVAL, mlx5ep_watch_dmabuf(n, self->fd, 0, 0, 0, w));
	EXPECT_EQ(-EINVAL, mlx5ep_watch_dmabuf(n, self->fd, 1, SIZE, 0, w));
	EXPECT_EQ(-EINVAL, mlx5ep_watch_dmabuf(n, self->fd, -1ul, 2, 0, w));
	EXPECT_EQ(-EINVAL, mlx5ep_watch_dmabuf(n, self->fd, 0, -1ul, 0, w));
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_watch_dmabuf(n, refuses, 0, PAGE, 0, w));
	EXPECT_EQ(0, mlx5ep_watch_dmabuf(n, self->fd, SIZE - 1, 1, 0, w));
	EXPECT_EQ(1, dmabuf_attachments(self->exporter, self->fd));
	EXPECT_EQ(0, dmabuf_attachments(self->exporter, refuses));
	close(null);
	close(refuses);
}

static int raw(FIXTURE_DATA(dmabuf) *self, struct mlx5_ep_watch_dmabuf *req,
	       int notifier, void *resp)
{
	int object = uverbs_id("object notifier");
	struct uverbs_call call;

	uverbs_begin(&call, object, MLX5_EP_METHOD_NOTIFIER_WATCH_DMABUF);
	uverbs_handle(&call, MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_HANDLE,
		      notifier);
	uverbs_in(&call, MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_REQ, req,
		  sizeof(*req));
	uverbs_out(&call, MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_RESP, resp,
		   sizeof(struct mlx5_ep_watch_dmabuf_resp));
	return uverbs_do(self->verbs.ctx, &call);
}

TEST_F(dmabuf, a_raw_call_is_checked)
{
	struct mlx5_ep_watch_dmabuf req = { .length = PAGE, .fd = self->fd };
	int notifier = mlx5ep_notifier_fd(self->notifier);
	struct mlx5_ep_watch_dmabuf_resp resp;
	struct mlx5_ep_features features;

	ASSERT_EQ(0, mlx5ep_device_query(self->verbs.ctx, &features));
	EXPECT_TRUE(features.features & MLX5_EP_FEATURE_WATCH_DMABUF);

	req.flags = 1;
	EXPECT_EQ(-EINVAL, raw(self, &req, notifier, &resp));
	req.flags = 0;
	EXPECT_EQ(-EBADF, raw(self, &req, self->fd, &resp));
	/* An answer that cannot be written takes the watch back. */
	EXPECT_EQ(-EFAULT, raw(self, &req, notifier, (void *)8));
	EXPECT_EQ(0, dmabuf_attachments(self->exporter, self->fd));
	EXPECT_EQ(0, raw(self, &req, notifier, &resp));
	EXPECT_EQ(1, dmabuf_attachments(self->exporter, self->fd));
	EXPECT_EQ(0, resp.reserved);
}

TEST_F(dmabuf, limits_bind)
{
	long refusals = sysfs_refusals("dmabuf_watches_per_user");
	struct mlx5ep_watch watches[9];
	int i;

	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, mlx5ep_watch_dmabuf(self->notifier, self->fd, 0,
						 SIZE, i, &watches[i]));
	EXPECT_EQ(-ENOSPC, mlx5ep_watch_dmabuf(self->notifier, self->fd, 0,
					       SIZE, i, &watches[i]));
	EXPECT_EQ(8, dmabuf_attachments(self->exporter, self->fd));
	/* All of them are told. */
	ASSERT_EQ(0, dmabuf_move(self->exporter, self->fd, 1));
	for (i = 0; i < 8; i++)
		EXPECT_FALSE(mlx5ep_watch_valid(&watches[i]));
	EXPECT_EQ(0, mlx5ep_watch_del_batch(watches, 8));
	EXPECT_EQ(0, dmabuf_attachments(self->exporter, self->fd));

	ASSERT_EQ(0, file_write(PER_USER, "2"));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, mlx5ep_watch_dmabuf(self->notifier, self->fd, 0,
						 SIZE, i, &watches[i]));
	EXPECT_EQ(-EDQUOT, mlx5ep_watch_dmabuf(self->notifier, self->fd, 0,
					       SIZE, i, &watches[i]));
	EXPECT_LE(0, refusals);
	EXPECT_EQ(refusals + 1, sysfs_refusals("dmabuf_watches_per_user"));
	EXPECT_EQ(2, dmabuf_attachments(self->exporter, self->fd));
	EXPECT_EQ(0, mlx5ep_watch_del(&watches[0]));
	EXPECT_EQ(0, mlx5ep_watch_dmabuf(self->notifier, self->fd, 0, SIZE, i,
					 &watches[0]));
	ASSERT_EQ(0, file_write(PER_USER, "16384"));
}

TEST_F(dmabuf, the_end_of_a_notifier_detaches)
{
	struct mlx5ep_notifier *n;
	struct mlx5ep_watch one, two;

	ASSERT_EQ(0, mlx5ep_notifier_create(self->verbs.ctx, 100, &n));
	ASSERT_EQ(0, mlx5ep_watch_dmabuf(n, self->fd, 0, SIZE, 0, &one));
	ASSERT_EQ(0, mlx5ep_watch_dmabuf(n, self->fd, 0, PAGE, 0, &two));
	/* With an event that nobody has read. */
	ASSERT_EQ(0, dmabuf_move(self->exporter, self->fd, 1));
	ASSERT_EQ(0, mlx5ep_notifier_destroy(n));
	EXPECT_EQ(0, dmabuf_attachments(self->exporter, self->fd));
	EXPECT_EQ(0, dmabuf_move(self->exporter, self->fd, 2));

	/* What a user may have is free again. */
	ASSERT_EQ(0, file_write(PER_USER, "1"));
	EXPECT_EQ(0, watch(self));
	ASSERT_EQ(0, file_write(PER_USER, "16384"));
}

TEST_F(dmabuf, a_process_that_is_killed_is_detached)
{
	struct mlx5ep_notifier *n;
	struct verbs_setup verbs;
	struct mlx5ep_watch w;
	int status;
	pid_t pid;

	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (!verbs_open(&verbs, NULL, 1) &&
		    !mlx5ep_notifier_create(verbs.ctx, 8, &n) &&
		    !mlx5ep_watch_dmabuf(n, self->fd, 0, SIZE, 0, &w) &&
		    dmabuf_attachments(self->exporter, self->fd) == 1)
			raise(SIGKILL);
		_exit(1);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(0, dmabuf_attachments(self->exporter, self->fd));
}

TEST_F(dmabuf, a_forked_child_changes_nothing)
{
	struct mlx5ep_watch w;
	int status;
	pid_t pid;

	ASSERT_EQ(0, watch(self));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(mlx5ep_watch_dmabuf(self->notifier, self->fd, 0, PAGE, 0,
					  &w) == -EXDEV ? 0 : 1);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(1, dmabuf_attachments(self->exporter, self->fd));
	EXPECT_TRUE(mlx5ep_watch_valid(&self->watch));
	ASSERT_EQ(0, dmabuf_move(self->exporter, self->fd, 1));
	EXPECT_FALSE(mlx5ep_watch_valid(&self->watch));
}

/* A slow move of the buffer. */
static void *move_slowly(void *arg)
{
	FIXTURE_DATA(dmabuf) *self = arg;
	struct exporter_move move = { .fd = self->fd, .slow_ms = 500 };

	return (void *)(long)ioctl(self->exporter, EXPORTER_MOVE, &move);
}

TEST_F(dmabuf, a_watch_is_armed_after_a_move_that_is_under_way)
{
	struct mlx5ep_watch late;
	pthread_t thread;
	void *failed;

	ASSERT_EQ(0, watch(self));
	ASSERT_EQ(0, pthread_create(&thread, NULL, move_slowly, self));
	while (mlx5ep_watch_valid(&self->watch))
		sched_yield();
	/* The memory is about to move. */
	EXPECT_EQ(0, mlx5ep_watch_dmabuf(self->notifier, self->fd, 0, PAGE, 0,
					 &late));
	EXPECT_EQ(0, dmabuf_move(self->exporter, self->fd, 1));
	EXPECT_FALSE(mlx5ep_watch_valid(&late));
	/* A watch is deleted while its exporter moves: deleting waits for that. */
	pthread_join(thread, &failed);
	EXPECT_EQ(NULL, failed);
}

TEST_F(dmabuf, a_device_that_goes_detaches)
{
	struct mlx5_ep_event event;
	char name[64];

	ASSERT_EQ(0, sysfs_auxdev(name, sizeof(name)));
	ASSERT_EQ(0, watch(self));
	ASSERT_EQ(0, file_write(SYSFS_AUX_DRIVER "unbind", name));
	EXPECT_EQ(MLX5_EP_WATCH_STATE_STALE, state(&self->watch));
	EXPECT_EQ(0, dmabuf_attachments(self->exporter, self->fd));
	EXPECT_EQ(0, dmabuf_move(self->exporter, self->fd, 1));
	EXPECT_EQ(-EIO, mlx5ep_watch_del(&self->watch));
	EXPECT_EQ(-EIO, watch(self));
	ASSERT_EQ(1, mlx5ep_notifier_read(self->notifier, &event, 1));
	EXPECT_EQ(MLX5_EP_EVENT_DEVICE_REMOVED, event.type);
	ASSERT_EQ(0, file_write(SYSFS_AUX_DRIVER "bind", name));
}

TEST_HARNESS_MAIN
