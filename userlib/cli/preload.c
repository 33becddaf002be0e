// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Does the loader preload a library into a program? It does not without a word: the
 * program is linked statically, is of another architecture, or runs with more rights
 * than who starts it. Of a script, its interpreter is looked at.
 */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "preload.h"

#define MOST_INTERPRETERS 5	/* as of the kernel */
#define MOST_HEADERS 128

/* execvp() takes no folder for a program. */
static bool is_program(const char *path)
{
	struct stat st;

	return !access(path, X_OK) && !stat(path, &st) && !S_ISDIR(st.st_mode);
}

/* Finds the file that execvp() starts. Returns false if there is none. */
static bool find(const char *program, char *path, size_t len)
{
	const char *dir = getenv("PATH"), *end;

	if (strchr(program, '/'))
		return snprintf(path, len, "%s", program) < (int)len;
	for (dir = dir ? dir : "/bin:/usr/bin"; dir; dir = *end ? end + 1 : NULL) {
		end = strchrnul(dir, ':');
		if (snprintf(path, len, "%.*s%s%s", (int)(end - dir), dir,
			     end == dir ? "" : "/", program) < (int)len &&
		    is_program(path))
			return true;
	}
	return false;
}

/* Set-user-id, set-group-id and capabilities of files make the loader careful. */
static bool has_more_rights(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
		return true;
	/* Without the right to execute it means something else. */
	if ((st.st_mode & S_ISGID) && (st.st_mode & 0010) &&
	    st.st_gid != getgid())
		return true;
	return getuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* Does the file name a loader? */
static bool has_loader(int fd, const ElfW(Ehdr) *elf)
{
	ElfW(Phdr) header;
	unsigned int i;

	for (i = 0; i < elf->e_phnum && i < MOST_HEADERS; i++)
		if (pread(fd, &header, sizeof(header), elf->e_phoff +
			  i * sizeof(header)) == sizeof(header) &&
		    header.p_type == PT_INTERP)
			return true;
	return false;
}

/* The architecture of this program, which is that of the library. */
static bool is_ours(const ElfW(Ehdr) *elf)
{
	ElfW(Ehdr) own;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return true;
	got = pread(fd, &own, sizeof(own), 0);
	close(fd);
	return got != sizeof(own) ||
		(elf->e_ident[EI_CLASS] == own.e_ident[EI_CLASS] &&
		 elf->e_machine == own.e_machine);
}

/* Reads the name of a script's interpreter behind "#!". */
static bool interpreter(int fd, char *path, size_t len)
{
	char *name = path + 2;
	ssize_t got = pread(fd, path, len - 1, 0);

	if (got < 3 || path[0] != '#' || path[1] != '!')
		return false;
	path[got] = '\0';
	name += strspn(name, " \t");
	name[strcspn(name, " \t\n")] = '\0';
	memmove(path, name, strlen(name) + 1);
	return *path;
}

static const char *preload_look(int fd)
{
	ElfW(Ehdr) elf;

	if (has_more_rights(fd))
		return "runs with other rights than yours (setuid, setgid or capabilities), so nothing can be preloaded";
	if (pread(fd, &elf, sizeof(elf), 0) != sizeof(elf) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG))
		return NULL;
	if (!is_ours(&elf))
		return "is of another architecture than libmlx5ep, so it cannot be preloaded";
	if (!has_loader(fd, &elf))
		return "is linked statically, so nothing can be preloaded";
	return NULL;
}

/**
 * preload_obstacle() - why nothing is preloaded into a program
 * @program: as execvp() is given it
 *
 * Return: words that go on behind the name of the program, or NULL if a library is
 * preloaded, or the program is not found.
 */
const char *preload_obstacle(const char *program)
{
	char path[PATH_MAX];
	const char *why;
	bool script;
	int fd, i;

	if (!find(program, path, sizeof(path)))
		return NULL;
	for (i = 0; i < MOST_INTERPRETERS; i++) {
		/* A user can be allowed to start a program and not to read it. */
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return NULL;
		script = interpreter(fd, path, sizeof(path));
		why = script ? NULL : preload_look(fd);
		close(fd);
		if (!script)
			return why;
	}
	return NULL;
}
