// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: full */
/*
 * Whom a process of a job is told of when another one dies: the one that died, and
 * not the one that was told first and has left. One that gives up and leaves is not
 * dead. One that comes later is told of the same one. A connection of somebody who does
 * not belong to the job takes nobody's place, and holds nobody up.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "patience.h"
#include "transport/meet.h"
#include "transport/meet_server.h"

#define SECONDS 10
#define SOON 5			/* seconds in which those end whom nobody holds up */
#define STRANGERS 5

static char where[48];

/* The time of day, in place of the C library's: somebody sets it back all the time. */
time_t time(time_t *at)
{
	static time_t now = 1000000000;

	now -= 3600;
	if (at)
		*at = now;
	return now;
}

static int drop(const char *path, const struct stat *st, int type,
		struct FTW *ftw)
{
	return remove(path);
}

/* Remove the folder of a meeting, with what is in it. */
static void remove_folder(void)
{
	nftw(where + strlen("file:"), drop, 4, FTW_DEPTH | FTW_PHYS);
}

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
	remove_folder();
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

/* A process that comes, sees all others, and may give up before it leaves. */
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
	if (!variant->tcp)
		remove_folder();
}

TEST_F(meetings, a_process_that_gives_up_is_not_dead)
{
	EXPECT_EQ(MEET_ONE_LEFT, says_of(true));
}

TEST_F(meetings, a_process_that_does_not_is)
{
	EXPECT_EQ(1, says_of(false));
}

/* Process 1 does not come. */
TEST_F(meetings, the_time_of_day_is_no_limit)
{
	time_t since = patience_now();
	char mine = 0, all[2];
	struct meet *meet;

	ASSERT_EQ(0, meet_open(&meet, where, 0, 2));
	EXPECT_EQ(-ETIMEDOUT, meet_exchange(meet, &mine, sizeof(mine), all, 0));
	EXPECT_GT(SOON * patience_factor(), patience_now() - since);
	meet_close(meet);
}

/* Connect to @port, as somebody who says @len bytes of @hello. Return: a socket. */
static int connect_to(unsigned int port, const void *hello, size_t len)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int i, sock = -1;

	for (i = 0; i < SECONDS * 100; i++) {
		sock = socket(AF_INET, SOCK_STREAM, 0);
		if (!connect(sock, (struct sockaddr *)&at, sizeof(at)))
			break;
		close(sock);
		sock = -1;
		usleep(10000);
	}
	if (sock >= 0 && send(sock, hello, len, MSG_NOSIGNAL) != (ssize_t)len) {
		close(sock);
		sock = -1;
	}
	return sock;
}

/* Return: whether the other end closes @sock within @seconds. */
static bool closed(int sock, int seconds)
{
	struct timeval tv = { .tv_sec = seconds * patience_factor() };
	ssize_t n;
	char byte;

	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	n = recv(sock, &byte, 1, 0);
	/* It is reset if something was not read. */
	return !n || (n < 0 && errno == ECONNRESET);
}

static unsigned int came(const pid_t *pids, unsigned int n)
{
	unsigned int i, all = 0;
	int status;

	for (i = 0; i < n; i++)
		all += waitpid(pids[i], &status, 0) == pids[i] && !status;
	return all;
}

FIXTURE(port)
{
	unsigned int number;
};

FIXTURE_SETUP(port)
{
	self->number = free_port();
	snprintf(where, sizeof(where), "tcp:127.0.0.1:%u", self->number);
}

FIXTURE_TEARDOWN(port)
{
}

/*
 * Strangers are those who say nothing and leave, who are of another program, and who have
 * a rank that is not one of the job or that another process has.
 */
TEST_F(port, strangers_take_no_place)
{
	static const struct meet_hello wrong[] = {
		{ .magic = MEET_MAGIC + 1, .rank = 1 },
		{ .magic = MEET_MAGIC, .rank = 3 },
		{ .magic = MEET_MAGIC, .rank = UINT32_MAX },
		{ .magic = MEET_MAGIC, .rank = 0 },
	};
	char mine = 0, all[3];
	struct meet *meet;
	pid_t pids[2];
	unsigned int i;
	int sock;

	/* Process 0 is connected before the last stranger, who says its rank. */
	ASSERT_EQ(0, meet_open(&meet, where, 0, 3));
	for (i = 0; i < STRANGERS; i++) {
		sock = connect_to(self->number, "", 0);
		ASSERT_LE(0, sock);
		close(sock);
	}
	for (i = 0; i < 4; i++) {
		sock = connect_to(self->number, &wrong[i], sizeof(wrong[i]));
		ASSERT_LE(0, sock);
		EXPECT_TRUE(closed(sock, SECONDS)) TH_LOG("stranger %u", i);
		close(sock);
	}
	pids[0] = leaves(1, false);
	pids[1] = leaves(2, false);
	EXPECT_EQ(0, meet_exchange(meet, &mine, sizeof(mine), all, SECONDS));
	EXPECT_EQ(2, came(pids, 2));
	meet_close(meet);
}

TEST_F(port, one_that_says_nothing_keeps_no_place)
{
	struct meet *meet;
	int quiet[2];

	ASSERT_EQ(0, meet_open(&meet, where, 0, 3));
	quiet[0] = connect_to(self->number, "", 0);
	quiet[1] = connect_to(self->number, "half", 4);
	EXPECT_TRUE(closed(quiet[0], 3 * MEET_BOUND_S));
	EXPECT_TRUE(closed(quiet[1], 3 * MEET_BOUND_S));
	close(quiet[0]);
	close(quiet[1]);
	meet_close(meet);
}

/* Nobody has to wait until they are gone, process 0 neither, which is left last. */
TEST_F(port, some_that_say_nothing_hold_nobody_up)
{
	time_t since = patience_now();
	pid_t pids[3] = { leaves(0, false) };
	int quiet[2] = {
		connect_to(self->number, "", 0),
		connect_to(self->number, "half", 4),
	};

	pids[1] = leaves(1, false);
	pids[2] = leaves(2, false);
	EXPECT_EQ(3, came(pids, 3));
	EXPECT_GT(SOON * patience_factor(), patience_now() - since);
	close(quiet[0]);
	close(quiet[1]);
}

/* Process 1 dies before process 2 comes. */
TEST_F(port, who_comes_late_is_told)
{
	struct meet *meet, *late;
	char mine = 0, all[3];
	pid_t pid;
	int status;

	ASSERT_EQ(0, meet_open(&meet, where, 0, 3));
	pid = fork();
	if (!pid)
		_exit(meet_open(&late, where, 1, 3) ? 1 : 0);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_EQ(1, told(meet));
	ASSERT_EQ(0, meet_open(&late, where, 2, 3));
	EXPECT_EQ(-ECONNRESET, meet_exchange(late, &mine, 1, all, SECONDS));
	EXPECT_EQ(1, meet_dead(late));
	meet_close(late);
	meet_close(meet);
}

/* A process that comes, is told that @gone is dead, and leaves. */
static pid_t leaves_told(unsigned int rank, unsigned int n, int gone)
{
	pid_t pid = fork();
	struct meet *meet;

	if (pid)
		return pid;
	if (meet_open(&meet, where, rank, n))
		_exit(2);
	_exit(told(meet) == gone ? 0 : 1);
}

/* Process 2 connects first, process 1 dies, process 2 is told, and leaves. */
TEST_F(port, who_comes_late_is_told_who_went_first)
{
	struct meet *meet, *late;
	pid_t pids[2];

	ASSERT_EQ(0, meet_open(&meet, where, 0, 4));
	pids[0] = leaves_told(2, 4, 1);
	usleep(300000);
	pids[1] = fork();
	if (!pids[1])
		_exit(meet_open(&late, where, 1, 4) ? 1 : 0);
	ASSERT_EQ(2, came(pids, 2));
	EXPECT_EQ(1, told(meet));
	ASSERT_EQ(0, meet_open(&late, where, 3, 4));
	EXPECT_EQ(1, told(late));
	meet_close(late);
	meet_close(meet);
}

TEST_HARNESS_MAIN
