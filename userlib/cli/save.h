/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Changes settings in the configuration file. */
#ifndef MLX5EP_CLI_SAVE_H
#define MLX5EP_CLI_SAVE_H

#include <json-c/json.h>

#include "config.h"

#define SAVE_MOST 8

/**
 * struct save - what to change
 * @section: where
 * @name: the other name of the device of @section, or NULL
 * @devices: those for which the settings hold now, as devices_get() lists them
 * @n: number of settings
 * @values: NULL: remove the setting from the file
 */
struct save {
	struct config_section section;
	const char *name;
	struct json_object *devices;
	int n;
	const struct setting *settings[SAVE_MOST];
	const char *values[SAVE_MOST];
};

int save_check(void);
int save_settings(const struct save *save);

#endif
