// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The common part of all objects: a number, an owner, and an entry in a table.
 */
#include <stdlib.h>

#include "base/json.h"
#include "object/objects.h"

/**
 * obj_add() - give a new object a number and an owner
 * @uid: DevX uid that owns it
 *
 * Return: 0, -ENOSPC, -ENOMEM
 */
int obj_add(struct idtable *t, struct obj *o, uint16_t uid)
{
	int ret = idtable_alloc(t, o, &o->id);

	if (!ret)
		o->uid = uid;
	return ret;
}

/**
 * uid_privileged() - is this uid the driver's, not a DevX user's?
 * @uid: of a command
 */
bool uid_privileged(uint16_t uid)
{
	return !uid || uid == SIM_SHARED_UID;
}

/**
 * obj_find() - find an object that a command refers to
 * @uid: DevX uid of the command
 *
 * Return: the object, NULL when there is none that @uid may refer to
 */
void *obj_find(const struct idtable *t, uint32_t id, uint16_t uid)
{
	struct obj *o = idtable_get(t, id);

	if (!o || uid_privileged(uid) || uid_privileged(o->uid) ||
	    o->uid == uid)
		return o;
	return NULL;
}

/**
 * obj_own() - find an object that a command queries, changes or destroys
 * @uid: DevX uid of the command
 *
 * Return: the object, NULL when there is none that is @uid's own
 */
void *obj_own(const struct idtable *t, uint32_t id, uint16_t uid)
{
	struct obj *o = idtable_get(t, id);

	return o && (uid_privileged(uid) || o->uid == uid) ? o : NULL;
}

/**
 * obj_destroy() - destroy an object that is one allocation and holds nothing
 * @uid: DevX uid of the command
 *
 * Return: CMD_OK, CMD_BAD_RES: it is not there or not @uid's, CMD_BAD_RES_STATE: it is held
 */
uint8_t obj_destroy(struct idtable *t, uint32_t id, uint16_t uid)
{
	struct obj *o = obj_own(t, id, uid);

	if (!o)
		return CMD_BAD_RES;
	if (o->holds)
		return CMD_BAD_RES_STATE;
	free(idtable_remove(t, id));
	return CMD_OK;
}

/**
 * cmd_note() - add a stable field to the command log
 * @name: of the field
 * @value: of the field
 */
void cmd_note(struct cmd *cmd, const char *name, uint64_t value)
{
	if (cmd->key)
		json_add_number(cmd->key, name, value);
}
