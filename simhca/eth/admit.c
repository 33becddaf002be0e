// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which messages of QPs an adapter lets in. The driver of an e-switch makes tables for
 * that: what comes from the cable is for the representors then, and they have no QPs
 * that connect.
 */
#include "eth/flow.h"

static bool table_admits(const struct flow_table *t, const uint8_t *headers)
{
	const struct fte *fte;

	for (fte = t->entries; fte; fte = fte->next)
		if (match(headers, fte->group->mask, fte->value))
			return true;
	return false;
}

/**
 * flows_admit() - do the tables let a message in?
 * @own: the adapter itself has sent it, so that it does not come from the cable
 *
 * An entry of such a table has no other action than to let in. Levels rise from table
 * to table, so this ends.
 */
bool flows_admit(const struct hca *hca, bool own)
{
	const struct match_source source = {
		.vport = own ? VPORT_MANAGER : VPORT_UPLINK,
	};
	const struct flows *flows = &hca->eth->flows;
	uint8_t headers[MATCH_BYTES] = { 0 };
	const struct flow_table *t;
	uint32_t level = 0;

	match_source(&source, headers);
	t = idtable_get(&flows->tables, flows->root[FLOW_RDMA]);
	while (t && t->side == FLOW_RDMA && t->level >= level) {
		if (table_admits(t, headers))
			return true;
		if (t->miss_is_frame)
			return false;
		level = t->level + 1;
		t = idtable_get(&flows->tables, t->miss);
	}
	return true;
}
