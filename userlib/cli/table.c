// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Turns the module's debugfs files into arrays of objects. There are two kinds
 * of files. A table has a line of column names and a line per row; the last
 * column may contain spaces. A list has lines of one word and name=value pairs.
 * In the last column and in values, a byte that would be ambiguous is written
 * \ooo. A number becomes a number, and "-" becomes null. Texts become UTF-8. Keys and
 * names of programs are texts, whatever they look like.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define MAX_COLUMNS 32

static struct json_object *table_value(char *text)
{
	bool hex = !strncmp(text, "0x", 2);
	long long number;
	char *end;

	if (!strcmp(text, "-"))
		return NULL;
	number = strtoll(text, &end, hex ? 16 : 10);
	/* A number stays a text if it would be printed in another form. */
	if (*text && !*end && strlen(text) < 18 &&
	    (hex || *text != '0' || !text[1]))
		return json_object_new_int64(number);
	return json_object_new_string(utf8_mend(text));
}

/* The value of the column or pair @name, unescaped. */
static struct json_object *value_of(const char *name, char *text)
{
	bool is_key = !strcmp(name, "key") && strcmp(text, "-");

	return is_key || !strcmp(name, "comm") ?
		json_object_new_string(utf8_mend(text)) : table_value(text);
}

static int octal(const char *p)
{
	int i, byte = 0;

	for (i = 0; i < 3; i++) {
		if (p[i] < '0' || p[i] > '7')
			return -1;
		byte = byte * 8 + p[i] - '0';
	}
	return byte;
}

static void unescape(char *text)
{
	char *to = text;
	int byte;

	while (*text) {
		byte = *text == '\\' ? octal(text + 1) : -1;
		*to++ = byte > 0 ? byte : *text;
		text += byte > 0 ? 4 : 1;
	}
	*to = '\0';
}

static size_t split(char *line, char **words, size_t max)
{
	size_t n = 0;

	while (n < max) {
		line += strspn(line, " \t");
		if (!*line)
			break;
		words[n++] = line;
		if (n == max)
			break;
		line += strcspn(line, " \t");
		if (*line)
			*line++ = '\0';
	}
	return n;
}

/**
 * table_parse() - parse a table
 *
 * Return: an array of objects; their keys are the names of the first line.
 */
struct json_object *table_parse(char *text)
{
	struct json_object *rows = json_object_new_array();
	char *names[MAX_COLUMNS], *words[MAX_COLUMNS];
	char *line, *rest = text;
	size_t columns, i, n;

	line = strsep(&rest, "\n");
	columns = line ? split(line, names, MAX_COLUMNS) : 0;
	while (columns && (line = strsep(&rest, "\n"))) {
		struct json_object *row;

		n = split(line, words, columns);
		if (!n)
			continue;
		if (n == columns)
			unescape(words[n - 1]);
		row = json_object_new_object();
		for (i = 0; i < columns; i++)
			json_object_object_add(row, names[i],
					       i < n ? value_of(names[i],
								words[i]) :
						       NULL);
		json_object_array_add(rows, row);
	}
	return rows;
}

static struct json_object *pairs(char *line)
{
	struct json_object *row = json_object_new_object();
	char *words[MAX_COLUMNS];
	size_t i, n;

	n = split(line, words, MAX_COLUMNS);
	for (i = 0; i < n; i++) {
		char *text = strchr(words[i], '=');

		if (!text) {
			json_object_object_add(row, "kind", table_value(words[i]));
			continue;
		}
		*text++ = '\0';
		unescape(text);
		json_object_object_add(row, words[i],
				       value_of(words[i], text));
	}
	return row;
}

/**
 * pairs_parse() - parse a list of lines of name=value
 *
 * Return: an array of objects; a word without "=" is the value of "kind".
 */
struct json_object *pairs_parse(char *text)
{
	struct json_object *rows = json_object_new_array();
	char *line;

	while ((line = strsep(&text, "\n")))
		if (*line)
			json_object_array_add(rows, pairs(line));
	return rows;
}
