// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Active messages over the transport's posts, see am.h.
 *
 * Never: a handler of a reply that replies; a request without an answer. Where an
 * answer cannot be sent, the job ends.
 */
#include <errno.h>
#include <stdlib.h>

#include "am.h"

enum { AM_REQUEST, AM_REPLY, AM_ANSWER /* a reply without a handler */ };

struct am_head {
	uint32_t kind, handler;
	uint64_t args[AM_ARGS];
};

struct am {
	struct transport *tp;
	unsigned int depth, n;
	am_handler handlers[AM_HANDLERS];
	void *arg;

	/* under the lock of the transport, in which handlers are called */
	unsigned int *open;	/* by process: requests without an answer */
	unsigned int calls;	/* of handlers, one in another */
};

static int post(struct am *am, unsigned int to, uint32_t kind,
		unsigned int handler, const uint64_t *args, const void *body,
		size_t len)
{
	struct am_head head = { .kind = kind, .handler = handler };
	unsigned int i;

	for (i = 0; args && i < AM_ARGS; i++)
		head.args[i] = args[i];
	return tp_post(am->tp, to, &head, sizeof(head), body, len);
}

static void call(struct am_token *token, const struct am_head *head,
		 size_t len)
{
	struct am *am = token->am;

	am->calls++;
	am->handlers[head->handler](token, head->args, head + 1, len);
	am->calls--;
}

/* Return: 0, or -errno of the answer. */
static int take(struct am *am, unsigned int from, const struct am_head *head,
		size_t len)
{
	struct am_token token = {
		.am = am,
		.from = from,
		.is_request = head->kind == AM_REQUEST,
	};

	if (head->kind != AM_ANSWER)
		call(&token, head, len);
	if (token.is_request)
		return token.replied ? 0 : post(am, from, AM_ANSWER, 0, NULL,
						NULL, 0);
	am->open[from]--;
	return 0;
}

/* A message was found; the transport calls this. */
static void found(void *arg, unsigned int from, const void *msg, size_t len)
{
	const struct am_head *head = msg;
	struct am *am = arg;
	int ret = -EBADMSG;

	if (len >= sizeof(*head) && head->handler < am->n &&
	    (head->kind == AM_REQUEST ||
	     (head->kind <= AM_ANSWER && am->open[from])))
		ret = take(am, from, head, len - sizeof(*head));
	if (ret)
		tp_abort(am->tp, ret);
}

struct request {
	struct am *am;
	unsigned int to, handler;
	const uint64_t *args;
	const void *body;
	size_t len;
	int ret;
};

/* A handler may not wait for what it has begun. */
static bool is_refused(struct request *r)
{
	r->ret = r->am->calls ? -EDEADLK : 0;
	return r->ret;
}

static bool note_refusal(void *arg)
{
	is_refused(arg);
	return true;
}

/* Would am_request() be refused? Asked before bytes are moved for it. */
static int may_request(struct am *am, unsigned int to, unsigned int handler)
{
	struct request r = { .am = am };
	int ret;

	if (to >= tp_processes(am->tp) || handler >= am->n)
		return -EINVAL;
	ret = tp_wait_until(am->tp, note_refusal, &r);
	return ret ? ret : r.ret;
}

/* Send a request if one more may be without an answer. */
static bool try_request(void *arg)
{
	struct request *r = arg;
	struct am *am = r->am;

	if (is_refused(r))
		return true;
	if (am->open[r->to] >= am->depth)
		return false;
	/* The own process answers within the call. */
	am->open[r->to]++;
	r->ret = post(am, r->to, AM_REQUEST, r->handler, r->args, r->body,
		      r->len);
	if (r->ret)
		am->open[r->to]--;
	return true;
}

int am_request(struct am *am, unsigned int to, unsigned int handler,
	       const uint64_t *args, const void *body, size_t len)
{
	struct request r = {
		.am = am,
		.to = to,
		.handler = handler,
		.args = args,
		.body = body,
		.len = len,
	};
	int ret;

	if (to >= tp_processes(am->tp) || handler >= am->n || len > am_max(am))
		return -EINVAL;
	ret = tp_wait_until(am->tp, try_request, &r);
	return ret ? ret : r.ret;
}

int am_begin_bulk(struct am *am, unsigned int to, unsigned int handler,
		  const uint64_t *args, const void *from, size_t len,
		  size_t offset, struct tp_req *req)
{
	int ret = may_request(am, to, handler);

	ret = ret ? ret : tp_put(am->tp, to, offset, from, len, req);
	if (ret)
		return ret;
	/* A message that is sent after a put arrives after it. */
	ret = am_request(am, to, handler, args, NULL, 0);
	/* The put is under way, and the caller need not wait for it. */
	if (ret)
		tp_abort(am->tp, ret);
	return ret;
}

int am_request_bulk(struct am *am, unsigned int to, unsigned int handler,
		    const uint64_t *args, const void *from, size_t len,
		    size_t offset)
{
	struct tp_req req = {};
	int ret = am_begin_bulk(am, to, handler, args, from, len, offset,
				&req);

	return ret ? ret : tp_wait(am->tp, &req);
}

int am_reply(struct am_token *token, unsigned int handler,
	     const uint64_t *args, const void *body, size_t len)
{
	struct am *am = token->am;
	int ret;

	if (!token->is_request || handler >= am->n || len > am_max(am))
		return -EINVAL;
	if (token->replied)
		return -EALREADY;
	token->replied = true;
	ret = post(am, token->from, AM_REPLY, handler, args, body, len);
	if (ret)
		tp_abort(am->tp, ret);
	return ret;
}

static bool all_answered(void *arg)
{
	struct request *r = arg;
	unsigned int i;

	if (is_refused(r))
		return true;
	for (i = 0; i < tp_processes(r->am->tp); i++)
		if (r->am->open[i])
			return false;
	return true;
}

int am_drain(struct am *am)
{
	struct request r = { .am = am };
	int ret = tp_wait_until(am->tp, all_answered, &r);

	return ret ? ret : r.ret;
}

size_t am_max(const struct am *am)
{
	return tp_post_max(am->tp) - sizeof(struct am_head);
}

void *am_arg(const struct am *am)
{
	return am->arg;
}

int am_open(struct am **out, struct transport *tp, unsigned int depth,
	    const am_handler *handlers, unsigned int n, void *arg)
{
	char all[TP_PROCESSES], mine = 0;
	struct am *am;
	unsigned int i;
	int ret;

	if (!depth || !n || n > AM_HANDLERS)
		return -EINVAL;
	am = calloc(1, sizeof(*am));
	if (!am)
		return -ENOMEM;
	am->open = calloc(tp_processes(tp), sizeof(*am->open));
	if (!am->open) {
		free(am);
		return -ENOMEM;
	}
	am->tp = tp;
	am->depth = depth;
	am->n = n;
	am->arg = arg;
	for (i = 0; i < n; i++)
		am->handlers[i] = handlers[i];
	tp_set_handler(tp, found, am);
	/* Nobody sends a request before all have their handlers. */
	ret = tp_share(tp, &mine, sizeof(mine), all);
	if (ret) {
		tp_set_handler(tp, NULL, NULL);
		free(am->open);
		free(am);
		return ret;
	}
	*out = am;
	return 0;
}

int am_close(struct am *am)
{
	char all[TP_PROCESSES], mine = 0;
	int ret = am_drain(am);

	if (!ret)
		ret = tp_share(am->tp, &mine, sizeof(mine), all);
	tp_set_handler(am->tp, NULL, NULL);
	free(am->open);
	free(am);
	return ret;
}
