// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, smp: 2, guest: own, timeout: 180 */
/*
 * A notifier whose process forks, executes a program, passes the file on or
 * loses the device, and a notifier in a memory cgroup that is full.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "fdpass.h"
#include "page.h"
#include "patience.h"
#include "sysfs.h"
#include "watched.h"

#define PAGE	4096ul
#define MAPPINGS 4000
#define MOST_MAPPINGS 62000	/* vm.max_map_count is 65530 */
#define SIGNALS	20
#define GROUP	"/sys/fs/cgroup/notifier_process"

FIXTURE(process)
{
	struct verbs_setup setup;
	struct mlx5ep_notifier *n;
	struct mlx5ep_watch watch;
	int fd;
	void *mem;
};

FIXTURE_SETUP(process)
{
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	ASSERT_EQ(0, mlx5ep_notifier_create(self->setup.ctx, 1000, &self->n));
	self->fd = mlx5ep_notifier_fd(self->n);
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	self->mem = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, self->mem);
	ASSERT_EQ(0, mlx5ep_watch_add(self->n, self->mem, PAGE, 5,
				      &self->watch));
}

FIXTURE_TEARDOWN(process)
{
	munmap(self->mem, 4 * PAGE);
	mlx5ep_notifier_destroy(self->n);
	verbs_close(&self->setup);
}

static int add_raw(int fd, void *addr)
{
	struct mlx5_ep_watch_add add = {
		.addr = (uintptr_t)addr, .length = PAGE,
	};
	struct mlx5_ep_watch_batch batch = {
		.entries = (uintptr_t)&add, .count = 1,
		.entry_size = sizeof(add),
	};

	return ioctl(fd, MLX5_EP_IOC_WATCH_ADD, &batch) ? -errno : 0;
}

/* The watch of the fixture works: what the child did changed nothing. */
#define EXPECT_WORKING() do {						\
	struct mlx5_ep_event _ev;					\
	EXPECT_TRUE(mlx5ep_watch_valid(&self->watch));			\
	EXPECT_EQ(-EAGAIN, mlx5ep_notifier_read(self->n, &_ev, 1));	\
	ASSERT_EQ(0, munmap(self->mem, PAGE));				\
	EXPECT_FALSE(mlx5ep_watch_valid(&self->watch));			\
	ASSERT_EQ(1, mlx5ep_notifier_read(self->n, &_ev, 1));		\
	EXPECT_EQ(5, _ev.cookie);					\
} while (0)

/* The exit status of a child that executes, made with fork() or vfork(). */
static int child_executes(bool vforked)
{
	int status;
	pid_t pid = vforked ? vfork() : fork();

	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid ? -1 : status;
}

TEST_F(process, keeps_its_watches_when_a_child_executes)
{
	EXPECT_EQ(0, child_executes(false));
	EXPECT_WORKING();
}

TEST_F(process, keeps_its_watches_over_vfork_and_exec)
{
	EXPECT_EQ(0, child_executes(true));
	EXPECT_WORKING();
}

static int ref_raw(int fd, unsigned long request,
		   const struct mlx5ep_watch *watch)
{
	struct mlx5_ep_watch_ref ref = {
		.word = watch->armed, .slot = watch->slot,
	};
	struct mlx5_ep_watch_batch batch = {
		.entries = (uintptr_t)&ref, .count = 1,
		.entry_size = sizeof(ref),
	};

	return ioctl(fd, request, &batch) ? -errno : ref.result;
}

TEST_F(process, takes_no_change_from_a_child_that_shares_its_memory)
{
	volatile int added = 1, deleted = 1, verified = -1;
	int status;
	pid_t pid = vfork();

	if (!pid) {
		added = add_raw(self->fd, self->mem);
		deleted = ref_raw(self->fd, MLX5_EP_IOC_WATCH_DEL,
				  &self->watch);
		verified = ref_raw(self->fd, MLX5_EP_IOC_WATCH_VERIFY,
				   &self->watch);
		_exit(0);
	}
	ASSERT_LT(0, pid);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(-EXDEV, added);
	EXPECT_EQ(-EXDEV, deleted);
	EXPECT_EQ(MLX5_EP_WATCH_STATE_ARMED, verified);
	EXPECT_WORKING();
}

TEST_F(process, leaves_no_file_to_what_it_executes)
{
	char path[64], command[128];
	int status;

	EXPECT_TRUE(fcntl(self->fd, F_GETFD) & FD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->fd);
	snprintf(command, sizeof(command),
		 "! readlink /proc/self/fd/* | grep -q mlx5_ep_notifier");
	EXPECT_EQ(0, access(path, F_OK));
	status = system(command);
	EXPECT_EQ(0, status);
	EXPECT_WORKING();
}

/* A child that gives its notifier to the parent, and executes when told to. */
static void child_with_notifier(int sock)
{
	char c;

	if (!watched_give_notifier(sock) && read(sock, &c, 1) == 1)
		execl("/bin/sleep", "sleep", "300", NULL);
	_exit(1);
}

/*
 * Starts a process that makes a notifier, and executes another program when it gets a
 * byte through @sock. Returns the notifier's file, or a negative number.
 */
static int start_child(int *sock, pid_t *pid)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return -errno;
	*pid = fork();
	if (!*pid)
		child_with_notifier(ends[1]);
	*sock = ends[0];
	return fdpass_receive(ends[0]);
}

TEST_F(process, tells_that_the_address_space_is_gone_after_exec)
{
	struct pollfd p = { .events = POLLIN };
	struct mlx5_ep_event ev;
	int sock, fd, status;
	pid_t pid;

	fd = start_child(&sock, &pid);
	ASSERT_GE(fd, 0);

	/* While the notifier belongs to another process, only waiting works. */
	EXPECT_EQ(-EXDEV, add_raw(fd, self->mem));
	EXPECT_EQ(-1, read(fd, &ev, sizeof(ev)));
	EXPECT_EQ(EXDEV, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0));
	EXPECT_EQ(EXDEV, errno);
	p.fd = fd;
	EXPECT_EQ(0, poll(&p, 1, 0));

	ASSERT_EQ(1, write(sock, "x", 1));
	/* It has to be woken, so it waits already while the child executes. */
	ASSERT_EQ(1, poll(&p, 1, PATIENCE * EVENT_MS));
	EXPECT_TRUE(p.revents & POLLHUP);
	ASSERT_EQ(sizeof(ev), read(fd, &ev, sizeof(ev)));
	EXPECT_EQ(MLX5_EP_EVENT_MM_GONE, ev.type);
	EXPECT_EQ(0, read(fd, &ev, sizeof(ev)));
	EXPECT_EQ(-EXDEV, add_raw(fd, self->mem));
	/* Check that the executed program runs. */
	EXPECT_EQ(0, waitpid(pid, &status, WNOHANG));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(fd);
	EXPECT_WORKING();
}

TEST_F(process, answers_nothing_on_a_closed_file)
{
	struct mlx5_ep_event ev;
	int fd = dup(self->fd);

	ASSERT_EQ(0, close(fd));
	EXPECT_EQ(-EBADF, add_raw(fd, self->mem));
	EXPECT_EQ(-1, read(fd, &ev, sizeof(ev)));
	EXPECT_EQ(EBADF, errno);
	EXPECT_WORKING();
}

static bool attached_within(int seconds)
{
	int i;

	for (i = 0; i < 10 * seconds * PATIENCE * patience_factor(); i++) {
		struct verbs_setup setup;

		if (sysfs_attached() && !verbs_open(&setup, NULL, 1)) {
			verbs_close(&setup);
			return true;
		}
		usleep(100000);
	}
	return false;
}

TEST_F(process, tells_that_the_device_is_gone_when_the_address_space_is_too)
{
	struct mlx5_ep_event ev;
	char name[NAME_MAX + 1];
	int sock, fd, status;
	pid_t pid;

	ASSERT_EQ(0, sysfs_auxdev(name, sizeof(name)));
	fd = start_child(&sock, &pid);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, file_write(SYSFS_AUX_DRIVER "unbind", name));
	EXPECT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(sizeof(ev), read(fd, &ev, sizeof(ev)));
	EXPECT_EQ(MLX5_EP_EVENT_DEVICE_REMOVED, ev.type);
	EXPECT_EQ(-1, read(fd, &ev, sizeof(ev)));
	EXPECT_EQ(EIO, errno);
	close(fd);
	EXPECT_EQ(0, file_write(SYSFS_AUX_DRIVER "bind", name));
	EXPECT_TRUE(attached_within(30));
}

TEST_F(process, is_told_that_the_device_is_gone)
{
	struct pollfd p = { .fd = self->fd, .events = POLLIN };
	struct mlx5_ep_event ev[2];
	struct mlx5ep_watch w;
	char name[NAME_MAX + 1];

	ASSERT_EQ(0, sysfs_auxdev(name, sizeof(name)));
	EXPECT_EQ(0, poll(&p, 1, 0));
	ASSERT_EQ(0, file_write(SYSFS_AUX_DRIVER "unbind", name));
	EXPECT_FALSE(mlx5ep_watch_valid(&self->watch));
	EXPECT_EQ(MLX5_EP_NOTIFIER_PAGE_DEAD,
		  mlx5ep_notifier_page(self->n)->flags);
	EXPECT_EQ(1, poll(&p, 1, EVENT_MS));
	EXPECT_EQ(POLLIN | POLLERR | POLLHUP, p.revents);
	EXPECT_EQ(1, mlx5ep_notifier_read(self->n, ev, 2));
	EXPECT_EQ(MLX5_EP_EVENT_DEVICE_REMOVED, ev[0].type);
	EXPECT_EQ(-EIO, mlx5ep_notifier_read(self->n, ev, 2));
	EXPECT_EQ(-EIO, mlx5ep_watch_add(self->n, self->mem, PAGE, 0, &w));
	EXPECT_EQ(-EIO, mlx5ep_watch_del(&self->watch));
	EXPECT_EQ(-EIO, mlx5ep_watch_verify(&self->watch));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->fd,
				   0));
	EXPECT_EQ(EIO, errno);
	/* No notifier follows the address space any more. */
	EXPECT_EQ(0, munmap(self->mem, PAGE));
	EXPECT_EQ(0, file_write(SYSFS_AUX_DRIVER "bind", name));
	EXPECT_TRUE(attached_within(30));
}

/* A number behind a word in the group's memory.stat. */
static long long group_stat(const char *word)
{
	FILE *file = fopen(GROUP "/memory.stat", "r");
	long long n, found = -1;
	char key[64];

	while (file && fscanf(file, "%63s %lld", key, &n) == 2)
		if (!strcmp(key, word))
			found = n;
	if (file)
		fclose(file);
	return found;
}

/* What the kernel has for the group. Before 5.18 it says only what of it is slab. */
static long long group_kernel(void)
{
	long long kernel = group_stat("kernel");

	return kernel < 0 ? group_stat("slab") : kernel;
}

/* Between a child that fills its group and the parent, who stands outside. */
struct filling {
	int ready;	/* has a notifier */
	int limited;	/* by the parent */
	int refused;	/* an errno */
	int raised;	/* by the parent */
	long long watches;
	int again;	/* what adding more gave, with more room */
	int closed;
};

static void await(const int *flag)
{
	while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
		usleep(1000);
}

static void raise_flag(int *flag, int value)
{
	__atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

/* Like await(), but the other process is a child that may have ended. */
static bool await_child(const int *flag, pid_t pid)
{
	siginfo_t info = {};

	while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) {
		if (waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
		    info.si_pid)
			return false;
		usleep(1000);
	}
	return true;
}

/*
 * Touch all memory that this process may write later. The first write to a
 * private page after fork() copies it, which takes another page.
 */
static void own_memory(void)
{
	volatile char stack[16 * PAGE];
	unsigned int i;

	for (i = 0; i < sizeof(stack); i += PAGE)
		stack[i] = 0;
	mlockall(MCL_CURRENT);
}

/*
 * Adds until it is refused. Touches no new memory of its own while the group is
 * full, as that would call the OOM killer.
 */
static int fill_group(struct ibv_context *ctx, struct filling *f)
{
	static struct mlx5_ep_watch_add adds[1000];
	static struct mlx5ep_watch w[1000];
	struct mlx5ep_notifier *n;
	int i, ret;

	for (i = 0; i < 1000; i++) {
		adds[i].addr = 0x500000000000ul + i * PAGE;
		adds[i].length = PAGE;
	}
	ret = mlx5ep_notifier_create(ctx, 1000000, &n);
	for (i = 0; i < 2 && !ret; i++)
		ret = mlx5ep_watch_add_batch(n, adds, w, 1000);
	if (ret)
		return -ret;
	own_memory();
	raise_flag(&f->ready, 1);
	await(&f->limited);
	while (!ret) {
		f->watches += 1000;
		ret = mlx5ep_watch_add_batch(n, adds, w, 1000);
	}
	f->watches -= 1000;
	raise_flag(&f->refused, -ret);
	await(&f->raised);
	f->again = mlx5ep_watch_add_batch(n, adds, w, 1000);
	mlx5ep_notifier_destroy(n);
	raise_flag(&f->closed, 1);
	return 0;
}

TEST_F(process, is_charged_and_refused_within_its_memory_cgroup)
{
	struct filling *f = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1,
				 0);
	long long before, charged;
	char limit[32];
	int status;
	pid_t pid;

	file_write("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	ASSERT_EQ(0, mkdir(GROUP, 0755));
	pid = fork();
	if (!pid) {
		struct verbs_setup setup;

		if (file_write(GROUP "/cgroup.procs", "0") ||
		    verbs_open(&setup, NULL, 1))
			_exit(1);
		_exit(fill_group(setup.ctx, f));
	}
	ASSERT_TRUE(await_child(&f->ready, pid));
	before = group_kernel();
	snprintf(limit, sizeof(limit), "%lld", before + group_stat("anon") +
		 group_stat("file") + (8 << 20));
	EXPECT_EQ(0, file_write(GROUP "/memory.max", limit));
	raise_flag(&f->limited, 1);
	EXPECT_TRUE(await_child(&f->refused, pid));
	charged = group_kernel() - before;
	EXPECT_EQ(0, file_write(GROUP "/memory.max", "max"));
	raise_flag(&f->raised, 1);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	TH_LOG("%lld watches, %lld bytes charged", f->watches, charged);
	/*
	 * The process was not killed. It got an error, and worked on with a
	 * higher limit.
	 */
	EXPECT_EQ(0, status);
	EXPECT_EQ(ENOMEM, f->refused);
	EXPECT_EQ(0, f->again);
	/* A debug kernel keeps red zones around what it hands out. */
	EXPECT_GE(f->watches, patience_factor() == 1 ? 50000 : 25000);
	EXPECT_LE(f->watches, 150000);
	EXPECT_GE(charged, 80 * f->watches);
	EXPECT_EQ(0, rmdir(GROUP));
}

static volatile sig_atomic_t alarms;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

/*
 * The process gets so many mappings, a page each and apart, all of it touched. Each has a
 * lock of its own, which the kernel takes for the process's first notifier.
 */
static char *many_mappings(int mappings)
{
	const size_t apart = 2 * page_bytes();
	char *mem = mmap(NULL, mappings * apart, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int i;

	for (i = 0; mem != MAP_FAILED && i < mappings; i++) {
		if (munmap(mem + i * apart, apart / 2))
			return MAP_FAILED;
		mem[i * apart + apart / 2] = 1;
	}
	return mem;
}

static long microseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* How long a creation takes at least, in microseconds; 0: it failed. The first reads sysfs. */
static long creation_takes(struct ibv_context *ctx)
{
	struct mlx5ep_notifier *n;
	long began, took, least = LONG_MAX;
	int i;

	for (i = 0; i < 5; i++) {
		began = microseconds();
		if (mlx5ep_notifier_create(ctx, 100, &n))
			return 0;
		took = microseconds() - began;
		mlx5ep_notifier_destroy(n);
		if (took < least)
			least = took;
	}
	return least;
}

/* A profiler, or MPI's SIGCHLD: the call is made again, as fork() is. */
TEST(a_signal_does_not_end_the_creation_of_a_notifier)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval once = {};
	struct mlx5ep_notifier *n;
	struct verbs_setup setup;
	char *mem = many_mappings(MAPPINGS);
	long took;
	int i;

	ASSERT_NE(MAP_FAILED, mem);
	ASSERT_EQ(0, verbs_open(&setup, NULL, 1));
	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	took = creation_takes(setup.ctx);
	ASSERT_LT(0, took);
	for (i = 1; i <= SIGNALS; i++) {
		once.it_value.tv_usec = 1 + took * i / SIGNALS % 900000;
		ASSERT_EQ(0, setitimer(ITIMER_REAL, &once, NULL));
		ASSERT_EQ(0, mlx5ep_notifier_create(setup.ctx, 100, &n));
		mlx5ep_notifier_destroy(n);
		while (alarms < i)
			usleep(1000);
	}
	verbs_close(&setup);
	munmap(mem, 2 * MAPPINGS * page_bytes());
}

/*
 * The timer of a program that measures itself would signal several times during the call.
 * Were the signals handled meanwhile, the call would begin anew each time.
 */
TEST(is_made_while_a_timer_signals_again_and_again)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval often = {}, never = {};
	char *mem = many_mappings(MOST_MAPPINGS);
	struct mlx5ep_notifier *n;
	struct verbs_setup setup;
	long took;

	ASSERT_NE(MAP_FAILED, mem);
	ASSERT_EQ(0, verbs_open(&setup, NULL, 1));
	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	took = creation_takes(setup.ctx);
	ASSERT_LT(0, took);
	alarms = 0;
	often.it_value.tv_usec = 1 + took / 5 % 900000;
	often.it_interval = often.it_value;
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	EXPECT_EQ(0, mlx5ep_notifier_create(setup.ctx, 100, &n));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
	/* Those of the whole call are one at its end, and few come after it. */
	EXPECT_LE(1, alarms);
	EXPECT_GE(3, alarms);
	mlx5ep_notifier_destroy(n);
	verbs_close(&setup);
	munmap(mem, 2 * MOST_MAPPINGS * page_bytes());
}

TEST_HARNESS_MAIN
