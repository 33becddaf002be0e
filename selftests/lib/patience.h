/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A limit is for what never comes: it must not tell a slow machine from a fast
 * one. Limits are said for a machine that does nothing else, and are so many
 * times that.
 */
#ifndef SELFTESTS_PATIENCE_H
#define SELFTESTS_PATIENCE_H

#define PATIENCE 4

#endif
