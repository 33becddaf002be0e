// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The e-switch of an adapter. It has two ports: the uplink, which is the cable, and
 * the function that manages the e-switch, which is the adapter's own.
 *
 * Without a first table (legacy mode, where no VF exists) frames go straight from one
 * port to the other. With one (switchdev mode) its entries say where each frame goes,
 * and a frame that no entry takes is lost.
 */
#include "base/json.h"
#include "eth/pass.h"
#include "eth/switch.h"

/**
 * switch_on() - do the tables of the e-switch say where frames go?
 */
bool switch_on(const struct hca *hca)
{
	return hca->eth->flows.root[FLOW_FDB];
}

/* The frame keeps its source, which the tables of the receiving side compare. */
static void to_manager(struct hca *hca, const struct packet *p)
{
	struct packet in;

	hca->eth->switched.manager++;
	packet_init(&in, p->f.data, p->f.len, p->td);
	packet_source(&in, p->source.vport, p->source.sqn);
	pass_receive(hca, &in);
}

static void from_cable(struct hca *hca, const struct packet *p, uint16_t vport)
{
	/* A frame does not go back to the cable. */
	if (vport == VPORT_MANAGER)
		to_manager(hca, p);
}

/**
 * switch_receive() - a frame comes from the cable
 */
void switch_receive(struct hca *hca, const struct packet *p)
{
	if (switch_on(hca))
		pass_switch(hca, p, from_cable);
	else
		pass_receive(hca, p);
}

/**
 * switch_out() - a port of the e-switch gets a frame of the adapter's own
 *
 * Return: true if the frame goes to the cable, which is the caller's then
 */
bool switch_out(struct hca *hca, const struct packet *p, uint16_t vport)
{
	if (vport == VPORT_MANAGER) {
		to_manager(hca, p);
		return false;
	}
	hca->eth->switched.uplink++;
	return true;
}

/**
 * switch_dump() - tell the control socket about the e-switch
 * @to: gets it; nothing where the adapter has none
 */
void switch_dump(const struct hca *hca, struct json_object *to)
{
	const struct flows *flows = &hca->eth->flows;
	const struct flow_table *t;
	struct json_object *o;
	uint32_t id, tables = 0;

	if (!hca->eswitch)
		return;
	idtable_for_each(&flows->tables, id, t)
		tables += t->side == FLOW_FDB;
	o = json_object_new_object();
	json_object_object_add(o, "on", json_object_new_boolean(switch_on(hca)));
	json_add_number(o, "tables", tables);
	json_add_number(o, "uplink", hca->eth->switched.uplink);
	json_add_number(o, "manager", hca->eth->switched.manager);
	json_object_object_add(to, "eswitch", o);
}
