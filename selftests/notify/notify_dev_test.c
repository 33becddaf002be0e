// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, smp: 2, guest: own, timeout: 120 */
/*
 * Notifiers of /dev/mlx5_ep: what it answers, to whom, and how it ends. The memory that is
 * watched is registered with no device.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#include <mlx5ep.h>

#include "page.h"
#include "patience.h"
#include "proc.h"
#include "sysfs.h"

#define DEV		"/dev/mlx5_ep"
#define DEV_SYSFS	"/sys/class/misc/mlx5_ep/"
#define TABLE		"/sys/kernel/debug/mlx5_ep/watches"
#define PARAMETERS	"/sys/module/mlx5_ep/parameters/"
#define PAGE		page_bytes()
#define NOBODY		65534

FIXTURE(dev)
{
	struct mlx5ep_notifier *n;
	struct mlx5ep_watch watch;
	char *mem;
	int fd;
};

FIXTURE_SETUP(dev)
{
	self->fd = open(DEV, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(self->fd, 0);
	self->mem = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, self->mem);
	ASSERT_EQ(0, mlx5ep_notifier_open(64, &self->n));
	ASSERT_EQ(0, fcntl(mlx5ep_notifier_fd(self->n), F_SETFL, O_NONBLOCK));
	ASSERT_EQ(0, mlx5ep_watch_add(self->n, self->mem, PAGE, 5,
				      &self->watch));
}

FIXTURE_TEARDOWN(dev)
{
	munmap(self->mem, 4 * PAGE);
	mlx5ep_notifier_destroy(self->n);
	close(self->fd);
}

static int create(int fd, uint32_t capacity, uint32_t flags)
{
	struct mlx5_ep_notifier_create req = {
		.capacity = capacity, .flags = flags,
	};
	int ret = ioctl(fd, MLX5_EP_IOC_NOTIFIER_CREATE, &req);

	return ret < 0 ? -errno : ret;
}

/* Lines of the table of notifiers, without the names of the columns. */
static int listed(void)
{
	FILE *file = fopen(TABLE, "r");
	char line[256];
	int n = -1;

	while (file && fgets(line, sizeof(line), file))
		n++;
	if (file)
		fclose(file);
	return n;
}

static long refusals(const char *reason)
{
	FILE *file = fopen(DEV_SYSFS "refusals", "r");
	long number, found = -1;
	char name[64];

	while (file && fscanf(file, "%63s %ld", name, &number) == 2)
		if (!strcmp(name, reason))
			found = number;
	if (file)
		fclose(file);
	return found;
}

TEST_F(dev, tells_of_memory_that_no_device_has)
{
	struct mlx5_ep_event ev;

	EXPECT_TRUE(mlx5ep_watch_valid(&self->watch));
	EXPECT_EQ(-EAGAIN, mlx5ep_notifier_read(self->n, &ev, 1));
	ASSERT_EQ(0, munmap(self->mem, PAGE));
	EXPECT_FALSE(mlx5ep_watch_valid(&self->watch));
	ASSERT_EQ(1, mlx5ep_notifier_read(self->n, &ev, 1));
	EXPECT_EQ(5, ev.cookie);
	EXPECT_EQ(0, mlx5ep_watch_del(&self->watch));
}

TEST_F(dev, gives_a_file_that_no_program_inherits)
{
	int fd = create(self->fd, 0, 0);

	ASSERT_GE(fd, 0);
	EXPECT_TRUE(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	EXPECT_EQ(0, close(fd));
}

TEST_F(dev, refuses_and_keeps_nothing)
{
	int before = listed(), fd;

	EXPECT_EQ(-EINVAL, create(self->fd, 0, 1));
	EXPECT_EQ(-1, ioctl(self->fd, MLX5_EP_IOC_NOTIFIER_CREATE, NULL));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, ioctl(self->fd, MLX5_EP_IOC_WATCH_ADD, NULL));
	EXPECT_EQ(ENOTTY, errno);
	fd = mlx5ep_notifier_fd(self->n);
	EXPECT_EQ(-ENOTTY, create(fd, 0, 0));
	EXPECT_EQ(before, listed());
}

TEST_F(dev, refuses_more_watches_than_the_module_allows)
{
	long before = refusals("notifier_max_watches");
	struct mlx5ep_notifier *n;

	ASSERT_GE(before, 0);
	EXPECT_EQ(-EDQUOT, mlx5ep_notifier_open((1 << 20) + 1, &n));
	EXPECT_EQ(before + 1, refusals("notifier_max_watches"));
	ASSERT_EQ(0, mlx5ep_notifier_open(1 << 20, &n));
	EXPECT_EQ(1 << 20, mlx5ep_notifier_page(n)->capacity);
	mlx5ep_notifier_destroy(n);
}

/* The exit status of a child of another user, who may have two notifiers. */
static int another_user(void)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		struct mlx5ep_notifier *n[3];

		if (setuid(NOBODY) || mlx5ep_notifier_open(4, &n[0]) ||
		    mlx5ep_notifier_open(4, &n[1]))
			_exit(1);
		if (mlx5ep_notifier_open(4, &n[2]) != -EDQUOT)
			_exit(2);
		/* What was refused is not kept: one that ends makes room for one. */
		mlx5ep_notifier_destroy(n[0]);
		if (mlx5ep_notifier_open(4, &n[0]))
			_exit(3);
		_exit(mlx5ep_notifier_open(4, &n[2]) == -EDQUOT ? 0 : 4);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(dev, counts_each_user_by_itself)
{
	long before = refusals("notifiers_per_user");

	ASSERT_EQ(0, file_write(PARAMETERS "notifiers_per_user", "2"));
	EXPECT_EQ(0, another_user());
	/* The first child has left nothing. */
	EXPECT_EQ(0, another_user());
	EXPECT_EQ(before + 4, refusals("notifiers_per_user"));
	ASSERT_EQ(0, file_write(PARAMETERS "notifiers_per_user", "16384"));
}

/* Without a free descriptor the notifier has begun already. */
TEST_F(dev, that_gets_no_descriptor_is_charged_nothing)
{
	struct rlimit was, none;
	int fd, i;

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &was));
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = was.rlim_max };
	ASSERT_EQ(0, file_write(PARAMETERS "notifiers_per_user", "2"));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(-EMFILE, create(self->fd, 4, 0));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &was));
	fd = create(self->fd, 4, 0);
	EXPECT_LE(0, fd);
	EXPECT_EQ(-EDQUOT, create(self->fd, 4, 0));
	close(fd);
	ASSERT_EQ(0, file_write(PARAMETERS "notifiers_per_user", "16384"));
}

#ifdef __x86_64__
static volatile int began_anew;

/* Where the kernel gave up, the call stands before its system call again. */
static void look_at_call(int number, siginfo_t *info, void *context)
{
	const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	const unsigned char *next = (const unsigned char *)regs[REG_RIP];

	began_anew += regs[REG_RAX] == SYS_ioctl && next[0] == 0x0f &&
		      next[1] == 0x05;
}

/*
 * A process with many mappings, whose timer goes off after @us in the call that makes its
 * first notifier. Returns what that call did.
 */
static int create_interrupted(int dev, unsigned int us)
{
	struct itimerval once = { .it_value.tv_usec = us }, off = {};
	int fd;

	setitimer(ITIMER_REAL, &once, NULL);
	fd = create(dev, 4, 0);
	setitimer(ITIMER_REAL, &off, NULL);
	if (fd < 0)
		return fd;
	return close(fd) ? -errno : 0;
}

/* Returns the exit status of a child. */
static int timed(int dev)
{
	struct sigaction action = {
		.sa_sigaction = look_at_call, .sa_flags = SA_SIGINFO,
	};
	unsigned int us, i;
	char *mem;

	sigaction(SIGALRM, &action, NULL);
	mem = mmap(NULL, 4000 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
		   -1, 0);
	for (i = 0; i < 4000; i += 2)
		if (mprotect(mem + i * PAGE, PAGE, PROT_NONE))
			return 1;
	for (us = 20; us < 20000 && began_anew < 5; us += us / 8)
		if (create_interrupted(dev, us))
			return 2;
	return began_anew ? 0 : 3;
}

TEST_F(dev, that_a_signal_interrupts_is_charged_once)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, file_write(PARAMETERS "notifiers_per_user", "2"));
	pid = fork();
	if (!pid)
		_exit(timed(self->fd));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, file_write(PARAMETERS "notifiers_per_user", "16384"));
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
}
#endif

TEST_F(dev, is_of_no_use_to_a_forked_child)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct mlx5_ep_event ev;
		struct mlx5ep_notifier *n;

		/* The child can have one of its own. */
		_exit(mlx5ep_notifier_usable(self->n) ||
		      mlx5ep_notifier_read(self->n, &ev, 1) != -EXDEV ||
		      mlx5ep_notifier_open(4, &n));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(mlx5ep_watch_valid(&self->watch));
}

/* Waits for events of a notifier of its parent, and says whether it is woken. */
static void wait_in_child(int fd, int says)
{
	struct epoll_event ready = { .events = EPOLLIN };
	int waits = epoll_create1(EPOLL_CLOEXEC);
	bool woken;

	woken = !epoll_ctl(waits, EPOLL_CTL_ADD, fd, &ready) &&
		!epoll_wait(waits, &ready, 1, 0) &&
		epoll_wait(waits, &ready, 1, EVENT_MS) == 1 &&
		ready.events & EPOLLHUP;
	_exit(write(says, &woken, sizeof(woken)) != sizeof(woken));
}

/* A process that makes a notifier, and ends as soon as a child of it waits. */
static void leave_to_child(int says)
{
	struct mlx5ep_notifier *n;
	pid_t pid;
	int fd;

	if (mlx5ep_notifier_open(4, &n))
		_exit(1);
	fd = mlx5ep_notifier_fd(n);
	pid = fork();
	if (!pid)
		wait_in_child(fd, says);
	while (proc_thread_state(pid, pid) != 'S')
		usleep(1000);
	_exit(0);
}

/* No device closes with the program, so nothing else wakes who waits. */
TEST_F(dev, wakes_who_waits_when_the_address_space_goes)
{
	bool woken = false;
	int ends[2], status;
	pid_t pid;

	ASSERT_EQ(0, pipe(ends));
	pid = fork();
	if (!pid)
		leave_to_child(ends[1]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(sizeof(woken), read(ends[0], &woken, sizeof(woken)));
	EXPECT_TRUE(woken);
	close(ends[0]);
	close(ends[1]);
}

TEST_F(dev, is_listed_until_its_file_is_closed)
{
	struct mlx5ep_notifier *n;
	int before = listed();

	ASSERT_LE(1, before);
	ASSERT_EQ(0, mlx5ep_notifier_open(4, &n));
	EXPECT_EQ(before + 1, listed());
	mlx5ep_notifier_destroy(n);
	EXPECT_EQ(before, listed());
}

TEST_F(dev, has_no_dma_bufs)
{
	struct mlx5ep_watch watch;

	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_watch_dmabuf(self->n, self->fd, 0, PAGE,
						   0, &watch));
}

TEST_F(dev, holds_the_module)
{
	EXPECT_NE(0, system("rmmod mlx5_ep 2>/dev/null"));
	EXPECT_TRUE(mlx5ep_watch_valid(&self->watch));
}

TEST_HARNESS_MAIN
