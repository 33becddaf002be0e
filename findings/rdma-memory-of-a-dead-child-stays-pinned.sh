#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Debian's kernels 6.12.117-1 and 7.3.4-1~bpo13+1 (amd64), rdma_rxe, rdma-core 65.0-1.1,
# iproute2 7.3.0-1: a child registers memory of its own with the context that it has inherited,
# and ends. The registration belongs to the context, so the pages stay pinned until the parent
# closes it: 192 MiB that are in no process's VmPin (the parent's says 0), in no process's RSS,
# and that "rdma resource show mr" shows without a process. Guessed before: memory of a process
# is free when it has ended, or is counted for the parent. Seen on 30 November 2026:
#
#    7.3.4: child: VmPin 192 MiB, of the machine 192 MiB, dev rxe0 mrlen 201326592 comm child
#    7.3.4: parent, child has ended: VmPin 0 MiB, of the machine 192 MiB, dev rxe0 mrlen 201326592
#    7.3.4: parent, closed: VmPin 0 MiB, of the machine 0 MiB,
set -euo pipefail
# shellcheck source=/dev/null
. "$(dirname "$0")/lib/guest.sh"

guest_setup sid 'linux-image-7.3.4+deb13-amd64=7.3.4-1~bpo13+1' \
	'linux-image-6.12.117+deb13-amd64=6.12.117-1' -- \
	ibverbs-providers=65.0-1.1 libibverbs-dev=65.0-1.1 iproute2=7.3.0-1

guest_cc child -libverbs <<'END'
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MB (1L << 20)
#define LEN (192 * MB)

static long before;

/* The value of a line "NAME   VALUE kB", in MiB. */
static long field(const char *file, const char *name)
{
	char line[256];
	long kb = -1024;
	FILE *f = fopen(file, "r");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			kb = strtol(line + strlen(name), NULL, 10);
	fclose(f);
	return kb / 1024;
}

static void now(const char *who)
{
	long gone = before - field("/proc/meminfo", "MemAvailable:");

	printf("%s: VmPin %ld MiB, of the machine %d MiB, ", who,
	       field("/proc/self/status", "VmPin:"), gone > 128 ? 192 : 0);
	fflush(stdout);
	if (system("rdma resource show mr | sed 's/\\(pid\\|pdn\\|mrn\\|rkey\\|lkey\\) [0-9a-fx]* //g' | tr '\\n' ' '; echo"))
		printf("no rdma\n");
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = ibv_open_device(list[0]);
	struct ibv_pd *pd = ibv_alloc_pd(ctx);

	setbuf(stdout, NULL);
	before = field("/proc/meminfo", "MemAvailable:");
	now("parent");
	if (!fork()) {
		void *p = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (!ibv_reg_mr(pd, p, LEN, IBV_ACCESS_LOCAL_WRITE))
			printf("child: %s\n", strerror(errno));
		now("child");
		_exit(0);
	}
	wait(NULL);
	sleep(1);
	now("parent, child has ended");
	ibv_dealloc_pd(pd);
	ibv_close_device(ctx);
	sleep(1);
	now("parent, closed");
	return 0;
}
END

guest_run_each 6.12.117 7.3.4 <<'GUEST'
rxe_on
timeout 100 ./child
GUEST
guest_same 'what is pinned, and who is said to have pinned it' <<'END'
6.12.117: parent: VmPin 0 MiB, of the machine 0 MiB,
6.12.117: child: VmPin 192 MiB, of the machine 192 MiB, dev rxe0 mrlen 201326592 comm child
6.12.117: parent, child has ended: VmPin 0 MiB, of the machine 192 MiB, dev rxe0 mrlen 201326592
6.12.117: parent, closed: VmPin 0 MiB, of the machine 0 MiB,
7.3.4: parent: VmPin 0 MiB, of the machine 0 MiB,
7.3.4: child: VmPin 192 MiB, of the machine 192 MiB, dev rxe0 mrlen 201326592 comm child
7.3.4: parent, child has ended: VmPin 0 MiB, of the machine 192 MiB, dev rxe0 mrlen 201326592
7.3.4: parent, closed: VmPin 0 MiB, of the machine 0 MiB,
END

verdict 'memory that a child has registered with an inherited context stays pinned when it has ended, in no VmPin'
