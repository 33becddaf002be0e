// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: full */
/*
 * The schedules of collectives, for groups of many sizes, run without an adapter:
 * one thread plays all processes. A send ends when its bytes are taken, so a
 * schedule that relies on messages which are copied stands still. Each output is
 * that of a serial run, and no step can be left out.
 */
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"

#include "nbc/plan.h"

#define BATCHES	5
#define SEGMENT	512
#define WORDS	24u		/* elements where a step is left out */

struct side {
	struct nbc_schedule s;
	char *bufs[NBC_BUFS];
	size_t vec[NBC_VECS * PLAN_PROCESSES];
	unsigned int round, first;
	bool *done;		/* by step */
};

static struct side sides[PLAN_PROCESSES];

static void *memory(size_t len)
{
	void *at = calloc(1, len + 1);

	if (!at)
		abort();
	return at;
}

/* Arrays of lengths and places, one behind the other. Return: how many numbers. */
static unsigned int vector(const struct plan_item *item,
			   struct plan_place place, size_t *vec)
{
	size_t lens[PLAN_PROCESSES], at[PLAN_PROCESSES + 1];
	unsigned int i, n = 0, out = item->kind == NBC_GATHERV;

	for (; out < 2; out++) {
		plan_parts(item, place, out, lens, at);
		for (i = 0; i < place.n; i++) {
			vec[n + i] = lens[i] * nbc_size(item->type);
			vec[n + place.n + i] = at[i] * nbc_size(item->type);
		}
		n += 2 * place.n;
	}
	return n;
}

static void open_side(struct side *side, const struct plan_item *item,
		      struct plan_place place, size_t few)
{
	struct nbc_key *key = &side->s.key;

	*side = (struct side){ .s = {
		.key = { .kind = item->kind, .type = item->type,
			 .op = item->op },
		.rank = place.rank,
		.processes = place.n,
		.few = few,
		.segment = SEGMENT,
	} };
	if (item->kind == NBC_BCAST || item->kind == NBC_SCATTER ||
	    item->kind == NBC_GATHER || item->kind == NBC_GATHERV ||
	    item->kind == NBC_REDUCE)
		key->root = plan_root(item, place.n);
	key->len = item->kind == NBC_BARRIER ? 0 :
		   item->kind == NBC_GATHERV ? plan_in_len(item, place) :
					       item->count * nbc_size(item->type);
	if (item->kind == NBC_ALLTOALLV ||
	    (item->kind == NBC_GATHERV && place.rank == key->root)) {
		key->n_vec = vector(item, place, side->vec);
		key->vec = side->vec;
	}
	nbc_build(&side->s);
	side->done = memory(side->s.n);
	side->bufs[NBC_IN] = memory(plan_in_len(item, place));
	side->bufs[NBC_OUT] = memory(plan_out_len(item, place));
	side->bufs[NBC_TMP] = memory(side->s.tmp);
	plan_in(item, place, side->bufs[NBC_IN]);
	plan_before(item, place, side->bufs[NBC_OUT]);
}

static void close_side(struct side *side)
{
	unsigned int i;

	for (i = 0; i < NBC_BUFS; i++)
		free(side->bufs[i]);
	free(side->done);
	free(side->s.steps);
}

static bool in_round(const struct side *side, unsigned int i)
{
	return i < side->s.n && side->s.steps[i].round == side->round;
}

/* The first message of the round from or to a process, or NULL. */
static struct nbc_step *message(struct side *side, enum nbc_what what,
				unsigned int peer, bool **done)
{
	unsigned int i;

	for (i = side->first; in_round(side, i); i++)
		if (!side->done[i] && side->s.steps[i].what == what &&
		    side->s.steps[i].peer == peer) {
			*done = &side->done[i];
			return &side->s.steps[i];
		}
	return NULL;
}

/* Take a message. Return: was there one? */
static bool take(struct side *to, unsigned int from)
{
	bool *sent, *received;
	struct nbc_step *out = message(&sides[from], NBC_SEND, to->s.rank,
				       &sent);
	struct nbc_step *in = message(to, NBC_RECV, from, &received);

	if (!out || !in || in->len != out->len)
		return false;
	memcpy(to->bufs[in->buf] + in->at,
	       sides[from].bufs[out->buf] + out->at, in->len);
	*sent = true;
	*received = true;
	return true;
}

/* End the round if all its messages are done. Return: did it? */
static bool end_round(struct side *side)
{
	const struct nbc_step *step;
	unsigned int i;

	if (side->round == side->s.rounds)
		return false;
	for (i = side->first; in_round(side, i); i++)
		if (side->s.steps[i].what <= NBC_RECV && !side->done[i])
			return false;
	for (; in_round(side, side->first); side->first++) {
		step = &side->s.steps[side->first];
		if (step->what == NBC_COPY)
			memcpy(side->bufs[step->buf] + step->at,
			       side->bufs[step->from] + step->from_at,
			       step->len);
		else if (step->what == NBC_FOLD)
			nbc_compute(side->s.key.type, side->s.key.op,
				    side->bufs[step->buf] + step->at,
				    side->bufs[step->from] + step->from_at,
				    step->len);
	}
	side->round++;
	return true;
}

/* Return: did all come to their end? */
static bool play(unsigned int n)
{
	unsigned int to, from, over = 0;
	bool any = true;

	while (any) {
		any = false;
		for (to = 0; to < n; to++) {
			for (from = 0; from < n; from++)
				any |= take(&sides[to], from);
			any |= end_round(&sides[to]);
		}
	}
	for (to = 0; to < n; to++)
		over += sides[to].round == sides[to].s.rounds;
	return over == n;
}

static bool right(const struct plan_item *item, unsigned int n)
{
	unsigned int rank, good = 0;

	for (rank = 0; rank < n; rank++) {
		struct plan_place place = { rank, n };
		size_t len = plan_out_len(item, place);
		char *out = memory(len);

		plan_after(item, place, out);
		good += !memcmp(out, sides[rank].bufs[NBC_OUT], len);
		free(out);
	}
	return good == n;
}

/* @drop: number of a step of all, which is left out; negative: none */
static bool schedule_run(const struct plan_item *item, unsigned int n, size_t few,
		int drop, unsigned int *steps)
{
	unsigned int rank, i;
	bool good;

	*steps = 0;
	for (rank = 0; rank < n; rank++) {
		struct side *side = &sides[rank];

		open_side(side, item, (struct plan_place){ rank, n }, few);
		i = drop - *steps;
		if (drop >= 0 && drop >= *steps && i < side->s.n) {
			memmove(&side->s.steps[i], &side->s.steps[i + 1],
				(side->s.n - i - 1) * sizeof(*side->s.steps));
			side->s.n--;
			*steps += 1;
		}
		*steps += side->s.n;
	}
	good = play(n) && right(item, n);
	for (rank = 0; rank < n; rank++)
		close_side(&sides[rank]);
	return good;
}

static unsigned int wrong(size_t few)
{
	static const unsigned int sizes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 13, 16 };
	struct plan_item items[PLAN_ITEMS];
	unsigned int i, k, batch, steps, bad = 0;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct plan plan = { .state = 100 * i, .odd = true };

		for (batch = 0; batch < BATCHES; batch++) {
			plan_next(&plan, items, false);
			for (k = 0; k < PLAN_ITEMS; k++) {
				items[k].count %= 3000;
				if (schedule_run(&items[k], sizes[i], few, -1, &steps))
					continue;
				printf("# kind %u, %u processes, %u elements\n",
				       items[k].kind, sizes[i], items[k].count);
				bad++;
			}
		}
	}
	return bad;
}

TEST(schedules_with_few_rounds_have_the_results_of_a_serial_run)
{
	EXPECT_EQ(0, wrong(NBC_DEFAULT - 1));
}

TEST(schedules_with_few_bytes_have_the_results_of_a_serial_run)
{
	EXPECT_EQ(0, wrong(0));
}

TEST(schedules_of_any_length_have_the_results_of_a_serial_run)
{
	EXPECT_EQ(0, wrong(NBC_DEFAULT));
}

/* Return: how many steps nobody would miss. */
static unsigned int missed_steps(enum nbc_kind kind, unsigned int n, size_t few)
{
	struct plan_item item = {
		.kind = kind,
		.pick = n / 2,
		.count = WORDS,
		.type = NBC_UINT64,
		.op = NBC_SUM,
	};
	unsigned int i, steps, all, bad = 0;

	/* More than one segment. */
	if (!few && (kind == NBC_BCAST || kind == NBC_REDUCE))
		item.count = 6 * WORDS;
	if (!schedule_run(&item, n, few, -1, &all))
		return 1;
	for (i = 0; i < all; i++)
		if (schedule_run(&item, n, few, i, &steps)) {
			printf("# kind %u, %u processes: step %u\n", kind, n, i);
			bad++;
		}
	return bad;
}

TEST(no_step_can_be_left_out)
{
	unsigned int kind, n, bad = 0;

	for (kind = NBC_BARRIER; kind <= NBC_SCAN; kind++)
		for (n = 2; n <= 6; n++)
			bad += missed_steps(kind, n, 0) +
			       missed_steps(kind, n, NBC_DEFAULT - 1);
	EXPECT_EQ(0, bad);
}

TEST_HARNESS_MAIN
