// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Numbers that people give to programs; see option.h. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "option.h"

int option_number(int letter, const char *text, unsigned int min,
		  unsigned int max, unsigned int *value)
{
	unsigned long number = 0;
	char *end = NULL;

	/* strtoul() takes blanks and signs, too. */
	errno = 0;
	if (isdigit((unsigned char)*text))
		number = strtoul(text, &end, 0);
	if (!end || *end || errno || number < min || number > max) {
		fprintf(stderr, "-%c: '%s' is not a number from %u to %u\n",
			letter, text, min, max);
		return -EINVAL;
	}
	*value = number;
	return 0;
}
