// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The control socket: one JSON object per line in, one per line out.
 *
 * Invariants
 * - Requests of one client are answered in order; clients are independent.
 * - A client that does not read its answers stalls only itself: its requests
 *   are not read until it does.
 * - A line that is not a request is answered with an error. A line that is too
 *   long ends the connection.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adapter.h"
#include "base/json.h"
#include "base/trace.h"
#include "bus/bus.h"
#include "control/control.h"
#include "eth/eth.h"
#include "eth/switch.h"
#include "fabric/fabric.h"
#include "fabric/lag.h"
#include "fabric/line.h"
#include "fw/cmd.h"
#include "fw/eq.h"
#include "fw/fw.h"
#include "object/objects.h"

/* simhca/protocol.md says what makes another version. */
#define CONTROL_VERSION 2
#define LINE_MAX_BYTES 65536u

struct client {
	struct sim_fd sfd;
	struct client *next;
	char in[LINE_MAX_BYTES];
	size_t in_len;
	char *out;
	size_t out_len;
	size_t out_done;
};

static struct {
	struct sim_fd listen;
	struct client *clients;
	char *path;
} control = { .listen.fd = -1 };

static struct json_object *errors_dump(struct hca *hca)
{
	static const char *const names[] = {
#define X(name) [SIM_ERR_##name] = #name,
		SIM_ERRORS(X)
#undef X
	};
	struct json_object *o = json_object_new_object();
	char lower[32];
	unsigned int i, c;

	for (i = 0; i < SIM_ERR_MAX; i++) {
		for (c = 0; names[i][c] && c < sizeof(lower) - 1; c++)
			lower[c] = names[i][c] == '_' ? '_' :
							names[i][c] | 0x20;
		lower[c] = '\0';
		json_add_number(o, lower, hca->errors[i]);
	}
	return o;
}

static struct json_object *hca_dump(struct hca *hca)
{
	struct json_object *o = json_object_new_object();
	struct json_object *alive = json_object_new_object();

	json_add_number(o, "index", hca->index);
	port_dump(hca, o);
	line_dump(hca, o);
	lag_dump(hca, o);
	uars_dump(hca, o, alive);
	objects_dump(hca, o, alive);
	eth_dump(hca, alive);
	switch_dump(hca, o);
	json_add_number(alive, "eq", eqs_alive(hca));
	json_add_number(alive, "uctx", uctxs_alive(hca));
	json_add_number(alive, "page", pages_held(hca));
	json_object_object_add(o, "alive", alive);
	json_object_object_add(o, "errors", errors_dump(hca));
	json_object_object_add(o, "commands", cmdlog_counts(hca));
	return o;
}

static const char *op_dump(struct json_object *req, struct json_object *answer)
{
	struct json_object *array = json_object_new_array();
	unsigned int i;

	(void)req;
	for (i = 0; i < fabric_hcas(); i++)
		json_object_array_add(array, hca_dump(fabric_hca(i)));
	json_add_number(answer, "version", CONTROL_VERSION);
	json_object_object_add(answer, "hcas", array);
	return NULL;
}

static const char *op_reset(struct json_object *req, struct json_object *answer)
{
	unsigned int i;

	(void)req;
	(void)answer;
	for (i = 0; i < fabric_hcas(); i++)
		hca_clear_counters(fabric_hca(i));
	return NULL;
}

static const char *op_cmdlog(struct json_object *req,
			     struct json_object *answer)
{
	struct json_object *since;
	uint64_t from = 0, next;

	if (json_object_object_get_ex(req, "since", &since))
		from = (uint64_t)json_object_get_int64(since);
	json_object_object_add(answer, "log", cmdlog_since(from, &next));
	json_add_number(answer, "next", next);
	return NULL;
}

static const char *op_fault(struct json_object *req, struct json_object *answer)
{
	struct json_object *index;
	const char *why = NULL;
	int64_t i = 0;

	(void)answer;
	if (json_object_object_get_ex(req, "hca", &index))
		i = json_object_get_int64(index);
	if (i < 0 || i >= fabric_hcas())
		return "no such hca";
	if (fault_inject(fabric_hca(i), req, &why))
		return why;
	return NULL;
}

static const char *op_clear(struct json_object *req, struct json_object *answer)
{
	struct json_object *waiting = json_object_new_int64(0);
	struct json_object *hits = json_object_new_array();
	unsigned int i;

	(void)req;
	for (i = 0; i < fabric_hcas(); i++) {
		faults_report(fabric_hca(i), waiting, hits);
		faults_clear(fabric_hca(i));
		cmdq_answer(fabric_hca(i));
	}
	json_object_object_add(answer, "waiting", waiting);
	json_object_object_add(answer, "hits", hits);
	return NULL;
}

/* Without "set" the cable stays as it is. */
static const char *op_cable(struct json_object *req, struct json_object *answer)
{
	struct json_object *set;
	const char *wrong;

	if (json_object_object_get_ex(req, "set", &set)) {
		if (!json_object_is_type(set, json_type_string))
			return "set is \"latency=US,rate=MB/s\"";
		wrong = cable_parse(json_object_get_string(set), &cable_time);
		if (wrong)
			return wrong;
	}
	json_add_number(answer, "latency", cable_time.latency / NSEC_PER_USEC);
	json_add_number(answer, "rate", cable_time.rate / BYTES_PER_MB);
	return NULL;
}

/* With "set" it starts or ends, and nothing was seen yet. */
static const char *op_trace(struct json_object *req, struct json_object *answer)
{
	struct json_object *set, *since;
	uint64_t next, lost;
	int64_t from = 0;

	if (json_object_object_get_ex(req, "since", &since)) {
		from = json_object_get_int64(since);
		if (!json_object_is_type(since, json_type_int) || from < 0)
			return "since is the number of an event";
	}
	if (json_object_object_get_ex(req, "set", &set)) {
		if (!json_object_is_type(set, json_type_boolean))
			return "set is true or false";
		if (!json_object_get_boolean(set))
			trace_stop();
		else if (trace_start())
			return "no memory for a trace";
	}
	json_object_object_add(answer, "on", json_object_new_boolean(trace_on()));
	json_add_number(answer, "now", loop_now());
	json_object_object_add(answer, "trace", trace_since((uint64_t)from, &next, &lost));
	json_add_number(answer, "next", next);
	json_add_number(answer, "lost", lost);
	return NULL;
}

static const char *op_version(struct json_object *req,
			      struct json_object *answer)
{
	(void)req;
	json_add_number(answer, "version", CONTROL_VERSION);
	json_add_number(answer, "hcas_number", fabric_hcas());
	return NULL;
}

static const struct {
	const char *op;
	/* Return: NULL, or a message that says why the request failed. */
	const char *(*run)(struct json_object *req, struct json_object *answer);
} ops[] = {
	{ "dump", op_dump },   { "reset", op_reset }, { "cmdlog", op_cmdlog },
	{ "fault", op_fault }, { "clear", op_clear }, { "version", op_version },
	{ "cable", op_cable }, { "trace", op_trace },
};

static struct json_object *control_answer(const char *line)
{
	struct json_object *req = json_tokener_parse(line), *op;
	struct json_object *answer = json_object_new_object();
	const char *why = "not a JSON object with \"op\"";
	size_t i;

	json_object_object_add(answer, "ok", json_object_new_boolean(true));
	if (req && json_object_is_type(req, json_type_object) &&
	    json_object_object_get_ex(req, "op", &op) &&
	    json_object_is_type(op, json_type_string)) {
		why = "no such op";
		for (i = 0; i < ARRAY_SIZE(ops); i++)
			if (!strcmp(ops[i].op, json_object_get_string(op)))
				why = ops[i].run(req, answer);
	}
	if (why) {
		json_object_object_add(answer, "ok",
				       json_object_new_boolean(false));
		json_object_object_add(answer, "error",
				       json_object_new_string(why));
	}
	json_object_put(req);
	return answer;
}

static void client_end(struct client *client)
{
	struct client **at = &control.clients;

	while (*at != client)
		at = &(*at)->next;
	*at = client->next;
	loop_remove(&client->sfd);
	close(client->sfd.fd);
	free(client->out);
	free(client);
}

/* Send what is left; false when the client is gone. */
static bool client_flush(struct client *client)
{
	ssize_t n;

	while (client->out_done < client->out_len) {
		n = send(client->sfd.fd, client->out + client->out_done,
			 client->out_len - client->out_done,
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN) {
			loop_modify(&client->sfd, EPOLLOUT);
			return true;
		}
		if (n < 0) {
			client_end(client);
			return false;
		}
		client->out_done += (size_t)n;
	}
	free(client->out);
	client->out = NULL;
	client->out_len = 0;
	client->out_done = 0;
	loop_modify(&client->sfd, EPOLLIN);
	return true;
}

static bool client_answer(struct client *client, const char *line)
{
	struct json_object *answer = control_answer(line);
	const char *text = json_object_to_json_string_ext(
		answer, JSON_C_TO_STRING_PLAIN);
	size_t len = strlen(text);

	client->out = malloc(len + 1);
	if (client->out) {
		memcpy(client->out, text, len);
		client->out[len] = '\n';
		client->out_len = len + 1;
	}
	json_object_put(answer);
	return client_flush(client);
}

/* Answer line after line, as long as answers are taken. */
static void client_lines(struct client *client)
{
	size_t len;
	char *end;

	while (!client->out_len &&
	       (end = memchr(client->in, '\n', client->in_len))) {
		*end++ = '\0';
		len = (size_t)(end - client->in);
		if (len > 1 && !client_answer(client, client->in))
			return;
		client->in_len -= len;
		memmove(client->in, client->in + len, client->in_len);
	}
	if (client->in_len == sizeof(client->in))
		client_end(client);
}

static void client_ready(struct sim_fd *sfd, uint32_t events)
{
	struct client *client = container_of(sfd, struct client, sfd);
	ssize_t n;

	if (client->out_len) {
		if (client_flush(client) && !client->out_len)
			client_lines(client);
		return;
	}
	(void)events;
	n = recv(sfd->fd, client->in + client->in_len,
		 sizeof(client->in) - client->in_len, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		client_end(client);
		return;
	}
	client->in_len += (size_t)n;
	client_lines(client);
}

static void control_connect(struct sim_fd *sfd, uint32_t events)
{
	struct client *client;
	int fd;

	(void)events;
	fd = accept4(sfd->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return;
	client = calloc(1, sizeof(*client));
	if (!client) {
		close(fd);
		return;
	}
	client->sfd = (struct sim_fd){ fd, EPOLLIN, client_ready };
	client->next = control.clients;
	control.clients = client;
	if (loop_add(&client->sfd))
		client_end(client);
}

/**
 * control_init() - listen for clients
 * @path: of the socket
 *
 * Return: 0 or -errno
 */
int control_init(const char *path)
{
	int fd = vfio_user_listen(path);

	if (fd < 0)
		return fd;
	control.path = strdup(path);
	control.listen = (struct sim_fd){ fd, EPOLLIN, control_connect };
	return loop_add(&control.listen);
}

/**
 * control_fini() - end all clients, listen no more
 */
void control_fini(void)
{
	while (control.clients)
		client_end(control.clients);
	trace_stop();
	if (control.listen.fd < 0)
		return;
	loop_remove(&control.listen);
	close(control.listen.fd);
	control.listen.fd = -1;
	if (control.path)
		unlink(control.path);
	free(control.path);
	control.path = NULL;
}
