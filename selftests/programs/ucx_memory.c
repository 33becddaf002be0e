// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ucx_memory - UCX with the memory of an allocator, and with memory that another
 * thread changes between the lookup of a registration and its use
 *
 * usage: ucx_memory malloc|window [ROUNDS]
 *
 * malloc: buffers of several sizes are allocated, sent and freed. Prints
 * "malloc: stale S of N moved M": M allocations were at an address that had been
 * sent before.
 *
 * window, with ucx_window.so preloaded: the registration of two halves is looked up,
 * to send the first half. Before it is used, another thread changes memory.
 *   neighbour  the second half, which nobody sends at that time; then both are sent
 *   itself     the half that is being sent; then it is sent again
 * Prints "neighbour: stale S of N" and "itself: stale S of N, old O". The half that
 * changed while it was sent counts in O where the old data arrived: what should
 * arrive there, a program cannot know. Each change must have been made in the
 * window, or the exit status is not 0.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ucx_link.h"

#define FIXED	((char *)0x620000000000ul)
#define HALF	(4 * 4096ul)
#define MOST	(1ul << 20)
#define LIVE	4

static int rounds = 20;
static struct ucx_link sender;

static void ucx_memory_want(bool right, const char *what)
{
	if (right)
		return;
	perror(what);
	exit(1);
}

static void ucx_memory_fill(char *addr, size_t len, uint64_t stamp)
{
	uint64_t *at = (uint64_t *)addr;
	size_t i;

	for (i = 0; i < len / sizeof(*at); i++)
		at[i] = stamp * 0x9e3779b97f4a7c15ull + i;
}

static bool filled(const char *addr, size_t len, uint64_t stamp)
{
	const uint64_t *at = (const uint64_t *)addr;
	size_t i;

	for (i = 0; i < len / sizeof(*at); i++) {
		if (at[i] != stamp * 0x9e3779b97f4a7c15ull + i)
			return false;
	}
	return true;
}

/* Fills the memory and sends it; returns whether that arrived. */
static bool arrives(char *addr, size_t len, uint64_t stamp)
{
	ucx_memory_fill(addr, len, stamp);
	ucx_link_put(&sender, addr, 0, len);
	return filled(sender.remote, len, stamp);
}

/* --- malloc ----------------------------------------------------------------- */

#define SEEN 1024

/* Was this address sent before? */
static bool seen(const char *addr)
{
	static const char *list[SEEN];
	static unsigned int next;
	int i;

	for (i = 0; i < SEEN; i++) {
		if (list[i] == addr)
			return true;
	}
	list[next++ % SEEN] = addr;
	return false;
}

static void run_malloc(void)
{
	static const size_t lengths[] = { 65536, MOST, 300000, 131072, 524288 };
	char *live[LIVE] = {};
	int i, stale = 0, moved = 0;

	for (i = 0; i < rounds; i++) {
		size_t len = lengths[i % 5];

		free(live[i % LIVE]);
		live[i % LIVE] = malloc(len);
		ucx_memory_want(live[i % LIVE], "malloc");
		moved += seen(live[i % LIVE]);
		stale += !arrives(live[i % LIVE], len, i);
	}
	for (i = 0; i < LIVE; i++)
		free(live[i]);
	printf("malloc: stale %d of %d moved %d\n", stale, rounds, moved);
}

/* --- window ------------------------------------------------------------------ */

/* What the other thread replaces, and fills with what. */
static struct {
	char *addr;
	uint64_t stamp;
	sem_t go, done;
	int made;
} change;

static void ucx_memory_map(char *addr, size_t len)
{
	ucx_memory_want((char *)syscall(SYS_mmap, addr, len,
					PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
					-1, 0ul) == addr,
			"mmap");
}

static void *change_memory(void *unused)
{
	for (;;) {
		sem_wait(&change.go);
		if (!change.addr)
			return NULL;
		ucx_memory_want(!syscall(SYS_munmap, change.addr, HALF), "munmap");
		ucx_memory_map(change.addr, HALF);
		ucx_memory_fill(change.addr, HALF, change.stamp);
		sem_post(&change.done);
	}
}

/* The registration was found; the caller of UCX waits until the change is made. */
static void in_window(unsigned long address)
{
	if (!change.addr || address != (uintptr_t)FIXED)
		return;
	sem_post(&change.go);
	sem_wait(&change.done);
	change.addr = NULL;
	change.made++;
}

/* Sends the first half, while the other thread replaces what @addr points to. */
static void send_while_changing(char *addr, uint64_t stamp, uint64_t changed)
{
	ucx_memory_fill(FIXED, 2 * HALF, stamp);
	ucx_link_put(&sender, FIXED, 0, 2 * HALF);
	ucx_memory_fill(FIXED, HALF, stamp + 1);
	change.stamp = changed;
	change.addr = addr;
	ucx_link_put(&sender, FIXED, 0, HALF);
}

static void change_neighbour(void)
{
	uint64_t stamp = 1;
	int i, stale = 0;

	for (i = 0; i < rounds; i++, stamp += 10) {
		send_while_changing(FIXED + HALF, stamp, stamp + 2);
		stale += !filled(sender.remote, HALF, stamp + 1);
		ucx_link_put(&sender, FIXED + HALF, 0, HALF);
		stale += !filled(sender.remote, HALF, stamp + 2);
	}
	printf("neighbour: stale %d of %d\n", stale, 2 * rounds);
}

static void change_itself(void)
{
	uint64_t stamp = 5;
	int i, stale = 0, old = 0;

	for (i = 0; i < rounds; i++, stamp += 10) {
		send_while_changing(FIXED, stamp, stamp + 2);
		old += filled(sender.remote, HALF, stamp + 1);
		ucx_link_put(&sender, FIXED, 0, HALF);
		stale += !filled(sender.remote, HALF, stamp + 2);
	}
	printf("itself: stale %d of %d, old %d\n", stale, rounds, old);
}

static void run_window(void)
{
	void (**hook)(unsigned long address) = dlsym(RTLD_DEFAULT, "ucx_window");
	pthread_t thread;

	ucx_memory_want(hook, "ucx_window.so");
	ucx_memory_want(!sem_init(&change.go, 0, 0) &&
				!sem_init(&change.done, 0, 0),
			"sem_init");
	ucx_memory_want(!pthread_create(&thread, NULL, change_memory, NULL), "thread");
	ucx_memory_map(FIXED, 2 * HALF);
	*hook = in_window;
	change_neighbour();
	change_itself();
	*hook = NULL;
	change.addr = NULL;
	sem_post(&change.go);
	pthread_join(thread, NULL);
	printf("changes in the window: %d\n", change.made);
	if (change.made != 2 * rounds)
		exit(1);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: ucx_memory malloc|window [ROUNDS]\n");
		return 2;
	}
	if (argc > 2)
		rounds = atoi(argv[2]);
	ucx_link_init(UCP_FEATURE_RMA, true);
	ucx_link_open(&sender, MOST);
	if (!strcmp(argv[1], "malloc"))
		run_malloc();
	else
		run_window();
	ucx_link_close(&sender);
	ucx_link_cleanup();
	return 0;
}
