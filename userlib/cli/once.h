/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What this load of the module has been given from the configuration file. */
#ifndef MLX5EP_CLI_ONCE_H
#define MLX5EP_CLI_ONCE_H

#include <stdbool.h>

#define ONCE_MODULE "module"

bool once_given(const char *to, const char *name);
void once_note(const char *to, const char *name);
bool once_wrote(const char *text);
void once_note_text(const char *text);

#endif
