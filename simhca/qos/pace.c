// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packet pacing: a table of rates, of which a QP can name one. Its send queue then
 * executes a request when those before it have had the time that they take at this
 * rate. QPs that name the same entry share its rate.
 */
#include <errno.h>

#include "base/loop.h"
#include "fw/cmd.h"
#include "object/objects.h"
#include "qos/pace.h"

#define BITS_PER_BYTE 8u
#define BITS_PER_KBIT 1000u

static struct pace *entry(struct hca *hca, uint32_t index)
{
	return index && index < PACE_ENTRIES ? &hca->objs->paces[index] : NULL;
}

/**
 * pace_usable() - may a QP name this entry?
 * @index: 0 for none
 * @uid: DevX uid of the QP
 */
bool pace_usable(struct hca *hca, uint32_t index, uint16_t uid)
{
	const struct pace *p = entry(hca, index);

	if (!index)
		return true;
	return p && p->kbps && (uid_privileged(p->uid) || p->uid == uid);
}

/**
 * pace_wait() - how long a queue that names an entry must wait, in nanoseconds
 * @index: 0 for none
 */
uint64_t pace_wait(struct hca *hca, uint32_t index)
{
	const struct pace *p = entry(hca, index);
	uint64_t now = loop_now();

	return p && p->kbps && p->next > now ? p->next - now : 0;
}

/**
 * pace_charge() - a queue that names an entry has sent
 * @index: 0 for none
 * @bytes: of data
 */
void pace_charge(struct hca *hca, uint32_t index, uint64_t bytes)
{
	struct pace *p = entry(hca, index);
	uint64_t now = loop_now();

	if (!p || !p->kbps)
		return;
	if (p->next < now)
		p->next = now;
	p->next += bytes * BITS_PER_BYTE * (NSEC_PER_SEC / BITS_PER_KBIT) /
		   p->kbps;
}

/**
 * pace_count() - how many entries have a rate
 */
unsigned int pace_count(const struct objects *objs)
{
	unsigned int i, n = 0;

	for (i = 0; i < PACE_ENTRIES; i++)
		n += objs->paces[i].kbps != 0;
	return n;
}

/* A rate of 0 frees the entry: queues that name it have no limit then. */
static uint8_t set_pp_rate_limit(struct cmd *cmd)
{
	struct pace *p = entry(cmd->hca, IFC_GET(set_pp_rate_limit_in, cmd->in,
						 rate_limit_index));
	uint32_t kbps = IFC_GET(set_pp_rate_limit_in, cmd->in, ctx.rate_limit);

	if (!p || (kbps && kbps > PACE_KBPS_MAX))
		return CMD_BAD_PARAM;
	*p = (struct pace){ .kbps = kbps, .uid = kbps ? cmd->uid : 0 };
	return CMD_OK;
}

const struct cmd_def pace_cmds[] = {
	{ MLX5_CMD_OP_SET_PP_RATE_LIMIT, "SET_PP_RATE_LIMIT",
	  IFC_SZ(set_pp_rate_limit_in), IFC_SZ(set_pp_rate_limit_out),
	  set_pp_rate_limit },
	{ 0 },
};
