// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Capabilities of on-demand paging: which operations may meet a page that is not
 * present, and in which form a driver is told.
 *
 * Invariants
 * - Every adapter has the transport scheme. Those with an Ethernet port also have the
 *   memory scheme, which a driver may choose while it starts.
 * - Both schemes serve the same operations.
 */
#include <string.h>

#include "fw/caps_odp.h"

/* The five sets of one scheme stand in a row, in the order of enum odp_service. */
#define SET_BITS 32u

static size_t scheme_off(bool memory)
{
	return memory ? IFC_BIT_OFF(odp_cap, memory_page_fault_scheme_cap) :
			IFC_BIT_OFF(odp_cap, transport_page_fault_scheme_cap);
}

static size_t set_off(bool memory, enum odp_service service)
{
	return scheme_off(memory) + IFC_BIT_OFF(odp_scheme_cap, rc_odp_caps) +
	       service * SET_BITS;
}

/* An operation is a bit, counted from the most significant one. */
static uint32_t op_bit(enum odp_op op)
{
	return 1u << (SET_BITS - 1 - op);
}

static void fill_max(const struct hca *hca, uint8_t *cap)
{
	uint32_t both = op_bit(ODP_SEND) | op_bit(ODP_SRQ_RECEIVE) |
			op_bit(ODP_WRITE) | op_bit(ODP_READ) |
			op_bit(ODP_ATOMIC);
	unsigned int schemes = hca->link == LINK_ETH ? 2 : 1, memory;

	memset(cap, 0, IFC_SZ(odp_cap));
	for (memory = 0; memory < schemes; memory++) {
		ifc_set32(cap, set_off(memory, ODP_RC), SET_BITS,
			  both | op_bit(ODP_RECEIVE));
		ifc_set32(cap, set_off(memory, ODP_UD), SET_BITS,
			  op_bit(ODP_SEND));
		ifc_set32(cap, set_off(memory, ODP_XRC), SET_BITS, both);
		ifc_set32(cap, set_off(memory, ODP_DC), SET_BITS, both);
	}
	IFC_SET(odp_cap, cap, memory_page_fault_scheme_cap.page_prefetch,
		schemes > 1);
	IFC_SET(odp_cap, cap, mem_page_fault, schemes > 1);
}

/**
 * caps_odp_reset() - forget what a driver chose
 */
void caps_odp_reset(struct hca *hca)
{
	fill_max(hca, hca->odp_cap);
	IFC_SET(odp_cap, hca->odp_cap, mem_page_fault, 0);
}

/**
 * caps_odp_get() - answer a query
 * @current: what is in force, else what the adapter has
 * @to: set; room for the layout
 */
void caps_odp_get(const struct hca *hca, bool current, uint8_t *to)
{
	if (current)
		memcpy(to, hca->odp_cap, sizeof(hca->odp_cap));
	else
		fill_max(hca, to);
}

/**
 * caps_odp_set() - what a driver chooses
 * @cap: the layout, as it shall be in force
 *
 * Return: CMD_OK; CMD_BAD_PARAM if it has what the adapter has not
 */
uint8_t caps_odp_set(struct hca *hca, const uint8_t *cap)
{
	uint8_t max[sizeof(hca->odp_cap)];
	size_t i;

	fill_max(hca, max);
	for (i = 0; i < sizeof(max); i++)
		if (cap[i] & ~max[i])
			return CMD_BAD_PARAM;
	memcpy(hca->odp_cap, cap, sizeof(hca->odp_cap));
	return CMD_OK;
}

/**
 * odp_memory_scheme() - is a driver told of pages, and not of work requests?
 */
bool odp_memory_scheme(const struct hca *hca)
{
	return IFC_GET(odp_cap, hca->odp_cap, mem_page_fault);
}

/**
 * odp_serves() - may an operation meet pages that are not present?
 */
bool odp_serves(const struct hca *hca, enum odp_service service,
		enum odp_op op)
{
	return ifc_get32(hca->odp_cap,
			 set_off(odp_memory_scheme(hca), service),
			 SET_BITS) & op_bit(op);
}
