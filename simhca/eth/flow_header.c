// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Contexts that change headers of a frame: each is a list of actions, which set a
 * field, add to it, or copy another one to it. Checksums that were right before are
 * right afterwards. An action on a header that the frame does not have does nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "eth/flow.h"
#include "fw/cmd.h"
#include "fw/fw.h"

#define SUM_CORRECT 0xffff

enum { TABLE_NIC_RX, TABLE_NIC_TX };
enum { SET = 1, ADD = 2, COPY = 3 };	/* action_type */

/* Where the offset of a field begins. */
enum base {
	AT_ETH, AT_TYPE, AT_TAG, AT_IP, AT_IPV4, AT_IPV6, AT_TCP, AT_UDP, AT_REG,
};

/**
 * struct field - a field that actions can change
 * @id: MLX5_ACTION_IN_FIELD_*
 * @at: offset in bytes from @base; with AT_REG the number of the register
 * @bytes: length of the big-endian word that has it
 * @shift: bits below it in that word
 * @bits: width of the field, up to 32
 */
struct field {
	uint16_t id;
	uint8_t base;
	uint8_t at;
	uint8_t bytes;
	uint8_t shift;
	uint8_t bits;
};

#define FIELD(name, base, at, bytes) \
	{ MLX5_ACTION_IN_FIELD_##name, base, at, bytes, 0, 8 * (bytes) }
#define REG(n) FIELD(METADATA_REG_C_##n, AT_REG, n, 4)

static const struct field fields[] = {
	FIELD(OUT_SMAC_47_16, AT_ETH, 6, 4),
	FIELD(OUT_SMAC_15_0, AT_ETH, 10, 2),
	FIELD(OUT_ETHERTYPE, AT_TYPE, 0, 2),
	FIELD(OUT_DMAC_47_16, AT_ETH, 0, 4),
	FIELD(OUT_DMAC_15_0, AT_ETH, 4, 2),
	{ MLX5_ACTION_IN_FIELD_OUT_IP_DSCP, AT_IP, 0, 2, 0, 6 },
	{ MLX5_ACTION_IN_FIELD_OUT_TCP_FLAGS, AT_TCP, 12, 2, 0, 9 },
	FIELD(OUT_TCP_SPORT, AT_TCP, 0, 2),
	FIELD(OUT_TCP_DPORT, AT_TCP, 2, 2),
	FIELD(OUT_IP_TTL, AT_IPV4, 8, 1),
	FIELD(OUT_UDP_SPORT, AT_UDP, 0, 2),
	FIELD(OUT_UDP_DPORT, AT_UDP, 2, 2),
	FIELD(OUT_SIPV6_127_96, AT_IPV6, 8, 4),
	FIELD(OUT_SIPV6_95_64, AT_IPV6, 12, 4),
	FIELD(OUT_SIPV6_63_32, AT_IPV6, 16, 4),
	FIELD(OUT_SIPV6_31_0, AT_IPV6, 20, 4),
	FIELD(OUT_DIPV6_127_96, AT_IPV6, 24, 4),
	FIELD(OUT_DIPV6_95_64, AT_IPV6, 28, 4),
	FIELD(OUT_DIPV6_63_32, AT_IPV6, 32, 4),
	FIELD(OUT_DIPV6_31_0, AT_IPV6, 36, 4),
	FIELD(OUT_SIPV4, AT_IPV4, 12, 4),
	FIELD(OUT_DIPV4, AT_IPV4, 16, 4),
	{ MLX5_ACTION_IN_FIELD_OUT_FIRST_VID, AT_TAG, 0, 2, 0, 12 },
	FIELD(OUT_IPV6_HOPLIMIT, AT_IPV6, 7, 1),
	REG(0), REG(1), REG(2), REG(3), REG(4), REG(5), REG(6), REG(7),
	FIELD(OUT_TCP_SEQ_NUM, AT_TCP, 4, 4),
	FIELD(OUT_TCP_ACK_NUM, AT_TCP, 8, 4),
};

/**
 * struct action - one change
 * @from: of a copy
 * @data: to set or to add
 * @bits: how many are set or copied, from @to_bit and @from_bit on
 */
struct action {
	uint8_t type;
	uint8_t to_bit;
	uint8_t from_bit;
	uint8_t bits;
	const struct field *to;
	const struct field *from;
	uint32_t data;
};

struct header_ctx {
	struct obj obj;
	enum flow_side side;
	uint32_t n;
	struct action actions[FLOW_HEADER_ACTIONS];
};

/**
 * header_ctx_find() - the context that an entry names
 * @side: of the entry's table
 *
 * Return: NULL where there is none for that side
 */
struct header_ctx *header_ctx_find(struct cmd *cmd, uint32_t id,
				   enum flow_side side)
{
	struct header_ctx *ctx = obj_find(&cmd->hca->eth->flows.headers, id,
					  cmd->uid);

	return ctx && ctx->side == side ? ctx : NULL;
}

/**
 * header_ctx_obj() - what holds it
 */
struct obj *header_ctx_obj(struct header_ctx *ctx)
{
	return &ctx->obj;
}

static const struct field *field_find(uint32_t id)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].id == id)
			return &fields[i];
	return NULL;
}

/* A length of 0 stands for 32 bits. */
static uint8_t bits_of(uint32_t length)
{
	return length ? (uint8_t)length : 32;
}

static bool action_take(struct action *a, const uint8_t *in)
{
	*a = (struct action){
		.type = (uint8_t)IFC_GET(set_action_in, in, action_type),
		.data = IFC_GET(set_action_in, in, data),
	};
	switch (a->type) {
	case SET:
		a->to = field_find(IFC_GET(set_action_in, in, field));
		a->to_bit = (uint8_t)IFC_GET(set_action_in, in, offset);
		a->bits = bits_of(IFC_GET(set_action_in, in, length));
		break;
	case ADD:
		a->to = field_find(IFC_GET(add_action_in, in, field));
		a->bits = a->to ? a->to->bits : 0;
		break;
	case COPY:
		a->from = field_find(IFC_GET(copy_action_in, in, src_field));
		a->from_bit = (uint8_t)IFC_GET(copy_action_in, in, src_offset);
		a->to = field_find(IFC_GET(copy_action_in, in, dst_field));
		a->to_bit = (uint8_t)IFC_GET(copy_action_in, in, dst_offset);
		a->bits = bits_of(IFC_GET(copy_action_in, in, length));
		if (!a->from || a->from_bit + a->bits > a->from->bits)
			return false;
		break;
	default:
		return false;
	}
	return a->to && a->to_bit + a->bits <= a->to->bits;
}

static uint8_t alloc_modify_header_context(struct cmd *cmd)
{
	const uint8_t *in = IFC_ADDR_OF(alloc_modify_header_context_in, cmd->in,
					actions);
	uint32_t type = IFC_GET(alloc_modify_header_context_in, cmd->in,
				table_type);
	uint32_t n = IFC_GET(alloc_modify_header_context_in, cmd->in,
			     num_of_actions), i;
	const size_t size = IFC_UN_SZ(set_add_copy_action_in_auto);
	struct header_ctx *ctx;

	if (cmd->hca->link != LINK_ETH || !n || n > FLOW_HEADER_ACTIONS ||
	    (type != TABLE_NIC_RX && type != TABLE_NIC_TX))
		return CMD_BAD_PARAM;
	if ((size_t)(cmd->in + cmd->in_len - in) < n * size)
		return CMD_BAD_INP_LEN;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return CMD_NO_RES;
	ctx->side = type == TABLE_NIC_RX ? FLOW_RX : FLOW_TX;
	ctx->n = n;
	for (i = 0; i < n; i++) {
		if (!action_take(&ctx->actions[i], in + i * size)) {
			free(ctx);
			return CMD_BAD_PARAM;
		}
	}
	if (obj_add(&cmd->hca->eth->flows.headers, &ctx->obj, cmd->uid)) {
		free(ctx);
		return CMD_LIM;
	}
	IFC_SET(alloc_modify_header_context_out, cmd->out, modify_header_id,
		ctx->obj.id);
	return CMD_OK;
}

static uint8_t dealloc_modify_header_context(struct cmd *cmd)
{
	uint32_t id = IFC_GET(dealloc_modify_header_context_in, cmd->in,
			      modify_header_id);

	if (cmd->hca->link != LINK_ETH)
		return CMD_BAD_PARAM;
	return obj_destroy(&cmd->hca->eth->flows.headers, id, cmd->uid);
}

/* Where the word of a field is in the frame. Return: NULL: it has no such header */
static uint8_t *locate(struct packet *p, const struct field *field)
{
	const struct frame *f = &p->f;
	uint8_t *data = p->buf;

	switch ((enum base)field->base) {
	case AT_ETH:
		return data + field->at;
	case AT_TYPE:
		return f->l3 ? data + f->l3 - 2 : f->vlan ? NULL :
			data + ETH_HEAD - 2;
	case AT_TAG:
		return f->vlan ? data + ETH_HEAD : NULL;
	case AT_IP:
		return f->l3 ? data + f->l3 : NULL;
	case AT_IPV4:
		return f->l3 && !f->ipv6 ? data + f->l3 + field->at : NULL;
	case AT_IPV6:
		return f->l3 && f->ipv6 ? data + f->l3 + field->at : NULL;
	case AT_TCP:
		return f->l4 && f->proto == IP_TCP ? data + f->l4 + field->at :
			NULL;
	case AT_UDP:
		return f->l4 && f->proto == IP_UDP ? data + f->l4 + field->at :
			NULL;
	default:
		return NULL;
	}
}

/* The DSCP begins at another bit in IPv4 than in IPv6. */
static unsigned int shift_of(const struct packet *p, const struct field *field)
{
	if (field->base == AT_IP)
		return p->f.ipv6 ? 6 : 2;
	return field->shift;
}

static uint32_t field_mask(unsigned int bits)
{
	return bits < 32 ? (1u << bits) - 1 : -1u;
}

static uint32_t word_get(const uint8_t *at, unsigned int bytes)
{
	uint32_t v = 0;

	while (bytes--)
		v = v << 8 | *at++;
	return v;
}

static bool field_get(struct packet *p, const struct field *field, uint32_t *v)
{
	const uint8_t *at;

	if (field->base == AT_REG) {
		*v = p->regs[field->at];
		return true;
	}
	at = locate(p, field);
	if (!at)
		return false;
	*v = word_get(at, field->bytes) >> shift_of(p, field) &
	     field_mask(field->bits);
	return true;
}

static void field_set(struct packet *p, const struct field *field, uint32_t v)
{
	unsigned int shift = shift_of(p, field), i;
	uint32_t word;
	uint8_t *at;

	if (field->base == AT_REG) {
		p->regs[field->at] = v;
		return;
	}
	at = locate(p, field);
	word = word_get(at, field->bytes) & ~(field_mask(field->bits) << shift);
	word |= v << shift;
	for (i = field->bytes; i--; word >>= 8)
		at[i] = (uint8_t)word;
}

static void action_apply(struct packet *p, const struct action *a)
{
	uint32_t v, old, mask = field_mask(a->bits) << a->to_bit;

	if (!field_get(p, a->to, &old))
		return;
	if (a->type == ADD)
		v = old + a->data;
	else if (a->type == SET)
		v = a->data << a->to_bit;
	else if (field_get(p, a->from, &v))
		v = v >> a->from_bit << a->to_bit;
	else
		return;
	field_set(p, a->to, (old & ~mask) | (v & mask));
}

/**
 * header_ctx_apply() - change the headers of a frame
 * @p: made by packet_copy()
 */
void header_ctx_apply(const struct header_ctx *ctx, struct packet *p)
{
	bool l3 = p->f.l3 && !p->f.ipv6 && frame_l3_sum(&p->f) == SUM_CORRECT;
	bool l4 = p->f.l4 && frame_l4_sum(&p->f) == SUM_CORRECT;
	uint32_t i;

	for (i = 0; i < ctx->n; i++)
		action_apply(p, &ctx->actions[i]);
	frame_put_sums(&p->f, p->buf, l3, l4);
	packet_parse(p);
}

#define CMD(op, fn) \
	{ MLX5_CMD_OP_##op, #op, IFC_SZ(fn##_in), IFC_SZ(fn##_out), fn }

const struct cmd_def flow_header_cmds[] = {
	CMD(ALLOC_MODIFY_HEADER_CONTEXT, alloc_modify_header_context),
	CMD(DEALLOC_MODIFY_HEADER_CONTEXT, dealloc_modify_header_context),
	{ 0 },
};
