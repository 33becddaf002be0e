// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ucx_hit - guest instructions of a ucp_put_nbx() and of a ucp_tag_send_nbx() that
 * find their registration kept
 *
 * Prints "put V ... V" and "send V ... V": INSTR_SAMPLES times the calls of a burst, by
 * their number. What completes a burst is not in them.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "instr.h"
#include "ucx_link.h"

#define LEN	4096ul
#define BURST	16

static struct ucx_link link;
static char *addr, received[LEN];
static uint64_t samples[INSTR_SAMPLES];

static uint64_t puts_of_a_burst(void)
{
	uint64_t before, spent = 0;
	int i;

	for (i = 0; i < BURST; i++) {
		before = instr_now();
		ucx_link_start_put(&link, addr, LEN);
		spent += instr_now() - before;
	}
	ucx_link_flush(&link);
	return spent;
}

static uint64_t sends_of_a_burst(void)
{
	uint64_t before, spent = 0;
	int i;

	for (i = 0; i < BURST; i++) {
		before = instr_now();
		ucx_link_start_send(&link, addr, LEN);
		spent += instr_now() - before;
	}
	for (i = 0; i < BURST; i++)
		ucx_link_receive(&link, received, LEN);
	ucx_link_flush(&link);
	return spent;
}

static void ucx_hit_measure(const char *what, uint64_t (*burst)(void))
{
	int i;

	burst();
	for (i = 0; i < INSTR_SAMPLES; i++)
		samples[i] = burst();
	instr_print(what, samples, 0, BURST);
}

int main(void)
{
	ucx_link_init(UCP_FEATURE_RMA | UCP_FEATURE_TAG, false);
	ucx_link_open(&link, LEN);
	addr = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (addr == MAP_FAILED)
		return 1;
	memset(addr, 1, LEN);
	ucx_hit_measure("put", puts_of_a_burst);
	ucx_hit_measure("send", sends_of_a_burst);
	munmap(addr, LEN);
	ucx_link_close(&link);
	ucx_link_cleanup();
	return 0;
}
