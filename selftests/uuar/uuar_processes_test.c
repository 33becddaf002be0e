// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, smp: 2, timeout: 300 */
/*
 * Several processes at once. The policy places the QPs of each process as if it
 * were the only one, no two processes share a UAR page, and the budget limits
 * all of them together.
 */
#include "kselftest_harness.h"

#include <signal.h>

#include "baseline.h"
#include "doorbells.h"
#include "page.h"
#include "sysfs.h"
#include "verbs.h"

#define PROCESSES 8
#define QPS 8

/* What a worker reports to its parent, in shared memory. */
struct report {
	int ret;
	unsigned int made;
	uint32_t qpns[QPS];
};

struct worker {
	pid_t pid;
	int go, done;	/* pipes: parent to worker, worker to parent */
};

FIXTURE(processes)
{
	struct baseline base;
	struct worker workers[PROCESSES];
	struct report *reports;
	unsigned int started;
};

FIXTURE_SETUP(processes)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_defaults());
	ASSERT_EQ(0, baseline_take(&self->base));
	ASSERT_EQ(0, simhca_zero());
	self->reports = mmap(NULL, sizeof(struct report) * PROCESSES,
			     PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->reports);
}

/* Create QPs, send, report, wait for the parent, send again, close. */
static void work(struct report *report, int go, int done)
{
	struct verbs_endpoint endpoints[QPS];
	struct verbs_setup setup;
	char byte;

	report->ret = verbs_open(&setup, NULL, QPS);
	if (report->ret)
		return;
	while (!report->ret && report->made < QPS) {
		report->ret = verbs_endpoint_create(
			&setup, &endpoints[report->made], IBV_QPT_RC);
		if (report->ret)
			break;
		report->qpns[report->made] = endpoints[report->made].qp->qp_num;
		report->made++;
	}
	if (!report->ret)
		report->ret = verbs_traffic_all(endpoints, report->made, 2);
	if (write(done, "", 1) == 1 && read(go, &byte, 1) == 1 && !report->ret)
		report->ret = verbs_traffic_all(endpoints, report->made, 4);
	while (report->made--)
		verbs_endpoint_destroy(&endpoints[report->made]);
	verbs_close(&setup);
}

static int start(struct _test_data_processes *self)
{
	struct worker *w = &self->workers[self->started];
	int go[2], done[2];

	if (pipe(go) || pipe(done))
		return -errno;
	w->pid = fork();
	if (!w->pid) {
		close(go[1]);
		close(done[0]);
		work(&self->reports[self->started], go[0], done[1]);
		_exit(0);
	}
	close(go[0]);
	close(done[1]);
	w->go = go[1];
	w->done = done[0];
	self->started++;
	return w->pid < 0 ? -errno : 0;
}

/* Wait until a worker has reported its first traffic, or has ended. */
static int wait_ready(struct worker *w)
{
	char byte;

	return read(w->done, &byte, 1) == 1 ? 0 : -ECHILD;
}

static void end_all(struct _test_data_processes *self)
{
	unsigned int i;

	for (i = 0; i < self->started; i++)
		if (write(self->workers[i].go, "", 1) != 1)
			kill(self->workers[i].pid, SIGKILL);
	for (i = 0; i < self->started; i++) {
		waitpid(self->workers[i].pid, NULL, 0);
		close(self->workers[i].go);
		close(self->workers[i].done);
	}
	self->started = 0;
}

FIXTURE_TEARDOWN(processes)
{
	end_all(self);
	EXPECT_EQ(0, sysfs_defaults());
	EXPECT_EQ(0, baseline_restored(&self->base, 30));
}

/* The process that owns a QP; -1 if none does. */
static int owner(struct _test_data_processes *self, uint32_t qpn)
{
	unsigned int i, j;

	for (i = 0; i < self->started; i++)
		for (j = 0; j < self->reports[i].made; j++)
			if (self->reports[i].qpns[j] == qpn)
				return i;
	return -1;
}

/* Number of pairs of QPs that ring one page and belong to two processes. */
static unsigned int pages_shared(struct _test_data_processes *self,
				 const struct doorbells_report *doorbells)
{
	unsigned int shared = 0;
	size_t i, j;

	for (i = 0; i < doorbells->n; i++)
		for (j = 0; j < i; j++)
			shared += doorbells->qps[i].uar ==
					  doorbells->qps[j].uar &&
				  owner(self, doorbells->qps[i].qpn) !=
					  owner(self, doorbells->qps[j].qpn);
	return shared;
}

TEST_F_TIMEOUT(processes, eight_at_once_keep_apart, 120)
{
	struct doorbells_report doorbells;
	unsigned int i;

	ASSERT_EQ(0, sysfs_policy("independent", QPS, false));
	for (i = 0; i < PROCESSES; i++)
		ASSERT_EQ(0, start(self));
	for (i = 0; i < PROCESSES; i++) {
		ASSERT_EQ(0, wait_ready(&self->workers[i]));
		ASSERT_EQ(0, self->reports[i].ret);
		EXPECT_EQ(QPS, self->reports[i].made);
	}
	ASSERT_EQ(0, doorbells_look(0, &doorbells));
	EXPECT_EQ(PROCESSES * QPS, doorbells.n);
	EXPECT_EQ(PROCESSES * QPS, doorbells.pages);
	EXPECT_EQ(0, doorbells.shared);
	EXPECT_EQ(0, doorbells.wrong_uar);
	EXPECT_EQ(0, pages_shared(self, &doorbells));
	doorbells_put(&doorbells);
	EXPECT_EQ(self->base.uar_in_use + PROCESSES * page_uars(QPS),
		  sysfs_number("uar_in_use"));
	end_all(self);
	for (i = 0; i < PROCESSES; i++)
		EXPECT_EQ(0, self->reports[i].ret);
}

/* What a context gets that asks for QPS pages, where the budget has @left. */
static unsigned int given(unsigned int left)
{
	unsigned int whole = left / page_uars(1) * page_uars(1);

	if (whole > page_uars(QPS))
		return page_uars(QPS);
	return whole ?: page_uars(1);
}

FIXTURE(budget)
{
	char before[32];
	struct verbs_setup setups[3];
	struct verbs_endpoint endpoints[3][QPS];
	unsigned int made[3];
	struct doorbells_report doorbells;
};

FIXTURE_SETUP(budget)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_defaults());
	ASSERT_EQ(0, sysfs_number("uar_in_use"));
	ASSERT_EQ(0, sysfs_read("uar_budget", self->before,
				sizeof(self->before)));
	ASSERT_EQ(0, simhca_zero());
}

FIXTURE_TEARDOWN(budget)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		while (self->made[i])
			verbs_endpoint_destroy(
				&self->endpoints[i][--self->made[i]]);
		verbs_close(&self->setups[i]);
	}
	doorbells_put(&self->doorbells);
	EXPECT_EQ(0, sysfs_write("uar_budget", self->before));
	EXPECT_EQ(0, sysfs_defaults());
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
}

/* Fill context @i with QPs. Returns the errno of the first that fails. */
static int processes_fill(struct _test_data_budget *self, unsigned int i)
{
	int ret;

	ret = verbs_open(&self->setups[i], NULL, QPS);
	while (!ret && self->made[i] < QPS) {
		ret = verbs_endpoint_create(&self->setups[i],
					    &self->endpoints[i][self->made[i]],
					    IBV_QPT_RC);
		self->made[i] += !ret;
	}
	if (self->made[i] &&
	    verbs_traffic(self->endpoints[i], self->made[i], VERBS_WRITE, 1))
		return -EIO;
	return ret;
}

TEST_F(budget, a_context_gets_fewer_pages_when_it_runs_low)
{
	unsigned int first, second;

	ASSERT_EQ(0, sysfs_policy("independent", QPS, false));
	ASSERT_EQ(0, sysfs_write("uar_budget", "12"));
	ASSERT_EQ(0, processes_fill(self, 0));
	first = sysfs_number("uar_in_use");
	EXPECT_EQ(page_uars(QPS), first);
	second = given(first < 12 ? 12 - first : 0);
	ASSERT_EQ(0, processes_fill(self, 1));
	EXPECT_EQ(first + second, sysfs_number("uar_in_use"));
	ASSERT_EQ(0, doorbells_look(0, &self->doorbells));
	EXPECT_EQ(QPS + (second < QPS ? second : QPS), self->doorbells.pages);
	EXPECT_EQ(0, self->doorbells.wrong_uar);
}

TEST_F(budget, exhaustion_never_refuses_a_context)
{
	ASSERT_EQ(0, sysfs_policy("independent", QPS, false));
	ASSERT_EQ(0, sysfs_write("uar_budget", "8"));
	ASSERT_EQ(0, processes_fill(self, 0));
	ASSERT_EQ(0, processes_fill(self, 1));
	EXPECT_EQ(QPS, self->made[1]);
	ASSERT_EQ(0, doorbells_look(0, &self->doorbells));
	EXPECT_EQ(0, self->doorbells.wrong_uar);
	EXPECT_EQ(0, self->doorbells.silent);
}

TEST_F(budget, strict_says_enospc)
{
	ASSERT_EQ(0, sysfs_policy("independent", QPS, true));
	ASSERT_EQ(0, sysfs_write("uar_budget", "12"));
	ASSERT_EQ(0, processes_fill(self, 0));
	if (page_uars(1) > QPS)
		SKIP(return, "one page of the system is enough for all QPs");
	EXPECT_EQ(-ENOSPC, processes_fill(self, 1));
	EXPECT_EQ(4, self->made[1]);
}

TEST_F(budget, pages_return_when_a_context_closes)
{
	ASSERT_EQ(0, sysfs_policy("independent", QPS, true));
	ASSERT_EQ(0, sysfs_write("uar_budget", "8"));
	ASSERT_EQ(0, processes_fill(self, 0));
	while (self->made[0])
		verbs_endpoint_destroy(&self->endpoints[0][--self->made[0]]);
	verbs_close(&self->setups[0]);
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(0, processes_fill(self, 1));
	EXPECT_EQ(QPS, self->made[1]);
}

TEST_HARNESS_MAIN
