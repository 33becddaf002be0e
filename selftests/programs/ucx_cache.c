// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ucx_cache - is what UCX sends and receives the memory that the program sees?
 *
 * Two workers of one process are connected through the adapter. A buffer is sent
 * (put) and received into (get) without a copy, so UCX keeps its registration.
 * Then the memory is changed in one of several ways, and the same addresses are
 * sent and received into again. A round is stale if the data is not right.
 *
 * usage: ucx_cache [HOW [ROUNDS [PAGES]]]
 *
 * Prints "CHANGE: stale S of N" for each change. HOW has words:
 *   message   tagged messages in place of put and get
 *   hooks-off UCX is told that its events come from outside, and none come
 *   threads   several threads make the changes, each with a buffer and a worker
 *   child     a forked child opens and closes UCX between two rounds of changes
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ucm/api/ucm.h>

#include "ucx_link.h"

#define PAGES	16
#define FIXED	((char *)0x610000000000ul)
#define THREADS	3

static int rounds = 20;
static size_t len = PAGES * 4096ul;
static bool messages;
static const uint64_t features = UCP_FEATURE_RMA | UCP_FEATURE_TAG;

static void ucx_cache_fail(const char *what, const char *why)
{
	fprintf(stderr, "ucx_cache: %s: %s\n", what, why);
	exit(1);
}

static void ucx_cache_want(bool right, const char *what)
{
	if (!right)
		ucx_cache_fail(what, strerror(errno));
}

/* --- the memory, and what happens to it ---------------------------------- */

struct memory {
	char *addr;
	int fd;			/* -1: private */
};

static struct {
	pid_t pid;
	int ask[2], answer[2];
	int fd;
} other;

static void ucx_cache_map(struct memory *mem)
{
	int flags = mem->fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;

	ucx_cache_want((char *)syscall(SYS_mmap, mem->addr, len,
				       PROT_READ | PROT_WRITE,
				       flags | MAP_FIXED, mem->fd,
				       0ul) == mem->addr,
		       "mmap");
}

static void change_nothing(struct memory *mem)
{
}

static void change_munmap(struct memory *mem)
{
	ucx_cache_want(!munmap(mem->addr, len), "munmap");
	ucx_cache_map(mem);
}

static void change_munmap_raw(struct memory *mem)
{
	ucx_cache_want(!syscall(SYS_munmap, mem->addr, len), "munmap");
	ucx_cache_map(mem);
}

static void change_mapped_over(struct memory *mem)
{
	ucx_cache_map(mem);
}

static void change_dontneed_raw(struct memory *mem)
{
	ucx_cache_want(!syscall(SYS_madvise, mem->addr, len, MADV_DONTNEED), "madvise");
}

static void *change_here(void *mem)
{
	change_munmap_raw(mem);
	return NULL;
}

static void change_thread(struct memory *mem)
{
	pthread_t thread;

	ucx_cache_want(!pthread_create(&thread, NULL, change_here, mem), "thread");
	pthread_join(thread, NULL);
}

static void ask_other(char what)
{
	ucx_cache_want(write(other.ask[1], &what, 1) == 1, "the other process");
	ucx_cache_want(read(other.answer[0], &what, 1) == 1, "the other process");
}

static void change_truncate(struct memory *mem)
{
	ask_other('t');
}

static void change_punch(struct memory *mem)
{
	ask_other('p');
}

static const struct change {
	const char *name;
	void (*make)(struct memory *mem);
	bool shared;
} changes[] = {
	{ "nothing", change_nothing, false },
	{ "munmap()", change_munmap, false },
	{ "munmap, raw system call", change_munmap_raw, false },
	{ "munmap, raw, by another thread", change_thread, false },
	{ "mmap MAP_FIXED over it, raw", change_mapped_over, false },
	{ "MADV_DONTNEED, raw system call", change_dontneed_raw, false },
	{ "ftruncate by another process", change_truncate, true },
	{ "PUNCH_HOLE by another process", change_punch, true },
};

#define CHANGES (sizeof(changes) / sizeof(*changes))

static void other_loop(void)
{
	char what;

	while (read(other.ask[0], &what, 1) == 1) {
		if (what == 't' &&
		    (ftruncate(other.fd, 0) || ftruncate(other.fd, len)))
			_exit(1);
		if (what == 'p' &&
		    fallocate(other.fd, FALLOC_FL_PUNCH_HOLE |
			      FALLOC_FL_KEEP_SIZE, 0, len))
			_exit(1);
		if (write(other.answer[1], &what, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/* Before UCX is there, so that the child has nothing of it. */
static void start_other(void)
{
	other.fd = memfd_create("ucx_cache", MFD_CLOEXEC);
	ucx_cache_want(other.fd >= 0 && !ftruncate(other.fd, len), "memfd");
	ucx_cache_want(!pipe(other.ask) && !pipe(other.answer), "pipe");
	other.pid = fork();
	ucx_cache_want(other.pid >= 0, "fork");
	if (!other.pid) {
		close(other.ask[1]);
		other_loop();
	}
	close(other.ask[0]);
}

static void stop_other(void)
{
	int status;

	close(other.ask[1]);
	waitpid(other.pid, &status, 0);
}

/* --- the rounds ------------------------------------------------------------- */

static void ucx_cache_fill(char *addr, uint64_t stamp)
{
	uint64_t *at = (uint64_t *)addr;
	size_t i;

	for (i = 0; i < len / sizeof(*at); i++)
		at[i] = stamp * 0x9e3779b97f4a7c15ull + i;
}

static bool filled(const char *addr, uint64_t stamp)
{
	const uint64_t *at = (const uint64_t *)addr;
	size_t i;

	for (i = 0; i < len / sizeof(*at); i++) {
		if (at[i] != stamp * 0x9e3779b97f4a7c15ull + i)
			return false;
	}
	return true;
}

static void send_memory(struct ucx_link *link, char *addr)
{
	if (messages)
		ucx_link_message(link, addr, link->remote, len);
	else
		ucx_link_put(link, addr, 0, len);
}

static void receive_memory(struct ucx_link *link, char *addr)
{
	if (messages)
		ucx_link_message(link, link->remote, addr, len);
	else
		ucx_link_get(link, addr, len);
}

/* Sends the memory, then receives into it; returns whether that went right. */
static bool exchange(struct ucx_link *link, char *addr, uint64_t stamp)
{
	bool right;

	ucx_cache_fill(addr, 2 * stamp);
	send_memory(link, addr);
	right = filled(link->remote, 2 * stamp);
	ucx_cache_fill(link->remote, 2 * stamp + 1);
	receive_memory(link, addr);
	return filled(addr, 2 * stamp + 1) && right;
}

static int stale_rounds(struct ucx_link *link, const struct change *change,
			char *addr)
{
	struct memory mem = {
		.addr = addr,
		.fd = change->shared ? other.fd : -1,
	};
	int i, stale = 0;

	ucx_cache_map(&mem);
	for (i = 0; i < rounds; i++) {
		if (i)
			change->make(&mem);
		stale += !exchange(link, addr, i + 1);
	}
	syscall(SYS_munmap, addr, len);
	return stale;
}

struct racer {
	pthread_t thread;
	char *addr;
	int stale;
};

static void *race(void *arg)
{
	struct racer *racer = arg;
	struct ucx_link link = {};
	size_t i;

	ucx_link_open(&link, len);
	for (i = 0; i < CHANGES; i++) {
		if (!changes[i].shared)
			racer->stale += stale_rounds(&link, &changes[i],
						     racer->addr +
						     i * 4 * len);
	}
	ucx_link_close(&link);
	return NULL;
}

static void run_threads(void)
{
	struct racer racers[THREADS] = {};
	int i, stale = 0;

	for (i = 0; i < THREADS; i++) {
		racers[i].addr = FIXED + i * 64 * len;
		ucx_cache_want(!pthread_create(&racers[i].thread, NULL, race,
					       &racers[i]),
			       "thread");
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(racers[i].thread, NULL);
		stale += racers[i].stale;
	}
	printf("%d threads: stale %d\n", THREADS, stale);
}

static void run_changes(void)
{
	struct ucx_link link = {};
	size_t i;

	ucx_link_open(&link, len);
	for (i = 0; i < CHANGES; i++)
		printf("%s: stale %d of %d\n", changes[i].name,
		       stale_rounds(&link, &changes[i],
				    FIXED + i * 4 * len), rounds);
	ucx_link_close(&link);
}

/* exit() and not _exit(): what is to run at the end runs in the child too. */
static void use_child(void)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	ucx_cache_want(child >= 0, "fork");
	if (!child) {
		ucx_link_init(features, false);
		ucx_link_cleanup();
		exit(0);
	}
	ucx_cache_want(waitpid(child, &status, 0) == child, "waitpid");
	ucx_cache_want(!status, "the child");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	bool threads = strstr(how, "threads");

	if (argc > 2)
		rounds = atoi(argv[2]);
	if (argc > 3)
		len = atoi(argv[3]) * 4096ul;
	messages = strstr(how, "message");
	start_other();
	if (strstr(how, "hooks-off"))
		ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
	ucx_link_init(features, threads);
	if (strstr(how, "child")) {
		run_changes();
		use_child();
	}
	if (threads)
		run_threads();
	else
		run_changes();
	ucx_link_cleanup();
	stop_other();
	return 0;
}
