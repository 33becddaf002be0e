// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host */
/*
 * Whom a process of a job is told of when another one dies: the one that died, and
 * not the one that was told first and has left. One that gives up and leaves is not
 * dead.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
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

/* Wait until somebody is gone. Return: what meet_dead() says. */
static int told(struct meet *meet)
{
	int i, dead = MEET_ALL_HERE;

	for (i = 0; dead == MEET_ALL_HERE && i < SECONDS * 100; i++) {
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

/* A TCP port that nobody has. */
static unsigned int free_port(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t len = sizeof(at);
	int sock = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(sock, (struct sockaddr *)&at, len) ||
	    getsockname(sock, (struct sockaddr *)&at, &len))
		return 0;
	close(sock);
	return ntohs(at.sin_port);
}

/* A process that comes, and may give up before it leaves. */
static pid_t leaves(unsigned int rank, bool gives_up)
{
	pid_t pid = fork();
	struct meet *meet;

	if (pid)
		return pid;
	meet = come(rank);
	if (meet && gives_up)
		meet_give_up(meet);
	meet_close(meet);
	_exit(!meet);
}

/* What process 0 says of process 1, which leaves. Process 2 is told likewise. */
static int says_of(bool gives_up)
{
	pid_t pids[2] = { leaves(1, gives_up), fork() };
	int i, status, said = -9;
	struct meet *meet;

	if (!pids[1]) {
		meet = come(2);
		said = meet ? told(meet) : -9;
		meet_close(meet);
		_exit(said == (gives_up ? MEET_ONE_LEFT : 1) ? 0 : 1);
	}
	meet = come(0);
	if (meet)
		said = told(meet);
	for (i = 0; i < 2; i++)
		if (waitpid(pids[i], &status, 0) != pids[i] || status)
			said = -9;
	meet_close(meet);
	return said;
}

FIXTURE(meetings)
{
};

FIXTURE_VARIANT(meetings)
{
	bool tcp;
};

FIXTURE_VARIANT_ADD(meetings, in_a_folder) { .tcp = false };
FIXTURE_VARIANT_ADD(meetings, at_a_port) { .tcp = true };

FIXTURE_SETUP(meetings)
{
	char folder[] = "/tmp/meet.XXXXXX";

	if (variant->tcp) {
		snprintf(where, sizeof(where), "tcp:127.0.0.1:%u", free_port());
		return;
	}
	ASSERT_NE(NULL, mkdtemp(folder));
	snprintf(where, sizeof(where), "file:%s", folder);
}

FIXTURE_TEARDOWN(meetings)
{
}

TEST_F(meetings, a_process_that_gives_up_is_not_dead)
{
	EXPECT_EQ(MEET_ONE_LEFT, says_of(true));
}

TEST_F(meetings, a_process_that_does_not_is)
{
	EXPECT_EQ(1, says_of(false));
}

TEST_HARNESS_MAIN
