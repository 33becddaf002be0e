/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What defaults.c and values.c of kernel/uuar/ take of the kernel, for a program:
 * numbers, switches and names as the kernel reads them, memory that is counted, and
 * refused where a test says so, a mutex that knows whether it is held, and a log.
 */
#ifndef VALUES_KERNEL_H
#define VALUES_KERNEL_H

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define PAGE_SIZE		4096
#define TASK_COMM_LEN		16
#define GFP_KERNEL		0

struct mutex {
	bool held;
};

struct device {
	const char *name;
	struct device *parent;
};

struct kernel_param {
	int none;
};

struct kernel_param_ops {
	int (*set)(const char *val, const struct kernel_param *kp);
	int (*get)(char *buffer, const struct kernel_param *kp);
	void (*free)(void *arg);
};

/* What a test sets and reads. */
static struct {
	int blocks;		/* memory that is allocated */
	int asked;		/* how often somebody wanted some */
	int fails;		/* the request that finds none; 0: each finds some */
	int misuses;		/* a mutex taken twice, or let go twice */
	char log[512];		/* the last line */
	unsigned int uar_pages;	/* of the device */
} fake;

#define DEFINE_MUTEX(name)	struct mutex name

static void mutex_lock(struct mutex *mutex)
{
	fake.misuses += mutex->held;
	mutex->held = true;
}

static void mutex_unlock(struct mutex *mutex)
{
	fake.misuses += !mutex->held;
	mutex->held = false;
}

#define dev_name(dev)		((dev)->name)
#define dev_warn(dev, ...) \
	((void)snprintf(fake.log, sizeof(fake.log), "%s: ", dev_name(dev)), \
	 (void)snprintf(fake.log + strlen(fake.log), \
			sizeof(fake.log) - strlen(fake.log), __VA_ARGS__))

#define module_param_cb(_name, _ops, ...) \
	static const struct kernel_param_ops *const param_##_name = _ops
#define MODULE_PARM_DESC(...) struct device

#define WRITE_ONCE(x, value)	((x) = (value))
#define swap(a, b) \
	do { \
		__typeof__(a) _was = (a); \
		(a) = (b); \
		(b) = _was; \
	} while (0)

/* Memory has old bytes in it. */
static void *fake_alloc(size_t size, int byte)
{
	void *block;

	if (++fake.asked == fake.fails)
		return NULL;
	fake.blocks++;
	block = malloc(size);
	return memset(block, byte, size);
}

static void kfree(void *block)
{
	fake.blocks -= block != NULL;
	free(block);
}

#define kmalloc(size, ...)	fake_alloc(size, 0xa5)
#define kzalloc_obj(object, ...) fake_alloc(sizeof(object), 0)

static char *kstrdup(const char *text, ...)
{
	char *copy = kmalloc(strlen(text) + 1);

	return copy ? strcpy(copy, text) : NULL;
}

static char *skip_spaces(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return (char *)text;
}

/* Cuts space off the end, and returns where the text begins without space. */
static char *strim(char *text)
{
	size_t len = strlen(text);

	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = 0;
	return skip_spaces(text);
}

/* A text from sysfs may have a newline at its end. */
static bool is_text(const char *text, const char *wanted)
{
	size_t len = strlen(wanted);

	return !strncmp(text, wanted, len) &&
	       (!text[len] || (text[len] == '\n' && !text[len + 1]));
}

static int match_text(const char *const *texts, size_t n, const char *text)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (is_text(text, texts[i]))
			return i;
	return -EINVAL;
}

#define __sysfs_match_string(texts, n, text) match_text(texts, n, text)

static int kstrtobool(const char *text, bool *value)
{
	if (!strchr("01", *text) || !*text)
		return -EINVAL;
	*value = *text == '1';
	return 0;
}

static int kstrtouint(const char *text, unsigned int base, unsigned int *value)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, base);
	if (!isdigit((unsigned char)*text) || errno || number > UINT_MAX ||
	    (*end && (*end != '\n' || end[1])))
		return -EINVAL;
	*value = number;
	return 0;
}

/* As the kernel's: bytes that were written, without the 0. */
#define scnprintf(buf, size, ...) \
	({ \
		int _room = (size), _length = snprintf(buf, _room, __VA_ARGS__); \
		_length < _room ? _length : _room - 1; \
	})
#define sysfs_emit(buf, ...)	scnprintf(buf, PAGE_SIZE, __VA_ARGS__)
#define strscpy(to, from, size)	((void)snprintf(to, size, "%s", from))

#endif
