// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Calls a program of the package mlx5ep-tests, under a policy by `mlx5ep run`: also
 * under stock, whatever the policy of the device is. The programs are beside
 * mlx5ep-bench. So is the tool where it was built; else it is in ../../bin.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cli.h"
#include "bench.h"

#define MOST_ARGS 32

/* The words of a call. Those that are made are in @text. */
struct words {
	char text[MOST_ARGS][PATH_LEN];
	char *argv[MOST_ARGS + 1];
	unsigned int n;
};

__attribute__((format(printf, 2, 3)))
static void word(struct words *words, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(words->text[words->n], PATH_LEN, fmt, args);
	va_end(args);
	words->argv[words->n] = words->text[words->n];
	words->argv[++words->n] = NULL;
}

/* Where the tool is, by @place from the folder of mlx5ep-bench. */
static int tool_path(char *path, const char *place)
{
	char folder[PATH_LEN];
	int ret = own_folder(folder);

	if (ret)
		return ret;
	if (snprintf(path, PATH_LEN, "%s/%smlx5ep", folder, place) >= PATH_LEN)
		return -ENAMETOOLONG;
	return access(path, X_OK) ? -errno : 0;
}

/**
 * bench_program_path() - where a program is
 * @path: for the result, of @len bytes
 *
 * Return: 0; -ENOENT: not installed; another -errno
 */
int bench_program_path(const char *program, char *path, size_t len)
{
	char folder[PATH_LEN];
	int ret = own_folder(folder);

	if (ret)
		return ret;
	if (snprintf(path, len, "%s/%s", folder, program) >= (int)len)
		return -ENAMETOOLONG;
	return access(path, X_OK) ? -ENOENT : 0;
}

static unsigned int side(unsigned int square)
{
	unsigned int side = 1;

	while (side < BENCH_MAX_SIDE && (side + 1) * (side + 1) <= square)
		side++;
	return side;
}

static void program_words(struct words *words, const struct bench_plan *plan,
			  const struct bench_case *bench, unsigned int threads)
{
	unsigned int messages = plan->messages / bench->share;
	const char *const *arg;

	for (arg = bench->args; *arg; arg++)
		if (!strcmp(*arg, "%t"))
			word(words, "%u", threads);
		else if (!strcmp(*arg, "%m"))
			word(words, "%u", messages ? messages : 1);
		else if (!strcmp(*arg, "%q"))
			word(words, "%u", side(messages));
		else
			word(words, "%s", *arg);
	word(words, "-j");
	/* The programs with threads pin them, and measure once. */
	if (bench->by_threads) {
		word(words, "-a");
		word(words, "-R");
		word(words, "1");
	}
}

static int make_words(struct words *words, const struct bench_plan *plan,
		      const struct bench_case *bench, const char *policy,
		      unsigned int threads)
{
	bool stock = !strcmp(policy, "stock");
	char path[PATH_LEN];
	int ret;

	if (!stock || plan->attached) {
		ret = tool_path(path, "");
		if (ret)
			ret = tool_path(path, "../../bin/");
		if (ret)
			return ret;
		word(words, "%s", path);
		word(words, "run");
		word(words, "--strict");
		word(words, "--policy");
		word(words, "%s", policy);
		/*
		 * A page for each thread's QP, and one for the completion queues;
		 * shared-uar takes half of them. shared-uuar spreads over all.
		 */
		if (threads && (!strcmp(policy, "independent") ||
				!strcmp(policy, "shared-uar"))) {
			word(words, "--pages");
			word(words, "%u", threads + 1);
		}
		word(words, "--");
	}
	ret = bench_program_path(bench->program, path, sizeof(path));
	if (ret)
		return ret;
	word(words, "%s", path);
	program_words(words, plan, bench, threads);
	if (!stock) {
		word(words, "-c");
		word(words, "static");
	}
	return 0;
}

/* The first of the CPUs that the tool may use. */
static void pin(void)
{
	cpu_set_t may, one;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(may), &may))
		return;
	while (!CPU_ISSET(cpu, &may))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void program_child(struct words *words, const struct bench_plan *plan,
			  const struct bench_case *bench, int out, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(out, STDOUT_FILENO) < 0 ||
	    setenv("MLX5_EP_DEVICE", plan->device, 1))
		_exit(127);
	if (bench->one_cpu)
		pin();
	/* The program catches no signals of the tool's: execv() sees to that. */
	execv(words->argv[0], words->argv);
	perror(words->argv[0]);
	_exit(127);
}

/* A figure is an object with a name. A line "4 threads" is the number 4 to json-c. */
static bool is_figure(struct json_object *row)
{
	return json_object_is_type(row, json_type_object) &&
		json_object_is_type(json_get(row, "name"), json_type_string);
}

static void program_collect(int fd, struct json_object *rows)
{
	FILE *from = fdopen(fd, "r");
	struct json_object *row;
	char *line = NULL;
	size_t room = 0;

	while (from && getline(&line, &room, from) > 0) {
		row = json_tokener_parse(line);
		if (is_figure(row))
			json_object_array_add(rows, row);
		else
			json_object_put(row);
	}
	free(line);
	if (from)
		fclose(from);
	else
		close(fd);
}

static int program_wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFSIGNALED(status))
		return -ECANCELED;
	return WEXITSTATUS(status) ? -EIO : 0;
}

/**
 * bench_program_call() - run a case once
 * @policy: "stock", or of the program's contexts
 * @rows: receives the figures that the program prints; other lines are left out
 *
 * The program writes its own messages to stderr.
 *
 * Return: 0; -EIO: the program failed; -ECANCELED: it was ended by a signal; -ENOENT:
 * it is not installed; another -errno
 */
int bench_program_call(const struct bench_plan *plan,
		       const struct bench_case *bench, const char *policy,
		       unsigned int threads, struct json_object *rows)
{
	struct words words = {};
	pid_t parent = getpid(), pid;
	int fds[2], ret;

	ret = make_words(&words, plan, bench, policy, threads);
	if (ret)
		return ret;
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		ret = -errno;
		close(fds[0]);
		close(fds[1]);
		return ret;
	}
	if (!pid)
		program_child(&words, plan, bench, fds[1], parent);
	close(fds[1]);
	program_collect(fds[0], rows);
	return program_wait_for(pid);
}
