// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Random collectives and their results; see plan.h. */
#include <string.h>

#include "plan.h"

#define UNTOUCHED 0xee

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0x7fb5d329728ea185ull;
	x = (x ^ x >> 27) * 0x81dadef4bc2dd44dull;
	return x ^ x >> 33;
}

static unsigned int draw(struct plan *plan, unsigned int below)
{
	plan->state += 0x9e3779b97f4a7c15ull;
	return mix(plan->state) % below;
}

static void draw_item(struct plan *plan, struct plan_item *item)
{
	static const unsigned int most[] = { 4, 60, 1100, 9000 };
	unsigned int ops;

	item->kind = draw(plan, NBC_SCAN + 1);
	item->type = draw(plan, NBC_TYPES);
	ops = nbc_has_op(item->type, NBC_BXOR) ? NBC_OPS : NBC_BAND;
	item->op = draw(plan, ops);
	item->group = draw(plan, PLAN_GROUPS);
	item->pick = draw(plan, 1 << 16);
	item->count = draw(plan, most[draw(plan, 4)]);
}

void plan_next(struct plan *plan, struct plan_item *items, bool again)
{
	unsigned int i;

	for (i = 0; i < PLAN_ITEMS; i++) {
		if (!again)
			draw_item(plan, &items[i]);
		items[i].id = plan->id++;
	}
}

/* All; all in the reverse order; even and odd ones; all but the first. */
void plan_split(unsigned int group, unsigned int rank, unsigned int n,
		int *color, int *key)
{
	*color = group == 2 ? rank % 2 : 0;
	*key = group == 1 ? n - rank : rank;
	if (group == 3 && !rank)
		*color = -1;
}

static uint64_t number(const struct plan_item *item, unsigned int from,
		       unsigned int to, size_t i)
{
	return mix(mix((uint64_t)item->id << 16 | from << 8 | to) + i);
}

static uint64_t value(const struct plan_item *item, unsigned int from,
		      unsigned int to, size_t i)
{
	uint64_t x = number(item, from, to, i);

	if (item->kind >= NBC_ALLREDUCE && item->op == NBC_PROD)
		return 1 + x % 2;
	return x % 250;
}

static void store(enum nbc_type type, void *at, size_t i, uint64_t v)
{
	switch (type) {
	case NBC_UINT8:
		((uint8_t *)at)[i] = v;
		break;
	case NBC_INT32:
		((int32_t *)at)[i] = v;
		break;
	case NBC_UINT64:
		((uint64_t *)at)[i] = v;
		break;
	case NBC_FLOAT:
		((float *)at)[i] = v;
		break;
	default:
		((double *)at)[i] = v;
		break;
	}
}

/* The lengths stay when a batch is done again, so that its schedules fit. */
static size_t part_len(const struct plan_item *item, unsigned int from,
		       unsigned int to)
{
	return mix((uint64_t)item->pick << 16 | from << 8 | to) %
		(2 * item->count + 1);
}

void plan_parts(const struct plan_item *item, struct plan_place place,
		bool out, size_t *lens, size_t *at)
{
	size_t sum = 0;
	unsigned int i;

	for (i = 0; i < place.n; i++) {
		if (item->kind == NBC_GATHERV)
			lens[i] = part_len(item, i, 0);
		else
			lens[i] = out ? part_len(item, i, place.rank) :
					part_len(item, place.rank, i);
		at[i] = sum;
		sum += lens[i] + 1;
	}
	at[place.n] = sum;
}

static size_t parts_len(const struct plan_item *item, struct plan_place place,
			bool out)
{
	size_t lens[PLAN_PROCESSES], at[PLAN_PROCESSES + 1];

	plan_parts(item, place, out, lens, at);
	return at[place.n];
}

static size_t in_count(const struct plan_item *item, struct plan_place place)
{
	switch (item->kind) {
	case NBC_BARRIER:
	case NBC_BCAST:
		return 0;
	case NBC_SCATTER:
		return place.rank == plan_root(item, place.n) ?
			place.n * item->count : 0;
	case NBC_ALLTOALL:
		return place.n * item->count;
	case NBC_GATHERV:
		return part_len(item, place.rank, 0);
	case NBC_ALLTOALLV:
		return parts_len(item, place, false);
	default:
		return item->count;
	}
}

static size_t out_count(const struct plan_item *item, struct plan_place place)
{
	bool root = place.rank == plan_root(item, place.n);

	switch (item->kind) {
	case NBC_BARRIER:
		return 0;
	case NBC_GATHER:
		return root ? place.n * item->count : 0;
	case NBC_GATHERV:
		return root ? parts_len(item, place, true) : 0;
	case NBC_REDUCE:
		return root ? item->count : 0;
	case NBC_ALLGATHER:
	case NBC_ALLTOALL:
		return place.n * item->count;
	case NBC_ALLTOALLV:
		return parts_len(item, place, true);
	default:
		return item->count;
	}
}

size_t plan_in_len(const struct plan_item *item, struct plan_place place)
{
	return in_count(item, place) * nbc_size(item->type);
}

size_t plan_out_len(const struct plan_item *item, struct plan_place place)
{
	return out_count(item, place) * nbc_size(item->type);
}

static void part(const struct plan_item *item, void *buf, size_t at,
		 unsigned int from, unsigned int to, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		store(item->type, buf, at + i, value(item, from, to, i));
}

void plan_in(const struct plan_item *item, struct plan_place place, void *in)
{
	size_t lens[PLAN_PROCESSES], at[PLAN_PROCESSES + 1];
	unsigned int i;

	memset(in, UNTOUCHED, plan_in_len(item, place));
	switch (item->kind) {
	case NBC_SCATTER:
	case NBC_ALLTOALL:
		for (i = 0; in_count(item, place) && i < place.n; i++)
			part(item, in, i * item->count, place.rank, i,
			     item->count);
		break;
	case NBC_ALLTOALLV:
		plan_parts(item, place, false, lens, at);
		for (i = 0; i < place.n; i++)
			part(item, in, at[i], place.rank, i, lens[i]);
		break;
	default:
		part(item, in, 0, place.rank, 0, in_count(item, place));
		break;
	}
}

void plan_before(const struct plan_item *item, struct plan_place place,
		 void *out)
{
	unsigned int root = plan_root(item, place.n);

	memset(out, UNTOUCHED, plan_out_len(item, place));
	if (item->kind == NBC_BCAST && place.rank == root)
		part(item, out, 0, root, 0, item->count);
}

static uint64_t fold(enum nbc_op op, uint64_t x, uint64_t y)
{
	switch (op) {
	case NBC_SUM:
		return x + y;
	case NBC_PROD:
		return x * y;
	case NBC_MIN:
		return x < y ? x : y;
	case NBC_MAX:
		return x > y ? x : y;
	case NBC_BAND:
		return x & y;
	case NBC_BOR:
		return x | y;
	default:
		return x ^ y;
	}
}

/* Of the values of the first @n ranks. */
static void folded(const struct plan_item *item, void *out, unsigned int n)
{
	unsigned int from;
	uint64_t v;
	size_t i;

	for (i = 0; i < item->count; i++) {
		v = value(item, 0, 0, i);
		for (from = 1; from < n; from++)
			v = fold(item->op, v, value(item, from, 0, i));
		store(item->type, out, i, v);
	}
}

void plan_after(const struct plan_item *item, struct plan_place place,
		void *out)
{
	unsigned int root = plan_root(item, place.n), i;
	size_t lens[PLAN_PROCESSES], at[PLAN_PROCESSES + 1];

	plan_before(item, place, out);
	if (!out_count(item, place))
		return;
	switch (item->kind) {
	case NBC_BCAST:
		part(item, out, 0, root, 0, item->count);
		break;
	case NBC_SCATTER:
		part(item, out, 0, root, place.rank, item->count);
		break;
	case NBC_GATHER:
	case NBC_ALLGATHER:
	case NBC_ALLTOALL:
		for (i = 0; i < place.n; i++)
			part(item, out, i * item->count, i,
			     item->kind == NBC_ALLTOALL ? place.rank : 0,
			     item->count);
		break;
	case NBC_GATHERV:
	case NBC_ALLTOALLV:
		plan_parts(item, place, true, lens, at);
		for (i = 0; i < place.n; i++)
			part(item, out, at[i], i,
			     item->kind == NBC_GATHERV ? 0 : place.rank,
			     lens[i]);
		break;
	default:
		folded(item, out, item->kind == NBC_SCAN ? place.rank + 1 :
							  place.n);
		break;
	}
}

uint64_t plan_digest(const void *out, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull;
	const unsigned char *at = out;
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ at[i]) * 0x100000001b3ull;
	return h;
}
