// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Numbers that are given to options. */
#include <stdlib.h>

#include "cli.h"

/**
 * number_parse() - read a number from 1 to @most
 * @value: set if the text is such a number
 *
 * Return: true if it is one, with nothing before or behind it.
 */
bool number_parse(const char *text, unsigned long most, unsigned int *value)
{
	unsigned long found;
	char *end;

	found = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || !found || found > most)
		return false;
	*value = found;
	return true;
}
