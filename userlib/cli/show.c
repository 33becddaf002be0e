// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mlx5ep show, once or again and again */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "compare.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct column device_columns[] = {
	{ "device", "DEVICE", true }, { "pci", "PCI", true },
	{ "policy", "POLICY", true }, { "strict", "STRICT", false },
	{ "pages", "PAGES", false }, { "budget", "BUDGET", false },
	{ "in_use", "IN-USE", false }, { "observed", "OBSERVED", false },
	{ "fallbacks", "FALLBACKS", false }, { "exempt", "EXEMPT", true },
};

static const struct column context_columns[] = {
	{ "pid", "PID", false }, { "policy", "POLICY", true },
	{ "source", "WHY", true }, { "strict", "STRICT", false },
	{ "managed", "MANAGED", false }, { "static", "STATIC", false },
	{ "dynamic", "DYNAMIC", false }, { "held", "HELD", false },
	{ "qps", "QPS", false },
	{ "used_pages", "PAGES", false }, { "used_uuars", "UUARS", false },
	{ "shared_uuars", "SHARED", false }, { "comm", "PROGRAM", true },
};

static const struct column uuar_columns[] = {
	{ "uar", "UAR", false }, { "slot", "SLOT", false },
	{ "pid", "PID", false }, { "program", "PROGRAM", true },
	{ "page", "PAGE", false }, { "qps", "SHARERS", false },
	{ "locked", "LOCKED", false }, { "blueflame", "BLUEFLAME", false },
};

static const struct column qp_columns[] = {
	{ "qpn", "QPN", false }, { "pid", "PID", false },
	{ "program", "PROGRAM", true }, { "uar", "UAR", false },
	{ "page", "PAGE", false }, { "slot", "SLOT", false },
	{ "level", "LEVEL", false }, { "uuar_qps", "SHARERS", false },
	{ "page_qps", "ON-PAGE", false }, { "placer", "PLACED-BY", true },
};

static const struct column user_columns[] = {
	{ "uid", "UID", false }, { "contexts", "CONTEXTS", false },
	{ "pages", "UAR-PAGES", false },
};

static const struct column cgroup_columns[] = {
	{ "path", "CGROUP", true }, { "policy", "POLICY", true },
	{ "strict", "STRICT", false }, { "pages", "PAGES", false },
};

static const struct column differs_columns[] = {
	{ "setting", "SETTING", true }, { "now", "NOW", true },
	{ "saved", "SAVED", true }, { "line", "LINE", false },
};

static const struct column watch_columns[] = {
	{ "pid", "PID", false }, { "watches", "WATCHES", false },
	{ "capacity", "CAPACITY", false }, { "bytes", "BYTES", false },
	{ "events", "EVENTS", false }, { "unread", "UNREAD", false },
	{ "xrc_events", "XRC-EVENTS", false },
	{ "xrc_unread", "XRC-UNREAD", false }, { "comm", "PROGRAM", true },
};

/* Printed as name=value pairs; the columns are what can be sorted and filtered. */
static const struct column xrc_columns[] = {
	{ "kind", "KIND", true }, { "id", "ID", false },
	{ "qps", "QPS", false }, { "inode", "INODE", true },
	{ "num", "NUM", false },
	{ "domain", "DOMAIN", false }, { "state", "STATE", true },
	{ "registrants", "REGISTRANTS", false }, { "key", "KEY", true },
	{ "qp", "QP", false }, { "pid", "PID", false },
	{ "comm", "PROGRAM", true }, { "events", "EVENTS", true },
};

/* Is a section shown if the command line does not name it? */
enum unasked { NEVER, WITH_ROWS, ALWAYS };

struct section {
	const char *name;
	const struct column *columns;
	size_t n;
	enum unasked unasked;
};

static const struct section sections[] = {
	{ "differs", differs_columns, COUNT(differs_columns), WITH_ROWS },
	{ "cgroups", cgroup_columns, COUNT(cgroup_columns), WITH_ROWS },
	{ "contexts", context_columns, COUNT(context_columns), ALWAYS },
	{ "uuars", uuar_columns, COUNT(uuar_columns), ALWAYS },
	{ "qps", qp_columns, COUNT(qp_columns), NEVER },
	{ "users", user_columns, COUNT(user_columns), NEVER },
	{ "xrc", xrc_columns, COUNT(xrc_columns), NEVER },
	{ "watches", watch_columns, COUNT(watch_columns), NEVER },
};

/* Leaves out uUARs that no QP rings. */
static struct json_object *rows_of(struct json_object *dev, const char *table)
{
	struct json_object *rows = json_get(dev, table), *out;
	size_t i;

	if (!rows)
		return NULL;
	out = json_object_new_array();
	for (i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if (strcmp(table, "uuars") || json_number(row, "qps", 0))
			json_object_array_add(out, json_object_get(row));
	}
	return out;
}

/* A registration belongs to the QP above it, a QP to the domain above it. */
static const char *indent(struct json_object *row)
{
	const char *kind = json_text(row, "kind", "");

	return !strcmp(kind, "qp") ? "  " :
		!strcmp(kind, "registration") ? "    " : "";
}

static void print_pairs(struct json_object *rows)
{
	char line[MAX_WIDTH + 1];
	size_t r, len;

	for (r = 0; r < json_object_array_length(rows); r++) {
		struct json_object *row = json_object_array_get_idx(rows, r);

		len = snprintf(line, sizeof(line), "%s%s", indent(row),
			       json_text(row, "kind", ""));
		json_object_object_foreach(row, key, value) {
			if (!strcmp(key, "kind") || len >= sizeof(line))
				continue;
			len += snprintf(line + len, sizeof(line) - len,
					"%s%s=%s", len ? "  " : "", key, value ?
					json_object_get_string(value) : "-");
		}
		puts(printable(line));
	}
}

/* Is this table of the caller's own processes, as debugfs cannot be read? */
static bool is_own(struct json_object *dev, const char *table)
{
	return *json_text(dev, "own", "") &&
		(!strcmp(table, "contexts") || !strcmp(table, "uuars"));
}

static void print_section(struct cli *cli, struct json_object *dev,
			  const struct section *section, bool asked)
{
	struct json_object *rows = rows_of(dev, section->name);
	size_t more = 0;

	if (rows)
		rows = view_apply(&cli->view, section->columns, section->n,
				  rows, view_most(&cli->view, asked), &more);

	putchar('\n');
	print_heading(
		cli, "%s: %s%s%s", json_text(dev, "device", ""), section->name,
		section == sections ? " from /" CONFIG_FILE : "",
		rows && is_own(dev, section->name) ? " of this user's processes"
						   : "");
	if (!rows && section == sections)
		puts("unknown: the file has an error, see mlx5ep check, or a setting cannot be read");
	else if (!rows)
		puts("not readable: debugfs needs root, or the module has no such table");
	else if (!json_object_array_length(rows))
		puts("none");
	else if (section->columns == xrc_columns)
		print_pairs(rows);
	else
		print_table(cli, rows, section->columns, section->n);
	if (more)
		printf("and %zu more: mlx5ep show --top N %s\n", more,
		       section->name);
	if (is_own(dev, section->name) &&
	    !strcmp(json_text(dev, "own", ""), "some"))
		puts("without processes that this user may not trace, see mlx5ep(8)");
	json_object_put(rows);
}

static void print_devices(struct cli *cli, struct json_object *devices)
{
	struct json_object *attached = json_object_new_array();
	char buf[64];
	size_t i;

	for (i = 0; i < json_object_array_length(devices); i++) {
		struct json_object *dev =
			json_object_array_get_idx(devices, i);

		if (!*json_text(dev, "reason", "")) {
			json_object_array_add(attached, json_object_get(dev));
			if (json_object_get_boolean(json_get(dev, "half")))
				printf("%s: policies and limits only: see mlx5ep doctor\n",
				       json_text(dev, "device", ""));
			continue;
		}
		printf("%s (%s): %s: %s\n", json_text(dev, "device", ""),
		       json_text(dev, "pci", ""),
		       paint(cli, "1;31", "not attached", buf, sizeof(buf)),
		       json_text(dev, "reason", ""));
	}
	if (json_object_array_length(attached))
		print_table(cli, attached, device_columns,
			    COUNT(device_columns));
	json_object_put(attached);
}

static bool wanted(struct json_object *dev, const struct section *section,
		   const struct section *only)
{
	if (only || section->unasked != WITH_ROWS)
		return only ? only == section : section->unasked == ALWAYS;
	return json_length(dev, section->name);
}

static void print_all(struct cli *cli, struct json_object *devices,
		      const struct section *only)
{
	size_t i, k;

	print_devices(cli, devices);
	for (i = 0; i < json_object_array_length(devices); i++) {
		struct json_object *dev =
			json_object_array_get_idx(devices, i);

		if (*json_text(dev, "reason", ""))
			continue;
		for (k = 0; k < COUNT(sections); k++)
			if (wanted(dev, &sections[k], only))
				print_section(cli, dev, &sections[k],
					      only);
	}
}

/* What differs from the configuration file; NULL, with a message, if that is unknown. */
static struct json_object *show_differs(const struct config *config,
					const char *device, const char *pci)
{
	struct json_object *rows;
	int err;

	rows = compare(config, device, pci, &err);
	if (!err)
		return rows;
	complain(exit_code(err), "%s: what is set cannot be read: %s",
		 device ? device : "module", what_failed(err));
	json_object_put(rows);
	return NULL;
}

/*
 * Adds what differs from the configuration file; null if the file is bad, or what is
 * set cannot be read.
 */
static void add_differs(struct json_object *obj, struct json_object *devices)
{
	struct json_object *dev;
	struct config config;
	char path[PATH_LEN];
	size_t i;
	bool good;

	root_path(path, CONFIG_FILE);
	good = !config_read(&config, path, path);
	json_object_object_add(obj, "differs", good && module_loaded() ?
			       show_differs(&config, NULL, "") : NULL);
	for (i = 0; i < json_object_array_length(devices); i++) {
		dev = json_object_array_get_idx(devices, i);
		if (!*json_text(dev, "reason", ""))
			json_object_object_add(
				dev, "differs",
				good ? show_differs(
					       &config,
					       json_text(dev, "device", ""),
					       json_text(dev, "pci", ""))
				     : NULL);
	}
	config_free(&config);
}

static void print_module(struct cli *cli, struct json_object *obj)
{
	if (!json_length(obj, "differs"))
		return;
	putchar('\n');
	print_heading(cli, "module: differs from /" CONFIG_FILE);
	print_table(cli, json_get(obj, "differs"),
		    differs_columns, COUNT(differs_columns));
}

/* Both the tables and JSON name the program of a uUAR and of a QP. */
static void add_programs(struct json_object *devices)
{
	size_t i;

	for (i = 0; i < json_object_array_length(devices); i++) {
		row_programs_add(json_object_array_get_idx(devices, i), "uuars");
		row_programs_add(json_object_array_get_idx(devices, i), "qps");
	}
}

static int show(struct cli *cli, const struct section *only)
{
	struct json_object *obj = json_object_new_object();
	struct json_object *devices;
	int code;

	devices = devices_get(cli, &code);
	add_differs(obj, devices);
	add_programs(devices);
	json_object_object_add(obj, "module",
			       json_object_new_boolean(module_loaded()));
	json_object_object_add(obj, "devices", devices);
	if (cli->json) {
		print_json(obj);
	} else {
		print_all(cli, devices, only);
		if (!only || only == sections)
			print_module(cli, obj);
	}
	if (code)
		code = no_device(cli->device, code);
	json_object_put(obj);
	return code;
}

static int section_arg(const char *name, const struct section **section)
{
	size_t i;

	*section = NULL;
	if (!name || !strcmp(name, "all"))
		return 0;
	for (i = 0; i < COUNT(sections); i++)
		if (!strcmp(name, sections[i].name)) {
			*section = &sections[i];
			return 0;
		}
	return usage_error("show", "%s: not one of differs, cgroups, contexts, uuars, qps, users, xrc, watches",
			   name);
}

/* How often the tables are shown; 0 seconds: once. */
struct times {
	double seconds, count;
};

static bool positive(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return *text && !*end && *value > 0 && *value < 1e6;
}

static int check_view(const struct view *view, const struct section *only)
{
	size_t k;

	for (k = 0; k < COUNT(sections); k++)
		if ((!only || only == &sections[k]) &&
		    view_fits(view, sections[k].columns, sections[k].n))
			return 0;
	return usage_error("show", "%s%s%s%s%s: %s",
			   view->sort ? "--sort " : "",
			   view->sort ? view->sort : "",
			   view->sort && view->filter ? ", " : "",
			   view->filter ? "--filter " : "",
			   view->filter ? view->filter : "",
			   only ? "the table has no such column" :
				  "no table has such a column");
}

static int show_parse(struct cli *cli, int argc, char **argv,
		      struct times *times, const struct section **only)
{
	static const struct option options[] = {
		{ "sort", required_argument, NULL, 's' },
		{ "filter", required_argument, NULL, 'f' },
		{ "top", required_argument, NULL, 't' },
		{ "interval", required_argument, NULL, 'n' },
		{ "count", required_argument, NULL, 'c' },
		{}
	};
	double top;
	int c, ret;

	while ((c = getopt_long(argc, argv, "s:f:t:n:c:", options, NULL)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		if (c == 's')
			cli->view.sort = optarg;
		else if (c == 'f')
			cli->view.filter = optarg;
		else if (!positive(optarg, c == 't' ? &top : c == 'n' ?
				   &times->seconds : &times->count))
			return usage_error("show", "-%c %s: not a positive number",
					   c, optarg);
		else if (c == 't')
			cli->view.top = top < 1 ? 1 : top;
	}
	if (argc - optind > 1)
		return usage_error("show", "%s: unexpected", argv[optind + 1]);
	if (times->count && !times->seconds)
		times->seconds = 1;
	ret = section_arg(argv[optind], only);
	return ret ? ret : check_view(&cli->view, *only);
}

/* Lines of the terminal; 0: the output is none, or it does not say. */
static size_t terminal_lines(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_row;
}

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

/* Shows the tables until the count is reached, or a signal comes. */
static int show_again(struct cli *cli, const struct times *times,
		      const struct section *only)
{
	struct timespec ts = { .tv_sec = times->seconds };
	int ret = EXIT_OK;

	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	ts.tv_nsec = (times->seconds - ts.tv_sec) * 1e9;
	for (double i = 0; !stop && (!times->count || i < times->count); i++) {
		if (i)
			nanosleep(&ts, NULL);
		if (stop)
			break;
		if (cli->color)
			fputs("\033[H\033[2J", stdout);
		cli->view.lines = cli->color ? terminal_lines() : 0;
		ret = show(cli, only);
		if (!cli->json && !cli->color)
			putchar('\n');
		if (ret || fflush(stdout))
			break;
	}
	return ret;
}

/**
 * cmd_show() - mlx5ep show [OPTION...] [all|differs|cgroups|contexts|uuars|qps|users|xrc|watches]
 */
int cmd_show(struct cli *cli, int argc, char **argv)
{
	struct times times = {};
	const struct section *only = NULL;
	int ret = show_parse(cli, argc, argv, &times, &only);

	if (ret)
		return ret;
	return times.seconds ? show_again(cli, &times, only) : show(cli, only);
}
