// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The cable of a port: plugged in or not.
 */
#include "fabric/fabric.h"
#include "fabric/lag.h"
#include "fabric/line.h"
#include "fw/eq.h"
#include "object/objects.h"

/* EQE sub types of a port change: linux/mlx5/device.h */
enum { CHANGE_DOWN = 1, CHANGE_ACTIVE = 4 };

/**
 * cable_kick() - let QPs send again that waited for this port, or may use another now
 */
void cable_kick(struct hca *hca)
{
	struct hca *other = lag_beside(hca);

	objects_kick(hca);
	if (other && other->lag->active)
		objects_kick(other);
}

/**
 * cable_changed() - tell the driver that the link went up or down
 *
 * QPs that wait for an answer send again if the link came up.
 */
void cable_changed(struct hca *hca)
{
	uint8_t data[IFC_FLD_SZ(eqe, event_data)] = { 0 };
	bool up = port_link_up(hca);

	log_line("hca%u: port %s", hca->index, up ? "up" : "down");
	IFC_SET(port_state_change_event, data, port_num, 1);
	eq_post_async(hca, MLX5_EVENT_TYPE_CODING_PORT_STATE_CHANGE,
		      up ? CHANGE_ACTIVE : CHANGE_DOWN, data);
	if (!up)
		line_cut(hca->line);
	if (port_active(hca))
		cable_kick(hca);
}

/**
 * cable_set() - plug or unplug the cable
 * @up: what it shall be
 *
 * Return: 0
 */
int cable_set(struct hca *hca, bool up)
{
	bool before = port_link_up(hca);

	hca->port->up = up;
	if (port_link_up(hca) != before)
		cable_changed(hca);
	return 0;
}
