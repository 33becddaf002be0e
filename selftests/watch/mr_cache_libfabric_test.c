// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, smp: 2, timeout: 240, config: USERFAULTFD */
/*
 * libfabric's registration cache with the monitor of libmlx5ep-fi: what fi_mr_reg()
 * answers is what the process sees, whatever happened to the memory; with a
 * monitor that sees nothing, it is not.
 *
 * libfabric takes one monitor per process, and each case is a process.
 */
#include "kselftest_harness.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <mlx5ep/fi_monitor.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext.h>

#include "fabric.h"

#define PAGE	4096ul
#define LEN	(8 * PAGE)
#define FIXED	((char *)0x610000000000ul)

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

/* libmlx5ep-fi, loaded when a case says so. */
struct monitor {
	void *handle;
	int (*import)(void);
	void (*query)(struct mlx5ep_fi_monitor_stats *stats, size_t size);
};

static int monitor_load(struct monitor *m)
{
	m->handle = dlopen("libmlx5ep-fi.so.0", RTLD_NOW);
	if (!m->handle) {
		fprintf(stderr, "%s\n", dlerror());
		return -ENOENT;
	}
	m->import = dlsym(m->handle, "mlx5ep_fi_monitor_import");
	m->query = dlsym(m->handle, "_mlx5ep_fi_monitor_query");
	return m->import && m->query ? 0 : -ENOENT;
}

static struct mlx5ep_fi_monitor_stats
mr_cache_libfabric_query(const struct monitor *m)
{
	struct mlx5ep_fi_monitor_stats stats;

	m->query(&stats, sizeof(stats));
	return stats;
}

/* A monitor that reports nothing. */
static int blind_start(struct fid_mem_monitor *fid)
{
	return 0;
}

static void blind_stop(struct fid_mem_monitor *fid)
{
}

static int blind_subscribe(struct fid_mem_monitor *fid, const void *addr,
			   size_t len)
{
	return 0;
}

static void blind_unsubscribe(struct fid_mem_monitor *fid, const void *addr,
			      size_t len)
{
}

static bool blind_valid(struct fid_mem_monitor *fid, const void *addr,
			size_t len)
{
	return true;
}

static struct fi_ops_mem_monitor blind_ops = {
	.size = sizeof(blind_ops),
	.start = blind_start,
	.stop = blind_stop,
	.subscribe = blind_subscribe,
	.unsubscribe = blind_unsubscribe,
	.valid = blind_valid,
};

static struct fid_mem_monitor blind = {
	.fid.fclass = FI_CLASS_MEM_MONITOR,
	.export_ops = &blind_ops,
};

static int blind_import(void)
{
	struct fid *cache;
	int ret;

	ret = fi_open(FI_VERSION(1, 18), "mr_cache", NULL, 0, 0, &cache, NULL);
	if (ret)
		return ret;
	ret = fi_import_fid(cache, &blind.fid, 0);
	fi_close(cache);
	return ret;
}

/* The memory of a case: private, or of a file without a name. */
struct memory {
	char *addr;
	int fd;
};

static int memory_map(struct memory *mem)
{
	int flags = mem->fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;

	if (mmap(mem->addr, LEN, PROT_READ | PROT_WRITE, flags | MAP_FIXED,
		 mem->fd, 0) != mem->addr)
		return -errno;
	memset(mem->addr, 1, LEN);
	return 0;
}

static int change_munmap(struct memory *mem)
{
	return munmap(mem->addr, LEN) ? -errno : memory_map(mem);
}

static int change_munmap_raw(struct memory *mem)
{
	return syscall(SYS_munmap, mem->addr, LEN) ? -errno : memory_map(mem);
}

static int change_fixed(struct memory *mem)
{
	return memory_map(mem);
}

static int change_mremap(struct memory *mem)
{
	void *away = mremap(mem->addr, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED,
			    mem->addr + 16 * LEN);

	if (away == MAP_FAILED)
		return -errno;
	return memory_map(mem);
}

static int change_dontneed(struct memory *mem)
{
	return madvise(mem->addr, LEN, MADV_DONTNEED) ? -errno : 0;
}

static int change_dontneed_locked(struct memory *mem)
{
	return madvise(mem->addr, LEN, MADV_DONTNEED_LOCKED) ? -errno : 0;
}

static int change_truncate(struct memory *mem)
{
	return ftruncate(mem->fd, 0) || ftruncate(mem->fd, LEN) ? -errno : 0;
}

static int change_punched_by_another(struct memory *mem)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(!!fallocate(mem->fd, FALLOC_FL_PUNCH_HOLE |
				  FALLOC_FL_KEEP_SIZE, 0, LEN));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -errno;
	return status ? -EIO : 0;
}

static const struct change {
	const char *name;
	int (*make)(struct memory *mem);
	bool shared;
} changes[] = {
	{ "munmap and mmap", change_munmap, false },
	{ "munmap and mmap, raw", change_munmap_raw, false },
	{ "MAP_FIXED over it", change_fixed, false },
	{ "mremap away", change_mremap, false },
	{ "MADV_DONTNEED", change_dontneed, false },
	{ "MADV_DONTNEED_LOCKED", change_dontneed_locked, false },
	{ "ftruncate", change_truncate, true },
	{ "hole punched by another process", change_punched_by_another, true },
};

#define CHANGES (sizeof(changes) / sizeof(*changes))

/*
 * Registers, gives back (the cache keeps it), makes the change, registers again,
 * at an address that no other change has. Returns what fabric_differs() says of the second registration.
 */
static int stale_after(struct fabric_setup *setup, const struct change *change)
{
	struct memory mem = {
		.addr = FIXED + (1 + change - changes) * 64 * LEN,
		.fd = -1,
	};
	struct fid_mr *mr;
	int ret = 0;

	if (change->shared) {
		mem.fd = memfd_create("mr_cache", MFD_CLOEXEC);
		if (mem.fd < 0 || ftruncate(mem.fd, LEN))
			return -errno;
	}
	ret = memory_map(&mem);
	if (!ret)
		ret = fabric_reg(setup, mem.addr, LEN, &mr);
	if (!ret) {
		ret = fabric_differs(setup, mr, mem.addr, LEN) ? -EBADMSG : 0;
		fi_close(&mr->fid);
	}
	if (!ret)
		ret = change->make(&mem);
	if (!ret)
		ret = fabric_reg(setup, mem.addr, LEN, &mr);
	if (!ret) {
		ret = fabric_differs(setup, mr, mem.addr, LEN);
		fi_close(&mr->fid);
	}
	munmap(mem.addr, LEN);
	if (mem.fd >= 0)
		close(mem.fd);
	return ret;
}

FIXTURE(libfabric)
{
	struct fabric_setup setup;
	struct monitor monitor;
	struct memory mem;
};

FIXTURE_SETUP(libfabric)
{
	self->mem = (struct memory){ .addr = FIXED, .fd = -1 };
	ASSERT_EQ(0, memory_map(&self->mem));
}

FIXTURE_TEARDOWN(libfabric)
{
	if (self->setup.domain)
		fabric_close(&self->setup);
	if (self->monitor.handle)
		EXPECT_EQ(0, dlclose(self->monitor.handle));
	munmap(self->mem.addr, LEN);
}

#define USE_MONITOR() \
do { \
	ASSERT_EQ(0, monitor_load(&self->monitor)); \
	ASSERT_EQ(0, self->monitor.import()); \
	ASSERT_EQ(0, fabric_open(&self->setup)); \
} while (0)

/* Registers LEN bytes and lets go of them: the cache keeps the registration. */
static int keep(struct fabric_setup *setup, void *addr, uint64_t *key)
{
	struct fid_mr *mr;
	int ret = fabric_reg(setup, addr, LEN, &mr);

	if (ret)
		return ret;
	*key = fi_mr_key(mr);
	return fi_close(&mr->fid);
}

TEST_F(libfabric, a_kept_registration_is_used_again)
{
	struct fid_mr *mr;
	uint64_t key;

	USE_MONITOR();
	ASSERT_EQ(0, keep(&self->setup, self->mem.addr, &key));
	ASSERT_EQ(0,
		  fabric_reg(&self->setup, self->mem.addr + PAGE, PAGE, &mr));
	EXPECT_EQ(key, fi_mr_key(mr));
	EXPECT_EQ(0, fabric_differs(&self->setup, mr, self->mem.addr + PAGE,
				    PAGE));
	fi_close(&mr->fid);
	EXPECT_EQ(1, mr_cache_libfabric_query(&self->monitor).valid);
	EXPECT_EQ(0, mr_cache_libfabric_query(&self->monitor).stale);
	/* The receive buffer of the setup counts too. */
	EXPECT_EQ(2, mr_cache_libfabric_query(&self->monitor).watched);
}

TEST_F(libfabric, what_it_answers_is_never_stale)
{
	struct mlx5ep_fi_monitor_stats stats;
	size_t i;

	USE_MONITOR();
	for (i = 0; i < CHANGES; i++) {
		EXPECT_EQ(0, stale_after(&self->setup, &changes[i]))
			TH_LOG("%s", changes[i].name);
	}
	stats = mr_cache_libfabric_query(&self->monitor);
	EXPECT_LE(CHANGES, stats.stale + stats.notified);
	EXPECT_EQ(0, stats.refused);
}

TEST_F(libfabric, with_a_monitor_that_sees_nothing_it_is_stale)
{
	size_t i;

	ASSERT_EQ(0, blind_import());
	ASSERT_EQ(0, fabric_open(&self->setup));
	for (i = 0; i < CHANGES; i++) {
		EXPECT_EQ(1, stale_after(&self->setup, &changes[i]))
			TH_LOG("%s", changes[i].name);
	}
}

#define RACERS	3
#define ROUNDS	200

struct racer {
	pthread_t thread;
	struct fabric_setup *setup;
	pthread_mutex_t *lock;	/* of the endpoint */
	char *addr;
	int stale, failed;
};

/* One page, mapped anew in every other round; each is asked for twice. */
static void *race(void *arg)
{
	struct racer *racer = arg;
	struct memory mem = { .addr = racer->addr, .fd = -1 };
	struct fid_mr *mr;
	int i, ret = 0;

	for (i = 0; i < ROUNDS && ret >= 0; i++) {
		if (i % 2 == 0)
			ret = change_munmap(&mem);
		if (!ret)
			ret = fabric_reg(racer->setup, mem.addr, PAGE, &mr);
		if (ret)
			break;
		pthread_mutex_lock(racer->lock);
		ret = fabric_differs(racer->setup, mr, mem.addr, PAGE);
		pthread_mutex_unlock(racer->lock);
		racer->stale += ret > 0;
		fi_close(&mr->fid);
		ret = ret < 0 ? ret : 0;
	}
	racer->failed = ret;
	return NULL;
}

/* Returns how often a registration was stale, or a negative errno. */
static int race_all(struct fabric_setup *setup)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct racer racers[RACERS] = {};
	int i, stale = 0, failed = 0;

	for (i = 0; i < RACERS; i++) {
		racers[i].setup = setup;
		racers[i].lock = &lock;
		racers[i].addr = FIXED + (64 + i) * 64 * LEN;
		failed |= -pthread_create(&racers[i].thread, NULL, race,
					  &racers[i]);
	}
	for (i = 0; i < RACERS && !failed; i++) {
		pthread_join(racers[i].thread, NULL);
		stale += racers[i].stale;
		failed = racers[i].failed ? racers[i].failed : failed;
	}
	return failed ? failed : stale;
}

TEST_F(libfabric, threads_that_map_and_unmap_meet_nothing_stale)
{
	USE_MONITOR();
	EXPECT_EQ(0, race_all(&self->setup));
	EXPECT_LT(RACERS * ROUNDS / 4,
		  mr_cache_libfabric_query(&self->monitor).valid);
}

TEST_F(libfabric, threads_meet_what_is_stale_when_nobody_tells)
{
	ASSERT_EQ(0, blind_import());
	ASSERT_EQ(0, fabric_open(&self->setup));
	EXPECT_LT(RACERS * ROUNDS / 2, race_all(&self->setup));
}

/* How many changes a monitor of libfabric's own misses, or a negative errno. */
static int missed_by(const char *name, struct fabric_setup *setup)
{
	int ret, stale = 0;
	size_t i;

	if (setenv("FI_MR_CACHE_MONITOR", name, 1) || fabric_open(setup))
		return -EINVAL;
	for (i = 0; i < CHANGES; i++) {
		ret = stale_after(setup, &changes[i]);
		if (ret < 0)
			return ret;
		printf("# %s, %s: %s\n", name, changes[i].name,
		       ret ? "stale" : "right");
		stale += ret;
	}
	return stale;
}

TEST_F(libfabric, its_own_userfaultfd_monitor_misses_what_others_do)
{
	EXPECT_LT(0, missed_by("userfaultfd", &self->setup));
}

TEST_F(libfabric, its_own_hooks_miss_what_does_not_pass_them)
{
	EXPECT_LT(0, missed_by("memhooks", &self->setup));
}

TEST_F(libfabric, what_changes_nothing_is_no_miss)
{
	struct fid_mr *mr;
	int status;
	uint64_t key;
	pid_t pid;

	USE_MONITOR();
	ASSERT_EQ(0, keep(&self->setup, self->mem.addr, &key));

	pid = fork();
	if (!pid) {
		memset(self->mem.addr, 3, LEN);
		_exit(0);
	}
	memset(self->mem.addr, 4, LEN);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, mprotect(self->mem.addr, LEN, PROT_NONE));
	ASSERT_EQ(0, mprotect(self->mem.addr, LEN, PROT_READ | PROT_WRITE));
	ASSERT_EQ(0, madvise(self->mem.addr, LEN, MADV_FREE));

	ASSERT_EQ(0, fabric_reg(&self->setup, self->mem.addr, LEN, &mr));
	EXPECT_EQ(key, fi_mr_key(mr));
	EXPECT_EQ(0, fabric_differs(&self->setup, mr, self->mem.addr, LEN));
	fi_close(&mr->fid);
	EXPECT_EQ(1, mr_cache_libfabric_query(&self->monitor).valid);
	EXPECT_EQ(0, mr_cache_libfabric_query(&self->monitor).stale);
}

TEST_F(libfabric, memory_that_is_gone_is_dropped_without_being_asked_for)
{
	struct fid_mr *mr;
	int i;

	USE_MONITOR();
	ASSERT_EQ(0, fabric_reg(&self->setup, self->mem.addr, LEN, &mr));
	fi_close(&mr->fid);
	ASSERT_EQ(2, mr_cache_libfabric_query(&self->monitor).watched);
	munmap(self->mem.addr, LEN);
	for (i = 0;
	     i < 1000 && mr_cache_libfabric_query(&self->monitor).watched > 1;
	     i++)
		usleep(10000);
	EXPECT_EQ(1, mr_cache_libfabric_query(&self->monitor).watched);
	EXPECT_EQ(1, mr_cache_libfabric_query(&self->monitor).notified);
}

TEST_F(libfabric, two_caches_of_one_range_do_not_vouch_for_each_other)
{
	struct fabric_setup other;
	struct fid_mr *mr, *mr2;

	USE_MONITOR();
	ASSERT_EQ(0, fabric_open(&other));
	ASSERT_EQ(0, fabric_reg(&self->setup, self->mem.addr, LEN, &mr));
	/*
	 * The registration is in use, so the cache stays subscribed when it
	 * becomes stale.
	 */
	ASSERT_EQ(0, change_fixed(&self->mem));
	ASSERT_EQ(0, fabric_reg(&other, self->mem.addr, LEN, &mr2));
	EXPECT_EQ(0, fabric_differs(&other, mr2, self->mem.addr, LEN));
	fi_close(&mr2->fid);
	fi_close(&mr->fid);
	ASSERT_EQ(0, fabric_reg(&self->setup, self->mem.addr, LEN, &mr));
	EXPECT_EQ(0, fabric_differs(&self->setup, mr, self->mem.addr, LEN));
	fi_close(&mr->fid);
	ASSERT_EQ(0, fabric_reg(&other, self->mem.addr, LEN, &mr2));
	EXPECT_EQ(0, fabric_differs(&other, mr2, self->mem.addr, LEN));
	fi_close(&mr2->fid);
	fabric_close(&other);
}

TEST_F(libfabric, the_last_domain_takes_the_watches_with_it)
{
	int i;

	ASSERT_EQ(0, monitor_load(&self->monitor));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, fabric_open(&self->setup));
		EXPECT_EQ(0, stale_after(&self->setup, &changes[0]));
		EXPECT_LE(1, mr_cache_libfabric_query(&self->monitor).watched);
		fabric_close(&self->setup);
		EXPECT_EQ(0, mr_cache_libfabric_query(&self->monitor).watched);
	}
}

TEST_F(libfabric, the_monitor_of_somebody_else_stays)
{
	ASSERT_EQ(0, blind_import());
	ASSERT_EQ(0, monitor_load(&self->monitor));
	EXPECT_EQ(-FI_EBUSY, self->monitor.import());
	ASSERT_EQ(0, fabric_open(&self->setup));
	EXPECT_EQ(1, stale_after(&self->setup, &changes[0]));
	EXPECT_EQ(0, mr_cache_libfabric_query(&self->monitor).subscribed);
	fabric_close(&self->setup);
	/* There is room as soon as the other registration is gone. */
	ASSERT_EQ(0, fi_close(&blind.fid));
	EXPECT_EQ(0, self->monitor.import());
	ASSERT_EQ(0, fabric_open(&self->setup));
	EXPECT_EQ(0, stale_after(&self->setup, &changes[0]));
}

TEST_F(libfabric, it_stays_when_somebody_else_comes)
{
	USE_MONITOR();
	EXPECT_EQ(0, self->monitor.import());
	EXPECT_EQ(-FI_EBUSY, blind_import());
	EXPECT_EQ(0, stale_after(&self->setup, &changes[0]));
}

TEST_F(libfabric, it_comes_too_late_for_an_open_domain)
{
	ASSERT_EQ(0, fabric_open(&self->setup));
	ASSERT_EQ(0, monitor_load(&self->monitor));
	EXPECT_EQ(-FI_EBUSY, self->monitor.import());
}

TEST_F(libfabric, the_environment_can_leave_it_out)
{
	ASSERT_EQ(0, setenv("MLX5EP_FI_MONITOR", "off", 1));
	ASSERT_EQ(0, monitor_load(&self->monitor));
	ASSERT_EQ(0, blind_import());
	EXPECT_EQ(-FI_EBUSY, self->monitor.import());
}

TEST_F(libfabric, the_monitor_that_the_user_asked_libfabric_for_wins)
{
	ASSERT_EQ(0, setenv("FI_MR_CACHE_MONITOR", "userfaultfd", 1));
	USE_MONITOR();
	EXPECT_EQ(0, stale_after(&self->setup, &changes[0]));
	EXPECT_EQ(0, mr_cache_libfabric_query(&self->monitor).subscribed);
}

TEST_F(libfabric, unloading_it_under_an_open_domain_does_no_harm)
{
	USE_MONITOR();
	EXPECT_EQ(0, stale_after(&self->setup, &changes[0]));
	EXPECT_EQ(0, dlclose(self->monitor.handle));
	self->monitor.handle = NULL;
	EXPECT_EQ(0, stale_after(&self->setup, &changes[1]));
}

/* exit() and not _exit(): the library's destructor runs in the child too. */
TEST_F(libfabric, in_a_forked_child_nothing_is_valid_and_nothing_hangs)
{
	uint64_t key;
	struct fid_mr *mr;
	int status;
	pid_t pid;

	USE_MONITOR();
	ASSERT_EQ(0, keep(&self->setup, self->mem.addr, &key));
	pid = fork();
	if (!pid) {
		if (self->monitor.import() != -EXDEV)
			exit(1);
		alarm(30);
		if (fabric_reg(&self->setup, self->mem.addr, LEN, &mr) ||
		    fi_mr_key(mr) == key)
			exit(2);
		fi_close(&mr->fid);
		exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, fabric_reg(&self->setup, self->mem.addr, LEN, &mr));
	EXPECT_EQ(key, fi_mr_key(mr));
	EXPECT_EQ(0, fabric_differs(&self->setup, mr, self->mem.addr, LEN));
	fi_close(&mr->fid);
}

TEST_HARNESS_MAIN
