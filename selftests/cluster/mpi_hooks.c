// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A process of Open MPI says which functions of libc were patched when MPI_Init() was done:
 * those whose first bytes are not the ones of the file. Then each process sends to the next
 * one, from memory that is unmapped and mapped anew between two messages, and compares.
 *
 *	mpi_hooks [-c]		-c: one byte that is sent is wrong
 */
#include <mpi.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUNDS 20
#define LENGTH (1 << 20)

static const char *const names[] = {
	"munmap", "mmap", "mremap", "madvise", "shmat", "shmdt", "brk", "sbrk",
};

static void die(const char *what)
{
	fprintf(stderr, "mpi_hooks: %s\n", what);
	exit(2);
}

/* Does the file of the library have something else there than is at this address? */
static bool is_patched(const void *code)
{
	unsigned long from, to, offset, at = (unsigned long)code;
	char line[512], path[256], bytes[16];
	FILE *maps = fopen("/proc/self/maps", "r");
	int fd = -1;

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &from, &to, &offset,
			   path) != 4 || at < from || at >= to)
			continue;
		fd = open(path, O_RDONLY);
		break;
	}
	if (fd < 0 || pread(fd, bytes, sizeof(bytes), at - from + offset) != sizeof(bytes))
		die("the file of libc cannot be read");
	close(fd);
	fclose(maps);
	return memcmp(bytes, code, sizeof(bytes));
}

static void say_patched(void)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	char said[256] = "";
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const void *code = libc ? dlsym(libc, names[i]) : NULL;

		if (!code)
			die("libc lacks a function");
		if (is_patched(code)) {
			strcat(said, " ");
			strcat(said, names[i]);
		}
	}
	printf("mpi_hooks: patched:%s\n", *said ? said : " none");
	printf("mpi_hooks: UCX is %s\n",
	       dlopen("libucp.so.0", RTLD_NOW | RTLD_NOLOAD) ? "loaded" : "not loaded");
}

static char *mapped(void *where)
{
	char *memory = mmap(where, LENGTH, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		die("no memory");
	return memory;
}

/* Returns how many messages were wrong. */
static int exchange(int rank, int ranks, bool corrupt)
{
	char *from = mapped(NULL), *to = mapped(NULL);
	int round, wrong = 0;

	for (round = 0; round < ROUNDS; round++) {
		munmap(from, LENGTH);
		from = mapped(from);
		memset(from, rank * ROUNDS + round, LENGTH);
		from[LENGTH / 2] ^= corrupt && !rank && !round;
		MPI_Sendrecv(from, LENGTH, MPI_CHAR, (rank + 1) % ranks, 0, to, LENGTH,
			     MPI_CHAR, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		wrong += to[0] != (char)((rank + ranks - 1) % ranks * ROUNDS + round) ||
			 memcmp(to, to + 1, LENGTH - 1);
	}
	return wrong;
}

int main(int argc, char **argv)
{
	int rank, ranks, wrong, all;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (!rank)
		say_patched();
	wrong = exchange(rank, ranks, argc > 1);
	MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("mpi_hooks: wrong %d of %d\n", all, ranks * ROUNDS);
	MPI_Finalize();
	return 0;
}
