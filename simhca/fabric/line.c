// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See line.h for the model.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "fabric/line.h"

#define QUANTUM_MIN 4096u		/* the largest packet of InfiniBand */
#define QUANTA_PER_SEC 5000u
#define AHEAD (50 * NSEC_PER_USEC)	/* what leaves so soon has left */
#define BATCH 256u			/* messages before others have their turn */

struct cable_time cable_time;

static uint64_t line_time(uint64_t bytes)
{
	uint64_t rate = cable_time.rate;

	return rate ? (bytes * NSEC_PER_SEC + rate - 1) / rate : 0;
}

static uint64_t line_quantum(void)
{
	uint64_t quantum = cable_time.rate / QUANTA_PER_SEC;

	return quantum > QUANTUM_MIN ? quantum : QUANTUM_MIN;
}

static void line_append(struct line *l, struct turn *turn)
{
	turn->next = NULL;
	*l->last = turn;
	l->last = &turn->next;
}

/* The bytes of a turn that may leave now have left. */
static void line_leave(struct line *l, struct turn *turn, uint64_t bytes)
{
	l->free_at += line_time(bytes);
	turn->left -= bytes;
	if (!turn->left && !turn->gone(turn, l->free_at))
		turn->line = NULL;
}

/* Return: does the turn go on at once? Else it is the timer's. */
static bool line_slice(struct line *l, struct turn *turn)
{
	uint64_t bytes = turn->left, quantum = line_quantum();

	if (l->first && bytes > quantum)
		bytes = quantum;
	if (l->free_at + line_time(bytes) <= loop_now() + AHEAD) {
		line_leave(l, turn, bytes);
		return true;
	}
	l->now = turn;
	l->start = l->free_at;
	l->granted = bytes;
	timer_arm_at(&l->timer, l->start + line_time(bytes));
	return false;
}

/* One turn: as many messages as a quantum has room for, or a part of one. */
static void line_turn(struct line *l, struct turn *turn, uint64_t now)
{
	uint64_t end = l->free_at + line_time(line_quantum());
	unsigned int n;

	if (end > now + AHEAD)
		end = now + AHEAD;
	for (n = 0; n < BATCH; n++) {
		if (!turn->left && !turn->go(turn))
			turn->line = NULL;
		if (turn->left && !line_slice(l, turn))
			return;
		if (!turn->line)
			return;
		if (l->held >= LINE_ROOM || (l->free_at >= end && cable_time.rate))
			break;
	}
	line_append(l, turn);
}

static void line_run(struct line *l)
{
	uint64_t now = loop_now();
	unsigned int n = 0;
	struct turn *turn;

	l->busy = true;
	while (l->first && !l->now && l->held < LINE_ROOM) {
		if (l->free_at > now + AHEAD || n++ == BATCH) {
			timer_arm_at(&l->timer, l->free_at);
			break;
		}
		turn = l->first;
		l->first = turn->next;
		if (!l->first)
			l->last = &l->first;
		if (l->free_at < turn->since)
			l->free_at = turn->since;
		line_turn(l, turn, now);
	}
	l->busy = false;
}

static void line_fire(struct sim_timer *timer)
{
	struct line *l = container_of(timer, struct line, timer);
	struct turn *turn = l->now;

	if (turn) {
		l->now = NULL;
		l->free_at = l->start;
		line_leave(l, turn, l->granted);
		if (turn->line)
			line_append(l, turn);
	}
	line_run(l);
}

/* Somebody else waits now: whoever has the line keeps it until its quantum ends. */
static void line_shorten(struct line *l)
{
	uint64_t quantum = line_quantum(), now = loop_now(), bytes = quantum;

	while (bytes < l->granted && l->start + line_time(bytes) <= now)
		bytes += quantum;
	if (bytes >= l->granted)
		return;
	l->granted = bytes;
	timer_arm_at(&l->timer, l->start + line_time(bytes));
}

/**
 * turn_join() - wait for a turn, if it does not do so already
 * @turn: somebody who has something to send
 *
 * The turn may begin inside this call.
 */
void turn_join(struct line *l, struct turn *turn)
{
	if (turn->line)
		return;
	turn->line = l;
	turn->since = loop_now();
	line_append(l, turn);
	if (l->now)
		line_shorten(l);
	else if (!l->busy && !timer_armed(&l->timer))
		line_run(l);
}

/**
 * turn_leave() - send no more: a message that has begun does not arrive
 */
void turn_leave(struct turn *turn)
{
	struct line *l = turn->line;
	struct turn **at;

	turn->line = NULL;
	turn->left = 0;
	if (!l)
		return;
	if (l->now == turn) {
		l->now = NULL;
		l->free_at = loop_now();
		timer_arm(&l->timer, 0);
		return;
	}
	for (at = &l->first; *at; at = &(*at)->next) {
		if (*at != turn)
			continue;
		*at = turn->next;
		if (!*at)
			l->last = at;
		return;
	}
}

/**
 * line_put() - a piece of a message goes on the line, behind what is there
 *
 * Return: when its last byte leaves
 */
uint64_t line_put(struct line *l, uint64_t bytes)
{
	uint64_t now = loop_now();

	if (l->free_at < now && !l->busy)
		l->free_at = now;
	l->free_at += line_time(bytes);
	return l->free_at;
}

/**
 * line_hold() - so many bytes are under way
 */
void line_hold(struct line *l, uint64_t bytes)
{
	l->held += bytes;
}

/**
 * line_release() - they have arrived, or nobody waits for them any more
 */
void line_release(struct line *l, uint64_t bytes)
{
	l->held -= bytes;
	if (l->first && !l->now && !timer_armed(&l->timer))
		timer_arm(&l->timer, 0);
}

static void parcel_free(struct parcel *p)
{
	*p->at = p->next;
	if (p->next)
		p->next->at = p->at;
	line_release(p->line, p->bytes);
	free(p);
}

static void parcel_fire(struct sim_timer *timer)
{
	struct parcel *p = container_of(timer, struct parcel, timer);

	if (!line_lost(p->line, p->sent_at))
		p->arrive(p);
	parcel_free(p);
}

/**
 * line_send() - send a parcel
 * @p: from malloc(), with @arrive and @bytes set
 * @bytes: how long it is on the line
 */
void line_send(struct line *l, struct parcel *p, uint64_t bytes)
{
	uint64_t arrives;

	p->timer = (struct sim_timer){ .fire = parcel_fire };
	p->sent_at = loop_now();
	arrives = line_put(l, bytes) + cable_time.latency;
	if (l->arrives < arrives)
		l->arrives = arrives;
	p->line = l;
	p->next = l->parcels;
	p->at = &l->parcels;
	if (p->next)
		p->next->at = &p->next;
	l->parcels = p;
	line_hold(l, p->bytes);
	timer_arm_at(&p->timer, l->arrives);
}

/**
 * line_cut() - the link went down: what is on its way is lost
 */
void line_cut(struct line *l)
{
	l->cut = loop_now() + 1;
}

/**
 * line_lost() - is a message lost, because the link of this port went down meanwhile?
 * @sent_at: when it began to leave some port
 */
bool line_lost(const struct line *l, uint64_t sent_at)
{
	return sent_at < l->cut;
}

/**
 * line_init() - make the line of an adapter's port
 *
 * Return: 0 or -ENOMEM
 */
int line_init(struct hca *hca)
{
	struct line *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->last = &l->first;
	l->timer.fire = line_fire;
	hca->line = l;
	return 0;
}

/**
 * line_fini() - free the line and what is on its way; nobody sends any more
 */
void line_fini(struct hca *hca)
{
	struct line *l = hca->line;

	if (!l)
		return;
	while (l->first)
		turn_leave(l->first);
	if (l->now)
		turn_leave(l->now);
	while (l->parcels) {
		timer_cancel(&l->parcels->timer);
		parcel_free(l->parcels);
	}
	timer_cancel(&l->timer);
	free(l);
	hca->line = NULL;
}

/**
 * line_dump() - tell about the line
 * @o: gets "under_way", if the cable takes time
 */
void line_dump(const struct hca *hca, struct json_object *o)
{
	if (line_timed() || hca->line->held)
		json_add_number(o, "under_way", hca->line->held);
}

/* A number behind the name of a part; -1 if it is none, or more than @max. */
static int64_t cable_number(const char *text, const char *name, uint64_t max)
{
	size_t len = strlen(name);
	uint64_t n;
	char *end;

	if (strncmp(text, name, len) || text[len] < '0' || text[len] > '9')
		return -1;
	n = strtoull(text + len, &end, 10);
	return *end || n > max ? -1 : (int64_t)n;
}

/**
 * cable_parse() - read "latency=US,rate=MB/s", of which one may be missing
 * @to: set if the text is right; 0 for what is missing
 *
 * Return: NULL, or what is wrong
 */
const char *cable_parse(const char *text, struct cable_time *to)
{
	const uint64_t usecs = LINE_LATENCY_MAX / NSEC_PER_USEC;
	const uint64_t megabytes = LINE_RATE_MAX / BYTES_PER_MB;
	struct cable_time t = { 0 };
	char copy[64], *rest = copy, *part;
	int64_t n;

	if (strlen(text) >= sizeof(copy))
		return "a cable is latency=US,rate=MB/s";
	strcpy(copy, text);
	while ((part = strsep(&rest, ","))) {
		n = cable_number(part, "latency=", usecs);
		if (n >= 0) {
			t.latency = (uint64_t)n * NSEC_PER_USEC;
			continue;
		}
		n = cable_number(part, "rate=", megabytes);
		if (n < 0)
			return "a cable is latency=US,rate=MB/s, with at most "
			       "10000000 microseconds and 1000000 megabytes";
		t.rate = (uint64_t)n * BYTES_PER_MB;
	}
	*to = t;
	return NULL;
}
