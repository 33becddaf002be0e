// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mpi_bandwidth NAME BYTES REUSE MESSAGES - long messages of an MPI, as the program
 * pipeline sends them
 *
 * A buffer is sent REUSE times by process 0, then unmapped, and a new one is mapped at the
 * same address with other content. Process 1 compares each message with what was to be
 * sent, and answers. The answer is part of the time.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <mpi.h>

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void bytes_of(uint64_t *buf, size_t bytes, unsigned int message)
{
	size_t i;

	for (i = 0; i < bytes / sizeof(*buf); i++)
		buf[i] = i * 0x9e3779b97f4a7c15ull + message;
}

static void map_at(void *at, size_t bytes)
{
	if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS |
		 MAP_FIXED_NOREPLACE, -1, 0) != at)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Return: nanoseconds until the answers were there */
static uint64_t send_all(void *buf, size_t bytes, unsigned int reuse,
			 unsigned int messages)
{
	uint64_t spent = 0, since;
	unsigned int i;

	for (i = 0; i < messages; i++) {
		if (i && i % reuse == 0) {
			munmap(buf, bytes);
			map_at(buf, bytes);
		}
		bytes_of(buf, bytes, i);
		since = now();
		MPI_Send(buf, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		spent += now() - since;
	}
	return spent;
}

/* Return: messages that are wrong */
static unsigned int receive_all(void *buf, size_t bytes, unsigned int messages)
{
	uint64_t *right = malloc(bytes);
	unsigned int i, wrong = 0;

	if (!right)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (i = 0; i < messages; i++) {
		MPI_Recv(buf, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
		bytes_of(right, bytes, i);
		wrong += memcmp(buf, right, bytes) != 0;
	}
	free(right);
	return wrong;
}

int main(int argc, char **argv)
{
	void *buf = (void *)0x600000000000ul;
	unsigned int wrong = 0, all = 0, reuse, messages;
	uint64_t spent = 0;
	size_t bytes;
	int rank, n;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (argc != 5 || n != 2)
		MPI_Abort(MPI_COMM_WORLD, 2);
	bytes = strtoul(argv[2], NULL, 0);
	reuse = strtoul(argv[3], NULL, 0);
	messages = strtoul(argv[4], NULL, 0);
	if (!bytes || bytes % sizeof(uint64_t) || !reuse || !messages)
		MPI_Abort(MPI_COMM_WORLD, 2);
	map_at(buf, bytes);
	if (!rank)
		spent = send_all(buf, bytes, reuse, messages);
	else
		wrong = receive_all(buf, bytes, messages);
	MPI_Reduce(&wrong, &all, 1, MPI_UNSIGNED, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("pipeline: protocol=%s bytes=%zu reuse=%u messages=%u MB/s=%.1f wrong=%u\n",
		       argv[1], bytes, reuse, messages,
		       (double)bytes * messages * 1000 / spent, all);
	MPI_Finalize();
	return !rank && all;
}
