/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * simhca's log: one line per event, on stderr or in a file.
 */
#ifndef SIMHCA_LOG_H
#define SIMHCA_LOG_H

#include <stdbool.h>

#include "base/compiler.h"

int log_open(const char *path, bool verbose);
void log_close(void);
bool log_verbose(void);
void log_line(const char *fmt, ...) __printf(1, 2);

/* Log only with -v. Without -v the arguments are not evaluated. */
#define log_debug(...)                         \
	do {                                   \
		if (log_verbose())             \
			log_line(__VA_ARGS__); \
	} while (0)

#endif
