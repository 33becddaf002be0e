/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Active messages: a request names a handler, which the other process calls when
 * it finds the message, and which may send one reply. A request of a handler that
 * sends none is answered all the same. At most `depth` requests to a process are
 * without an answer, so a process holds no more than depth replies for another
 * one: full queues end no progress. Any thread may send requests and drain them; a
 * handler runs in the thread that finds the message, one at a time. am_open() and
 * am_close() are called by one thread of a process.
 *
 * Functions return 0 or -errno, as those of the transport do.
 */
#ifndef SELFTESTS_AM_H
#define SELFTESTS_AM_H

#include "transport/transport.h"

#define AM_HANDLERS 32u
#define AM_ARGS 4u

struct am;

/* Whom a handler answers. Valid during the call of the handler. */
struct am_token {
	struct am *am;
	unsigned int from;
	bool is_request, replied;
};

/* A handler sends at most one reply, and does not wait. */
typedef void (*am_handler)(struct am_token *token, const uint64_t *args,
			   const void *body, size_t len);

/**
 * am_open() - exchange active messages over a transport
 * @depth: requests to a process that may be without an answer
 * @handlers: the same in all processes, by their numbers
 * @arg: for am_arg()
 *
 * All processes call it.
 */
int am_open(struct am **am, struct transport *tp, unsigned int depth,
	    const am_handler *handlers, unsigned int n, void *arg);

/*
 * Wait until all own requests are answered, then for all others. Who has an error
 * calls tp_abort() before, as the others may wait for its messages.
 */
int am_close(struct am *am);

void *am_arg(const struct am *am);

/**
 * am_request() - have a handler called in another process, or in this one
 * @args: AM_ARGS numbers
 * @body: bytes that are copied; NULL if @len is 0
 *
 * It waits while there are depth requests without an answer, and calls handlers
 * then. -EDEADLK from a handler.
 */
int am_request(struct am *am, unsigned int to, unsigned int handler,
	       const uint64_t *args, const void *body, size_t len);

/**
 * am_request_bulk() - write into the window of a process, then call a handler
 * @offset: in its window, which tp_window() made
 *
 * -EDEADLK from a handler, and nothing is begun.
 */
int am_request_bulk(struct am *am, unsigned int to, unsigned int handler,
		    const uint64_t *args, const void *from, size_t len,
		    size_t offset);

/*
 * Likewise, but @from may not change until @req is done: tp_wait(). Nothing is begun
 * for a handler or a process that there is not, either. An error after the bytes began
 * to move ends the job.
 */
int am_begin_bulk(struct am *am, unsigned int to, unsigned int handler,
		  const uint64_t *args, const void *from, size_t len,
		  size_t offset, struct tp_req *req);

/*
 * -EALREADY if there was a reply, -EINVAL in the handler of a reply. Any other error
 * is one of the transport, or ends it: nobody waits for a reply that was not sent.
 */
int am_reply(struct am_token *token, unsigned int handler,
	     const uint64_t *args, const void *body, size_t len);

/* Wait until all own requests are answered. -EDEADLK from a handler. */
int am_drain(struct am *am);

/* Bytes of a body at most. */
size_t am_max(const struct am *am);

#endif
