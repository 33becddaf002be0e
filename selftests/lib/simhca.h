/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Client of the simulated HCA's control channel: one JSON object per line in,
 * one out. The channel is a Unix socket on the host and a virtio-serial port
 * in a guest. The port can be opened once at a time, so an open channel is held
 * under a lock: open it for as long as it is needed and no longer.
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

/* One QP as the model knows it. */
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

/* What one HCA looked like at one moment. */
struct simhca_view {
	struct json_object *answer, *hca;
	struct simhca_qp *qps;
	size_t n_qps;
	struct simhca_ring *rings;
	size_t n_rings;
};

/**
 * simhca_view_get() - take a picture of HCA number @hca
 *
 * Return: 0 or -errno; release it with simhca_view_put().
 */
int simhca_view_get(struct simhca *sim, unsigned int hca,
		    struct simhca_view *view);
void simhca_view_put(struct simhca_view *view);

/* Objects alive, errors counted, of one name; -1 where there is no such name. */
int64_t simhca_alive(const struct simhca_view *view, const char *kind);
int64_t simhca_errors(const struct simhca_view *view, const char *kind);
const struct simhca_qp *simhca_qp(const struct simhca_view *view, uint32_t qpn);

/* Open, take a picture of an HCA, close. */
int simhca_look(unsigned int hca, struct simhca_view *view);
/* Open, zero the counters, close. */
int simhca_zero(void);
/* Objects of a kind that are alive in HCA 0 now; -1 where nobody can tell. */
int64_t simhca_count(const char *kind);

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
/* No more faults of any kind. */
int simhca_fail_nothing(void);

#endif
