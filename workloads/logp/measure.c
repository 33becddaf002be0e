// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What a message costs at both ends; see measure.h. */
#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "bench/instr.h"
#include "measure.h"

#define QUIET	3	/* looks at which nothing had happened */
#define QUIET_US 10000	/* a busy machine has a slow adapter */

/* Look until nothing happens. Return: instructions of the looks that found some. */
static uint64_t look(const struct logp_sides *s, unsigned int end, bool *found)
{
	uint64_t sum = 0, before;
	int n;

	do {
		before = instr_now();
		n = s->look(s->arg, end);
		if (n > 0)
			sum += instr_now() - before;
		*found |= n > 0;
	} while (n > 0);
	return sum;
}

void logp_pump(const struct logp_sides *s, struct logp_cost *cost)
{
	unsigned int quiet = 0;
	bool found;

	while (quiet < QUIET) {
		usleep(QUIET_US);
		found = false;
		cost->recv += look(s, 1, &found);
		cost->done += look(s, 0, &found);
		quiet = found ? 0 : quiet + 1;
	}
}

static int sample(const struct logp_sides *s, logp_send send,
		  struct logp_cost *cost)
{
	uint64_t before = instr_now();
	unsigned int n;
	int ret = 0;

	for (n = 0; n < LOGP_BURST && !ret; n++)
		ret = send(s->arg);
	*cost = (struct logp_cost){ .send = instr_now() - before };
	logp_pump(s, cost);
	return ret || !s->finish ? ret : s->finish(s->arg);
}

int logp_measure(const struct logp_sides *s, logp_send send,
		 struct logp_cost *cost)
{
	double v[3][LOGP_SAMPLES];
	struct logp_cost one;
	int i, ret = 0;

	for (i = -1; i < LOGP_SAMPLES && !ret; i++) {
		ret = sample(s, send, &one);
		if (i < 0)
			continue;
		v[0][i] = one.send / LOGP_BURST;
		v[1][i] = one.recv / LOGP_BURST;
		v[2][i] = one.done / LOGP_BURST;
	}
	if (ret)
		return ret;
	*cost = (struct logp_cost){
		.send = logp_median(v[0], LOGP_SAMPLES),
		.recv = logp_median(v[1], LOGP_SAMPLES),
		.done = logp_median(v[2], LOGP_SAMPLES),
	};
	/* Not even the adapter's answers came in time. */
	if (cost->recv + cost->done == 0)
		return -ETIMEDOUT;
	return logp_time(s, send, &cost->time);
}
