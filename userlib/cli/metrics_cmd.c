// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5ep metrics. Writes the figures to the output or to a file, or answers
 * requests for them.
 *
 * As a server it answers one request after the other, and collects at most once a
 * second: who asks more often gets the same text again. It keeps debugfs files
 * open, and gives up all privileges before the first request. It listens on the
 * loopback address or on a unix socket only.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "metrics.h"

#define NOBODY 65534
#define REQUEST 4096

#define TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

static char *collect(struct cli *cli, size_t *len)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, len);

	if (!to)
		return NULL;
	metrics_print(cli, to);
	if (!fclose(to))
		return text;
	free(text);
	return NULL;
}

static bool write_all(int fd, const char *text, size_t len)
{
	ssize_t n;

	for (; len; text += n, len -= n) {
		n = write(fd, text, len);
		if (n < 0 && errno == EINTR)
			n = 0;
		if (n < 0)
			return false;
	}
	return true;
}

/* The new file takes the place of the old one by a rename. */
static int write_file(const char *path, const char *text, size_t len)
{
	char new[PATH_LEN];
	int fd, ret;

	ret = snprintf(new, sizeof(new), "%s.XXXXXX", path);
	if (ret >= (int)sizeof(new))
		return complain(EXIT_FAILED, "%s: %s", path,
				strerror(ENAMETOOLONG));
	fd = mkostemp(new, O_CLOEXEC);
	if (fd < 0)
		return complain(exit_code(-errno), "--output %s: %s", path,
				strerror(errno));
	ret = write_all(fd, text, len) && !fchmod(fd, 0644) ? 0 : errno;
	if (close(fd) && !ret)
		ret = errno;
	if (!ret && rename(new, path))
		ret = errno;
	if (!ret)
		return EXIT_OK;
	unlink(new);
	return complain(exit_code(-ret), "%s: %s", path, strerror(ret));
}

/* "unix:PATH", "PORT" or "127.0.0.1:PORT" */
static int listen_at(const char *where)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	bool local = !strncmp(where, "unix:", 5);
	const char *port = strncmp(where, "127.0.0.1:", 10) ? where : where + 10;
	struct stat st;
	int fd, one = 1;
	char *end;
	long n;

	n = strtol(port, &end, 10);
	if (local ? !where[5] || strlen(where + 5) >= sizeof(un.sun_path) :
	    end == port || *end || n < 1 || n > 65535)
		return -EINVAL;
	in.sin_port = htons(n);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = socket(local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (local) {
		snprintf(un.sun_path, sizeof(un.sun_path), "%s", where + 5);
		/* That of a server that was killed; nothing but a socket. */
		if (!lstat(un.sun_path, &st) && S_ISSOCK(st.st_mode))
			unlink(un.sun_path);
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!bind(fd, local ? (void *)&un : (void *)&in,
		  local ? sizeof(un) : sizeof(in)) &&
	    (!local || !chmod(un.sun_path, 0666)) && !listen(fd, 16))
		return fd;
	one = -errno;
	close(fd);
	return one;
}

/* An ordinary user has nothing to give up but new privileges. */
static int drop_privileges(void)
{
	if (!geteuid() && (setgroups(0, NULL) ||
			   setresgid(NOBODY, NOBODY, NOBODY) ||
			   setresuid(NOBODY, NOBODY, NOBODY)))
		return -errno;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
}

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

/* Reads the head of a request; true: it asks for /metrics or /. */
static bool read_request(int fd, bool *bad)
{
	char buf[REQUEST];
	time_t end = now() + 2;
	size_t len = 0;
	ssize_t n;

	*bad = true;
	do {
		n = read(fd, buf + len, sizeof(buf) - 1 - len);
		if (n <= 0 || now() > end)
			return false;
		len += n;
		buf[len] = '\0';
	} while (!strstr(buf, "\r\n\r\n") && len < sizeof(buf) - 1);
	*bad = strncmp(buf, "GET ", 4);
	return !strncmp(buf, "GET /metrics ", 13) ||
		!strncmp(buf, "GET / ", 6);
}

static void answer(int fd, const char *text, size_t len)
{
	char head[256];
	bool found, bad;

	found = read_request(fd, &bad);
	if (found && text)
		snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Type: " TYPE
			 "\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
			 len);
	else
		snprintf(head, sizeof(head), "HTTP/1.1 %s\r\nContent-Length: 0\r\n"
			 "Connection: close\r\n\r\n",
			 bad ? "400 Bad Request" : found ?
			 "503 Service Unavailable" : "404 Not Found");
	if (write_all(fd, head, strlen(head)) && found && text)
		write_all(fd, text, len);
}

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static void serve(struct cli *cli, int server)
{
	const struct timeval patience = { .tv_sec = 1 };
	time_t collected = -1;
	char *text = NULL;
	size_t len = 0;
	int fd;

	while (!stop) {
		fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
			   sizeof(patience));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
			   sizeof(patience));
		if (!text || now() != collected) {
			free(text);
			text = collect(cli, &len);
			collected = now();
		}
		answer(fd, text, len);
		close(fd);
	}
	free(text);
}

static int listen_and_serve(struct cli *cli, const char *where)
{
	const struct sigaction action = { .sa_handler = on_signal };
	int server, ret;
	size_t len;

	server = listen_at(where);
	if (server == -EINVAL)
		return usage_error("metrics", "--listen %s: not PORT, 127.0.0.1:PORT or unix:PATH",
				   where);
	if (server < 0)
		return complain(exit_code(server), "%s: %s", where,
				strerror(-server));
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	files_keep();
	free(collect(cli, &len));
	ret = drop_privileges();
	if (ret)
		return complain(EXIT_FAILED, "privileges cannot be given up: %s",
				strerror(-ret));
	serve(cli, server);
	close(server);
	return EXIT_OK;
}

/**
 * cmd_metrics() - mlx5ep metrics [--output FILE | --listen WHERE]
 */
int cmd_metrics(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "listen", required_argument, NULL, 'l' },
		{}
	};
	const char *output = NULL, *where = NULL;
	size_t len;
	char *text;
	int c, ret;

	while ((c = getopt_long(argc, argv, "o:l:", options, NULL)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		*(c == 'o' ? &output : &where) = optarg;
	}
	if (optind < argc)
		return usage_error("metrics", "%s: unexpected", argv[optind]);
	if (output && where)
		return usage_error("metrics", "--output and --listen exclude each other");
	if (where)
		return listen_and_serve(cli, where);
	text = collect(cli, &len);
	if (!text)
		return complain(EXIT_FAILED, "%s", strerror(ENOMEM));
	ret = output ? write_file(output, text, len) :
		fwrite(text, 1, len, stdout) == len ? EXIT_OK : EXIT_FAILED;
	free(text);
	return ret;
}
