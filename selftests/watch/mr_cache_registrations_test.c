// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, smp: 2, timeout: 200 */
/*
 * The registration cache: its hits, merges and bounds. What the cache returns
 * must be memory that the process sees.
 */
#include "kselftest_harness.h"

#include <poll.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <mlx5ep/mr_cache.h>

#include "lab.h"
#include "proc.h"
#include "watched.h"

#define PAGE	4096ul
#define LEN	(64 * PAGE)
#define REGIONS	8
#define WATCHES	(REGIONS + 4096)	/* that a cache wants */

/* Allocations of this process, of its libraries too. */
static unsigned long allocations;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
	__atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	__atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
	return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	__atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
	return __libc_realloc(old, size);
}

FIXTURE(cache)
{
	struct watched_setup setup;
	struct mlx5ep_mr_cache *cache;
	void *mem;
};

static struct mlx5ep_mr_cache_stats
mr_cache_registrations_query(struct mlx5ep_mr_cache *cache)
{
	struct mlx5ep_mr_cache_stats stats;

	mlx5ep_mr_cache_query(cache, &stats);
	return stats;
}

FIXTURE_SETUP(cache)
{
	struct mlx5ep_mr_cache_attr attr = { .max_regions = REGIONS };

	ASSERT_EQ(0, watched_open(&self->setup, 16));
	ASSERT_EQ(0, mlx5ep_mr_cache_create(self->setup.verbs.pd, &attr,
					    &self->cache));
	self->mem = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			 MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, self->mem);
}

FIXTURE_TEARDOWN(cache)
{
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(self->cache));
	watched_close(&self->setup);
	munmap(self->mem, LEN);
}

TEST_F(cache, serves_what_it_has_and_registers_what_it_has_not)
{
	struct mlx5ep_mr_cache_entry *a, *b;

	ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem, 4 * PAGE,
					 &a));
	ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem + 100, PAGE,
					 &b));
	EXPECT_EQ(a->mr, b->mr);
	mlx5ep_mr_cache_put(self->cache, b);
	mlx5ep_mr_cache_put(self->cache, a);
	ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem, 4 * PAGE,
					 &b));
	EXPECT_EQ(a->mr, b->mr);
	EXPECT_EQ(2, mr_cache_registrations_query(self->cache).hits);
	EXPECT_EQ(1, mr_cache_registrations_query(self->cache).misses);
	EXPECT_EQ(-EBUSY, mlx5ep_mr_cache_destroy(self->cache));
	mlx5ep_mr_cache_put(self->cache, b);
}

TEST_F(cache, merges_what_overlaps_and_nothing_else)
{
	struct mlx5ep_mr_cache_entry *a, *b, *c;

	ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem, 4 * PAGE,
					 &a));
	ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem + 4 * PAGE,
					 4 * PAGE, &b));
	EXPECT_EQ(2, mr_cache_registrations_query(self->cache).regions);
	ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem + 3 * PAGE,
					 2 * PAGE, &c));
	EXPECT_EQ((uintptr_t)self->mem, (uintptr_t)c->mr->addr);
	EXPECT_EQ(8 * PAGE, c->mr->length);
	EXPECT_EQ(1, mr_cache_registrations_query(self->cache).merges);
	/* Replaced registrations stay until their users return them. */
	EXPECT_EQ(3, mr_cache_registrations_query(self->cache).regions);
	EXPECT_EQ(0, watched_differs(&self->setup, a->mr, self->mem, 4 * PAGE));
	mlx5ep_mr_cache_put(self->cache, a);
	mlx5ep_mr_cache_put(self->cache, b);
	EXPECT_EQ(1, mr_cache_registrations_query(self->cache).regions);
	mlx5ep_mr_cache_put(self->cache, c);
}

TEST_F(cache, keeps_within_its_bounds)
{
	struct mlx5ep_mr_cache_entry *e, *first;
	int i;

	for (i = 0; i < 2 * REGIONS; i++) {
		ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem +
						 2 * i * PAGE, PAGE, &e));
		mlx5ep_mr_cache_put(self->cache, e);
		EXPECT_LE(mr_cache_registrations_query(self->cache).regions,
			  REGIONS);
	}
	EXPECT_EQ(REGIONS, mr_cache_registrations_query(self->cache).regions);
	EXPECT_EQ(REGIONS, mr_cache_registrations_query(self->cache).evicted);
	EXPECT_EQ(REGIONS * PAGE,
		  mr_cache_registrations_query(self->cache).bytes);
	/* The registrations that were used last are left. */
	ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem +
					 2 * REGIONS * PAGE, PAGE, &first));
	EXPECT_EQ(1, mr_cache_registrations_query(self->cache).hits);
	mlx5ep_mr_cache_put(self->cache, first);
}

TEST_F(cache, keeps_within_its_bound_of_bytes)
{
	struct mlx5ep_mr_cache_attr attr = { .max_bytes = 8 * PAGE };
	struct mlx5ep_mr_cache_entry *e, *wide;
	struct mlx5ep_mr_cache *cache;
	int i;

	ASSERT_EQ(0,
		  mlx5ep_mr_cache_create(self->setup.verbs.pd, &attr, &cache));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, mlx5ep_mr_cache_get(cache, self->mem +
						 3 * i * PAGE, 2 * PAGE, &e));
		mlx5ep_mr_cache_put(cache, e);
		EXPECT_LE(mr_cache_registrations_query(cache).bytes, 8 * PAGE);
	}
	EXPECT_EQ(4, mr_cache_registrations_query(cache).regions);
	EXPECT_EQ(6, mr_cache_registrations_query(cache).evicted);
	/* A registration in use stays, even when all others have to go. */
	ASSERT_EQ(0, mlx5ep_mr_cache_get(cache, self->mem + 40 * PAGE,
					 9 * PAGE, &wide));
	EXPECT_EQ(1, mr_cache_registrations_query(cache).regions);
	EXPECT_EQ(9 * PAGE, mr_cache_registrations_query(cache).bytes);
	mlx5ep_mr_cache_put(cache, wide);
	EXPECT_EQ(0, mr_cache_registrations_query(cache).bytes);
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(cache));
}

TEST_F(cache, a_hit_allocates_nothing_and_makes_no_system_call)
{
	static volatile char allowed = SYSCALL_DISPATCH_FILTER_ALLOW;
	struct mlx5ep_mr_cache_entry *e;
	unsigned long before = allocations;
	int i, ret = 0;

	ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem, 4 * PAGE,
					 &e));
	EXPECT_LT(before, allocations);
	mlx5ep_mr_cache_put(self->cache, e);
	/* These kernels, which the lab builds, are without this feature. */
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0,
		  &allowed))
		ASSERT_TRUE(lab_kernel_is("debug") || lab_kernel_is("kcsan") ||
			    lab_kernel_is("gcov"));
	before = allocations;
	/* A system call would end the process with SIGSYS. */
	allowed = SYSCALL_DISPATCH_FILTER_BLOCK;
	for (i = 0; i < 100 && !ret; i++) {
		ret = mlx5ep_mr_cache_get(self->cache, self->mem + i, PAGE, &e);
		if (!ret)
			mlx5ep_mr_cache_put(self->cache, e);
	}
	allowed = SYSCALL_DISPATCH_FILTER_ALLOW;
	EXPECT_EQ(0, ret);
	EXPECT_EQ(before, allocations);
	EXPECT_EQ(100, mr_cache_registrations_query(self->cache).hits);
}

TEST_F(cache, never_hands_out_memory_that_is_gone)
{
	struct mlx5ep_mr_cache_entry *e;
	int i;

	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem,
						 8 * PAGE, &e));
		EXPECT_EQ(0, watched_differs(&self->setup, e->mr, self->mem,
					     8 * PAGE));
		mlx5ep_mr_cache_put(self->cache, e);
		ASSERT_EQ(self->mem, mmap(self->mem, 8 * PAGE, PROT_READ |
					  PROT_WRITE, MAP_PRIVATE |
					  MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	}
	EXPECT_EQ(20, mr_cache_registrations_query(self->cache).misses);
	EXPECT_EQ(19, mr_cache_registrations_query(self->cache).stale);
}

TEST_F(cache, drops_what_is_gone_when_it_is_told)
{
	struct pollfd p = { .fd = mlx5ep_mr_cache_fd(self->cache),
			    .events = POLLIN };
	struct mlx5ep_mr_cache_entry *e;

	ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem, PAGE, &e));
	mlx5ep_mr_cache_put(self->cache, e);
	EXPECT_EQ(0, poll(&p, 1, 0));
	EXPECT_EQ(0, mlx5ep_mr_cache_trim(self->cache));
	ASSERT_EQ(0, munmap(self->mem, PAGE));
	EXPECT_EQ(1, poll(&p, 1, 0));
	EXPECT_EQ(1, mlx5ep_mr_cache_trim(self->cache));
	EXPECT_EQ(0, mr_cache_registrations_query(self->cache).regions);
}

TEST_F(cache, survives_what_leaves_the_pages_alone)
{
	struct mlx5ep_mr_cache_entry *e;

	ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem, PAGE, &e));
	mlx5ep_mr_cache_put(self->cache, e);
	ASSERT_EQ(0, madvise(self->mem, PAGE, MADV_FREE));
	ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem, PAGE, &e));
	mlx5ep_mr_cache_put(self->cache, e);
	EXPECT_EQ(1, mr_cache_registrations_query(self->cache).hits);
	EXPECT_EQ(0, mr_cache_registrations_query(self->cache).stale);
}

/* Bytes that the process has pinned. */
static long pinned(void)
{
	return proc_number("/proc/self/status", "VmPin:") * 1024;
}

/* From here on the limit of locked memory is one for this process, too. */
static int limit_pinned(long bytes)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];
	struct rlimit limit = { .rlim_cur = bytes, .rlim_max = bytes };

	if (setrlimit(RLIMIT_MEMLOCK, &limit) ||
	    syscall(SYS_capget, &header, data))
		return -errno;
	data[0].effective &= ~(1u << CAP_IPC_LOCK);
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

TEST_F(cache, gives_up_what_is_idle_for_what_is_wanted)
{
	struct mlx5ep_mr_cache_entry *e, *f;
	int i;

	ASSERT_EQ(0, limit_pinned(pinned() + 6 * PAGE));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem +
						 8 * i * PAGE, 4 * PAGE, &e));
		EXPECT_EQ(0,
			  watched_differs(&self->setup, e->mr,
					  self->mem + 8 * i * PAGE, 4 * PAGE));
		mlx5ep_mr_cache_put(self->cache, e);
	}
	EXPECT_EQ(3, mr_cache_registrations_query(self->cache).evicted);
	/* What is in use stays. */
	ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem, 4 * PAGE,
					 &e));
	EXPECT_EQ(-ENOMEM, mlx5ep_mr_cache_get(self->cache, self->mem +
					       8 * PAGE, 4 * PAGE, &f));
	EXPECT_EQ(0, watched_differs(&self->setup, e->mr, self->mem, 4 * PAGE));
	mlx5ep_mr_cache_put(self->cache, e);
}

TEST_F(cache, says_so_when_its_device_is_gone)
{
	struct ibv_device *device = self->setup.verbs.ctx->device;
	struct mlx5ep_mr_cache_attr attr = {};
	struct mlx5ep_mr_cache *c;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct pollfd p;

	ctx = ibv_open_device(device);
	ASSERT_NE(NULL, ctx);
	pd = ibv_alloc_pd(ctx);
	ASSERT_NE(NULL, pd);
	ASSERT_EQ(0, mlx5ep_mr_cache_create(pd, &attr, &c));
	EXPECT_EQ(0, mlx5ep_mr_cache_trim(c));
	/* The notifier cannot tell a removal from the end of its context. */
	ASSERT_EQ(0, ibv_dealloc_pd(pd));
	ASSERT_EQ(0, ibv_close_device(ctx));
	p = (struct pollfd){ .fd = mlx5ep_mr_cache_fd(c), .events = POLLIN };
	EXPECT_EQ(1, poll(&p, 1, 0));
	EXPECT_EQ(-EIO, mlx5ep_mr_cache_trim(c));
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(c));
}

/* The program itself has all watches of the notifier but two. */
TEST_F(cache, gives_up_what_is_idle_for_a_watch)
{
	struct mlx5ep_mr_cache_attr attr = { .max_regions = REGIONS };
	struct mlx5ep_mr_cache_entry *e;
	struct mlx5ep_mr_cache *c;
	struct mlx5ep_watch watch;
	struct mlx5ep_notifier *n;
	int i;

	ASSERT_EQ(0, mlx5ep_notifier_open(WATCHES, &n));
	ASSERT_EQ(0, mlx5ep_mr_cache_create_on(n, self->setup.verbs.pd, &attr,
					       &c));
	for (i = 0; i < WATCHES - 2; i++)
		ASSERT_EQ(0, mlx5ep_watch_add(n, self->mem, PAGE, 0, &watch));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, mlx5ep_mr_cache_get(c, self->mem + 8 * i * PAGE,
						 4 * PAGE, &e)) {
			TH_LOG("number %d", i);
		}
		mlx5ep_mr_cache_put(c, e);
	}
	EXPECT_EQ(2, mr_cache_registrations_query(c).evicted);
	EXPECT_EQ(2, mr_cache_registrations_query(c).regions);
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(c));
	EXPECT_EQ(0, mlx5ep_notifier_destroy(n));
}

/* Two protection domains, a notifier of the caller's that needs no device. */
TEST_F(cache, has_its_watches_where_the_caller_says)
{
	struct mlx5ep_mr_cache_attr attr = { .max_regions = REGIONS };
	struct ibv_pd *pds[2] = { self->setup.verbs.pd };
	struct mlx5ep_mr_cache_entry *e[2];
	struct mlx5ep_mr_cache *c[2];
	struct mlx5ep_notifier *n;
	int i, status;
	pid_t pid;

	pds[1] = ibv_alloc_pd(self->setup.verbs.ctx);
	ASSERT_NE(NULL, pds[1]);
	ASSERT_EQ(0, mlx5ep_notifier_open(2 * WATCHES, &n));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, mlx5ep_mr_cache_create_on(n, pds[i], &attr, &c[i]));
		ASSERT_EQ(0, mlx5ep_mr_cache_get(c[i], self->mem, PAGE, &e[i]));
		mlx5ep_mr_cache_put(c[i], e[i]);
	}
	EXPECT_EQ(-ENOSPC, mlx5ep_mr_cache_create_on(n, pds[0], &attr,
						     &(struct mlx5ep_mr_cache *){}));
	EXPECT_EQ(-EBUSY, mlx5ep_notifier_destroy(n));
	pid = fork();
	if (!pid)
		_exit(mlx5ep_mr_cache_destroy(c[0]) ||
		      mlx5ep_mr_cache_destroy(c[1]) ||
		      mlx5ep_notifier_destroy(n));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(self->mem, mmap(self->mem, PAGE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	memset(self->mem, 1, PAGE);
	EXPECT_EQ(2, mlx5ep_mr_cache_trim(c[0]));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(1, mr_cache_registrations_query(c[i]).stale);
		EXPECT_EQ(0, mr_cache_registrations_query(c[i]).regions);
	}
	ASSERT_EQ(0, mlx5ep_mr_cache_get(c[0], self->mem, PAGE, &e[0]));
	EXPECT_EQ(0, watched_differs(&self->setup, e[0]->mr, self->mem, PAGE));
	mlx5ep_mr_cache_put(c[0], e[0]);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, mlx5ep_mr_cache_destroy(c[i]));
	EXPECT_EQ(0, mlx5ep_notifier_destroy(n));
	EXPECT_EQ(0, ibv_dealloc_pd(pds[1]));
}

TEST_F(cache, stays_the_parents_whatever_a_child_does)
{
	struct mlx5ep_mr_cache_entry *e;
	int status;
	pid_t pid;

	ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem, 4 * PAGE,
					 &e));
	pid = fork();
	if (!pid) {
		mlx5ep_mr_cache_put(self->cache, e);
		_exit(-mlx5ep_mr_cache_destroy(self->cache));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, watched_differs(&self->setup, e->mr, self->mem, 4 * PAGE));
	mlx5ep_mr_cache_put(self->cache, e);
}

struct cancelled {
	struct mlx5ep_mr_cache *cache;
	void *mem;
	int ret;
};

/*
 * The thread is told to end before it calls, and an event is there to be read.
 */
static void *end_in_get(void *arg)
{
	struct cancelled *c = arg;
	struct mlx5ep_mr_cache_entry *e;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	c->ret = mlx5ep_mr_cache_get(c->cache, c->mem, PAGE, &e);
	if (!c->ret)
		mlx5ep_mr_cache_put(c->cache, e);
	pthread_testcancel();
	return NULL;
}

TEST_F(cache, outlives_a_thread_that_is_cancelled)
{
	struct cancelled c = { .cache = self->cache, .mem = self->mem + PAGE,
			       .ret = 1 };
	struct mlx5ep_mr_cache_entry *e;
	pthread_t thread;
	void *end;

	ASSERT_EQ(0, mlx5ep_mr_cache_get(self->cache, self->mem, PAGE, &e));
	mlx5ep_mr_cache_put(self->cache, e);
	ASSERT_EQ(0, munmap(self->mem, PAGE));
	ASSERT_EQ(0, pthread_create(&thread, NULL, end_in_get, &c));
	ASSERT_EQ(0, pthread_join(thread, &end));
	EXPECT_EQ(PTHREAD_CANCELED, end);
	/*
	 * If the other thread had ended with the lock, this one would wait for
	 * ever.
	 */
	EXPECT_EQ(0, mlx5ep_mr_cache_trim(self->cache));
	EXPECT_EQ(0, c.ret);
	EXPECT_EQ(1, mr_cache_registrations_query(self->cache).stale);
}

TEST_F(cache, refuses_nonsense)
{
	struct mlx5ep_mr_cache_attr attr = { .flags = 1 };
	struct mlx5ep_mr_cache_entry *e;
	struct mlx5ep_mr_cache *c;
	int status;
	pid_t pid;

	EXPECT_EQ(-EINVAL,
		  mlx5ep_mr_cache_create(self->setup.verbs.pd, &attr, &c));
	attr = (struct mlx5ep_mr_cache_attr){ .reserved = { 0, 0, 0, 1 } };
	EXPECT_EQ(-EINVAL,
		  mlx5ep_mr_cache_create(self->setup.verbs.pd, &attr, &c));
	attr = (struct mlx5ep_mr_cache_attr){ .max_regions = UINT64_MAX };
	EXPECT_EQ(-EDQUOT,
		  mlx5ep_mr_cache_create(self->setup.verbs.pd, &attr, &c));
	EXPECT_EQ(-EINVAL, mlx5ep_mr_cache_get(self->cache, self->mem, 0, &e));
	EXPECT_EQ(-EINVAL, mlx5ep_mr_cache_get(self->cache, self->mem, ~0ul,
					       &e));
	EXPECT_NE(0, mlx5ep_mr_cache_get(self->cache, (void *)PAGE, PAGE, &e));
	EXPECT_EQ(0, mr_cache_registrations_query(self->cache).regions);
	pid = fork();
	if (!pid)
		_exit(mlx5ep_mr_cache_get(self->cache, self->mem, PAGE, &e) !=
		      -EXDEV);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

struct user {
	pthread_t thread;
	struct mlx5ep_mr_cache *cache;
	void *mem;
	unsigned int seed;
	int ret;
};

static void *use(void *arg)
{
	struct user *u = arg;
	struct mlx5ep_mr_cache_entry *e;
	int i, page;

	for (i = 0; i < 500 && !u->ret; i++) {
		page = rand_r(&u->seed) % 60;
		u->ret = mlx5ep_mr_cache_get(u->cache, u->mem + page * PAGE,
					     3 * PAGE, &e);
		if (u->ret)
			break;
		if ((void *)e->mr->addr > u->mem + page * PAGE ||
		    e->mr->addr + e->mr->length < u->mem + (page + 3) * PAGE)
			u->ret = -ERANGE;
		mlx5ep_mr_cache_put(u->cache, e);
		if (i % 16 == 0)
			madvise(u->mem + page * PAGE, PAGE, MADV_DONTNEED);
	}
	return NULL;
}

TEST_F(cache, is_for_any_number_of_threads)
{
	struct user users[4];
	int i;

	for (i = 0; i < 4; i++) {
		users[i] = (struct user){ .cache = self->cache,
					  .mem = self->mem, .seed = i };
		ASSERT_EQ(0, pthread_create(&users[i].thread, NULL, use,
					    &users[i]));
	}
	for (i = 0; i < 4; i++) {
		pthread_join(users[i].thread, NULL);
		EXPECT_EQ(0, users[i].ret);
	}
	EXPECT_EQ(2000,
		  mr_cache_registrations_query(self->cache).hits +
			  mr_cache_registrations_query(self->cache).misses);
}

TEST_HARNESS_MAIN
