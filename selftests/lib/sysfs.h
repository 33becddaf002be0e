/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Access to the module's attributes in /sys/class/infiniband/DEVICE/mlx5_ep/,
 * to its tables in debugfs, and to other files that take a word.
 */
#ifndef SELFTESTS_SYSFS_H
#define SELFTESTS_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Write a text to an existing file with one write(). Return: 0 or -errno. */
int file_write(const char *path, const char *text);

/* The folder of the driver of the HCAs' auxiliary devices. */
#define SYSFS_AUX_DRIVER "/sys/bus/auxiliary/drivers/mlx5_ib.rdma/"

/*
 * The name of the auxiliary device of the device under test. Return: 0; -ENODEV
 * where there is none, or its driver is not bound.
 */
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

/*
 * The value of an attribute that is a number; -errno where it cannot be read.
 */
long sysfs_number(const char *attr);

/*
 * What was refused for that reason, as the attribute "refusals" says; -errno where it
 * cannot be read or has no such line.
 */
long sysfs_refusals(const char *reason);

/**
 * sysfs_policy() - set policy, page count and strictness for later contexts
 * @policy: stock, independent, shared-uar, shared-uuar
 * @pages: uuar_pages; 0 is the module's choice
 * @strict: no falling back
 */
int sysfs_policy(const char *policy, unsigned int pages, bool strict);

/**
 * debugfs_open() - open a table of /sys/kernel/debug/mlx5_ep/DEVICE/
 *
 * Return: for reading, behind the line of column names; NULL, and errno.
 */
FILE *debugfs_open(const char *table);

/* Set all attributes to the values that the module starts with. */
int sysfs_defaults(void);

#endif
