// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What else happens on this machine, so that figures cannot be trusted. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"
#include "bench.h"

/* More than the tool itself and what any machine does now and then. */
#define BUSY 1.0

__attribute__((format(printf, 2, 3)))
static void quiet_add(struct json_object *to, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	json_object_array_add(to, json_object_new_string(text));
}

static void look_at_load(struct json_object *found)
{
	char path[PATH_LEN], text[128];

	root_path(path, "proc/loadavg");
	if (file_read(path, text, sizeof(text)) > 0 && atof(text) >= BUSY)
		quiet_add(found, "other programs run: load average %.4s", text);
}

static void look_at_clock(struct json_object *found)
{
	char path[PATH_LEN], text[64];

	root_path(path, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	if (file_read(path, text, sizeof(text)) > 0 &&
	    strcmp(text, "performance"))
		quiet_add(found, "the clock of the CPUs changes: governor %s; cpupower frequency-set -g performance",
			  text);
}

static void look_at_contexts(const char *device, struct json_object *found)
{
	struct cli cli = { .device = device, .brief = true };
	struct json_object *devices, *contexts = NULL;
	size_t n = 0;
	int code;

	devices = devices_get(&cli, &code);
	/* Where nobody can tell, there is no table. */
	if (!code)
		contexts = json_get(json_object_array_get_idx(devices, 0),
				     "contexts");
	if (contexts)
		n = json_object_array_length(contexts);
	if (n)
		quiet_add(found, "other programs have %zu contexts of %s: mlx5ep show contexts",
			  n, device);
	json_object_put(devices);
}

/**
 * bench_disturbances() - what disturbs measurements
 *
 * Return: an array of texts, which is empty if nothing was found.
 */
struct json_object *bench_disturbances(const char *device)
{
	struct json_object *found = json_object_new_array();

	look_at_load(found);
	look_at_clock(found);
	look_at_contexts(device, found);
	return found;
}
