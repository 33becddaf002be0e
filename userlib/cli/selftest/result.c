// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Results of checks: a group writes each one as a line of JSON. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "selftest.h"

static const char * const words[] = {
	[PASSED] = "passed",
	[FAILED] = "failed",
	[NOT_TESTABLE] = "not testable",
};

static void send_result(struct selftest *st, enum selftest_result result,
			const char *check, const char *detail)
{
	struct json_object *row = json_object_new_object();
	const char *text;

	json_object_object_add(row, "group",
			       json_object_new_string(st->group));
	json_object_object_add(row, "check", json_object_new_string(check));
	json_object_object_add(row, "result",
			       json_object_new_string(words[result]));
	json_object_object_add(row, "detail", json_object_new_string(detail));
	text = json_object_to_json_string_ext(row, JSON_C_TO_STRING_PLAIN);
	dprintf(st->fd, "%s\n", text);
	json_object_put(row);
}

/**
 * selftest_say() - report the result of a check
 * @check: what holds if the check passes
 * @fmt: what was seen, or why the check cannot be made
 */
void selftest_say(struct selftest *st, enum selftest_result result,
		  const char *check, const char *fmt, ...)
{
	char detail[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(detail, sizeof(detail), fmt, args);
	va_end(args);
	send_result(st, result, check, detail);
}

/**
 * selftest_expect() - report a check as passed or as failed
 * @holds: whether it passed
 * @check: what holds if the check passes
 * @fmt: what was seen
 *
 * Return: @holds.
 */
bool selftest_expect(struct selftest *st, bool holds, const char *check,
		     const char *fmt, ...)
{
	char detail[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(detail, sizeof(detail), fmt, args);
	va_end(args);
	send_result(st, holds ? PASSED : FAILED, check, detail);
	return holds;
}
