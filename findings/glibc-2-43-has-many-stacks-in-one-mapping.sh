#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# glibc 2.43-7 (Debian sid) on kernel 7.3.4-1~bpo13+1: the guard of a thread's stack is no
# mapping of its own. It is guard pages inside the stack's mapping, and the kernel joins that
# mapping to its neighbours. So most stacks of 16 threads, or all, are one line "rw-p" of
# /proc/self/maps together with their guards, and nothing in it tells where a stack ends.
# Registering one stack works (rdma_rxe, rdma-core 65.0-1.1). Registering the mapping that it lies in
# is refused with EFAULT, and mlock() of that with ENOMEM. The same libc on 6.12.117-1 makes a
# mapping and one of no access ("---p") for each thread, and all of it works.
# Guessed before: a line of maps that is "rw-p" can be registered, and each thread has one.
# Seen on 30 November 2026.
set -euo pipefail
# shellcheck source=/dev/null
. "$(dirname "$0")/lib/guest.sh"

guest_setup sid 'linux-image-7.3.4+deb13-amd64=7.3.4-1~bpo13+1' \
	'linux-image-6.12.117+deb13-amd64=6.12.117-1' -- \
	libc6=2.43-7 ibverbs-providers=65.0-1.1 libibverbs-dev=65.0-1.1 iproute2=7.3.0-1

guest_cc stacks -libverbs <<'END'
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define THREADS 16
#define STACK (1 << 20)
#define GUARD (64 << 10)

static struct ibv_pd *pd;
static pthread_barrier_t all, end;
static unsigned long at[THREADS];

static const char *registered(char *from, size_t len)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, from, len, IBV_ACCESS_LOCAL_WRITE);

	return mr && !ibv_dereg_mr(mr) ? "yes" : strerror(errno);
}

static const char *locked(char *from, size_t len)
{
	return !mlock(from, len) && !munlock(from, len) ? "yes" : strerror(errno);
}

static void *thread(void *arg)
{
	pthread_attr_t attr;
	void *start;
	size_t size;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &start, &size);
	*(unsigned long *)arg = (unsigned long)start;
	pthread_barrier_wait(&all);
	pthread_barrier_wait(&end);
	return NULL;
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	unsigned long from, to, start = 0, stop = 0;
	int i, held, writable = 0, barred = 0, most = 0;
	pthread_t threads[THREADS];
	pthread_attr_t attr;
	char line[300], rights[8];
	FILE *maps;

	setbuf(stdout, NULL);
	pd = ibv_alloc_pd(ibv_open_device(list[0]));
	pthread_barrier_init(&all, NULL, THREADS + 1);
	pthread_barrier_init(&end, NULL, THREADS + 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_attr_setguardsize(&attr, GUARD);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], &attr, thread, &at[i]))
			return 1;
	pthread_barrier_wait(&all);
	maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof(line), maps)) {
		sscanf(line, "%lx-%lx %7s", &from, &to, rights);
		for (held = i = 0; i < THREADS; i++) {
			held += from <= at[i] && at[i] < to;
			barred += to == at[i] && rights[0] == '-';
		}
		writable += held > 0;
		if (held > most) {
			most = held;
			start = from;
			stop = to;
		}
	}
	printf("%d stacks: %s, %d mappings of no access\n", THREADS,
	       writable == THREADS ? "one to a mapping" :
	       most > THREADS / 4 ? "many in one mapping" : "?", barred);
	printf("register a stack: %s; its mapping: %s\n", registered((char *)at[0], STACK),
	       registered((char *)start, stop - start));
	printf("mlock a stack: %s; its mapping: %s\n", locked((char *)at[0], STACK),
	       locked((char *)start, stop - start));
	pthread_barrier_wait(&end);
	return 0;
}
END
guest_run_each 6.12.117 7.3.4 <<'GUEST'
rxe_on
./stacks
GUEST
guest_same 'the mappings of stacks' <<'END'
6.12.117: 16 stacks: one to a mapping, 16 mappings of no access
6.12.117: register a stack: yes; its mapping: yes
6.12.117: mlock a stack: yes; its mapping: yes
7.3.4: 16 stacks: many in one mapping, 0 mappings of no access
7.3.4: register a stack: yes; its mapping: Bad address
7.3.4: mlock a stack: yes; its mapping: Cannot allocate memory
END

verdict 'glibc 2.43 has stacks and their guards in one mapping on kernel 7.3, which cannot be registered'
