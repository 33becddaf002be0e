/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Thread domains whose uUAR is known, and UAR pages that nobody else rings.
 */
#ifndef MLX5EP_UAR_DOMAIN_H
#define MLX5EP_UAR_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/**
 * struct domain - a thread domain
 * @pd: parent domain; a QP that is created on it is in the thread domain
 * @uuar: address of the uUAR that such a QP rings
 * @blueflame: libmlx5 uses BlueFlame writes on it
 */
struct domain {
	struct ibv_td *td;
	struct ibv_pd *pd;
	uintptr_t uuar;
	bool blueflame;
};

/* The two thread domains that have the two uUARs of one UAR page. */
struct uar_page {
	struct domain domains[2];
};

/**
 * struct domain_source - where thread domains are looked for
 * @pd: PD of the caller, which the parent domains belong to
 * @probe_cq: CQ of the QPs that are created to find a uUAR
 * @unused: thread domains that were found and are not wanted; they are held so
 *	that libmlx5 does not return them again
 */
struct domain_source {
	struct ibv_pd *pd;
	struct ibv_cq *probe_cq;
	struct domain *unused;
	unsigned int n_unused;
};

int domain_source_init(struct domain_source *source, struct ibv_pd *pd);
int domain_source_end(struct domain_source *source);
int domain_source_fini(struct domain_source *source);
int domain_init(struct domain_source *source, struct domain *domain);
int uar_page_init(struct domain_source *source, struct uar_page *page);
int uar_page_fini(struct uar_page *page);

#endif
