// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Client of the control channel of simhca.
 *
 * Request and answer alternate. A client that was killed may leave an answer in
 * a port; whoever opens the port next reads it and drops it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "simhca.h"

#define ANSWER_MS 60000
#define PROTOCOL_VERSION 2	/* simhca/protocol.md */
#define PORT_LOCK "/tmp/simhca-control.lock"

struct simhca {
	int fd;
	int lock;	/* held while a port is open; -1 for a socket */
};

static int connect_socket(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	memcpy(addr.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		ret = -errno;
		close(fd);
		return ret;
	}
	return fd;
}

static void drain(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	char old[4096];

	while (poll(&pfd, 1, 0) > 0 && (pfd.revents & POLLIN))
		if (read(fd, old, sizeof(old)) <= 0)
			break;
}

static int open_port(struct simhca *sim, const char *path)
{
	sim->lock = open(PORT_LOCK, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
	if (sim->lock < 0)
		return -errno;
	if (flock(sim->lock, LOCK_EX))
		return -errno;
	sim->fd = open(path, O_RDWR | O_CLOEXEC);
	if (sim->fd < 0)
		return -errno;
	drain(sim->fd);
	return 0;
}

int simhca_open(struct simhca **out, const char *path)
{
	struct simhca *sim;
	struct stat st;
	int ret;

	if (!path)
		path = getenv("SIMHCA_CONTROL");
	if (!path)
		return -ENOENT;
	if (stat(path, &st))
		return -errno;
	sim = malloc(sizeof(*sim));
	if (!sim)
		return -ENOMEM;
	sim->fd = -1;
	sim->lock = -1;
	if (S_ISSOCK(st.st_mode)) {
		ret = connect_socket(path);
		if (ret >= 0) {
			sim->fd = ret;
			ret = 0;
		}
	} else {
		ret = open_port(sim, path);
	}
	if (ret) {
		simhca_close(sim);
		return ret;
	}
	*out = sim;
	return 0;
}

void simhca_close(struct simhca *sim)
{
	if (!sim)
		return;
	if (sim->fd >= 0)
		close(sim->fd);
	if (sim->lock >= 0)
		close(sim->lock);
	free(sim);
}

static int send_line(int fd, const char *line, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, line, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EPIPE;
		line += n;
		len -= n;
	}
	return 0;
}

/* Read an answer, which ends with a newline. The caller frees *line. */
static int receive_line(int fd, char **line)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	size_t len = 0, size = 1 << 16;
	char *buf = malloc(size), *grown;
	ssize_t n;
	int ret = -ENOMEM;

	while (buf) {
		ret = poll(&pfd, 1, ANSWER_MS);
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret <= 0) {
			ret = ret ? -errno : -ETIMEDOUT;
			break;
		}
		n = read(fd, buf + len, size - len - 1);
		if (n <= 0) {
			ret = n ? -errno : -EPIPE;
			break;
		}
		len += n;
		buf[len] = '\0';
		if (memchr(buf + len - n, '\n', n)) {
			*line = buf;
			return 0;
		}
		if (size - len < 4096) {
			size *= 2;
			grown = realloc(buf, size);
			ret = -ENOMEM;
			if (!grown)
				break;
			buf = grown;
		}
	}
	free(buf);
	return ret;
}

static int check_answer(const char *line, struct json_object **answer)
{
	struct json_object *obj = json_tokener_parse(line), *ok, *error;

	if (!obj) {
		fprintf(stderr, "# simhca: not JSON: %.200s\n", line);
		return -EPROTO;
	}
	if (!json_object_object_get_ex(obj, "ok", &ok) ||
	    !json_object_get_boolean(ok)) {
		if (!json_object_object_get_ex(obj, "error", &error))
			error = obj;
		fprintf(stderr, "# simhca: %s\n",
			json_object_get_string(error));
		json_object_put(obj);
		return -EREMOTEIO;
	}
	if (answer)
		*answer = obj;
	else
		json_object_put(obj);
	return 0;
}

static int call(struct simhca *sim, struct json_object **answer,
		const char *fmt, va_list ap)
{
	char *request, *line = NULL;
	int ret, len;

	len = vasprintf(&request, fmt, ap);
	if (len < 0)
		return -ENOMEM;
	request[len] = '\n';	/* instead of the terminating zero */
	ret = send_line(sim->fd, request, len + 1);
	free(request);
	if (!ret)
		ret = receive_line(sim->fd, &line);
	if (ret)
		return ret;
	ret = check_answer(line, answer);
	free(line);
	return ret;
}

int simhca_call(struct simhca *sim, struct json_object **answer,
		const char *fmt, ...)
{
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = call(sim, answer, fmt, ap);
	va_end(ap);
	return ret;
}

int simhca_ask(const char *fmt, ...)
{
	struct simhca *sim;
	va_list ap;
	int ret = simhca_open(&sim, NULL);

	if (ret)
		return ret;
	va_start(ap, fmt);
	ret = call(sim, NULL, fmt, ap);
	va_end(ap);
	simhca_close(sim);
	return ret;
}

static struct json_object *member(struct json_object *obj, const char *name)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(obj, name, &value);
	return value;
}

static uint64_t number(struct json_object *obj, const char *name)
{
	return json_object_get_int64(member(obj, name));
}

static int parse_qps(struct simhca_view *view)
{
	struct json_object *array = member(view->hca, "qps"), *obj;
	struct simhca_qp *qp;
	size_t i;

	if (!json_object_is_type(array, json_type_array))
		return -EPROTO;
	view->n_qps = json_object_array_length(array);
	view->qps = calloc(view->n_qps + 1, sizeof(*view->qps));
	if (!view->qps)
		return -ENOMEM;
	for (i = 0; i < view->n_qps; i++) {
		obj = json_object_array_get_idx(array, i);
		qp = &view->qps[i];
		qp->qpn = number(obj, "qpn");
		snprintf(qp->type, sizeof(qp->type), "%s",
			 json_object_get_string(member(obj, "type")));
		qp->user = json_object_get_boolean(member(obj, "user"));
		qp->uar = number(obj, "uar");
		qp->doorbells = number(obj, "doorbells");
		qp->blueflame = number(obj, "blueflame");
		qp->wrong_uar = number(obj, "wrong_uar");
	}
	return 0;
}

static int add_ring(struct simhca_view *view, const struct simhca_ring *ring)
{
	struct simhca_ring *grown;

	grown = realloc(view->rings, (view->n_rings + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	view->rings = grown;
	view->rings[view->n_rings++] = *ring;
	return 0;
}

static int parse_slot(struct simhca_view *view, uint32_t uar,
		      struct json_object *slot)
{
	struct simhca_ring ring = { .uar = uar, .slot = number(slot, "slot") };
	struct json_object *qpns = member(slot, "qpns");
	int ret = 0;

	if (!qpns)
		return 0;
	json_object_object_foreach(qpns, key, val) {
		ring.qpn = strtoul(key, NULL, 0);
		ring.count = json_object_get_int64(val);
		ret = add_ring(view, &ring);
		if (ret)
			break;
	}
	return ret;
}

static int parse_rings(struct simhca_view *view)
{
	struct json_object *uars = member(view->hca, "uars"), *uar, *slots;
	size_t i, j;
	int ret;

	if (!json_object_is_type(uars, json_type_array))
		return -EPROTO;
	for (i = 0; i < json_object_array_length(uars); i++) {
		uar = json_object_array_get_idx(uars, i);
		slots = member(uar, "slots");
		for (j = 0; slots && j < json_object_array_length(slots); j++) {
			ret = parse_slot(view, number(uar, "index"),
					 json_object_array_get_idx(slots, j));
			if (ret)
				return ret;
		}
	}
	return 0;
}

/* Take a picture of HCA number @hca. 0 or -errno. */
static int simhca_view_get(struct simhca *sim, unsigned int hca,
			   struct simhca_view *view)
{
	struct json_object *hcas;
	int ret;

	memset(view, 0, sizeof(*view));
	ret = simhca_call(sim, &view->answer, "{\"op\":\"dump\"}");
	if (ret)
		return ret;
	if (number(view->answer, "version") != PROTOCOL_VERSION) {
		fprintf(stderr, "# simhca: another version of the protocol\n");
		simhca_view_put(view);
		return -EPROTO;
	}
	hcas = member(view->answer, "hcas");
	view->hca = hcas ? json_object_array_get_idx(hcas, hca) : NULL;
	ret = view->hca ? parse_qps(view) : -ENODEV;
	if (!ret)
		ret = parse_rings(view);
	if (ret)
		simhca_view_put(view);
	return ret;
}

void simhca_view_put(struct simhca_view *view)
{
	free(view->qps);
	free(view->rings);
	json_object_put(view->answer);
	memset(view, 0, sizeof(*view));
}

static int64_t counter(const struct simhca_view *view, const char *group,
		       const char *name)
{
	struct json_object *value = member(member(view->hca, group), name);

	return value ? json_object_get_int64(value) : -1;
}

int64_t simhca_alive(const struct simhca_view *view, const char *kind)
{
	return counter(view, "alive", kind);
}

int64_t simhca_errors(const struct simhca_view *view, const char *kind)
{
	return counter(view, "errors", kind);
}

const struct simhca_qp *simhca_qp(const struct simhca_view *view, uint32_t qpn)
{
	size_t i;

	for (i = 0; i < view->n_qps; i++)
		if (view->qps[i].qpn == qpn)
			return &view->qps[i];
	return NULL;
}

int simhca_look(unsigned int hca, struct simhca_view *view)
{
	struct simhca *sim;
	int ret;

	ret = simhca_open(&sim, NULL);
	if (ret)
		return ret;
	ret = simhca_view_get(sim, hca, view);
	simhca_close(sim);
	return ret;
}

int simhca_zero(void)
{
	return simhca_ask("{\"op\":\"reset\"}");
}

int64_t simhca_count(const char *kind)
{
	struct simhca_view view;
	int64_t n;

	if (simhca_look(0, &view))
		return -1;
	n = simhca_alive(&view, kind);
	simhca_view_put(&view);
	return n;
}

int64_t simhca_registered(void)
{
	struct simhca_view view;
	int64_t n;

	if (simhca_look(0, &view))
		return -1;
	n = counter(&view, "mtt", "bytes");
	simhca_view_put(&view);
	return n;
}

int simhca_fail(const char *opcode, unsigned int nth, unsigned int count,
		unsigned int status)
{
	return simhca_ask(
		"{\"op\":\"fault\",\"hca\":0,\"kind\":\"cmd\",\"opcode\":\"%s\",\"nth\":%u,\"count\":%u,\"status\":%u}",
		opcode, nth, count, status);
}

int simhca_delay(const char *opcode, unsigned int us)
{
	return simhca_ask(
		"{\"op\":\"fault\",\"kind\":\"delay\",\"opcode\":\"%s\",\"count\":1,\"us\":%u}",
		opcode, us);
}

int simhca_fail_nothing(void)
{
	return simhca_ask("{\"op\":\"clear\"}");
}
