// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * simhca-ctl: ask a running simhca, from the host through its control socket or
 * from a guest through a virtio port.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define TIMEOUT_MS 30000

static const char usage[] =
	"usage: simhca-ctl [--control PATH] REQUEST\n"
	"\n"
	"Sends REQUEST to simhca and prints its answer. REQUEST is a JSON object,\n"
	"or a word that stands for {\"op\":\"WORD\"}: dump, reset, cmdlog, clear,\n"
	"version. PATH (default $SIMHCA_CONTROL) is a unix socket or a character\n"
	"device. Exit status: 0 answered ok, 1 answered with an error, 2 no answer.\n";

static int ctl_connect(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(sa.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(sa.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&sa, sizeof(sa))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* A port can be open once at a time: wait for whoever has it. */
static int ctl_open_port(const char *path)
{
	int fd, tries;

	for (tries = 0; tries < TIMEOUT_MS / 10; tries++) {
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd >= 0 || errno != EBUSY)
			return fd;
		usleep(10000);
	}
	return -1;
}

static bool ctl_send(int fd, const char *text, size_t len)
{
	ssize_t n;

	for (; len; text += n, len -= (size_t)n) {
		n = write(fd, text, len);
		if (n < 0)
			return false;
	}
	return true;
}

/* Print the answer; its exit status, 2 when there was none. */
static int ctl_answer(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	static const char ok[] = "{\"ok\":true";
	bool first = true, good = false;
	char buf[65536];
	ssize_t n;

	for (;;) {
		if (poll(&pfd, 1, TIMEOUT_MS) != 1)
			return 2;
		n = read(fd, buf, sizeof(buf));
		if (n <= 0)
			return 2;
		if (first)
			good = (size_t)n >= sizeof(ok) - 1 &&
			       !memcmp(buf, ok, sizeof(ok) - 1);
		first = false;
		fwrite(buf, 1, (size_t)n, stdout);
		if (buf[n - 1] == '\n')
			return good ? 0 : 1;
	}
}

static int ctl_run(const char *path, const char *request)
{
	const bool word = request[0] != '{';
	char text[65536];
	struct stat st;
	int fd, n;

	if (stat(path, &st))
		return 2;
	fd = S_ISSOCK(st.st_mode) ? ctl_connect(path) : ctl_open_port(path);
	if (fd < 0)
		return 2;
	n = snprintf(text, sizeof(text), word ? "{\"op\":\"%s\"}\n" : "%s\n",
		     request);
	if (n < 0 || (size_t)n >= sizeof(text)) {
		errno = E2BIG;
		return 2;
	}
	return ctl_send(fd, text, (size_t)n) ? ctl_answer(fd) : 2;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "control", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *path = getenv("SIMHCA_CONTROL");
	int c, ret;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			path = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			return 2;
		}
	}
	if (!path || optind + 1 != argc) {
		fputs(usage, stderr);
		return 2;
	}
	errno = ETIMEDOUT;
	ret = ctl_run(path, argv[optind]);
	if (ret == 2)
		fprintf(stderr, "simhca-ctl: %s: %s\n", path, strerror(errno));
	return ret;
}
