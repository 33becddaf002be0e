// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Active messages of UCX between two workers of one process, over its transport for
 * mlx5 (rc_x), which one thread drives in turns. UCX_MEM_EVENTS=n belongs into the
 * environment: UCX would patch functions of this process otherwise.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ucp/api/ucp.h>

#include "instr.h"
#include "logp_table.h"
#include "logp_ucx.h"

#define BURST	12u
#define ROUNDS	8		/* the last one counts */
#define QUIET	3		/* looks without anything: all is done */
#define QUIET_US 3000
#define LONG	4000u

enum { SINK, ECHO, HANDLERS };

struct ucx {
	ucp_context_h context;
	ucp_worker_h worker[2];
	ucp_ep_h ep[2];			/* to the other one */
	ucs_status_ptr_t reqs[BURST];
	unsigned int arrived;
	uint64_t wrong;
};

static char bytes[LONG];

static int no(ucs_status_t status)
{
	if (status == UCS_OK)
		return 0;
	fprintf(stderr, "am_logp: ucx: %s\n", ucs_status_string(status));
	return -EIO;
}

static void send_am(struct ucx *u, unsigned int from, unsigned int handler,
		    size_t len, ucs_status_ptr_t *req)
{
	ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
		.flags = UCP_AM_SEND_FLAG_EAGER,
	};

	*req = ucp_am_send_nbx(u->ep[from], handler, NULL, 0, bytes, len,
			       &param);
}

static ucs_status_t sink(void *arg, const void *header, size_t header_len,
			 void *data, size_t len,
			 const ucp_am_recv_param_t *param)
{
	struct ucx *u = arg;

	u->arrived++;
	u->wrong += ((char *)data)[len - 1] != bytes[len - 1];
	return UCS_OK;
}

static ucs_status_t echo(void *arg, const void *header, size_t header_len,
			 void *data, size_t len,
			 const ucp_am_recv_param_t *param)
{
	ucs_status_ptr_t req;

	sink(arg, header, header_len, data, len, param);
	send_am(arg, 1, SINK, len, &req);
	if (UCS_PTR_IS_PTR(req))
		ucp_request_free(req);
	return UCS_OK;
}

static int listen_to(struct ucx *u, ucp_worker_h worker)
{
	static const ucp_am_recv_callback_t fns[HANDLERS] = {
		[SINK] = sink, [ECHO] = echo,
	};
	ucp_am_handler_param_t param = {
		.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
			      UCP_AM_HANDLER_PARAM_FIELD_CB |
			      UCP_AM_HANDLER_PARAM_FIELD_ARG,
		.arg = u,
	};
	unsigned int i;
	int ret = 0;

	for (i = 0; i < HANDLERS && !ret; i++) {
		param.id = i;
		param.cb = fns[i];
		ret = no(ucp_worker_set_am_recv_handler(worker, &param));
	}
	return ret;
}

static int open_context(struct ucx *u)
{
	ucp_params_t params = {
		.field_mask = UCP_PARAM_FIELD_FEATURES,
		.features = UCP_FEATURE_AM,
	};
	ucp_config_t *config;
	int ret = no(ucp_config_read(NULL, NULL, &config));

	if (ret)
		return ret;
	ret = no(ucp_config_modify(config, "TLS", "rc_x"));
	if (!ret)
		ret = no(ucp_config_modify(config, "NET_DEVICES", "mlx5_0:1"));
	if (!ret)
		ret = no(ucp_init(&params, config, &u->context));
	ucp_config_release(config);
	return ret;
}

static int open_workers(struct ucx *u)
{
	ucp_worker_params_t params = {
		.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
		.thread_mode = UCS_THREAD_MODE_SINGLE,
	};
	ucp_ep_params_t to = {
		.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
	};
	ucp_address_t *address;
	unsigned int i;
	int ret = 0;
	size_t len;

	for (i = 0; i < 2 && !ret; i++) {
		ret = no(ucp_worker_create(u->context, &params, &u->worker[i]));
		if (!ret)
			ret = listen_to(u, u->worker[i]);
	}
	for (i = 0; i < 2 && !ret; i++) {
		ret = no(ucp_worker_get_address(u->worker[!i], &address, &len));
		if (ret)
			break;
		to.address = address;
		ret = no(ucp_ep_create(u->worker[i], &to, &u->ep[i]));
		ucp_worker_release_address(u->worker[!i], address);
	}
	return ret;
}

static uint64_t look(ucp_worker_h worker, bool *found)
{
	uint64_t sum = 0, before;
	unsigned int n;

	do {
		before = instr_now();
		n = ucp_worker_progress(worker);
		if (n)
			sum += instr_now() - before;
		*found |= n > 0;
	} while (n);
	return sum;
}

static void pump(struct ucx *u, struct logp_cost *cost)
{
	unsigned int quiet = 0;
	bool found;

	while (quiet < QUIET) {
		usleep(QUIET_US);
		found = false;
		cost->recv += look(u->worker[1], &found);
		cost->done += look(u->worker[0], &found);
		quiet = found ? 0 : quiet + 1;
	}
}

static int round_of(struct ucx *u, unsigned int handler, size_t len,
		    struct logp_cost *c)
{
	uint64_t before;
	unsigned int i;
	int ret = 0;

	*c = (struct logp_cost){};
	u->arrived = 0;
	before = instr_now();
	for (i = 0; i < BURST; i++)
		send_am(u, 0, handler, len, &u->reqs[i]);
	c->send = instr_now() - before;
	pump(u, c);
	before = instr_now();
	for (i = 0; i < BURST; i++)
		if (UCS_PTR_IS_PTR(u->reqs[i]))
			ucp_request_free(u->reqs[i]);
		else if (UCS_PTR_IS_ERR(u->reqs[i]))
			ret = -EIO;
	c->done += instr_now() - before;
	c->send /= BURST;
	c->recv /= BURST;
	c->done /= BURST;
	if (u->arrived != BURST * (handler == ECHO ? 2 : 1) || u->wrong)
		ret = -EBADMSG;
	return ret;
}

/* The first rounds connect. */
static int measure(struct ucx *u, const char *name, unsigned int handler,
		   size_t len)
{
	struct logp_cost c;
	int i, ret = 0;

	for (i = 0; i < ROUNDS && !ret; i++)
		ret = round_of(u, handler, len, &c);
	if (!ret)
		logp_row(name, len, &c);
	return ret;
}

int logp_ucx(void)
{
	struct ucx u = {};
	unsigned int i;
	int ret;

	for (i = 0; i < LONG; i++)
		bytes[i] = 1 + i % 100;
	ret = open_context(&u);
	if (!ret)
		ret = open_workers(&u);
	if (!ret)
		ret = measure(&u, "UCX am_send", SINK, 8);
	if (!ret)
		ret = measure(&u, "UCX am_send", SINK, LONG);
	if (!ret)
		ret = measure(&u, "UCX am_send, reply", ECHO, 8);
	/* A worker may be closed before its endpoints. */
	for (i = 0; i < 2; i++)
		if (u.worker[i])
			ucp_worker_destroy(u.worker[i]);
	if (u.context)
		ucp_cleanup(u.context);
	return ret;
}
