// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, timeout: 300 */
/*
 * What processes leave behind that never close anything. Many processes use the
 * module, each in a cgroup of its own, and end. Then the kernel must have as many
 * process ids, address spaces and cgroups as before, and as much free memory.
 * This needs no debug kernel: each process would leave one of them.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <mlx5ep.h>

#include "baseline.h"
#include "ctx_open.h"
#include "limits/holder.h"
#include "patience.h"
#include "proc.h"
#include "simhca.h"
#include "sysfs.h"
#include "xrc.h"

#define DOMAIN_FILE "/tmp/leaks_processes_domain"
#define PARENT HOLDER_CGROUPS "/leaks"
#define ROUNDS 80	/* MLX5_EP_LEAK_ROUNDS in the environment is another number */
#define SETS 3
#define SECONDS 5
#define BYTES (2ul << 20)	/* memory of a process that is watched */
#define BATCHES 4	/* of watches: so many times two pages of words */
#define HOLE 0x40000000ul	/* its fingerprints have a page and more */
#define LOOKS 64

/* What the kernel holds. Each grows by one or more per process that leaks. */
struct held {
	long pids, mms, cgroups;
	long kib;	/* memory that is not free */
};

static struct held leaks_processes_look(void)
{
	file_write("/proc/sys/vm/drop_caches", "3");
	return (struct held){
		.pids = baseline_slab_objects("pid"),
		.mms = baseline_slab_objects("mm_struct"),
		.cgroups = proc_number(HOLDER_CGROUPS "/cgroup.stat",
				     "nr_dying_descendants "),
		.kib = proc_number("/proc/meminfo", "MemTotal:") -
		       proc_number("/proc/meminfo", "MemFree:"),
	};
}

/* What is held, once it does not change any more: some is freed with a delay. */
static struct held look_steady(void)
{
	struct held was, now = leaks_processes_look();
	int i;

	for (i = 0; i < 10 * SECONDS; i++) {
		was = now;
		usleep(200000);
		now = leaks_processes_look();
		if (labs(now.kib - was.kib) < 64)
			break;
	}
	return now;
}

/* Adds watches, and records the pages of the first. Return: 0 or a step. */
static int watch_memory(struct mlx5ep_notifier *n)
{
	static struct mlx5_ep_watch_add adds[MLX5_EP_WATCH_MAX_BATCH];
	static struct mlx5ep_watch w[MLX5_EP_WATCH_MAX_BATCH];
	void *mem = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			 MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	int i;

	if (mem == MAP_FAILED)
		return 10;
	for (i = 0; i < MLX5_EP_WATCH_MAX_BATCH; i++) {
		adds[i].addr = (uintptr_t)mem;
		adds[i].length = BYTES;
	}
	for (i = 0; i < BATCHES; i++)
		if (mlx5ep_watch_add_batch(n, adds, w, ARRAY_SIZE(adds)))
			return 11;
	return mlx5ep_watch_record(&w[0]) ? 12 : 0;
}

/*
 * Records a range without memory: the module makes room for its fingerprints and frees it,
 * each time. Return: 0 or a step.
 */
static int record_hole(struct mlx5ep_notifier *n)
{
	void *hole = mmap(NULL, HOLE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS |
			  MAP_NORESERVE, -1, 0);
	struct mlx5ep_watch w;
	int i;

	if (hole == MAP_FAILED || mlx5ep_watch_add(n, hole, HOLE, 0, &w))
		return 13;
	for (i = 0; i < LOOKS; i++)
		if (mlx5ep_watch_record(&w) != -EFAULT)
			return 14;
	return 0;
}

/* A second policy for later contexts takes the place of the first. */
static int set_later_policies(struct ibv_context *ctx)
{
	struct mlx5_ep_context_policy policy = {
		.policy = MLX5_EP_UUAR_POLICY_INDEPENDENT,
		.flags = MLX5_EP_POLICY_LATER_OPENS,
	};

	return mlx5ep_context_set_policy(ctx, &policy) ||
	       mlx5ep_context_set_policy(ctx, &policy) ? 20 : 0;
}

/* Holds something of each kind. Return: 0, or the number of a step. */
static int use_everything(void)
{
	struct mlx5ep_xrc_events events = {};
	struct mlx5ep_xrc_rcv_qp *qp;
	struct mlx5ep_notifier *n;
	struct xrc_node node;

	if (xrc_node_open(&node, NULL, DOMAIN_FILE, 0))
		return 1;
	if (mlx5ep_notifier_create(node.ctx,
				   BATCHES * MLX5_EP_WATCH_MAX_BATCH + 1, &n))
		return 2;
	events.notifier_fd = mlx5ep_notifier_fd(n);
	if (mlx5ep_xrc_rcv_qp_get(node.xrcd, "k", 1, 0, &events, &qp) < 0)
		return 3;
	return watch_memory(n) ?: record_hole(n) ?:
				  set_later_policies(node.ctx);
}

/* One process; odd ones are killed. Return: 0, or the number of a step. */
static int round_of(int i)
{
	char path[64];
	int status;
	pid_t pid;

	snprintf(path, sizeof(path), PARENT "/%d", i);
	if (mkdir(path, 0755))
		return 100;
	pid = fork();
	if (!pid) {
		int ret = holder_enter_cgroup(path + strlen(HOLDER_CGROUPS)) ?
			  101 : use_everything();

		if (!ret && i % 2)
			kill(getpid(), SIGKILL);
		_exit(ret);
	}
	if (waitpid(pid, &status, 0) != pid)
		return 102;
	if (rmdir(path))
		return 103;
	return WIFSIGNALED(status) ? 0 : WEXITSTATUS(status);
}

FIXTURE(processes)
{
	struct baseline base;
};

FIXTURE_VARIANT(processes)
{
	const char *cgroup;	/* its policy */
};

FIXTURE_VARIANT_ADD(processes, stock) { "/leaks stock 0 0" };
FIXTURE_VARIANT_ADD(processes, independent) { "/leaks independent 0 1" };

FIXTURE_SETUP(processes)
{
	unlink(DOMAIN_FILE);
	ASSERT_EQ(0, holder_mount_cgroups());
	ASSERT_EQ(0, mkdir(PARENT, 0755));
	ASSERT_EQ(0, sysfs_write("uar_cgroup_limits", "/leaks 50"));
	ASSERT_EQ(0, sysfs_write("uuar_cgroups", variant->cgroup));
	ASSERT_EQ(0, baseline_take(&self->base));
}

FIXTURE_TEARDOWN(processes)
{
	EXPECT_EQ(0, sysfs_write("uuar_cgroups", "/leaks none"));
	EXPECT_EQ(0, sysfs_write("uar_cgroup_limits", "/leaks none"));
	EXPECT_EQ(0, rmdir(PARENT));
	EXPECT_EQ(0, baseline_restored(&self->base, SECONDS));
}

static int rounds(void)
{
	const char *text = getenv("MLX5_EP_LEAK_ROUNDS");

	return text ? atoi(text) : ROUNDS;
}

/* The words of a process have eight pages. Its memory has more, and so have its looks. */
static bool more(const struct held *before, const struct held *now)
{
	return now->pids - before->pids > rounds() / 2 ||
	       now->mms - before->mms > rounds() / 2 ||
	       now->cgroups - before->cgroups > rounds() / 2 ||
	       now->kib - before->kib > rounds() * 12;
}

TEST_F_TIMEOUT(processes, leave_nothing, 120)
{
	struct held before, now;
	int set, i, n = 0;

	while (n < 8)
		ASSERT_EQ(0, round_of(n++));
	/*
	 * A leak grows with each set of processes. What the kernel keeps for later
	 * grows with one of them.
	 */
	for (set = 0; set < SETS; set++) {
		before = look_steady();
		ASSERT_LT(0, before.pids);
		ASSERT_LT(0, before.mms);
		ASSERT_LE(0, before.cgroups);
		for (i = 0; i < rounds(); i++)
			ASSERT_EQ(0, round_of(n++));
		/* The kernel frees some of it a little later. */
		now = look_steady();
		for (i = 0; i < SECONDS * PATIENCE && more(&before, &now); i++) {
			sleep(patience_factor());
			now = leaks_processes_look();
		}
		TH_LOG("left: %ld pids, %ld mms, %ld cgroups, %ld KiB",
		       now.pids - before.pids, now.mms - before.mms,
		       now.cgroups - before.cgroups, now.kib - before.kib);
		if (!more(&before, &now))
			break;
	}
	EXPECT_FALSE(more(&before, &now));
}

TEST_HARNESS_MAIN
