// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Random collectives and their results; see plan.h. */
#include <math.h>
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
	item->odd = plan->odd;
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

/* Numbers of both signs whose sum over all processes is exact: 48 bits, 20 bits. */
static double addend(enum nbc_type type, uint64_t x)
{
	int64_t whole = x;

	return type == NBC_FLOAT ? ldexp(whole >> 44, -8) :
				   ldexp(whole >> 16, -20);
}

static double factor(uint64_t x)
{
	return ldexp(x % 2 ? -1 : 1, (int)(x / 2 % 3) - 1);
}

/* Every fourth element, in all processes, is one of a few for which order matters. */
static double ordered(const struct plan_item *item, uint64_t x, size_t i)
{
	static const double odd[] = { -0.0, 0.0, -NAN, NAN, -INFINITY, INFINITY,
				      -0.0, 0.0, -0.0, 0.0, -1e-40, 1e-40 };
	union { uint64_t bits; double number; } any = { x };

	if (item->odd && i % 4 == 0)
		return odd[x % (i % 8 ? 12 : 2)];
	if (item->type == NBC_FLOAT)
		return ldexp((int32_t)x, (int)(x >> 32) % 100);
	/* Without the highest bit of the exponent it is a number. */
	any.bits &= ~(1ull << 62);
	return any.number;
}

static double real(const struct plan_item *item, uint64_t x, size_t i)
{
	switch (item->op) {
	case NBC_SUM:
		return addend(item->type, x);
	case NBC_PROD:
		return factor(x);
	default:
		return ordered(item, x, i);
	}
}

static bool is_real(enum nbc_type type)
{
	return type == NBC_FLOAT || type == NBC_DOUBLE;
}

/* A number of a type: the low bits of a whole one, a floating-point one. */
union value {
	uint64_t whole;
	double real;
};

static union value value(const struct plan_item *item, unsigned int from,
			 unsigned int to, size_t i)
{
	union value v = { number(item, from, to, i) };

	if (is_real(item->type))
		v.real = real(item, v.whole, i);
	else if (item->op == NBC_PROD)
		v.whole |= 1;
	return v;
}

static void store(enum nbc_type type, void *at, size_t i, union value v)
{
	switch (type) {
	case NBC_UINT8:
		((uint8_t *)at)[i] = v.whole;
		break;
	case NBC_INT32:
		((int32_t *)at)[i] = v.whole;
		break;
	case NBC_FLOAT:
		((float *)at)[i] = v.real;
		break;
	case NBC_DOUBLE:
		((double *)at)[i] = v.real;
		break;
	default:
		((uint64_t *)at)[i] = v.whole;
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

/* The value of a whole number's low bits, for comparisons. */
static bool less(enum nbc_type type, uint64_t x, uint64_t y)
{
	switch (type) {
	case NBC_UINT8:
		return (uint8_t)x < (uint8_t)y;
	case NBC_INT32:
		return (int32_t)x < (int32_t)y;
	case NBC_INT64:
		return (int64_t)x < (int64_t)y;
	default:
		return x < y;
	}
}

static uint64_t fold(const struct plan_item *item, uint64_t x, uint64_t y)
{
	switch (item->op) {
	case NBC_SUM:
		return x + y;
	case NBC_PROD:
		return x * y;
	case NBC_MIN:
		return less(item->type, x, y) ? x : y;
	case NBC_MAX:
		return less(item->type, x, y) ? y : x;
	case NBC_BAND:
		return x & y;
	case NBC_BOR:
		return x | y;
	default:
		return x ^ y;
	}
}

/* Is it the smaller one? -0 is smaller than +0. */
static bool real_less(double x, double y)
{
	return x < y || (x == y && signbit(x) && !signbit(y));
}

static double real_fold(enum nbc_op op, double x, double y)
{
	if (op == NBC_SUM)
		return x + y;
	if (op == NBC_PROD)
		return x * y;
	if (isnan(x) || isnan(y))
		return NAN;
	return real_less(x, y) == (op == NBC_MIN) ? x : y;
}

/* Of the values of the first @n ranks. */
static void folded(const struct plan_item *item, void *out, unsigned int n)
{
	union value v, other;
	unsigned int from;
	size_t i;

	for (i = 0; i < item->count; i++) {
		v = value(item, 0, 0, i);
		for (from = 1; from < n; from++) {
			other = value(item, from, 0, i);
			if (is_real(item->type))
				v.real = real_fold(item->op, v.real,
						   other.real);
			else
				v.whole = fold(item, v.whole, other.whole);
		}
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
