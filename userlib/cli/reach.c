// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Finds the programs whose queue pairs no policy places, because they choose
 * their uUARs themselves: by DevX, as UCX does by default, or in a thread domain.
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static long long reach_number_of(struct json_object *row, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(row, key, &value))
		return 0;
	return json_object_get_int64(value);
}

static const char *reach_text_of(struct json_object *row, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(row, key, &value) || !value)
		return "";
	return json_object_get_string(value);
}

/* Counts the QPs of a process that @placer placed. */
static unsigned int reach_count(struct json_object *qps, long long pid,
				const char *placer)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < json_object_array_length(qps); i++) {
		struct json_object *qp = json_object_array_get_idx(qps, i);

		n += reach_number_of(qp, "pid") == pid &&
		     !strcmp(reach_text_of(qp, "placer"), placer);
	}
	return n;
}

/* Did a context before the one at @at belong to the same process? */
static bool named_before(struct json_object *contexts, size_t at, long long pid)
{
	while (at--) {
		struct json_object *row =
			json_object_array_get_idx(contexts, at);

		if (reach_number_of(row, "pid") == pid && reach_number_of(row, "managed"))
			return true;
	}
	return false;
}

/**
 * reach_find() - find the next program that a policy does not reach
 * @dev: a device of devices_get()
 * @at: the context to begin with, 0 at first; written: where to go on
 * @found: written, if true is returned
 *
 * Return: false if there is none, or debugfs cannot be read.
 */
bool reach_find(struct json_object *dev, size_t *at, struct unreached *found)
{
	struct json_object *contexts, *qps, *row;

	if (!json_object_object_get_ex(dev, "contexts", &contexts) ||
	    !contexts || !json_object_object_get_ex(dev, "qps", &qps) || !qps)
		return false;
	while (*at < json_object_array_length(contexts)) {
		size_t i = (*at)++;

		row = json_object_array_get_idx(contexts, i);
		found->pid = reach_number_of(row, "pid");
		if (!reach_number_of(row, "managed") ||
		    named_before(contexts, i, found->pid))
			continue;
		found->policy = reach_text_of(row, "policy");
		found->program = reach_text_of(row, "comm");
		found->devx = reach_count(qps, found->pid, "devx");
		found->thread_domains = reach_count(qps, found->pid, "library");
		if (found->devx || found->thread_domains)
			return true;
	}
	return false;
}
