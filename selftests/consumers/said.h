/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a library says, in tests that have the library in them.
 */
#ifndef SELFTESTS_SAID_H
#define SELFTESTS_SAID_H

#include <stdio.h>
#include <unistd.h>

/* Runs a function and returns what it says on stderr. */
static inline const char *said(void (*function)(void))
{
	static char text[256];
	FILE *file = tmpfile();
	int old = dup(2);
	size_t n;

	dup2(fileno(file), 2);
	function();
	dup2(old, 2);
	close(old);
	rewind(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	return text;
}

#endif
