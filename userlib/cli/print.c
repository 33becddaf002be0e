// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Printing. A table is at most MAX_WIDTH characters wide. If its columns need
 * more, the widest column is narrowed, and texts that are cut end in a tilde.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define GAP 2
#define MAX_COLUMNS 32
#define CELL 256
#define NARROWEST 4

/**
 * print_is_terminal() - can the output have colours?
 */
bool print_is_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !getenv("NO_COLOR") && term &&
		strcmp(term, "dumb");
}

/**
 * print_json() - print an object as JSON
 */
void print_json(struct json_object *obj)
{
	char *text;

	text = strdup(json_object_to_json_string_ext(obj,
			JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
			JSON_C_TO_STRING_NOSLASHESCAPE));
	/* Without memory the output is still JSON. */
	puts(text ? utf8_mend(text) : "null");
	free(text);
}

/**
 * paint() - colour a text if the output is coloured
 * @color: SGR parameters, for instance "1;31"
 * @buf: space for the result, of @len bytes
 *
 * Return: @buf, or @text where the output has no colours.
 */
const char *paint(struct cli *cli, const char *color, const char *text,
		  char *buf, size_t len)
{
	if (!cli->color)
		return text;
	snprintf(buf, len, "\033[%sm%s\033[0m", color, text);
	return buf;
}

/**
 * print_heading() - print the line above a table
 * @fmt: one line without a newline
 */
void print_heading(struct cli *cli, const char *fmt, ...)
{
	char text[CELL], buf[CELL + 16];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	puts(paint(cli, "1", text, buf, sizeof(buf)));
}

/**
 * printable() - replace control characters, and bytes that are not UTF-8, by '?'
 * @text: from outside, for instance a program's name; changed in place
 *
 * A control character could steer the terminal.
 *
 * Return: @text.
 */
char *printable(char *text)
{
	char *p;

	for (p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			*p = '?';
	return utf8_mend(text);
}

static void cell(struct json_object *row, const char *key, char *buf)
{
	struct json_object *obj = json_get(row, key);

	if (!obj)
		snprintf(buf, CELL, "-");
	else if (json_object_is_type(obj, json_type_boolean))
		snprintf(buf, CELL, "%s",
			 json_object_get_boolean(obj) ? "yes" : "no");
	else
		snprintf(buf, CELL, "%s", json_object_get_string(obj));
	if (!*buf)
		snprintf(buf, CELL, "-");
	printable(buf);
}

static void print_measure(struct json_object *rows,
			  const struct column *columns, size_t n, size_t *width)
{
	size_t total = 0, widest;
	char buf[CELL];
	size_t i, r;

	for (i = 0; i < n; i++) {
		width[i] = strlen(columns[i].title);
		for (r = 0; r < json_object_array_length(rows); r++) {
			cell(json_object_array_get_idx(rows, r),
			     columns[i].key, buf);
			if (strlen(buf) > width[i])
				width[i] = strlen(buf);
		}
		total += width[i] + (i ? GAP : 0);
	}
	for (; total > MAX_WIDTH; total--) {
		for (i = 0, widest = 0; i < n; i++)
			if (width[i] >= width[widest])
				widest = i;
		if (width[widest] <= NARROWEST)
			break;
		width[widest]--;
	}
}

static void print_cell(const struct column *column, size_t width,
		       const char *text, bool last)
{
	char buf[CELL];
	size_t end;

	snprintf(buf, sizeof(buf), "%s", text);
	if (strlen(buf) > width) {
		/* The second and later bytes of a character are 10xxxxxx. */
		for (end = width - 1; end && (buf[end] & 0xc0) == 0x80; end--)
			;
		strcpy(buf + end, "~");
	}
	if (!column->left)
		printf("%*s", (int)width, buf);
	else if (last)
		fputs(buf, stdout);
	else
		printf("%-*s", (int)width, buf);
	fputs(last ? "\n" : "  ", stdout);
}

/**
 * print_table() - print a line of titles and a line per row
 * @rows: array of objects
 * @columns: the values to print, in this order
 * @n: number of columns
 */
void print_table(struct cli *cli, struct json_object *rows,
		 const struct column *columns, size_t n)
{
	size_t width[MAX_COLUMNS];
	char buf[CELL];
	size_t i, r;

	print_measure(rows, columns, n, width);
	if (cli->color)
		fputs("\033[2m", stdout);
	for (i = 0; i < n; i++)
		print_cell(&columns[i], width[i], columns[i].title,
			   i + 1 == n);
	if (cli->color)
		fputs("\033[0m", stdout);
	for (r = 0; r < json_object_array_length(rows); r++)
		for (i = 0; i < n; i++) {
			cell(json_object_array_get_idx(rows, r),
			     columns[i].key, buf);
			print_cell(&columns[i], width[i], buf, i + 1 == n);
		}
}
