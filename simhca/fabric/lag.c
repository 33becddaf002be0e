// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See lag.h; the commands are in lag_cmd.c. A QP has an affinity, 1 or 2, and the
 * context of the aggregation says by which port packets of that affinity leave. The
 * driver changes it when a port goes down. Messages to the joined QPs arrive by either
 * port that is up.
 *
 * Frames leave by the port of their TIS's affinity in the same way, and by the function's
 * own port where it has none. They arrive by that port, joined or not: the bonding driver
 * chooses the netdev. The function that has joined both has the affinity alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include "fabric/lag.h"

/**
 * lag_init() - make the state: not joined
 *
 * Return: 0 or -ENOMEM
 */
int lag_init(struct hca *hca)
{
	hca->lag = calloc(1, sizeof(*hca->lag));
	return hca->lag ? 0 : -ENOMEM;
}

/**
 * lag_fini() - free the state
 */
void lag_fini(struct hca *hca)
{
	free(hca->lag);
	hca->lag = NULL;
}

/**
 * lag_reset() - forget what a driver set
 */
void lag_reset(struct hca *hca)
{
	memset(hca->lag, 0, sizeof(*hca->lag));
}

/**
 * lag_beside() - the other function of the card, NULL where there is none
 */
struct hca *lag_beside(const struct hca *hca)
{
	return hca->native_port ? fabric_hca(hca->index ^ 1) : NULL;
}

/**
 * lag_port() - the function whose port frames leave by
 * @hca: the function that sends them
 * @affinity: lag_tx_port_affinity of the TIS; 0: its own port
 */
struct hca *lag_port(struct hca *hca, uint32_t affinity)
{
	uint32_t port;

	if (!hca->lag->active || !affinity)
		return hca;
	port = affinity == 2 ?
		       IFC_GET(lagc, hca->lag->ctx, tx_remap_affinity_2) :
		       IFC_GET(lagc, hca->lag->ctx, tx_remap_affinity_1);
	return port == hca->native_port ? hca : lag_beside(hca);
}

/**
 * lag_sends() - is the port up by which a QP sends?
 * @affinity: lag_tx_port_affinity of the QP, 0: the adapter chooses
 */
bool lag_sends(struct hca *hca, uint32_t affinity)
{
	return !hca->fatal && port_active(lag_port(hca, affinity ? affinity : 1));
}

/**
 * lag_receives() - is a port up by which messages arrive for the adapter's QPs?
 */
bool lag_receives(struct hca *hca)
{
	return !hca->fatal &&
	       (port_active(hca) ||
		(hca->lag->active && port_active(lag_beside(hca))));
}

/**
 * lag_dump() - tell about the aggregation
 * @o: gets "lag": the port of each affinity, where there is one
 */
void lag_dump(struct hca *hca, struct json_object *o)
{
	const uint8_t *ctx = hca->lag->ctx;
	struct json_object *ports;

	if (!hca->lag->active)
		return;
	ports = json_object_new_array();
	json_object_array_add(ports, json_object_new_int(
			IFC_GET(lagc, ctx, tx_remap_affinity_1)));
	json_object_array_add(ports, json_object_new_int(
			IFC_GET(lagc, ctx, tx_remap_affinity_2)));
	json_object_object_add(o, "lag", ports);
}
