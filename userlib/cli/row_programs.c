// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Names the programs that own rows of tables. */
#include "cli.h"

/* Finds the name of the program that opened a context. */
static struct json_object *program_of(struct json_object *dev, long long pid)
{
	struct json_object *contexts, *value;
	size_t i;

	if (!json_object_object_get_ex(dev, "contexts", &contexts) || !contexts)
		return NULL;
	for (i = 0; i < json_object_array_length(contexts); i++) {
		struct json_object *row =
			json_object_array_get_idx(contexts, i);

		if (json_number(row, "pid", 0) == pid &&
		    json_object_object_get_ex(row, "comm", &value))
			return json_object_get(value);
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
	struct json_object *rows, *program = NULL;
	long long pid = -1;
	size_t i;

	if (!json_object_object_get_ex(dev, table, &rows) || !rows)
		return;
	for (i = 0; i < json_object_array_length(rows); i++) {
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
