// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A frame on its way through flow tables, and changes of it. See flow.h.
 */
#include <string.h>

#include "eth/flow.h"

/**
 * packet_init() - begin the way of a frame
 * @data: stays valid as long as the packet; at least ETH_HEAD bytes
 * @len: up to PACKET_BYTES
 * @td: transport domain of the queue that sends it; 0: it is from the cable
 *
 * packet_source() says where it is from. Without that it is from no queue.
 */
void packet_init(struct packet *p, const uint8_t *data, size_t len, uint32_t td)
{
	memset(p->regs, 0, sizeof(p->regs));
	p->source = (struct match_source){ 0 };
	p->td = td;
	p->affinity = 0;
	frame_parse(&p->f, data, len);
	match_headers(&p->f, p->headers);
}

/**
 * packet_source() - say where a frame came into the adapter
 * @vport: port of the e-switch
 * @sqn: number of the queue that sent it, 0: it is from the cable
 */
void packet_source(struct packet *p, uint16_t vport, uint32_t sqn)
{
	p->source = (struct match_source){ .vport = vport, .sqn = sqn };
	match_source(&p->source, p->headers);
}

/**
 * packet_copy() - make a packet that can be changed
 */
void packet_copy(struct packet *p, const struct packet *from)
{
	memcpy(p, from, offsetof(struct packet, buf));
	memcpy(p->buf, from->f.data, from->f.len);
	p->f.data = p->buf;
}

/**
 * packet_parse() - find the headers and compare values after a change
 */
void packet_parse(struct packet *p)
{
	frame_parse(&p->f, p->buf, p->f.len);
	match_headers(&p->f, p->headers);
	match_source(&p->source, p->headers);
	match_regs(p->regs, p->headers);
}

/**
 * packet_replace() - put other bytes in front of a frame
 * @p: made by packet_copy()
 * @skip: bytes that go away, up to the length of the frame
 * @head: the new first bytes
 *
 * Return: false where the result is too short or too long for a frame
 */
bool packet_replace(struct packet *p, size_t skip, const uint8_t *head,
		    size_t head_len)
{
	size_t rest = p->f.len - skip;

	if (head_len + rest < ETH_HEAD || head_len + rest > PACKET_BYTES)
		return false;
	memmove(p->buf + head_len, p->buf + skip, rest);
	if (head_len)
		memcpy(p->buf, head, head_len);
	p->f.len = head_len + rest;
	packet_parse(p);
	return true;
}
