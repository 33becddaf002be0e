// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Schedules of one round, in which each byte moves once. */
#include "schedule.h"

void nbc_direct_scatter(struct nbc_schedule *s)
{
	unsigned int v = nbc_virtual(s), i;
	size_t len = s->key.len;

	if (v)
		nbc_recv(s, s->key.root, NBC_OUT, 0, len);
	for (i = 1; !v && i < s->processes; i++)
		nbc_send(s, nbc_real(s, i), NBC_IN, nbc_real(s, i) * len, len);
	if (!v)
		nbc_copy(s, NBC_OUT, 0, NBC_IN, s->rank * len, len);
	nbc_round(s);
}

void nbc_direct_gather(struct nbc_schedule *s)
{
	unsigned int v = nbc_virtual(s), i;
	size_t len = s->key.len;

	if (v)
		nbc_send(s, s->key.root, NBC_IN, 0, len);
	for (i = 1; !v && i < s->processes; i++)
		nbc_recv(s, nbc_real(s, i), NBC_OUT, nbc_real(s, i) * len, len);
	if (!v)
		nbc_copy(s, NBC_OUT, s->rank * len, NBC_IN, 0, len);
	nbc_round(s);
}

/* The vector of the root: lengths, then places. */
void nbc_direct_gatherv(struct nbc_schedule *s)
{
	const size_t *lens = s->key.vec, *at = lens + s->processes;
	unsigned int i, peer;

	if (nbc_virtual(s)) {
		nbc_send(s, s->key.root, NBC_IN, 0, s->key.len);
		nbc_round(s);
		return;
	}
	for (i = 1; i < s->processes; i++) {
		peer = nbc_real(s, i);
		nbc_recv(s, peer, NBC_OUT, at[peer], lens[peer]);
	}
	nbc_copy(s, NBC_OUT, at[s->rank], NBC_IN, 0, s->key.len);
	nbc_round(s);
}

void nbc_direct_alltoall(struct nbc_schedule *s)
{
	unsigned int n = s->processes, i, peer;
	size_t len = s->key.len;

	for (i = 1; i < n; i++) {
		peer = (s->rank + n - i) % n;
		nbc_recv(s, peer, NBC_OUT, peer * len, len);
		peer = (s->rank + i) % n;
		nbc_send(s, peer, NBC_IN, peer * len, len);
	}
	nbc_copy(s, NBC_OUT, s->rank * len, NBC_IN, s->rank * len, len);
	nbc_round(s);
}

void nbc_direct_alltoallv(struct nbc_schedule *s)
{
	unsigned int n = s->processes, i, peer;
	const size_t *vec[NBC_VECS];

	for (i = 0; i < NBC_VECS; i++)
		vec[i] = s->key.vec + i * n;
	for (i = 1; i < n; i++) {
		peer = (s->rank + n - i) % n;
		nbc_recv(s, peer, NBC_OUT, vec[NBC_OUT_AT][peer],
			 vec[NBC_OUT_LENS][peer]);
		peer = (s->rank + i) % n;
		nbc_send(s, peer, NBC_IN, vec[NBC_IN_AT][peer],
			 vec[NBC_IN_LENS][peer]);
	}
	nbc_copy(s, NBC_OUT, vec[NBC_OUT_AT][s->rank], NBC_IN,
		 vec[NBC_IN_AT][s->rank], vec[NBC_IN_LENS][s->rank]);
	nbc_round(s);
}
