// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Pages that the driver gives to the firmware. The model does not use them. It
 * remembers them, because a driver must get back exactly the pages it gave.
 *
 * Invariants
 * - The firmware holds a page once. The page is page aligned guest memory.
 */
#include <errno.h>
#include <stdlib.h>

#include "bus/dma.h"
#include "fw/cmd.h"
#include "fw/fw.h"

#define PAGES_BOOT 16
#define PAGES_INIT 32
#define PAGES_MAX 65536u

/* op_mod of QUERY_PAGES and MANAGE_PAGES: linux/mlx5 pagealloc.c */
enum { QUERY_BOOT = 1, QUERY_INIT = 2, QUERY_REGULAR = 3 };
enum { MANAGE_CANT_GIVE = 0, MANAGE_GIVE = 1, MANAGE_TAKE = 2 };

struct pages {
	uint64_t *pas;
	size_t count;
	size_t room;
};

/**
 * pages_init() - make the empty list
 *
 * Return: 0 or -ENOMEM
 */
int pages_init(struct hca *hca)
{
	hca->pages = calloc(1, sizeof(*hca->pages));
	return hca->pages ? 0 : -ENOMEM;
}

/**
 * pages_fini() - free the list
 */
void pages_fini(struct hca *hca)
{
	if (hca->pages)
		free(hca->pages->pas);
	free(hca->pages);
	hca->pages = NULL;
}

/**
 * pages_reset() - forget the pages
 */
void pages_reset(struct hca *hca)
{
	hca->pages->count = 0;
}

/**
 * pages_held() - how many pages the firmware has
 *
 * Return: their number
 */
size_t pages_held(struct hca *hca)
{
	return hca->pages->count;
}

static uint8_t query_pages(struct cmd *cmd)
{
	int32_t n;

	switch (cmd->op_mod) {
	case QUERY_BOOT:
		n = PAGES_BOOT;
		break;
	case QUERY_INIT:
		n = PAGES_INIT;
		break;
	case QUERY_REGULAR:
		n = 0;
		break;
	default:
		return CMD_BAD_PARAM;
	}
	IFC_SET(query_pages_out, cmd->out, num_pages, (uint32_t)n);
	return CMD_OK;
}

static bool page_held(const struct pages *pages, uint64_t pa)
{
	size_t i;

	for (i = 0; i < pages->count; i++)
		if (pages->pas[i] == pa)
			return true;
	return false;
}

static uint8_t give(struct cmd *cmd, uint32_t n)
{
	struct pages *pages = cmd->hca->pages;
	size_t before = pages->count, i;
	uint64_t *pas, pa;

	if (n > PAGES_MAX - pages->count)
		return CMD_LIM;
	if (cmd->in_len - IFC_SZ(manage_pages_in) < n * sizeof(pa))
		return CMD_BAD_INP_LEN;
	if (pages->count + n > pages->room) {
		pas = realloc(pages->pas, (pages->count + n) * sizeof(*pas));
		if (!pas)
			return CMD_NO_RES;
		pages->pas = pas;
		pages->room = pages->count + n;
	}
	for (i = 0; i < n; i++) {
		pa = IFC_GET64(manage_pages_in, cmd->in, pas[i]);
		if (pa % SIM_PAGE || page_held(pages, pa) ||
		    !dma_ptr(cmd->hca, pa, SIM_PAGE, true)) {
			hca_error(cmd->hca, SIM_ERR_PAGES,
				  "cannot take page 0x%llx",
				  (unsigned long long)pa);
			pages->count = before;
			return CMD_BAD_PARAM;
		}
		pages->pas[pages->count++] = pa;
	}
	return CMD_OK;
}

static uint8_t take(struct cmd *cmd, uint32_t n)
{
	struct pages *pages = cmd->hca->pages;
	size_t room, i;

	room = (cmd->out_len - IFC_SZ(manage_pages_out)) / sizeof(uint64_t);
	if (n > room)
		n = (uint32_t)room;
	if (n > pages->count)
		n = (uint32_t)pages->count;
	for (i = 0; i < n; i++)
		IFC_SET64(manage_pages_out, cmd->out, pas[i],
			  pages->pas[--pages->count]);
	IFC_SET(manage_pages_out, cmd->out, output_num_entries, n);
	return CMD_OK;
}

static uint8_t manage_pages(struct cmd *cmd)
{
	uint32_t n = IFC_GET(manage_pages_in, cmd->in, input_num_entries);

	switch (cmd->op_mod) {
	case MANAGE_CANT_GIVE:
		return CMD_OK;
	case MANAGE_GIVE:
		return give(cmd, n);
	case MANAGE_TAKE:
		return take(cmd, n);
	default:
		return CMD_BAD_PARAM;
	}
}

const struct cmd_def page_cmds[] = {
	{ MLX5_CMD_OP_QUERY_PAGES, "QUERY_PAGES", IFC_SZ(query_pages_in),
	  IFC_SZ(query_pages_out), query_pages },
	{ MLX5_CMD_OP_MANAGE_PAGES, "MANAGE_PAGES", IFC_SZ(manage_pages_in),
	  IFC_SZ(manage_pages_out), manage_pages },
	{ 0 },
};
