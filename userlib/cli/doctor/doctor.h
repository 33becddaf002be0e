/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The report of mlx5ep doctor, and the checks that add to it. */
#ifndef MLX5EP_CLI_DOCTOR_H
#define MLX5EP_CLI_DOCTOR_H

#include <stddef.h>

#include <json-c/json.h>

enum verdict { OK, WARN, BAD };

/**
 * struct report - what was found
 * @list: an object per finding, as mlx5ep -j doctor prints it
 * @bad: how many of them are problems
 */
struct report {
	struct json_object *list;
	unsigned int bad;
};

/* doctor_report.c */
void doctor_say(struct report *report, enum verdict verdict, const char *what,
		const char *finding, const char *remedy);
void doctor_kernel(char *buf, size_t len);
void doctor_compile_again(char *remedy, size_t len);

/* doctor_module.c */
void doctor_module(struct report *report);

/* doctor_boot.c */
void doctor_boot_order(struct report *report);

/* doctor_initramfs.c */
void doctor_initramfs(struct report *report);

#endif
