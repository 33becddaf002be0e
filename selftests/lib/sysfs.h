/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * /sys/class/infiniband/DEVICE/mlx5_ep/, debugfs and other files that take a
 * word, as the tests use them.
 */
#ifndef SELFTESTS_SYSFS_H
#define SELFTESTS_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Write a text to a file that is there, at once. Return: 0 or -errno. */
int file_write(const char *path, const char *text);

/* The driver of the auxiliary devices behind HCAs: its folder. */
#define SYSFS_AUX_DRIVER "/sys/bus/auxiliary/drivers/mlx5_ib.rdma/"

/* The name of such a device, the first. Return: 0; -ENODEV where there is none. */
int sysfs_auxdev(char *name, size_t size);

/* Is the module attached to the device under test? */
bool sysfs_attached(void);

/**
 * sysfs_write() - write an attribute
 *
 * Return: 0 or -errno, as write() gave it.
 */
int sysfs_write(const char *attr, const char *value);

/**
 * sysfs_read() - read an attribute, without the newline
 *
 * Return: 0 or -errno.
 */
int sysfs_read(const char *attr, char *value, size_t size);

/* An attribute that is a number; negative where it cannot be read. */
long sysfs_number(const char *attr);

/**
 * sysfs_policy() - set policy, page count and strictness for later contexts
 * @policy: stock, independent, shared-uar, shared-uuar
 * @pages: uuar_pages; 0 is the module's choice
 * @strict: no falling back
 */
int sysfs_policy(const char *policy, unsigned int pages, bool strict);

/**
 * debugfs_open() - open a table of /sys/kernel/debug/mlx5_ep/DEVICE/
 * @table: its name
 *
 * Return: for reading, behind the line of column names; NULL, and errno.
 */
FILE *debugfs_open(const char *table);

/* All back to what the module starts with. */
int sysfs_defaults(void);

#endif
