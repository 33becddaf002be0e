/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Objects of JSON: what one may lack is read, and texts are added. */
#ifndef MLX5EP_CLI_JSON_H
#define MLX5EP_CLI_JSON_H

#include <stddef.h>

#include <json-c/json.h>

/**
 * json_get() - the value of a key
 *
 * Return: NULL if the key is missing or null, or @obj is NULL.
 */
static inline struct json_object *json_get(struct json_object *obj,
					   const char *key)
{
	return json_object_object_get(obj, key);
}

/**
 * json_text() - the text of a key
 * @otherwise: what is returned if the key is missing or null
 */
static inline const char *json_text(struct json_object *obj, const char *key,
				    const char *otherwise)
{
	struct json_object *value = json_get(obj, key);

	return value ? json_object_get_string(value) : otherwise;
}

/**
 * json_number() - the number of a key; a boolean is 0 or 1
 * @otherwise: what is returned if the key is missing or null
 */
static inline long long json_number(struct json_object *obj, const char *key,
				    long long otherwise)
{
	struct json_object *value = json_get(obj, key);

	return value ? json_object_get_int64(value) : otherwise;
}

/**
 * json_length() - how many elements the array of a key has; 0 if there is none
 */
static inline size_t json_length(struct json_object *obj, const char *key)
{
	struct json_object *value = json_get(obj, key);

	return value ? json_object_array_length(value) : 0;
}

/**
 * json_add_text() - add a text to an object
 * @text: NULL: the key is null
 */
static inline void json_add_text(struct json_object *to, const char *key,
				 const char *text)
{
	json_object_object_add(to, key,
			       text ? json_object_new_string(text) : NULL);
}

#endif
