// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the environment asks for, and what is said about it. MLX5EP_UCX is a list of words;
 * MLX5EP_UCX_NEWEST is a version of UCX.
 *
 * The library was preloaded for a purpose. So if it leaves the work to UCX's hooks it says
 * why, in one line for each process, and with the word "strict" it ends the process.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ucx.h"
#include "ucx_limits.h"

#define WORDS "MLX5EP_UCX"
#define NEWEST "MLX5EP_UCX_NEWEST"
#define STRICT_STATUS 1

static bool is_said;

/* Is the word in the list? */
static bool env_has(const char *word)
{
	const char *at = getenv(WORDS);
	size_t len = strlen(word);

	while (at && *at) {
		size_t n = strcspn(at, ", ");

		if (n == len && !strncmp(at, word, len))
			return true;
		at += n + strspn(at + n, ", ");
	}
	return false;
}

/**
 * ucx_env_off() - is the library to do nothing?
 */
bool ucx_env_off(void)
{
	return env_has("off");
}

/**
 * ucx_env_verbose() - is the library to tell what it does?
 */
bool ucx_env_verbose(void)
{
	return env_has("verbose");
}

/**
 * ucx_env_newest() - the newest UCX with which the library does its work
 *
 * Return: 1000 * major + minor.
 */
unsigned int ucx_env_newest(void)
{
	const char *text = getenv(NEWEST);
	unsigned int major, minor;

	if (text && sscanf(text, "%u.%u", &major, &minor) == 2 && minor < 1000)
		return UCX_VERSION(major, minor);
	return UCX_NEWEST;
}

/**
 * ucx_env_say() - tell something, if the library is to be verbose
 */
void ucx_env_say(const char *what)
{
	if (ucx_env_verbose())
		fprintf(stderr, "mlx5ep-ucx: %s\n", what);
}

/**
 * ucx_env_decline() - tell that the library does not keep its promise
 *
 * Return: not at all where MLX5EP_UCX has the word "strict".
 */
void ucx_env_decline(const char *format, ...)
{
	char why[256];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	if (env_has("strict")) {
		fprintf(stderr, "mlx5ep-ucx: %s; strict: the program ends\n", why);
		_exit(STRICT_STATUS);
	}
	if (!env_has("quiet") &&
	    !__atomic_exchange_n(&is_said, true, __ATOMIC_RELAXED))
		fprintf(stderr, "mlx5ep-ucx: %s\n", why);
}

/**
 * ucx_env_forked() - what the parent has said is not said by the child
 */
void ucx_env_forked(void)
{
	is_said = false;
}
