/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Messages between the processes of a job, over all that mlx5_ep has: the send
 * queues are endpoints of libmlx5ep, one for each node that the process sends to.
 * The processes of a node share one XRC receive QP for each process that sends to
 * them, and each has one XRC SRQ. Large buffers are registered through the
 * registration cache.
 *
 * A message up to `eager` bytes is copied at both ends. It needs a credit of the
 * receiver, so a receive is always posted. A longer one is offered, and the
 * receiver decides when it moves: the receiver reads it, or answers with an
 * address to which the sender writes with immediate data.
 *
 * Threads of a process share its send queues, its SRQ and one lock, so the number
 * of QPs does not depend on them. Any thread may call any function at any time, but
 * for tp_share(), tp_window() and tp_close(): these are in the same order in all
 * processes, so one thread of each process calls them at a time. Threads tell their
 * messages apart by tags. A function that was handed to the transport is called with
 * the lock held, by any thread, and may send but not wait.
 *
 * Functions return 0 or -errno. After a failure of a process or of a QP each
 * call returns -ECONNRESET or -EIO, and only tp_close() is left to do. Until then the
 * adapter may still read and write the memory of each request that was not done, so it
 * is freed after tp_close() only.
 */
#ifndef SELFTESTS_TRANSPORT_H
#define SELFTESTS_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TP_ANY (-1)
#define TP_NODES 64u		/* nodes of a job at most */
#define TP_PROCESSES 256u	/* processes of a job at most */

struct transport;

/* How a message that is too long to be copied moves. */
enum tp_long {
	TP_READ,	/* the receiver reads */
	TP_WRITE,	/* the sender writes with immediate data */
};

/* Who looks for completions, and how. */
enum tp_mode {
	TP_POLL,	/* who waits polls the CQ */
	TP_EVENT,	/* who waits sleeps on the completion channel */
	TP_THREAD,	/* a helper thread does; SIGUSR1 ends its sleep */
};

#define TP_CREDITS_MAX 1024u
#define TP_DEPTH_MAX 1024u
#define TP_EAGER_MIN 256u
#define TP_EAGER_MAX 65536u

/* Where a process is in a call, for tests that let something happen there. */
enum tp_step {
	TP_STEP_OPEN,		/* has its objects, and has told nobody of them */
	TP_STEP_CONNECT,	/* is registered with receive QPs, and has not told */
	TP_STEP_SHARE,		/* in tp_share(), and has given nothing */
	TP_STEP_CLOSE,		/* in tp_close(), before all is sent */
	TP_STEP_LEAVE,		/* all is sent and received everywhere */
	TP_STEPS
};

/**
 * struct tp_attr - a process of a job
 * @meet: where the processes meet, see meet_open()
 * @domain: path of a file in this machine; with a dot and the number of the node
 *	it names the XRC domain of the node
 * @rank: 0 to @nodes * @ppn - 1; process R is on node R / @ppn
 * @category: enum mlx5ep_category of the send queues
 * @credits: messages that may be on their way to each process; 0: 8
 * @eager: length of the longest message that is copied; 0: 4096
 * @depth: requests in each send queue; 0: 64. What finds no place waits in memory
 * @keep_for_good: keep each registration for good, without notifications: what is
 *	sent can be old. To show that a test sees it
 * @reached: called at each step, by the thread that is in the call; may be NULL
 */
struct tp_attr {
	const char *meet, *domain;
	unsigned int rank, nodes, ppn;
	unsigned int category;
	unsigned int credits, eager, depth;
	enum tp_long long_by;
	enum tp_mode mode;
	bool keep_for_good;
	void (*reached)(enum tp_step step);
};

/**
 * struct tp_req - a message under way; the caller's memory until it is done
 * @status: -EINPROGRESS, then 0 or -errno
 * @len: bytes that were received
 * @from: rank of the sender
 */
struct tp_req {
	int status;
	size_t len;
	int from;
	/* private */
	struct tp_req *next;
	void *buf;
	uint32_t tag;
};

/**
 * struct tp_info - what a transport took
 * @qps_node: QPs that all processes of its node created: send queues and receive QPs
 * @qps_expected: ppn * 2 * (nodes - 1), and ppn * 2 where ppn is above 1: the
 *	processes of a node use the adapter between each other too
 * @messages: that were sent with a credit
 * @credit_messages: that only return credits
 * @waited: messages that had to wait for a credit or for the send queue
 * @hits: gets of the cache that found a registration
 * @misses: gets that registered
 * @stale: registrations that were dropped because their memory changed
 */
struct tp_info {
	unsigned int qps_node, qps_expected;
	uint64_t messages, credit_messages, waited;
	uint64_t hits, misses, stale;
};

/*
 * Open a transport. All processes of the job call it, and return when all are
 * connected. -EINVAL for attributes that are not valid, or if the category has
 * no place for so many send queues. -EPROTO if there are not as many QPs as
 * expected.
 */
int tp_open(struct transport **tp, const struct tp_attr *attr);

/*
 * Close a transport, after all messages have been received. All processes call
 * it. NULL is allowed. Return: 0, or what went wrong before; it is closed
 * anyway.
 */
int tp_close(struct transport *tp);

/**
 * tp_abort() - end the job: this process has an error of which the transport does not
 *	know
 * @error: what each call returns from then on, unless the transport has failed before
 *
 * After tp_close() the others are told: their calls return -ECONNRESET. Who has an
 * error and closes a transport that works waits until all others close theirs, and
 * they may wait for its messages.
 */
void tp_abort(struct transport *tp, int error);

void tp_query(struct transport *tp, struct tp_info *info);
unsigned int tp_rank(const struct transport *tp);
unsigned int tp_processes(const struct transport *tp);

/* The process that was found dead, or -1: one may have left because of an error. */
int tp_dead(struct transport *tp);

/**
 * tp_share() - give some bytes to all processes, and get theirs
 * @all: receives @len bytes of each process
 *
 * Not over the adapter: for what is needed once. -EBUSY while another thread is in
 * it.
 */
int tp_share(struct transport *tp, const void *mine, size_t len, void *all);

/**
 * tp_isend() - begin to send a message to another process
 * @buf: stays as it is until the request is done
 *
 * Messages to one process with one tag are received in the order in which they
 * were sent.
 */
int tp_isend(struct transport *tp, unsigned int to, uint32_t tag,
	     const void *buf, size_t len, struct tp_req *req);

/**
 * tp_irecv() - begin to receive a message
 * @from: rank, or TP_ANY
 * @len: of @buf; a longer message is dropped with -EMSGSIZE
 */
int tp_irecv(struct transport *tp, int from, uint32_t tag, void *buf,
	     size_t len, struct tp_req *req);

/* Is it done? 1, 0, or the error of the request or of the transport. */
int tp_test(struct transport *tp, struct tp_req *req);
int tp_wait(struct transport *tp, struct tp_req *req);
int tp_wait_all(struct transport *tp, struct tp_req *reqs, unsigned int n);

/* The whole of both. */
int tp_send(struct transport *tp, unsigned int to, uint32_t tag,
	    const void *buf, size_t len);
int tp_recv(struct transport *tp, int from, uint32_t tag, void *buf,
	    size_t len);

/*
 * Look for completions once. Return: how many there were, or -errno. With
 * TP_THREAD nothing is left to do.
 */
int tp_progress(struct transport *tp);

/* Wait until something happened, some milliseconds at most. */
int tp_pause(struct transport *tp);

/**
 * tp_wait_until() - wait for what handlers bring about
 * @done: called with the lock held, whenever something happened, until it returns
 *	true
 */
int tp_wait_until(struct transport *tp, bool (*done)(void *arg), void *arg);

/**
 * tp_window() - memory that all processes may read and write
 * @len: bytes, the same in all processes; all call it, once
 * @base: set to the memory of this process, filled with zeros
 */
int tp_window(struct transport *tp, size_t len, void **base);

/**
 * tp_put() - write into the window of another process
 * @to: this process too, whose bytes are copied at once
 * @offset: in its window
 * @len: at most 1 GiB, as of a message; -EINVAL if it is more
 *
 * A message that is sent after the call arrives after the bytes.
 */
int tp_put(struct transport *tp, unsigned int to, size_t offset,
	   const void *buf, size_t len, struct tp_req *req);
/* Read from the window of another process. */
int tp_get(struct transport *tp, unsigned int from, size_t offset, void *buf,
	   size_t len, struct tp_req *req);

/* A message that is not received, but handed over as soon as it is found. */
typedef void (*tp_handler)(void *arg, unsigned int from, const void *msg,
			   size_t len);

/* What becomes of messages of tp_post(). The lock is held in @fn. */
void tp_set_handler(struct transport *tp, tp_handler fn, void *arg);

/*
 * What is called after completions were found, with the lock held, by whoever found
 * them: a caller, or the helper thread. It may begin messages and look at
 * tp_req.status.
 */
void tp_set_progress(struct transport *tp, void (*fn)(void *arg), void *arg);

/**
 * tp_post() - send a message to the handler of another process
 * @head_len: with @body_len up to tp_post_max()
 *
 * The bytes are copied. If there is no credit now, the message waits in memory
 * until there is one. For the own process the handler is called at once.
 */
int tp_post(struct transport *tp, unsigned int to, const void *head,
	    size_t head_len, const void *body, size_t body_len);
size_t tp_post_max(const struct transport *tp);

#endif
