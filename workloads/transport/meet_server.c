// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A thread of process 0, to which every process has a connection. It collects
 * what each gives in a round and sends the whole to all. When a connection ends
 * it tells the others. It tells those that come later which one ended first.
 *
 * Anybody can connect to the port. A connection counts from when it has said which
 * process it is. One that says something else, ends before, or says nothing for
 * MEET_BOUND_S seconds is closed, and its place is free again. Nobody waits for it.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "meet_server.h"
#include "patience.h"

#define POLL_MS 100
#define STOP_S 10
#define PROBES 4			/* without an answer */
#define ROUND_MAX (1u << 24)	/* bytes that a process gives at most */
#define SPARE 4			/* places for connections that say nothing */

/* A place is free if it has neither a socket nor a rank. */
struct client {
	int sock;		/* -1: nobody, or gone */
	int rank;		/* -1: not told yet */
	bool left;		/* it gave up: the end of its connection is no death */
	bool given;		/* in this round */
	time_t since;		/* connected, on the monotonic clock */
};

struct meet_server {
	pthread_t thread;
	atomic_bool stop;
	int listener;
	unsigned int n, places, joined, given;
	struct client *clients;	/* @places of them, which is more than @n */
	struct meet_frame head;	/* of this round */
	struct meet_frame gone;	/* news of who went first; MEET_ROUND: all are here */
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

static void tell(const struct client *c, const void *bytes, size_t len)
{
	if (c->sock >= 0 && c->rank >= 0)
		send(c->sock, bytes, len, MSG_NOSIGNAL);
}

static void tell_all(struct meet_server *s, const void *bytes, size_t len)
{
	unsigned int i;

	for (i = 0; i < s->places; i++)
		tell(&s->clients[i], bytes, len);
}

/* What others are told of a process that is gone. */
static struct meet_frame news_of(const struct client *c)
{
	return c->left ? (struct meet_frame){ .kind = MEET_GIVE_UP } :
			 (struct meet_frame){ .kind = MEET_DEAD,
					      .len = c->rank };
}

static void lose(struct meet_server *s, struct client *c)
{
	struct meet_frame news = news_of(c);

	close(c->sock);
	c->sock = -1;
	if (c->rank < 0)
		return;
	if (s->gone.kind == MEET_ROUND)
		s->gone = news;
	tell_all(s, &news, sizeof(news));
}

/* A round is over: its bytes go to all. */
static void finish_round(struct meet_server *s)
{
	struct meet_frame head = s->head;
	unsigned int i;

	head.len *= s->n;
	tell_all(s, &head, sizeof(head));
	tell_all(s, s->all, head.len);
	for (i = 0; i < s->places; i++)
		s->clients[i].given = false;
	s->given = 0;
}

static struct client *process(struct meet_server *s, uint32_t rank)
{
	unsigned int i;

	for (i = 0; i < s->places; i++)
		if (s->clients[i].rank == (int)rank)
			return &s->clients[i];
	return NULL;
}

/* Return: false if this is no process of the job, or one that is here already. */
static bool take_hello(struct meet_server *s, struct client *c)
{
	struct meet_hello hello;

	if (!receive(c->sock, &hello, sizeof(hello)) ||
	    hello.magic != MEET_MAGIC || hello.rank >= s->n ||
	    process(s, hello.rank))
		return false;
	set(c->sock, SOL_SOCKET, SO_RCVLOWAT, 1);
	c->rank = hello.rank;
	s->joined++;
	if (s->gone.kind != MEET_ROUND)
		tell(c, &s->gone, sizeof(s->gone));
	return true;
}

static bool take_frame(struct meet_server *s, struct client *c)
{
	struct meet_frame head;
	char *all;

	if (c->rank < 0)
		return take_hello(s, c);
	if (!receive(c->sock, &head, sizeof(head)))
		return false;
	if (head.kind == MEET_GIVE_UP) {
		c->left = true;
		return false;
	}
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

static struct client *free_place(struct meet_server *s)
{
	unsigned int i;

	for (i = 0; i < s->places; i++)
		if (s->clients[i].sock < 0 && s->clients[i].rank < 0)
			return &s->clients[i];
	return NULL;
}

static void accept_one(struct meet_server *s, struct client *c)
{
	c->sock = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
	if (c->sock < 0)
		return;
	c->since = patience_now();
	/* Half of a hello does not wake the thread, which would wait for the rest. */
	if (meet_bound(c->sock) || set(c->sock, SOL_SOCKET, SO_RCVLOWAT,
				       sizeof(struct meet_hello)))
		lose(s, c);
}

static bool too_quiet(const struct client *c)
{
	return c->sock >= 0 && c->rank < 0 &&
	       patience_now() - c->since > MEET_BOUND_S * patience_factor();
}

/* Return: false if all have come, and nobody is left. */
static bool serve(struct meet_server *s, struct pollfd *fds)
{
	struct client *next = s->joined < s->n ? free_place(s) : NULL;
	unsigned int i, n = s->places, here = 0;

	for (i = 0; i < n; i++) {
		fds[i] = (struct pollfd){ .fd = s->clients[i].sock,
					  .events = POLLIN };
		here += s->clients[i].sock >= 0 && s->clients[i].rank >= 0;
	}
	fds[n] = (struct pollfd){ .fd = next ? s->listener : -1,
				  .events = POLLIN };
	if (s->joined == s->n && !here)
		return false;
	poll(fds, n + 1, POLL_MS);
	for (i = 0; i < n; i++)
		if ((fds[i].revents && !take_frame(s, &s->clients[i])) ||
		    too_quiet(&s->clients[i]))
			lose(s, &s->clients[i]);
	if (fds[n].revents)
		accept_one(s, next);
	return true;
}

static void *server_thread(void *arg)
{
	struct meet_server *s = arg;
	struct pollfd *fds = calloc(s->places + 1, sizeof(*fds));
	time_t end = 0;

	while (fds && serve(s, fds)) {
		if (!atomic_load(&s->stop))
			continue;
		if (!end)
			end = patience_now() + STOP_S;
		if (patience_now() > end || s->joined < s->n)
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
	s->places = n + SPARE;
	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	s->clients = calloc(s->places, sizeof(*s->clients));
	if (!s->clients)
		goto err_free;
	for (i = 0; i < s->places; i++)
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
	for (i = 0; i < s->places; i++)
		if (s->clients[i].sock >= 0)
			close(s->clients[i].sock);
	close(s->listener);
	free(s->clients);
	free(s->all);
	free(s);
}
