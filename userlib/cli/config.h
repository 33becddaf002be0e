/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The configuration file, mlx5ep.conf(5). */
#ifndef MLX5EP_CLI_CONFIG_H
#define MLX5EP_CLI_CONFIG_H

#include <stdbool.h>

#include "settings.h"

#define CONFIG_FILE "etc/mlx5ep.conf"

/**
 * struct config_section - what a line in brackets says
 * @scope: FOR_MODULE, FOR_DEVICE or FOR_CGROUP
 * @device: name of a device, its place on the bus, or "*"; "" for the module
 * @cgroup: path as the kernel has it; "" where @scope is not FOR_CGROUP
 */
struct config_section {
	enum setting_scope scope;
	char device[64];
	char cgroup[256];
};

/**
 * struct config_entry - one setting of the file
 * @next: the next one in the file
 * @line: number of its line
 * @value: as the kernel shows it
 */
struct config_entry {
	struct config_entry *next;
	unsigned int line;
	struct config_section section;
	const struct setting *setting;
	char *value;
};

/**
 * struct config - a file that was read
 * @entries: in the order of the file; NULL: none
 * @missing: there is no such file
 */
struct config {
	struct config_entry *entries;
	bool missing;
};

const char *config_section(char *text, struct config_section *section);
bool config_same(const struct config_section *a,
		 const struct config_section *b);
char *config_trim(char *text);
int config_read(struct config *config, const char *path, const char *name);
void config_free(struct config *config);
char *config_defaults(const struct config *config, unsigned int *line);
const struct config_entry *config_find(const struct config *config,
				       const struct config_section *section,
				       const char *pci,
				       const struct setting *setting);

#endif
