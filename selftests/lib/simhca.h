/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Client of the control channel of simhca. A request and an answer are one JSON
 * object on one line each. The channel is a Unix socket on the host and a
 * virtio-serial port in a guest. Only one process can open the port, so an open
 * channel holds a lock: keep it open no longer than needed.
 */
#ifndef SELFTESTS_SIMHCA_H
#define SELFTESTS_SIMHCA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <json-c/json.h>

struct simhca;

/**
 * simhca_open() - connect to the control channel
 * @sim: set on success
 * @path: socket or port; NULL: what $SIMHCA_CONTROL names
 *
 * Return: 0 or -errno; -ENOENT where neither names one.
 */
int simhca_open(struct simhca **sim, const char *path);
void simhca_close(struct simhca *sim);

/**
 * simhca_call() - send a request, wait (60 s at most) for its answer
 * @sim: open channel
 * @answer: the caller puts it; NULL where only success matters
 * @fmt: the request, one JSON object, as for printf()
 *
 * Return: 0; -EREMOTEIO where the model answered "ok":false (and what it said is
 * printed); another -errno where there was no proper answer.
 */
int simhca_call(struct simhca *sim, struct json_object **answer,
		const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Open a channel, send a request as with simhca_call(), close the channel. */
int simhca_ask(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* One QP as simhca knows it. */
struct simhca_qp {
	uint32_t qpn;
	char type[12];
	bool user;
	uint32_t uar;		/* page that the QP was created with */
	uint64_t doorbells;	/* plain ones */
	uint64_t blueflame;
	uint64_t wrong_uar;
};

/* One QP rang one uUAR. */
struct simhca_ring {
	uint32_t qpn;
	uint32_t uar;
	unsigned int slot;
	uint64_t count;
};

/* The state of one HCA at one moment. */
struct simhca_view {
	struct json_object *answer, *hca;
	struct simhca_qp *qps;
	size_t n_qps;
	struct simhca_ring *rings;
	size_t n_rings;
};

void simhca_view_put(struct simhca_view *view);

/*
 * The number of objects, or of errors, of one name; -1 where there is no such
 * name.
 */
int64_t simhca_alive(const struct simhca_view *view, const char *kind);
int64_t simhca_errors(const struct simhca_view *view, const char *kind);
const struct simhca_qp *simhca_qp(const struct simhca_view *view, uint32_t qpn);

/* Open a channel, take a view of an HCA, close the channel. */
int simhca_look(unsigned int hca, struct simhca_view *view);
/* Open a channel, set all counters to 0, close the channel. */
int simhca_zero(void);
/* The number of objects of a kind in HCA 0; -1 where it is not known. */
int64_t simhca_count(const char *kind);

/* Bytes registered with HCA 0; -1 where that is not known. */
int64_t simhca_registered(void);

/**
 * simhca_fail() - let commands of HCA 0 fail from now on
 * @opcode: which, for instance "ALLOC_UAR"
 * @nth: the first that fails, 1 is the next one
 * @count: how many from then on
 * @status: what they answer
 *
 * Return: 0 or -errno.
 */
int simhca_fail(const char *opcode, unsigned int nth, unsigned int count,
		unsigned int status);
/* The next command @opcode is answered @us microseconds late. Return: 0 or -errno. */
int simhca_delay(const char *opcode, unsigned int us);
/* End all injected faults. */
int simhca_fail_nothing(void);

#endif
