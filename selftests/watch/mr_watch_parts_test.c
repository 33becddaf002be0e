// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, smp: 2, timeout: 120, config: USERFAULTFD */
/*
 * Verify looks only at the parts of 2 MiB that were hit, and one thread looks for
 * all that ask. Neither may hide a change. Whether the memory has changed is what
 * the HCA says, which reads through the registration.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab.h"
#include "patience.h"
#include "watched.h"

#define PAGE	4096ul
#define PART	(2ul << 20)
#define PARTS	8ul
#define ROUNDS	30u
#define THREADS	8u

/* The last part is short, and no part begins where a huge page would. */
#define LEN	((PARTS - 1) * PART + 3 * PAGE)

FIXTURE(parts)
{
	struct watched_setup setup;
	struct mlx5ep_mr mr;
	void *map;
	void *mem;
};

typedef FIXTURE_DATA(parts) parts_data;

FIXTURE_SETUP(parts)
{
	ASSERT_EQ(0, watched_open(&self->setup, 4));
	self->map = mmap(NULL, (PARTS + 1) * PART, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->map);
	ASSERT_EQ(0, madvise(self->map, (PARTS + 1) * PART, MADV_NOHUGEPAGE));
	self->mem = self->map + 5 * PAGE;
}

FIXTURE_TEARDOWN(parts)
{
	munmap(self->map, (PARTS + 1) * PART);
	watched_close(&self->setup);
}

static int part_reg(parts_data *self, size_t len)
{
	memset(self->mem, 1, len);
	return mlx5ep_reg_mr(self->setup.notifier, self->setup.verbs.pd,
			     self->mem, len, IBV_ACCESS_LOCAL_WRITE, 1,
			     &self->mr);
}

/* A hit that changes nothing: the page stays until memory is short. */
static void mr_watch_parts_hit(void *page)
{
	madvise(page, PAGE, MADV_FREE);
}

static void change(void *page)
{
	madvise(page, PAGE, MADV_DONTNEED);
	*(volatile char *)page = 2;
}

static int mr_watch_parts_differs(parts_data *self, void *page)
{
	return watched_differs(&self->setup, self->mr.mr, page, PAGE);
}

TEST_F(parts, change_in_any_part_is_found)
{
	static const size_t pages[] = {
		0, PART - PAGE, PART, 4 * PART + 7 * PAGE,
		(PARTS - 1) * PART - PAGE, (PARTS - 1) * PART, LEN - PAGE,
	};
	unsigned int i;

	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		ASSERT_EQ(0, part_reg(self, LEN));
		mr_watch_parts_hit(self->mem + pages[i]);
		EXPECT_FALSE(mlx5ep_mr_valid(&self->mr));
		EXPECT_EQ(0, mlx5ep_mr_check(&self->mr));
		EXPECT_EQ(0,
			  mr_watch_parts_differs(self, self->mem + pages[i]));
		change(self->mem + pages[i]);
		EXPECT_FALSE(mlx5ep_mr_valid(&self->mr));
		EXPECT_EQ(-ESTALE, mlx5ep_mr_check(&self->mr));
		EXPECT_EQ(1,
			  mr_watch_parts_differs(self, self->mem + pages[i]));
		ASSERT_EQ(0, mlx5ep_dereg_mr(&self->mr));
	}
}

TEST_F(parts, two_hits_are_looked_at_together)
{
	void *early = self->mem + PART, *late = self->mem + 6 * PART;
	struct mlx5_ep_event event;

	ASSERT_EQ(0, part_reg(self, LEN));
	mr_watch_parts_hit(early);
	change(late);
	EXPECT_EQ(-ESTALE, mlx5ep_mr_check(&self->mr));
	ASSERT_EQ(0, mlx5ep_dereg_mr(&self->mr));

	ASSERT_EQ(0, part_reg(self, LEN));
	mr_watch_parts_hit(late);
	change(early);
	EXPECT_EQ(-ESTALE, mlx5ep_mr_check(&self->mr));
	ASSERT_EQ(0, mlx5ep_dereg_mr(&self->mr));

	/* Between the two, and reading the event in between forgets nothing. */
	ASSERT_EQ(0, part_reg(self, LEN));
	change(early);
	EXPECT_EQ(1, mlx5ep_notifier_read(self->setup.notifier, &event, 1));
	mr_watch_parts_hit(late);
	EXPECT_EQ(-ESTALE, mlx5ep_mr_check(&self->mr));
	ASSERT_EQ(0, mlx5ep_dereg_mr(&self->mr));
}

TEST_F(parts, verify_forgets_the_hits_that_it_looked_at_and_no_later_one)
{
	ASSERT_EQ(0, part_reg(self, LEN));
	mr_watch_parts_hit(self->mem);
	EXPECT_EQ(0, mlx5ep_mr_check(&self->mr));
	mr_watch_parts_hit(self->mem + 3 * PART);
	EXPECT_EQ(0, mlx5ep_mr_check(&self->mr));
	change(self->mem + 6 * PART);
	EXPECT_EQ(-ESTALE, mlx5ep_mr_check(&self->mr));
	ASSERT_EQ(0, mlx5ep_dereg_mr(&self->mr));
}

/* After eight hits the watch is told of no further one. */
TEST_F(parts, change_behind_many_hits_elsewhere_is_found)
{
	unsigned int i;

	ASSERT_EQ(0, part_reg(self, LEN));
	for (i = 0; i < 20; i++)
		mr_watch_parts_hit(self->mem + i * PAGE);
	change(self->mem + 6 * PART);
	EXPECT_EQ(-ESTALE, mlx5ep_mr_check(&self->mr));
	ASSERT_EQ(0, mlx5ep_dereg_mr(&self->mr));

	ASSERT_EQ(0, part_reg(self, LEN));
	for (i = 0; i < 20; i++)
		mr_watch_parts_hit(self->mem + i * PAGE);
	EXPECT_EQ(0, mlx5ep_mr_check(&self->mr));
	change(self->mem + 6 * PART);
	EXPECT_EQ(-ESTALE, mlx5ep_mr_check(&self->mr));
	ASSERT_EQ(0, mlx5ep_dereg_mr(&self->mr));
}

struct rearmer {
	pthread_t thread;
	struct mlx5ep_mr mr;
	void *page;
	bool stop;
};

static void *rearm(void *arg)
{
	struct rearmer *r = arg;

	while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED)) {
		mr_watch_parts_hit(r->page);
		mlx5ep_watch_verify(&r->mr.watch);
	}
	return NULL;
}

TEST_F(parts, verify_of_one_part_does_not_hide_a_change_of_another)
{
	struct rearmer r = {};
	unsigned int i;
	int ret;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, part_reg(self, 3 * PART));
		r.mr = self->mr;
		r.page = self->mem;
		r.stop = false;
		ASSERT_EQ(0, pthread_create(&r.thread, NULL, rearm, &r));
		usleep(i * 37 % 500);
		change(self->mem + 2 * PART);
		do {
			ASSERT_FALSE(mlx5ep_mr_valid(&self->mr));
			ret = mlx5ep_mr_check(&self->mr);
		} while (ret == -EAGAIN);
		EXPECT_EQ(-ESTALE, ret);
		__atomic_store_n(&r.stop, true, __ATOMIC_RELAXED);
		pthread_join(r.thread, NULL);
		ASSERT_EQ(0, mlx5ep_dereg_mr(&self->mr));
	}
}

/*
 * Looks that stop until the test lets them go on: at a page of shared memory that
 * is in the file and not in the page table, for which a userfaultfd is asked.
 */
FIXTURE(looks)
{
	struct watched_setup setup;
};

FIXTURE_SETUP(looks)
{
	struct uffdio_api api = {
		.api = UFFD_API, .features = UFFD_FEATURE_MINOR_SHMEM,
	};
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	int ret = ioctl(uffd, UFFDIO_API, &api);

	close(uffd);
	if (ret && lab_may_lack(5, 14))
		SKIP(return, "a userfaultfd has no minor faults of shared memory");
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, watched_open(&self->setup, 4));
}

FIXTURE_TEARDOWN(looks)
{
	watched_close(&self->setup);
}

struct stop {
	void *mem;
	int uffd;
	struct mlx5ep_mr mr;
	struct asker {
		pthread_t thread;
		struct mlx5ep_watch watch;
		int ret;
	} askers[THREADS];
};

static int stop_open(struct watched_setup *setup, struct stop *s)
{
	struct uffdio_api api = {
		.api = UFFD_API, .features = UFFD_FEATURE_MINOR_SHMEM,
	};
	struct uffdio_register reg = {
		.range.len = PAGE, .mode = UFFDIO_REGISTER_MODE_MINOR,
	};
	int fd = memfd_create("parts", MFD_CLOEXEC);

	s->uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || s->uffd < 0 || ftruncate(fd, LEN))
		return -errno;
	s->mem = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (s->mem == MAP_FAILED)
		return -errno;
	memset(s->mem, 1, LEN);
	reg.range.start = (uintptr_t)s->mem;
	if (ioctl(s->uffd, UFFDIO_API, &api) ||
	    ioctl(s->uffd, UFFDIO_REGISTER, &reg))
		return -errno;
	return mlx5ep_reg_mr(setup->notifier, setup->verbs.pd, s->mem, LEN,
			     IBV_ACCESS_LOCAL_WRITE, 1, &s->mr);
}

static void stop_close(struct stop *s)
{
	close(s->uffd);
	munmap(s->mem, LEN);
}

/* How many threads look and have stopped, after @wait_ms. */
static int stopped(struct stop *s, int wait_ms)
{
	struct pollfd poll_fd = { .fd = s->uffd, .events = POLLIN };
	struct uffd_msg msg;
	int n = 0;

	while (poll(&poll_fd, 1, wait_ms) == 1 &&
	       read(s->uffd, &msg, sizeof(msg)) == sizeof(msg))
		n += msg.event == UFFD_EVENT_PAGEFAULT;
	return n;
}

static int go_on(struct stop *s)
{
	struct uffdio_continue go = {
		.range = { .start = (uintptr_t)s->mem, .len = PAGE },
	};

	return ioctl(s->uffd, UFFDIO_CONTINUE, &go) ? -errno : 0;
}

static void *mr_watch_parts_ask(void *arg)
{
	struct asker *asker = arg;

	asker->ret = mlx5ep_watch_verify(&asker->watch);
	return NULL;
}

/* Hits the page where looks stop, and lets threads ask. */
static int ask_all(struct stop *s, unsigned int n)
{
	unsigned int i;
	int ret = 0;

	madvise(s->mem, PAGE, MADV_DONTNEED);
	for (i = 0; i < n && !ret; i++) {
		s->askers[i].watch = s->mr.watch;
		ret = pthread_create(&s->askers[i].thread, NULL,
				     mr_watch_parts_ask, &s->askers[i]);
	}
	return ret;
}

/* What all of them were told; 1: not the same */
static int answers(struct stop *s, unsigned int n)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < n; i++) {
		pthread_join(s->askers[i].thread, NULL);
		if (i && s->askers[i].ret != ret)
			return 1;
		ret = s->askers[i].ret;
	}
	return ret;
}

TEST_F(looks, of_threads_that_ask_at_once_one_looks)
{
	struct stop s;

	ASSERT_EQ(0, stop_open(&self->setup, &s));
	ASSERT_EQ(0, ask_all(&s, THREADS));
	EXPECT_EQ(1, stopped(&s, 300 * patience_factor()));
	EXPECT_FALSE(mlx5ep_mr_valid(&s.mr));
	EXPECT_EQ(0, go_on(&s));
	EXPECT_EQ(0, answers(&s, THREADS));
	EXPECT_TRUE(mlx5ep_mr_valid(&s.mr));
	EXPECT_EQ(0, watched_differs(&self->setup, s.mr.mr, s.mem, PAGE));
	ASSERT_EQ(0, mlx5ep_dereg_mr(&s.mr));
	stop_close(&s);
}

TEST_F(looks, change_during_a_look_at_another_part_is_found)
{
	void *other;
	struct stop s;

	ASSERT_EQ(0, stop_open(&self->setup, &s));
	other = s.mem + 5 * PART;
	ASSERT_EQ(0, ask_all(&s, THREADS));
	EXPECT_LE(1, stopped(&s, 300 * patience_factor()));
	ASSERT_EQ(0, madvise(other, PAGE, MADV_REMOVE));
	*(volatile char *)other = 3;
	EXPECT_EQ(0, go_on(&s));
	EXPECT_EQ(-ESTALE, answers(&s, THREADS));
	EXPECT_EQ(1, watched_differs(&self->setup, s.mr.mr, other, PAGE));
	ASSERT_EQ(0, mlx5ep_dereg_mr(&s.mr));
	stop_close(&s);
}

TEST_F(looks, watch_that_is_deleted_during_a_look_is_gone_for_all)
{
	struct mlx5ep_watch same_slot;
	struct stop s;

	ASSERT_EQ(0, stop_open(&self->setup, &s));
	ASSERT_EQ(0, ask_all(&s, THREADS));
	EXPECT_LE(1, stopped(&s, 300 * patience_factor()));
	ASSERT_EQ(0, mlx5ep_dereg_mr(&s.mr));
	ASSERT_EQ(0, mlx5ep_watch_add(self->setup.notifier, s.mem, LEN, 0,
				      &same_slot));
	EXPECT_EQ(s.mr.watch.slot, same_slot.slot);
	EXPECT_EQ(0, go_on(&s));
	EXPECT_EQ(-ENOENT, answers(&s, THREADS));
	EXPECT_EQ(0, mlx5ep_watch_record(&same_slot));
	EXPECT_TRUE(mlx5ep_watch_valid(&same_slot));
	EXPECT_EQ(0, mlx5ep_watch_del(&same_slot));
	stop_close(&s);
}

/* In a child: threads look and wait, and nobody lets them go on. */
static int ask_for_ever(int ready)
{
	struct watched_setup setup = {};
	struct stop s;

	if (watched_open(&setup, 4) || stop_open(&setup, &s) ||
	    ask_all(&s, THREADS) || stopped(&s, 300 * patience_factor()) < 1 ||
	    write(ready, "", 1) != 1)
		return 1;
	pause();
	return 1;
}

TEST_F(looks, threads_that_wait_for_a_look_can_be_killed)
{
	int ready[2], status;
	char byte;
	pid_t pid;

	ASSERT_EQ(0, pipe(ready));
	pid = fork();
	if (!pid)
		_exit(ask_for_ever(ready[1]));
	close(ready[1]);
	EXPECT_EQ(1, read(ready[0], &byte, 1));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	close(ready[0]);
}

TEST_HARNESS_MAIN
