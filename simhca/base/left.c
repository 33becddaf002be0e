// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A text about the objects that a driver has left when it ends.
 *
 * Invariants
 * - The text ends where there is no more room for it.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/compiler.h"
#include "base/left.h"

#define TOLD 4u		/* objects of a kind whose numbers the text has */

static void __printf(2, 3) left_print(struct left *left, const char *fmt, ...)
{
	size_t room = sizeof(left->text) - left->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(left->text + left->len, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		left->len += (size_t)n < room ? (size_t)n : room - 1;
}

/**
 * left_add() - add the objects of a table to the text
 * @kind: what they are
 */
void left_add(struct left *left, const char *kind, const struct idtable *t)
{
	unsigned int told = 0;
	uint32_t id;
	void *obj;

	if (!t->count)
		return;
	left_print(left, "%s%u %s:", left->len ? ", " : "", t->count, kind);
	idtable_for_each(t, id, obj) {
		if (told++ == TOLD)
			break;
		left_print(left, " 0x%x", id);
	}
	if (t->count > TOLD)
		left_print(left, " ...");
}
