// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Active messages and puts of UCX between two workers. UCX_TLS and UCX_NET_DEVICES say
 * which transport that is.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"
#include "ucx.h"
#include "ucx_link.h"

#define SHORT	8u
#define EAGER	4000u
#define LONG	(64u << 10)

enum { SINK, ECHO, PONG };

static struct ucx_link link_of;
static char bytes[4 * LONG], into[LONG];
static unsigned int handled;
static int failed;

static void check(ucs_status_ptr_t request)
{
	if (UCS_PTR_IS_ERR(request))
		failed = -EIO;
	else if (UCS_PTR_IS_PTR(request))
		ucp_request_free(request);
}

/* A long message is only announced, and received here. */
static ucs_status_t sink(void *arg, const void *header, size_t header_len,
			 void *data, size_t len,
			 const ucp_am_recv_param_t *param)
{
	ucp_request_param_t none = {};
	ucp_worker_h worker = arg;

	handled++;
	if (!(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV))
		return UCS_OK;
	check(ucp_am_recv_data_nbx(worker, data, into, len, &none));
	return UCS_INPROGRESS;
}

static ucs_status_t echo(void *arg, const void *header, size_t header_len,
			 void *data, size_t len,
			 const ucp_am_recv_param_t *param)
{
	ucp_request_param_t none = {};

	check(ucp_am_send_nbx(param->reply_ep, PONG, NULL, 0, bytes, len,
			      &none));
	return UCS_OK;
}

static void set_handler(ucp_worker_h worker, unsigned int id,
			ucp_am_recv_callback_t fn)
{
	ucp_am_handler_param_t param = {
		.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
			      UCP_AM_HANDLER_PARAM_FIELD_CB |
			      UCP_AM_HANDLER_PARAM_FIELD_ARG,
		.id = id,
		.cb = fn,
		.arg = worker,
	};

	if (ucp_worker_set_am_recv_handler(worker, &param) != UCS_OK)
		failed = -EIO;
}

static int send_am(unsigned int id, size_t len, unsigned int flags)
{
	ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
		.flags = flags,
	};

	check(ucp_am_send_nbx(link_of.ep, id, NULL, 0, bytes, len, &param));
	return failed;
}

static int send_short(void *arg)
{
	return send_am(SINK, SHORT, 0);
}

static int send_eager(void *arg)
{
	return send_am(SINK, EAGER, UCP_AM_SEND_FLAG_EAGER);
}

static int send_echo(void *arg)
{
	return send_am(ECHO, SHORT, UCP_AM_SEND_FLAG_REPLY);
}

static int send_long(void *arg)
{
	return send_am(SINK, LONG, UCP_AM_SEND_FLAG_RNDV);
}

static int put_long(void *arg)
{
	ucx_link_start_put(&link_of, bytes, LONG);
	return 0;
}

static int put_longer(void *arg)
{
	ucx_link_start_put(&link_of, bytes, 4 * LONG);
	return 0;
}

static int look(void *arg, unsigned int end)
{
	return ucp_worker_progress(end ? link_of.peer : link_of.worker);
}

static int finish(void *arg)
{
	ucx_link_flush(&link_of);
	return failed;
}

static const struct {
	const char *name;
	unsigned int len;
	logp_send send;
} rows[] = {
	{ "ucx am", SHORT, send_short },
	{ "ucx am", EAGER, send_eager },
	{ "ucx am, reply", SHORT, send_echo },
	{ "ucx am, rendezvous", LONG, send_long },
	{ "ucx put", LONG, put_long },
	{ "ucx put", 4 * LONG, put_longer },
};

#define ROWS (sizeof(rows) / sizeof(*rows))

static int measure_all(struct logp_cost *costs)
{
	static const struct logp_sides sides = {
		.look = look, .finish = finish,
	};
	unsigned int i;
	int ret = 0;

	ucx_link_init(UCP_FEATURE_AM | UCP_FEATURE_RMA, false);
	ucx_link_open(&link_of, 4 * LONG);
	set_handler(link_of.peer, SINK, sink);
	set_handler(link_of.peer, ECHO, echo);
	set_handler(link_of.worker, PONG, sink);
	for (i = 0; i < ROWS && !ret; i++)
		ret = failed ? failed :
			       logp_measure(&sides, rows[i].send, &costs[i]);
	/* All but the puts call a handler that counts. */
	if (!ret && handled != (ROWS - 2) * LOGP_MESSAGES)
		ret = -EBADMSG;
	return ret;
}

/*
 * In a process of its own, which leaves no thread and no hook of UCX to the rest. It
 * ends without closing: UCX does not always come to an end of that.
 */
static int measure_in_child(struct logp_cost *costs)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid)
		_exit(!!measure_all(costs));
	return waitpid(pid, &status, 0) != pid || status ? -EIO : 0;
}

int logp_ucx(void)
{
	struct logp_cost *costs = mmap(NULL, ROWS * sizeof(*costs),
				       PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int i;
	int ret;

	if (costs == MAP_FAILED)
		return -errno;
	ret = measure_in_child(costs);
	for (i = 0; i < ROWS && !ret; i++)
		logp_row(rows[i].name, rows[i].len, &costs[i]);
	munmap(costs, ROWS * sizeof(*costs));
	return ret;
}
