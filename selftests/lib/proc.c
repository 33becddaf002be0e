// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proc.h"

long proc_number(const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	char line[256];
	long n = -1;

	while (file && n < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			n = strtol(line + strlen(name), NULL, 10);
	if (file)
		fclose(file);
	return n;
}
