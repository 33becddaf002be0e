// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, smp: 2, numa: 2, timeout: 400, config: KSM HUGETLBFS ZRAM NUMA */
/*
 * Everything that can happen to registered memory, one case each. What the HCA
 * reads through the registration is compared with what the process sees: where
 * they differ, the word must have changed before the call returned, which
 * another CPU watches too; where they agree, the registration must be found
 * valid with at most one verify. The lines "# row:" make the table in
 * Documentation/results/notifications.md (selftests/watch/mr_watch_table.sh).
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "calls.h"
#include "lab.h"
#include "region.h"
#include "sysfs.h"
#include "watched.h"

#define PAGE	REGION_PAGE
#define HUGE	REGION_HUGE
#define WAIT_MS	60000	/* a limit for what the kernel does by itself */

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

/*
 * Make the change. Return: 0; 1 where this kernel or guest cannot, with the
 * reason in @why; -errno.
 */
typedef int (*change_fn)(struct region *r, const char **why);

/* How the case at hand makes its system call. */
static enum calls_by by;

/*
 * The result where a change is not possible: 1. In the lab that is right only
 * for a kernel older than the given version.
 */
static int lacks(const char **why, const char *what, unsigned int major,
		 unsigned int minor)
{
	*why = what;
	return lab_may_lack(major, minor) ? 1 : -ENODEV;
}

/* The same for a call that refuses what the kernel does not know: @ret is -EINVAL. */
static int known_since(int ret, const char **why, const char *what,
		       unsigned int major, unsigned int minor)
{
	return ret == -EINVAL ? lacks(why, what, major, minor) : ret;
}

static int err(int ret)
{
	return ret ? -errno : 0;
}

static int read_number(const char *path)
{
	FILE *f = fopen(path, "r");
	int n = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%d", &n) != 1)
		n = -1;
	fclose(f);
	return n;
}

/* Run @fn in a child that has the descriptor but not the memory. */
static int in_child(int (*fn)(int fd), int fd)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(fn(fd) ? 1 : 0);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ECHILD;
}

static int do_munmap(struct region *r, const char **why)
{
	return calls_munmap(by, r->addr, r->len);
}

static int do_munmap_one_page(struct region *r, const char **why)
{
	return err(munmap(r->addr + 5 * PAGE, PAGE));
}

static int do_map_fixed(struct region *r, const char **why)
{
	long ret = calls_mmap_fixed(by, r->addr, r->len);

	return ret < 0 ? ret : 0;
}

static int do_mremap_move(struct region *r, const char **why)
{
	long ret = calls_mremap(by, r->addr, r->len, r->len, MREMAP_MAYMOVE |
				MREMAP_FIXED, r->map + r->map_len - HUGE);

	return ret < 0 ? ret : 0;
}

static int do_mremap_shrink(struct region *r, const char **why)
{
	return err(mremap(r->addr, r->len, r->len / 2, 0) == MAP_FAILED);
}

static int do_mremap_grow(struct region *r, const char **why)
{
	if (munmap(r->addr + r->len, PAGE))
		return -errno;
	return err(mremap(r->addr, r->len, r->len + PAGE, 0) == MAP_FAILED);
}

static int do_mremap_dontunmap(struct region *r, const char **why)
{
	long ret = calls_mremap(by, r->addr, r->len, r->len, MREMAP_MAYMOVE |
				4, NULL);

	return known_since(ret < 0 ? ret : 0, why,
			   "this kernel has no MREMAP_DONTUNMAP", 5, 7);
}

static int do_brk(struct region *r, const char **why)
{
	int ret = calls_brk(by, r->addr);

	return ret ? ret : calls_brk(by, r->addr + r->len);
}

static int do_dontneed(struct region *r, const char **why)
{
	return calls_madvise(by, r->addr, r->len, MADV_DONTNEED);
}

static int do_dontneed_locked(struct region *r, const char **why)
{
	if (mlock(r->addr, r->len))
		return -errno;
	return known_since(calls_madvise(by, r->addr, r->len,
					 MADV_DONTNEED_LOCKED), why,
			   "this kernel has no MADV_DONTNEED_LOCKED", 5, 18);
}

static int do_free(struct region *r, const char **why)
{
	return calls_madvise(by, r->addr, r->len, MADV_FREE);
}

static int do_remove(struct region *r, const char **why)
{
	return calls_madvise(by, r->addr, r->len, MADV_REMOVE);
}

static int do_pageout(struct region *r, const char **why)
{
	return calls_madvise(by, r->addr, r->len, MADV_PAGEOUT);
}

static int do_cold(struct region *r, const char **why)
{
	return calls_madvise(by, r->addr, r->len, MADV_COLD);
}

static int do_guard_install(struct region *r, const char **why)
{
	return known_since(calls_madvise(by, r->addr, r->len,
					 MADV_GUARD_INSTALL), why,
			   "this kernel has no guard pages", 6, 13);
}

static int truncate_fd(int fd)
{
	return calls_ftruncate(by, fd, 4 * PAGE);
}

static int punch_fd(int fd)
{
	return calls_punch(by, fd, 2 * PAGE, PAGE);
}

static int do_truncate(struct region *r, const char **why)
{
	return truncate_fd(r->fd);
}

static int do_truncate_by_other(struct region *r, const char **why)
{
	return in_child(truncate_fd, r->fd);
}

static int do_punch(struct region *r, const char **why)
{
	return punch_fd(r->fd);
}

static int do_punch_by_other(struct region *r, const char **why)
{
	return in_child(punch_fd, r->fd);
}

static int do_shmdt(struct region *r, const char **why)
{
	return err(shmdt(r->addr));
}

static int do_mlock(struct region *r, const char **why)
{
	return err(mlock(r->addr, r->len));
}

static int do_mprotect_read(struct region *r, const char **why)
{
	return err(mprotect(r->addr, r->len, PROT_READ));
}

static int do_mprotect_none_and_back(struct region *r, const char **why)
{
	if (mprotect(r->addr, r->len, PROT_NONE))
		return -errno;
	return err(mprotect(r->addr, r->len, PROT_READ | PROT_WRITE));
}

static int do_mprotect_one_page(struct region *r, const char **why)
{
	return err(mprotect(r->addr + 3 * PAGE, PAGE, PROT_READ));
}

static int do_fork_and_write(struct region *r, const char **why)
{
	int status, go[2];
	pid_t pid;
	char c = 0;

	if (pipe(go))
		return -errno;
	pid = fork();
	if (!pid) {
		watched_fill(r->addr, r->len, 77);
		(void)!write(go[1], &c, 1);
		pause();
	}
	(void)!read(go[0], &c, 1);
	watched_fill(r->addr, r->len, 78);
	kill(pid, SIGKILL);
	return err(waitpid(pid, &status, 0) != pid);
}

static int do_fork_parent_writes_first(struct region *r, const char **why)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	watched_fill(r->addr, r->len, 79);
	kill(pid, SIGKILL);
	return err(waitpid(pid, &status, 0) != pid);
}

static int do_fork_child_unmaps(struct region *r, const char **why)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(munmap(r->addr, r->len) ? 1 : 0);
	return err(waitpid(pid, &status, 0) != pid);
}

static int do_vfork(struct region *r, const char **why)
{
	int status;
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	return err(waitpid(pid, &status, 0) != pid);
}

static int clone_munmap(void *arg)
{
	struct region *r = arg;

	return munmap(r->addr, r->len) ? 1 : 0;
}

static int do_clone_vm_child_unmaps(struct region *r, const char **why)
{
	char *stack = malloc(65536);
	int status;
	pid_t pid;

	pid = clone(clone_munmap, stack + 65536, CLONE_VM | SIGCHLD, r);
	return err(pid < 0 || waitpid(pid, &status, 0) != pid || status);
}

static int do_fork_and_exec(struct region *r, const char **why)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	return err(waitpid(pid, &status, 0) != pid || status);
}

static int do_ksm(struct region *r, const char **why)
{
	int scans, i, ret;

	for (i = 0; i < r->len / PAGE; i++)
		memset(r->addr + i * PAGE, 0x5a, PAGE);
	if (file_write("/sys/kernel/mm/ksm/run", "1"))
		return lacks(why, "this kernel has no KSM", 0, 0);
	file_write("/sys/kernel/mm/ksm/sleep_millisecs", "1");
	file_write("/sys/kernel/mm/ksm/pages_to_scan", "1000");
	if (madvise(r->addr, r->len, MADV_MERGEABLE))
		return -errno;
	scans = read_number("/sys/kernel/mm/ksm/full_scans");
	for (i = 0; i < WAIT_MS; i++) {
		if (read_number("/sys/kernel/mm/ksm/full_scans") >= scans + 4)
			break;
		usleep(1000);
	}
	ret = i < WAIT_MS ? 0 : -ETIMEDOUT;
	return file_write("/sys/kernel/mm/ksm/run", "0") ? -EIO : ret;
}

static int do_compaction(struct region *r, const char **why)
{
	if (!file_write("/proc/sys/vm/compact_memory", "1"))
		return 0;
	return lacks(why, "this kernel cannot compact memory", 0, 0);
}

/* Migration between nodes; both calls need two of them. */
static int do_move_pages(struct region *r, const char **why)
{
	void *pages[16];
	int nodes[16], status[16], i;

	if (access("/sys/devices/system/node/node1", F_OK))
		return lacks(why, "the guest has one memory node", 0, 0);
	for (i = 0; i < 16; i++) {
		pages[i] = r->addr + i * PAGE;
		nodes[i] = 1;
	}
	syscall(SYS_move_pages, 0, 16, pages, nodes, status, 2);
	for (i = 0; i < 16; i++)
		nodes[i] = 0;
	return err(syscall(SYS_move_pages, 0, 16, pages, nodes, status, 2) < 0);
}

/* How often the kernel has gone through the memory of this process. */
static int numa_scans(void)
{
	FILE *f = fopen("/proc/self/sched", "r");
	char line[128];
	int n = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "mm->numa_scan_seq : %d", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

static int do_numa_balancing(struct region *r, const char **why)
{
	int scans = numa_scans(), i, ret;

	if (access("/sys/devices/system/node/node1", F_OK) ||
	    file_write("/proc/sys/kernel/numa_balancing", "1"))
		return lacks(why, "the guest has one memory node", 0, 0);
	for (i = 0; i < WAIT_MS && numa_scans() < scans + 2; i++)
		usleep(1000);
	ret = i < WAIT_MS ? 0 : -ETIMEDOUT;
	return file_write("/proc/sys/kernel/numa_balancing", "0") ? -EIO : ret;
}

static int do_soft_dirty(struct region *r, const char **why)
{
	return file_write("/proc/self/clear_refs", "4");
}

static int do_swap_neighbours(struct region *r, const char **why)
{
	void *next = r->addr + r->len;
	int ret;

	if (system("grep -q zram /proc/swaps || { modprobe zram && "
		   "echo 32M >/sys/block/zram0/disksize && "
		   "mkswap /dev/zram0 && swapon /dev/zram0; } >/dev/null 2>&1"))
		return lacks(why, "no swap can be made in the guest", 0, 0);
	watched_fill(next, r->len, 5);
	ret = err(madvise(next, r->len, MADV_PAGEOUT));
	watched_fill(next, r->len, 6);
	return ret;
}

static int do_thp_munmap_other_part(struct region *r, const char **why)
{
	return err(munmap(r->addr + HUGE / 2, PAGE));
}

static int do_thp_collapse(struct region *r, const char **why)
{
	/*
	 * The pinned page makes the call fail. The test is about the attempt.
	 */
	madvise(r->addr, HUGE, MADV_COLLAPSE);
	return 0;
}

static int do_hugetlb_move(struct region *r, const char **why)
{
	void *to = r->map + r->map_len - HUGE;

	return known_since(err(mremap(r->addr, r->len, r->len, MREMAP_MAYMOVE |
				      MREMAP_FIXED, to) == MAP_FAILED), why,
			   "this kernel moves no hugetlb mapping", 5, 16);
}

static int do_hugetlb_dontneed(struct region *r, const char **why)
{
	return known_since(do_dontneed(r, why), why,
			   "this kernel has no MADV_DONTNEED of hugetlb memory", 5, 18);
}

/*
 * mprotect() of another page makes the process leave the table that it shares
 * with a child; with @punch the child then punches out the registered page.
 */
static int unshare_table(struct region *r, bool punch)
{
	int status, ready[2], go[2];
	pid_t pid;
	char c = 0;

	if (pipe(ready) || pipe(go))
		return -errno;
	*(char *)(r->addr + 3 * HUGE) = 1;
	pid = fork();
	if (!pid) {
		c = *(volatile char *)r->addr;
		if (write(ready[1], &c, 1) != 1 || read(go[0], &c, 1) != 1)
			_exit(1);
		_exit(punch && fallocate(r->fd, FALLOC_FL_PUNCH_HOLE |
					 FALLOC_FL_KEEP_SIZE, 0, HUGE));
	}
	if (pid < 0 || read(ready[0], &c, 1) != 1 ||
	    mprotect(r->addr + 3 * HUGE, HUGE, PROT_READ) ||
	    write(go[1], &c, 1) != 1 || waitpid(pid, &status, 0) != pid)
		return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ECHILD;
}

static int do_unshare_table(struct region *r, const char **why)
{
	return unshare_table(r, false);
}

static int do_unshare_and_punch(struct region *r, const char **why)
{
	return unshare_table(r, true);
}

static int do_munmap_neighbour(struct region *r, const char **why)
{
	return err(munmap(r->addr + r->len, PAGE));
}

static int do_nothing(struct region *r, const char **why)
{
	return 0;
}

/* Runs on the second CPU and reads the word after the call has returned. */
struct spinner {
	pthread_t thread;
	const uint64_t *word;
	bool returned;
	uint64_t seen;
};

static void *spin(void *arg)
{
	struct spinner *s = arg;

	while (!__atomic_load_n(&s->returned, __ATOMIC_ACQUIRE))
		;
	s->seen = __atomic_load_n(s->word, __ATOMIC_ACQUIRE);
	return NULL;
}

static const char *state_name(uint64_t word)
{
	static const char *const names[] = { "free", "armed", "suspect",
					     "stale" };

	return names[word & MLX5_EP_WATCH_STATE_MASK];
}

FIXTURE(change)
{
	struct watched_setup setup;
	struct region region;
	struct mlx5ep_mr mr;
};

FIXTURE_VARIANT(change)
{
	const char *what;
	enum region_memory memory;
	change_fn change;
	bool stale;
	enum calls_by by;
};

#define CASE_BY(_name, _what, _memory, _change, _stale, _by)		\
	FIXTURE_VARIANT_ADD(change, _name) {				\
		_what, _memory, _change, _stale, _by			\
	}
#define CASE(_name, _what, _memory, _change, _stale) \
	CASE_BY(_name, _what, _memory, _change, _stale, BY_LIBC)

/* Make one call in each of the ways. */
#define CASE_RAW(_name, _what, _memory, _change, _stale)		\
	CASE(_name, _what, _memory, _change, _stale);			\
	CASE_BY(_name##_by_raw_system_call, _what ", raw system call",	\
		_memory, _change, _stale, BY_RAW)
#define CASE_ALL(_name, _what, _memory, _change, _stale)		\
	CASE_RAW(_name, _what, _memory, _change, _stale);		\
	CASE_BY(_name##_by_io_uring, _what ", io_uring", _memory,	\
		_change, _stale, BY_URING);				\
	CASE_BY(_name##_by_io_uring_worker, _what ", io_uring worker",	\
		_memory, _change, _stale, BY_WORKER)

CASE(nothing, "nothing", ANON, do_nothing, false);
CASE_RAW(munmap, "munmap", ANON, do_munmap, true);
CASE(munmap_one_page, "munmap of one page of it", ANON, do_munmap_one_page,
	true);
CASE(munmap_neighbour, "munmap of the next page", ANON, do_munmap_neighbour,
	false);
CASE(munmap_shared, "munmap, shared memory", SHM, do_munmap, true);
CASE_RAW(map_fixed, "mmap MAP_FIXED over it", ANON, do_map_fixed, true);
CASE_RAW(mremap_move, "mremap, moved", ANON, do_mremap_move, true);
CASE(mremap_shrink, "mremap, shrunk", ANON, do_mremap_shrink, true);
CASE(mremap_grow, "mremap, grown in place", ANON, do_mremap_grow, false);
CASE_RAW(mremap_dontunmap, "mremap DONTUNMAP", ANON, do_mremap_dontunmap, true);
CASE_RAW(brk, "brk down and up", BRK, do_brk, true);
CASE_ALL(dontneed, "MADV_DONTNEED", ANON, do_dontneed, true);
CASE(dontneed_shared, "MADV_DONTNEED, shared memory", SHM, do_dontneed,
	false);
CASE_ALL(dontneed_locked, "MADV_DONTNEED_LOCKED", ANON, do_dontneed_locked, true);
CASE_ALL(free, "MADV_FREE", ANON, do_free, false);
CASE_ALL(remove, "MADV_REMOVE, shared memory", SHM, do_remove, true);
CASE(pageout, "MADV_PAGEOUT", ANON, do_pageout, false);
CASE_ALL(pageout_shared, "MADV_PAGEOUT, shared memory", SHM, do_pageout, false);
CASE(cold, "MADV_COLD", ANON, do_cold, false);
CASE_ALL(guard_install, "MADV_GUARD_INSTALL", ANON, do_guard_install, true);
CASE_ALL(ftruncate, "ftruncate", SHM, do_truncate, true);
CASE(ftruncate_by_another_process, "ftruncate by another process", SHM,
	do_truncate_by_other, true);
CASE_ALL(hole_punch, "fallocate PUNCH_HOLE", SHM, do_punch, true);
CASE(hole_punch_by_another_process, "PUNCH_HOLE by another process", SHM,
	do_punch_by_other, true);
CASE(shmdt, "shmdt", SYSV, do_shmdt, true);
CASE(mlock, "mlock", ANON, do_mlock, false);
CASE(mprotect_read, "mprotect READ", ANON, do_mprotect_read, false);
CASE(mprotect_none_and_back, "mprotect NONE and back", ANON,
	do_mprotect_none_and_back, false);
CASE(fork_both_write, "fork, child and parent write", ANON, do_fork_and_write,
	false);
CASE(fork_parent_writes, "fork, parent writes first", ANON,
	do_fork_parent_writes_first, false);
CASE(fork_child_unmaps, "fork, child unmaps", ANON, do_fork_child_unmaps,
	false);
CASE(vfork, "vfork", ANON, do_vfork, false);
CASE(clone_vm_child_unmaps, "clone CLONE_VM, child unmaps", ANON,
	do_clone_vm_child_unmaps, true);
CASE(fork_and_exec, "fork and exec", ANON, do_fork_and_exec, false);
CASE(ksm, "KSM, four scans", ANON, do_ksm, false);
CASE(compaction, "compaction", ANON, do_compaction, false);
CASE(move_pages, "move_pages there and back", ANON, do_move_pages, false);
CASE(numa_balancing, "NUMA balancing", ANON, do_numa_balancing, false);
CASE(soft_dirty, "clear_refs 4 (soft dirty)", ANON, do_soft_dirty, false);
CASE(swap_of_neighbours, "swap of the next pages", ANON, do_swap_neighbours,
	false);
CASE(thp_munmap, "huge page: munmap", THP, do_munmap, true);
CASE(thp_munmap_other_part, "huge page: munmap of another part", THP,
	do_thp_munmap_other_part, false);
CASE(thp_mprotect_one_page, "huge page: mprotect of one page", THP,
	do_mprotect_one_page, false);
CASE(thp_dontneed, "huge page: MADV_DONTNEED", THP, do_dontneed, true);
CASE(thp_collapse, "MADV_COLLAPSE", THP, do_thp_collapse, false);
CASE(collapse_of_small_pages, "MADV_COLLAPSE of small pages", ANON,
	do_thp_collapse, false);
CASE(hugetlb_munmap, "hugetlb: munmap", HUGETLB, do_munmap, true);
CASE(hugetlb_dontneed, "hugetlb: MADV_DONTNEED", HUGETLB, do_hugetlb_dontneed,
	true);
CASE(hugetlb_mremap_move, "hugetlb: mremap, moved", HUGETLB, do_hugetlb_move,
	true);
CASE(hugetlb_fork_both_write, "hugetlb: fork, both write", HUGETLB,
	do_fork_and_write, false);
CASE(hugetlb_shared_mprotect, "hugetlb, shared: mprotect of another page",
	HUGETLB_SHARED, do_unshare_table, false);
CASE(hugetlb_shared_mprotect_punch,
	"hugetlb, shared: the same, then PUNCH_HOLE by another process",
	HUGETLB_SHARED, do_unshare_and_punch, true);

FIXTURE_SETUP(change)
{
	ASSERT_EQ(0, region_map(&self->region, variant->memory));
	watched_fill(self->region.addr, self->region.len, 1);
	ASSERT_EQ(0, watched_open(&self->setup, 64));
	ASSERT_EQ(0, mlx5ep_reg_mr(self->setup.notifier, self->setup.verbs.pd,
				   self->region.addr, self->region.len,
				   IBV_ACCESS_LOCAL_WRITE, 42, &self->mr));
	ASSERT_TRUE(mlx5ep_mr_valid(&self->mr));
}

FIXTURE_TEARDOWN(change)
{
	EXPECT_EQ(0, mlx5ep_dereg_mr(&self->mr));
	watched_close(&self->setup);
}

TEST_F(change, is_told_before_the_call_returns)
{
	struct spinner spinner = { .word = self->mr.watch.word };
	const char *why = NULL;
	int ret, differs, check;
	uint64_t word;

	ASSERT_EQ(0, pthread_create(&spinner.thread, NULL, spin, &spinner));
	by = variant->by;
	ret = variant->change(&self->region, &why);
	word = __atomic_load_n(self->mr.watch.word, __ATOMIC_ACQUIRE);
	__atomic_store_n(&spinner.returned, true, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(spinner.thread, NULL));
	if (ret == -EOPNOTSUPP)
		ret = lacks(&why, "this kernel's io_uring cannot", 6, 9);
	if (ret == 1)
		SKIP(return, "%s", why);
	ASSERT_EQ(0, ret);

	check = mlx5ep_mr_check(&self->mr);
	differs = watched_differs(&self->setup, self->mr.mr, self->region.addr,
				  self->region.len);
	ASSERT_GE(differs, 0);
	printf("# row: | %s | %s | %s | %s |\n", variant->what,
	       differs ? "differ" : "agree", state_name(word),
	       !check ? "valid" : check == -ESTALE ? "stale" : "unknown");

	/* Check that the case does what its name says. */
	EXPECT_EQ(variant->stale, differs);
	if (differs) {
		EXPECT_NE(self->mr.watch.armed, word);
		EXPECT_NE(self->mr.watch.armed, spinner.seen);
		EXPECT_EQ(-ESTALE, check);
		EXPECT_FALSE(mlx5ep_mr_valid(&self->mr));
	} else {
		EXPECT_EQ(0, check);
	}
}

TEST_HARNESS_MAIN
