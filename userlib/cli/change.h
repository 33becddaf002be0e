/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Writes to attributes that can be undone. */
#ifndef MLX5EP_CLI_CHANGE_H
#define MLX5EP_CLI_CHANGE_H

#include <stdbool.h>

struct change;

char *change_old(const char *device, const char *attribute);
char *change_line(char *list, const char *cgroup);
int change_write(struct change **done, const char *device,
		 const char *attribute, const char *value, const char *cgroup);
void change_end(struct change *done, bool undo);

#endif
