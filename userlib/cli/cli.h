/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The mlx5ep tool. Every command first collects its output as a JSON object.
 * With -j it prints that object; without, it prints tables made from the same
 * object.
 */
#ifndef MLX5EP_CLI_H
#define MLX5EP_CLI_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <json-c/json.h>

#include "json.h"

/* Documented in mlx5ep(8) */
enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_NO_MODULE = 3,
	EXIT_NO_DEVICE = 4,
	EXIT_PERMISSION = 5,
	EXIT_NOT_STARTED = 126,	/* run: as of a shell */
	EXIT_NOT_FOUND = 127,
};

#define HELP_WANTED (-1)	/* a command is to have its help printed */

/* Which rows of tables are shown; NULL or 0: not said. */
struct view {
	const char *sort;	/* a column */
	const char *filter;	/* COLUMN=VALUE, or TEXT */
	unsigned long top;
	size_t lines;		/* of the terminal that is to show all of it */
};

struct cli {
	bool json;
	bool color;
	bool brief;		/* no tables with a row for each QP */
	bool bare;		/* no tables at all, nor cgroups */
	const char *device;	/* NULL: all */
	struct view view;
};

int cmd_show(struct cli *cli, int argc, char **argv);
int cmd_set(struct cli *cli, int argc, char **argv);
int cmd_apply(struct cli *cli, int argc, char **argv);
int cmd_check(struct cli *cli, int argc, char **argv);
int cmd_plan(struct cli *cli, int argc, char **argv);
int cmd_attach(struct cli *cli, int argc, char **argv);
int cmd_run(struct cli *cli, int argc, char **argv);
int cmd_metrics(struct cli *cli, int argc, char **argv);
int cmd_selftest(struct cli *cli, int argc, char **argv);
int cmd_bench(struct cli *cli, int argc, char **argv);
int cmd_doctor(struct cli *cli, int argc, char **argv);

/* doctor/devices.c */
struct json_object *doctor_findings(struct cli *cli, bool names,
				    unsigned int *bad);

/* error.c */
int usage_error(const char *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void usage_hint(const char *command, char **argv);
int complain(int code, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int exit_code(int err);
int exit_flushed(int code);
const char *what_failed(int err);

/* number.c */
bool number_parse(const char *text, unsigned long most, unsigned int *value);

/* files.c: all reading and writing of files; calls return 0 or -errno */
#define PATH_LEN 512

void root_path(char *path, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int own_folder(char *folder);
ssize_t file_read(const char *path, char *buf, size_t len);
char *file_text(const char *path);
char *file_list(const char *path);
int file_write(const char *path, const char *text);
int dir_names(const char *path, int (*each)(const char *name, void *arg),
	      void *arg);
int open_files(int (*each)(const char *pid, const char *fd, const char *target,
			   void *arg),
	       void *arg);
bool path_exists(const char *path);

/* lock.c */
void changes_lock(void);

/* device.c */
#define ATTRIBUTES "class/infiniband/%s/mlx5_ep/%s"

bool module_loaded(void);
struct json_object *devices_get(struct cli *cli, int *code);
bool devices_unread(int code);
ssize_t attribute_read(const char *device, const char *name, char *buf,
		       size_t len);

bool says_attached(const char *text);
bool says_half(const char *text);
bool says_uverbs_helps(const char *text);
bool device_is_mlx5(const char *name);
bool device_is_anothers(const char *name);
bool device_pci(const char *device, char *pci, size_t len);
struct json_object *attribute_table(const char *device, const char *name,
				    const char *titles);

/* describe.c */
struct json_object *device_describe(const char *device);
int device_missing(const char *device);
int no_device(const char *device, int code);
const char *device_choose(struct cli *cli, const char *command,
			  struct json_object **devices, int *code);

/* traced.c: contexts of processes that the caller may trace */
void traced_contexts(struct json_object *dev, const char *name);

/* table.c: turns debugfs tables into JSON */
struct json_object *table_parse(char *text);
struct json_object *pairs_parse(char *text);

/* unplaced.c: programs whose QPs no policy places */
struct unplaced {
	long long pid;
	const char *program, *policy;
	unsigned int devx, thread_domains;	/* QPs of each kind */
};

bool unplaced_find(struct json_object *dev, size_t *at, struct unplaced *found);

/* utf8.c */
char *utf8_mend(char *text);

/* print.c */
#define MAX_WIDTH 100

struct column {
	const char *key;
	const char *title;
	bool left;
};

bool print_is_terminal(void);
char *printable(char *text);
void print_json(struct json_object *obj);
void print_table(struct cli *cli, struct json_object *rows,
		 const struct column *columns, size_t n);
void print_heading(struct cli *cli, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
const char *paint(struct cli *cli, const char *color, const char *text,
		  char *buf, size_t len);

/* row_programs.c */
void row_programs_add(struct json_object *dev, const char *table);

/* view.c */
bool view_fits(const struct view *view, const struct column *columns, size_t n);
size_t view_most(const struct view *view, bool asked);
struct json_object *view_apply(const struct view *view,
			       const struct column *columns, size_t n,
			       struct json_object *rows, size_t most,
			       size_t *more);

#endif
