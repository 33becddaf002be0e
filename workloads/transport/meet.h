/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Where the processes of a job find each other before they have a connection,
 * and learn that one of them has died. They meet in a directory, or at a TCP
 * port of process 0.
 *
 * In each round every process gives some bytes, and every process gets the
 * bytes of all. The rounds are the same in all processes.
 */
#ifndef SELFTESTS_TRANSPORT_MEET_H
#define SELFTESTS_TRANSPORT_MEET_H

#include <stdbool.h>
#include <stddef.h>

struct meet;

/**
 * meet_open() - join the others
 * @where: "file:DIRECTORY", which exists and is empty before the job, or
 *	"tcp:ADDRESS:PORT" of process 0
 * @rank: number of this process
 * @n: number of processes
 *
 * Return: 0. -EINVAL if @where is not understood. -ETIMEDOUT if process 0 does
 * not listen. Another -errno.
 */
int meet_open(struct meet **meet, const char *where, unsigned int rank,
	      unsigned int n);

/**
 * meet_close() - leave
 * @meet: may be NULL
 *
 * A process that leaves before the others have all that they wait for counts as
 * dead.
 */
void meet_close(struct meet *meet);

/* Begin a round with @len bytes, as many in each process. 0 or -errno. */
int meet_begin(struct meet *meet, const void *mine, size_t len);

/**
 * meet_test() - is the round complete?
 * @all: receives len bytes of each process, by rank
 *
 * Return: 1, and the round is over. 0 if somebody has not begun it. -ECONNRESET
 * if somebody died who had not. Another -errno.
 */
int meet_test(struct meet *meet, void *all);

/* A whole round, which may take @seconds. -ETIMEDOUT after that. */
int meet_exchange(struct meet *meet, const void *mine, size_t len, void *all,
		  unsigned int seconds);

/* No process: in what meet_dead() returns. */
enum {
	MEET_ALL_HERE = -1,
	MEET_ONE_LEFT = -2,	/* one has left because of an error, and lived */
};

/*
 * Say that this process will leave because of an error of its own, so that the others
 * do not take it for a dead one.
 */
void meet_give_up(struct meet *meet);

/**
 * meet_dead() - has a process died or left?
 *
 * Return: its rank, MEET_ONE_LEFT or MEET_ALL_HERE. It may be called in a round, too:
 * the bytes of all that come meanwhile are kept for meet_test().
 */
int meet_dead(struct meet *meet);

/* What a kind of meeting does. */
struct meet_ops {
	void (*close)(struct meet *meet);
	int (*begin)(struct meet *meet, const void *mine);
	int (*test)(struct meet *meet, void *all);
	void (*give_up)(struct meet *meet);
	int (*dead)(struct meet *meet);
};

/* The part that all kinds have, first in their own structures. */
struct meet {
	const struct meet_ops *ops;
	unsigned int rank, n, round;
	size_t len;
};

int meet_file_open(struct meet **meet, const char *directory,
		   unsigned int rank, unsigned int n);
int meet_tcp_open(struct meet **meet, const char *address, unsigned int rank,
		  unsigned int n);

#endif
