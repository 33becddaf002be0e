// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The processes of a job on this machine; see launch.h. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <mlx5ep.h>

#include "launch.h"
#include "options.h"

static struct options job;
static char folder[32], meet[48], domain[48];

unsigned int launch_processes(void)
{
	return job.attr.nodes * job.attr.ppn;
}

bool launch_asks_middle(void)
{
	return (job.in_middle && job.killed != OPTIONS_NONE) ||
	       job.stopped != OPTIONS_NONE || job.erring != OPTIONS_NONE;
}

/* In a call of the transport. */
static void reached(enum tp_step step)
{
	if (!job.in_middle && job.step == step && job.killed == job.attr.rank)
		kill(getpid(), SIGKILL);
}

int launch_middle(void)
{
	unsigned int rank = job.attr.rank;

	if (job.in_middle && job.killed == rank)
		kill(getpid(), SIGKILL);
	if (job.stopped == rank)
		raise(SIGSTOP);
	return job.erring == rank ? -ECANCELED : 0;
}

static void print_info(const struct launch *program,
		       const struct tp_info *info)
{
	printf("%s: nodes=%u ppn=%u qps_per_node=%u expected=%u between_nodes=%u within_node=%u category=%s messages=%ju credit_messages=%ju waited=%ju hits=%ju misses=%ju stale=%ju\n",
	       program->name, job.attr.nodes, job.attr.ppn, info->qps_node,
	       info->qps_expected, job.attr.ppn * 2 * (job.attr.nodes - 1),
	       job.attr.ppn > 1 ? job.attr.ppn * 2 : 0,
	       mlx5ep_category_name(job.attr.category), (uintmax_t)info->messages,
	       (uintmax_t)info->credit_messages, (uintmax_t)info->waited,
	       (uintmax_t)info->hits, (uintmax_t)info->misses,
	       (uintmax_t)info->stale);
}

static int process(const struct launch *program, unsigned int rank, bool says)
{
	struct transport *tp = NULL;
	struct tp_info info;
	int ret, dead = -1, error;

	job.attr.rank = rank;
	ret = tp_open(&tp, &job.attr);
	if (!ret) {
		ret = program->run(tp);
		if (ret)
			tp_abort(tp, ret);
		tp_query(tp, &info);
		dead = tp_dead(tp);
		error = tp_close(tp);
		ret = ret ? ret : error;
		if (!ret && says)
			print_info(program, &info);
	}
	if (ret)
		fprintf(stderr, "%s: process %u: %s, dead: %d\n",
			program->name, rank, strerror(-ret), dead);
	fflush(stdout);
	return ret == -ECONNRESET ? LAUNCH_TOLD : !!ret;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/*
 * Wait for all processes. Where one was killed, or had an error that the others were
 * told of, say how the others ended, and how long after it the last one did.
 */
static int wait_all(const struct launch *program)
{
	unsigned int killed = 0, told = 0, failed = 0, passed = 0;
	double since = 0, last = 0;
	int status;

	while (wait(&status) > 0) {
		last = now();
		if (WIFSIGNALED(status))
			killed++;
		else if (!WEXITSTATUS(status))
			passed++;
		else if (WEXITSTATUS(status) == LAUNCH_TOLD)
			told++;
		else
			failed++;
		if (killed + failed && !since)
			since = last;
	}
	if (killed || told)
		printf("%s: killed=%u told=%u failed=%u passed=%u ms=%.0f\n",
		       program->name, killed, told, failed, passed,
		       since ? (last - since) * 1000 : 0);
	return killed || told || failed;
}

static int remove_one(const char *path, const struct stat *st, int kind,
		      struct FTW *ftw)
{
	return remove(path);
}

static int start_all(const struct launch *program)
{
	bool all = job.only == OPTIONS_NONE;
	unsigned int first = all ? 0 : job.only * job.attr.ppn;
	unsigned int end = all ? launch_processes() : first + job.attr.ppn;
	unsigned int rank;
	pid_t pid;

	fflush(stdout);
	for (rank = first; rank < end; rank++) {
		pid = fork();
		if (pid < 0)
			return -errno;
		if (pid)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(process(program, rank, rank == first));
	}
	return 0;
}

int launch(const struct launch *program, int argc, char **argv)
{
	int ret = options_parse(program, argc, argv, &job);

	if (ret)
		return 2;
	if (program->check && program->check()) {
		options_usage(program);
		return 2;
	}
	snprintf(folder, sizeof(folder), "/tmp/mlx5ep.XXXXXX");
	if (!mkdtemp(folder))
		return 2;
	snprintf(domain, sizeof(domain), "%s/domain", folder);
	snprintf(meet, sizeof(meet), "file:%s", folder);
	job.attr.domain = domain;
	job.attr.reached = reached;
	if (!job.attr.meet)
		job.attr.meet = meet;
	ret = start_all(program);
	if (ret)
		fprintf(stderr, "%s: %s\n", program->name, strerror(-ret));
	ret = wait_all(program) || ret;
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return ret;
}
