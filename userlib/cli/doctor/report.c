// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What each check of mlx5ep doctor uses. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cli.h"
#include "doctor.h"

extern char **environ;

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
		 "v=mlx5_ep/$(modinfo -F version mlx5_ep); dkms build --force $v -k %s && dkms install --force $v -k %s, then drain the node and reboot",
		 release, release);
}

/**
 * doctor_start() - start a command, and read what it says
 * @pid: receives its process, for doctor_end()
 *
 * Return: its stdout, or NULL.
 */
FILE *doctor_start(const char * const argv[], pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	FILE *from = NULL;
	int fds[2];

	if (pipe(fds))
		return NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, fds[0]);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
					 O_WRONLY, 0);
	if (!posix_spawnp(pid, argv[0], &actions, NULL, (char **)argv, environ))
		from = fdopen(fds[0], "r");
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	if (!from)
		close(fds[0]);
	return from;
}

/**
 * doctor_end() - wait for the end of a command
 *
 * Return: whether it has succeeded.
 */
bool doctor_end(FILE *from, pid_t pid)
{
	int status;

	fclose(from);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return !status;
}
