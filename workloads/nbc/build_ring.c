// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Schedules in which each process has two neighbours: rings and pipelines. */
#include "schedule.h"

void nbc_ring_allgather(struct nbc_schedule *s)
{
	unsigned int n = s->processes, i;
	size_t len = s->key.len;

	nbc_copy(s, NBC_OUT, s->rank * len, NBC_IN, 0, len);
	nbc_round(s);
	for (i = 0; i + 1 < n; i++) {
		nbc_send(s, (s->rank + 1) % n, NBC_OUT,
			 (s->rank + n - i) % n * len, len);
		nbc_recv(s, (s->rank + n - 1) % n, NBC_OUT,
			 (s->rank + n - 1 - i) % n * len, len);
		nbc_round(s);
	}
}

/* Where chunk i of the elements begins, a chunk for each process. */
static size_t chunk(const struct nbc_schedule *s, unsigned int i)
{
	size_t size = nbc_size(s->key.type);

	return s->key.len / size * i / s->processes * size;
}

static void send_chunk(struct nbc_schedule *s, enum nbc_buf buf,
		       unsigned int i)
{
	i %= s->processes;
	nbc_send(s, (s->rank + 1) % s->processes, buf, chunk(s, i),
		 chunk(s, i + 1) - chunk(s, i));
}

/*
 * What comes goes to NBC_OUT, and the own part is added there, so nothing is copied.
 * The last chunk that a process sums up is that of the rank after it.
 */
void nbc_ring_allreduce(struct nbc_schedule *s)
{
	unsigned int n = s->processes, left = (s->rank + n - 1) % n, i, c;
	size_t at, len;

	if (n == 1)
		nbc_copy(s, NBC_OUT, 0, NBC_IN, 0, s->key.len);
	nbc_round(s);
	for (i = 0; i + 1 < 2 * n - 1; i++) {
		send_chunk(s, i ? NBC_OUT : NBC_IN, s->rank + 2 * n - i);
		c = (s->rank + 2 * n - i - 1) % n;
		at = chunk(s, c);
		len = chunk(s, c + 1) - at;
		nbc_recv(s, left, NBC_OUT, at, len);
		if (i + 1 < n)
			nbc_fold(s, NBC_OUT, at, NBC_IN, at, len);
		nbc_round(s);
	}
}

/* Segment k of a pipeline: where it begins. */
static size_t segment(const struct nbc_schedule *s, unsigned int k)
{
	size_t at = k * s->segment;

	return at < s->key.len ? at : s->key.len;
}

static unsigned int segments(const struct nbc_schedule *s)
{
	return (s->key.len + s->segment - 1) / s->segment;
}

static size_t segment_len(const struct nbc_schedule *s, unsigned int k)
{
	return segment(s, k + 1) - segment(s, k);
}

/* From the root on: a process passes a segment on while the next one comes. */
void nbc_pipe_bcast(struct nbc_schedule *s)
{
	unsigned int v = nbc_virtual(s), n = segments(s), k;
	bool first = !v, last = v + 1 == s->processes;

	for (k = 0; k <= n; k++) {
		if (!first && k < n)
			nbc_recv(s, nbc_real(s, v - 1), NBC_OUT, segment(s, k),
				 segment_len(s, k));
		if (!last && (first ? k < n : k > 0))
			nbc_send(s, nbc_real(s, v + 1), NBC_OUT,
				 segment(s, k - !first),
				 segment_len(s, k - !first));
		/* Nothing of the ends depends on what came before. */
		if (!first && !last)
			nbc_round(s);
	}
	nbc_round(s);
}

/*
 * Towards the root. The sum of the ranks from v on goes to v - 1: the last one sends
 * its input, and only the root has NBC_OUT.
 */
void nbc_pipe_reduce(struct nbc_schedule *s)
{
	unsigned int v = nbc_virtual(s), n = segments(s), k, out;
	bool first = !v, last = v + 1 == s->processes;
	enum nbc_buf sum = first ? NBC_OUT : last ? NBC_IN : NBC_TMP;

	s->tmp = sum == NBC_TMP ? s->key.len : 0;
	if (first && last)
		nbc_copy(s, sum, 0, NBC_IN, 0, s->key.len);
	nbc_round(s);
	for (k = 0; k <= n; k++) {
		out = k - !last;
		if (!last && k < n)
			nbc_recv(s, nbc_real(s, v + 1), sum, segment(s, k),
				 segment_len(s, k));
		if (!first && out < n)
			nbc_send(s, nbc_real(s, v - 1), sum, segment(s, out),
				 segment_len(s, out));
		if (!last && k < n)
			nbc_fold(s, sum, segment(s, k), NBC_IN, segment(s, k),
				 segment_len(s, k));
		if (!last)
			nbc_round(s);
	}
	nbc_round(s);
}
