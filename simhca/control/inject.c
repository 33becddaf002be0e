// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Injected faults: carry out a fault request of the control socket. Faults of
 * commands wait in fault.c. All other faults happen at once.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "control/control.h"
#include "fabric/fabric.h"
#include "fw/cmd.h"
#include "fw/eq.h"
#include "fw/iseg.h"

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

/* An opcode by name or number; FAULT_ANY_OPCODE if the field is missing. */
static int fault_opcode(struct json_object *req, const char *name,
			uint16_t *code, const char **why)
{
	struct json_object *opcode = field(req, name);
	const struct cmd_def *def;

	*code = FAULT_ANY_OPCODE;
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

static int add(struct hca *hca, const struct fault *f, const char **why)
{
	int ret = faults_add(hca, f);

	if (ret)
		*why = "too many faults are waiting";
	return ret;
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
	return add(hca, &f, why);
}

static int fault_delay(struct hca *hca, struct json_object *req,
		       const char **why)
{
	int64_t us = number(req, "us", 0), status = number(req, "status", 0);
	struct fault f = { 0 };
	int ret = fault_match(req, &f, 0, why);

	if (ret)
		return ret;
	if (us <= 0 || us > 3600000000ll) {
		*why = "us is 1 to 3600000000";
		return -EINVAL;
	}
	if (status < 0 || status > 0xff) {
		*why = "status is 1 to 255, or 0 for a command that runs";
		return -EINVAL;
	}
	f.verdict.fail = status;
	f.verdict.status = (uint8_t)status;
	f.verdict.delay_ns = (uint64_t)us * NSEC_PER_USEC;
	return add(hca, &f, why);
}

static int fault_port(struct hca *hca, struct json_object *req,
		      const char **why)
{
	const char *state = string(req, "state");

	if (strcmp(state, "up") && strcmp(state, "down")) {
		*why = "state is \"up\" or \"down\"";
		return -EINVAL;
	}
	return cable_set(hca, !strcmp(state, "up"));
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

/* Offsets in the event data of the number of a QP or SRQ, and of a CQ. */
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

/* A kind is a function, or a member of struct hca that stays set until it is cleared. */
static const struct {
	const char *kind;
	int (*inject)(struct hca *hca, struct json_object *req,
		      const char **why);
	size_t flag;
} kinds[] = {
	{ "cmd", .inject = fault_cmd },
	{ "delay", .inject = fault_delay },
	{ "port", .inject = fault_port },
	{ "fatal", .inject = fault_fatal },
	{ "event", .inject = fault_event },
	{ "timeout", .inject = fault_timeout },
	{ "mute", .flag = offsetof(struct hca, mute) },
	{ "uar", .flag = offsetof(struct hca, wrong_uar) },
	{ "large_uar", .flag = offsetof(struct hca, large_uar) },
	{ "few_uars", .flag = offsetof(struct hca, few_uars) },
	{ "no_wc", .flag = offsetof(struct hca, no_wc) },
	{ "flip", .flag = offsetof(struct hca, flip) },
};

/**
 * fault_inject() - do what a control request asks
 * @why: set to what is wrong with it
 *
 * Return: 0, -EINVAL, -ENOSPC
 */
int fault_inject(struct hca *hca, struct json_object *req, const char **why)
{
	const char *kind = string(req, "kind");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].kind, kind))
			continue;
		if (kinds[i].inject)
			return kinds[i].inject(hca, req, why);
		*(bool *)((char *)hca + kinds[i].flag) = true;
		return 0;
	}
	*why = "no such kind";
	return -EINVAL;
}
