// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * The thread that reads a notifier's events for other libraries, with listener.c compiled
 * into this program: on which device its notifier is, when it reads, and what is closed if
 * it cannot be started. Devices, notifiers and threads are made up.
 */
#include "kselftest_harness.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cancelled.h"

static int fake_poll(struct pollfd *fds, nfds_t n, int timeout);
static int fake_create(pthread_t *thread, const pthread_attr_t *attr,
		       void *(*run)(void *), void *arg);
static int fake_detach(pthread_t thread);

static DIR *fake_opendir(const char *path);
static struct dirent *fake_readdir(DIR *dir);
static int fake_closedir(DIR *dir);
static void *fake_dlopen(const char *name, int flags);
static void *fake_dlsym(void *library, const char *name);
static int fake_dlclose(void *library);

#define opendir fake_opendir
#define readdir fake_readdir
#define closedir fake_closedir
#define dlopen fake_dlopen
#define dlsym fake_dlsym
#define dlclose fake_dlclose
#define poll fake_poll
#define pthread_create fake_create
#define pthread_detach fake_detach
#include "../../userlib/listener.c"
#undef opendir
#undef readdir
#undef closedir
#undef dlopen
#undef dlsym
#undef dlclose
#undef poll
#undef pthread_create
#undef pthread_detach

#define DEVICES	3

static struct {
	struct ibv_device devices[DEVICES];
	struct ibv_context contexts[DEVICES];
	struct ibv_device *list[DEVICES + 1];
	bool attached[DEVICES], broken[DEVICES];	/* one that is broken opens not */
	bool no_list, no_verbs;
	bool dev;			/* /dev/mlx5_ep is there */
	int folders, at;		/* of sysfs, that are open, and where it is read */
	int lists, opens;
	int contexts_open, notifiers;
	int create_ret, thread_ret;
	int fd;			/* of the notifier */
	uint32_t watches;
	sigset_t mask;		/* while the notifier is made */
	sigset_t thread_mask;
	void *(*run)(void *listener);
	int detached;
	int reads, reads_at_most;
	int waits, pauses, retries;
	int renewals;
	struct mlx5ep_notifier *renewed;
	jmp_buf end;
} fake;

static int fake_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	if (n) {
		fake.waits += fds->fd == fake.fd && fds->events == POLLIN && timeout == -1;
		return 1;
	}
	fake.pauses += timeout == 10;
	fake.retries += timeout == 500;
	/* The adapter comes back. */
	if (fake.retries == 3)
		fake.create_ret = 0;
	return 0;
}

static DIR *fake_opendir(const char *path)
{
	if (fake.no_list || strcmp(path, "/sys/class/infiniband"))
		return NULL;
	fake.folders++;
	fake.at = 0;
	return (DIR *)&fake;
}

/* Its last character is the number of the device. */
static struct dirent *fake_readdir(DIR *dir)
{
	static struct dirent entry;

	if (fake.at == DEVICES + 1)
		return NULL;
	sprintf(entry.d_name, fake.at ? "mlx5_%d" : ".", fake.at - 1);
	fake.at++;
	return &entry;
}

static int fake_closedir(DIR *dir)
{
	fake.folders--;
	return 0;
}

static void *fake_dlopen(const char *name, int flags)
{
	return fake.no_verbs || !(flags & RTLD_NOLOAD) ? NULL : &fake;
}

static void *fake_dlsym(void *library, const char *name)
{
	static const struct {
		const char *name;
		void *function;
	} functions[] = {
		{ "ibv_get_device_list", ibv_get_device_list },
		{ "ibv_free_device_list", ibv_free_device_list },
		{ "ibv_open_device", ibv_open_device },
		{ "ibv_close_device", ibv_close_device },
	};
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strcmp(functions[i].name, name))
			return functions[i].function;
	return NULL;
}

static int fake_dlclose(void *library)
{
	return 0;
}

static int fake_create(pthread_t *thread, const pthread_attr_t *attr,
		       void *(*run)(void *), void *arg)
{
	pthread_sigmask(SIG_SETMASK, NULL, &fake.thread_mask);
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
	int i = device - fake.devices;

	if (i < 0 || i >= DEVICES)
		i = device->ibdev_path[strlen(device->ibdev_path) - 1] - '0';
	return fake.attached[i] ? 0 : -EOPNOTSUPP;
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
	pthread_sigmask(SIG_SETMASK, NULL, &fake.mask);
	if (fake.create_ret)
		return fake.create_ret;
	fake.watches = watches;
	fake.notifiers++;
	*notifier = (struct mlx5ep_notifier *)&fake;
	return 0;
}

int mlx5ep_notifier_open(uint32_t watches, struct mlx5ep_notifier **notifier)
{
	if (!fake.dev)
		return -EOPNOTSUPP;
	return mlx5ep_notifier_create(NULL, watches, notifier);
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

/* The second notifier ends the thread, which has no end. */
static bool read_events(struct mlx5ep_notifier *notifier)
{
	if (fake.renewals)
		longjmp(fake.end, 1);
	return ++fake.reads < fake.reads_at_most;
}

static void renewed(struct mlx5ep_notifier *notifier)
{
	fake.renewals++;
	fake.renewed = notifier;
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
	self->listener.renewed = renewed;
	ASSERT_EQ(0, pipe(self->ends));
	fake.fd = self->ends[0];
}

FIXTURE_TEARDOWN(listener)
{
	EXPECT_TRUE(thread_is_free());
	EXPECT_EQ(0, fake.lists);
	EXPECT_EQ(0, fake.folders);
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
			EXPECT_EQ(2, sigismember(&fake.mask, sig) +
				     sigismember(&fake.thread_mask, sig));
		EXPECT_EQ(sig == SIGUSR2, sigismember(&after, sig));
	}
	pthread_sigmask(SIG_UNBLOCK, &before, NULL);
}

TEST_F(listener, brings_no_libibverbs_of_its_own)
{
	fake.no_verbs = true;
	EXPECT_EQ(0, listener_possible());
	fails(_metadata, self, -EOPNOTSUPP);
}

/* Providers of libfabric that use no verbs have a cache, too. */
TEST_F(listener, needs_no_libibverbs)
{
	fake.no_verbs = true;
	fake.dev = true;
	EXPECT_EQ(0, listener_start(&self->listener));
	EXPECT_EQ(NULL, self->listener.context);
	EXPECT_EQ(1, fake.notifiers);
	EXPECT_EQ(1, fake.detached);
	fake.notifiers = fake.detached = 0;
	fake.fd = -1;
	fails(_metadata, self, -EBADF);
}

/* As where the user may have no page more, or a container has no file of verbs. */
TEST_F(listener, needs_no_device_that_can_be_opened)
{
	fake.broken[1] = true;
	fake.dev = true;
	EXPECT_EQ(0, listener_start(&self->listener));
	EXPECT_EQ(NULL, self->listener.context);
	EXPECT_EQ(0, fake.contexts_open);
	EXPECT_EQ(1, fake.notifiers);
}

/*
 * It waits for events, then a moment, and reads; until there will be no more. Then it makes
 * another notifier as soon as that is possible, and the first one stays.
 */
TEST_F(listener, reads_after_each_event)
{
	ASSERT_EQ(0, listener_start(&self->listener));
	fake.reads_at_most = 3;
	fake.create_ret = -EIO;
	fake.attached[2] = true;
	fake.broken[1] = true;
	if (!setjmp(fake.end))
		fake.run(&self->listener);
	EXPECT_EQ(3, fake.reads);
	EXPECT_EQ(3, fake.retries);
	EXPECT_EQ(4, fake.waits);
	EXPECT_EQ(4, fake.pauses);
	EXPECT_EQ(1, fake.renewals);
	EXPECT_EQ(&fake.contexts[2], self->listener.context);
	EXPECT_EQ(self->listener.notifier, fake.renewed);
	EXPECT_EQ(2, fake.notifiers);
	EXPECT_EQ(2, fake.contexts_open);
}

TEST_HARNESS_MAIN
