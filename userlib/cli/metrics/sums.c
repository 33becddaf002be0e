// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Adds up tables of debugfs for mlx5ep metrics. A table has a row per context, and a
 * node has hundreds of them: they are not kept, but added to the sums of their label.
 */
#include <stdlib.h>
#include <string.h>

#include "../cli.h"
#include "metrics.h"

#define MOST_COLUMNS 32
#define UNUSED (-1)
#define LABEL (-2)

/* The rows that have the same label. */
struct sum {
	long long rows;
	long long values[SUMS_MOST_KEYS];
};

struct sums {
	const char *const *keys;
	size_t n_keys;
	int uses[MOST_COLUMNS];		/* of a column: UNUSED, LABEL or a key */
	size_t columns;
	struct json_object *index;	/* label: number of its sum */
	struct sum *list;
	size_t n, room;
};

static char *word(char **rest)
{
	char *start = *rest + strspn(*rest, " \t"), *end;

	end = start + strcspn(start, " \t");
	*rest = *end ? end + 1 : end;
	*end = '\0';
	return *start ? start : NULL;
}

static void read_titles(struct sums *sums, char *line, const char *label)
{
	const char *title;
	size_t k;
	int *use;

	while (sums->columns < MOST_COLUMNS && (title = word(&line))) {
		use = &sums->uses[sums->columns++];
		*use = label && !strcmp(title, label) ? LABEL : UNUSED;
		for (k = 0; k < sums->n_keys; k++)
			if (!strcmp(title, sums->keys[k]))
				*use = k;
	}
}

static struct sum *sum_of(struct sums *sums, const char *label)
{
	struct json_object *at = json_get(sums->index, label);
	struct sum *more;

	if (at)
		return &sums->list[json_object_get_int64(at)];
	if (sums->n == sums->room) {
		more = realloc(sums->list, (2 * sums->room + 8) * sizeof(*more));
		if (!more)
			return NULL;
		sums->list = more;
		sums->room = 2 * sums->room + 8;
	}
	memset(&sums->list[sums->n], 0, sizeof(*sums->list));
	json_object_object_add(sums->index, label,
			       json_object_new_int64(sums->n));
	return &sums->list[sums->n++];
}

static void add_line(struct sums *sums, char *line)
{
	long long values[SUMS_MOST_KEYS] = {};
	const char *label = "", *text;
	struct sum *sum;
	size_t i, k;

	for (i = 0; i < sums->columns && (text = word(&line)); i++) {
		if (sums->uses[i] == LABEL)
			label = text;
		else if (sums->uses[i] != UNUSED)
			values[sums->uses[i]] = strtoll(text, NULL, 10);
	}
	sum = i ? sum_of(sums, label) : NULL;
	if (!sum)
		return;
	sum->rows++;
	for (k = 0; k < sums->n_keys; k++)
		sum->values[k] += values[k];
}

static struct json_object *rows_of(const struct sums *sums, const char *label)
{
	struct json_object *rows = json_object_new_array(), *row;
	const struct sum *sum;
	size_t k;

	json_object_object_foreach(sums->index, name, at) {
		sum = &sums->list[json_object_get_int64(at)];
		row = json_object_new_object();
		if (label)
			json_object_object_add(row, label,
					       json_object_new_string(name));
		json_object_object_add(row, SUMS_ROWS,
				       json_object_new_int64(sum->rows));
		for (k = 0; k < sums->n_keys; k++)
			json_object_object_add(row, sums->keys[k],
				json_object_new_int64(sum->values[k]));
		json_object_array_add(rows, row);
	}
	return rows;
}

/**
 * sums_of() - add up the rows of a table
 * @label: the column that tells rows apart; NULL: all are added up
 * @keys: the columns that are added up, at most SUMS_MOST_KEYS, then NULL
 *
 * Return: an array with an object per label: the label, SUMS_ROWS, which is the
 * number of its rows, and @keys. NULL: the file cannot be read.
 */
struct json_object *sums_of(const char *path, const char *label,
			    const char *const *keys)
{
	struct sums sums = { .keys = keys };
	struct json_object *rows;
	char *text, *line, *rest;

	text = file_text(path);
	if (!text)
		return NULL;
	while (keys[sums.n_keys])
		sums.n_keys++;
	sums.index = json_object_new_object();
	rest = text;
	line = strsep(&rest, "\n");
	read_titles(&sums, line, label);
	while (rest && (line = strsep(&rest, "\n")))
		add_line(&sums, line);
	rows = rows_of(&sums, label);
	json_object_put(sums.index);
	free(sums.list);
	free(text);
	return rows;
}
