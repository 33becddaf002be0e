// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: full */
/*
 * Active messages where the transport fails or a message is not right: the job ends,
 * because nobody else would tell who waits for the answer. The functions of the
 * transport are those below, which send nothing.
 */
#include <errno.h>
#include <string.h>

#include "kselftest_harness.h"

#include "am/am.h"

enum { SILENT, REPLIES, BEGINS, N_HANDLERS };

static tp_handler handler;
static void *handler_arg;
static char sent[4096];		/* the last message */
static size_t sent_len;
static int post_error, aborted, begun;
static unsigned int puts_begun;

int tp_post(struct transport *tp, unsigned int to, const void *head,
	    size_t head_len, const void *body, size_t body_len)
{
	memcpy(sent, head, head_len);
	sent_len = head_len;
	return post_error;
}

void tp_set_handler(struct transport *tp, tp_handler fn, void *arg)
{
	handler = fn;
	handler_arg = arg;
}

void tp_abort(struct transport *tp, int error)
{
	aborted = error;
}

int tp_put(struct transport *tp, unsigned int to, size_t offset,
	   const void *buf, size_t len, struct tp_req *req)
{
	puts_begun++;
	return 0;
}

int tp_wait(struct transport *tp, struct tp_req *req)
{
	return 0;
}

int tp_wait_until(struct transport *tp, bool (*done)(void *arg), void *arg)
{
	return done(arg) ? 0 : -ETIME;
}

int tp_share(struct transport *tp, const void *mine, size_t len, void *all)
{
	return 0;
}

unsigned int tp_processes(const struct transport *tp)
{
	return 2;
}

size_t tp_post_max(const struct transport *tp)
{
	return sizeof(sent);
}

static void silent(struct am_token *token, const uint64_t *args,
		   const void *body, size_t len)
{
}

static void replies(struct am_token *token, const uint64_t *args,
		    const void *body, size_t len)
{
	am_reply(token, SILENT, args, NULL, 0);
}

static void begins(struct am_token *token, const uint64_t *args,
		   const void *body, size_t len)
{
	struct tp_req req;

	begun = am_begin_bulk(token->am, 1, SILENT, args, sent, 8, 0, &req);
}

FIXTURE(messages)
{
	struct am *am;
};

FIXTURE_SETUP(messages)
{
	static const am_handler handlers[] = { silent, replies, begins };

	post_error = aborted = begun = puts_begun = 0;
	ASSERT_EQ(0, am_open(&self->am, NULL, 4, handlers, N_HANDLERS, NULL));
}

FIXTURE_TEARDOWN(messages)
{
	am_close(self->am);
}

/* What process 1 would get is what it sends: the request arrives here. */
static void arrive(struct am *am, unsigned int number, int error)
{
	uint64_t args[AM_ARGS] = {};

	if (am_request(am, 1, number, args, NULL, 0))
		return;
	post_error = error;
	handler(handler_arg, 1, sent, sent_len);
}

TEST_F(messages, an_answer_that_is_sent_ends_nothing)
{
	arrive(self->am, SILENT, 0);
	arrive(self->am, REPLIES, 0);
	EXPECT_EQ(0, aborted);
}

TEST_F(messages, an_answer_that_cannot_be_sent_ends_the_job)
{
	arrive(self->am, SILENT, -ENOMEM);
	EXPECT_EQ(-ENOMEM, aborted);
}

TEST_F(messages, a_reply_that_cannot_be_sent_ends_the_job)
{
	arrive(self->am, REPLIES, -ENOMEM);
	EXPECT_EQ(-ENOMEM, aborted);
}

TEST_F(messages, a_message_without_a_handler_ends_the_job)
{
	memset(sent, 0xff, sizeof(sent));
	handler(handler_arg, 1, sent, sizeof(sent));
	EXPECT_EQ(-EBADMSG, aborted);
}

TEST_F(messages, a_bulk_request_from_a_handler_begins_nothing)
{
	arrive(self->am, BEGINS, 0);
	EXPECT_EQ(-EDEADLK, begun);
	EXPECT_EQ(0, puts_begun);
}

TEST_F(messages, a_bulk_request_to_no_handler_begins_nothing)
{
	uint64_t args[AM_ARGS] = {};
	struct tp_req req;

	EXPECT_EQ(-EINVAL, am_begin_bulk(self->am, 1, N_HANDLERS, args, sent,
					 8, 0, &req));
	EXPECT_EQ(-EINVAL, am_begin_bulk(self->am, 2, SILENT, args, sent, 8,
					 0, &req));
	EXPECT_EQ(-EINVAL, am_request_bulk(self->am, 1, N_HANDLERS, args, sent,
					   8, 0));
	EXPECT_EQ(0, puts_begun);
}

TEST_F(messages, a_bulk_request_whose_message_cannot_be_sent_ends_the_job)
{
	uint64_t args[AM_ARGS] = {};
	struct tp_req req;

	post_error = -ENOMEM;
	EXPECT_EQ(-ENOMEM, am_begin_bulk(self->am, 1, SILENT, args, sent, 8, 0,
					 &req));
	EXPECT_EQ(-ENOMEM, aborted);
}

TEST_HARNESS_MAIN
