// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * All checks of mlx5ep doctor: what the module needs, what is wrong, and which command
 * solves it. They change nothing. Here are those of devices and of limits.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <rdma/mlx5_ep_user_ioctl_cmds.h>

#include "../cli.h"
#include "doctor.h"

/* Behind a number that the device may be too small for; a comment of the shell. */
#define AT_MOST " # at most the UAR pages of the device"

static void check_kernel(struct report *report)
{
	char release[128];

	doctor_kernel(release, sizeof(release));
	doctor_say(report, OK, "kernel", release, NULL);
}

static void check_parameters(struct report *report)
{
	char path[PATH_LEN], buf[32];

	root_path(path, "sys/module/mlx5_ep/parameters/attach");
	if (file_read(path, buf, sizeof(buf)) <= 0)
		return;
	if (*buf == 'Y' || *buf == '1')
		doctor_say(report, OK, "attaching", "on", NULL);
	else
		doctor_say(report, BAD, "attaching",
			   "the module attaches to no device that comes from now on",
			   "echo Y >/sys/module/mlx5_ep/parameters/attach");
}

static void check_debugfs(struct report *report)
{
	char path[PATH_LEN];

	root_path(path, "sys/kernel/debug/mlx5_ep");
	if (path_exists(path))
		doctor_say(report, OK, "debugfs", "readable", NULL);
	else
		doctor_say(report, WARN, "debugfs",
			   "not readable: mlx5ep show lists no contexts",
			   geteuid() ? "sudo mlx5ep doctor" :
			   "mount -t debugfs none /sys/kernel/debug");
}

/* A line of pam_limits for * is none for root. */
static void check_memlock(struct report *report)
{
	struct rlimit lim;
	char text[96];

	if (getrlimit(RLIMIT_MEMLOCK, &lim) || lim.rlim_cur == RLIM_INFINITY) {
		doctor_say(report, OK, "locked memory", "no limit", NULL);
		return;
	}
	snprintf(text, sizeof(text), "at most %llu KiB, for this user",
		 (unsigned long long)lim.rlim_cur / 1024);
	doctor_say(report, lim.rlim_cur < 64 << 20 ? WARN : OK, "locked memory",
		   text, lim.rlim_cur < 64 << 20 ?
		   "printf '%s - memlock unlimited\\n' '*' root >>/etc/security/limits.d/rdma.conf" :
		   NULL);
}

/* Warns of users who have nine tenths of the pages that one user may have. */
static void check_users(struct report *report, const char *name,
			struct json_object *dev)
{
	long long limit = json_number(dev, "user_limit", -1);
	struct json_object *users = json_get(dev, "users"), *user;
	char text[160], remedy[160];
	size_t i;

	if (limit <= 0)
		return;
	for (i = 0; i < json_length(dev, "users"); i++) {
		user = json_object_array_get_idx(users, i);
		if (json_number(user, "pages", -1) * 10 < limit * 9)
			continue;
		snprintf(text, sizeof(text),
			 "user %lld holds %lld of %lld UAR pages",
			 json_number(user, "uid", -1),
			 json_number(user, "pages", -1), limit);
		snprintf(remedy, sizeof(remedy),
			 "mlx5ep -d %s set --user-limit %lld" AT_MOST, name,
			 2 * limit);
		doctor_say(report, WARN, name, text, remedy);
	}
}

/*
 * The budget in force. A module that does not show it has one only if it is set. By
 * default it is three quarters of the device's pages, and a budget can be all of them.
 */
static void check_budget(struct report *report, const char *name,
			 struct json_object *dev)
{
	long long set = json_number(dev, "budget", -1);
	long long budget = json_number(dev, "budget_effective", -1);
	long long in_use = json_number(dev, "in_use", -1);
	char text[160], remedy[160];

	if (budget <= 0)
		budget = set;
	if (budget <= 0 || in_use * 10 < budget * 9)
		return;
	snprintf(text, sizeof(text), "%lld of %lld UAR pages in use", in_use,
		 budget);
	if (set > 0)
		snprintf(remedy, sizeof(remedy),
			 "mlx5ep -d %s set --budget %lld" AT_MOST, name, 2 * set);
	else
		snprintf(remedy, sizeof(remedy),
			 "mlx5ep -d %s set --budget %lld", name, budget / 3 * 4);
	doctor_say(report, WARN, name, text, remedy);
}

static void check_limits(struct report *report, const char *name,
			 struct json_object *dev)
{
	char text[160], remedy[160];

	check_budget(report, name, dev);
	if (json_number(dev, "fallbacks", -1) > 0) {
		snprintf(text, sizeof(text),
			 "%lld contexts could not get the policy and are stock",
			 json_number(dev, "fallbacks", -1));
		snprintf(remedy, sizeof(remedy), "mlx5ep -d %s show contexts",
			 name);
		doctor_say(report, WARN, name, text, remedy);
	}
}

/* Does a shell change nothing in the text between double quotes? */
static bool is_plain(const char *text)
{
	while (isalnum((unsigned char)*text) ||
	       (*text && strchr(" ._+-", *text)))
		text++;
	return !*text;
}

/*
 * A user can give a program any name. The administrator may copy the command into a
 * shell, so it has the name of a plain program only, and one with blanks is two.
 */
static void say_exempt(char *buf, size_t len, const char *name,
		       const char *exempt, const struct unplaced *found)
{
	if (is_plain(exempt) && *found->program && is_plain(found->program) &&
	    !strchr(found->program, ' '))
		snprintf(buf, len, "mlx5ep -d %s set --exempt '%s%s%s'", name,
			 exempt, *exempt ? " " : "", found->program);
	else
		snprintf(buf, len, "mlx5ep -d %s set --exempt with the name of process %lld",
			 name, found->pid);
}

/* Names the programs that a policy does not reach, and what to do. */
static void check_reach(struct report *report, const char *name,
			struct json_object *dev)
{
	const char *exempt = json_text(dev, "exempt", NULL) ?: "";
	struct unplaced found;
	char text[200], command[1200], remedy[1400];
	size_t at = 0;

	while (unplaced_find(dev, &at, &found)) {
		snprintf(text, sizeof(text),
			 "%s does not reach %s[%lld]: it chooses uUARs itself, %u QPs by DevX, %u in thread domains",
			 found.policy, found.program, found.pid, found.devx,
			 found.thread_domains);
		say_exempt(command, sizeof(command), name, exempt, &found);
		snprintf(remedy, sizeof(remedy),
			 "%s, or leave it stock: %s", found.devx ?
				 "UCX_TLS=rc_v in its environment, if it uses UCX" :
				 "no thread domains in the program", command);
		doctor_say(report, WARN, name, text, remedy);
	}
}

/* Checks for the methods and objects that the library uses. */
static void check_ids(struct report *report, const char *name)
{
	static const char * const ids[] = {
		"method device context_dump", "method device context_query",
		"method device context_set_policy",
		"method device query_features", "method qp query_uuar",
		"object notifier", "object xrc_rcv_qp",
	};
	char listed[4096], text[96];
	size_t i;

	/* If it cannot be read, it is empty: then none is listed. */
	attribute_read(name, "uverbs_ids", listed, sizeof(listed));
	for (i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		if (strstr(listed, ids[i]))
			continue;
		snprintf(text, sizeof(text), "the module has no %s", ids[i]);
		doctor_say(report, WARN, name, text,
			   "install module and tool of one version");
	}
}

/* The module says why it did not attach, or not wholly. Not every reason has a remedy. */
static void reason_remedy(char *remedy, size_t len, const char *name,
			  const char *reason)
{
	bool early = strstr(reason, "has not taken it") || !module_loaded() ||
		strstr(reason, "parameter attach is off");

	if (early)
		snprintf(remedy, len, "%smlx5ep attach %s",
			 module_loaded() ? "" : "modprobe mlx5_ep && ", name);
	else if (strstr(reason, "compiled for"))
		doctor_compile_again(remedy, len);
	else if (strstr(reason, "another module"))
		snprintf(remedy, len,
			 "unload that module, then mlx5ep attach %s", name);
	else
		snprintf(remedy, len,
			 "install a newer mlx5_ep: this one does not know this kernel's mlx5_ib");
}

static void say_refused(struct report *report, const char *name,
			const char *reason)
{
	char text[600], remedy[PATH_LEN];

	snprintf(text, sizeof(text), "not attached: %s", reason);
	reason_remedy(remedy, sizeof(remedy), name, reason);
	doctor_say(report, BAD, name, text, remedy);
}

/* The module says what the rest waits for, or why it does not come. */
static void say_half(struct report *report, const char *name)
{
	static const char * const ends[] = { ", without ", ", but ", "\n" };
	char attached[512], text[800], remedy[PATH_LEN], *end;
	const char *when, *reason;
	size_t i;

	attribute_read(name, "attached", attached, sizeof(attached));
	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		end = strstr(attached, ends[i]);
		if (end)
			*end = '\0';
	}
	when = strstr(attached, " when ");
	reason = strstr(attached, "without the rest: ");
	if (reason)
		reason += strlen("without the rest: ");
	snprintf(text, sizeof(text),
		 "attached for policies and limits; calls of libmlx5ep for contexts, lists of DevX QPs and shared XRC receive QPs %s%s",
		 reason ? "do not come: " : "come", reason ?: when ?: " later");
	if (reason)
		reason_remedy(remedy, sizeof(remedy), name, reason);
	else if (says_uverbs_helps(attached))
		snprintf(remedy, sizeof(remedy),
			 "mlx5ep attach %s, or mlx5ep attach --uverbs %s, which ends nothing",
			 name, name);
	else
		snprintf(remedy, sizeof(remedy), "mlx5ep attach %s", name);
	doctor_say(report, WARN, name, text, remedy);
}

/* Without a folder in its sysfs, a container's programs find no module. */
static void check_seen(struct report *report, const char *name, long long unseen)
{
	char text[96];

	if (!unseen)
		return;
	snprintf(text, sizeof(text), "not seen in %lld net namespaces", unseen);
	doctor_say(report, WARN, name, text,
		   "the kernel log says why; make these namespaces again");
}

/* The module says what the device, the machine or the kernel has no room for. */
static void say_lacking(struct report *report, const char *name,
			const char *without)
{
	char text[600], remedy[128];

	snprintf(text, sizeof(text), "without %s", without);
	if (strstr(without, "4 KiB"))
		snprintf(remedy, sizeof(remedy),
			 "boot a kernel with pages of 4 KiB");
	else if (strstr(without, "no write combining"))
		snprintf(remedy, sizeof(remedy),
			 "mlx5ep -d %s set --policy stock", name);
	else if (strstr(without, "fills memory"))
		snprintf(remedy, sizeof(remedy),
			 "boot another kernel, or install a newer mlx5_ep");
	else
		snprintf(remedy, sizeof(remedy),
			 "install a newer mlx5_ep: this one does not know this kernel's mlx5_ib");
	doctor_say(report, WARN, name, text, remedy);
}

static void check_device(struct report *report, struct json_object *dev)
{
	const char *name = json_text(dev, "device", NULL);
	const char *without = json_text(dev, "without", NULL);
	const char *reason = json_text(dev, "reason", NULL);
	char text[96];

	if (reason) {
		say_refused(report, name, reason);
		return;
	}
	if (json_number(dev, "abi_version", -1) != MLX5_EP_ABI_VERSION) {
		snprintf(text, sizeof(text),
			 "module speaks ABI %lld, this tool %d",
			 json_number(dev, "abi_version", -1),
			 MLX5_EP_ABI_VERSION);
		doctor_say(report, BAD, name, text,
			   "install module and tool of one version");
		return;
	}
	if (json_object_get_boolean(json_get(dev, "half"))) {
		say_half(report, name);
	} else {
		doctor_say(report, OK, name, "attached", NULL);
		/* What a part that is not there has is no fault of the installation. */
		if (!without || !strstr(without, "uverbs"))
			check_ids(report, name);
	}
	if (without)
		say_lacking(report, name, without);
	check_seen(report, name, json_number(dev, "unseen", -1));
	check_limits(report, name, dev);
	if (report->names) {
		check_users(report, name, dev);
		check_reach(report, name, dev);
	}
}

static void check_devices(struct cli *cli, struct report *report)
{
	struct json_object *devices;
	size_t i;
	int code;

	devices = devices_get(cli, &code);
	if (code == EXIT_NO_DEVICE && cli->device)
		doctor_say(report, BAD, cli->device, "no such mlx5 device",
			   "mlx5ep doctor");
	else if (code == EXIT_NO_DEVICE)
		doctor_say(report, BAD, "devices", "no mlx5 device is registered",
			   "modprobe mlx5_ib");
	else if (devices_unread(code))
		doctor_say(report, BAD, "devices", "the list of devices cannot be read",
			   "ls /sys/class/infiniband");
	for (i = 0; i < json_object_array_length(devices); i++)
		check_device(report, json_object_array_get_idx(devices, i));
	if (module_loaded())
		doctor_unload(report, devices, !cli->device);
	json_object_put(devices);
}

/**
 * doctor_findings() - make all checks
 * @names: say also what names programs and users
 * @bad: receives how many problems there are; or NULL
 *
 * Return: an array of findings, as mlx5ep -j doctor prints it; the caller frees it.
 */
struct json_object *doctor_findings(struct cli *cli, bool names,
				    unsigned int *bad)
{
	struct report report = {
		.list = json_object_new_array(), .names = names,
	};

	check_kernel(&report);
	doctor_module(&report);
	doctor_boot_order(&report);
	doctor_initramfs(&report);
	if (module_loaded()) {
		check_parameters(&report);
		check_debugfs(&report);
	}
	check_devices(cli, &report);
	check_memlock(&report);
	doctor_ucx(&report);
	if (bad)
		*bad = report.bad;
	return report.list;
}
