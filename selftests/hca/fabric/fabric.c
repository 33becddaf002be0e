// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * All adapters of the process, which are on one subnet.
 */
#include <errno.h>
#include <string.h>

#include "device.h"
#include "fabric/fabric.h"
#include "fabric/port.h"

static struct hca *hcas[FABRIC_MAX];
static unsigned int nhcas;

/**
 * fabric_init() - make the adapters
 * @n: how many
 * @dir: where their sockets go
 *
 * Return: 0, or -errno with nothing made
 */
int fabric_init(unsigned int n, const char *dir)
{
	int ret;

	if (!n || n > FABRIC_MAX)
		return -EINVAL;
	for (nhcas = 0; nhcas < n; nhcas++) {
		ret = hca_create(nhcas, dir, &hcas[nhcas]);
		if (ret) {
			fabric_fini();
			return ret;
		}
	}
	return 0;
}

/**
 * fabric_fini() - free the adapters
 */
void fabric_fini(void)
{
	/* what one does while it goes may look for the others */
	while (nhcas) {
		hca_destroy(hcas[nhcas - 1]);
		hcas[--nhcas] = NULL;
	}
	sa_fini();
}

unsigned int fabric_hcas(void)
{
	return nhcas;
}

struct hca *fabric_hca(unsigned int i)
{
	return i < FABRIC_MAX ? hcas[i] : NULL;
}

struct hca *fabric_by_lid(uint16_t lid)
{
	unsigned int i;

	for (i = 0; i < nhcas; i++)
		if (port_lid(hcas[i]) == lid)
			return hcas[i];
	return NULL;
}

struct hca *fabric_by_gid(const uint8_t gid[16])
{
	unsigned int i;

	for (i = 0; i < nhcas; i++)
		if (!memcmp(port_gid(hcas[i]), gid, 16))
			return hcas[i];
	return NULL;
}
