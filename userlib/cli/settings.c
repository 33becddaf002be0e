// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The settings that an administrator can change: their names in the
 * configuration file, which are those of the options of mlx5ep set, what they
 * are in the kernel, and which values are correct.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mlx5ep/uuar.h>

#include "cli.h"
#include "settings.h"

#define MOST_NAME 15		/* a task's name, TASK_COMM_LEN - 1 */
#define MOST_NAMES 1023		/* MLX5_EP_EXEMPT_LEN - 1 */
#define MOST_PAGES 256		/* MLX5_EP_MAX_PAGES */
#define ANY_NUMBER 999999999
#define BLANKS " \t"

static const struct setting settings[] = {
	{ "policy", "uuar_policy", FOR_DEVICE | FOR_CGROUP, POLICY, 0 },
	{ "strict", "uuar_strict", FOR_DEVICE | FOR_CGROUP, SWITCH, 0 },
	{ "pages", "uuar_pages", FOR_DEVICE | FOR_CGROUP, NUMBER, MOST_PAGES },
	{ "budget", "uar_budget", FOR_DEVICE, NUMBER, ANY_NUMBER },
	{ "user_limit", "uar_user_limit", FOR_DEVICE, NUMBER, ANY_NUMBER },
	{ "limit", "uar_cgroup_limits", FOR_CGROUP, COUNT, ANY_NUMBER },
	{ "exempt", "uuar_exempt", FOR_DEVICE, NAMES, 0 },
	{ "notifier_max_watches", "notifier_max_watches", FOR_MODULE, NUMBER,
	  ANY_NUMBER },
	{ "notifiers_per_user", "notifiers_per_user", FOR_MODULE, NUMBER,
	  ANY_NUMBER },
	{ "dmabuf_watches_per_user", "dmabuf_watches_per_user", FOR_MODULE,
	  NUMBER, ANY_NUMBER },
	{ "xrc_qps_per_device", "xrc_qps_per_device", FOR_MODULE, NUMBER,
	  ANY_NUMBER },
	{ "xrc_qps_per_user", "xrc_qps_per_user", FOR_MODULE, NUMBER,
	  ANY_NUMBER },
	{ "xrc_regs_per_user", "xrc_regs_per_user", FOR_MODULE, NUMBER,
	  ANY_NUMBER },
};

/**
 * setting_next() - walk the settings of one scope
 * @last: the setting before; NULL: find the first one
 *
 * Return: the next setting that @scope may have, or NULL.
 */
const struct setting *setting_next(const struct setting *last, int scope)
{
	const struct setting *end = settings +
		sizeof(settings) / sizeof(*settings);
	const struct setting *next = last ? last + 1 : settings;

	while (next < end && !(next->scopes & scope))
		next++;
	return next < end ? next : NULL;
}

/**
 * setting_find() - find a setting by its name
 *
 * Return: the setting, or NULL if @scope has none of this name.
 */
const struct setting *setting_find(const char *name, int scope)
{
	const struct setting *setting = NULL;

	while ((setting = setting_next(setting, scope)))
		if (!strcmp(setting->name, name))
			return setting;
	return NULL;
}

static const char *number_error(const struct setting *setting, char *text)
{
	static char error[64];

	if (!*text || strlen(text) > 9 ||
	    strspn(text, "0123456789") != strlen(text))
		return "not a number";
	if (strtoul(text, NULL, 10) > setting->most) {
		snprintf(error, sizeof(error), "more than %lu", setting->most);
		return error;
	}
	/* The kernel would take a number with a leading 0 for an octal one. */
	sprintf(text, "%lu", strtoul(text, NULL, 10));
	if (setting->kind == COUNT && !strcmp(text, "0"))
		return "0 is no limit; leave the line out for none";
	return NULL;
}

#define POLICY_IS(policy, name) || !strcmp(text, name)
#define POLICY_WORD(policy, name) " " name

static const char *policy_error(const char *text)
{
	if (false MLX5_EP_UUAR_POLICIES(POLICY_IS))
		return NULL;
	return "not one of" MLX5_EP_UUAR_POLICIES(POLICY_WORD);
}

static const char *switch_error(char *text)
{
	if (!strcmp(text, "on") || !strcmp(text, "1") || !strcmp(text, "yes"))
		strcpy(text, "1");
	else if (!strcmp(text, "off") || !strcmp(text, "0") ||
		 !strcmp(text, "no"))
		strcpy(text, "0");
	else
		return "neither on nor off";
	return NULL;
}

static const char *name_error(const char *name, size_t len)
{
	if (*name == '#')
		return "a name begins with #, which begins a comment";
	/* The parameter defaults of the module takes it for an end of a line. */
	if (memchr(name, ';', len))
		return "a name has a semicolon, which ends a setting";
	if (len > MOST_NAME)
		return "a name is longer than 15 characters";
	return NULL;
}

/*
 * Leaves one space between names, as the kernel shows them. A text with an error
 * stays as it is, since the message names it.
 */
static const char *names_error(char *text)
{
	const char *name, *error;
	size_t len, all = 0;
	char *to = text;

	for (name = text; *(name += strspn(name, BLANKS)); name += len) {
		len = strcspn(name, BLANKS);
		error = name_error(name, len);
		if (error)
			return error;
		all += len + !!all;
	}
	if (all > MOST_NAMES)
		return "more than 1023 characters";
	for (name = text; *(name += strspn(name, BLANKS)); name += len) {
		len = strcspn(name, BLANKS);
		if (to != text)
			*to++ = ' ';
		memmove(to, name, len);
		to += len;
	}
	*to = '\0';
	return NULL;
}

/**
 * setting_error() - is this a correct value?
 * @text: the value; if it is correct it becomes what the kernel shows after it
 *	was written, else it stays as it is
 *
 * Return: what is wrong with it, or NULL.
 */
const char *setting_error(const struct setting *setting, char *text)
{
	switch (setting->kind) {
	case POLICY:
		return policy_error(text);
	case SWITCH:
		return switch_error(text);
	case NUMBER:
	case COUNT:
		return number_error(setting, text);
	default:
		return names_error(text);
	}
}

/**
 * cgroup_path() - turn a path into the kernel's form
 * @cgroup: a path from the root of the cgroup tree or of the file system
 *
 * Return: 0; -EINVAL: the kernel does not take such a path.
 */
int cgroup_path(const char *cgroup, char *path, size_t len)
{
	size_t end;

	if (!strncmp(cgroup, "/sys/fs/cgroup", 14) &&
	    (!cgroup[14] || cgroup[14] == '/'))
		cgroup += 14;
	end = strlen(cgroup);
	while (end && cgroup[end - 1] == '/')
		end--;
	if (end >= len || strpbrk(cgroup, " \t\n") || (end && *cgroup != '/'))
		return -EINVAL;
	snprintf(path, len, "%.*s", end ? (int)end : 1, end ? cgroup : "/");
	return 0;
}
