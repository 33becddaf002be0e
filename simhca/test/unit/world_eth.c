// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An adapter whose link is Ethernet, with queues and tables that receive. See world.h.
 */
#include <stdlib.h>

#include "eth/eth.h"
#include "test/unit/world.h"

/**
 * w_eth_setup() - two adapters, of which the first one has an Ethernet link
 */
void w_eth_setup(void)
{
	struct hca *hca = &w_hca[0];

	w_setup();
	hca->link = LINK_ETH;
	hca->eth = calloc(1, sizeof(*hca->eth));
	if (!hca->eth)
		abort();
	rx_init(&hca->eth->rx);
	flows_init(&hca->eth->flows);
}

/**
 * w_eth_teardown() - free what a test has made since w_eth_setup()
 */
void w_eth_teardown(void)
{
	struct eth *eth = w_hca[0].eth;

	flows_reset(&eth->flows);
	rx_reset(&eth->rx);
	free(eth);
	w_teardown();
}
