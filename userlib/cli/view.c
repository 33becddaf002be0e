// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Which rows of a table are shown, and in which order. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"

/* Rows of a table that was not asked for by its name. */
#define MOST_UNASKED 40

/* Lines of a terminal that go beside the rows, and how few rows make sense. */
#define LINES_OF_DEVICES 2
#define LINES_OF_TABLE 4
#define FEWEST_ROWS 3

/* A column goes by its title or by its key. */
static const struct column *find(const struct column *columns, size_t n,
				 const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < n; i++)
		if ((strlen(columns[i].title) == len &&
		     !strncasecmp(columns[i].title, name, len)) ||
		    (strlen(columns[i].key) == len &&
		     !strncmp(columns[i].key, name, len)))
			return &columns[i];
	return NULL;
}

/**
 * view_fits() - has a table the columns that the view names?
 */
bool view_fits(const struct view *view, const struct column *columns, size_t n)
{
	const char *equals = view->filter ? strchr(view->filter, '=') : NULL;

	return (!view->sort ||
		find(columns, n, view->sort, strlen(view->sort))) &&
		(!equals ||
		 find(columns, n, view->filter, equals - view->filter));
}

/* COLUMN=VALUE: the cell is VALUE; TEXT: some cell has TEXT in it. */
static bool matches(const struct view *view, const struct column *columns,
		    size_t n, struct json_object *row)
{
	const char *equals = strchr(view->filter, '=');
	const struct column *column;
	size_t i;

	if (equals) {
		column = find(columns, n, view->filter, equals - view->filter);
		return column &&
		       !strcmp(json_text(row, column->key, "-"), equals + 1);
	}
	for (i = 0; i < n; i++)
		if (strstr(json_text(row, columns[i].key, "-"), view->filter))
			return true;
	return false;
}

/* json_object_array_sort() has no argument for the comparison. */
static const char *sort_key;

/* The largest number comes first, then texts by the alphabet, then nothing. */
static int compare_rows(const void *a, const void *b)
{
	struct json_object *x =
		json_get(*(struct json_object *const *)a, sort_key);
	struct json_object *y =
		json_get(*(struct json_object *const *)b, sort_key);
	bool x_number = json_object_is_type(x, json_type_int);
	bool y_number = json_object_is_type(y, json_type_int);

	if (!x || !y)
		return !x - !y;
	if (x_number != y_number)
		return y_number - x_number;
	if (!x_number)
		return strcmp(json_object_get_string(x),
			      json_object_get_string(y));
	return (json_object_get_int64(y) > json_object_get_int64(x)) -
		(json_object_get_int64(y) < json_object_get_int64(x));
}

/**
 * view_most() - how many rows are shown where the user does not say it
 * @asked: was the table asked for by its name? If not, there are two
 */
size_t view_most(const struct view *view, bool asked)
{
	size_t tables = asked ? 1 : 2;
	size_t beside = LINES_OF_DEVICES + tables * LINES_OF_TABLE + 1;

	if (!view->lines)
		return asked ? SIZE_MAX : MOST_UNASKED;
	if (view->lines < beside + tables * FEWEST_ROWS)
		return FEWEST_ROWS;
	return (view->lines - beside) / tables;
}

/**
 * view_apply() - keep the rows of a table that are to be shown, in their order
 * @rows: the table, which is freed here
 * @most: how many rows to keep, unless the view says so
 * @more: becomes how many rows were left out because of their number
 *
 * Return: the rows.
 */
struct json_object *view_apply(const struct view *view,
			       const struct column *columns, size_t n,
			       struct json_object *rows, size_t most,
			       size_t *more)
{
	struct json_object *kept = json_object_new_array();
	const struct column *sort = !view->sort ? NULL :
		find(columns, n, view->sort, strlen(view->sort));
	size_t i, all = json_object_array_length(rows);

	if (view->top)
		most = view->top;
	if (sort) {
		sort_key = sort->key;
		json_object_array_sort(rows, compare_rows);
	}
	*more = 0;
	for (i = 0; i < all; i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if (view->filter && !matches(view, columns, n, row))
			continue;
		if (json_object_array_length(kept) < most)
			json_object_array_add(kept, json_object_get(row));
		else
			++*more;
	}
	json_object_put(rows);
	return kept;
}
