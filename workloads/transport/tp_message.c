// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages find who asked for them, by sender and tag. One that comes early is
 * kept: the bytes of a short one, the offer of a long one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tp.h"

static bool fits(const struct tp_header *head, const struct tp_req *req)
{
	return head->tag == req->tag &&
		(req->from == TP_ANY || req->from == head->from);
}

/* Take out the first request that waits for this message, or NULL. */
static struct tp_req *take_wanted(struct transport *tp,
				  const struct tp_header *head)
{
	struct tp_req **at, *req;

	for (at = &tp->wanted; (req = *at); at = &req->next) {
		if (!fits(head, req))
			continue;
		*at = req->next;
		if (!req->next)
			tp->wanted_last = at;
		return req;
	}
	return NULL;
}

/* Take out the first early message that fits the request, or NULL. */
static struct tp_early *take_early(struct transport *tp,
				   const struct tp_req *req)
{
	struct tp_early **at, *early;

	for (at = &tp->early; (early = *at); at = &early->next) {
		if (!fits(&early->head, req))
			continue;
		*at = early->next;
		if (!early->next)
			tp->early_last = at;
		return early;
	}
	return NULL;
}

static void deliver(struct transport *tp, struct tp_req *req,
		    const struct tp_header *head, const void *body)
{
	if (head->kind == TP_MSG_OFFER) {
		tp_long_accept(tp, head, req);
		return;
	}
	req->from = head->from;
	if (head->len > req->len) {
		req->status = -EMSGSIZE;
		return;
	}
	if (head->len)
		memcpy(req->buf, body, head->len);
	req->len = head->len;
	req->status = 0;
}

static int keep_early(struct transport *tp, const struct tp_header *head,
		      const void *body)
{
	size_t len = head->kind == TP_MSG_EAGER ? head->len : 0;
	struct tp_early *early = malloc(sizeof(*early) + len);

	if (!early)
		return -ENOMEM;
	early->next = NULL;
	early->head = *head;
	if (len)
		memcpy(early->body, body, len);
	*tp->early_last = early;
	tp->early_last = &early->next;
	return 0;
}

/* A message arrived. @body is valid during the call. */
int tp_message(struct transport *tp, const struct tp_header *head,
	       const void *body)
{
	struct tp_req *req;

	switch (head->kind) {
	case TP_MSG_EAGER:
	case TP_MSG_OFFER:
		req = take_wanted(tp, head);
		if (!req)
			return keep_early(tp, head, body);
		deliver(tp, req, head, body);
		return 0;
	case TP_MSG_ANSWER:
	case TP_MSG_DONE:
		tp_long_message(tp, head);
		return 0;
	case TP_MSG_POST:
		if (tp->handler)
			tp->handler(tp->handler_arg, head->from, body,
				    head->len);
		return tp->handler ? 0 : -EBADMSG;
	case TP_MSG_CREDIT:
		return 0;
	}
	return -EBADMSG;
}

static int isend(struct transport *tp, unsigned int to, struct tp_req *req)
{
	struct tp_out out = {
		.op = IBV_WR_SEND,
		.head = {
			.kind = TP_MSG_EAGER,
			.from = tp->attr.rank,
			.tag = req->tag,
			.len = req->len,
		},
		.body = req->buf,
		.len = req->len,
	};
	int ret;

	if (req->len > tp->attr.eager)
		return tp_long_offer(tp, to, req);
	ret = tp_out(tp, to, &out);
	if (!ret)
		req->status = 0;
	return ret;
}

int tp_isend(struct transport *tp, unsigned int to, uint32_t tag,
	     const void *buf, size_t len, struct tp_req *req)
{
	int ret;

	if (to >= tp->processes || to == tp->attr.rank || len > TP_LONGEST)
		return -EINVAL;
	*req = (struct tp_req){
		.status = -EINPROGRESS,
		.buf = (void *)buf,
		.len = len,
		.tag = tag,
		.from = tp->attr.rank,
	};
	pthread_mutex_lock(&tp->lock);
	ret = tp->failed ? tp->failed : isend(tp, to, req);
	pthread_mutex_unlock(&tp->lock);
	return ret;
}

int tp_irecv(struct transport *tp, int from, uint32_t tag, void *buf,
	     size_t len, struct tp_req *req)
{
	struct tp_early *early;
	int ret = 0;

	if (from != TP_ANY && (from < 0 || from >= (int)tp->processes ||
			       from == (int)tp->attr.rank))
		return -EINVAL;
	*req = (struct tp_req){
		.status = -EINPROGRESS,
		.buf = buf,
		.len = len,
		.tag = tag,
		.from = from,
	};
	pthread_mutex_lock(&tp->lock);
	early = take_early(tp, req);
	if (early) {
		deliver(tp, req, &early->head, early->body);
		free(early);
	} else if (tp->failed) {
		ret = tp->failed;
	} else {
		*tp->wanted_last = req;
		tp->wanted_last = &req->next;
	}
	pthread_mutex_unlock(&tp->lock);
	return ret;
}

/* Other threads may wait for what the handler does. */
static int to_self(struct transport *tp, const struct tp_out *out)
{
	int ret = tp_message(tp, &out->head, out->body);

	tp_wake(tp);
	return ret;
}

static int post(struct transport *tp, unsigned int to, const void *bytes,
		size_t len)
{
	struct tp_out out = {
		.op = IBV_WR_SEND,
		.head = {
			.kind = TP_MSG_POST,
			.from = tp->attr.rank,
			.len = len,
		},
		.body = bytes,
		.len = len,
	};
	int ret;

	pthread_mutex_lock(&tp->lock);
	if (to != tp->attr.rank)
		ret = tp_out(tp, to, &out);
	else
		ret = tp->failed ? tp->failed : to_self(tp, &out);
	pthread_mutex_unlock(&tp->lock);
	return ret;
}

static int post_both(struct transport *tp, unsigned int to, const void *head,
		     size_t head_len, const void *body, size_t body_len)
{
	char whole[head_len + body_len] __attribute__((aligned(8)));

	memcpy(whole, head, head_len);
	memcpy(whole + head_len, body, body_len);
	return post(tp, to, whole, head_len + body_len);
}

int tp_post(struct transport *tp, unsigned int to, const void *head,
	    size_t head_len, const void *body, size_t body_len)
{
	if (to >= tp->processes || head_len > tp->attr.eager ||
	    body_len > tp->attr.eager - head_len)
		return -EINVAL;
	if (!body_len)
		return post(tp, to, head, head_len);
	return post_both(tp, to, head, head_len, body, body_len);
}

size_t tp_post_max(const struct transport *tp)
{
	return tp->attr.eager;
}

void tp_set_handler(struct transport *tp, tp_handler fn, void *arg)
{
	pthread_mutex_lock(&tp->lock);
	tp->handler = fn;
	tp->handler_arg = arg;
	pthread_mutex_unlock(&tp->lock);
}

void tp_set_progress(struct transport *tp, void (*fn)(void *arg), void *arg)
{
	pthread_mutex_lock(&tp->lock);
	tp->progress = fn;
	tp->progress_arg = arg;
	pthread_mutex_unlock(&tp->lock);
}

void tp_message_free(struct transport *tp)
{
	struct tp_early *early;

	while ((early = tp->early)) {
		tp->early = early->next;
		free(early);
	}
}
