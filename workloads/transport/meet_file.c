// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Processes meet in a directory. File R.K has what process R gives in round K.
 * As long as process R lives it holds a lock on file R, so the kernel tells the
 * others when it has died. The lock exists before the file has its name.
 *
 * A process that is told of a death, or gives up because of an error of its own, ends
 * its lock too when it leaves. So that nobody takes it for a dead one, it writes whom it
 * was told of, or MEET_ONE_LEFT, to file R.dead before.
 *
 * Never: a process that opens its own file twice, because closing one
 * descriptor would end the lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "meet.h"

struct meet_file {
	struct meet meet;
	int directory, lock;
	int *locks;		/* of the others; -1: not opened yet */
	unsigned int *have;	/* by rank: last round that was read */
	char *all;		/* of this round */
	int dead;		/* what meet_dead() returns */
};

static struct meet_file *file_of(struct meet *meet)
{
	return (struct meet_file *)meet;
}

static void file_close(struct meet *meet)
{
	struct meet_file *f = file_of(meet);
	unsigned int i;

	for (i = 0; f->locks && i < meet->n; i++)
		if (f->locks[i] >= 0)
			close(f->locks[i]);
	if (f->lock >= 0)
		close(f->lock);
	if (f->directory >= 0)
		close(f->directory);
	free(f->locks);
	free(f->have);
	free(f->all);
	free(f);
}

/* Write a file under another name, then give it its own. */
static int publish(struct meet_file *f, const char *name, const void *bytes,
		   size_t len, int *keep)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char draft[NAME_MAX];
	int fd, ret = 0;

	snprintf(draft, sizeof(draft), "%s.draft", name);
	fd = openat(f->directory, draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return -errno;
	if ((len && write(fd, bytes, len) != (ssize_t)len) ||
	    (keep && fcntl(fd, F_SETLK, &lock)) ||
	    renameat(f->directory, draft, f->directory, name))
		ret = errno ? -errno : -EIO;
	if (keep && !ret)
		*keep = fd;
	else
		close(fd);
	return ret;
}

static int file_begin(struct meet *meet, const void *mine)
{
	struct meet_file *f = file_of(meet);
	char name[32], *all = realloc(f->all, meet->n * meet->len + 1);

	if (!all)
		return -ENOMEM;
	f->all = all;
	snprintf(name, sizeof(name), "%u.%u", meet->rank, meet->round);
	return publish(f, name, mine, meet->len, NULL);
}

/* 1: read it; 0: it is not there. */
static int take(struct meet_file *f, unsigned int rank)
{
	struct meet *meet = &f->meet;
	char name[32];
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "%u.%u", rank, meet->round);
	fd = openat(f->directory, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	n = read(fd, f->all + rank * meet->len, meet->len);
	close(fd);
	if (n != (ssize_t)meet->len)
		return -EBADMSG;
	f->have[rank] = meet->round;
	return 1;
}

/* A process that has not come yet is not dead. */
static bool is_dead(struct meet_file *f, unsigned int rank)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char name[32];

	if (rank == f->meet.rank)
		return false;
	if (f->locks[rank] < 0) {
		snprintf(name, sizeof(name), "%u", rank);
		f->locks[rank] = openat(f->directory, name,
					O_RDWR | O_CLOEXEC);
		if (f->locks[rank] < 0)
			return false;
	}
	return !fcntl(f->locks[rank], F_GETLK, &lock) &&
		lock.l_type == F_UNLCK;
}

/* Who died after it had given its bytes is not missed. */
static int file_test(struct meet *meet, void *all)
{
	struct meet_file *f = file_of(meet);
	unsigned int rank;
	bool dead;
	int ret;

	for (rank = 0; rank < meet->n; rank++) {
		if (f->have[rank] == meet->round)
			continue;
		dead = is_dead(f, rank);
		ret = take(f, rank);
		if (ret <= 0)
			return !ret && dead ? -ECONNRESET : ret;
	}
	memcpy(all, f->all, meet->n * meet->len);
	return 1;
}

/* Process @rank is gone. Return: whom it was told of, MEET_ONE_LEFT, or itself. */
static int told_of(struct meet_file *f, unsigned int rank)
{
	char name[32];
	int fd, dead = rank;

	snprintf(name, sizeof(name), "%u.dead", rank);
	fd = openat(f->directory, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return rank;
	if (read(fd, &dead, sizeof(dead)) != sizeof(dead))
		dead = rank;
	close(fd);
	return dead;
}

/* Who cannot write it knows whom to name all the same. */
static void tell(struct meet_file *f)
{
	char name[32];

	snprintf(name, sizeof(name), "%u.dead", f->meet.rank);
	publish(f, name, &f->dead, sizeof(f->dead), NULL);
}

static void file_give_up(struct meet *meet)
{
	struct meet_file *f = file_of(meet);

	if (f->dead != MEET_ALL_HERE)
		return;
	f->dead = MEET_ONE_LEFT;
	tell(f);
}

static int file_dead(struct meet *meet)
{
	struct meet_file *f = file_of(meet);
	unsigned int rank;

	for (rank = 0; f->dead == MEET_ALL_HERE && rank < meet->n; rank++) {
		if (!is_dead(f, rank))
			continue;
		f->dead = told_of(f, rank);
		tell(f);
	}
	return f->dead;
}

static const struct meet_ops file_ops = {
	.close = file_close,
	.begin = file_begin,
	.test = file_test,
	.give_up = file_give_up,
	.dead = file_dead,
};

int meet_file_open(struct meet **meet, const char *directory,
		   unsigned int rank, unsigned int n)
{
	struct meet_file *f = calloc(1, sizeof(*f));
	char name[32];
	unsigned int i;
	int ret;

	if (!f)
		return -ENOMEM;
	f->meet = (struct meet){ .ops = &file_ops, .rank = rank, .n = n };
	f->lock = -1;
	f->dead = MEET_ALL_HERE;
	f->locks = calloc(n, sizeof(*f->locks));
	f->have = calloc(n, sizeof(*f->have));
	f->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ret = f->directory < 0 ? -errno : 0;
	if (!f->locks || !f->have)
		ret = -ENOMEM;
	for (i = 0; f->locks && i < n; i++)
		f->locks[i] = -1;
	snprintf(name, sizeof(name), "%u", rank);
	if (!ret)
		ret = publish(f, name, NULL, 0, &f->lock);
	if (ret) {
		file_close(&f->meet);
		return ret;
	}
	*meet = &f->meet;
	return 0;
}
