// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ucx_link.h"

static ucp_context_h context;

static void ok(ucs_status_t status, const char *what)
{
	if (status == UCS_OK)
		return;
	fprintf(stderr, "ucx_link: %s: %s\n", what, ucs_status_string(status));
	exit(1);
}

void ucx_link_init(uint64_t features, bool threads)
{
	ucp_params_t params = {
		.field_mask = UCP_PARAM_FIELD_FEATURES |
			      UCP_PARAM_FIELD_MT_WORKERS_SHARED,
		.features = features,
		.mt_workers_shared = threads,
	};

	ok(ucp_init(&params, NULL, &context), "ucp_init");
}

void ucx_link_cleanup(void)
{
	ucp_cleanup(context);
}

static ucp_worker_h open_worker(void)
{
	ucp_worker_params_t params = {
		.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
		.thread_mode = UCS_THREAD_MODE_SINGLE,
	};
	ucp_worker_h worker;

	ok(ucp_worker_create(context, &params, &worker), "ucp_worker_create");
	return worker;
}

/* Gives the peer's memory to the worker. */
static void share_remote(struct ucx_link *link)
{
	ucp_mem_map_params_t params = {
		.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
			      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
		.length = link->len,
	};
	size_t len;
	void *rkey;

	link->remote = mmap(NULL, link->len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ok(link->remote == MAP_FAILED ? UCS_ERR_NO_MEMORY : UCS_OK, "mmap");
	params.address = link->remote;
	ok(ucp_mem_map(context, &params, &link->memh), "ucp_mem_map");
	ok(ucp_rkey_pack(context, link->memh, &rkey, &len), "ucp_rkey_pack");
	ok(ucp_ep_rkey_unpack(link->ep, rkey, &link->rkey), "rkey_unpack");
	ucp_rkey_buffer_release(rkey);
}

void ucx_link_open(struct ucx_link *link, size_t len)
{
	ucp_ep_params_t params = {
		.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
	};
	ucp_address_t *address;
	size_t address_len;

	link->len = len;
	link->worker = open_worker();
	link->peer = open_worker();
	ok(ucp_worker_get_address(link->peer, &address, &address_len),
	   "address");
	params.address = address;
	ok(ucp_ep_create(link->worker, &params, &link->ep), "ucp_ep_create");
	ucp_worker_release_address(link->peer, address);
	share_remote(link);
}

static void finish(struct ucx_link *link, ucs_status_ptr_t request)
{
	ucs_status_t status = UCS_PTR_STATUS(request);

	if (UCS_PTR_IS_PTR(request)) {
		do {
			ucp_worker_progress(link->worker);
			ucp_worker_progress(link->peer);
			status = ucp_request_check_status(request);
		} while (status == UCS_INPROGRESS);
		ucp_request_free(request);
	}
	ok(status, "a request");
}

void ucx_link_flush(struct ucx_link *link)
{
	ucp_request_param_t param = {};

	finish(link, ucp_ep_flush_nbx(link->ep, &param));
}

/* The peer may have sent replies, over an endpoint that UCX made for them. */
void ucx_link_close(struct ucx_link *link)
{
	ucp_request_param_t param = {};

	finish(link, ucp_worker_flush_nbx(link->worker, &param));
	finish(link, ucp_worker_flush_nbx(link->peer, &param));
	ucp_rkey_destroy(link->rkey);
	finish(link, ucp_ep_close_nbx(link->ep, &param));
	ok(ucp_mem_unmap(context, link->memh), "ucp_mem_unmap");
	ucp_worker_destroy(link->worker);
	ucp_worker_destroy(link->peer);
	munmap(link->remote, link->len);
}

void ucx_link_put(struct ucx_link *link, const char *from, size_t to,
		  size_t len)
{
	ucp_request_param_t param = {};

	finish(link, ucp_put_nbx(link->ep, from, len,
				 (uintptr_t)link->remote + to, link->rkey,
				 &param));
	ucx_link_flush(link);
}

/* UCX frees a request that is not waited for when it has completed. */
static void leave(ucs_status_ptr_t request, const char *what)
{
	if (UCS_PTR_IS_PTR(request))
		ucp_request_free(request);
	else
		ok(UCS_PTR_STATUS(request), what);
}

void ucx_link_start_put(struct ucx_link *link, const char *from, size_t len)
{
	ucp_request_param_t param = {};

	leave(ucp_put_nbx(link->ep, from, len, (uintptr_t)link->remote,
			  link->rkey, &param), "a put");
}

void ucx_link_start_send(struct ucx_link *link, const char *from, size_t len)
{
	ucp_request_param_t param = {};

	leave(ucp_tag_send_nbx(link->ep, from, len, 1, &param), "a send");
}

void ucx_link_receive(struct ucx_link *link, char *to, size_t len)
{
	ucp_request_param_t param = {};

	finish(link, ucp_tag_recv_nbx(link->peer, to, len, 1, UINT64_MAX,
				      &param));
}

void ucx_link_get(struct ucx_link *link, char *to, size_t len)
{
	ucp_request_param_t param = {};

	finish(link, ucp_get_nbx(link->ep, to, len, (uintptr_t)link->remote,
				 link->rkey, &param));
}

void ucx_link_message(struct ucx_link *link, const char *from, char *to,
		      size_t len)
{
	ucp_request_param_t param = {};
	ucs_status_ptr_t sent, received;

	received = ucp_tag_recv_nbx(link->peer, to, len, 1, UINT64_MAX, &param);
	sent = ucp_tag_send_nbx(link->ep, from, len, 1, &param);
	finish(link, sent);
	finish(link, received);
}
