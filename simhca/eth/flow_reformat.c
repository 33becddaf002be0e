// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Contexts that put a frame into a tunnel or take it out of one. Of the headers that
 * are put in front, the adapter writes the lengths and the checksum of IPv4, and sets
 * the checksum of UDP to 0.
 */
#include <stdlib.h>
#include <string.h>

#include "eth/flow.h"
#include "fw/cmd.h"
#include "fw/fw.h"

#define IP_LEN 2u
#define IPV6_LEN 4u
#define IPV6_HEAD 40u
#define UDP_LEN 4u
#define UDP_SUM 6u

/* reformat_type */
enum { L2_TO_L2_TUNNEL = 2, L3_TUNNEL_TO_L2 = 3, L2_TO_L3_TUNNEL = 4 };

struct reformat_ctx {
	struct obj obj;
	uint32_t type;
	size_t len;
	uint8_t data[FLOW_ENCAP_BYTES];
};

/**
 * reformat_ctx_leaves() - does it take frames out of a tunnel?
 */
bool reformat_ctx_leaves(const struct reformat_ctx *ctx)
{
	return ctx->type == L3_TUNNEL_TO_L2;
}

/**
 * reformat_ctx_find() - the context that an entry names
 * @side: of the entry's table: frames leave tunnels on the receiving side only
 *
 * Return: NULL where there is none for that side
 */
struct reformat_ctx *reformat_ctx_find(struct cmd *cmd, uint32_t id,
				       enum flow_side side)
{
	struct reformat_ctx *ctx = obj_find(&cmd->hca->eth->flows.reformats, id,
					    cmd->uid);

	return ctx && (side == FLOW_RX) == reformat_ctx_leaves(ctx) ?
	       ctx : NULL;
}

/**
 * reformat_ctx_obj() - what holds it
 */
struct obj *reformat_ctx_obj(struct reformat_ctx *ctx)
{
	return &ctx->obj;
}

/* The headers must be whole: Ethernet and IP, or for L3_TUNNEL_TO_L2 Ethernet. */
static bool data_valid(uint32_t type, const uint8_t *data, size_t len)
{
	struct frame f;

	if (len < ETH_HEAD || len > FLOW_ENCAP_BYTES)
		return false;
	if (type == L3_TUNNEL_TO_L2)
		return len == ETH_HEAD || len == ETH_HEAD + ETH_TAG;
	if (type != L2_TO_L2_TUNNEL && type != L2_TO_L3_TUNNEL)
		return false;
	frame_parse_head(&f, data, len);
	return f.l3 && f.above;
}

#define IN(fld) \
	IFC_GET(alloc_packet_reformat_context_in, cmd->in, \
		packet_reformat_context.fld)

static uint8_t alloc_packet_reformat_context(struct cmd *cmd)
{
	const uint8_t *data = IFC_ADDR_OF(alloc_packet_reformat_context_in,
					  cmd->in,
					  packet_reformat_context.reformat_data);
	size_t len = IN(reformat_data_size);
	struct reformat_ctx *ctx;

	if (cmd->hca->link != LINK_ETH)
		return CMD_BAD_PARAM;
	if ((size_t)(cmd->in + cmd->in_len - data) < len)
		return CMD_BAD_INP_LEN;
	if (!data_valid(IN(reformat_type), data, len))
		return CMD_BAD_PARAM;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return CMD_NO_RES;
	ctx->type = IN(reformat_type);
	ctx->len = len;
	memcpy(ctx->data, data, len);
	if (obj_add(&cmd->hca->eth->flows.reformats, &ctx->obj, cmd->uid)) {
		free(ctx);
		return CMD_LIM;
	}
	IFC_SET(alloc_packet_reformat_context_out, cmd->out, packet_reformat_id,
		ctx->obj.id);
	return CMD_OK;
}

static uint8_t dealloc_packet_reformat_context(struct cmd *cmd)
{
	uint32_t id = IFC_GET(dealloc_packet_reformat_context_in, cmd->in,
			      packet_reformat_id);

	if (cmd->hca->link != LINK_ETH)
		return CMD_BAD_PARAM;
	return obj_destroy(&cmd->hca->eth->flows.reformats, id, cmd->uid);
}

/* Write the lengths and sums of the headers in front. */
static void fix_outer(struct packet *p, size_t head_len)
{
	uint8_t *data = p->buf, *ip, *l4;
	struct frame head;
	size_t len;

	frame_parse_head(&head, data, head_len);
	ip = data + head.l3;
	len = p->f.len - head.l3;
	if (head.ipv6)
		be16_put(ip + IPV6_LEN, (uint16_t)(len - IPV6_HEAD));
	else
		be16_put(ip + IP_LEN, (uint16_t)len);
	if (head.l4 && head.proto == IP_UDP) {
		l4 = data + head.l4;
		be16_put(l4 + UDP_LEN, (uint16_t)(p->f.len - head.l4));
		be16_put(l4 + UDP_SUM, 0);
	}
	frame_put_sums(&head, data, true, false);
}

static bool encap(struct packet *p, const struct reformat_ctx *ctx)
{
	size_t skip = 0;

	if (ctx->type == L2_TO_L3_TUNNEL) {
		if (!p->f.l3)
			return false;
		skip = p->f.l3;
	}
	if (!packet_replace(p, skip, ctx->data, ctx->len))
		return false;
	fix_outer(p, ctx->len);
	packet_parse(p);
	return true;
}

/* What a tunnel carries ends where the outer IP packet ends. */
static bool leave_tunnel(struct packet *p, bool bare, const uint8_t *head,
			 size_t head_len)
{
	struct tunnel t;

	tunnel_find(&t, &p->f);
	if (!t.inner.data || t.inner.bare != bare)
		return false;
	p->f.len = p->f.l3_end;
	return packet_replace(p, t.inner.at, head, head_len);
}

/**
 * packet_decap() - take a frame out of its tunnel
 * @p: made by packet_copy()
 *
 * Return: false where there is no tunnel with a frame, so that the frame is lost
 */
bool packet_decap(struct packet *p)
{
	return leave_tunnel(p, false, NULL, 0);
}

/**
 * reformat_ctx_apply() - add or remove headers
 * @p: made by packet_copy()
 *
 * Return: false where the frame cannot be changed so, and is lost
 */
bool reformat_ctx_apply(const struct reformat_ctx *ctx, struct packet *p)
{
	if (reformat_ctx_leaves(ctx))
		return leave_tunnel(p, true, ctx->data, ctx->len);
	return encap(p, ctx);
}

#define CMD(op, fn) \
	{ MLX5_CMD_OP_##op, #op, IFC_SZ(fn##_in), IFC_SZ(fn##_out), fn }

const struct cmd_def flow_reformat_cmds[] = {
	CMD(ALLOC_PACKET_REFORMAT_CONTEXT, alloc_packet_reformat_context),
	CMD(DEALLOC_PACKET_REFORMAT_CONTEXT, dealloc_packet_reformat_context),
	{ 0 },
};
