/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Changes settings in the configuration file. */
#ifndef MLX5EP_CLI_SAVE_H
#define MLX5EP_CLI_SAVE_H

#include "config.h"

#define SAVE_MOST 8

/**
 * struct save - what to change
 * @section: where
 * @name: the other name of the device of @section, or NULL
 * @n: number of settings
 * @values: NULL: remove the setting from the file
 */
struct save {
	struct config_section section;
	const char *name;
	int n;
	const struct setting *settings[SAVE_MOST];
	const char *values[SAVE_MOST];
};

int save_check(void);
int save_settings(const struct save *save);

#endif
