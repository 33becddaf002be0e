// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * am_storm [-r REQUESTS] [-d DEPTH] [OPTION...] - all processes of a job send
 * active messages to all, themselves too, as fast as they can
 *
 * A request carries bytes that its handler checks. Every third one has no reply,
 * the others are answered with other bytes, which are checked too. Then each
 * process writes into the window of the next one and calls a handler there, which
 * checks the bytes. See transport/options.c for the other options.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "am/am.h"
#include "option.h"
#include "transport/checked.h"
#include "transport/launch.h"

#define BULK (32u << 10)

enum { ASK, ANSWER, WRITTEN, N_HANDLERS };

static unsigned int requests = 500, depth = 1;

struct storm {
	uint64_t asked, answered, written, wrong;
	uint64_t expected;	/* answers */
	unsigned char *window;
};

static void ask(struct am_token *token, const uint64_t *args, const void *body,
		size_t len)
{
	uint64_t back[AM_ARGS] = { args[0], len };
	struct storm *s = am_arg(token->am);
	unsigned char bytes[64];

	s->asked++;
	s->wrong += args[1] != len || checked_wrong(body, len, args[0]);
	if (args[0] % 3 == 0)
		return;
	checked_fill(bytes, sizeof(bytes), args[0] + 1);
	s->wrong += !!am_reply(token, ANSWER, back, bytes, sizeof(bytes));
	s->wrong += am_reply(token, ANSWER, back, NULL, 0) != -EALREADY;
}

static void answer(struct am_token *token, const uint64_t *args,
		   const void *body, size_t len)
{
	struct storm *s = am_arg(token->am);

	s->answered++;
	s->wrong += len != 64 || checked_wrong(body, len, args[0] + 1);
	s->wrong += am_reply(token, ANSWER, args, NULL, 0) != -EINVAL;
	s->wrong += am_request(token->am, 0, ASK, args, NULL, 0) != -EDEADLK;
	s->wrong += am_request_bulk(token->am, 0, ASK, args, body, len, 0) !=
		    -EDEADLK;
}

static void written(struct am_token *token, const uint64_t *args,
		    const void *body, size_t len)
{
	struct storm *s = am_arg(token->am);

	s->written++;
	s->wrong += !!checked_wrong(s->window, BULK, args[0]);
}

static int storm(struct am *am, struct transport *tp, struct storm *s)
{
	unsigned int n = tp_processes(tp), rank = tp_rank(tp), i, to;
	unsigned char *bytes = malloc(BULK + am_max(am));
	uint64_t args[AM_ARGS] = {};
	int ret = bytes ? 0 : -ENOMEM;

	for (i = 0; i < requests && !ret; i++)
		for (to = 0; to < n && !ret; to++) {
			args[0] = (uint64_t)i * n + to + rank;
			args[1] = (args[0] * 37) % am_max(am);
			checked_fill(bytes, args[1], args[0]);
			s->expected += args[0] % 3 != 0;
			ret = am_request(am, to, ASK, args, bytes, args[1]);
		}
	if (!ret)
		ret = am_drain(am);
	s->wrong += !ret && s->answered != s->expected;
	args[0] = rank + 77;
	if (!ret) {
		checked_fill(bytes, BULK, args[0]);
		ret = am_request_bulk(am, (rank + 1) % n, WRITTEN, args, bytes,
				      BULK, 0);
	}
	/* After an error nothing is freed: it may still be moving. */
	if (!ret)
		free(bytes);
	return ret;
}

static int report(struct transport *tp, const struct storm *s)
{
	struct storm all[TP_PROCESSES], sum = {};
	unsigned int n = tp_processes(tp), i;
	uint64_t sent = (uint64_t)requests * n * n;
	int ret = tp_share(tp, s, sizeof(*s), all);

	for (i = 0; i < n && !ret; i++) {
		sum.asked += all[i].asked;
		sum.answered += all[i].answered;
		sum.written += all[i].written;
		sum.wrong += all[i].wrong;
	}
	if (ret)
		return ret;
	if (!tp_rank(tp))
		printf("am_storm: processes=%u depth=%u requests=%ju handled=%ju replies=%ju bulk=%ju wrong=%ju\n",
		       n, depth, (uintmax_t)sent, (uintmax_t)sum.asked,
		       (uintmax_t)sum.answered, (uintmax_t)sum.written,
		       (uintmax_t)sum.wrong);
	return sum.asked != sent || sum.written != n || sum.wrong ?
		-EBADMSG : 0;
}

static int am_storm_run(struct transport *tp)
{
	static const am_handler handlers[] = { ask, answer, written };
	struct storm s = {};
	void *window;
	struct am *am;
	int ret, error;

	ret = tp_window(tp, BULK, &window);
	if (ret)
		return ret;
	s.window = window;
	ret = am_open(&am, tp, depth, handlers, N_HANDLERS, &s);
	if (ret)
		return ret;
	ret = storm(am, tp, &s);
	if (ret)
		tp_abort(tp, ret);
	error = am_close(am);
	if (!ret)
		ret = error;
	return ret ? ret : report(tp, &s);
}

static int option(int c, const char *arg)
{
	return option_number(c, arg, 1, INT_MAX, c == 'r' ? &requests : &depth);
}

int main(int argc, char **argv)
{
	static const struct launch program = {
		.name = "am_storm",
		.options = "r:d:",
		.usage = "  -r REQUESTS  to each process (500)\n"
			 "  -d DEPTH     requests without an answer (1)\n",
		.option = option,
		.run = am_storm_run,
	};

	return launch(&program, argc, argv);
}
