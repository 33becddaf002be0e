// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Schedules of log2(processes) rounds, in which the distance doubles. */
#include "schedule.h"

void nbc_dissemination_barrier(struct nbc_schedule *s)
{
	unsigned int n = s->processes, step;

	for (step = 1; step < n; step *= 2) {
		nbc_send(s, (s->rank + step) % n, NBC_TMP, 0, 0);
		nbc_recv(s, (s->rank + n - step) % n, NBC_TMP, 0, 0);
		nbc_round(s);
	}
}

/*
 * After the round of a step NBC_OUT is the sum of so many ranks, up to the own. In the
 * first one the own input is added to what comes, which saves a copy.
 */
void nbc_dissemination_scan(struct nbc_schedule *s)
{
	size_t len = s->key.len;
	enum nbc_buf to;
	unsigned int step;

	s->tmp = s->rank > 1 ? len : 0;
	if (!s->rank)
		nbc_copy(s, NBC_OUT, 0, NBC_IN, 0, len);
	nbc_round(s);
	for (step = 1; step < s->processes; step *= 2) {
		to = step == 1 ? NBC_OUT : NBC_TMP;
		if (s->rank + step < s->processes)
			nbc_send(s, s->rank + step,
				 step == 1 ? NBC_IN : NBC_OUT, 0, len);
		if (s->rank >= step) {
			nbc_recv(s, s->rank - step, to, 0, len);
			nbc_fold(s, NBC_OUT, 0, step == 1 ? NBC_IN : NBC_TMP,
				 0, len);
		}
		nbc_round(s);
	}
}

/* NBC_TMP has the parts of the ranks from the own one on. */
void nbc_bruck_allgather(struct nbc_schedule *s)
{
	unsigned int n = s->processes, step, count, i;
	size_t len = s->key.len;

	s->tmp = n * len;
	nbc_copy(s, NBC_TMP, 0, NBC_IN, 0, len);
	nbc_round(s);
	for (step = 1; step < n; step *= 2) {
		count = step < n - step ? step : n - step;
		nbc_send(s, (s->rank + n - step) % n, NBC_TMP, 0, count * len);
		nbc_recv(s, (s->rank + step) % n, NBC_TMP, step * len,
			 count * len);
		nbc_round(s);
	}
	for (i = 0; i < n; i++)
		nbc_copy(s, NBC_OUT, (s->rank + i) % n * len, NBC_TMP, i * len,
			 len);
	nbc_round(s);
}

/* The parts with this bit, packed or back. Return: how many there are. */
static unsigned int pack(struct nbc_schedule *s, unsigned int bit,
			 size_t packed, bool back)
{
	size_t len = s->key.len;
	unsigned int i, k = 0;

	for (i = bit; i < s->processes; i++) {
		if (!(i & bit))
			continue;
		if (back)
			nbc_copy(s, NBC_TMP, i * len, NBC_TMP, packed + k * len,
				 len);
		else
			nbc_copy(s, NBC_TMP, packed + k * len, NBC_TMP, i * len,
				 len);
		k++;
	}
	return k;
}

/*
 * Part i of NBC_TMP is still i ranks away from where it belongs, less the bits of i
 * that were done. Behind the parts are those that are sent, and that were received.
 */
void nbc_bruck_alltoall(struct nbc_schedule *s)
{
	unsigned int n = s->processes, bit, i, count;
	size_t len = s->key.len, out = n * len, in = 2 * n * len;

	s->tmp = 3 * n * len;
	for (i = 0; i < n; i++)
		nbc_copy(s, NBC_TMP, i * len, NBC_IN, (s->rank + i) % n * len,
			 len);
	for (bit = 1; bit < n; bit *= 2) {
		count = pack(s, bit, out, false);
		nbc_round(s);
		nbc_send(s, (s->rank + bit) % n, NBC_TMP, out, count * len);
		nbc_recv(s, (s->rank + n - bit) % n, NBC_TMP, in, count * len);
		pack(s, bit, in, true);
	}
	for (i = 0; i < n; i++)
		nbc_copy(s, NBC_OUT, (s->rank + n - i) % n * len, NBC_TMP,
			 i * len, len);
	nbc_round(s);
}

/*
 * Exchange the sums with the rank that differs in one bit. @summed: NBC_OUT has a sum;
 * otherwise the first sum is the input, which saves a copy
 */
static void doubling(struct nbc_schedule *s, unsigned int rank,
		     unsigned int power, unsigned int extra, bool summed)
{
	unsigned int bit, peer;
	size_t len = s->key.len;

	for (bit = 1; bit < power; bit *= 2, summed = true) {
		peer = rank ^ bit;
		peer = peer < extra ? 2 * peer + 1 : peer + extra;
		nbc_send(s, peer, summed ? NBC_OUT : NBC_IN, 0, len);
		nbc_recv(s, peer, summed ? NBC_TMP : NBC_OUT, 0, len);
		nbc_fold(s, NBC_OUT, 0, summed ? NBC_TMP : NBC_IN, 0, len);
		nbc_round(s);
	}
}

/*
 * Where the processes are no power of two, each even rank below 2 * extra leaves
 * its part to the next one, which gives it the result in the end.
 */
void nbc_doubling_allreduce(struct nbc_schedule *s)
{
	unsigned int power = 1, extra;
	size_t len = s->key.len;
	bool paired;

	while (2 * power <= s->processes)
		power *= 2;
	extra = s->processes - power;
	paired = s->rank < 2 * extra;
	s->tmp = len;
	if (paired && s->rank % 2 == 0) {
		nbc_send(s, s->rank + 1, NBC_IN, 0, len);
		nbc_recv(s, s->rank + 1, NBC_OUT, 0, len);
		nbc_round(s);
		return;
	}
	if (paired) {
		nbc_recv(s, s->rank - 1, NBC_OUT, 0, len);
		nbc_fold(s, NBC_OUT, 0, NBC_IN, 0, len);
	} else if (power == 1) {
		nbc_copy(s, NBC_OUT, 0, NBC_IN, 0, len);
	}
	nbc_round(s);
	doubling(s, paired ? s->rank / 2 : s->rank - extra, power, extra,
		 paired);
	if (paired) {
		nbc_send(s, s->rank - 1, NBC_OUT, 0, len);
		nbc_round(s);
	}
}
