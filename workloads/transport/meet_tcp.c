// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Processes meet at a TCP port of process 0, the client's side. A process sends
 * its rank, and then a frame in each round. It receives a frame with the bytes
 * of all, or one that names a process whose connection ended, or one that says that a
 * process gave up. If its own connection ends, process 0 is dead.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "meet.h"
#include "meet_server.h"
#include "patience.h"

#define CONNECT_S 20
#define CONNECT_US 20000

struct meet_tcp {
	struct meet meet;
	int sock;
	struct meet_server *server;	/* of process 0 */
	struct meet_frame head;
	size_t got;			/* of the frame that arrives */
	char *all;
	int dead;
};

static struct meet_tcp *tcp_of(struct meet *meet)
{
	return (struct meet_tcp *)meet;
}

static void tcp_close(struct meet *meet)
{
	struct meet_tcp *t = tcp_of(meet);

	if (t->sock >= 0)
		close(t->sock);
	meet_server_stop(t->server);
	free(t->all);
	free(t);
}

static int send_all(int sock, const void *bytes, size_t len)
{
	ssize_t n;

	while (len) {
		n = send(sock, bytes, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -ECONNRESET;
		bytes += n;
		len -= n;
	}
	return 0;
}

static int tcp_begin(struct meet *meet, const void *mine)
{
	struct meet_frame head = { .round = meet->round, .len = meet->len };
	struct meet_tcp *t = tcp_of(meet);
	char *all = realloc(t->all, meet->n * meet->len + 1);
	int ret;

	if (!all)
		return -ENOMEM;
	t->all = all;
	ret = send_all(t->sock, &head, sizeof(head));
	return ret ? ret : send_all(t->sock, mine, meet->len);
}

/* Receive what is there of @len bytes that begin at @from of the frame. */
static int fill(struct meet_tcp *t, void *to, size_t from, size_t len)
{
	ssize_t n;

	while (t->got < from + len) {
		n = recv(t->sock, to + t->got - from, from + len - t->got,
			 MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
		if (n <= 0) {
			t->dead = t->meet.rank ? 0 : t->dead;
			return -ECONNRESET;
		}
		t->got += n;
	}
	return 1;
}

/* Return: 1 for the bytes of a round, 0 for nothing yet, or -errno. */
static int take(struct meet_tcp *t)
{
	int ret = fill(t, &t->head, 0, sizeof(t->head));

	if (ret <= 0)
		return ret;
	if (t->head.kind != MEET_ROUND) {
		t->got = 0;
		t->dead = t->head.kind == MEET_DEAD ? (int)t->head.len :
						      MEET_ONE_LEFT;
		return -ECONNRESET;
	}
	if (t->head.round != t->meet.round ||
	    t->head.len != t->meet.n * t->meet.len)
		return -EBADMSG;
	return fill(t, t->all, sizeof(t->head), t->head.len);
}

static int tcp_test(struct meet *meet, void *all)
{
	struct meet_tcp *t = tcp_of(meet);
	int ret = t->dead != MEET_ALL_HERE ? -ECONNRESET : take(t);

	if (ret == 1) {
		memcpy(all, t->all, meet->n * meet->len);
		t->got = 0;
	}
	return ret;
}

/* Between rounds only news of the dead arrive. */
static int tcp_dead(struct meet *meet)
{
	struct meet_tcp *t = tcp_of(meet);

	if (t->dead == MEET_ALL_HERE)
		take(t);
	return t->dead;
}

static void tcp_give_up(struct meet *meet)
{
	struct meet_frame head = { .kind = MEET_GIVE_UP };
	struct meet_tcp *t = tcp_of(meet);

	/* If it is not sent, process 0 is gone. */
	if (t->dead == MEET_ALL_HERE)
		send_all(t->sock, &head, sizeof(head));
}

static const struct meet_ops tcp_ops = {
	.close = tcp_close,
	.begin = tcp_begin,
	.test = tcp_test,
	.give_up = tcp_give_up,
	.dead = tcp_dead,
};

/* "ADDRESS:PORT" */
static int parse(const char *text, struct sockaddr_in *addr)
{
	char host[INET_ADDRSTRLEN];
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : sizeof(host);
	unsigned long port;
	char *end;

	if (len >= sizeof(host))
		return -EINVAL;
	memcpy(host, text, len);
	host[len] = 0;
	port = strtoul(colon + 1, &end, 10);
	if (!port || port > 65535 || *end ||
	    inet_pton(AF_INET, host, &addr->sin_addr) != 1)
		return -EINVAL;
	addr->sin_family = AF_INET;
	addr->sin_port = htons(port);
	return 0;
}

static int join(struct meet_tcp *t, const struct sockaddr_in *addr)
{
	time_t end = patience_now() + CONNECT_S * PATIENCE * patience_factor();
	struct meet_hello hello = { MEET_MAGIC, t->meet.rank };
	int one = 1, ret;

	for (;;) {
		t->sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (t->sock < 0)
			return -errno;
		/* It bounds the connect(), too. */
		ret = meet_bound(t->sock);
		if (ret)
			return ret;
		if (!connect(t->sock, (const struct sockaddr *)addr,
			     sizeof(*addr)))
			break;
		close(t->sock);
		t->sock = -1;
		if (patience_now() > end)
			return -ETIMEDOUT;
		usleep(CONNECT_US);
	}
	setsockopt(t->sock, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return send_all(t->sock, &hello, sizeof(hello));
}

int meet_tcp_open(struct meet **meet, const char *address, unsigned int rank,
		  unsigned int n)
{
	struct sockaddr_in addr = {};
	struct meet_tcp *t;
	int ret;

	ret = parse(address, &addr);
	if (ret)
		return ret;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->meet = (struct meet){ .ops = &tcp_ops, .rank = rank, .n = n };
	t->dead = MEET_ALL_HERE;
	t->sock = -1;
	if (!rank)
		ret = meet_server_start(&t->server, &addr, n);
	if (!ret)
		ret = join(t, &addr);
	if (ret) {
		tcp_close(&t->meet);
		return ret;
	}
	*meet = &t->meet;
	return 0;
}
