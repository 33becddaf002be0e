/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * RoCE: which adapter a GID and a MAC address mean, and what the network header
 * of a datagram looks like to its receiver.
 */
#ifndef SIMHCA_ROCE_H
#define SIMHCA_ROCE_H

#include "fabric/mad.h"
#include "hca.h"
#include "object/wqe.h"

#define GRH_LEN 40u

const void *roce_source(const struct hca *hca, const struct wqe_av *av);
uint64_t roce_mac(const void *entry);
uint64_t roce_dmac(const struct wqe_av *av);
struct hca *roce_find(const void *from, const uint8_t gid[16], uint64_t mac);
bool roce_hears(const struct hca *hca, const void *from);
void roce_header(const void *from, const struct ud_packet *pkt,
		 uint8_t to[GRH_LEN]);
void roce_cqe(const void *from, const struct ud_packet *pkt, struct cqe *cqe);

#endif
