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

char proc_thread_state(pid_t pid, pid_t tid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state == 'Z' || state == 'X' ? 0 : state;
}
