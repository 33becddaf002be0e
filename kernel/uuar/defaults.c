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

#include <linux/limits.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "cmd.h"
#include "compat/compat.h"
#include "device.h"
#include "uuar/defaults.h"
#include "uuar/values.h"

/* Reading the parameter adds a newline and a zero byte to the text. */
#define MOST (PAGE_SIZE - 2)

static DEFINE_MUTEX(text_lock);	/* protects text */
static char *text;		/* NULL: none was written */

/* Is a line about @who about the device? */
static bool defaults_are_about(const char *who,
			       const struct mlx5_ep_device *edev)
{
	const struct device *dev = &edev->ibdev->dev;

	return !strcmp(who, "*") || !strcmp(who, dev_name(dev)) ||
	       !strcmp(who, dev_name(dev->parent));
}

/*
 * Read a line for a device. How many UAR pages a device has is known only now, so a
 * number can be too large for it; the line is left out then.
 */
static int defaults_set_for_device(const struct mlx5_ep_device *edev,
				   const char *name, const char *value,
				   struct mlx5_ep_values *values)
{
	unsigned int pages = mlx5_ep_cmd_uar_pages(edev->mdev);
	int ret;

	ret = mlx5_ep_values_set(values, name, value, pages);
	if (ret != -EINVAL)
		return ret;
	dev_warn(&edev->ibdev->dev,
		 "mlx5_ep: the parameter defaults has %s %s, but the device has %u UAR pages: left out\n",
		 name, value, pages);
	return 0;
}

/* @edev: NULL: the line is read whatever device it is for */
static int defaults_read_line(char *line, const struct mlx5_ep_device *edev,
			      struct mlx5_ep_values *values)
{
	char *rest = strim(line);
	char *who, *what;

	if (!*rest)
		return 0;
	who = strsep(&rest, " ");
	what = strsep(&rest, " ");
	if (!what)
		return -EINVAL;
	if (!edev)
		return mlx5_ep_values_set(values, what, rest ?: "", UINT_MAX);
	if (!defaults_are_about(who, edev))
		return 0;
	return defaults_set_for_device(edev, what, rest ?: "", values);
}

static int defaults_read_lines(const char *lines,
			       const struct mlx5_ep_device *edev,
			       struct mlx5_ep_values *values)
{
	char *copy = kstrdup(lines, GFP_KERNEL);
	char *line, *rest = copy;
	int ret = copy ? 0 : -ENOMEM;

	while (!ret && (line = strsep(&rest, "\n;")))
		ret = defaults_read_line(line, edev, values);
	kfree(copy);
	return ret;
}

/**
 * mlx5_ep_defaults_get() - what a device is to have that was not seen before
 * @edev: device that nobody uses yet, with its mlx5_core device
 * @values: zeroed; filled in
 *
 * Sleeps. If memory is short the device begins without the settings. A number
 * that is too large for the device is logged and left out.
 */
void mlx5_ep_defaults_get(const struct mlx5_ep_device *edev,
			  struct mlx5_ep_values *values)
{
	mutex_lock(&text_lock);
	if (text && defaults_read_lines(text, edev, values))
		dev_warn(&edev->ibdev->dev,
			 "mlx5_ep: no memory for the parameter defaults\n");
	mutex_unlock(&text_lock);
}

static int defaults_set(const char *val, const struct kernel_param *kp)
{
	struct mlx5_ep_values *scratch;
	char *copy;
	int ret;

	if (strlen(val) > MOST)
		return -E2BIG;
	scratch = kzalloc_obj(*scratch, GFP_KERNEL);
	copy = kstrdup(val, GFP_KERNEL);
	ret = scratch && copy ? defaults_read_lines(val, NULL, scratch) :
				-ENOMEM;
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
