// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The Ethernet side of an adapter as a whole. See eth.h for the model.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "eth/eth.h"

/**
 * eth_init() - make the empty tables
 *
 * Return: 0 or -ENOMEM
 */
int eth_init(struct hca *hca)
{
	hca->eth = calloc(1, sizeof(*hca->eth));
	if (!hca->eth)
		return -ENOMEM;
	rx_init(&hca->eth->rx);
	flows_init(&hca->eth->flows);
	return nic_init(hca);
}

/**
 * eth_clear_counters() - set what the e-switch has counted to 0
 */
void eth_clear_counters(struct hca *hca)
{
	memset(&hca->eth->switched, 0, sizeof(hca->eth->switched));
}

/**
 * eth_reset() - forget all that a driver made or set
 */
void eth_reset(struct hca *hca)
{
	flows_reset(&hca->eth->flows);
	rx_reset(&hca->eth->rx);
	nic_reset(hca);
	eth_clear_counters(hca);
}

/**
 * eth_fini() - free the tables
 */
void eth_fini(struct hca *hca)
{
	if (!hca->eth)
		return;
	flows_reset(&hca->eth->flows);
	rx_reset(&hca->eth->rx);
	nic_fini(hca);
	free(hca->eth);
	hca->eth = NULL;
}

/**
 * eth_left() - tell which objects there are
 * @left: gets them
 */
void eth_left(struct hca *hca, struct left *left)
{
	struct eth *eth = hca->eth;

	left_add(left, "RQs", &eth->rx.rqs);
	left_add(left, "RQTs", &eth->rx.rqts);
	left_add(left, "TIRs", &eth->rx.tirs);
	left_add(left, "flow tables", &eth->flows.tables);
	left_add(left, "flow groups", &eth->flows.groups);
	left_add(left, "flow counters", &eth->flows.counters);
	left_add(left, "changes of headers", &eth->flows.headers);
	left_add(left, "tunnels", &eth->flows.reformats);
}

static void add_count(struct json_object *alive, const char *name,
		      const struct idtable *t)
{
	json_add_number(alive, name, t->count);
}

/**
 * eth_dump() - tell the control socket what there is
 * @alive: gets the number of each kind
 */
void eth_dump(struct hca *hca, struct json_object *alive)
{
	if (hca->link != LINK_ETH)
		return;
	add_count(alive, "rq", &hca->eth->rx.rqs);
	add_count(alive, "rqt", &hca->eth->rx.rqts);
	add_count(alive, "tir", &hca->eth->rx.tirs);
	add_count(alive, "flow_table", &hca->eth->flows.tables);
	add_count(alive, "flow_group", &hca->eth->flows.groups);
	add_count(alive, "flow_counter", &hca->eth->flows.counters);
	add_count(alive, "modify_header", &hca->eth->flows.headers);
	add_count(alive, "packet_reformat", &hca->eth->flows.reformats);
	json_add_number(alive, "flow", hca->eth->flows.entries);
}
