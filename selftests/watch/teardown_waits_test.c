// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, smp: 2, timeout: 120 */
/*
 * Threads wait for an invalidation that does not end, as a kernel module holds it up
 * (mm_listener). They end at once where their process is killed, and they do not wait for
 * invalidations of other memory that begin later.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include <mlx5ep/mr_watch.h>

#include "patience.h"
#include "proc.h"
#include "verbs.h"

#define PAGE		4096ul
#define HELD_ADDR	((void *)0x600000000000ul)	/* of mm_listener */
#define FAR_ADDR	(HELD_ADDR + (48ul << 20))	/* in another block of 16 MiB */
#define POLL_US		20000

#define OTHERS		100	/* more CPUs than most nodes have */

/*
 * A thread, which exists before an invalidation holds mmap_lock. VERIFY_APART is done
 * by a process of its own, which has the memory of this one (vfork).
 */
struct waiter {
	enum { HOLD, ADD, ADD_BATCH, VERIFY, VERIFY_APART } does;
	struct mlx5ep_notifier *n;
	struct mlx5ep_watch *watch;
	void *addr;
	pid_t *tid;
	sem_t start;
	bool ended;
	pthread_t thread;
};

static int load_listener(void)
{
	char command[512];
	struct utsname u;

	if (!access("/dev/mm_listener", F_OK))
		return 0;
	uname(&u);
	snprintf(command, sizeof(command),
		 "insmod build/modules/%s/mm_listener.ko", u.release);
	return system(command);
}

static bool has_ended(const struct waiter *w)
{
	return __atomic_load_n(&w->ended, __ATOMIC_ACQUIRE);
}

/*
 * Wait until a thread waits in the kernel and takes no signal but a fatal one, or has
 * ended.
 */
static void until_waiting(struct waiter *w)
{
	int seen = 0;
	pid_t tid;

	while (seen < 3 && !has_ended(w)) {
		usleep(POLL_US);
		tid = __atomic_load_n(w->tid, __ATOMIC_ACQUIRE);
		seen = tid && proc_thread_state(
			w->does == VERIFY_APART ? tid : getpid(),
			tid) == 'D' ? seen + 1 : 0;
	}
}

static void verify_apart(struct waiter *w)
{
	pid_t pid = vfork();

	if (!pid) {
		__atomic_store_n(w->tid, (pid_t)syscall(SYS_getpid),
				 __ATOMIC_RELEASE);
		mlx5ep_watch_verify(w->watch);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* The page at @addr first, then the other one of two. */
static void add_batch(struct waiter *w)
{
	void *other = w->addr == HELD_ADDR ? FAR_ADDR : HELD_ADDR;
	struct mlx5_ep_watch_add ranges[2] = {
		{ .addr = (uintptr_t)w->addr, .length = PAGE },
		{ .addr = (uintptr_t)other, .length = PAGE },
	};
	struct mlx5ep_watch watches[2];

	mlx5ep_watch_add_batch(w->n, ranges, watches, 2);
}

static void *waiter_runs(void *arg)
{
	struct waiter *w = arg;
	struct mlx5ep_watch watch;

	if (w->does != VERIFY_APART)
		__atomic_store_n(w->tid, gettid(), __ATOMIC_RELEASE);
	sem_wait(&w->start);
	if (w->does == HOLD)
		madvise(w->addr, PAGE, MADV_DONTNEED);
	else if (w->does == ADD)
		mlx5ep_watch_add(w->n, w->addr, PAGE, 0, &watch);
	else if (w->does == ADD_BATCH)
		add_batch(w);
	else if (w->does == VERIFY)
		mlx5ep_watch_verify(w->watch);
	else
		verify_apart(w);
	__atomic_store_n(&w->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

static int waiter_make(struct waiter *w)
{
	return sem_init(&w->start, 0, 0) ||
	       pthread_create(&w->thread, NULL, waiter_runs, w);
}

static void waiter_start(struct waiter *w)
{
	sem_post(&w->start);
	until_waiting(w);
}

/*
 * Opens a device, and makes a notifier that has a watch of the first page of memory
 * whose invalidations are held up. Who listens first is told last, so the module has
 * counted an invalidation before that is held up.
 */
static int set_up(int listener, struct verbs_setup *setup,
		  struct mlx5ep_notifier **n, struct mlx5ep_watch *watch)
{
	return write(listener, "hold", 4) != 4 ||
	       verbs_open(setup, NULL, 1) ||
	       mlx5ep_notifier_create(setup->ctx, 64, n) ||
	       mmap(HELD_ADDR, (OTHERS + 1) * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1,
		    0) == MAP_FAILED ||
	       mlx5ep_watch_add(*n, HELD_ADDR, PAGE, 0, watch) ||
	       mlx5ep_watch_record(watch);
}

/* The process that is killed. Its threads wait when it writes to @ready. */
static int killed(int listener, int ready, pid_t *tids)
{
	struct waiter waiters[] = {
		{ .does = HOLD }, { .does = ADD },
		{ .does = VERIFY }, { .does = VERIFY },
	};
	struct mlx5ep_notifier *n;
	struct mlx5ep_watch watch;
	struct verbs_setup setup;
	int i;

	if (set_up(listener, &setup, &n, &watch))
		return 1;
	for (i = 0; i < 4; i++) {
		waiters[i].n = n;
		waiters[i].watch = &watch;
		waiters[i].addr = HELD_ADDR;
		waiters[i].tid = &tids[i];
		if (waiter_make(&waiters[i]))
			return 1;
	}
	for (i = 0; i < 4; i++) {
		waiter_start(&waiters[i]);
		/* The invalidation has begun, and has not ended. */
		if (mlx5ep_watch_valid(&watch))
			return 1;
	}
	if (write(ready, "", 1) != 1)
		return 1;
	for (;;)
		pause();
}

/* Does the thread end, however long that takes on this machine? */
static bool ends(pid_t pid, pid_t tid)
{
	int i;

	for (i = 0; i < 4 * EVENT_MS * 1000 / POLL_US; i++) {
		if (!proc_thread_state(pid, tid))
			return true;
		usleep(POLL_US);
	}
	return false;
}

/*
 * Does the thread still wait? One that runs for a moment, because something has woken it,
 * waits again; one that has ended does not.
 */
static bool waits(pid_t pid, pid_t tid)
{
	char state;
	int i;

	for (i = 0; i < EVENT_MS * 1000 / POLL_US; i++) {
		state = proc_thread_state(pid, tid);
		if (!state || state == 'D')
			return state;
		usleep(POLL_US);
	}
	return false;
}

TEST(threads_that_wait_end_when_their_process_is_killed)
{
	int listener, ready[2], status;
	pid_t pid, *tids;
	char byte;

	ASSERT_EQ(0, load_listener());
	listener = open("/dev/mm_listener", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, listener);
	ASSERT_EQ(0, pipe(ready));
	tids = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, tids);
	pid = fork();
	if (!pid) {
		close(ready[0]);
		_exit(killed(listener, ready[1], tids));
	}
	ASSERT_LT(0, pid);
	close(ready[1]);
	ASSERT_EQ(1, read(ready[0], &byte, 1));

	ASSERT_EQ(0, kill(pid, SIGKILL));
	/* One adds, one verifies, one waits for the one that verifies. */
	EXPECT_TRUE(ends(pid, tids[1]));
	EXPECT_TRUE(ends(pid, tids[2]));
	EXPECT_TRUE(ends(pid, tids[3]));
	/* The invalidation was under way all the time. */
	EXPECT_EQ('D', proc_thread_state(pid, tids[0]));

	ASSERT_EQ(2, write(listener, "go", 2));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGKILL, WTERMSIG(status));
	close(ready[0]);
	close(listener);
}

/* One process verifies, and another one that waits for its result is killed. */
TEST(who_waits_for_a_verify_ends_before_that)
{
	struct waiter waiters[] = {
		{ .does = HOLD }, { .does = VERIFY }, { .does = VERIFY_APART },
	};
	pid_t tids[ARRAY_SIZE(waiters)] = { 0 };
	struct mlx5ep_notifier *n;
	struct mlx5ep_watch watch;
	struct verbs_setup setup;
	int listener, i, ret;
	bool ended, goes_on;

	ASSERT_EQ(0, load_listener());
	listener = open("/dev/mm_listener", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, listener);
	ASSERT_EQ(0, set_up(listener, &setup, &n, &watch));
	for (i = 0; i < (int)ARRAY_SIZE(waiters); i++) {
		waiters[i].watch = &watch;
		waiters[i].addr = HELD_ADDR;
		waiters[i].tid = &tids[i];
		ASSERT_EQ(0, waiter_make(&waiters[i]));
	}
	for (i = 0; i < (int)ARRAY_SIZE(waiters); i++)
		waiter_start(&waiters[i]);

	/* Nothing is printed here: mmap_lock is held. */
	ret = kill(tids[2], SIGKILL);
	ended = ends(tids[2], tids[2]);
	goes_on = waits(getpid(), tids[1]);
	i = write(listener, "go", 2);

	EXPECT_EQ(2, i);
	EXPECT_EQ(0, ret);
	EXPECT_TRUE(ended);
	EXPECT_TRUE(goes_on);
	for (i = 0; i < (int)ARRAY_SIZE(waiters); i++)
		EXPECT_EQ(0, pthread_join(waiters[i].thread, NULL));
	mlx5ep_notifier_destroy(n);
	verbs_close(&setup);
	close(listener);
}

/* Does the waiter come back? Prints nothing: mmap_lock is held. */
static bool comes_back(const struct waiter *w)
{
	int i;

	for (i = 0; i < 4 * EVENT_MS * 1000 / POLL_US && !has_ended(w); i++)
		usleep(POLL_US);
	return has_ended(w);
}

TEST(what_begins_later_elsewhere_is_not_waited_for)
{
	static struct waiter waiters[OTHERS + 3];
	static pid_t tids[OTHERS + 3];
	struct waiter *add = &waiters[OTHERS + 1];
	struct waiter *verify = &waiters[OTHERS + 2];
	bool added, verified, early;
	struct mlx5ep_notifier *n;
	struct mlx5ep_watch watch;
	struct verbs_setup setup;
	int listener, i;

	ASSERT_EQ(0, load_listener());
	listener = open("/dev/mm_listener", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, listener);
	ASSERT_EQ(0, set_up(listener, &setup, &n, &watch));
	for (i = 0; i < OTHERS + 3; i++) {
		waiters[i].n = n;
		waiters[i].watch = &watch;
		waiters[i].addr = HELD_ADDR + (i <= OTHERS ? i * PAGE : 0);
		waiters[i].tid = &tids[i];
	}
	add->does = ADD;
	verify->does = VERIFY;
	for (i = 0; i < OTHERS + 3; i++)
		ASSERT_EQ(0, waiter_make(&waiters[i]));

	waiter_start(&waiters[0]);
	waiter_start(add);
	waiter_start(verify);
	for (i = 1; i <= OTHERS; i++)
		waiter_start(&waiters[i]);
	early = has_ended(add) || has_ended(verify);
	i = write(listener, "go", 2);
	added = comes_back(add);
	verified = comes_back(verify);
	i += write(listener, "all", 3);

	EXPECT_EQ(5, i);
	for (i = 0; i < OTHERS + 3; i++)
		EXPECT_EQ(0, pthread_join(waiters[i].thread, NULL));
	EXPECT_FALSE(early);
	EXPECT_TRUE(added);
	EXPECT_TRUE(verified);
	mlx5ep_notifier_destroy(n);
	verbs_close(&setup);
	close(listener);
}

/* The memory is that of the first of two ranges, or of the last. */
TEST(a_batch_waits_for_each_of_its_ranges)
{
	struct waiter waiters[] = {
		{ .does = HOLD, .addr = HELD_ADDR },
		{ .does = ADD_BATCH, .addr = HELD_ADDR },
		{ .does = ADD_BATCH, .addr = FAR_ADDR },
	};
	pid_t tids[ARRAY_SIZE(waiters)] = { 0 };
	struct mlx5ep_notifier *n;
	struct mlx5ep_watch watch;
	struct verbs_setup setup;
	bool early[2];
	int listener, i;

	ASSERT_EQ(0, load_listener());
	listener = open("/dev/mm_listener", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, listener);
	ASSERT_EQ(0, set_up(listener, &setup, &n, &watch));
	for (i = 0; i < (int)ARRAY_SIZE(waiters); i++) {
		waiters[i].n = n;
		waiters[i].tid = &tids[i];
		ASSERT_EQ(0, waiter_make(&waiters[i]));
	}
	for (i = 0; i < (int)ARRAY_SIZE(waiters); i++)
		waiter_start(&waiters[i]);
	early[0] = has_ended(&waiters[1]);
	early[1] = has_ended(&waiters[2]);
	i = write(listener, "go", 2);

	EXPECT_EQ(2, i);
	for (i = 0; i < (int)ARRAY_SIZE(waiters); i++)
		EXPECT_EQ(0, pthread_join(waiters[i].thread, NULL));
	EXPECT_FALSE(early[0]);
	EXPECT_FALSE(early[1]);
	mlx5ep_notifier_destroy(n);
	verbs_close(&setup);
	close(listener);
}

TEST_HARNESS_MAIN
