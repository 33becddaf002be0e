// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Files of the module in sysfs and debugfs, and the driver's bind file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "lib/sysfs.h"

#define PARAMS "/sys/module/mlx5_ep/parameters/"
#define COUNT(array) (sizeof(array) / sizeof(array[0]))

/* What can be set, and what it is between sessions. */
static const struct {
	const char *name, *text;
} settings[] = {
	{ "uuar_policy", "stock" }, { "uuar_strict", "0" },
	{ "uuar_pages", "0" }, { "uar_budget", "0" },
	{ "uar_user_limit", "0" }, { "uuar_exempt", "" },
	{ "uuar_cgroups", "/ none" }, { "uar_cgroup_limits", "/ none" },
};

static const char *const files[] = {
	"attached", "abi_version", "uverbs_ids", "uar_in_use", "uar_observed",
	"uuar_fallbacks", "uuar_policy", "uuar_strict", "uuar_pages",
	"uar_budget", "uar_budget_effective", "uar_user_limit", "uuar_exempt",
	"uuar_cgroups",
	"uar_cgroup_limits", "refusals", "xrc_domains", "xrc_qps",
	"xrc_registrations",
};

static const char *const tables[] = {
	"contexts", "uuars", "qps", "xrc", "watches", "users",
};

static const char *const params[] = {
	"notifier_max_watches", "notifiers_per_user",
	"dmabuf_watches_per_user", "xrc_qps_per_device",
	"xrc_qps_per_user", "xrc_regs_per_user", "defaults",
};

static const char *const texts[] = {
	"stock", "independent", "shared-uar", "shared-uuar", "0", "1", "2",
	"4", "256", "257", "-1", "4294967296", "", "none", "/ none",
	"/ independent 0 4", "/ shared-uar 1 2", "/ 8", "/ 0", "/nowhere 3",
	"fuzz", "fuzz,python3", "a,b,c,d", " ", "\n", "/", "x y z", "1 2",
};

static char saved[COUNT(params)][128];

/* One of the texts, or bytes of @a. */
static void settings_text_of(const uint64_t *a, char *text, size_t size)
{
	if (a[0] % 4)
		snprintf(text, size, "%.*s", (int)(a[3] % size),
			 (const char *)&a[4]);
	else if (a[2] < 9)
		snprintf(text, size, "%s", texts[a[2] % COUNT(texts)]);
	else
		snprintf(text, size, "%s", texts[(a[2] ^ a[3]) % COUNT(texts)]);
}

void op_sysfs_write(struct fuzz_session *s, const uint64_t *a)
{
	char text[64];

	settings_text_of(a, text, sizeof(text));
	sysfs_write(settings[a[1] % COUNT(settings)].name, text);
}

void op_sysfs_read(struct fuzz_session *s, const uint64_t *a)
{
	char text[4096];

	sysfs_read(files[(a[1] + a[2]) % COUNT(files)], text, sizeof(text));
}

void op_debugfs_read(struct fuzz_session *s, const uint64_t *a)
{
	FILE *file = debugfs_open(tables[a[1] % COUNT(tables)]);
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		;
	if (file)
		fclose(file);
}

static void param_path(char *path, size_t size, unsigned int i)
{
	snprintf(path, size, PARAMS "%s", params[i]);
}

void op_param_write(struct fuzz_session *s, const uint64_t *a)
{
	char path[128], text[64];

	param_path(path, sizeof(path), a[1] % COUNT(params));
	settings_text_of(a, text, sizeof(text));
	file_write(path, text);
}

/* Take the driver from the device, and give it back. */
void op_rebind(struct fuzz_session *s, const uint64_t *a)
{
	char name[64];

	/* It takes as long as a thousand other calls. */
	if (a[1] % 16 || a[2] % 8 || sysfs_auxdev(name, sizeof(name)))
		return;
	file_write(SYSFS_AUX_DRIVER "unbind", name);
	usleep(1000 * (a[3] % 8));
	file_write(SYSFS_AUX_DRIVER "bind", name);
}

/*
 * Name the device once: verbs_device_name() asks for all devices, which takes as long
 * as fifty methods. The name is another one where a rebind gave it another one.
 */
static void device_name_keep(void)
{
	const char *name = getenv("MLX5_EP_DEVICE");
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/mlx5_ep",
		 name ? name : "");
	if (name && !access(path, F_OK))
		return;
	unsetenv("MLX5_EP_DEVICE");
	setenv("MLX5_EP_DEVICE", verbs_device_name(), 1);
}

void settings_save(void)
{
	char path[128];
	unsigned int i;
	FILE *file;

	device_name_keep();
	for (i = 0; i < COUNT(params); i++) {
		param_path(path, sizeof(path), i);
		file = fopen(path, "re");
		if (!file || !fgets(saved[i], sizeof(saved[i]), file))
			saved[i][0] = '\0';
		if (file)
			fclose(file);
		saved[i][strcspn(saved[i], "\n")] = '\0';
	}
}

void settings_restore(void)
{
	char path[128];
	unsigned int i;

	device_name_keep();
	for (i = 0; i < COUNT(settings); i++)
		sysfs_write(settings[i].name,
			    settings[i].text[0] ? settings[i].text : "\n");
	for (i = 0; i < COUNT(params); i++) {
		param_path(path, sizeof(path), i);
		file_write(path, saved[i]);
	}
}
