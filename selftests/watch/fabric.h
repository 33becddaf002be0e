/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The verbs provider of libfabric on the HCA under test. It has a domain, whose
 * registrations libfabric caches, and a datagram endpoint that sends to itself.
 * What arrives shows which memory the HCA reads through a registration.
 *
 * Functions return 0 or a negative errno and print to stderr what failed.
 */
#ifndef SELFTESTS_FABRIC_H
#define SELFTESTS_FABRIC_H

#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

struct fabric_setup {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	fi_addr_t self;
	uint8_t *received;
	struct fid_mr *received_mr;
	uint64_t stamp;
};

int fabric_open(struct fabric_setup *setup);
void fabric_close(struct fabric_setup *setup);

/*
 * Register memory through libfabric's cache, with all access that a provider
 * has.
 */
int fabric_reg(struct fabric_setup *setup, void *addr, size_t len,
	       struct fid_mr **mr);

/**
 * fabric_differs() - do HCA and process disagree about any page?
 *
 * A new stamp is written into each page by the process; then the HCA sends the
 * page.
 *
 * Return: 1 if they do; 0; -errno.
 */
int fabric_differs(struct fabric_setup *setup, struct fid_mr *mr, void *addr,
		   size_t len);

#endif
