// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A thread of process 0, to which every process has a connection. It collects
 * what each gives in a round and sends the whole to all. When a connection ends
 * it tells the others.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "meet_server.h"
#include "patience.h"

#define POLL_MS 100
#define STOP_S 10
#define PROBES 4			/* without an answer */
#define ROUND_MAX (1u << 24)	/* bytes that a process gives at most */

struct client {
	int sock;		/* -1: not there yet, or gone */
	int rank;		/* -1: not told yet, or it gave up */
	bool given;		/* in this round */
};

struct meet_server {
	pthread_t thread;
	atomic_bool stop;
	int listener;
	unsigned int n, joined, given;
	struct client *clients;
	struct meet_frame head;	/* of this round */
	char *all;
};

static int set(int sock, int level, int name, int value)
{
	return setsockopt(sock, level, name, &value, sizeof(value)) ? -errno : 0;
}

/* What is sent and not acknowledged has the same bound as a connection at rest. */
int meet_bound(int sock)
{
	int seconds = MEET_BOUND_S * patience_factor(), ret;
	struct timeval tv = { .tv_sec = seconds };

	ret = set(sock, SOL_SOCKET, SO_KEEPALIVE, 1);
	if (!ret)
		ret = set(sock, IPPROTO_TCP, TCP_KEEPIDLE, seconds / PROBES);
	if (!ret)
		ret = set(sock, IPPROTO_TCP, TCP_KEEPINTVL, seconds / PROBES);
	if (!ret)
		ret = set(sock, IPPROTO_TCP, TCP_KEEPCNT, PROBES - 1);
	if (!ret)
		ret = set(sock, IPPROTO_TCP, TCP_USER_TIMEOUT, seconds * 1000);
	/* One that is alive but stopped may not hold the other end up in a call. */
	if (!ret && (setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) ||
		     setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv))))
		ret = -errno;
	return ret;
}

static bool receive(int sock, void *to, size_t len)
{
	return recv(sock, to, len, MSG_WAITALL) == (ssize_t)len;
}

static void tell_all(struct meet_server *s, const void *bytes, size_t len)
{
	unsigned int i;

	for (i = 0; i < s->joined; i++)
		if (s->clients[i].sock >= 0)
			send(s->clients[i].sock, bytes, len, MSG_NOSIGNAL);
}

static void lose(struct meet_server *s, struct client *c)
{
	struct meet_frame dead = { .kind = MEET_DEAD, .len = c->rank };

	close(c->sock);
	c->sock = -1;
	if (c->rank >= 0)
		tell_all(s, &dead, sizeof(dead));
}

/* A round is over: its bytes go to all. */
static void finish_round(struct meet_server *s)
{
	struct meet_frame head = s->head;
	unsigned int i;

	head.len *= s->n;
	tell_all(s, &head, sizeof(head));
	tell_all(s, s->all, head.len);
	for (i = 0; i < s->n; i++)
		s->clients[i].given = false;
	s->given = 0;
}

/* A process will leave, and is not dead. Return: false, it is not listened to. */
static bool take_leave(struct meet_server *s, struct client *c)
{
	struct meet_frame left = { .kind = MEET_GIVE_UP };

	tell_all(s, &left, sizeof(left));
	c->rank = -1;
	return false;
}

static bool take_frame(struct meet_server *s, struct client *c)
{
	struct meet_frame head;
	uint32_t rank;
	char *all;

	if (c->rank < 0) {
		if (!receive(c->sock, &rank, sizeof(rank)) || rank >= s->n)
			return false;
		c->rank = rank;
		return true;
	}
	if (!receive(c->sock, &head, sizeof(head)))
		return false;
	if (head.kind == MEET_GIVE_UP)
		return take_leave(s, c);
	if (head.len > ROUND_MAX || c->given || (s->given && (head.len != s->head.len ||
				      head.round != s->head.round)))
		return false;
	if (!s->given) {
		all = realloc(s->all, s->n * head.len + 1);
		if (!all)
			return false;
		s->all = all;
		s->head = head;
	}
	if (!receive(c->sock, s->all + c->rank * head.len, head.len))
		return false;
	c->given = true;
	if (++s->given == s->n)
		finish_round(s);
	return true;
}

static void accept_one(struct meet_server *s)
{
	struct client *c = &s->clients[s->joined];

	c->sock = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
	if (c->sock < 0)
		return;
	s->joined++;
	if (meet_bound(c->sock))
		lose(s, c);
}

/* Return: false if nobody is left. */
static bool serve(struct meet_server *s, struct pollfd *fds)
{
	unsigned int i, n = s->joined, here = 0;

	for (i = 0; i < n; i++) {
		fds[i] = (struct pollfd){ .fd = s->clients[i].sock,
					  .events = POLLIN };
		here += s->clients[i].sock >= 0;
	}
	fds[n] = (struct pollfd){ .fd = n < s->n ? s->listener : -1,
				  .events = POLLIN };
	if (n == s->n && !here)
		return false;
	if (poll(fds, n + 1, POLL_MS) <= 0)
		return true;
	for (i = 0; i < n; i++)
		if (fds[i].revents && !take_frame(s, &s->clients[i]))
			lose(s, &s->clients[i]);
	if (fds[n].revents)
		accept_one(s);
	return true;
}

static void *server_thread(void *arg)
{
	struct meet_server *s = arg;
	struct pollfd *fds = calloc(s->n + 1, sizeof(*fds));
	time_t end = 0;

	while (fds && serve(s, fds)) {
		if (!atomic_load(&s->stop))
			continue;
		if (!end)
			end = time(NULL) + STOP_S;
		if (time(NULL) > end || s->joined < s->n)
			break;
	}
	free(fds);
	return NULL;
}

int meet_server_start(struct meet_server **server,
		      const struct sockaddr_in *addr, unsigned int n)
{
	struct meet_server *s = calloc(1, sizeof(*s));
	int one = 1, ret = -ENOMEM;
	unsigned int i;

	if (!s)
		return -ENOMEM;
	s->n = n;
	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	s->clients = calloc(n, sizeof(*s->clients));
	if (!s->clients)
		goto err_free;
	for (i = 0; i < n; i++)
		s->clients[i] = (struct client){ .sock = -1, .rank = -1 };
	if (setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &one,
		       sizeof(one)) ||
	    bind(s->listener, (const struct sockaddr *)addr, sizeof(*addr)) ||
	    listen(s->listener, n)) {
		ret = -errno;
		goto err_free;
	}
	ret = -pthread_create(&s->thread, NULL, server_thread, s);
	if (ret)
		goto err_free;
	*server = s;
	return 0;
err_free:
	if (s->listener >= 0)
		close(s->listener);
	free(s->clients);
	free(s);
	return ret;
}

void meet_server_stop(struct meet_server *s)
{
	unsigned int i;

	if (!s)
		return;
	atomic_store(&s->stop, true);
	pthread_join(s->thread, NULL);
	for (i = 0; i < s->n; i++)
		if (s->clients[i].sock >= 0)
			close(s->clients[i].sock);
	close(s->listener);
	free(s->clients);
	free(s->all);
	free(s);
}
