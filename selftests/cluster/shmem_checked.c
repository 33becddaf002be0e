// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * OpenSHMEM between processes: each puts to and gets from its neighbour, adds to a
 * counter of the first one, and takes part in a sum. Every word is compared. What came
 * with OpenSHMEM 1.5 is not used: Open MPI 5.0 declares it, and does not have it.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS 20000	/* more than one message of the transport */
#define ROUNDS 20

static long sent[WORDS], sum_in, sum_out, counter;
static long work[SHMEM_REDUCE_MIN_WRKDATA_SIZE], sync_words[SHMEM_REDUCE_SYNC_SIZE];

static long word_of(int pe, int round, int i)
{
	return pe * 1000000000L + round * 1000000L + i;
}

static void shmem_failed(const char *what)
{
	printf("openshmem: wrong: %s\n", what);
	fflush(stdout);
	shmem_global_exit(1);
}

static void shmem_round(int me, int n, int round, long *got, long *back)
{
	int to = (me + 1) % n, from = (me + n - 1) % n, i;

	for (i = 0; i < WORDS; i++)
		sent[i] = word_of(me, round, i);
	shmem_barrier_all();
	shmem_long_put(got, sent, WORDS, to);
	shmem_barrier_all();
	for (i = 0; i < WORDS; i++)
		if (got[i] != word_of(from, round, i))
			shmem_failed("put");
	shmem_long_get(back, sent, WORDS, to);
	for (i = 0; i < WORDS; i++)
		if (back[i] != word_of(to, round, i))
			shmem_failed("get");
	shmem_long_atomic_add(&counter, me + 1, 0);
	shmem_barrier_all();
}

int main(void)
{
	long *got, *back, before;
	int me, n, round;

	shmem_init();
	me = shmem_my_pe();
	n = shmem_n_pes();
	got = shmem_malloc(WORDS * sizeof(*got));
	back = malloc(WORDS * sizeof(*back));
	if (!got || !back || n < 2)
		shmem_failed("no memory, or alone");
	for (round = 0; round < ROUNDS; round++)
		shmem_round(me, n, round, got, back);
	before = shmem_long_atomic_fetch(&counter, 0);
	if (before != (long)ROUNDS * n * (n + 1) / 2)
		shmem_failed("atomic add");
	sum_in = me + 1;
	for (round = 0; round < SHMEM_REDUCE_SYNC_SIZE; round++)
		sync_words[round] = SHMEM_SYNC_VALUE;
	shmem_barrier_all();
	shmem_long_sum_to_all(&sum_out, &sum_in, 1, 0, 0, n, work, sync_words);
	if (sum_out != (long)n * (n + 1) / 2)
		shmem_failed("sum");
	shmem_barrier_all();
	if (!me)
		printf("openshmem: right\n");
	free(back);
	shmem_free(got);
	shmem_finalize();
	return 0;
}
