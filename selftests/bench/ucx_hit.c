// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ucx_hit - guest instructions of a ucp_put_nbx() that finds its registration kept
 *
 * Prints "ucx_hit V ... V": INSTR_SAMPLES times the calls of a burst, by their
 * number. What completes a burst is not in them.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "instr.h"
#include "ucx_link.h"

#define LEN	4096ul
#define BURST	16

static struct ucx_link sender;
static char *addr;
static uint64_t samples[INSTR_SAMPLES];

static uint64_t burst(void)
{
	uint64_t before, spent = 0;
	int i;

	for (i = 0; i < BURST; i++) {
		before = instr_now();
		ucx_link_start_put(&sender, addr, LEN);
		spent += instr_now() - before;
	}
	ucx_link_flush(&sender);
	return spent;
}

int main(void)
{
	int i;

	ucx_link_init(UCP_FEATURE_RMA, false);
	ucx_link_open(&sender, LEN);
	addr = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (addr == MAP_FAILED)
		return 1;
	memset(addr, 1, LEN);
	burst();
	for (i = 0; i < INSTR_SAMPLES; i++)
		samples[i] = burst();
	instr_print("ucx_hit", samples, 0, BURST);
	munmap(addr, LEN);
	ucx_link_close(&sender);
	ucx_link_cleanup();
	return 0;
}
