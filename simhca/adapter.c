// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The adapters: create, reset and free their parts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter.h"
#include "bus/bus.h"
#include "bus/dma.h"
#include "control/control.h"
#include "eth/eth.h"
#include "fabric/fabric.h"
#include "fabric/lag.h"
#include "fabric/line.h"
#include "fabric/mc_group.h"
#include "fw/cmd.h"
#include "fw/eq.h"
#include "fw/fw.h"
#include "fw/iseg.h"
#include "object/memic.h"
#include "object/objects.h"

/* Function level reset. */
static void hca_reset(struct hca *hca)
{
	cmdq_set(hca, 0);
	hca_drop_state(hca);
	iseg_reset(hca);
	pci_reset(hca);
}

static const struct bus_ops bus_ops = {
	.reset = hca_reset,
	.iseg_read = iseg_read,
	.iseg_write = iseg_write,
	.uar_write = uar_write,
	.memic_read = memic_read,
	.memic_write = memic_write,
};

static int hca_init_parts(struct hca *hca)
{
	static int (*const inits[])(struct hca *) = {
		iseg_init, cmdq_init,	pages_init,  caps_init,
		uars_init, uctxs_init,	eqs_init,    port_init,
		line_init, lag_init,  pci_init,  faults_init, cmdlog_init, objects_init,
		eth_init,
	};
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(inits); i++) {
		ret = inits[i](hca);
		if (ret)
			return ret;
	}
	return 0;
}

/* Free an adapter. hca_create() may have failed half-way. */
static void hca_destroy(struct hca *hca)
{
	vfio_user_fini(hca);
	eth_fini(hca);
	objects_fini(hca);
	cmdlog_fini(hca);
	faults_fini(hca);
	pci_fini(hca);
	lag_fini(hca);
	line_fini(hca);
	port_fini(hca);
	eqs_fini(hca);
	uctxs_fini(hca);
	uars_fini(hca);
	caps_fini(hca);
	pages_fini(hca);
	cmdq_fini(hca);
	iseg_fini(hca);
	dma_destroy(hca->dma);
	free(hca);
}

/* Make an adapter and offer it to VMMs at @dir/hca@index.sock. */
static int hca_create(unsigned int index, const struct adapter_kind *kind,
		      const char *dir, struct hca **out)
{
	struct hca *hca = calloc(1, sizeof(*hca));
	char path[4096];
	int ret;

	if (!hca)
		return -ENOMEM;
	hca->index = index;
	hca->link = kind->link;
	hca->function = kind->function;
	hca->eswitch = kind->eswitch;
	hca->native_port = kind->function == FUNCTION_PORT ? index % 2 + 1 : 0;
	hca->bus_ops = &bus_ops;
	hca->dma = dma_create();
	ret = hca->dma ? hca_init_parts(hca) : -ENOMEM;
	if (ret)
		goto err_destroy;
	snprintf(path, sizeof(path), "%s/hca%u.sock", dir, index);
	ret = vfio_user_init(hca, path);
	if (ret)
		goto err_destroy;
	*out = hca;
	return 0;

err_destroy:
	hca_destroy(hca);
	return ret;
}

/**
 * adapters_init() - make the adapters
 * @n: how many
 * @kind: what they are
 * @dir: where their sockets go
 *
 * Return: 0, or -errno with nothing made
 */
int adapters_init(unsigned int n, const struct adapter_kind *kind,
		  const char *dir)
{
	struct hca *hca;
	unsigned int i;
	int ret;

	if (!n || n > FABRIC_MAX || (kind->function == FUNCTION_PORT && n % 2) ||
	    (kind->eswitch && (kind->function != FUNCTION_PF ||
			       kind->link != LINK_ETH)))
		return -EINVAL;
	for (i = 0; i < n; i++) {
		ret = hca_create(i, kind, dir, &hca);
		if (ret) {
			adapters_fini();
			return ret;
		}
		fabric_add(hca);
	}
	return 0;
}

/**
 * adapters_fini() - free the adapters
 */
void adapters_fini(void)
{
	struct hca *hca;

	while (fabric_hcas()) {
		hca = fabric_hca(fabric_hcas() - 1);
		/* While it is freed, the adapter must not find other ones. */
		fabric_remove(hca);
		hca_destroy(hca);
	}
	mc_group_fini();
}

/**
 * hca_clear_counters() - set everything that is counted to 0
 */
void hca_clear_counters(struct hca *hca)
{
	memset(hca->errors, 0, sizeof(hca->errors));
	cmdlog_clear(hca);
	uars_clear_counters(hca);
	objects_clear_counters(hca);
	eth_clear_counters(hca);
}
