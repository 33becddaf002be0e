// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a program's start and end cost with a library preloaded, in guest instructions:
 * preload PROGRAM LIBRARY...; "" is none. They take turns, since what a start costs
 * drifts, and a sample is the least of some starts, since the rest is what the kernel did
 * beside them. Prints a line for each, in their order: the library and the samples.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "instr.h"

#define WARM_UP 1
#define LIBRARIES 8
#define STARTS 5

extern char **environ;

/* Starts a program and waits for its end. Returns 0 if it failed. */
static uint64_t start(char **argv)
{
	uint64_t began = instr_now();
	int status;
	pid_t pid;

	if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) ||
	    waitpid(pid, &status, 0) != pid || status)
		return 0;
	return instr_now() - began;
}

static uint64_t sample(char **argv, const char *library)
{
	uint64_t least = UINT64_MAX, took;
	int i;

	if (*library ? setenv("LD_PRELOAD", library, 1) :
		       unsetenv("LD_PRELOAD"))
		return 0;
	for (i = 0; i < STARTS; i++) {
		took = start(argv);
		if (took < least)
			least = took;
	}
	return least;
}

int main(int argc, char **argv)
{
	uint64_t samples[LIBRARIES][INSTR_SAMPLES], took;
	char *program[2] = { argv[1], NULL };
	int i, n;

	if (argc < 3 || argc > 2 + LIBRARIES) {
		fprintf(stderr, "usage: preload PROGRAM LIBRARY...\n");
		return 2;
	}
	for (i = -WARM_UP; i < INSTR_SAMPLES; i++) {
		for (n = 0; n < argc - 2; n++) {
			took = sample(program, argv[2 + n]);
			if (!took) {
				fprintf(stderr, "%s did not succeed\n", *program);
				return 1;
			}
			if (i >= 0)
				samples[n][i] = took;
		}
	}
	for (n = 0; n < argc - 2; n++)
		instr_print(*argv[2 + n] ? argv[2 + n] : "none", samples[n], 0,
			    1);
	return 0;
}
