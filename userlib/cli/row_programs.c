// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Names the programs that own rows of tables. */
#include "cli.h"

/* Finds the name of the program that opened a context. */
static struct json_object *program_of(struct json_object *dev, long long pid)
{
	struct json_object *contexts = json_get(dev, "contexts");
	size_t i, n = json_length(dev, "contexts");

	for (i = 0; i < n; i++) {
		struct json_object *row =
			json_object_array_get_idx(contexts, i);

		if (json_number(row, "pid", 0) == pid)
			return json_object_get(json_get(row, "comm"));
	}
	return NULL;
}

/**
 * row_programs_add() - add the member "program" to each row of a table with "pid"
 * @dev: object of a device, with its contexts
 * @table: "uuars" or "qps"
 *
 * The rows of a process stand together, so each is looked up once.
 */
void row_programs_add(struct json_object *dev, const char *table)
{
	struct json_object *rows = json_get(dev, table), *program = NULL;
	size_t i, n = json_length(dev, table);
	long long pid = -1;

	for (i = 0; i < n; i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if (json_number(row, "pid", 0) != pid) {
			pid = json_number(row, "pid", 0);
			json_object_put(program);
			program = program_of(dev, pid);
		}
		json_object_object_add(row, "program",
				       json_object_get(program));
	}
	json_object_put(program);
}
