// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Results of checks: a group writes each one as a line of JSON. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../cli.h"
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

/**
 * selftest_no_policy() - say that a check needs a policy that a context does not have
 * @check: what would hold
 *
 * The detail is the module's reason, where the device has no policies at all.
 */
void selftest_no_policy(struct selftest *st, const char *check)
{
	static const char without[] = "without uUAR policies: ";
	char path[PATH_LEN], text[256];
	const char *reason = NULL;

	root_path(path, "sys/" ATTRIBUTES, st->device, "attached");
	if (file_read(path, text, sizeof(text)) > 0) {
		text[strcspn(text, "\n")] = '\0';
		reason = strstr(text, without);
	}
	selftest_say(st, NOT_TESTABLE, check, "%s",
		     reason ? reason + strlen(without) :
		     "no pages for it, or the program is exempt");
}
