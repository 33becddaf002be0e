// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host */
/*
 * Whom a process of a job is told of when another one dies: the one that died, and
 * not the one that was told first and has left.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "transport/meet.h"

#define SECONDS 10

static char where[48];

/* Come to the meeting, and see all others. */
static struct meet *come(unsigned int rank)
{
	char all[3], mine = 0;
	struct meet *meet;

	if (meet_open(&meet, where, rank, 3))
		return NULL;
	return meet_exchange(meet, &mine, sizeof(mine), all, SECONDS) ?
		NULL : meet;
}

/* Wait for a death. Return: who died, or -1. */
static int told(struct meet *meet)
{
	int i, dead = -1;

	for (i = 0; dead < 0 && i < SECONDS * 100; i++) {
		usleep(10000);
		dead = meet_dead(meet);
	}
	return dead;
}

/* The process that is told first, and leaves. */
static int first(void)
{
	struct meet *meet = come(0);
	int dead = meet ? told(meet) : -1;

	meet_close(meet);
	return dead;
}

TEST(a_process_that_was_told_and_left_is_not_the_dead_one)
{
	char folder[] = "/tmp/meet.XXXXXX";
	struct meet *meet;
	int status, dead;
	pid_t pids[2];

	ASSERT_NE(NULL, mkdtemp(folder));
	snprintf(where, sizeof(where), "file:%s", folder);
	pids[0] = fork();
	if (!pids[0])
		_exit(first() == 1 ? 0 : 1);
	pids[1] = fork();
	if (!pids[1])
		_exit(come(1) ? 0 : 1);
	meet = come(2);
	ASSERT_NE(NULL, meet);
	ASSERT_EQ(pids[1], waitpid(pids[1], &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_EQ(pids[0], waitpid(pids[0], &status, 0));
	EXPECT_EQ(0, status);
	/* Now both are gone. */
	dead = told(meet);
	EXPECT_EQ(1, dead);
	meet_close(meet);
}

TEST_HARNESS_MAIN
