// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The check of mlx5ep doctor whether the module is loaded. If it is not, the check
 * says why: it is not installed, DKMS could not build it for this kernel, it was
 * compiled for other drivers than those that are loaded, or the kernel does not know
 * the key that has signed it. If it is loaded, the check says what the next boot will
 * find.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cli.h"
#include "doctor.h"

#define SOURCES "mlx5_ep-"
#define VERSION_LEN 128

/* Notes the version of the sources that DKMS has, the last one in order. */
static int each_source(const char *name, void *arg)
{
	if (!strncmp(name, SOURCES, strlen(SOURCES)))
		snprintf(arg, VERSION_LEN, "%s", name + strlen(SOURCES));
	return 0;
}

/* Does this kernel refuse modules whose key it does not know? */
static bool wants_signature(void)
{
	char path[PATH_LEN], text[128];

	root_path(path, "sys/module/module/parameters/sig_enforce");
	if (file_read(path, text, sizeof(text)) > 0 && *text == 'Y')
		return true;
	root_path(path, "sys/kernel/security/lockdown");
	return file_read(path, text, sizeof(text)) > 0 &&
		!strstr(text, "[none]");
}

/* Notes the last of the lines of a kernel log that says why mlx5_ep was refused. */
static void note_refusal(const char *log, char *why, size_t len)
{
	static const char * const words[] = {
		/* of mlx5_ep itself; of the kernel */
		"is not the one that mlx5_ep was compiled for",
		"mlx5_ep: disagrees about version of symbol ",
		"mlx5_ep: Unknown symbol ", "mlx5_ep: version magic ",
	};
	const char *line, *end;
	size_t i;

	for (line = log; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		line = strstr(line, "mlx5_ep: ");
		if (!line)
			break;
		end = line + strcspn(line, "\n");
		for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
			const char *found = strstr(line, words[i]);

			if (found && found < end)
				snprintf(why, len, "%.*s", (int)(end - line),
					 line);
		}
		line = end;
	}
}

/*
 * Has the kernel refused the module since it booted? It gives one record of its log
 * with each read(), and -EAGAIN after the last one.
 */
static bool kernel_refused(char *why, size_t len)
{
	char path[PATH_LEN], record[8193];
	ssize_t got;
	int fd;

	*why = '\0';
	root_path(path, "dev/kmsg");
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	do {
		got = read(fd, record, sizeof(record) - 1);
		record[got > 0 ? got : 0] = '\0';
		note_refusal(record, why, len);
		/* Records that were overwritten meanwhile are passed over. */
	} while (got > 0 || (got < 0 && errno == EPIPE));
	close(fd);
	return *why;
}

/* Without openssl DKMS has no key, and installs a module that nobody has signed. */
static void say_unsigned(struct report *report)
{
	char again[PATH_LEN], remedy[2 * PATH_LEN];

	doctor_compile_again(again, sizeof(again));
	snprintf(remedy, sizeof(remedy),
		 "install openssl, by which DKMS makes its key, then %s; then mlx5ep doctor says how the key is enrolled. A module that is not of DKMS is signed by who made the package",
		 again);
	doctor_say(report, BAD, "module",
		   "mlx5_ep is installed and not signed, and this kernel loads signed modules only",
		   remedy);
}

static void say_not_loaded(struct report *report, const char *release)
{
	/* Debian and EL; Ubuntu. */
	static const char * const keys[] = {
		"/var/lib/dkms/mok.pub", "/var/lib/shim-signed/mok/MOK.der",
	};
	char path[PATH_LEN], remedy[2 * PATH_LEN], why[200], text[300];
	size_t i;

	if (kernel_refused(why, sizeof(why))) {
		snprintf(text, sizeof(text),
			 "mlx5_ep is installed, and the kernel has refused it: %s",
			 why);
		doctor_compile_again(remedy, sizeof(remedy));
		doctor_say(report, BAD, "module", text, remedy);
		return;
	}
	if (!wants_signature()) {
		doctor_say(report, BAD, "module",
			   "mlx5_ep is installed and not loaded", "modprobe mlx5_ep");
		return;
	}
	if (doctor_file(release, "mlx5_ep", path) && doctor_file_unsigned(path)) {
		say_unsigned(report);
		return;
	}
	snprintf(remedy, sizeof(remedy),
		 "sign it with a key that this machine trusts");
	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		root_path(path, "%s", keys[i] + 1);
		if (!path_exists(path))
			continue;
		snprintf(remedy, sizeof(remedy),
			 "mokutil --import %s, reboot, and choose \"Enroll MOK\" on the screen that comes up",
			 keys[i]);
		break;
	}
	doctor_say(report, BAD, "module",
		   "mlx5_ep is installed and not loaded, and this kernel loads signed modules only",
		   remedy);
}

/* Has DKMS left the log of a build for this kernel? Then that build has failed. */
static bool build_failed(const char *release, const char *version, char *log)
{
	char name[160];
	char *text;
	bool ours;

	root_path(log, "var/lib/dkms/mlx5_ep/%s/build/make.log", version);
	text = file_text(log);
	snprintf(name, sizeof(name), " for kernel %s ", release);
	ours = text && strstr(text, name);
	free(text);
	return ours;
}

/* @loaded: "", or what is to be said before, as the module is loaded */
static void say_not_built(struct report *report, const char *loaded,
			  const char *release, const char *version)
{
	const char *finding = "mlx5_ep is not built for this kernel";
	char path[PATH_LEN], remedy[2 * PATH_LEN], text[160];

	snprintf(remedy, sizeof(remedy), "dkms autoinstall -k %s", release);
	if (build_failed(release, version, path)) {
		finding = "DKMS could not build mlx5_ep for this kernel";
		snprintf(remedy, sizeof(remedy),
			 "see %s, and when the reason is gone: dkms autoinstall -k %s",
			 path, release);
	} else {
		root_path(path, "lib/modules/%s/build", release);
		if (!path_exists(path)) {
			finding = "mlx5_ep is not built for this kernel, whose headers are missing";
			snprintf(remedy, sizeof(remedy),
				 "apt install linux-headers-%s (RPM: kernel-devel-%s), then dkms autoinstall -k %s",
				 release, release, release);
		}
	}
	snprintf(text, sizeof(text), "%s%s", loaded, finding);
	doctor_say(report, BAD, "module", text, remedy);
}

/* DKMS has a link of the name kernel-RELEASE-ARCH to VERSION/RELEASE/ARCH. */
struct active {
	char prefix[160];	/* "kernel-RELEASE-" */
	char version[VERSION_LEN];
};

static int each_link(const char *name, void *arg)
{
	struct active *active = arg;
	char path[PATH_LEN], target[PATH_LEN];
	ssize_t len;

	if (strncmp(name, active->prefix, strlen(active->prefix)))
		return 0;
	root_path(path, "var/lib/dkms/mlx5_ep/%s", name);
	len = readlink(path, target, sizeof(target) - 1);
	if (len <= 0)
		return 0;
	target[len] = '\0';
	snprintf(active->version, sizeof(active->version), "%.*s",
		 (int)strcspn(target, "/"), target);
	return 1;
}

/*
 * Which version will modprobe load? The file says it; else DKMS, of what it has installed
 * for this kernel; else it is @version.
 */
static void installed_version(struct active *active, const char *release,
			      const char *version)
{
	char path[PATH_LEN];

	*active->version = '\0';
	if (doctor_file(release, "mlx5_ep", path))
		doctor_file_version(path, active->version,
				    sizeof(active->version));
	if (*active->version)
		return;
	snprintf(active->prefix, sizeof(active->prefix), "kernel-%s-", release);
	root_path(path, "var/lib/dkms/mlx5_ep");
	if (dir_names(path, each_link, active) != 1)
		snprintf(active->version, sizeof(active->version), "%s", version);
}

/* After an upgrade the module that was loaded before runs on. */
static void say_runs(struct report *report, const char *release,
		     const char *version, const char *running)
{
	char path[PATH_LEN], text[2 * VERSION_LEN + 128];
	char remedy[2 * PATH_LEN] = "drain the node, and reboot";
	struct active active;

	installed_version(&active, release, version);
	if (strcmp(running, active.version)) {
		snprintf(text, sizeof(text),
			 "mlx5_ep is loaded: %s is installed, and %s runs until the next boot",
			 active.version, running);
	} else if (strcmp(running, version) &&
		   build_failed(release, version, path)) {
		snprintf(text, sizeof(text),
			 "mlx5_ep is loaded: DKMS could not build %s for this kernel, and %s stays",
			 version, running);
		snprintf(remedy, sizeof(remedy),
			 "see %s, and when the reason is gone: dkms install mlx5_ep/%s -k %s",
			 path, version, release);
	} else {
		doctor_say(report, OK, "module", "mlx5_ep is loaded", NULL);
		return;
	}
	doctor_say(report, WARN, "module", text, remedy);
}

static void say_loaded(struct report *report, const char *release,
		       const char *version)
{
	char path[PATH_LEN], running[VERSION_LEN];

	root_path(path, "sys/module/mlx5_ep/version");
	if (*version && !doctor_installed(release))
		say_not_built(report, "mlx5_ep is loaded until the next boot: ",
			      release, version);
	else if (*version && file_read(path, running, sizeof(running)) > 0)
		say_runs(report, release, version, running);
	else
		doctor_say(report, OK, "module", "mlx5_ep is loaded", NULL);
}

/**
 * doctor_module() - check that the module is loaded
 */
void doctor_module(struct report *report)
{
	char release[128], version[VERSION_LEN] = "", path[PATH_LEN];

	doctor_kernel(release, sizeof(release));
	root_path(path, "usr/src");
	dir_names(path, each_source, version);
	if (module_loaded())
		say_loaded(report, release, version);
	else if (doctor_installed(release))
		say_not_loaded(report, release);
	else if (*version)
		say_not_built(report, "", release, version);
	else
		doctor_say(report, BAD, "module",
			   "mlx5_ep is not built for this kernel",
			   "install mlx5-ep-dkms (RPM: mlx5_ep-dkms), or make install in the sources");
	doctor_files(report, release);
	doctor_drivers(report, release);
}
