/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The Ethernet objects of an adapter: the context of its NIC (nic.c), receive
 * queues, RQTs and TIRs (rx.c), and flow tables (flow.c) with their entries (fte.c).
 *
 * Invariants
 * - An object that another object names is held and cannot be destroyed.
 * - An adapter with an InfiniBand port refuses the commands of these objects.
 *   It does not claim their capabilities either.
 */
#ifndef SIMHCA_ETH_H
#define SIMHCA_ETH_H

#include "object/objects.h"

struct eth;
struct frame;

/* ---- nic.c */
int nic_init(struct hca *hca);
void nic_fini(struct hca *hca);
void nic_reset(struct hca *hca);
const void *nic_roce_address(const struct hca *hca, unsigned int index);
bool nic_answers(const struct hca *hca, const void *from,
		 const uint8_t gid[16], uint64_t mac);
bool nic_owns(const struct hca *hca, const void *entry);
bool nic_admits(const struct hca *hca, const uint8_t *mac);
bool nic_loops(const struct hca *hca, const uint8_t *mac);

/*
 * What a counter set counts: requests that were executed, connections of DC, and
 * frames that found no work request.
 */
enum nic_counter {
	NIC_WRITES,
	NIC_READS,
	NIC_ATOMICS,
	NIC_DCT_CONNECTS,
	NIC_NO_BUFFER,
	NIC_COUNTERS,
};

void nic_count(struct hca *hca, uint32_t set, enum nic_counter which);

/* ---- rx.c */
struct rx_tables {
	struct idtable rqs;
	struct idtable rqts;
	struct idtable tirs;
};

void rx_init(struct rx_tables *rx);
void rx_reset(struct rx_tables *rx);
struct tir *tir_find(struct hca *hca, uint32_t tirn, uint16_t uid);

/* ---- flow.c */
/*
 * The last two are there only with an e-switch. Its tables are the FDB. Tables of
 * FLOW_RDMA say which messages of QPs may come in.
 */
enum flow_side { FLOW_RX, FLOW_TX, FLOW_FDB, FLOW_RDMA, FLOW_SIDES };

/**
 * struct flows - flow tables and what their entries name
 * @tables: of all sides
 * @groups: of all tables
 * @counters: of flows
 * @headers: contexts that change headers
 * @reformats: contexts that add or remove headers
 * @entries: how many all tables have
 * @root: number of the first table of each side; 0: none
 */
struct flows {
	struct idtable tables;
	struct idtable groups;
	struct idtable counters;
	struct idtable headers;
	struct idtable reformats;
	uint32_t entries;
	uint32_t root[FLOW_SIDES];
};

void flows_init(struct flows *flows);
void flows_reset(struct flows *flows);

/**
 * struct switched - frames that the e-switch has forwarded
 * @uplink: to the cable
 * @manager: to the function that manages the e-switch
 */
struct switched {
	uint64_t uplink;
	uint64_t manager;
};

/**
 * struct eth - the Ethernet side of an adapter
 * @rx: receive queues, and the RQTs and TIRs that distribute packets to them
 * @flows: flow tables
 * @switched: what the e-switch counted
 */
struct eth {
	struct rx_tables rx;
	struct flows flows;
	struct switched switched;
};

/* ---- eth.c */
int eth_init(struct hca *hca);
void eth_fini(struct hca *hca);
void eth_clear_counters(struct hca *hca);
void eth_reset(struct hca *hca);
void eth_left(struct hca *hca, struct left *left);
void eth_dump(struct hca *hca, struct json_object *alive);

#endif
