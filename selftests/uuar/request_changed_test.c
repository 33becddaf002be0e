// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, smp: 2, timeout: 180 */
/*
 * A thread of the process changes the request of a managed context while the driver
 * opens it. Nobody knows which request the driver has read, so the module closes that
 * context and opens a stock one. With a limit for the user the driver reads a copy,
 * which the process cannot change.
 */
#include "kselftest_harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "baseline.h"
#include "ctx_open.h"
#include "limits/holder.h"
#include "patience.h"
#include "proc.h"
#include "simhca.h"
#include "sysfs.h"

#define DELAY_US (300000 * patience_factor())
#define LONG_DELAY_US (4000000 * patience_factor())
#define POLL_US 10000
#define NO_RESOURCES 15	/* status of a firmware command */
#define PAGE 4096
#define PAGES 15	/* of the longest request here */
#define GROUP "/sys/fs/cgroup/request_changed"
#define KILLS 60
#define LEAST_US 5000	/* until a call is killed */
#define MOST_US 60000
#define STEP_US 1777
#define MAPPED (4UL << 20)
#define STATS_S 3	/* after which the kernel has added a group's numbers up */

static const struct mlx5_ib_alloc_ucontext_req_v2 as_made = {
	.total_num_bfregs = 16,
	.num_low_latency_bfregs = 4,
	.max_cqe_version = 1,
	.lib_caps = MLX5_LIB_CAP_4K_UAR,
};

/* The request of the call, and whether the call has ended. */
struct race {
	union {
		struct mlx5_ib_alloc_ucontext_req_v2 req;
		char pages[PAGES * PAGE];
	};
	atomic_bool over;
	void *own;	/* what the process mapped where the copy was */
	char device[CTX_DEVICE_PATH];	/* the path of its file */
};

/* Return: NULL, or why the request was not changed. */
static void *overwrite(void *arg)
{
	struct race *race = arg;
	volatile uint32_t *bfregs = &race->req.total_num_bfregs;

	while (*bfregs == as_made.total_num_bfregs)
		if (atomic_load(&race->over))
			return "the module made no request of its own";
	*bfregs = 2 * as_made.total_num_bfregs;
	return NULL;
}

/* The next context is opened so much later. */
static int hold_up(unsigned int us)
{
	return simhca_delay("ALLOC_UAR", us);
}

/* UAR pages that the HCA gives to a context without a policy; -1: not opened. */
static int64_t pages_under_stock(void)
{
	int64_t before = simhca_count("uar"), pages;
	int fd = ctx_open_request(&as_made, sizeof(as_made));

	if (fd < 0)
		return -1;
	pages = simhca_count("uar") - before;
	close(fd);
	return pages;
}

/* The copy in the address space of this process; NULL: there is none. */
static char *find_copy(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long first = 0;
	char line[512];
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, "[mlx5_ep]") &&
			sscanf(line, "%lx-", &first) == 1;
	if (maps)
		fclose(maps);
	return found ? (char *)first : NULL;
}

static char *wait_for_copy(struct race *race)
{
	char *copy;

	do
		copy = find_copy();
	while (!copy && !atomic_load(&race->over));
	return copy;
}

/* Writes past the protection of the mapping, as a debugger does. */
static bool written_by_force(char *copy)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	bool written = pwrite(fd, "x", 1, (uintptr_t)copy) == 1;

	close(fd);
	return written;
}

static bool child_has_copy(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(find_copy() ? 1 : 0);
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

/* Return: NULL, or what the process could do to the copy. */
static void *attack(void *arg)
{
	char *copy = wait_for_copy(arg);
	char *to = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	if (!copy)
		return "there was no copy";
	if (memcmp(copy + 8, (const char *)&as_made + 8, sizeof(as_made) - 8))
		return "the copy is of something else";
	if (mremap(copy, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, to) !=
	    MAP_FAILED)
		return "it could be moved";
	if (!mprotect(copy, 4096, PROT_READ | PROT_WRITE))
		return "it could be made writable";
	if (!mprotect(copy, 4096, PROT_READ | PROT_EXEC))
		return "it could be made executable";
	if (written_by_force(copy))
		return "it could be written";
	if (child_has_copy())
		return "a child inherits it";
	munmap(to, 4096);
	return find_copy() == copy ? NULL : "the call ended before";
}

static void *unmap(void *arg)
{
	struct race *race = arg;
	char *copy = wait_for_copy(race);

	if (!copy)
		return "there was no copy";
	if (munmap(copy, 4096))
		return "it cannot be unmapped";
	race->own = mmap(copy, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS |
			 MAP_FIXED_NOREPLACE, -1, 0);
	return race->own == copy ? NULL : "nothing else can be mapped there";
}

/* The end of the copy loses a page in its middle. */
static void *unmap_part(void *arg)
{
	char *copy = wait_for_copy(arg);

	if (!copy)
		return "there was no copy";
	return munmap(copy + PAGE, PAGE) ? "it cannot be unmapped" : NULL;
}

/* The copy is mapped in three parts, of which the driver reads the first. */
static void *split(void *arg)
{
	char *copy = wait_for_copy(arg);

	if (!copy)
		return "there was no copy";
	return mprotect(copy + PAGE, PAGE, PROT_NONE) ?
		       "it cannot be protected" : NULL;
}

static void *advise(void *arg)
{
	char *copy = wait_for_copy(arg);

	if (!copy)
		return "there was no copy";
	if (!madvise(copy, PAGE, MADV_DOFORK))
		return "children could inherit a part";
	return madvise(copy + PAGE, PAGE, MADV_RANDOM) ?
		       "it cannot be advised" : NULL;
}

/* Bytes that the kernel has for the group, which 6.1 tells too; -1: not known. */
static long of_group(void)
{
	sleep(STATS_S);
	return proc_number(GROUP "/memory.stat", "kernel");
}

static long with_copy;

static void *weigh(void *arg)
{
	struct race *race = arg;

	if (!wait_for_copy(race))
		return "there was no copy";
	with_copy = of_group();
	return atomic_load(&race->over) ? "the call ended before" : NULL;
}

static void *find_none(void *arg)
{
	return wait_for_copy(arg) ? "there was a copy" : NULL;
}

/* What is set for the device, and what becomes of the context. */
struct beside {
	const char *policy, *attribute, *value;
	long fallbacks;	/* of a context that ends without a policy */
	bool fails;	/* the driver's first try does, after it had its pages */
	unsigned int s;	/* how long the driver waits; 0: DELAY_US */
	unsigned int pages;	/* of the request; 0: it is as long as the driver's */
};

static long module_refs(void)
{
	FILE *file = fopen("/sys/module/mlx5_ep/refcnt", "re");
	long refs = -1;

	if (file && fscanf(file, "%ld", &refs) != 1)
		refs = -1;
	if (file)
		fclose(file);
	return refs;
}

/* Opens a context while @thread_fn runs. */
static void open_beside(struct __test_metadata *_metadata,
			void *(*thread_fn)(void *), const struct beside *set)
{
	static struct race race;
	struct baseline base;
	int64_t before, stock;
	bool managed = !set->fallbacks && strcmp(set->policy, "stock");
	long fallen, refs;
	pthread_t thread;
	void *wrong;
	int fd;

	race = (struct race){ .req = as_made };
	ASSERT_EQ(0, sysfs_defaults());
	stock = pages_under_stock();
	ASSERT_LT(1, stock);
	ASSERT_EQ(0, sysfs_policy(set->policy, 4, false));
	ASSERT_EQ(0, sysfs_write(set->attribute, set->value));
	ASSERT_EQ(0, baseline_take(&base));
	before = simhca_count("uar");
	fallen = sysfs_number("uuar_fallbacks");
	refs = module_refs();
	ASSERT_EQ(0, hold_up(set->s ? 1000000 * set->s * patience_factor() :
				      DELAY_US));
	if (set->fails)
		ASSERT_EQ(0, simhca_fail("ALLOC_TRANSPORT_DOMAIN", 1, 1,
					 NO_RESOURCES));
	ASSERT_EQ(0, pthread_create(&thread, NULL, thread_fn, &race));
	fd = ctx_open_request(&race.req, set->pages ? set->pages * PAGE :
						      sizeof(race.req));
	atomic_store(&race.over, true);
	ASSERT_EQ(0, pthread_join(thread, &wrong));
	EXPECT_EQ(NULL, wrong) {
		TH_LOG("%s", (char *)wrong);
	}
	ASSERT_LE(0, fd);
	EXPECT_EQ(set->fallbacks, sysfs_number("uuar_fallbacks") - fallen);
	if (set->fallbacks) {
		EXPECT_EQ(0, sysfs_number("uar_in_use"));
		EXPECT_EQ(stock, simhca_count("uar") - before);
	}
	EXPECT_EQ(NULL, find_copy());
	/* A managed context holds the module; the copy did, and is gone. */
	EXPECT_EQ(refs + managed, module_refs());
	EXPECT_EQ(0, memcmp(&race.req, &as_made, sizeof(as_made)));
	if (race.own)
		EXPECT_EQ(0, msync(race.own, 4096, MS_ASYNC));
	close(fd);
	EXPECT_EQ(refs, module_refs());
	EXPECT_EQ(0, simhca_fail_nothing());
	EXPECT_EQ(0, baseline_restored(&base, 5));
	EXPECT_EQ(0, sysfs_write(set->attribute, "0"));
	EXPECT_EQ(0, sysfs_defaults());
}

static const struct beside without_limit = {
	"independent", "uar_user_limit", "0", .fallbacks = 1 };
static const struct beside that_fails = {
	"independent", "uar_user_limit", "0", .fallbacks = 1, .fails = true };
static const struct beside with_limit = {
	"independent", "uar_user_limit", "50", .fallbacks = 0 };
static const struct beside with_limit_lost = {
	"independent", "uar_user_limit", "50", .fallbacks = 1 };
static const struct beside long_with_limit = {
	"independent", "uar_user_limit", "50", 0, .pages = 3 };
static const struct beside long_with_limit_lost = {
	"independent", "uar_user_limit", "50", 1, .pages = 3 };
static const struct beside longest_with_limit = {
	"independent", "uar_user_limit", "50", 0, .pages = PAGES, .s = 3 * STATS_S };
static const struct beside with_budget = {
	"independent", "uar_budget", "50", .fallbacks = 0 };
static const struct beside stock_with_budget = {
	"stock", "uar_budget", "50", .fallbacks = 0 };

TEST(a_context_whose_request_is_changed_is_opened_without_a_policy)
{
	open_beside(_metadata, overwrite, &without_limit);
}

/* The driver has failed and given back what it had: it is not to close the context. */
TEST(a_context_that_fails_beside_is_not_closed)
{
	open_beside(_metadata, overwrite, &that_fails);
}

TEST(a_copy_of_the_request_can_be_neither_changed_nor_moved)
{
	open_beside(_metadata, attack, &with_limit);
}

TEST(a_copy_of_the_request_is_made_where_the_budget_binds)
{
	open_beside(_metadata, attack, &with_budget);
}

TEST(a_context_without_a_policy_needs_no_copy_for_the_budget)
{
	open_beside(_metadata, find_none, &stock_with_budget);
}

TEST(a_context_whose_copy_is_unmapped_is_opened_without_a_policy)
{
	open_beside(_metadata, unmap, &with_limit_lost);
}

TEST(a_copy_of_which_a_part_is_unmapped_is_gone_after_the_call)
{
	open_beside(_metadata, unmap_part, &long_with_limit_lost);
}

TEST(a_copy_that_is_split_is_gone_after_the_call)
{
	open_beside(_metadata, split, &long_with_limit);
}

TEST(a_copy_that_is_advised_is_gone_after_the_call_and_not_inherited)
{
	open_beside(_metadata, advise, &long_with_limit);
}

TEST(a_copy_of_the_request_is_charged_to_the_memory_cgroup)
{
	long before, after;

	ASSERT_EQ(0, holder_mount_cgroups());
	file_write(HOLDER_CGROUPS "/cgroup.subtree_control", "+memory");
	ASSERT_EQ(0, mkdir(GROUP, 0755));
	ASSERT_EQ(0, file_write(GROUP "/cgroup.procs", "0"));
	before = of_group();
	open_beside(_metadata, weigh, &longest_with_limit);
	after = of_group();
	TH_LOG("%ld bytes, with the copy %ld, after it %ld", before, with_copy,
	       after);
	EXPECT_LE(0, before);
	EXPECT_LE((PAGES - 2) * PAGE, with_copy - after);
	EXPECT_EQ(0, holder_enter_cgroup(""));
	EXPECT_EQ(0, rmdir(GROUP));
}

/* How many threads of a process wait and take no signal but a fatal one? */
static int waiting(pid_t pid)
{
	struct dirent *entry;
	char path[64];
	DIR *tasks;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)))
		n += proc_thread_state(pid, atoi(entry->d_name)) == 'D';
	if (tasks)
		closedir(tasks);
	return n;
}

/* Do so many threads wait, at the latest when the call in the driver has gone on? */
static bool come_to_wait(pid_t pid, int n)
{
	int i;

	for (i = 0; i < LONG_DELAY_US / 2 / POLL_US && waiting(pid) != n; i++)
		usleep(POLL_US);
	return i < LONG_DELAY_US / 2 / POLL_US;
}

static void *open_same(void *arg)
{
	ctx_open_request(arg, sizeof(as_made));
	return NULL;
}

/*
 * Runs in a process that shares the memory and is killed. It allocates nothing, so that no lock
 * of the C library is left behind.
 */
static int open_until_over(void *arg)
{
	struct race *race = arg;
	int fd;

	while (!atomic_load(&race->over)) {
		fd = ctx_open_file(race->device, &race->req, sizeof(race->req));
		if (fd >= 0)
			close(fd);
	}
	return 0;
}

/* Takes the mmap_lock again and again, to write and to read. */
static void *map_until_over(void *arg)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
	struct race *race = arg;
	void *memory;

	while (!atomic_load(&race->over)) {
		memory = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, flags, -1, 0);
		if (memory != MAP_FAILED)
			munmap(memory, MAPPED);
	}
	return NULL;
}

/* Is a copy left when a process that shares this memory is killed after @us? */
static bool killed_leaves_copy(unsigned int us)
{
	static struct race race = { .req = as_made };
	static char stack[1 << 16];
	pthread_t threads[2];
	pid_t pid;
	int i;

	if (ctx_device_file(race.device, sizeof(race.device)))
		return true;
	pid = clone(open_until_over, stack + sizeof(stack), CLONE_VM, &race);
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, map_until_over, &race);
	usleep(us);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WCLONE);
	atomic_store(&race.over, true);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return find_copy();
}

/* Calls are killed while others of the memory hold the lock that unmapping needs. */
TEST(a_copy_is_gone_after_a_killed_call_though_the_memory_is_locked)
{
	struct baseline base;
	int i, status;
	pid_t pid;

	ASSERT_EQ(0, baseline_take(&base));
	ASSERT_EQ(0, sysfs_policy("independent", 4, false));
	ASSERT_EQ(0, sysfs_write("uar_user_limit", "50"));
	for (i = 0; i < KILLS; i++) {
		pid = fork();
		if (!pid)
			_exit(killed_leaves_copy(LEAST_US + i * STEP_US % MOST_US));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status) {
			TH_LOG("kill %d", i);
		}
	}
	EXPECT_EQ(0, baseline_restored(&base, 5));
	EXPECT_EQ(0, sysfs_write("uar_user_limit", "0"));
	EXPECT_EQ(0, sysfs_defaults());
}

/* Two calls with one request, of which the second waits for the first. */
TEST(a_call_that_waits_for_another_can_be_killed)
{
	static struct mlx5_ib_alloc_ucontext_req_v2 req;
	struct baseline base;
	pthread_t thread;
	int status;
	pid_t pid;

	req = as_made;
	ASSERT_EQ(0, sysfs_policy("independent", 4, false));
	ASSERT_EQ(0, baseline_take(&base));
	ASSERT_EQ(0, hold_up(LONG_DELAY_US));
	pid = fork();
	if (!pid) {
		pthread_create(&thread, NULL, open_same, &req);
		open_same(&req);
		pthread_join(thread, NULL);
		_exit(0);
	}
	ASSERT_LE(0, pid);
	EXPECT_TRUE(come_to_wait(pid, 2));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	/* The driver has not gone on, so who waits for the other one does not. */
	EXPECT_TRUE(come_to_wait(pid, 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(0, simhca_fail_nothing());
	EXPECT_EQ(0, baseline_restored(&base, 5));
	EXPECT_EQ(0, sysfs_defaults());
}

TEST_HARNESS_MAIN
