// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* /sys/class/infiniband/DEVICE/mlx5_ep/ and debugfs, as the tests use them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sysfs.h"
#include "verbs.h"

static int open_attr(const char *attr, int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/mlx5_ep/%s",
		 verbs_device_name(), attr);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int sysfs_write(const char *attr, const char *value)
{
	int fd = open_attr(attr, O_WRONLY), ret;

	if (fd < 0)
		return fd;
	ret = write(fd, value, strlen(value)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

int sysfs_read(const char *attr, char *value, size_t size)
{
	int fd = open_attr(attr, O_RDONLY), ret = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
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
