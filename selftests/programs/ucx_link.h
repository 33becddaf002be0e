/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two workers of UCX in one process, connected through the adapter: what one sends,
 * puts or gets is the other's memory. A call that fails ends the process with
 * exit status 1.
 */
#ifndef SELFTESTS_UCX_LINK_H
#define SELFTESTS_UCX_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include <ucp/api/ucp.h>

/**
 * struct ucx_link - a worker, and a peer that only answers
 * @remote: memory of the peer, @len bytes, registered as long as the link is open
 */
struct ucx_link {
	ucp_worker_h worker, peer;
	ucp_ep_h ep;
	char *remote;
	size_t len;
	ucp_mem_h memh;
	ucp_rkey_h rkey;
};

/**
 * ucx_link_init() - open UCX
 * @features: UCP_FEATURE_*
 * @threads: several threads use links, each its own
 */
void ucx_link_init(uint64_t features, bool threads);

/**
 * ucx_link_cleanup() - close UCX
 */
void ucx_link_cleanup(void);

void ucx_link_open(struct ucx_link *link, size_t len);
void ucx_link_close(struct ucx_link *link);

/**
 * ucx_link_put() - put memory to the peer; it is there when the call returns
 * @to: offset in the peer's memory
 */
void ucx_link_put(struct ucx_link *link, const char *from, size_t to,
		  size_t len);

/**
 * ucx_link_start_put() - put memory to the start of the peer's, and do not wait
 *
 * ucx_link_flush() waits until all puts are there.
 */
void ucx_link_start_put(struct ucx_link *link, const char *from, size_t len);
void ucx_link_flush(struct ucx_link *link);

/**
 * ucx_link_start_send() - send a tagged message, and do not wait
 *
 * ucx_link_receive() waits until the peer has the next one.
 */
void ucx_link_start_send(struct ucx_link *link, const char *from, size_t len);
void ucx_link_receive(struct ucx_link *link, char *to, size_t len);

/**
 * ucx_link_get() - get the peer's memory, from its start
 */
void ucx_link_get(struct ucx_link *link, char *to, size_t len);

/**
 * ucx_link_message() - send a tagged message, which the peer receives
 */
void ucx_link_message(struct ucx_link *link, const char *from, char *to,
		      size_t len);

#endif
