// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The module parameter "defaults": what devices are to have from their first
 * moment on. Everybody may open a device as soon as it is there, before udev has
 * told anybody of it. So the settings of the configuration file have to be in the
 * module before: the tool writes them here when the module is loaded.
 *
 * The text has a line "DEVICE ATTRIBUTE VALUE" for each setting, or several with
 * a semicolon between them. DEVICE is a device, its parent, or "*" for all; of
 * two lines that fit, the later one holds. The text is used when a parent is seen
 * for the first time; what was set for it later is kept by settings.c.
 */

#include <linux/ctype.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat/compat.h"
#include "uuar/defaults.h"
#include "uuar/uuar_policy.h"

/* Reading the parameter adds a newline and a zero byte to the text. */
#define MOST (PAGE_SIZE - 2)

static DEFINE_MUTEX(text_lock);	/* protects text */
static char *text;		/* NULL: none was written */

/**
 * mlx5_ep_exempt_parse() - read names of programs
 * @buf: names, separated by white space
 * @exempt: MLX5_EP_EXEMPT_LEN bytes; receives them with one space between
 *
 * Return: 0; -EINVAL: a name is longer than a task's, or there are too many
 */
int mlx5_ep_exempt_parse(const char *buf, char *exempt)
{
	size_t len = 0;

	while (*(buf = skip_spaces(buf))) {
		const char *end = buf;

		while (*end && !isspace(*end))
			end++;
		if (end - buf >= TASK_COMM_LEN ||
		    len + 1 + (end - buf) >= MLX5_EP_EXEMPT_LEN)
			return -EINVAL;
		if (len)
			exempt[len++] = ' ';
		memcpy(exempt + len, buf, end - buf);
		len += end - buf;
		buf = end;
	}
	exempt[len] = '\0';
	return 0;
}

static int set_value(const char *name, const char *value,
		     struct mlx5_ep_defaults *values)
{
	int ret;

	if (!strcmp(name, "uuar_policy")) {
		ret = match_string(mlx5_ep_policy_names, MLX5_EP_NR_POLICIES,
				   value);
		if (ret >= 0)
			values->settings.policy = ret;
		return ret < 0 ? -EINVAL : 0;
	}
	if (!strcmp(name, "uuar_strict"))
		return kstrtobool(value, &values->settings.strict);
	if (!strcmp(name, "uuar_pages")) {
		ret = kstrtouint(value, 0, &values->settings.pages);
		return values->settings.pages > MLX5_EP_MAX_PAGES ? -EINVAL :
								    ret;
	}
	if (!strcmp(name, "uar_budget"))
		return kstrtouint(value, 0, &values->budget);
	if (!strcmp(name, "uar_user_limit"))
		return kstrtouint(value, 0, &values->user_limit);
	if (!strcmp(name, "uuar_exempt"))
		return mlx5_ep_exempt_parse(value, values->exempt);
	return -EINVAL;
}

/* @parent: NULL: the line is read whatever device it is for */
static int read_line(char *line, const char *parent, const char *device,
		     struct mlx5_ep_defaults *values)
{
	char *rest = strim(line);
	char *who, *what;

	if (!*rest)
		return 0;
	who = strsep(&rest, " ");
	what = strsep(&rest, " ");
	if (!what)
		return -EINVAL;
	if (parent && strcmp(who, "*") && strcmp(who, parent) &&
	    strcmp(who, device))
		return 0;
	return set_value(what, rest ? rest : "", values);
}

static int read_lines(const char *lines, const char *parent,
		      const char *device, struct mlx5_ep_defaults *values)
{
	char *copy = kstrdup(lines, GFP_KERNEL);
	char *line, *rest = copy;
	int ret = copy ? 0 : -ENOMEM;

	while (!ret && (line = strsep(&rest, "\n;")))
		ret = read_line(line, parent, device, values);
	kfree(copy);
	return ret;
}

/**
 * mlx5_ep_defaults_get() - what a device is to have that was not seen before
 * @parent: name of the parent device, a PCI function or subfunction
 * @device: name of the ib_device
 * @values: zeroed; filled in
 *
 * Sleeps. If memory is short the device begins without the settings.
 */
void mlx5_ep_defaults_get(const char *parent, const char *device,
			  struct mlx5_ep_defaults *values)
{
	mutex_lock(&text_lock);
	if (text && read_lines(text, parent, device, values))
		pr_warn("mlx5_ep: %s: no memory for the parameter defaults\n",
			device);
	mutex_unlock(&text_lock);
}

static int defaults_set(const char *val, const struct kernel_param *kp)
{
	struct mlx5_ep_defaults *scratch;
	char *copy;
	int ret;

	if (strlen(val) > MOST)
		return -E2BIG;
	scratch = kzalloc_obj(*scratch, GFP_KERNEL);
	copy = kstrdup(val, GFP_KERNEL);
	ret = scratch && copy ? read_lines(val, NULL, NULL, scratch) : -ENOMEM;
	if (!ret) {
		strim(copy);
		mutex_lock(&text_lock);
		swap(text, copy);
		mutex_unlock(&text_lock);
	}
	kfree(copy);
	kfree(scratch);
	return ret;
}

static int defaults_get(char *buffer, const struct kernel_param *kp)
{
	int len;

	mutex_lock(&text_lock);
	len = scnprintf(buffer, PAGE_SIZE, "%s\n", text ? text : "");
	mutex_unlock(&text_lock);
	return len;
}

static void defaults_free(void *arg)
{
	kfree(text);
}

static const struct kernel_param_ops defaults_ops = {
	.set = defaults_set,
	.get = defaults_get,
	.free = defaults_free,
};

module_param_cb(defaults, &defaults_ops, NULL, 0644);
MODULE_PARM_DESC(defaults,
		 "lines DEVICE ATTRIBUTE VALUE: settings of devices that come later");
