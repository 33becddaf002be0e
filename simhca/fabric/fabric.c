// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The subnet that all adapters of the process are on. Its manager is the model
 * itself.
 */
#include <stddef.h>
#include <string.h>

#include "fabric/fabric.h"

static struct hca *hcas[FABRIC_MAX];
static unsigned int nhcas;

/**
 * fabric_add() - put an adapter on the subnet
 * @hca: the adapter; its index is the number of those before it
 */
void fabric_add(struct hca *hca)
{
	hcas[nhcas++] = hca;
}

/**
 * fabric_remove() - take the adapter that was added last off the subnet
 */
void fabric_remove(struct hca *hca)
{
	if (nhcas && hcas[nhcas - 1] == hca)
		hcas[--nhcas] = NULL;
}

/**
 * fabric_hcas() - how many adapters there are
 */
unsigned int fabric_hcas(void)
{
	return nhcas;
}

/**
 * fabric_hca() - an adapter by its number, NULL where there is none
 */
struct hca *fabric_hca(unsigned int i)
{
	return i < FABRIC_MAX ? hcas[i] : NULL;
}

/**
 * fabric_by_lid() - an adapter by its LID, NULL where nobody has it
 */
struct hca *fabric_by_lid(uint16_t lid)
{
	unsigned int i;

	for (i = 0; i < nhcas; i++)
		if (port_lid(hcas[i]) == lid)
			return hcas[i];
	return NULL;
}

/**
 * fabric_by_gid() - an adapter by its GID, NULL where nobody has it
 */
struct hca *fabric_by_gid(const uint8_t gid[16])
{
	unsigned int i;

	for (i = 0; i < nhcas; i++)
		if (!memcmp(port_gid(hcas[i]), gid, 16))
			return hcas[i];
	return NULL;
}

/**
 * fabric_sm_lid() - the LID of the subnet manager
 */
uint16_t fabric_sm_lid(void)
{
	return port_lid(fabric_hca(SM_HCA));
}
