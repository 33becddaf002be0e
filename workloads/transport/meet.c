// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Processes meet: the calls, whatever the kind of meeting. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "meet.h"
#include "patience.h"

#define TEST_US 500

int meet_open(struct meet **meet, const char *where, unsigned int rank,
	      unsigned int n)
{
	if (!n || rank >= n)
		return -EINVAL;
	if (!strncmp(where, "file:", 5))
		return meet_file_open(meet, where + 5, rank, n);
	if (!strncmp(where, "tcp:", 4))
		return meet_tcp_open(meet, where + 4, rank, n);
	return -EINVAL;
}

void meet_close(struct meet *meet)
{
	if (meet)
		meet->ops->close(meet);
}

int meet_begin(struct meet *meet, const void *mine, size_t len)
{
	meet->round++;
	meet->len = len;
	return meet->ops->begin(meet, mine);
}

int meet_test(struct meet *meet, void *all)
{
	return meet->ops->test(meet, all);
}

int meet_exchange(struct meet *meet, const void *mine, size_t len, void *all,
		  unsigned int seconds)
{
	time_t end = patience_now() + seconds * PATIENCE * patience_factor();
	int ret;

	ret = meet_begin(meet, mine, len);
	while (!ret) {
		ret = meet_test(meet, all);
		if (ret)
			return ret < 0 ? ret : 0;
		if (patience_now() > end)
			return -ETIMEDOUT;
		usleep(TEST_US);
	}
	return ret;
}

void meet_give_up(struct meet *meet)
{
	meet->ops->give_up(meet);
}

int meet_dead(struct meet *meet)
{
	return meet->ops->dead(meet);
}
