// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The values that can be set for a device: one table of their names, how they are
 * written and read, and their bounds. The attributes in sysfs and the module
 * parameter "defaults" both use it, so both take the same texts.
 */

#include <linux/ctype.h>
#include <linux/kstrtox.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "device.h"
#include "uuar/uuar_policy.h"
#include "uuar/values.h"

/**
 * struct value - one value
 * @name: of the attribute
 * @offset: of the field in struct mlx5_ep_values
 * @most: the largest number; 0: the UAR pages of the device
 * @parse: reads a text, with a newline at its end or without; on failure the
 *	field stays as it was
 * @show: writes the field and a newline into a page
 */
struct value {
	const char *name;
	size_t offset;
	unsigned int most;
	int (*parse)(const char *text, unsigned int most, void *field);
	int (*show)(char *buf, const void *field);
};

static int values_parse_policy(const char *text, unsigned int most, void *field)
{
	enum mlx5_ep_uuar_policy *policy = field;
	int ret;

	ret = __sysfs_match_string(mlx5_ep_uuar_policy_names,
				   MLX5_EP_NR_POLICIES, text);
	if (ret < 0)
		return -EINVAL;
	*policy = ret;
	return 0;
}

static int values_show_policy(char *buf, const void *field)
{
	const enum mlx5_ep_uuar_policy *policy = field;

	return sysfs_emit(buf, "%s\n", mlx5_ep_uuar_policy_names[*policy]);
}

static int values_parse_switch(const char *text, unsigned int most, void *field)
{
	return kstrtobool(text, field) ? -EINVAL : 0;
}

static int values_show_switch(char *buf, const void *field)
{
	return sysfs_emit(buf, "%d\n", *(const bool *)field);
}

/* Some numbers are read without the lock. */
static int values_parse_number(const char *text, unsigned int most, void *field)
{
	unsigned int number;

	if (kstrtouint(text, 0, &number) || number > most)
		return -EINVAL;
	WRITE_ONCE(*(unsigned int *)field, number);
	return 0;
}

static int values_show_number(char *buf, const void *field)
{
	return sysfs_emit(buf, "%u\n", *(const unsigned int *)field);
}

/* Copy the names in @text to @names, with one space between. */
static int values_copy_names(const char *text, char *names)
{
	size_t len = 0;

	while (*(text = skip_spaces(text))) {
		const char *end = text;

		while (*end && !isspace(*end))
			end++;
		if (end - text >= TASK_COMM_LEN ||
		    len + 1 + (end - text) >= MLX5_EP_EXEMPT_LEN)
			return -EINVAL;
		if (len)
			names[len++] = ' ';
		memcpy(names + len, text, end - text);
		len += end - text;
		text = end;
	}
	names[len] = '\0';
	return 0;
}

static int values_parse_names(const char *text, unsigned int most, void *field)
{
	char *names = kmalloc(MLX5_EP_EXEMPT_LEN, GFP_KERNEL);
	int ret;

	if (!names)
		return -ENOMEM;
	ret = values_copy_names(text, names);
	if (!ret)
		strscpy(field, names, MLX5_EP_EXEMPT_LEN);
	kfree(names);
	return ret;
}

static int values_show_names(char *buf, const void *field)
{
	return sysfs_emit(buf, "%s\n", (const char *)field);
}

#define VALUE(_name, _field, _kind, _most)                                     \
	{                                                                      \
		.name = _name,                                                 \
		.offset = offsetof(struct mlx5_ep_values, _field),             \
		.most = _most,                                                 \
		.parse = values_parse_##_kind,                                 \
		.show = values_show_##_kind,                                   \
	}

static const struct value table[] = {
	VALUE("uuar_policy", settings.policy, policy, 0),
	VALUE("uuar_strict", settings.strict, switch, 0),
	VALUE("uuar_pages", settings.pages, number, MLX5_EP_MAX_PAGES),
	VALUE("uar_budget", budget, number, 0),
	VALUE("uar_user_limit", user_limit, number, 0),
	VALUE("uuar_exempt", exempt, names, 0),
};

static const struct value *values_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

/**
 * mlx5_ep_values_set() - set one value
 * @values: where to; stays as it was on failure
 * @name: of the attribute; it may be of none
 * @text: the value, as it is written to the attribute
 * @uar_pages: UAR pages of the device; UINT_MAX where it is not known yet
 *
 * Sleeps.
 *
 * Return: 0; -EINVAL: there is no such value, or @text is none of its texts;
 * -ENOMEM
 */
int mlx5_ep_values_set(struct mlx5_ep_values *values, const char *name,
		       const char *text, unsigned int uar_pages)
{
	const struct value *value = values_find(name);

	if (!value)
		return -EINVAL;
	return value->parse(text, value->most ?: uar_pages,
			    (void *)values + value->offset);
}

/**
 * mlx5_ep_values_show() - write one value and a newline
 * @values: where from
 * @name: of the attribute; it is in the table
 * @buf: receives the text, at most a page
 *
 * Return: bytes written
 */
ssize_t mlx5_ep_values_show(const struct mlx5_ep_values *values,
			    const char *name, char *buf)
{
	const struct value *value = values_find(name);

	return value->show(buf, (const void *)values + value->offset);
}

/**
 * mlx5_ep_values_parse_settings() - read a policy with its parameters
 * @words: "POLICY STRICT PAGES", which is changed here
 * @settings: answer, valid where 0 is returned
 *
 * Return: 0; -EINVAL
 */
int mlx5_ep_values_parse_settings(char *words,
				  struct mlx5_ep_settings *settings)
{
	char *policy = strsep(&words, " ");
	char *strict = strsep(&words, " ");

	if (!words || values_parse_policy(policy, 0, &settings->policy) ||
	    values_parse_switch(strict, 0, &settings->strict) ||
	    values_parse_number(words, MLX5_EP_MAX_PAGES, &settings->pages))
		return -EINVAL;
	return 0;
}
