// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mpi_remapped - does what an MPI sends arrive where buffers are unmapped and mapped
 * anew between two messages?
 *
 * Two ranks send each other messages from the same addresses and to the same
 * addresses. Before each message, sender and receiver change the memory there in one
 * of several ways. Prints "mpi_remapped: CHANGE: stale S of N", where S messages did
 * not arrive as they were sent. With "hooks-off" as argument, UCX is told that
 * its events come from outside, and none come.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <mpi.h>

#define LEN	(64 * 4096ul)
#define WORDS	((int)(LEN / sizeof(uint32_t)))
#define FIXED	((char *)0x610000000000ul)
#define ROUNDS	6
#define VM_UNMAPPED (1 << 17)	/* UCM_EVENT_VM_UNMAPPED */

static struct {
	int ask[2], answer[2];
	int fd;
} other;

static int rank;

static void want(int right, const char *what)
{
	if (right)
		return;
	perror(what);
	_exit(1);
}

static void map(char *addr, int fd)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;

	want((char *)syscall(SYS_mmap, addr, LEN, PROT_READ | PROT_WRITE,
			     flags | MAP_FIXED, fd, 0ul) == addr, "mmap");
}

static void change_munmap(char *addr)
{
	want(!munmap(addr, LEN), "munmap");
	map(addr, -1);
}

static void change_munmap_raw(char *addr)
{
	want(!syscall(SYS_munmap, addr, LEN), "munmap");
	map(addr, -1);
}

static void change_mapped_over(char *addr)
{
	map(addr, -1);
}

static void change_dontneed_raw(char *addr)
{
	want(!syscall(SYS_madvise, addr, LEN, MADV_DONTNEED), "madvise");
}

static void change_truncate(char *addr)
{
	char token = 0;

	(void)addr;
	want(write(other.ask[1], &token, 1) == 1, "the other process");
	want(read(other.answer[0], &token, 1) == 1, "the other process");
}

static const struct change {
	const char *name;
	void (*make)(char *addr);
	int shared;
} changes[] = {
	{ "munmap()", change_munmap, 0 },
	{ "munmap, raw system call", change_munmap_raw, 0 },
	{ "mmap MAP_FIXED over it, raw", change_mapped_over, 0 },
	{ "MADV_DONTNEED, raw system call", change_dontneed_raw, 0 },
	{ "ftruncate by another process", change_truncate, 1 },
};

#define CHANGES (sizeof(changes) / sizeof(*changes))

static void other_loop(void)
{
	char token;

	while (read(other.ask[0], &token, 1) == 1) {
		if (ftruncate(other.fd, 0) || ftruncate(other.fd, LEN) ||
		    write(other.answer[1], &token, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/* Before MPI is there, so that the child has nothing of it. */
static void start_other(void)
{
	pid_t pid;

	other.fd = memfd_create("mpi_remapped", MFD_CLOEXEC);
	want(other.fd >= 0 && !ftruncate(other.fd, LEN), "memfd");
	want(!pipe2(other.ask, O_CLOEXEC) && !pipe2(other.answer, O_CLOEXEC),
	     "pipe");
	pid = fork();
	want(pid >= 0, "fork");
	if (!pid) {
		close(other.ask[1]);
		other_loop();
	}
	close(other.ask[0]);
}

static uint32_t value(uint32_t stamp, int i)
{
	return stamp * 2654435761u + i;
}

/* One message from rank @from; returns 1 on the receiver if it is not right. */
static int message(uint32_t *at, int from, uint32_t stamp)
{
	int i;

	if (rank == from) {
		for (i = 0; i < WORDS; i++)
			at[i] = value(stamp, i);
		MPI_Send(at, WORDS, MPI_UINT32_T, !from, 1, MPI_COMM_WORLD);
		return 0;
	}
	memset(at, 0, LEN);
	MPI_Recv(at, WORDS, MPI_UINT32_T, from, 1, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	for (i = 0; i < WORDS; i++) {
		if (at[i] != value(stamp, i))
			return 1;
	}
	return 0;
}

static void remapped_run(const struct change *change, char *addr)
{
	int i, from, stale = 0, all = 0;

	map(addr, change->shared ? other.fd : -1);
	for (i = 0; i < ROUNDS; i++) {
		for (from = 0; from < 2; from++) {
			if (i)
				change->make(addr);
			stale += message((uint32_t *)addr, from,
					 2 * i + from + 1);
		}
	}
	syscall(SYS_munmap, addr, LEN);
	MPI_Reduce(&stale, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("mpi_remapped: %s: stale %d of %d\n", change->name, all,
		       2 * ROUNDS);
}

static void turn_hooks_off(void)
{
	void *ucm = dlopen("libucm.so.0", RTLD_NOW | RTLD_GLOBAL);
	void (*external)(int events) = NULL;

	if (ucm)
		external = dlsym(ucm, "ucm_set_external_event");
	want(!!external, "libucm");
	external(VM_UNMAPPED);
}

int main(int argc, char **argv)
{
	size_t i;

	start_other();
	if (argc > 1 && !strcmp(argv[1], "hooks-off"))
		turn_hooks_off();
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (i = 0; i < CHANGES; i++)
		remapped_run(&changes[i], FIXED + i * 4 * LEN);
	MPI_Finalize();
	return 0;
}
