// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Binomial trees. With ranks counted from the root on, the parent of process v is v
 * without its lowest bit b, and v has the b ranks from v on below it.
 */
#include "schedule.h"

/* The lowest bit of v; of the root, the first that no rank has. */
static unsigned int low_bit(const struct nbc_schedule *s, unsigned int v)
{
	unsigned int bit = 1;

	while (bit < s->processes && !(v & bit))
		bit *= 2;
	return bit;
}

/* Bytes of the @bit ranks from v on, as far as there are so many. */
static size_t below(const struct nbc_schedule *s, unsigned int v,
		    unsigned int bit)
{
	unsigned int n = s->processes - v;

	return (n < bit ? n : bit) * s->key.len;
}

void nbc_tree_bcast(struct nbc_schedule *s)
{
	unsigned int v = nbc_virtual(s), bit = low_bit(s, v);

	if (v) {
		nbc_recv(s, nbc_real(s, v - bit), NBC_OUT, 0, s->key.len);
		nbc_round(s);
	}
	for (bit /= 2; bit; bit /= 2)
		if (v + bit < s->processes)
			nbc_send(s, nbc_real(s, v + bit), NBC_OUT, 0,
				 s->key.len);
	nbc_round(s);
}

/* Parts of all below come to NBC_TMP, in the order of the ranks from v on. */
void nbc_tree_scatter(struct nbc_schedule *s)
{
	unsigned int v = nbc_virtual(s), bit = low_bit(s, v), i;
	size_t len = s->key.len;

	s->tmp = below(s, v, bit);
	if (v)
		nbc_recv(s, nbc_real(s, v - bit), NBC_TMP, 0, s->tmp);
	for (i = 0; !v && i < s->processes; i++)
		nbc_copy(s, NBC_TMP, i * len, NBC_IN, nbc_real(s, i) * len,
			 len);
	nbc_round(s);
	for (bit /= 2; bit; bit /= 2)
		if (v + bit < s->processes)
			nbc_send(s, nbc_real(s, v + bit), NBC_TMP, bit * len,
				 below(s, v + bit, bit));
	nbc_copy(s, NBC_OUT, 0, NBC_TMP, 0, len);
	nbc_round(s);
}

void nbc_tree_gather(struct nbc_schedule *s)
{
	unsigned int v = nbc_virtual(s), top = low_bit(s, v), bit, i;
	size_t len = s->key.len;

	s->tmp = below(s, v, top);
	for (bit = 1; bit < top; bit *= 2)
		if (v + bit < s->processes)
			nbc_recv(s, nbc_real(s, v + bit), NBC_TMP, bit * len,
				 below(s, v + bit, bit));
	nbc_copy(s, NBC_TMP, 0, NBC_IN, 0, len);
	nbc_round(s);
	if (v)
		nbc_send(s, nbc_real(s, v - top), NBC_TMP, 0, s->tmp);
	for (i = 0; !v && i < s->processes; i++)
		nbc_copy(s, NBC_OUT, nbc_real(s, i) * len, NBC_TMP, i * len,
			 len);
	nbc_round(s);
}

/* The sum of all below, then the bytes of one of them. Only the root has NBC_OUT. */
void nbc_tree_reduce(struct nbc_schedule *s)
{
	unsigned int v = nbc_virtual(s), top = low_bit(s, v), bit;
	enum nbc_buf sum = v ? NBC_TMP : NBC_OUT;
	size_t len = s->key.len;

	s->tmp = 2 * len;
	nbc_copy(s, sum, 0, NBC_IN, 0, len);
	nbc_round(s);
	for (bit = 1; bit < top; bit *= 2) {
		if (v + bit >= s->processes)
			continue;
		nbc_recv(s, nbc_real(s, v + bit), NBC_TMP, len, len);
		nbc_fold(s, sum, 0, NBC_TMP, len, len);
		nbc_round(s);
	}
	if (v) {
		nbc_send(s, nbc_real(s, v - top), NBC_TMP, 0, len);
		nbc_round(s);
	}
}
