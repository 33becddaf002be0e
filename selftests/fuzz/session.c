// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The process of a session, its two threads, and all kinds of calls. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

#define MEM_AT ((void *)0x200000000)
#define CHILD_SECONDS 5

static void op_fork(struct fuzz_session *s, const uint64_t *a);

#define METHOD(name, i)							\
	static void op_##name(struct fuzz_session *s, const uint64_t *a)\
	{								\
		method_run(s, i, a);					\
	}

METHOD(query_features, 0)
METHOD(context_set_policy, 1)
METHOD(context_query, 2)
METHOD(context_dump, 3)
METHOD(qp_query_uuar, 4)
METHOD(qp_list, 5)
METHOD(notifier_create, 6)
METHOD(xrc_reg, 7)
METHOD(xrc_get, 8)
METHOD(xrc_modify, 9)
METHOD(xrc_query, 10)
METHOD(xrc_unreg, 11)
METHOD(watch_dmabuf, 12)

const struct fuzz_op fuzz_ops[] = {
	{ "query_features", 240, op_query_features },
	{ "context_set_policy", 320, op_context_set_policy },
	{ "context_query", 240, op_context_query },
	{ "context_dump", 320, op_context_dump },
	{ "qp_query_uuar", 320, op_qp_query_uuar },
	{ "qp_list", 320, op_qp_list },
	{ "notifier_create", 320, op_notifier_create },
	{ "xrc_reg", 160, op_xrc_reg },
	{ "xrc_get", 160, op_xrc_get },
	{ "xrc_modify", 240, op_xrc_modify },
	{ "xrc_query", 160, op_xrc_query },
	{ "xrc_unreg", 240, op_xrc_unreg },
	{ "watch_dmabuf", 320, op_watch_dmabuf },
	{ "ctx_open", 1, op_ctx_open },
	{ "ctx_raw", 3, op_ctx_raw },
	{ "qp_create", 8, op_qp_create },
	{ "qp_destroy", 8, op_qp_destroy },
	{ "qp_modify", 8, op_qp_modify },
	{ "devx_qp", 2, op_devx_qp },
	{ "xrcd_open", 8, op_xrcd_open },
	{ "xrcd_close", 8, op_xrcd_close },
	{ "watch_add", 480, op_watch_add },
	{ "watch_del", 320, op_watch_del },
	{ "watch_verify", 480, op_watch_verify },
	{ "file_ioctl", 160, op_file_ioctl },
	{ "file_read", 320, op_file_read },
	{ "file_poll", 80, op_file_poll },
	{ "file_mmap", 240, op_file_mmap },
	{ "file_open", 160, op_file_open },
	{ "file_close", 80, op_file_close },
	{ "mem_map", 160, op_mem_map },
	{ "mem_unmap", 120, op_mem_unmap },
	{ "mem_advise", 40, op_mem_advise },
	{ "mem_protect", 120, op_mem_protect },
	{ "mem_move", 80, op_mem_move },
	{ "mem_write", 240, op_mem_write },
	{ "dmabuf_make", 40, op_dmabuf_make },
	{ "dmabuf_move", 160, op_dmabuf_move },
	{ "sysfs_write", 32, op_sysfs_write },
	{ "sysfs_read", 32, op_sysfs_read },
	{ "debugfs_read", 16, op_debugfs_read },
	{ "param_write", 24, op_param_write },
	{ "rebind", 3, op_rebind },
	{ "fork", 3, op_fork },
};

const unsigned int fuzz_n_ops = sizeof(fuzz_ops) / sizeof(fuzz_ops[0]);

_Static_assert(sizeof(fuzz_ops) / sizeof(fuzz_ops[0]) <= FUZZ_OPS_MAX,
	       "struct fuzz_shared counts each kind of call");

uint64_t fuzz_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* The second thread, and the call that it is to make. */
static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	const struct fuzz_call *call;
	struct fuzz_session *session;
	struct fuzz_shared *shared;
	bool absent;		/* in the child of a fork() */
	unsigned int found;
} aside = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
};

/* Calls of the program that come after a fork, which both sides look at. */
static const struct fuzz_program *running;
static unsigned int position;

static void make_call(struct fuzz_session *s, struct fuzz_shared *shared,
		      const struct fuzz_call *call)
{
	uint64_t began = fuzz_now();

	fuzz_ops[call->op].run(s, call->arg);
	__atomic_fetch_add(&shared->ns[call->op], fuzz_now() - began,
			   __ATOMIC_RELAXED);
	__atomic_fetch_add(&shared->calls[call->op], 1, __ATOMIC_RELAXED);
}

static void *aside_main(void *unused)
{
	const struct fuzz_call *call;

	cover_start(aside.shared);
	pthread_mutex_lock(&aside.lock);
	for (;;) {
		while (!aside.call)
			pthread_cond_wait(&aside.changed, &aside.lock);
		call = aside.call;
		pthread_mutex_unlock(&aside.lock);
		make_call(aside.session, aside.shared, call);
		pthread_mutex_lock(&aside.lock);
		aside.found += cover_collect();
		aside.call = NULL;
		pthread_cond_broadcast(&aside.changed);
	}
	return NULL;
}

/* Wait until the second thread has nothing to do; interrupt it again and again. */
static void aside_wait(void)
{
	struct timespec until;

	if (aside.absent)
		return;
	pthread_mutex_lock(&aside.lock);
	while (aside.call) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 20000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		if (pthread_cond_timedwait(&aside.changed, &aside.lock, &until))
			pthread_kill(aside.thread, SIGUSR1);
	}
	pthread_mutex_unlock(&aside.lock);
}

static void aside_do(const struct fuzz_call *call)
{
	aside_wait();
	pthread_mutex_lock(&aside.lock);
	aside.call = call;
	pthread_cond_broadcast(&aside.changed);
	pthread_mutex_unlock(&aside.lock);
}

static void run_call(struct fuzz_session *s, const struct fuzz_call *call)
{
	if (call->aside && !aside.absent && fuzz_ops[call->op].run != op_fork)
		aside_do(call);
	else
		make_call(s, aside.shared, call);
}

/* A child makes the rest of the calls, and may be killed while it does. */
static void op_fork(struct fuzz_session *s, const uint64_t *a)
{
	int status;
	pid_t pid;

	aside_wait();
	pid = fork();
	if (!pid) {
		signal(SIGALRM, SIG_DFL);
		alarm(CHILD_SECONDS);
		aside.absent = true;
		while (++position < running->n)
			run_call(s, &running->calls[position]);
		_exit(0);
	}
	if (pid > 0 && a[1] & 1) {
		usleep(a[2] % 20000);
		kill(pid, SIGKILL);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!aside.absent)
		position = running->n;
}

static void no_action(int signal)
{
}

static void session_init(struct fuzz_session *s, struct fuzz_shared *shared)
{
	struct sigaction interrupt = { .sa_handler = no_action };
	int null = open("/dev/null", O_WRONLY);

	dup2(null, STDERR_FILENO);
	sigaction(SIGUSR1, &interrupt, NULL);
	sigaction(SIGALRM, &interrupt, NULL);
	memset(s, 0, sizeof(*s));
	pthread_mutex_init(&s->verbs, NULL);
	s->raw[0] = s->raw[1] = s->notifiers[0] = s->notifiers[1] = -1;
	s->mem = mmap(MEM_AT, FUZZ_MEM_PAGES * 4096, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (s->mem == MAP_FAILED || pipe2(s->pipe, O_NONBLOCK | O_CLOEXEC))
		_exit(1);
	dmabufs_open(s);
	aside.session = s;
	aside.shared = shared;
}

/*
 * Run one program, and add up in @found how many edges it found. Returns its length up to
 * the last call that found one.
 */
static unsigned int run_program(struct fuzz_session *s,
				const struct fuzz_program *program,
				unsigned int *found)
{
	unsigned int useful = 0, at, edges;

	running = program;
	/* A call that waits is interrupted soon. */
	ualarm(200000, 100000);
	for (position = 0; position < program->n; position++) {
		at = position;
		run_call(s, &program->calls[at]);
		edges = cover_collect();
		if (edges)
			useful = at + 1;
		*found += edges;
	}
	aside_wait();
	ualarm(0, 0);
	if (aside.found)
		useful = program->n;
	*found += aside.found;
	aside.found = 0;
	return useful;
}

void session_run(struct fuzz_shared *shared,
		 const struct fuzz_program *programs, unsigned int n)
{
	static struct fuzz_session s;
	sigset_t alarms;
	unsigned int i;

	session_init(&s, shared);
	if (cover_start(shared))
		_exit(2);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	/* Only the first thread is to have them. */
	sigprocmask(SIG_BLOCK, &alarms, NULL);
	pthread_create(&aside.thread, NULL, aside_main, NULL);
	sigprocmask(SIG_UNBLOCK, &alarms, NULL);
	for (i = 0; i < n; i++) {
		/* The first program sets the policy that the context gets. */
		if (i == 1)
			objects_open(&s);
		shared->useful[i] = run_program(&s, &programs[i],
						&shared->found[i]);
		shared->done = i + 1;
	}
	/* The kernel cleans up behind half of the sessions. */
	if (n & 1)
		objects_close(&s);
	_exit(0);
}
