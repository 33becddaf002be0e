// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The processes of a job on this machine; see launch.h. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
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

static const char common[] = "n:p:i:m:c:q:Q:e:l:g:u";

static const char launch_usage[] =
	"  -n NODES     nodes of the job (2)\n"
	"  -p PPN       processes of each node (1)\n"
	"  -i NODE      start this node only; the others run on other machines\n"
	"  -m MEET      file:DIRECTORY or tcp:ADDRESS:PORT of process 0\n"
	"  -c CATEGORY  of the send queues (dynamic)\n"
	"  -q CREDITS   messages on their way to each process (8)\n"
	"  -Q REQUESTS  in each send queue (64)\n"
	"  -e BYTES     longest message that is copied (4096)\n"
	"  -l HOW       long messages: read or write (read)\n"
	"  -g HOW       completions: poll, event or thread (poll)\n"
	"  -u           keep registrations for good, without notifications\n";

static struct tp_attr attr = {
	.nodes = 2, .ppn = 1, .category = MLX5EP_CATEGORY_DYNAMIC,
};
static int only = -1;
static char folder[32], meet[48], domain[48];

unsigned int launch_processes(void)
{
	return attr.nodes * attr.ppn;
}

/* Position of a word in a list that ends with NULL, or -EINVAL. */
static int word(const char *text, const char *const *words)
{
	int i;

	for (i = 0; words[i]; i++)
		if (!strcmp(text, words[i]))
			return i;
	return -EINVAL;
}

static int common_option(int c, const char *arg)
{
	static const char *const by[] = { "read", "write", NULL };
	static const char *const modes[] = { "poll", "event", "thread", NULL };
	int n = 0;

	switch (c) {
	case 'n':
		attr.nodes = atoi(arg);
		break;
	case 'p':
		attr.ppn = atoi(arg);
		break;
	case 'i':
		only = atoi(arg);
		break;
	case 'm':
		attr.meet = arg;
		break;
	case 'c':
		attr.category = n = mlx5ep_category_parse(arg);
		break;
	case 'q':
		attr.credits = atoi(arg);
		break;
	case 'Q':
		attr.depth = atoi(arg);
		break;
	case 'e':
		attr.eager = atoi(arg);
		break;
	case 'l':
		attr.long_by = n = word(arg, by);
		break;
	case 'g':
		attr.mode = n = word(arg, modes);
		break;
	case 'u':
		attr.untold = true;
		break;
	}
	return n < 0 ? n : 0;
}

static int parse(const struct launch *program, int argc, char **argv)
{
	char options[128];
	int c, ret = 0;

	snprintf(options, sizeof(options), "%s%s", common, program->options);
	while (!ret && (c = getopt(argc, argv, options)) != -1) {
		if (c == '?')
			return -EINVAL;
		ret = strchr(common, c) ? common_option(c, optarg) :
					  program->option(c, optarg);
	}
	if (!ret && (optind < argc || !attr.nodes || !attr.ppn ||
		     only >= (int)attr.nodes || (only >= 0 && !attr.meet) ||
		     launch_processes() > TP_PROCESSES))
		ret = -EINVAL;
	return ret;
}

static void print_info(const struct launch *program,
		       const struct tp_info *info)
{
	printf("%s: nodes=%u ppn=%u qps_per_node=%u expected=%u between_nodes=%u within_node=%u category=%s messages=%ju credit_messages=%ju waited=%ju hits=%ju misses=%ju stale=%ju\n",
	       program->name, attr.nodes, attr.ppn, info->qps_node,
	       info->qps_expected, attr.ppn * 2 * (attr.nodes - 1),
	       attr.ppn > 1 ? attr.ppn * 2 : 0,
	       mlx5ep_category_name(attr.category), (uintmax_t)info->messages,
	       (uintmax_t)info->credit_messages, (uintmax_t)info->waited,
	       (uintmax_t)info->hits, (uintmax_t)info->misses,
	       (uintmax_t)info->stale);
}

static int process(const struct launch *program, unsigned int rank, bool says)
{
	struct transport *tp = NULL;
	struct tp_info info;
	int ret, dead = -1, error;

	attr.rank = rank;
	ret = tp_open(&tp, &attr);
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
	unsigned int first = only < 0 ? 0 : only * attr.ppn;
	unsigned int end = only < 0 ? launch_processes() : first + attr.ppn;
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
	int ret = parse(program, argc, argv);

	if (!ret && program->check)
		ret = program->check();
	if (ret) {
		fprintf(stderr, "usage: %s [OPTION...]\n%s%s", program->name,
			program->usage, launch_usage);
		return 2;
	}
	snprintf(folder, sizeof(folder), "/tmp/mlx5ep.XXXXXX");
	if (!mkdtemp(folder))
		return 2;
	snprintf(domain, sizeof(domain), "%s/domain", folder);
	snprintf(meet, sizeof(meet), "file:%s", folder);
	attr.domain = domain;
	if (!attr.meet)
		attr.meet = meet;
	ret = start_all(program);
	if (ret)
		fprintf(stderr, "%s: %s\n", program->name, strerror(-ret));
	ret = wait_all(program) || ret;
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return ret;
}
