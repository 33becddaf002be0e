/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The settings that an administrator can change. */
#ifndef MLX5EP_CLI_SETTINGS_H
#define MLX5EP_CLI_SETTINGS_H

#include <stddef.h>

enum setting_scope {
	FOR_MODULE = 1,
	FOR_DEVICE = 2,
	FOR_CGROUP = 4,
};

/* A COUNT is a number, but not 0. */
enum setting_kind { POLICY, SWITCH, NUMBER, COUNT, NAMES };

/**
 * struct setting - one setting
 * @attribute: the attribute of a device, or the parameter of the module
 * @scopes: where it may be set, of &enum setting_scope
 * @most: the largest NUMBER or COUNT
 */
struct setting {
	const char *name;
	const char *attribute;
	int scopes;
	enum setting_kind kind;
	unsigned long most;
};

const struct setting *setting_next(const struct setting *last, int scope);
const struct setting *setting_find(const char *name, int scope);
const char *setting_error(const struct setting *setting, char *text);
int cgroup_path(const char *cgroup, char *path, size_t len);

#endif
