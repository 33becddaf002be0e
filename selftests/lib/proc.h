/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Numbers of files such as /proc/meminfo. */
#ifndef SELFTESTS_PROC_H
#define SELFTESTS_PROC_H

/**
 * proc_number() - a number of a file with lines "NAME NUMBER" or "NAME: NUMBER"
 * @path: of the file
 * @name: what the line begins with, and the colon if there is one
 *
 * Return: the number of the first such line; -1 if there is none.
 */
long proc_number(const char *path, const char *name);

#endif
