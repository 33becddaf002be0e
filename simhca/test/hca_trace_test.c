// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * The trace of what happened when, in the loop's simulated time, as a client of the
 * control socket gets it.
 */
#include <string.h>

#include "base/trace.h"
#include "data/flight.h"
#include "test/unit/pair.h"

#define OK W_SIGNALED
#define LATENCY 2u		/* ms */
#define RATE 1000000u		/* a thousand bytes in a millisecond */

static bool begin(struct pair *p)
{
	if (!pair_connect(p, &w_rc_attr))
		return false;
	cable_time.latency = LATENCY * NSEC_PER_MSEC;
	cable_time.rate = RATE;
	return !trace_start();
}

/* UINT64_MAX where there is no such number */
static uint64_t number(const struct json_object *o, const char *name)
{
	struct json_object *n;

	return json_object_object_get_ex(o, name, &n) ?
		       (uint64_t)json_object_get_int64(n) : UINT64_MAX;
}

static bool is(const struct json_object *o, const char *name, const char *text)
{
	struct json_object *s = NULL;

	return json_object_object_get_ex(o, name, &s) &&
	       !strcmp(json_object_get_string(s), text);
}

/* The n-th message of a trace, from 0; NULL: there are not so many */
static struct json_object *message(struct json_object *all, size_t n)
{
	struct json_object *o;
	size_t i;

	for (i = 0; i < json_object_array_length(all); i++) {
		o = json_object_array_get_idx(all, i);
		if (is(o, "kind", "message") && !n--)
			return o;
	}
	return NULL;
}

static struct json_object *all_of_it(void)
{
	uint64_t next, lost;

	return trace_since(0, &next, &lost);
}

static void a_message_has_its_times(void)
{
	struct json_object *all, *o;
	uint64_t since;
	struct pair p;

	CHECK(begin(&p));
	since = loop_now();
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 4000);
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 1000);
	w_run(20);
	CHECK_EQ(pair_done(&p), 2);
	all = all_of_it();
	o = json_object_array_get_idx(all, 0);
	CHECK(is(o, "kind", "ring"));
	CHECK_EQ(number(o, "qpn"), p.qp[0].qpn);
	CHECK_EQ(number(o, "begun"), since);
	CHECK_EQ(number(o, "done"), UINT64_MAX);
	o = message(all, 0);
	CHECK(is(o, "op", "RDMA_WRITE"));
	CHECK_EQ(number(o, "hca"), 0);
	CHECK_EQ(number(o, "to"), 1);
	CHECK_EQ(number(o, "qpn"), p.qp[0].qpn);
	CHECK_EQ(number(o, "request"), 0);
	CHECK_EQ(number(o, "bytes"), 4000);
	CHECK_EQ(number(o, "failed"), 0);
	CHECK_EQ(number(o, "begun"), since);
	CHECK_EQ(number(o, "left"), since + 4 * NSEC_PER_MSEC);
	CHECK_EQ(number(o, "arrived"), since + 6 * NSEC_PER_MSEC);
	CHECK_EQ(number(o, "done"), since + 8 * NSEC_PER_MSEC);
	o = message(all, 1);
	CHECK_EQ(number(o, "request"), 1);
	CHECK_EQ(number(o, "begun"), since + 4 * NSEC_PER_MSEC);
	CHECK_EQ(number(o, "left"), since + 5 * NSEC_PER_MSEC);
	json_object_put(all);
}

static void each_operation_has_its_name(void)
{
	struct wqe_atomic a = { .swap_add = htobe64(1) };
	struct json_object *all;
	struct w_wqe w;
	struct pair p;

	CHECK(begin(&p));
	w_recv(&p.qp[1], p.mem[1], 100, p.key[1]);
	pair_send(&p, WQE_OP_SEND, OK, 100);
	w_wqe(&w, &p.qp[0], WQE_OP_ATOMIC_FA, OK, 0);
	w_raddr(&w, p.mem[1], p.key[1]);
	w_add(&w, &a, sizeof(a));
	w_data(&w, p.mem[0], 8, p.key[0]);
	w_post(&p.qp[0], &w);
	w_ring(&p.qp[0]);
	w_run(20);
	CHECK_EQ(pair_done(&p), 2);
	all = all_of_it();
	CHECK(is(message(all, 0), "op", "SEND"));
	CHECK(is(message(all, 1), "op", "ATOMIC"));
	json_object_put(all);
}

/* The first one of two queues has a doorbell record. What is refused rings nothing. */
static void a_doorbell_names_its_newest_request(void)
{
	struct w_qp_attr attr = w_rc_attr;
	struct json_object *all;
	struct pair p, q;

	CHECK(begin(&p));
	CHECK_EQ(qp_ring(&w_hca[0], W_UAR, p.qp[0].qpn, 7, NULL, 0), RING_OK);
	attr.no_record = true;
	CHECK(pair_connect(&q, &attr));
	CHECK_EQ(qp_ring_to(&w_hca[0], W_UAR, q.qp[0].qpn, 0), RING_OK);
	CHECK_EQ(qp_ring_to(&w_hca[0], W_UAR, q.qp[0].qpn, 17), RING_BAD_STATE);
	all = all_of_it();
	CHECK_EQ(json_object_array_length(all), 2);
	CHECK_EQ(number(json_object_array_get_idx(all, 0), "request"), 7);
	CHECK_EQ(number(json_object_array_get_idx(all, 1), "request"), UINT16_MAX);
	json_object_put(all);
}

/* The data of a read leaves with the answer. */
static void a_read_is_done_when_its_data_is_there(void)
{
	struct json_object *all, *o;
	uint64_t since;
	struct pair p;

	CHECK(begin(&p));
	since = loop_now();
	pair_send(&p, WQE_OP_RDMA_READ, OK, 3000);
	w_run(20);
	all = all_of_it();
	o = message(all, 0);
	CHECK(is(o, "op", "RDMA_READ"));
	CHECK_EQ(number(o, "left"), since);
	CHECK_EQ(number(o, "arrived"), since + 2 * NSEC_PER_MSEC);
	CHECK_EQ(number(o, "done"), since + 7 * NSEC_PER_MSEC);
	json_object_put(all);
}

static void a_message_that_is_lost_has_failed(void)
{
	struct json_object *all, *o;
	struct pair p;

	CHECK(begin(&p));
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 1000);
	w_run(2);
	line_cut(w_hca[1].line);
	w_run(10);
	flights_end(qp_find(&w_hca[0], p.qp[0].qpn, 0));
	all = all_of_it();
	o = message(all, 0);
	CHECK_EQ(number(o, "failed"), 1);
	CHECK_EQ((int64_t)number(o, "to"), -1);
	json_object_put(all);
}

/* One that has not left when its QP ends has no time of it, nor any later one. */
static void a_message_that_never_left_has_no_times(void)
{
	struct json_object *all, *o;
	uint64_t since;
	struct pair p;

	CHECK(begin(&p));
	since = loop_now();
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 4000);
	w_run(1);
	flights_end(qp_find(&w_hca[0], p.qp[0].qpn, 0));
	all = all_of_it();
	o = message(all, 0);
	CHECK_EQ(number(o, "begun"), since);
	CHECK_EQ(number(o, "failed"), 1);
	CHECK_EQ(number(o, "left") + number(o, "arrived") + number(o, "done"), 0);
	json_object_put(all);
}

/* Pages follow each other; what is too old is counted, and not given. */
static void a_long_trace_is_read_in_pages(void)
{
	struct trace_event e = { .kind = TRACE_RING };
	struct json_object *all;
	uint64_t n, next, lost;

	CHECK(!trace_start());
	for (n = 0; n < TRACE_LEN + 10; n++) {
		e.begun = n;
		trace_add(&e);
	}
	all = trace_since(0, &next, &lost);
	CHECK_EQ(lost, 10);
	CHECK_EQ(json_object_array_length(all), TRACE_PAGE);
	CHECK_EQ(number(json_object_array_get_idx(all, 0), "seq"), 11);
	CHECK_EQ(number(json_object_array_get_idx(all, 0), "begun"), 10);
	CHECK_EQ(next, 11 + TRACE_PAGE);
	json_object_put(all);
	all = trace_since(TRACE_LEN + 10, &next, &lost);
	CHECK_EQ(lost, 0);
	CHECK_EQ(json_object_array_length(all), 1);
	CHECK_EQ(next, TRACE_LEN + 11);
	json_object_put(all);
	all = trace_since(UINT64_MAX, &next, &lost);
	CHECK_EQ(json_object_array_length(all), 0);
	json_object_put(all);
}

static void who_does_not_ask_keeps_nothing(void)
{
	struct json_object *all;
	struct pair p;

	CHECK(begin(&p));
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 1000);
	trace_stop();
	CHECK(!trace_on());
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 1000);
	w_run(20);
	all = all_of_it();
	CHECK_EQ(json_object_array_length(all), 0);
	json_object_put(all);
}

static void who_begins_again_sees_nothing_of_before(void)
{
	struct json_object *all;
	struct pair p;

	CHECK(begin(&p));
	pair_send(&p, WQE_OP_RDMA_WRITE, OK, 1000);
	CHECK(!trace_start());
	w_run(20);
	all = all_of_it();
	CHECK_EQ(json_object_array_length(all), 1);
	CHECK(message(all, 0));
	json_object_put(all);
}

static void teardown(void)
{
	trace_stop();
	w_teardown();
}

#define TEST(name) { #name, name }

static const struct ktap_test tests[] = {
	TEST(a_message_has_its_times),
	TEST(each_operation_has_its_name),
	TEST(a_doorbell_names_its_newest_request),
	TEST(a_read_is_done_when_its_data_is_there),
	TEST(a_message_that_is_lost_has_failed),
	TEST(a_message_that_never_left_has_no_times),
	TEST(a_long_trace_is_read_in_pages),
	TEST(who_does_not_ask_keeps_nothing),
	TEST(who_begins_again_sees_nothing_of_before),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests), w_setup, teardown);
}
