/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A table that maps small numbers to objects and allocates the numbers.
 *
 * Invariants
 * - Numbers lie in [first, first + limit); a number belongs to one object.
 * - Numbers are handed out in a circle, so that a number that was just freed
 *   is the last to come back and later uses of it are detected.
 */
#ifndef SIMHCA_IDTABLE_H
#define SIMHCA_IDTABLE_H

#include <stdint.h>

struct idtable {
	void **slots;
	uint32_t first;
	uint32_t limit;
	uint32_t size;	/* slots that are allocated */
	uint32_t next;	/* slot to try first */
	uint32_t count;	/* objects in the table */
};

void idtable_init(struct idtable *t, uint32_t first, uint32_t limit);
void idtable_fini(struct idtable *t);
void idtable_free(struct idtable *t);
int idtable_alloc(struct idtable *t, void *obj, uint32_t *id);
int idtable_insert(struct idtable *t, uint32_t id, void *obj);
void *idtable_get(const struct idtable *t, uint32_t id);
void *idtable_remove(struct idtable *t, uint32_t id);
void *idtable_next(const struct idtable *t, uint32_t *id);

/* Visit each object in the order of numbers. The body may remove @obj. */
#define idtable_for_each(t, id, obj)                                 \
	for ((id) = 0; ((obj) = idtable_next(t, &(id))) != NULL; (id)++)

#endif
