// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fuzzer in its guest: makes sessions from a corpus of programs, keeps programs
 * that ran new edges, and stops at the first report, hang or leak. The programs of
 * a session are in a file before the session runs, so they are there when the kernel
 * dies.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "lib/baseline.h"
#include "lib/patience.h"
#include "lib/simhca.h"

#define CORPUS_MAX 4096
#define HANG_SECONDS 30
#define BASELINE_EVERY 4

static const char usage[] =
	"usage: fuzz [OPTION...]\n"
	"Fuzz the uapi of mlx5_ep in a guest; selftests/fuzz/run starts it.\n"
	"\n"
	"  --seed N         of the random numbers (default 1)\n"
	"  --seconds N      how long (default 20, with --executions no limit)\n"
	"  --executions N   end after so many programs, or when the time is over\n"
	"  --corpus FILE    programs to begin with\n"
	"  --save FILE      write the programs that found edges, short ones first\n"
	"  --least N        of them only those that found so many (default 1)\n"
	"  --session FILE   where to note the programs of each session\n"
	"  --given          run the programs of --corpus, and no others\n"
	"  --replay FILE    run the programs of such a file, and nothing else\n"
	"  --times          print what took how long\n";

static struct {
	uint64_t seed, seconds, executions, least;
	const char *corpus, *save, *session, *replay;
	bool times, given;
} options = {
	.seed = 1, .seconds = UINT64_MAX, .least = 1, .session = "/tmp/fuzz.session",
};

static struct fuzz_program corpus[CORPUS_MAX];
/* The first of the corpus were given; so many of them have been put into sessions. */
static unsigned int n_corpus, n_given, given;
static struct fuzz_program programs[FUZZ_PROGRAMS];
static struct fuzz_shared *shared;
static uint64_t executions, sessions;
/* So many marks are in the kernel log. */
static unsigned int marks;
static struct baseline base;

/* Parts of a session, and what they took in ns. */
enum part { PART_MAKE, PART_RUN, PART_RESTORE, PART_LOG, PART_BASELINE, PARTS };
static const char *const part_names[] = {
	"make", "run", "restore", "log", "baseline",
};
static uint64_t took[PARTS];

/* What was done since the last call of this function was @part. */
static void part_ends(enum part part)
{
	static uint64_t last;
	uint64_t now = fuzz_now();

	if (last)
		took[part] += now - last;
	last = now;
}

static void times_print(void)
{
	unsigned int i;

	for (i = 0; i < PARTS; i++)
		printf("# %-20s %8ju ms\n", part_names[i],
		       (uintmax_t)took[i] / 1000000);
	for (i = 0; i < fuzz_n_ops; i++)
		printf("# %-20s %8ju ms %8ju calls\n", fuzz_ops[i].name,
		       (uintmax_t)shared->ns[i] / 1000000,
		       (uintmax_t)shared->calls[i]);
}

static int options_get(int argc, char **argv)
{
	static const struct option known[] = {
		{ "seed", 1, NULL, 's' }, { "seconds", 1, NULL, 't' },
		{ "executions", 1, NULL, 'n' }, { "corpus", 1, NULL, 'c' },
		{ "save", 1, NULL, 'o' }, { "session", 1, NULL, 'f' },
		{ "replay", 1, NULL, 'r' }, { "times", 0, NULL, 'T' },
		{ "given", 0, NULL, 'g' }, { "least", 1, NULL, 'l' },
		{ "help", 0, NULL, 'h' }, {},
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", known, NULL)) != -1)
		switch (c) {
		case 's':
			options.seed = strtoull(optarg, NULL, 0);
			break;
		case 't':
			options.seconds = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			options.executions = strtoull(optarg, NULL, 0);
			break;
		case 'c':
			options.corpus = optarg;
			break;
		case 'o':
			options.save = optarg;
			break;
		case 'f':
			options.session = optarg;
			break;
		case 'r':
			options.replay = optarg;
			break;
		case 'l':
			options.least = strtoull(optarg, NULL, 0);
			break;
		case 'g':
			options.given = true;
			break;
		case 'T':
			options.times = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			return -EINVAL;
		}
	if (options.seconds == UINT64_MAX && !options.executions)
		options.seconds = 20;
	return optind == argc ? 0 : -EINVAL;
}

/* Read at most @max programs. Return: how many, or -errno. */
static int programs_read(const char *path, struct fuzz_program *to, int max)
{
	FILE *file = fopen(path, "re");
	int n = 0, ret = 1;

	if (!file)
		return -errno;
	while (n < max && (ret = fuzz_parse(file, &to[n])) > 0)
		n++;
	fclose(file);
	return ret < 0 ? ret : n;
}

/* Returns 0 when the programs are on the host. */
static int programs_write(const char *path, const struct fuzz_program *from,
			  unsigned int n)
{
	FILE *file = fopen(path, "we");
	unsigned int i;
	int ret = 0;

	if (!file)
		return -errno;
	fprintf(file, "# seed %ju, session %ju\n", (uintmax_t)options.seed,
		(uintmax_t)sessions);
	for (i = 0; i < n; i++)
		fuzz_print(file, &from[i]);
	/* What did not fit is dropped by now: fclose() says nothing of it. */
	if (fflush(file) || ferror(file))
		ret = errno ? -errno : -EIO;
	fsync(fileno(file));
	if (fclose(file) && !ret)
		ret = -errno;
	return ret;
}

/* One of the corpus; mostly the one of two that takes less time. */
static const struct fuzz_program *cheap_one(void)
{
	const struct fuzz_program *one, *two;

	one = &corpus[(fuzz_random() >> 16) % n_corpus];
	two = &corpus[(fuzz_random() >> 16) % n_corpus];
	if (fuzz_random() >> 16 & 7 && fuzz_cost(two) < fuzz_cost(one))
		return two;
	return one;
}

/*
 * The given programs first, each as it is; then mutants and new ones, unless --given.
 * Return: how many.
 */
static unsigned int programs_make(void)
{
	struct fuzz_program *p = programs;
	unsigned int i;

	fuzz_seed(options.seed + sessions * 1000003);
	fuzz_make(&p[0]);
	p[0].n = 1;
	for (i = 0; strcmp(fuzz_ops[i].name, "sysfs_write"); i++)
		;
	p[0].calls[0] = (struct fuzz_call){ .op = i };
	p[0].calls[0].arg[2] = sessions % 4;
	/* Every other session ends with its objects open. */
	for (i = 1; i < FUZZ_PROGRAMS - sessions % 2; i++) {
		if (given < n_given) {
			p[i] = corpus[given++];
		} else if (options.given) {
			break;
		} else if (!n_corpus || !(fuzz_random() >> 16 & 3)) {
			fuzz_make(&p[i]);
		} else {
			p[i] = *cheap_one();
			fuzz_mutate(&p[i], &corpus[(fuzz_random() >> 16) %
						   n_corpus]);
		}
	}
	return i;
}

static int shorter(const void *one, const void *two)
{
	const struct fuzz_program *a = one, *b = two;

	return (int)a->n - (int)b->n;
}

/* Keep the programs that found edges, up to the call that did. */
static void programs_keep(struct fuzz_program *kept, unsigned int *n_kept)
{
	unsigned int i;

	for (i = 1; i < shared->done; i++)
		if (shared->found[i] >= options.least && shared->useful[i] &&
		    *n_kept < CORPUS_MAX) {
			kept[*n_kept] = programs[i];
			kept[*n_kept].found = shared->found[i];
			kept[(*n_kept)++].n = shared->useful[i];
		}
}

/* Did the session's process end otherwise than by its own doing? */
static bool died(int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
		fprintf(stderr, "fuzz: the module is not compiled for KCOV\n");
		exit(2);
	}
	if (WIFSIGNALED(status))
		printf("fuzz: signal %d ended a session in program %u of it\n",
		       WTERMSIG(status), shared->done);
	else if (WEXITSTATUS(status) || !shared->done)
		printf("fuzz: a session ended with status %d after %u programs\n",
		       WEXITSTATUS(status), shared->done);
	else
		return false;
	return true;
}

/* Run one session in a process of its own. Return: whether it hung or died. */
static bool session(unsigned int n)
{
	time_t end = time(NULL) + HANG_SECONDS * patience_factor();
	int status;
	pid_t pid;

	shared->done = 0;
	memset(shared->useful, 0, sizeof(shared->useful));
	memset(shared->found, 0, sizeof(shared->found));
	fflush(NULL);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		session_run(shared, programs, n);
	}
	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (time(NULL) > end) {
			if (system("echo w >/proc/sysrq-trigger"))
				fprintf(stderr, "# no sysrq\n");
			kill(-pid, SIGKILL);
			printf("fuzz: a session hangs\n");
			return true;
		}
		usleep(2000);
	}
	kill(-pid, SIGKILL);
	executions += shared->done;
	if (died(status))
		return true;
	part_ends(PART_RUN);
	settings_restore();
	part_ends(PART_RESTORE);
	sessions++;
	return false;
}

/* Does the kernel log have a line since the last look that may be a report? */
static bool log_is_suspect(int log)
{
	static const char *const words[] = {
		"BUG", "WARNING", "KASAN", "UBSAN", "INFO:", "refcount_t",
		"lockdep", "corruption", "DMA-API", "Oops", "suspicious",
	};
	char line[8192];
	bool suspect = false;
	unsigned int i;
	ssize_t n;

	while ((n = read(log, line, sizeof(line) - 1)) > 0 || errno == EPIPE) {
		line[n > 0 ? n : 0] = '\0';
		errno = 0;
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			suspect |= !!strstr(line, words[i]);
	}
	return suspect;
}

/* Write a mark into the kernel log, as klog_mark() of selftests/lib/klog.sh does. */
static void log_mark(int log)
{
	dprintf(log, "selftest: fuzz %u\n", ++marks);
}

/* Has the kernel log a report since the mark before the last one? */
static bool log_has_report(void)
{
	char command[64];

	snprintf(command, sizeof(command), "selftests/fuzz/reports 'fuzz %u'",
		 marks - 1);
	return system(command);
}

/*
 * Look for a report or something left behind. A line that comes during this look is
 * behind the new mark, so the next look finds it. Return: whether there is something.
 */
static bool found_something(int log, bool whole)
{
	log_mark(log);
	if (log_is_suspect(log) && log_has_report()) {
		printf("fuzz: the kernel log has a report\n");
		return true;
	}
	part_ends(PART_LOG);
	if (whole && baseline_restored(&base, 5)) {
		printf("fuzz: a session left something behind\n");
		return true;
	}
	part_ends(PART_BASELINE);
	return false;
}

static bool over(time_t began)
{
	if (options.given)
		return !n_given;
	if (options.executions && executions >= options.executions)
		return true;
	return (uint64_t)(time(NULL) - began) >= options.seconds;
}

/* Return: the number of reports, 0 or 1, or -errno if a session cannot be noted. */
static int fuzz(int log, struct fuzz_program *kept, unsigned int *n_kept)
{
	time_t began = time(NULL), said = began;
	unsigned int before, n;
	bool first = true;
	int ret;

	while (first || !over(began)) {
		first = false;
		n = programs_make();
		ret = programs_write(options.session, programs, n);
		if (ret)
			return ret;
		part_ends(PART_MAKE);
		if (session(n))
			return 1;
		before = *n_kept;
		programs_keep(kept, n_kept);
		for (; before < *n_kept && n_corpus < CORPUS_MAX; before++)
			corpus[n_corpus++] = kept[before];
		if (found_something(log, !(sessions % BASELINE_EVERY)))
			return 1;
		if (n_given && given == n_given) {
			printf("# corpus: %u programs, %u edges\n", n_given,
			       shared->n_edges);
			n_given = given = 0;
		}
		if (time(NULL) - said >= 10) {
			said = time(NULL);
			fprintf(stderr,
				"# progress: %ju executions, %u edges\n",
				(uintmax_t)executions, shared->n_edges);
		}
	}
	return found_something(log, true);
}

static int replay(int log)
{
	int n = programs_read(options.replay, programs, FUZZ_PROGRAMS);

	if (n <= 0)
		return n ? n : -EINVAL;
	if (session(n))
		return 1;
	return found_something(log, true);
}

int main(int argc, char **argv)
{
	static struct fuzz_program kept[CORPUS_MAX];
	unsigned int n_kept = 0;
	int reports, log, n;

	if (options_get(argc, argv)) {
		fputs(usage, stderr);
		return 2;
	}
	if (options.corpus) {
		n = programs_read(options.corpus, corpus, CORPUS_MAX);
		if (n < 0) {
			fprintf(stderr, "fuzz: %s: %s\n", options.corpus,
				strerror(-n));
			return 2;
		}
		n_corpus = n_given = n;
	}
	log = open("/dev/kmsg", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (log < 0 || shared == MAP_FAILED || baseline_take(&base)) {
		fprintf(stderr, "fuzz: not a guest with an HCA\n");
		return 2;
	}
	lseek(log, 0, SEEK_END);
	log_mark(log);
	settings_save();
	reports = options.replay ? replay(log) : fuzz(log, kept, &n_kept);
	if (reports < 0) {
		fprintf(stderr, "fuzz: cannot %s %s: %s\n",
			options.replay ? "read" : "write",
			options.replay ? options.replay : options.session,
			strerror(-reports));
		return 2;
	}
	if (reports)
		printf("fuzz: seed %ju; the programs are in %s\n",
		       (uintmax_t)options.seed, options.session);
	if (options.times)
		times_print();
	if (options.save) {
		qsort(kept, n_kept, sizeof(kept[0]), shorter);
		programs_write(options.save, kept, n_kept);
	}
	printf("fuzz: %ju executions, %u edges, %d reports\n",
	       (uintmax_t)executions, shared->n_edges, reports);
	return !!reports;
}
