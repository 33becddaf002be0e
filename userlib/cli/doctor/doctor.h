/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The report of mlx5ep doctor, and the checks that add to it. */
#ifndef MLX5EP_CLI_DOCTOR_H
#define MLX5EP_CLI_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include <json-c/json.h>

enum verdict { OK, WARN, BAD };

/**
 * struct report - what was found
 * @list: an object per finding, as mlx5ep -j doctor prints it
 * @bad: how many of them are problems
 * @names: may a finding name programs and users?
 */
struct report {
	struct json_object *list;
	unsigned int bad;
	bool names;
};

/* report.c */
void doctor_say(struct report *report, enum verdict verdict, const char *what,
		const char *finding, const char *remedy);
void doctor_kernel(char *buf, size_t len);
void doctor_compile_again(char *remedy, size_t len);
FILE *doctor_start(const char * const argv[], pid_t *pid);
bool doctor_end(FILE *from, pid_t pid);

/* file.c */
bool doctor_file(const char *release, const char *name, char *path);
bool doctor_installed(const char *release);
void doctor_files(struct report *report, const char *release);
void doctor_file_version(const char *path, char *version, size_t len);
bool doctor_file_unsigned(const char *path);

/* module.c */
void doctor_module(struct report *report);

/* unload.c */
void doctor_unload(struct report *report, struct json_object *devices, bool all);

/* drivers.c */
void doctor_drivers(struct report *report, const char *release);

/* boot.c */
void doctor_boot_order(struct report *report);

/* initramfs.c */
void doctor_initramfs(struct report *report);

/* ucx.c */
void doctor_ucx(struct report *report);

#endif
