// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The log. A guest can cause errors as fast as it writes, so after the first
 * LOG_BURST lines of a kind and adapter the log goes on with every power of
 * two; the counters stay exact.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"
#include "hca.h"

#define LOG_BURST 64

static struct {
	FILE *file;
	bool verbose;
} out;

/**
 * log_open() - say where the log goes
 * @path: file to append to, NULL for stderr
 * @verbose: log_debug() is shown too
 *
 * Return: 0 or -errno
 */
int log_open(const char *path, bool verbose)
{
	out.verbose = verbose;
	out.file = path ? fopen(path, "ae") : NULL;
	if (path && !out.file)
		return -errno;
	if (out.file)
		setvbuf(out.file, NULL, _IOLBF, 0);
	return 0;
}

/**
 * log_close() - write no more
 */
void log_close(void)
{
	if (out.file)
		fclose(out.file);
	out.file = NULL;
}

/**
 * log_verbose() - is log_debug() shown?
 *
 * Return: true if so
 */
bool log_verbose(void)
{
	return out.verbose;
}

static void log_vline(const char *prefix, const char *fmt, va_list ap)
{
	FILE *file = out.file ? out.file : stderr;
	uint64_t now = loop_now();

	fprintf(file, "[%5llu.%06llu] %s",
		(unsigned long long)(now / NSEC_PER_SEC),
		(unsigned long long)(now % NSEC_PER_SEC / NSEC_PER_USEC),
		prefix);
	vfprintf(file, fmt, ap);
	fputc('\n', file);
}

/**
 * log_line() - write one line
 * @fmt: as in printf(), without the newline
 */
void log_line(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_vline("", fmt, ap);
	va_end(ap);
}

static const char *const error_names[] = {
#define X(name) [SIM_ERR_##name] = #name,
	SIM_ERRORS(X)
#undef X
};

void hca_error(struct hca *hca, enum sim_error err, const char *fmt, ...)
{
	uint64_t n = ++hca->errors[err];
	char prefix[64];
	va_list ap;

	if (n > LOG_BURST && (n & (n - 1)))
		return;
	snprintf(prefix, sizeof(prefix), "hca%u: %s (%llu): ", hca->index,
		 error_names[err], (unsigned long long)n);
	va_start(ap, fmt);
	log_vline(prefix, fmt, ap);
	va_end(ap);
}
