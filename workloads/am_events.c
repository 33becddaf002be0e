// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * am_events [-r ROUNDS] [-f] [-x] [-w FILE] [OPTION...] - active messages while
 * something happens
 *
 * In a round each process sends to all, itself too, requests with bytes, whose
 * handlers reply with other bytes, and then writes into their windows and calls a
 * handler there. All bytes are checked, but not those that process 0 unmaps. See
 * transport/events.h for what happens, and transport/options.c for the other options.
 */
#include <errno.h>
#include <stdio.h>

#include "am/am.h"
#include "transport/checked.h"
#include "transport/events.h"
#include "transport/launch.h"

#define BULK	(64u << 10)
#define ASKED	1500u		/* bytes of a request */
#define REPLY	64u
#define ASKS	3u		/* requests to each process */
#define DEPTH	(ASKS + 1)	/* so that no request of a round waits */

enum { ASK, ANSWER, WRITTEN, N_HANDLERS };

struct job {
	struct events events;	/* bufs: what is written; the window */
	struct am *am;
	unsigned int rank, n;
	struct tp_req puts[TP_PROCESSES];
	/* of handlers, with the lock of the transport; of the caller */
	struct tally tally, own;
	uint64_t asked, answered, written;
	unsigned int rounds;
};

static uint32_t seed_of(unsigned int round, unsigned int from, unsigned int to,
			unsigned int what)
{
	return round << 20 ^ from << 12 ^ to << 4 ^ what;
}

static void ask(struct am_token *token, const uint64_t *args, const void *body,
		size_t len)
{
	struct job *j = am_arg(token->am);
	unsigned char bytes[REPLY];

	j->asked++;
	tally_expect(&j->tally,
		     len == ASKED && !checked_wrong(body, len, args[0]));
	checked_fill(bytes, REPLY, args[0] + 1);
	/* The error of a transport that failed is that of the next wait. */
	am_reply(token, ANSWER, args, bytes, REPLY);
}

static void answer(struct am_token *token, const uint64_t *args,
		   const void *body, size_t len)
{
	struct job *j = am_arg(token->am);

	j->answered++;
	tally_expect(&j->tally,
		     len == REPLY && !checked_wrong(body, len, args[0] + 1));
}

static void written(struct am_token *token, const uint64_t *args,
		    const void *body, size_t len)
{
	struct job *j = am_arg(token->am);
	const char *window = j->events.bufs[1].at;

	j->written++;
	if (!events_unmaps(token->from))
		tally_expect(&j->tally,
			     !checked_wrong(window + token->from * BULK, BULK,
					    args[0]));
}

static int ask_all(struct job *j, unsigned int round)
{
	uint64_t args[AM_ARGS] = {};
	unsigned char bytes[ASKED];
	unsigned int to, i;
	int ret = 0;

	for (to = 0; to < j->n; to++)
		for (i = 0; i < ASKS && !ret; i++) {
			args[0] = seed_of(round, j->rank, to, 2 * i);
			checked_fill(bytes, ASKED, args[0]);
			ret = am_request(j->am, to, ASK, args, bytes, ASKED);
		}
	return ret;
}

static int begin(void *arg, unsigned int round)
{
	struct job *j = arg;
	char *bulk = j->events.bufs[0].at;
	uint64_t args[AM_ARGS] = {};
	unsigned int to;
	int ret = ask_all(j, round);

	for (to = 0; to < j->n; to++)
		checked_fill(bulk + to * BULK, BULK,
			     seed_of(round, j->rank, to, 15));
	for (to = 0; to < j->n && !ret; to++) {
		args[0] = seed_of(round, j->rank, to, 15);
		ret = am_begin_bulk(j->am, to, WRITTEN, args, bulk + to * BULK,
				    BULK, j->rank * BULK, &j->puts[to]);
	}
	return ret;
}

/* The own requests are answered; those of others may still come. */
static int end(void *arg)
{
	struct job *j = arg;
	int ret = tp_wait_all(j->events.tp, j->puts, j->n);

	if (!ret)
		ret = am_drain(j->am);
	j->rounds++;
	if (!ret)
		tally_expect(&j->own,
			     j->answered == j->rounds * ASKS * j->n);
	return ret;
}

/* Once all have closed there is nothing to come. */
static void check_handled(struct job *j)
{
	tally_expect(&j->own, j->asked == j->rounds * ASKS * j->n);
	tally_expect(&j->own, j->written == j->rounds * j->n);
	j->own.checks += j->tally.checks;
	j->own.wrong += j->tally.wrong;
}

static int am_events_run(struct transport *tp)
{
	static const am_handler handlers[] = { ask, answer, written };
	struct job j = {
		.events = {
			.name = "am_events",
			.tp = tp,
			.n = 2,
			.begin = begin,
			.end = end,
			.arg = &j,
		},
		.rank = tp_rank(tp),
		.n = tp_processes(tp),
	};
	struct events_buf *bufs = j.events.bufs;
	int ret, error;

	bufs[0].len = bufs[1].len = j.n * BULK;
	bufs[1].stays = true;
	ret = tp_window(tp, bufs[1].len, &bufs[1].at);
	if (ret)
		return ret;
	ret = am_open(&j.am, tp, DEPTH, handlers, N_HANDLERS, &j);
	if (ret)
		return ret;
	ret = events_run(&j.events);
	if (ret)
		tp_abort(tp, ret);
	error = am_close(j.am);
	if (ret || error)
		return ret ? ret : error;
	check_handled(&j);
	return tally_report(tp, "am_events:", &j.own);
}

int main(int argc, char **argv)
{
	static const struct launch program = {
		.name = "am_events",
		.options = EVENTS_OPTIONS,
		.usage = EVENTS_USAGE,
		.option = events_option,
		.check = events_check,
		.run = am_events_run,
		.has_middle = true,
	};

	return launch(&program, argc, argv);
}
