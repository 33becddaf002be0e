// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See idtable.h for the model.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/idtable.h"

#define IDTABLE_MIN 64u

/**
 * idtable_init() - make an empty table
 * @first: the lowest number
 * @limit: how many numbers there are
 */
void idtable_init(struct idtable *t, uint32_t first, uint32_t limit)
{
	*t = (struct idtable){ .first = first, .limit = limit };
}

/**
 * idtable_fini() - free the table's own memory and empty it
 * @t: the table; the objects stay the caller's
 */
void idtable_fini(struct idtable *t)
{
	free(t->slots);
	idtable_init(t, t->first, t->limit);
}

/**
 * idtable_free() - idtable_fini(), and free() of each object in the table
 * @t: the table; each object is one allocation
 */
void idtable_free(struct idtable *t)
{
	uint32_t slot;

	for (slot = 0; slot < t->size; slot++)
		free(t->slots[slot]);
	idtable_fini(t);
}

static int idtable_grow(struct idtable *t, uint32_t slot)
{
	uint32_t size = t->size ? t->size : IDTABLE_MIN;
	void **slots;

	while (size <= slot)
		size *= 2;
	if (size > t->limit)
		size = t->limit;
	slots = realloc(t->slots, size * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	memset(slots + t->size, 0, (size - t->size) * sizeof(*slots));
	t->slots = slots;
	t->size = size;
	return 0;
}

/**
 * idtable_alloc() - put an object under a free number
 * @obj: the object, not NULL
 * @id: set to the number on success
 *
 * Return: 0, -ENOSPC when all numbers are taken, -ENOMEM
 */
int idtable_alloc(struct idtable *t, void *obj, uint32_t *id)
{
	uint32_t slot = t->next;
	int ret;

	if (t->count >= t->limit)
		return -ENOSPC;
	while (slot < t->size && t->slots[slot])
		slot = slot + 1 < t->limit ? slot + 1 : 0;
	ret = idtable_insert(t, t->first + slot, obj);
	if (ret)
		return ret;
	t->next = slot + 1 < t->limit ? slot + 1 : 0;
	*id = t->first + slot;
	return 0;
}

/**
 * idtable_insert() - put an object under a given number
 * @obj: the object, not NULL
 *
 * Return: 0, -ERANGE, -EBUSY when the number is taken, -ENOMEM
 */
int idtable_insert(struct idtable *t, uint32_t id, void *obj)
{
	uint32_t slot = id - t->first;
	int ret;

	if (id < t->first || slot >= t->limit)
		return -ERANGE;
	if (slot >= t->size) {
		ret = idtable_grow(t, slot);
		if (ret)
			return ret;
	}
	if (t->slots[slot])
		return -EBUSY;
	t->slots[slot] = obj;
	t->count++;
	return 0;
}

/**
 * idtable_get() - the object under a number
 * @id: any number
 *
 * Return: the object or NULL
 */
void *idtable_get(const struct idtable *t, uint32_t id)
{
	uint32_t slot = id - t->first;

	return id >= t->first && slot < t->size ? t->slots[slot] : NULL;
}

/**
 * idtable_remove() - take an object out
 * @id: any number
 *
 * Return: the object that was there, or NULL
 */
void *idtable_remove(struct idtable *t, uint32_t id)
{
	void *obj = idtable_get(t, id);

	if (obj) {
		t->slots[id - t->first] = NULL;
		t->count--;
	}
	return obj;
}

/**
 * idtable_next() - find the first object at or after a number
 * @id: where to start; set to the object's number
 *
 * Return: the object, NULL at the end
 */
void *idtable_next(const struct idtable *t, uint32_t *id)
{
	uint32_t slot = *id < t->first ? 0 : *id - t->first;

	for (; slot < t->size; slot++) {
		if (t->slots[slot]) {
			*id = t->first + slot;
			return t->slots[slot];
		}
	}
	return NULL;
}
