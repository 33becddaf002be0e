#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Debian's kernel 7.3.4-1~bpo13+1 (amd64), rdma_rxe, rdma-core 65.0-1.1: RLIMIT_MEMLOCK is no
# budget of a process. mlock() compares it with VmLck, registering memory with VmPin, and
# io_uring with a count of the user that no file shows. So with a limit of 8 MiB a process has 22
# MiB locked or pinned. What io_uring pins is added to VmPin, though io_uring does not ask it: the
# order decides. RDMA first and io_uring then: both are served. io_uring first: the RDMA
# registration is refused (ENOMEM), though nothing else is registered. The same memory
# registered twice counts twice, and munmap() gives nothing of VmPin back. Seen on 30 November
# 2026:
#
#    4 MiB registered: yes; VmLck 0 MiB, VmPin 4 MiB
#    the same 4 MiB registered: yes; VmLck 0 MiB, VmPin 8 MiB
#    mlock of 8 other MiB: yes; VmLck 8 MiB, VmPin 8 MiB
#    io_uring buffers of 6 MiB: yes; VmLck 8 MiB, VmPin 14 MiB
#    a new process, io_uring buffers of 6 MiB: yes; VmLck 0 MiB, VmPin 6 MiB
#    4 MiB registered: Cannot allocate memory; VmLck 0 MiB, VmPin 6 MiB
set -euo pipefail
# shellcheck source=/dev/null
. "$(dirname "$0")/lib/guest.sh"

guest_setup sid 'linux-image-7.3.4+deb13-amd64=7.3.4-1~bpo13+1' -- \
	ibverbs-providers=65.0-1.1 libibverbs-dev=65.0-1.1 iproute2=7.3.0-1

guest_cc limits -libverbs <<'END'
#include <errno.h>
#include <infiniband/verbs.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MB (1 << 20)

static void *memory(int mb)
{
	return mmap(NULL, mb * MB, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
}

static void said(const char *what, int error)
{
	int locked = -1, pinned = -1;
	char line[128];
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "VmLck: %d", &locked);
		sscanf(line, "VmPin: %d", &pinned);
	}
	fclose(f);
	printf("%s: %s; VmLck %d MiB, VmPin %d MiB\n", what, error ? strerror(error) : "yes",
	       locked >> 10, pinned >> 10);
}

static void ring(const char *what, void *at, int mb)
{
	struct io_uring_params params = { 0 };
	struct iovec iov = { at, mb * MB };
	int fd = syscall(SYS_io_uring_setup, 4, &params);

	said(what, syscall(SYS_io_uring_register, fd, IORING_REGISTER_BUFFERS, &iov, 1) ?
	     errno : 0);
}

static struct ibv_pd *pd_open(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	return ibv_alloc_pd(ibv_open_device(list[0]));
}

static void reg(const char *what, struct ibv_pd *pd, void *at, int mb)
{
	said(what, ibv_reg_mr(pd, at, mb * MB, IBV_ACCESS_LOCAL_WRITE) ? 0 : errno);
}

int main(void)
{
	void *a = memory(4), *b = memory(8), *c = memory(6);
	struct ibv_pd *pd = pd_open();

	setbuf(stdout, NULL);
	reg("4 MiB registered", pd, a, 4);
	reg("the same 4 MiB registered", pd, a, 4);
	reg("the same 4 MiB registered", pd, a, 4);
	said("mlock of 8 other MiB", mlock(b, 8 * MB) ? errno : 0);
	said("mlock of 1 other MiB", mlock(c, MB) ? errno : 0);
	ring("io_uring buffers of 6 MiB", c, 6);
	munmap(a, 4 * MB);
	munmap(b, 8 * MB);
	said("munmap of what was registered and locked", 0);
	return 0;
}
END

# shellcheck disable=SC2154 # guest.sh sets guest_share
guest_cc ring_first -libverbs <<END
$(sed '/^int main/,$d' "$guest_share/limits.c")
int main(void)
{
	struct ibv_pd *pd = pd_open();

	setbuf(stdout, NULL);
	ring("a new process, io_uring buffers of 6 MiB", memory(6), 6);
	reg("4 MiB registered", pd, memory(4), 4);
	reg("2 MiB registered", pd, memory(2), 2);
	return 0;
}
END

guest_run '7.3.4+deb13-amd64' <<'GUEST'
rxe_on
ulimit -l 8192
for program in limits ring_first; do
	timeout 60 setpriv --reuid 1000 --regid 1000 --clear-groups "./$program" || echo "exit status $?"
done
GUEST
guest_same 'what is served under a limit of 8 MiB' <<'END'
4 MiB registered: yes; VmLck 0 MiB, VmPin 4 MiB
the same 4 MiB registered: yes; VmLck 0 MiB, VmPin 8 MiB
the same 4 MiB registered: Cannot allocate memory; VmLck 0 MiB, VmPin 8 MiB
mlock of 8 other MiB: yes; VmLck 8 MiB, VmPin 8 MiB
mlock of 1 other MiB: Cannot allocate memory; VmLck 8 MiB, VmPin 8 MiB
io_uring buffers of 6 MiB: yes; VmLck 8 MiB, VmPin 14 MiB
munmap of what was registered and locked: yes; VmLck 0 MiB, VmPin 14 MiB
a new process, io_uring buffers of 6 MiB: yes; VmLck 0 MiB, VmPin 6 MiB
4 MiB registered: Cannot allocate memory; VmLck 0 MiB, VmPin 6 MiB
2 MiB registered: yes; VmLck 0 MiB, VmPin 8 MiB
END

verdict 'mlock, RDMA and io_uring each have all of RLIMIT_MEMLOCK, but what io_uring has first is missing for RDMA'
