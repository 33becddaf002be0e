// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Injected faults: what a test asks an adapter to do wrong.
 *
 * Invariants
 * - A command fault waits until the nth matching command has come, acts on
 *   count of them and is gone; count 0 acts until it is cleared.
 * - The first fault that acts on a command decides; later ones still count it.
 * - What command faults did is remembered until they are cleared, so that a
 *   test can tell which command it was that it made fail.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fw/cmd.h"
#include "device.h"

#define FAULTS_MAX 256u
#define ANY_OPCODE 0u
#define HITS_MAX 64u	/* of which one is told; all are counted */

struct fault {
	uint16_t opcode;
	uint64_t nth;	/* commands to wait for, counting this one */
	uint64_t left;	/* commands to act on, UINT64_MAX: all */
	uint16_t run;	/* run these all the same */
	struct fault_verdict verdict;
};

struct faults {
	struct fault list[FAULTS_MAX];
	size_t count;
	uint16_t hits[HITS_MAX];
	size_t nhits;
};

/**
 * faults_init() - make the empty list
 * @hca: the adapter
 *
 * Return: 0 or -ENOMEM
 */
int faults_init(struct hca *hca)
{
	hca->faults = calloc(1, sizeof(*hca->faults));
	return hca->faults ? 0 : -ENOMEM;
}

/**
 * faults_fini() - free the list
 * @hca: the adapter
 */
void faults_fini(struct hca *hca)
{
	free(hca->faults);
	hca->faults = NULL;
}

/**
 * faults_tell() - what command faults did since they were cleared last
 * @hca: the adapter
 * @waiting: increased by the number of faults that wait or go on
 * @hits: gets the names of the commands that were made to fail
 */
void faults_tell(struct hca *hca, struct json_object *waiting,
		 struct json_object *hits)
{
	struct faults *faults = hca->faults;
	const struct cmd_def *def;
	char opcode[8];
	size_t i;

	json_object_int_inc(waiting, (int64_t)faults->count);
	for (i = 0; i < faults->nhits && i < HITS_MAX; i++) {
		def = cmd_find(faults->hits[i]);
		snprintf(opcode, sizeof(opcode), "0x%x", faults->hits[i]);
		json_object_array_add(hits, json_object_new_string(
			def ? def->name : opcode));
	}
}

/**
 * faults_clear() - do nothing wrong any more
 * @hca: the adapter
 */
void faults_clear(struct hca *hca)
{
	hca->faults->count = 0;
	hca->faults->nhits = 0;
}

/* Take note of a command that a fault acts on; late ones are not failed. */
static void fault_hit(struct faults *faults, const struct fault_verdict *v,
		      uint16_t opcode)
{
	if (!v->fail && !v->never)
		return;
	if (faults->nhits < HITS_MAX)
		faults->hits[faults->nhits] = opcode;
	faults->nhits++;
}

/**
 * faults_command() - what is to be done to a command?
 * @hca: the adapter
 * @opcode: the command that came
 *
 * Return: the verdict, all zero for nothing
 */
struct fault_verdict faults_command(struct hca *hca, uint16_t opcode)
{
	struct faults *faults = hca->faults;
	struct fault_verdict verdict = { 0 };
	bool decided = false;
	struct fault *f;
	size_t i;

	for (i = 0; i < faults->count; i++) {
		f = &faults->list[i];
		if (f->opcode != ANY_OPCODE && f->opcode != opcode)
			continue;
		if (f->nth && --f->nth)
			continue;
		if (!decided) {
			verdict = f->verdict;
			verdict.run = f->run == opcode;
		}
		decided = true;
		if (f->left != UINT64_MAX && !--f->left) {
			memmove(f, f + 1,
				(faults->count - i - 1) * sizeof(*f));
			faults->count--;
			i--;
		}
	}
	fault_hit(faults, &verdict, opcode);
	return verdict;
}

static struct json_object *field(struct json_object *req, const char *name)
{
	struct json_object *o;

	return json_object_object_get_ex(req, name, &o) ? o : NULL;
}

static int64_t number(struct json_object *req, const char *name, int64_t def)
{
	struct json_object *o = field(req, name);

	return o ? json_object_get_int64(o) : def;
}

static const char *string(struct json_object *req, const char *name)
{
	struct json_object *o = field(req, name);

	return o && json_object_is_type(o, json_type_string) ?
		       json_object_get_string(o) : "";
}

/* An opcode by name or by number; ANY_OPCODE where there is no such field. */
static int fault_opcode(struct json_object *req, const char *name,
			uint16_t *code, const char **why)
{
	struct json_object *opcode = field(req, name);
	const struct cmd_def *def;

	*code = ANY_OPCODE;
	if (opcode && json_object_is_type(opcode, json_type_string)) {
		def = cmd_find_name(json_object_get_string(opcode));
		if (!def) {
			*why = "no such opcode";
			return -EINVAL;
		}
		*code = def->opcode;
	} else if (opcode) {
		*code = (uint16_t)json_object_get_int(opcode);
	}
	return 0;
}

/* Take opcode, nth and count. */
static int fault_match(struct json_object *req, struct fault *f,
		       int64_t count, const char **why)
{
	int ret = fault_opcode(req, "opcode", &f->opcode, why);

	if (ret)
		return ret;
	count = number(req, "count", count);
	if (number(req, "nth", 1) < 1 || count < 0) {
		*why = "nth counts from 1, count from 0";
		return -EINVAL;
	}
	f->nth = (uint64_t)number(req, "nth", 1);
	f->left = count ? (uint64_t)count : UINT64_MAX;
	return 0;
}

static int fault_cmd(struct hca *hca, struct json_object *req,
		     const char **why)
{
	struct json_object *status = field(req, "status");
	struct fault f = { 0 };
	int ret = fault_match(req, &f, 1, why);

	if (!ret)
		ret = fault_opcode(req, "run", &f.run, why);
	if (ret)
		return ret;
	if (!strcmp(string(req, "status"), "never"))
		f.verdict.never = true;
	else if (status && json_object_is_type(status, json_type_int) &&
		 json_object_get_int(status) > 0 &&
		 json_object_get_int(status) <= 0xff)
		f.verdict.fail = true;
	else {
		*why = "status is 1 to 255 or \"never\"";
		return -EINVAL;
	}
	f.verdict.status = (uint8_t)(f.verdict.fail ?
					     json_object_get_int(status) : 0);
	hca->faults->list[hca->faults->count++] = f;
	return 0;
}

static int fault_delay(struct hca *hca, struct json_object *req,
		       const char **why)
{
	int64_t us = number(req, "us", 0);
	struct fault f = { 0 };
	int ret = fault_match(req, &f, 0, why);

	if (ret)
		return ret;
	if (us <= 0 || us > 3600000000ll) {
		*why = "us is 1 to 3600000000";
		return -EINVAL;
	}
	f.verdict.delay_ns = (uint64_t)us * NSEC_PER_USEC;
	hca->faults->list[hca->faults->count++] = f;
	return 0;
}

static int fault_port(struct hca *hca, struct json_object *req,
		      const char **why)
{
	const char *state = string(req, "state");

	if (strcmp(state, "up") && strcmp(state, "down")) {
		*why = "state is \"up\" or \"down\"";
		return -EINVAL;
	}
	return port_set(hca, !strcmp(state, "up"));
}

static int fault_timeout(struct hca *hca, struct json_object *req,
			 const char **why)
{
	int64_t ms = number(req, "ms", -1);

	if (ms < 0 || ms > 600000) {
		*why = "ms is 0 to 600000";
		return -EINVAL;
	}
	iseg_timeout(hca, (uint32_t)ms);
	return 0;
}

static int fault_fatal(struct hca *hca, struct json_object *req,
		       const char **why)
{
	int64_t syndrome = number(req, "syndrome", 1);

	if (syndrome < 1 || syndrome > 0xff) {
		*why = "syndrome is 1 to 255";
		return -EINVAL;
	}
	iseg_fatal(hca, (uint8_t)syndrome);
	return 0;
}

/* Events about a QP or SRQ carry its number behind 24 bytes, CQ errors first. */
#define EVENT_QPN_AT 24u
#define EVENT_CQN_AT 0u

static const struct {
	const char *name;
	uint8_t type;
	const char *object;
	unsigned int at;
} events[] = {
	{ "PATH_MIG", 0x01, "qpn", EVENT_QPN_AT },
	{ "COMM_EST", 0x02, "qpn", EVENT_QPN_AT },
	{ "SQ_DRAINED", 0x03, "qpn", EVENT_QPN_AT },
	{ "LAST_WQE", 0x13, "qpn", EVENT_QPN_AT },
	{ "SRQ_LIMIT", 0x14, "srqn", EVENT_QPN_AT },
	{ "CQ_ERROR", 0x04, "cqn", EVENT_CQN_AT },
	{ "QP_FATAL", 0x05, "qpn", EVENT_QPN_AT },
	{ "PATH_MIG_ERR", 0x07, "qpn", EVENT_QPN_AT },
	{ "QP_REQ_ERR", 0x10, "qpn", EVENT_QPN_AT },
	{ "QP_ACCESS_ERR", 0x11, "qpn", EVENT_QPN_AT },
	{ "SRQ_ERR", 0x12, "srqn", EVENT_QPN_AT },
};

static int fault_event(struct hca *hca, struct json_object *req,
		       const char **why)
{
	uint8_t data[IFC_FLD_SZ(eqe, event_data)] = { 0 };
	const char *name = string(req, "event");
	uint32_t n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		if (strcasecmp(events[i].name, name))
			continue;
		if (!field(req, events[i].object)) {
			*why = events[i].object;
			return -EINVAL;
		}
		n = htobe32((uint32_t)number(req, events[i].object, 0));
		memcpy(data + events[i].at, &n, sizeof(n));
		eq_post_async(hca, events[i].type, 0, data);
		return 0;
	}
	*why = "no such event";
	return -EINVAL;
}

static const struct {
	const char *kind;
	int (*inject)(struct hca *hca, struct json_object *req,
		      const char **why);
} kinds[] = {
	{ "cmd", fault_cmd },	  { "delay", fault_delay },
	{ "port", fault_port },	  { "fatal", fault_fatal },
	{ "event", fault_event }, { "timeout", fault_timeout },
};

/**
 * fault_inject() - do what a control request asks
 * @hca: the adapter
 * @req: the request
 * @why: set to what is wrong with it
 *
 * Return: 0 or -EINVAL
 */
int fault_inject(struct hca *hca, struct json_object *req, const char **why)
{
	const char *kind = string(req, "kind");
	size_t i;

	if (hca->faults->count == FAULTS_MAX) {
		*why = "too many faults are waiting";
		return -EINVAL;
	}
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].kind, kind))
			return kinds[i].inject(hca, req, why);
	*why = "no such kind";
	return -EINVAL;
}
