// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mpi_checked - does all that an MPI moves between its processes arrive?
 *
 * Point-to-point messages, collectives, one-sided communication, messages by
 * several threads, and messages after a fork. Each value that arrives is compared.
 * Prints "mpi_checked: PART: right" for each part; MPI_Abort() at the first value
 * that is not. With "corrupt" as argument, rank 1 sends one wrong value.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mpi.h>

#define MOST	(256 * 1024)
#define THREADS	3

static const int counts[] = { 1, 50, 2000, 16384, MOST };

#define COUNTS (sizeof(counts) / sizeof(*counts))

static int rank, size;
static bool corrupt;

static void fail(const char *part)
{
	fprintf(stderr, "mpi_checked: rank %d: %s: wrong data\n", rank, part);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void right(const char *part)
{
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("mpi_checked: %s: right\n", part);
}

static uint32_t value(int from, int stamp, int i)
{
	return from * 1000003u + stamp * 7919u + i * 2654435761u;
}

static void fill(uint32_t *at, int count, int stamp)
{
	int i;

	for (i = 0; i < count; i++)
		at[i] = value(rank, stamp, i);
}

static void check(const uint32_t *at, int count, int from, int stamp,
		  const char *part)
{
	int i;

	for (i = 0; i < count; i++) {
		if (at[i] != value(from, stamp, i))
			fail(part);
	}
}

static uint32_t *memory(void)
{
	uint32_t *at = malloc(MOST * sizeof(*at));

	if (!at)
		MPI_Abort(MPI_COMM_WORLD, 1);
	return at;
}

/* Each rank sends to its right neighbour and receives from its left one. */
static void ring(int tag, const char *part)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size;
	uint32_t *out = memory(), *in = memory();
	unsigned int i;

	for (i = 0; i < COUNTS; i++) {
		fill(out, counts[i], i + tag);
		if (corrupt && rank == 1)
			out[counts[i] / 2]++;
		memset(in, 0, counts[i] * sizeof(*in));
		MPI_Sendrecv(out, counts[i], MPI_UINT32_T, to, tag, in,
			     counts[i], MPI_UINT32_T, from, tag, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		check(in, counts[i], from, i + tag, part);
	}
	free(out);
	free(in);
}

static void collectives(void)
{
	uint32_t *data = memory(), *all;
	int i, sum, root;

	for (root = 0; root < size; root++) {
		if (rank == root)
			fill(data, MOST, 50);
		MPI_Bcast(data, MOST, MPI_UINT32_T, root, MPI_COMM_WORLD);
		check(data, MOST, root, 50, "broadcast");
	}
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (sum != size * (size - 1) / 2)
		fail("allreduce");
	all = malloc(4096ul * size * sizeof(*all));
	fill(data, 4096, 51);
	MPI_Allgather(data, 4096, MPI_UINT32_T, all, 4096, MPI_UINT32_T,
		      MPI_COMM_WORLD);
	for (i = 0; i < size; i++)
		check(all + 4096 * i, 4096, i, 51, "allgather");
	free(all);
	free(data);
}

static void one_sided(void)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size;
	uint32_t *out = memory(), *in = memory(), *window;
	uint32_t one = 1;
	MPI_Win win;
	int i;

	MPI_Win_allocate((MOST + 1) * sizeof(*window), sizeof(*window),
			 MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
	window[MOST] = 0;
	MPI_Win_fence(0, win);
	fill(out, MOST, 60);
	MPI_Put(out, MOST, MPI_UINT32_T, to, 0, MOST, MPI_UINT32_T, win);
	for (i = 0; i < 10; i++)
		MPI_Accumulate(&one, 1, MPI_UINT32_T, 0, MOST, 1, MPI_UINT32_T,
			       MPI_SUM, win);
	MPI_Win_fence(0, win);
	check(window, MOST, from, 60, "put");
	if (!rank && window[MOST] != 10u * size)
		fail("accumulate");
	MPI_Win_fence(0, win);
	MPI_Get(in, MOST, MPI_UINT32_T, to, 0, MOST, MPI_UINT32_T, win);
	MPI_Win_fence(0, win);
	check(in, MOST, rank, 60, "get");
	MPI_Win_lock_all(0, win);
	MPI_Put(out, 100, MPI_UINT32_T, to, 0, 100, MPI_UINT32_T, win);
	MPI_Win_flush(to, win);
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_free(&win);
	free(out);
	free(in);
}

static void *one_thread(void *arg)
{
	ring(100 * (int)(intptr_t)arg, "threads");
	return NULL;
}

static void threads(void)
{
	pthread_t thread[THREADS];
	intptr_t i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, one_thread, (void *)(i + 2));
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void after_fork(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		fail("fork");
	ring(9, "after a fork");
}

int main(int argc, char **argv)
{
	int provided;

	corrupt = argc > 1 && !strcmp(argv[1], "corrupt");
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (size < 2)
		MPI_Abort(MPI_COMM_WORLD, 1);
	ring(1, "messages");
	right("messages");
	collectives();
	right("collectives");
	one_sided();
	right("one-sided");
	if (provided == MPI_THREAD_MULTIPLE) {
		threads();
		right("threads");
	}
	after_fork();
	right("after a fork");
	MPI_Finalize();
	return 0;
}
