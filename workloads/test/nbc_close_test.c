// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: full */
/*
 * A group that is closed while a collective is under way, as after an error: the
 * progress of other groups does not look at it any more. The functions of the
 * transport are those below, which move nothing.
 */
#include <errno.h>
#include <string.h>

#include "kselftest_harness.h"

#include "nbc/nbc.h"

#define PROCESSES 4

static void (*progress)(void *arg);
static void *progress_arg;
static struct tp_req *received[16];
static unsigned int n_received, n_begun, n_locked;
static bool at_once;		/* a receive is done, and got zeros */

int tp_isend(struct transport *tp, unsigned int to, uint32_t tag,
	     const void *buf, size_t len, struct tp_req *req)
{
	n_begun++;
	req->status = 0;
	return 0;
}

int tp_irecv(struct transport *tp, int from, uint32_t tag, void *buf,
	     size_t len, struct tp_req *req)
{
	n_begun++;
	received[n_received++ % 16] = req;
	req->status = at_once ? 0 : -EINPROGRESS;
	if (at_once)
		memset(buf, 0, len);
	return 0;
}

int tp_wait_until(struct transport *tp, bool (*done)(void *arg), void *arg)
{
	n_locked++;
	return done(arg) ? 0 : -ETIME;
}

void tp_set_progress(struct transport *tp, void (*fn)(void *arg), void *arg)
{
	progress = fn;
	progress_arg = arg;
}

int tp_progress(struct transport *tp)
{
	return 0;
}

unsigned int tp_rank(const struct transport *tp)
{
	return 0;
}

unsigned int tp_processes(const struct transport *tp)
{
	return PROCESSES;
}

FIXTURE(groups)
{
	struct nbc *all, *part;
};

FIXTURE_SETUP(groups)
{
	struct nbc_req *req;

	at_once = true;
	ASSERT_EQ(0, nbc_open(&self->all, NULL));
	ASSERT_EQ(0, nbc_split(self->all, 0, 0, &self->part));
	ASSERT_EQ(PROCESSES, nbc_processes(self->part));
	at_once = false;
	n_begun = n_received = 0;
	ASSERT_EQ(0, nbc_ibarrier(self->part, &req));
	ASSERT_EQ(2, n_begun);
}

FIXTURE_TEARDOWN(groups)
{
	nbc_close(self->all);
}

/* The message of the first round arrives, and the transport says so. */
static void arrive(void)
{
	received[0]->status = 0;
	progress(progress_arg);
}

TEST_F(groups, a_group_that_is_open_goes_on)
{
	arrive();
	EXPECT_EQ(4, n_begun);
	nbc_close(self->part);
}

TEST_F(groups, a_group_that_was_closed_does_not)
{
	n_locked = 0;
	nbc_close(self->part);
	/* A helper thread has the lock while it goes on. */
	EXPECT_EQ(1, n_locked);
	arrive();
	EXPECT_EQ(2, n_begun);
}

TEST_HARNESS_MAIN
