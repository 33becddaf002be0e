// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * The thread that reads a notifier's events for other libraries, with listener.c compiled
 * into this program: on which device its notifier is, when it reads, and what is closed if
 * it cannot be started. Devices, notifiers and threads are made up.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

static int fake_poll(struct pollfd *fds, nfds_t n, int timeout);
static int fake_create(pthread_t *thread, const pthread_attr_t *attr,
		       void *(*run)(void *), void *arg);
static int fake_detach(pthread_t thread);

#define poll fake_poll
#define pthread_create fake_create
#define pthread_detach fake_detach
#include "../../userlib/listener.c"
#undef poll
#undef pthread_create
#undef pthread_detach

#define DEVICES	3

static struct {
	struct ibv_device devices[DEVICES];
	struct ibv_context contexts[DEVICES];
	struct ibv_device *list[DEVICES + 1];
	bool attached[DEVICES], broken[DEVICES];	/* one that is broken opens not */
	bool no_list;
	int lists, opens;
	int contexts_open, notifiers;
	int create_ret, thread_ret;
	int fd;			/* of the notifier */
	uint32_t watches;
	sigset_t mask;		/* that the thread has */
	void *(*run)(void *listener);
	int detached;
	int reads, reads_at_most;
	int waits, pauses;
} fake;

static int fake_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	if (n) {
		fake.waits += fds->fd == fake.fd && fds->events == POLLIN && timeout == -1;
		return 1;
	}
	fake.pauses += timeout == 10;
	return 0;
}

static int fake_create(pthread_t *thread, const pthread_attr_t *attr,
		       void *(*run)(void *), void *arg)
{
	pthread_sigmask(SIG_SETMASK, NULL, &fake.mask);
	fake.run = run;
	*thread = pthread_self();
	return fake.thread_ret;
}

static int fake_detach(pthread_t thread)
{
	fake.detached++;
	return 0;
}

struct ibv_device **ibv_get_device_list(int *count)
{
	if (fake.no_list)
		return NULL;
	fake.lists++;
	*count = DEVICES;
	return fake.list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	fake.lists -= list == fake.list;
}

int mlx5ep_device_attached(const struct ibv_device *device, char *reason, size_t len)
{
	return fake.attached[device - fake.devices] ? 0 : -EOPNOTSUPP;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	int i = device - fake.devices;

	fake.opens++;
	if (fake.broken[i])
		return NULL;
	fake.contexts_open++;
	return &fake.contexts[i];
}

int ibv_close_device(struct ibv_context *context)
{
	fake.contexts_open--;
	return 0;
}

int mlx5ep_notifier_create(struct ibv_context *context, uint32_t watches,
			   struct mlx5ep_notifier **notifier)
{
	if (fake.create_ret)
		return fake.create_ret;
	fake.watches = watches;
	fake.notifiers++;
	*notifier = (struct mlx5ep_notifier *)&fake;
	return 0;
}

int mlx5ep_notifier_destroy(struct mlx5ep_notifier *notifier)
{
	fake.notifiers--;
	return 0;
}

int mlx5ep_notifier_fd(const struct mlx5ep_notifier *notifier)
{
	return fake.fd;
}

static bool read_events(struct mlx5ep_notifier *notifier)
{
	return ++fake.reads < fake.reads_at_most;
}

FIXTURE(listener)
{
	struct listener listener;
	int ends[2];
};

FIXTURE_SETUP(listener)
{
	int i;

	for (i = 0; i < DEVICES; i++)
		fake.list[i] = &fake.devices[i];
	fake.attached[1] = true;
	self->listener.read = read_events;
	ASSERT_EQ(0, pipe(self->ends));
	fake.fd = self->ends[0];
}

FIXTURE_TEARDOWN(listener)
{
	EXPECT_EQ(0, fake.lists);
}

/* A start that fails with an error leaves nothing. */
static void fails(struct __test_metadata *_metadata, FIXTURE_DATA(listener) *self, int error)
{
	EXPECT_EQ(error, listener_start(&self->listener));
	EXPECT_EQ(0, fake.contexts_open);
	EXPECT_EQ(0, fake.notifiers);
	EXPECT_EQ(0, fake.detached);
}

TEST_F(listener, is_on_the_first_device_with_the_module)
{
	fake.attached[2] = true;
	EXPECT_EQ(0, listener_possible());
	EXPECT_EQ(0, fake.opens);
	EXPECT_EQ(0, listener_start(&self->listener));
	EXPECT_EQ(1, fake.opens);
	EXPECT_EQ(&fake.contexts[1], self->listener.context);
	EXPECT_EQ((void *)&fake, self->listener.notifier);
	EXPECT_EQ(0, fake.watches);
	EXPECT_TRUE(fcntl(fake.fd, F_GETFL) & O_NONBLOCK);
	EXPECT_EQ(1, fake.detached);
}

TEST_F(listener, is_on_a_device_that_can_be_opened)
{
	fake.attached[2] = true;
	fake.broken[1] = true;
	EXPECT_EQ(0, listener_start(&self->listener));
	EXPECT_EQ(&fake.contexts[2], self->listener.context);
	EXPECT_EQ(1, fake.contexts_open);
	EXPECT_EQ(1, fake.notifiers);
}

TEST_F(listener, is_nowhere_without_the_module)
{
	fake.attached[1] = false;
	EXPECT_EQ(-EOPNOTSUPP, listener_possible());
	fails(_metadata, self, -EOPNOTSUPP);
	fake.attached[1] = true;
	fake.no_list = true;
	EXPECT_EQ(-EOPNOTSUPP, listener_possible());
	fails(_metadata, self, -EOPNOTSUPP);
}

TEST_F(listener, that_cannot_be_started_leaves_nothing)
{
	fake.broken[1] = true;
	fails(_metadata, self, -EIO);
	fake.broken[1] = false;
	fake.create_ret = -EMFILE;
	fails(_metadata, self, -EMFILE);
	fake.create_ret = 0;
	fake.fd = -1;
	fails(_metadata, self, -EBADF);
	fake.fd = self->ends[0];
	fake.thread_ret = EAGAIN;
	fails(_metadata, self, -EAGAIN);
}

TEST_F(listener, takes_no_signals_of_the_program)
{
	sigset_t before, after;
	int sig;

	sigemptyset(&before);
	sigaddset(&before, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	ASSERT_EQ(0, listener_start(&self->listener));
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (sig = 1; sig < 32; sig++) {
		if (sig != SIGKILL && sig != SIGSTOP)
			EXPECT_EQ(1, sigismember(&fake.mask, sig));
		EXPECT_EQ(sig == SIGUSR2, sigismember(&after, sig));
	}
}

/* It waits for events, then a moment, and reads; until there will be no more. */
TEST_F(listener, reads_after_each_event)
{
	ASSERT_EQ(0, listener_start(&self->listener));
	fake.reads_at_most = 3;
	fake.run(&self->listener);
	EXPECT_EQ(3, fake.reads);
	EXPECT_EQ(3, fake.waits);
	EXPECT_EQ(3, fake.pauses);
}

TEST_HARNESS_MAIN
