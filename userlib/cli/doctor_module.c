// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The check of mlx5ep doctor whether the module is loaded. If it is not, the check
 * says why: it is not installed, DKMS could not build it for this kernel, or the
 * kernel does not know the key that has signed it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "doctor.h"

#define SOURCES "mlx5_ep-"
#define VERSION_LEN 128

static int each_module(const char *name, void *arg)
{
	(void)arg;
	/* .ko, .ko.xz, .ko.zst */
	return !strncmp(name, "mlx5_ep.ko", 10);
}

static bool installed(const char *release)
{
	static const char * const places[] = {
		"updates/dkms", "updates", "extra", "extra/mlx5_ep",
		"weak-updates/mlx5_ep",
	};
	char path[PATH_LEN];
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		root_path(path, "lib/modules/%s/%s", release, places[i]);
		if (dir_names(path, each_module, NULL) == 1)
			return true;
	}
	return false;
}

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

static void say_not_loaded(struct report *report)
{
	/* Debian and EL; Ubuntu. */
	static const char * const keys[] = {
		"/var/lib/dkms/mok.pub", "/var/lib/shim-signed/mok/MOK.der",
	};
	char path[PATH_LEN], remedy[PATH_LEN + 160];
	size_t i;

	if (!wants_signature()) {
		doctor_say(report, BAD, "module",
			   "mlx5_ep is installed and not loaded", "modprobe mlx5_ep");
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

static void say_not_built(struct report *report, const char *release,
			  const char *version)
{
	char path[PATH_LEN], remedy[2 * PATH_LEN];

	if (build_failed(release, version, path)) {
		snprintf(remedy, sizeof(remedy),
			 "see %s, and when the reason is gone: dkms autoinstall -k %s",
			 path, release);
		doctor_say(report, BAD, "module",
			   "DKMS could not build mlx5_ep for this kernel", remedy);
		return;
	}
	snprintf(remedy, sizeof(remedy), "dkms autoinstall -k %s", release);
	root_path(path, "lib/modules/%s/build", release);
	if (!path_exists(path)) {
		snprintf(remedy, sizeof(remedy),
			 "apt install linux-headers-%s (RPM: kernel-devel-%s), then dkms autoinstall -k %s",
			 release, release, release);
		doctor_say(report, BAD, "module",
			   "mlx5_ep is not built for this kernel, whose headers are missing",
			   remedy);
		return;
	}
	doctor_say(report, BAD, "module", "mlx5_ep is not built for this kernel",
		   remedy);
}

/* After an upgrade the module that was loaded before runs on. */
static void say_loaded(struct report *report, const char *release,
		       const char *version)
{
	char path[PATH_LEN], running[128], text[VERSION_LEN + 256];

	root_path(path, "sys/module/mlx5_ep/version");
	if (!*version || file_read(path, running, sizeof(running)) <= 0 ||
	    !installed(release) || !strcmp(running, version)) {
		doctor_say(report, OK, "module", "mlx5_ep is loaded", NULL);
		return;
	}
	snprintf(text, sizeof(text),
		 "mlx5_ep is loaded: %s is installed, and %s runs until the next boot",
		 version, running);
	doctor_say(report, WARN, "module", text, "reboot");
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
	else if (installed(release))
		say_not_loaded(report);
	else if (*version)
		say_not_built(report, release, version);
	else
		doctor_say(report, BAD, "module",
			   "mlx5_ep is not built for this kernel",
			   "install mlx5-ep-dkms (RPM: mlx5_ep-dkms), or make install in the sources");
}
