/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What json-c lacks for the answers of the control socket.
 */
#ifndef HCA_JSON_H
#define HCA_JSON_H

#include <json-c/json.h>
#include <stdint.h>

/**
 * json_add_number() - give an object a member that is a number
 * @o: must not have a member of this name
 * @name: is copied
 * @n: at most INT64_MAX, as json-c keeps it signed
 */
static inline void json_add_number(struct json_object *o, const char *name,
				   uint64_t n)
{
	json_object_object_add(o, name, json_object_new_int64((int64_t)n));
}

#endif
