/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A text about the objects that a driver has left when it ends.
 */
#ifndef SIMHCA_LEFT_H
#define SIMHCA_LEFT_H

#include <stddef.h>

#include "base/idtable.h"

/**
 * struct left - the text while it is made
 * @text: the kinds of objects and their numbers; empty: nothing is left
 * @len: of @text
 */
struct left {
	char text[512];
	size_t len;
};

void left_add(struct left *left, const char *kind, const struct idtable *t);

#endif
