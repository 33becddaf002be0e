// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Finds the programs whose queue pairs no policy places, because they choose
 * their uUARs themselves: by DevX, as UCX does by default, or in a thread domain.
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* Counts the QPs of a process that @placer placed. */
static unsigned int unplaced_count(struct json_object *qps, long long pid,
				   const char *placer)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < json_object_array_length(qps); i++) {
		struct json_object *qp = json_object_array_get_idx(qps, i);

		n += json_number(qp, "pid", 0) == pid &&
		     !strcmp(json_text(qp, "placer", ""), placer);
	}
	return n;
}

/* Did a context before the one at @at belong to the same process? */
static bool named_before(struct json_object *contexts, size_t at, long long pid)
{
	while (at--) {
		struct json_object *row =
			json_object_array_get_idx(contexts, at);

		if (json_number(row, "pid", 0) == pid &&
		    json_number(row, "managed", 0))
			return true;
	}
	return false;
}

/**
 * unplaced_find() - find the next program that a policy does not reach
 * @dev: a device of devices_get()
 * @at: the context to begin with, 0 at first; written: where to go on
 * @found: written, if true is returned
 *
 * Return: false if there is none, or debugfs cannot be read.
 */
bool unplaced_find(struct json_object *dev, size_t *at, struct unplaced *found)
{
	struct json_object *contexts = json_get(dev, "contexts");
	struct json_object *qps = json_get(dev, "qps"), *row;

	if (!contexts || !qps)
		return false;
	while (*at < json_object_array_length(contexts)) {
		size_t i = (*at)++;

		row = json_object_array_get_idx(contexts, i);
		found->pid = json_number(row, "pid", 0);
		if (!json_number(row, "managed", 0) ||
		    named_before(contexts, i, found->pid))
			continue;
		found->policy = json_text(row, "policy", "");
		found->program = json_text(row, "comm", "");
		found->devx = unplaced_count(qps, found->pid, "devx");
		found->thread_domains = unplaced_count(qps, found->pid, "library");
		if (found->devx || found->thread_domains)
			return true;
	}
	return false;
}
