// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Marks in the trace of the kernel; see mark.h. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mark.h"

static int marker = -1;

/* A mark is one write. What the kernel has no room for is lost, and counted there. */
static void mark_write(const char *text, int len)
{
	if (write(marker, text, len) != len)
		return;
}

void mark_open(unsigned int rank)
{
	const char *path = getenv("TIMELINE_MARKER");
	char text[64];

	if (!path || marker >= 0)
		return;
	marker = open(path, O_WRONLY | O_CLOEXEC);
	if (marker < 0)
		perror(path);
	else
		mark_write(text, snprintf(text, sizeof(text), "I|%d|rank %u",
					  getpid(), rank));
}

void mark_begin(const char *format, ...)
{
	char name[64], text[96];
	va_list args;

	if (marker < 0)
		return;
	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	mark_write(text, snprintf(text, sizeof(text), "B|%d|%s", getpid(), name));
}

void mark_end(void)
{
	char text[32];

	if (marker >= 0)
		mark_write(text, snprintf(text, sizeof(text), "E|%d", getpid()));
}
