// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* /sys/class/infiniband/DEVICE/mlx5_ep/ and debugfs, as the tests use them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sysfs.h"
#include "verbs.h"

#define PATH_SIZE 256

static void attr_path(char *path, const char *attr)
{
	snprintf(path, PATH_SIZE, "/sys/class/infiniband/%s/mlx5_ep/%s",
		 verbs_device_name(), attr);
}

int file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

int sysfs_write(const char *attr, const char *value)
{
	char path[PATH_SIZE];

	attr_path(path, attr);
	return file_write(path, value);
}

int sysfs_read(const char *attr, char *value, size_t size)
{
	char path[PATH_SIZE];
	int fd, ret = 0;
	ssize_t n;

	attr_path(path, attr);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, value, size - 1);
	if (n < 0)
		ret = -errno;
	else
		value[n] = '\0';
	if (n > 0 && value[n - 1] == '\n')
		value[n - 1] = '\0';
	close(fd);
	return ret;
}

long sysfs_number(const char *attr)
{
	char value[64], *end;
	long number;
	int ret;

	ret = sysfs_read(attr, value, sizeof(value));
	if (ret)
		return ret;
	number = strtol(value, &end, 0);
	return end == value || *end ? -EINVAL : number;
}

long sysfs_refusals(const char *reason)
{
	char text[4096], *line, *rest = text;
	size_t len = strlen(reason);
	int ret;

	ret = sysfs_read("refusals", text, sizeof(text));
	if (ret)
		return ret;
	while ((line = strsep(&rest, "\n")))
		if (!strncmp(line, reason, len) && line[len] == ' ')
			return strtol(line + len, NULL, 10);
	return -ENOENT;
}

int sysfs_auxdev(char *name, size_t size)
{
	char path[PATH_SIZE];
	struct dirent *entry;
	int ret = -ENODEV;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device",
		 verbs_device_name());
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "mlx5_core.rdma.", 15)) {
			snprintf(name, size, "%s", entry->d_name);
			ret = 0;
			break;
		}
	if (dir)
		closedir(dir);
	return ret;
}

bool sysfs_attached(void)
{
	char value[256];

	return !sysfs_read("attached", value, sizeof(value)) &&
		!strcmp(value, "yes");
}

int sysfs_policy(const char *policy, unsigned int pages, bool strict)
{
	char number[16];
	int ret;

	snprintf(number, sizeof(number), "%u", pages);
	ret = sysfs_write("uuar_pages", number);
	if (!ret)
		ret = sysfs_write("uuar_strict", strict ? "1" : "0");
	if (!ret)
		ret = sysfs_write("uuar_policy", policy);
	return ret;
}

int sysfs_defaults(void)
{
	return sysfs_policy("stock", 0, false);
}

FILE *debugfs_open(const char *table)
{
	char path[256], pci[128], line[256];
	FILE *file;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device",
		 verbs_device_name());
	n = readlink(path, pci, sizeof(pci) - 1);
	if (n < 0)
		return NULL;
	pci[n] = '\0';
	snprintf(path, sizeof(path), "/sys/kernel/debug/mlx5_ep/%s/%s",
		 strrchr(pci, '/') ? strrchr(pci, '/') + 1 : pci, table);
	file = fopen(path, "re");
	if (file && !fgets(line, sizeof(line), file)) {
		fclose(file);
		errno = ENODATA;
		return NULL;
	}
	return file;
}
