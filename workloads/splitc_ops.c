// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * splitc_ops [-r ROUNDS] [-f] [OPTION...] - each operation of Split-C between all
 * processes of a job, with results that are checked
 *
 * A spread array is written by puts and by stores, each element by another process
 * than it is in or by the same one, and read by gets. Memory is written and read in
 * bulk. At barriers processes come late. With -f nobody waits for anything, which
 * shows that the checks see it. See transport/options.c for the other options.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "option.h"
#include "splitc/splitc.h"
#include "transport/checked.h"
#include "transport/launch.h"

#define EACH 61u		/* elements of the spread array in each process */
#define BULK ((256u << 10) + 24)
#define DEPTH 8
#define LATE_US 3000

static unsigned int rounds = 3;
static bool waits = true;

struct ops {
	struct sc *sc;
	unsigned int rank, n, round;
	struct sc_spread words, slots;
	size_t bulk;
	uint64_t *got;		/* all elements */
	char *bytes, *back;
	struct tally tally;
};

static uint64_t value(const struct ops *o, size_t i, unsigned int salt)
{
	return (i + 1) * 0x9e3779b97f4a7c15ull + salt * 1000003ull + o->round;
}

static int sync_all(struct ops *o)
{
	int ret = waits ? sc_sync(o->sc) : 0;

	return ret || !waits ? ret : sc_barrier(o->sc);
}

static int stores_all(struct ops *o)
{
	return waits ? sc_all_store_sync(o->sc) : 0;
}

/* Write those elements that are for this process to write, wherever they are. */
static int scatter(struct ops *o, unsigned int salt,
		   int (*write)(struct sc *sc, struct sc_global to,
				const void *from, size_t len))
{
	uint64_t word;
	size_t i;
	int ret = 0;

	for (i = 0; i < o->words.n && !ret; i++) {
		if ((i / o->n + salt) % o->n != o->rank)
			continue;
		word = value(o, i, salt);
		ret = write(o->sc, sc_element(&o->words, i), &word,
			    sizeof(word));
	}
	return ret;
}

static void check_local(struct ops *o, unsigned int salt)
{
	struct sc_global at;
	size_t i;

	for (i = o->rank; i < o->words.n; i += o->n) {
		at = sc_element(&o->words, i);
		tally_expect(&o->tally, *(uint64_t *)sc_local(o->sc, at.at) ==
					value(o, i, salt));
	}
}

static int puts_and_gets(struct ops *o)
{
	size_t i;
	int ret = scatter(o, 1, sc_put);

	if (!ret)
		ret = sync_all(o);
	if (ret)
		return ret;
	check_local(o, 1);
	memset(o->got, 0, o->words.n * sizeof(*o->got));
	for (i = 0; i < o->words.n && !ret; i++)
		ret = sc_get(o->sc, &o->got[i], sc_element(&o->words, i),
			     sizeof(*o->got));
	if (!ret)
		ret = sync_all(o);
	for (i = 0; i < o->words.n && !ret; i++)
		tally_expect(&o->tally, o->got[i] == value(o, i, 1));
	return ret;
}

static int stores(struct ops *o)
{
	struct sc_global to = { .process = (o->rank + 1) % o->n };
	unsigned int i;
	uint64_t word;
	int ret = scatter(o, 2, sc_store);

	if (!ret)
		ret = stores_all(o);
	if (ret)
		return ret;
	check_local(o, 2);
	if (waits)
		ret = sc_barrier(o->sc);
	/* All elements of the next process, which waits for that many bytes. */
	for (i = 0; i < EACH && !ret; i++) {
		word = value(o, i * o->n + to.process, 3);
		to.at = o->words.at + i * sizeof(word);
		ret = sc_store(o->sc, to, &word, sizeof(word));
	}
	if (!ret && waits)
		ret = sc_store_sync(o->sc, EACH * sizeof(word));
	if (ret)
		return ret;
	check_local(o, 3);
	return stores_all(o);
}

static void fill(struct ops *o, char *at, unsigned int writer,
		 unsigned int salt)
{
	uint64_t word;
	size_t i;

	for (i = 0; i < BULK; i += sizeof(word)) {
		word = value(o, i, salt * 64 + writer);
		memcpy(at + i, &word, sizeof(word));
	}
}

/* Is what @writer wrote at @at? */
static bool is_filled(struct ops *o, const char *at, unsigned int writer,
		      unsigned int salt)
{
	uint64_t word;
	size_t i;

	for (i = 0; i < BULK; i += sizeof(word)) {
		word = value(o, i, salt * 64 + writer);
		if (memcmp(at + i, &word, sizeof(word)))
			return false;
	}
	return true;
}

static int bulks(struct ops *o)
{
	struct sc_global next = { (o->rank + 1) % o->n, o->bulk };
	unsigned int before = (o->rank + o->n - 1) % o->n;
	char *here = sc_local(o->sc, o->bulk);
	int ret;

	fill(o, o->bytes, o->rank, 4);
	ret = sc_bulk_put(o->sc, next, o->bytes, BULK);
	if (!ret && o->round == rounds / 2)
		ret = launch_middle();
	if (!ret)
		ret = sync_all(o);
	if (ret)
		return ret;
	tally_expect(&o->tally, is_filled(o, here, before, 4));
	memset(o->back, 0, BULK);
	ret = sc_bulk_get(o->sc, o->back, next, BULK);
	if (!ret)
		ret = sync_all(o);
	if (ret)
		return ret;
	tally_expect(&o->tally, is_filled(o, o->back, o->rank, 4));
	fill(o, o->bytes, o->rank, 5);
	ret = sc_bulk_store(o->sc, next, o->bytes, BULK);
	if (!ret)
		ret = stores_all(o);
	tally_expect(&o->tally, is_filled(o, here, before, 5));
	return ret;
}

/* Each tells all, later than some others; after the barrier all are told. */
static int barriers(struct ops *o)
{
	uint64_t mine = value(o, o->rank, 6), *slots;
	struct sc_global to;
	unsigned int i;
	int ret = 0;

	if (o->rank == o->round % o->n)
		usleep(LATE_US);
	for (i = 0; i < o->n && !ret; i++) {
		to = sc_element(&o->slots, o->rank * o->n + i);
		ret = sc_put(o->sc, to, &mine, sizeof(mine));
	}
	if (!ret)
		ret = sync_all(o);
	slots = sc_local(o->sc, o->slots.at);
	for (i = 0; i < o->n; i++)
		tally_expect(&o->tally, slots[i] == value(o, i, 6));
	return ret || !waits ? ret : sc_barrier(o->sc);
}

static int refusals(struct ops *o)
{
	struct sc_global at = sc_element(&o->words, 0);
	struct sc_spread before = o->slots;
	int ret;

	tally_expect(&o->tally, sc_get(o->sc, o->back, at,
				       sc_max(o->sc) + 1) == -EINVAL);
	tally_expect(&o->tally, sc_spread_alloc(o->sc, 1 << 30, 8,
						&o->slots) == -ENOMEM);
	/* so many that their bytes are a small number of 64 bits */
	tally_expect(&o->tally, sc_spread_alloc(o->sc, 16 * o->n, SIZE_MAX / 16 + 1,
						&o->slots) == -ENOMEM);
	tally_expect(&o->tally, o->slots.n == before.n &&
				o->slots.size == before.size);
	at.process = o->n;
	tally_expect(&o->tally, sc_put(o->sc, at, o->back, 8) == -EFAULT);
	at.process = 0;
	at.at = SIZE_MAX - 4;
	tally_expect(&o->tally, sc_store(o->sc, at, o->back, 8) == -EFAULT);
	ret = sc_bulk_get(o->sc, o->back, at, 8);
	tally_expect(&o->tally, ret == -EFAULT);
	return 0;
}

static int all_ops(struct ops *o)
{
	int ret;

	ret = sc_spread_alloc(o->sc, (size_t)EACH * o->n, sizeof(uint64_t),
			      &o->words);
	if (!ret)
		ret = sc_spread_alloc(o->sc, (size_t)o->n * o->n,
				      sizeof(uint64_t), &o->slots);
	if (!ret)
		ret = sc_alloc(o->sc, BULK, &o->bulk);
	for (o->round = 0; o->round < rounds && !ret; o->round++) {
		ret = puts_and_gets(o);
		if (!ret)
			ret = stores(o);
		if (!ret)
			ret = bulks(o);
		if (!ret)
			ret = barriers(o);
	}
	return ret ? ret : refusals(o);
}

static int report(struct transport *tp, const struct ops *o)
{
	char text[64];

	snprintf(text, sizeof(text), "splitc_ops: processes=%u rounds=%u",
		 o->n, rounds);
	return tally_report(tp, text, &o->tally);
}

static int splitc_ops_run(struct transport *tp)
{
	struct ops o = { .rank = tp_rank(tp), .n = tp_processes(tp) };
	int ret, error;

	o.got = calloc((size_t)EACH * o.n, sizeof(*o.got));
	o.bytes = malloc(BULK);
	o.back = malloc(BULK);
	ret = o.got && o.bytes && o.back ? 0 : -ENOMEM;
	if (!ret)
		ret = sc_open(&o.sc, tp, BULK + (64u << 10), DEPTH);
	if (!ret) {
		ret = all_ops(&o);
		if (ret)
			tp_abort(tp, ret);
		error = sc_close(o.sc);
		ret = ret ? ret : error;
	}
	/* After an error nothing is freed: it may still be moving. */
	if (!ret)
		ret = report(tp, &o);
	if (ret)
		return ret;
	free(o.got);
	free(o.bytes);
	free(o.back);
	return 0;
}

static int option(int c, const char *arg)
{
	if (c == 'r')
		return option_number(c, arg, 1, INT_MAX, &rounds);
	waits = false;
	return 0;
}

static int check(void)
{
	return launch_processes() <= 32 ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
	static const struct launch program = {
		.name = "splitc_ops",
		.options = "r:f",
		.usage = "  -r ROUNDS    of all operations (3)\n"
			 "  -f           do not wait for anything\n",
		.option = option,
		.check = check,
		.run = splitc_ops_run,
		.has_middle = true,
	};

	return launch(&program, argc, argv);
}
