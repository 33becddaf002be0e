// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What each check of mlx5ep doctor uses. */
#include <stdio.h>
#include <sys/utsname.h>

#include "../cli.h"
#include "doctor.h"

/**
 * doctor_say() - add a finding to the report
 * @what: the thing that was looked at
 * @finding: what it is like
 * @remedy: a command or a sentence that mends it; NULL: nothing has to be done
 */
void doctor_say(struct report *report, enum verdict verdict, const char *what,
		const char *finding, const char *remedy)
{
	static const char * const words[] = { "ok", "warning", "problem" };
	struct json_object *row = json_object_new_object();

	json_object_object_add(row, "verdict",
			       json_object_new_string(words[verdict]));
	json_object_object_add(row, "what", json_object_new_string(what));
	json_object_object_add(row, "finding",
			       json_object_new_string(finding));
	json_object_object_add(row, "remedy", remedy ?
			       json_object_new_string(remedy) : NULL);
	json_object_array_add(report->list, row);
	report->bad += verdict == BAD;
}

/**
 * doctor_kernel() - the release of the kernel that runs
 * @buf: receives it, terminated
 * @len: size of @buf
 */
void doctor_kernel(char *buf, size_t len)
{
	char path[PATH_LEN];
	struct utsname uts;

	root_path(path, "proc/sys/kernel/osrelease");
	if (file_read(path, buf, len) > 0)
		return;
	uname(&uts);
	snprintf(buf, len, "%s", uts.release);
}

/**
 * doctor_compile_again() - how to compile the module once more, although it is installed
 * @remedy: receives the commands, terminated
 * @len: size of @remedy
 */
void doctor_compile_again(char *remedy, size_t len)
{
	char release[128];

	doctor_kernel(release, sizeof(release));
	snprintf(remedy, len,
		 "v=mlx5_ep/$(modinfo -F version mlx5_ep); dkms build --force $v -k %s && dkms install --force $v -k %s, and reboot",
		 release, release);
}
