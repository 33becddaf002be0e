// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The server of mlx5ep metrics. It listens on the loopback address or on a unix
 * socket only, keeps debugfs files open, and gives up all privileges before the
 * first request. It collects at most once a second: who asks more often gets the
 * same text again.
 *
 * Any local user may connect, so nobody waits for anybody else. A connection ends
 * PATIENCE after it began, whatever came of it. Where all places are taken, the
 * oldest connection ends for the new one: a client that asks at once is answered
 * before CLIENTS others can connect.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "metrics.h"

#define CLIENTS 32
#define PATIENCE 2000		/* milliseconds */
#define REST 100		/* milliseconds, when descriptors are short */
#define REQUEST 4096
#define OTHERS 16		/* descriptors that are no connections */
#define NOBODY 65534

#define TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/**
 * struct client - a connection
 * @fd: -1: the place is free
 * @end: when it is closed
 * @request: what has come so far, terminated
 * @answer: NULL: the request is not complete
 * @sent: bytes of @answer
 */
struct client {
	int fd;
	long end;
	char request[REQUEST];
	size_t got;
	char *answer;
	size_t len, sent;
};

/**
 * struct server - all connections
 * @text: what was collected last; NULL: nothing
 * @second: when that was
 * @short_of_fds: no connection is accepted before REST has passed
 */
struct server {
	struct cli *cli;
	int fd;
	char *text;
	size_t len;
	long second;
	bool short_of_fds;
	struct client clients[CLIENTS];
};

static long serve_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Any user may connect, from the moment on when the socket has its name. */
static int bind_unix(int fd, const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct stat st;
	mode_t mask;
	int ret;

	snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
	if (!lstat(path, &st) && S_ISSOCK(st.st_mode)) {
		if (!connect(fd, (void *)&un, sizeof(un)))
			return -EADDRINUSE;
		/* A server that was killed has left the socket. */
		if (errno == ECONNREFUSED)
			unlink(path);
	}
	mask = umask(0111);
	ret = bind(fd, (void *)&un, sizeof(un)) ? -errno : 0;
	umask(mask);
	return ret;
}

static int bind_port(int fd, unsigned int port)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	return bind(fd, (void *)&in, sizeof(in)) ? -errno : 0;
}

/* "unix:PATH", "PORT" or "127.0.0.1:PORT" */
static int listen_at(const char *where)
{
	const char *port = strncmp(where, "127.0.0.1:", 10) ? where : where + 10;
	const char *path = strncmp(where, "unix:", 5) ? NULL : where + 5;
	int fd, ret;
	char *end;
	long n;

	n = strtol(port, &end, 10);
	if (path ? !*path ||
		   strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path) :
	    end == port || *end || n < 1 || n > 65535)
		return -EINVAL;
	fd = socket(path ? AF_UNIX : AF_INET,
		    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	ret = path ? bind_unix(fd, path) : bind_port(fd, n);
	if (!ret && listen(fd, CLIENTS))
		ret = -errno;
	if (ret)
		close(fd);
	return ret ? ret : fd;
}

/* A service manager can give capabilities to an ordinary user, too. */
static int drop_privileges(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

	if (!geteuid() && (setgroups(0, NULL) ||
			   setresgid(NOBODY, NOBODY, NOBODY) ||
			   setresuid(NOBODY, NOBODY, NOBODY)))
		return -errno;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) ||
	    syscall(SYS_capset, &header, none) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return 0;
}

static void hang_up(struct client *client)
{
	close(client->fd);
	client->fd = -1;
	free(client->answer);
	client->answer = NULL;
}

/* Returns a free place. */
static struct client *place(struct server *server)
{
	struct client *client, *oldest = server->clients;

	for (client = server->clients; client < server->clients + CLIENTS;
	     client++) {
		if (client->fd < 0)
			return client;
		if (client->end < oldest->end)
			oldest = client;
	}
	hang_up(oldest);
	return oldest;
}

static void take_client(struct server *server)
{
	struct client *client;
	int fd;

	fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0) {
		server->short_of_fds = errno == EMFILE || errno == ENFILE ||
			errno == ENOBUFS || errno == ENOMEM;
		return;
	}
	client = place(server);
	client->fd = fd;
	client->end = serve_now() + PATIENCE;
	client->got = 0;
}

static void serve_collect(struct server *server)
{
	long second = serve_now() / 1000;

	if (server->text && server->second == second)
		return;
	free(server->text);
	server->text = metrics_text(server->cli, &server->len);
	server->second = second;
}

/* The head of the request has come, as far as it is read. */
static void answer(struct server *server, struct client *client)
{
	const char *status = NULL, *request = client->request;
	FILE *to;

	if (strncmp(request, "GET ", 4))
		status = "400 Bad Request";
	else if (strncmp(request, "GET /metrics ", 13) &&
		 strncmp(request, "GET / ", 6))
		status = "404 Not Found";
	if (!status) {
		serve_collect(server);
		status = server->text ? NULL : "503 Service Unavailable";
	}
	to = open_memstream(&client->answer, &client->len);
	if (!to) {
		hang_up(client);
		return;
	}
	fprintf(to, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n"
		"Connection: close\r\n\r\n", status ? status : "200 OK",
		status ? "" : "Content-Type: " TYPE "\r\n",
		status ? 0 : server->len);
	if (!status)
		fwrite(server->text, 1, server->len, to);
	client->sent = 0;
	if (fclose(to))
		hang_up(client);
}

static void receive(struct server *server, struct client *client)
{
	ssize_t n;

	n = read(client->fd, client->request + client->got,
		 REQUEST - 1 - client->got);
	if (n < 0 && errno != EAGAIN)
		hang_up(client);
	if (n < 0)
		return;
	client->got += n;
	client->request[client->got] = '\0';
	if (!n || client->got == REQUEST - 1 ||
	    strstr(client->request, "\r\n\r\n"))
		answer(server, client);
}

static void reply(struct client *client)
{
	ssize_t n;

	n = write(client->fd, client->answer + client->sent,
		  client->len - client->sent);
	if (n < 0 && errno == EAGAIN)
		return;
	client->sent += n < 0 ? 0 : n;
	if (n < 0 || client->sent == client->len)
		hang_up(client);
}

/* Fills in what is waited for. Returns for how long, in milliseconds; -1: for ever. */
static long what_to_wait_for(struct server *server, struct pollfd *fds)
{
	long first = server->short_of_fds ? serve_now() + REST : -1, left;
	size_t i;

	fds[CLIENTS].fd = server->short_of_fds ? -1 : server->fd;
	fds[CLIENTS].events = POLLIN;
	server->short_of_fds = false;
	for (i = 0; i < CLIENTS; i++) {
		fds[i].fd = server->clients[i].fd;
		fds[i].events = server->clients[i].answer ? POLLOUT : POLLIN;
		if (fds[i].fd >= 0 && (first < 0 || server->clients[i].end < first))
			first = server->clients[i].end;
	}
	left = first - serve_now();
	return first < 0 ? -1 : left > 0 ? left : 0;
}

static void go_on(struct server *server, struct client *client, bool ready)
{
	if (ready && !client->answer)
		receive(server, client);
	/* What fits into the socket is sent without another wait. */
	if (ready && client->fd >= 0 && client->answer)
		reply(client);
	if (client->fd >= 0 && serve_now() >= client->end)
		hang_up(client);
}

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

/* @mask: lets the signals through that stop the server */
static void serve(struct server *server, const sigset_t *mask)
{
	struct pollfd fds[CLIENTS + 1];
	struct timespec timeout;
	size_t i;
	long ms;

	while (!stop) {
		ms = what_to_wait_for(server, fds);
		timeout.tv_sec = ms / 1000;
		timeout.tv_nsec = ms % 1000 * 1000000;
		if (ppoll(fds, CLIENTS + 1, ms < 0 ? NULL : &timeout, mask) < 0)
			continue;
		for (i = 0; i < CLIENTS; i++)
			if (fds[i].fd >= 0)
				go_on(server, &server->clients[i],
				      fds[i].revents);
		if (fds[CLIENTS].revents)
			take_client(server);
	}
}

/* Signals come only while ppoll() waits, so none is lost before it. */
static void catch_signals(sigset_t *before)
{
	const struct sigaction action = { .sa_handler = on_signal };
	sigset_t ours;

	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigprocmask(SIG_BLOCK, &ours, before);
	sigdelset(before, SIGINT);
	sigdelset(before, SIGTERM);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/**
 * metrics_serve() - answer requests until SIGTERM or SIGINT
 * @where: "unix:PATH", "PORT" or "127.0.0.1:PORT"
 *
 * Return: an exit code.
 */
int metrics_serve(struct cli *cli, const char *where)
{
	struct server server = { .cli = cli };
	sigset_t mask;
	size_t i;
	int ret;

	server.fd = listen_at(where);
	if (server.fd == -EINVAL)
		return usage_error("metrics", "--listen %s: not PORT, 127.0.0.1:PORT or unix:PATH",
				   where);
	if (server.fd == -EADDRINUSE)
		return complain(EXIT_FAILED, "--listen %s: in use already: stop who listens there, or name another place",
				where);
	if (server.fd < 0)
		return complain(exit_code(server.fd), "--listen %s: %s", where,
				what_failed(server.fd));
	catch_signals(&mask);
	files_keep(CLIENTS + OTHERS);
	serve_collect(&server);
	ret = drop_privileges();
	if (ret)
		return complain(EXIT_FAILED, "privileges cannot be given up: %s",
				strerror(-ret));
	for (i = 0; i < CLIENTS; i++)
		server.clients[i].fd = -1;
	serve(&server, &mask);
	for (i = 0; i < CLIENTS; i++)
		if (server.clients[i].fd >= 0)
			hang_up(&server.clients[i]);
	free(server.text);
	close(server.fd);
	return EXIT_OK;
}
