// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * Which rows of a table the tool shows, in which order, and how wide its columns are.
 * The objects of the tool are linked to this program.
 */
#include "kselftest_harness.h"

#include "cli.h"

#define COLUMNS		32	/* the most that print_table() takes */

static const struct column columns[] = {
	{ "name", "NAME", true }, { "qps", "QPS", false },
};

FIXTURE(tables)
{
	struct json_object *rows;
	struct view view;
	size_t more;
};

FIXTURE_SETUP(tables)
{
	self->rows = json_object_new_array();
}

FIXTURE_TEARDOWN(tables)
{
	json_object_put(self->rows);
}

/* Adds a row; @name may be NULL, and @qps negative: then it has no such value. */
static void add_row(struct json_object *rows, const char *name, int qps)
{
	struct json_object *row = json_object_new_object();

	json_object_object_add(row, "name",
			       name ? json_object_new_string(name) : NULL);
	if (qps >= 0)
		json_object_object_add(row, "qps", json_object_new_int(qps));
	json_object_array_add(rows, row);
}

/* Writes the names of the rows, each with a blank behind it. */
static const char *names(struct json_object *rows)
{
	static char text[256];
	struct json_object *name;
	size_t i, at = 0;

	text[0] = '\0';
	for (i = 0; i < json_object_array_length(rows); i++) {
		json_object_object_get_ex(json_object_array_get_idx(rows, i),
					  "name", &name);
		at += snprintf(text + at, sizeof(text) - at, "%s ",
			       name ? json_object_get_string(name) : "-");
	}
	return text;
}

#define show(self)							\
	((self)->rows = view_apply(&(self)->view, columns, 2, (self)->rows,	\
				   8, &(self)->more))

/* A row without a value stands before one with a text and behind one. */
TEST_F(tables, without_a_value_are_last_by_texts)
{
	add_row(self->rows, NULL, 1);
	add_row(self->rows, "b", 2);
	add_row(self->rows, "d", 3);
	add_row(self->rows, NULL, 4);
	add_row(self->rows, "a", 5);
	add_row(self->rows, NULL, 6);
	add_row(self->rows, "c", 7);
	self->view.sort = "name";
	show(self);
	EXPECT_STREQ(names(self->rows), "a b c d - - - ");
}

TEST_F(tables, have_numbers_before_texts)
{
	struct json_object *row = json_object_new_object();

	add_row(self->rows, "#", 1);
	json_object_object_add(row, "name", json_object_new_int(7));
	json_object_array_add(self->rows, row);
	add_row(self->rows, "!", 2);
	self->view.sort = "name";
	show(self);
	EXPECT_STREQ(names(self->rows), "7 ! # ");
}

TEST_F(tables, without_a_value_are_last_by_numbers)
{
	add_row(self->rows, "none", -1);
	add_row(self->rows, "four", 4);
	add_row(self->rows, "null", -1);
	add_row(self->rows, "seven", 7);
	add_row(self->rows, "five", 5);
	self->view.sort = "QPS";
	show(self);
	EXPECT_EQ(strncmp(names(self->rows), "seven five four ", 16), 0);
	EXPECT_EQ(json_object_array_length(self->rows), 5);
}

TEST_F(tables, show_the_rows_that_are_asked_for)
{
	int i;

	for (i = 0; i < 6; i++)
		add_row(self->rows, i % 2 ? "odd" : "even", i);
	self->view.filter = "name=odd";
	self->view.top = 2;
	show(self);
	EXPECT_STREQ(names(self->rows), "odd odd ");
	EXPECT_EQ(self->more, 1);
	self->view.filter = "qps=3";
	show(self);
	EXPECT_STREQ(names(self->rows), "odd ");
	EXPECT_EQ(self->more, 0);
}

TEST_F(tables, show_what_the_terminal_has_room_for)
{
	struct view view = {};

	EXPECT_EQ(view_most(&view, true), SIZE_MAX);
	EXPECT_EQ(view_most(&view, false), 40);
	/* Two lines of devices, four of the table, one for the prompt. */
	view.lines = 24;
	EXPECT_EQ(view_most(&view, true), 17);
	EXPECT_EQ(view_most(&view, false), 6);
	view.lines = 10;
	EXPECT_EQ(view_most(&view, true), 3);
	view.lines = 11;
	EXPECT_EQ(view_most(&view, true), 4);
	view.lines = 9;
	EXPECT_EQ(view_most(&view, true), 3);
	view.lines = 18;
	EXPECT_EQ(view_most(&view, false), 3);
	view.lines = 19;
	EXPECT_EQ(view_most(&view, false), 4);
}

/* Prints rows into @text. */
static void print_rows(char *text, size_t size, struct json_object *rows,
		       const struct column *shown, size_t n)
{
	struct cli cli = {};
	FILE *out = stdout;

	stdout = fmemopen(text, size, "w");
	print_table(&cli, rows, shown, n);
	fclose(stdout);
	stdout = out;
}

TEST_F(tables, have_a_dash_where_there_is_no_value)
{
	struct json_object *row = json_object_new_object();
	char text[256] = "";

	add_row(self->rows, NULL, -1);
	json_object_object_add(row, "name", json_object_new_string(""));
	json_object_object_add(row, "qps", json_object_new_boolean(true));
	json_object_array_add(self->rows, row);
	print_rows(text, sizeof(text), self->rows, columns, 2);
	EXPECT_STREQ("NAME  QPS\n-       -\n-     yes\n", text);
}

/* Prints a table of one row, whose cells have @len characters, into @text. */
static void print_wide(char *text, size_t size, size_t n, size_t len)
{
	static char keys[COLUMNS][8];
	struct json_object *row = json_object_new_object();
	struct json_object *rows = json_object_new_array();
	struct column wide[COLUMNS] = {};
	char cell[64] = "";
	size_t i;

	memset(cell, 'x', len);
	for (i = 0; i < n; i++) {
		snprintf(keys[i], sizeof(keys[i]), "k%zu", i);
		wide[i] = (struct column){ keys[i], "T", true };
		json_object_object_add(row, keys[i], json_object_new_string(cell));
	}
	json_object_array_add(rows, row);
	print_rows(text, size, rows, wide, n);
	json_object_put(rows);
}

/* The last line of the text, without its end. */
static const char *last_line(char *text)
{
	char *end = strrchr(text, '\n'), *begin;

	if (end)
		*end = '\0';
	begin = strrchr(text, '\n');
	return begin ? begin + 1 : text;
}

TEST_F(tables, are_a_hundred_characters_wide)
{
	char text[2048] = "";

	print_wide(text, sizeof(text), 4, 40);
	EXPECT_EQ(strlen(last_line(text)), MAX_WIDTH);
	print_wide(text, sizeof(text), 2, 49);
	EXPECT_EQ(strlen(last_line(text)), MAX_WIDTH);
	EXPECT_EQ(strchr(last_line(text), '~'), NULL);
}

/* Where even that is too much, each column keeps four characters. */
TEST_F(tables, keep_four_characters_of_a_column)
{
	char text[2048] = "", *cell;
	size_t n = 0;

	print_wide(text, sizeof(text), COLUMNS, 8);
	for (cell = strtok((char *)last_line(text), " "); cell;
	     cell = strtok(NULL, " "), n++)
		EXPECT_STREQ(cell, "xxx~");
	EXPECT_EQ(n, COLUMNS);
}

TEST_HARNESS_MAIN
