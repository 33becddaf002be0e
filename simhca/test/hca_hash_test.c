// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// runs on: host, tier: full
/*
 * The hash by which a TIR chooses a queue. The values of the Toeplitz hash are those that
 * Microsoft gives with the key for whoever verifies an implementation ("Verifying the RSS
 * hash calculation").
 */
#include <string.h>

#include "eth/hash.h"
#include "test/unit/ktap.h"

enum { SRC_IP = 1, DST_IP = 2, L4_SPORT = 4, L4_DPORT = 8 };
enum { NONE, XOR8, TOEPLITZ, RESERVED };
#define ADDRS (SRC_IP | DST_IP)
#define PORTS (L4_SPORT | L4_DPORT)
#define ALL (ADDRS | PORTS)
#define OF_IPV4 (1 << 2)
#define OF_IPV6 (2 << 2)
#define OF_TCP (1 << 6)
#define OF_UDP (2 << 6)

static const uint8_t key[] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

/* Two ends of a connection, and the hash of the addresses, and with TCP's ports. */
struct vector {
	uint8_t addrs[32];
	uint16_t sport;
	uint16_t dport;
	uint32_t of_addrs;
	uint32_t of_all;
};

static const struct vector ipv4[] = {
	{ { 66, 9, 149, 187, 161, 142, 100, 80 }, 2794, 1766, 0x323e8fc2, 0x51ccc178 },
	{ { 199, 92, 111, 2, 65, 69, 140, 83 }, 14230, 4739, 0xd718262a, 0xc626b0ea },
	{ { 24, 19, 198, 95, 12, 22, 207, 184 }, 12898, 38024, 0xd2d0a5de, 0x5c2b394a },
};

static const struct vector ipv6[] = {
	{ { 0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x1f, 0xff, [15] = 7,
	    0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x00, 0x03, [31] = 1 },
	  2794, 1766, 0x2cc18cd5, 0x40207d3d },
};

#define HEADERS 80u
static uint8_t bytes[HEADERS], ctx[IFC_SZ(tirc)];

static void tir(uint32_t function, bool is_ipv6, bool udp, uint32_t which)
{
	memset(ctx, 0, sizeof(ctx));
	IFC_SET(tirc, ctx, rx_hash_fn, function);
	IFC_SET(tirc, ctx, rx_hash_field_selector_outer.l3_prot_type, is_ipv6);
	IFC_SET(tirc, ctx, rx_hash_field_selector_outer.l4_prot_type, udp);
	IFC_SET(tirc, ctx, rx_hash_field_selector_outer.selected_fields, which);
	memcpy(IFC_ADDR_OF(tirc, ctx, rx_hash_toeplitz_key), key, sizeof(key));
}

/* A frame of TCP or UDP with these ends. */
static struct frame frame(bool is_ipv6, uint8_t proto, const uint8_t *addrs,
			  uint16_t sport, uint16_t dport)
{
	size_t ip = ETH_HEAD, l4 = ip + (is_ipv6 ? 40 : 20);
	struct frame f;

	memset(bytes, 0, sizeof(bytes));
	be16_put(bytes + 12, is_ipv6 ? TYPE_IPV6 : TYPE_IPV4);
	if (is_ipv6) {
		bytes[ip] = 0x60;
		be16_put(bytes + ip + 4, 20);
		bytes[ip + 6] = proto;
		memcpy(bytes + ip + 8, addrs, 32);
	} else {
		bytes[ip] = 0x45;
		be16_put(bytes + ip + 2, 40);
		bytes[ip + 9] = proto;
		memcpy(bytes + ip + 12, addrs, 8);
	}
	be16_put(bytes + l4, sport);
	be16_put(bytes + l4 + 2, dport);
	if (proto == IP_UDP)
		be16_put(bytes + l4 + 4, 20);
	else
		bytes[l4 + 12] = 0x50;
	frame_parse(&f, bytes, l4 + 20);
	return f;
}

static void is(const struct frame *f, uint32_t value, uint8_t type)
{
	struct hash got = frame_hash(ctx, f);

	CHECK_EQ(got.value, value);
	CHECK_EQ(got.type, type);
}

static void verify(const struct vector *v, bool is_ipv6)
{
	struct frame f = frame(is_ipv6, IP_TCP, v->addrs, v->sport, v->dport);
	uint8_t of_ip = is_ipv6 ? OF_IPV6 : OF_IPV4;

	tir(TOEPLITZ, is_ipv6, false, ADDRS);
	is(&f, v->of_addrs, of_ip);
	tir(TOEPLITZ, is_ipv6, false, ALL);
	is(&f, v->of_all, of_ip | OF_TCP);
	tir(TOEPLITZ, is_ipv6, true, ALL);
	is(&f, v->of_addrs, of_ip);
	f = frame(is_ipv6, IP_UDP, v->addrs, v->sport, v->dport);
	is(&f, v->of_all, of_ip | OF_UDP);
}

static void toeplitz_of_ipv4(void)
{
	size_t i;

	for (i = 0; i < sizeof(ipv4) / sizeof(*ipv4); i++)
		verify(&ipv4[i], false);
}

static void toeplitz_of_ipv6(void)
{
	verify(&ipv6[0], true);
}

static void one_field(void)
{
	const struct vector *v = &ipv4[0];
	struct frame f = frame(false, IP_TCP, v->addrs, v->sport, v->dport);

	tir(XOR8, false, false, SRC_IP);
	is(&f, 66 ^ 9 ^ 149 ^ 187, OF_IPV4);
	tir(XOR8, false, false, DST_IP);
	is(&f, 161 ^ 142 ^ 100 ^ 80, OF_IPV4);
	tir(XOR8, false, false, L4_SPORT);
	is(&f, 2794 >> 8 ^ (2794 & 0xff), OF_TCP);
	tir(XOR8, false, false, L4_DPORT);
	is(&f, 1766 >> 8 ^ (1766 & 0xff), OF_TCP);
}

static void xor8_of_all(void)
{
	const struct vector *v = &ipv6[0];
	struct frame f = frame(true, IP_TCP, v->addrs, v->sport, v->dport);
	uint8_t value = v->sport >> 8 ^ v->sport ^ v->dport >> 8 ^ v->dport;
	size_t i;

	for (i = 0; i < sizeof(v->addrs); i++)
		value ^= v->addrs[i];
	tir(XOR8, true, false, ALL);
	is(&f, value, OF_IPV6 | OF_TCP);
}

static void both_ways(void)
{
	const struct vector *v = &ipv4[0];
	uint8_t back[8];
	struct frame f = frame(false, IP_TCP, v->addrs, v->sport, v->dport);
	struct hash there, here;

	memcpy(back, v->addrs + 4, 4);
	memcpy(back + 4, v->addrs, 4);
	tir(TOEPLITZ, false, false, ALL);
	there = frame_hash(ctx, &f);
	f = frame(false, IP_TCP, back, v->dport, v->sport);
	here = frame_hash(ctx, &f);
	CHECK(here.value != there.value);
	IFC_SET(tirc, ctx, rx_hash_symmetric, 1);
	here = frame_hash(ctx, &f);
	f = frame(false, IP_TCP, v->addrs, v->sport, v->dport);
	there = frame_hash(ctx, &f);
	CHECK(here.value == there.value);
	CHECK(here.value != 0);
}

static void not_hashed(void)
{
	const struct vector *v = &ipv4[0];
	struct frame f = frame(false, IP_TCP, v->addrs, v->sport, v->dport);

	tir(NONE, false, false, ALL);
	is(&f, 0, 0);
	tir(RESERVED, false, false, ALL);
	is(&f, 0, 0);
	tir(TOEPLITZ, true, false, ALL);
	is(&f, 0, 0);
	tir(TOEPLITZ, false, true, PORTS);
	is(&f, 0, 0);
	be16_put(bytes + 12, TYPE_ETH);
	frame_parse(&f, bytes, sizeof(bytes));
	tir(TOEPLITZ, false, false, ALL);
	is(&f, 0, 0);
}

static void fragment(void)
{
	const struct vector *v = &ipv4[0];
	struct frame f = frame(false, IP_TCP, v->addrs, v->sport, v->dport);

	be16_put(bytes + ETH_HEAD + 6, 0x2000);
	frame_parse(&f, bytes, f.len);
	tir(TOEPLITZ, false, false, ALL);
	is(&f, v->of_addrs, OF_IPV4);
}

static const struct ktap_test tests[] = {
	{ "toeplitz_of_ipv4", toeplitz_of_ipv4 },
	{ "toeplitz_of_ipv6", toeplitz_of_ipv6 },
	{ "one_field", one_field },
	{ "xor8_of_all", xor8_of_all },
	{ "both_ways", both_ways },
	{ "not_hashed", not_hashed },
	{ "fragment", fragment },
};

int main(void)
{
	return ktap_main(tests, sizeof(tests) / sizeof(*tests), NULL, NULL);
}
