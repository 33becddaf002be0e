/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Marks in the trace of the kernel, which say what a thread does. A slice is what is
 * between two marks of a thread, and may hold others. The text is that of Android's atrace,
 * which viewers of traces know.
 *
 * $TIMELINE_MARKER names the file that takes marks. Without it a mark costs one look at a
 * variable. Only the thread that called mark_open() may be first to make a mark.
 */
#ifndef WORKLOADS_MARK_H
#define WORKLOADS_MARK_H

/**
 * mark_open() - look whether marks are wanted
 * @rank: of this process in its job; it is the first mark
 */
void mark_open(unsigned int rank);

/**
 * mark_begin() - a slice of this thread begins
 * @format: its name, without '|' and at most 63 characters
 */
__attribute__((format(printf, 1, 2)))
void mark_begin(const char *format, ...);

/** mark_end() - the last slice that this thread began ends */
void mark_end(void);

#endif
