/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What happened when: the last TRACE_LEN events of all adapters, for who asked for them.
 * As long as nobody asks, an event costs one look at trace_on().
 *
 * Invariants
 * - Sequence numbers start at 1 with each start, and grow by one.
 * - Times are those of loop_now(); 0 is a time that never came.
 */
#ifndef SIMHCA_TRACE_H
#define SIMHCA_TRACE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#define TRACE_LEN 65536u
#define TRACE_PAGE 4096u	/* events of an answer */

enum trace_kind { TRACE_RING, TRACE_MESSAGE, TRACE_COMMAND };

/**
 * struct trace_event - one event
 * @kind: of the doorbell of a send queue, of a message on its way, or of a command
 * @op: name of the request or command; NULL: none
 * @hca: where it happened, or began
 * @to: a message's target; -1: it found none
 * @qpn: of the send queue; 0: none
 * @request: number in its queue of the message, or of the newest one of a doorbell
 * @bytes: of the message
 * @begun: when it was rung, began to leave, or was given to the adapter
 * @left: when the last byte of the request left
 * @arrived: when it did
 * @done: when its answer was there
 * @failed: the command or the message was not executed
 */
struct trace_event {
	enum trace_kind kind;
	const char *op;
	unsigned int hca;
	int to;
	uint32_t qpn;
	uint16_t request;
	uint64_t bytes;
	uint64_t begun;
	uint64_t left;
	uint64_t arrived;
	uint64_t done;
	bool failed;
};

extern struct trace_event *trace_events;

static inline bool trace_on(void)
{
	return trace_events;
}

int trace_start(void);
void trace_stop(void);
void trace_add(const struct trace_event *event);
struct json_object *trace_since(uint64_t since, uint64_t *next, uint64_t *lost);

#endif
