/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What files below /proc say. */
#ifndef SELFTESTS_PROC_H
#define SELFTESTS_PROC_H

#include <sys/types.h>

/**
 * proc_number() - a number of a file with lines "NAME NUMBER" or "NAME: NUMBER"
 * @path: of the file
 * @name: what the line begins with, and the colon if there is one
 *
 * Return: the number of the first such line; -1 if there is none.
 */
long proc_number(const char *path, const char *name);

/**
 * proc_thread_state() - the state of a thread, as proc(5) names it
 * @pid: of its process
 * @tid: of the thread
 *
 * Return: for instance 'D'; 0 if it has ended.
 */
char proc_thread_state(pid_t pid, pid_t tid);

#endif
