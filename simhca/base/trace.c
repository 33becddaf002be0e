// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See trace.h for the model.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/trace.h"

struct trace_event *trace_events;
static uint64_t trace_next = 1;

/**
 * trace_start() - forget all events, and keep those from now on
 *
 * Return: 0 or -ENOMEM
 */
int trace_start(void)
{
	trace_next = 1;
	if (!trace_events)
		trace_events = calloc(TRACE_LEN, sizeof(*trace_events));
	return trace_events ? 0 : -ENOMEM;
}

/**
 * trace_stop() - forget all events, and keep no more
 */
void trace_stop(void)
{
	free(trace_events);
	trace_events = NULL;
	trace_next = 1;
}

/**
 * trace_add() - keep an event, if somebody asked for them
 */
void trace_add(const struct trace_event *event)
{
	if (trace_on())
		trace_events[trace_next++ % TRACE_LEN] = *event;
}

static struct json_object *event_json(const struct trace_event *e, uint64_t seq)
{
	static const char *const kinds[] = {
		[TRACE_RING] = "ring",
		[TRACE_MESSAGE] = "message",
		[TRACE_COMMAND] = "command",
	};
	struct json_object *o = json_object_new_object();

	json_add_number(o, "seq", seq);
	json_object_object_add(o, "kind", json_object_new_string(kinds[e->kind]));
	if (e->op)
		json_object_object_add(o, "op", json_object_new_string(e->op));
	json_add_number(o, "hca", e->hca);
	if (e->kind != TRACE_COMMAND) {
		json_add_number(o, "qpn", e->qpn);
		json_add_number(o, "request", e->request);
	}
	json_add_number(o, "begun", e->begun);
	if (e->kind == TRACE_RING)
		return o;
	json_add_number(o, "done", e->done);
	json_object_object_add(o, "failed", json_object_new_boolean(e->failed));
	if (e->kind == TRACE_COMMAND)
		return o;
	json_object_object_add(o, "to", json_object_new_int(e->to));
	json_add_number(o, "bytes", e->bytes);
	json_add_number(o, "left", e->left);
	json_add_number(o, "arrived", e->arrived);
	return o;
}

/**
 * trace_since() - the events from a sequence number on
 * @since: the first one that is wanted; 0: the first of all
 * @next: set to the number behind the last one of this answer
 * @lost: set to how many of those that were wanted are gone
 *
 * Return: a new JSON array of at most TRACE_PAGE events
 */
struct json_object *trace_since(uint64_t since, uint64_t *next, uint64_t *lost)
{
	struct json_object *all = json_object_new_array();
	uint64_t seq = since ? since : 1, first, n;

	first = trace_next > TRACE_LEN ? trace_next - TRACE_LEN : 1;
	*lost = seq < first ? first - seq : 0;
	seq += *lost;
	for (n = 0; seq < trace_next && n < TRACE_PAGE; seq++, n++)
		json_object_array_add(all, event_json(&trace_events[seq % TRACE_LEN], seq));
	*next = seq;
	return all;
}
