// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An adapter as a whole: making, resetting and freeing its parts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fw/cmd.h"
#include "device.h"
#include "bus/dma.h"

static int hca_init_parts(struct hca *hca)
{
	static int (*const inits[])(struct hca *) = {
		iseg_init, cmdq_init,	pages_init,  caps_init,
		uars_init, uctxs_init,	eqs_init,    port_init,
		pci_init,  faults_init, cmdlog_init, objects_init,
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

/**
 * hca_create() - make an adapter and offer it to VMMs
 * @index: which of the process
 * @dir: its socket is @dir/hca@index.sock
 * @out: set to the adapter
 *
 * Return: 0 or -errno
 */
int hca_create(unsigned int index, const char *dir, struct hca **out)
{
	struct hca *hca = calloc(1, sizeof(*hca));
	char path[4096];
	int ret;

	if (!hca)
		return -ENOMEM;
	hca->index = index;
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
 * hca_destroy() - take an adapter away
 * @hca: the adapter, however far hca_create() came
 */
void hca_destroy(struct hca *hca)
{
	vfio_user_fini(hca);
	objects_fini(hca);
	cmdlog_fini(hca);
	faults_fini(hca);
	pci_fini(hca);
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

/**
 * hca_drop_state() - forget all that a driver made, touch no guest memory
 * @hca: the adapter
 *
 * The command queue stays, as this may be what a command does.
 */
void hca_drop_state(struct hca *hca)
{
	objects_reset(hca);
	eqs_reset(hca);
	uars_reset(hca);
	uctxs_reset(hca);
	pages_reset(hca);
	caps_reset(hca);
	port_reset(hca);
}

/**
 * hca_reset() - function level reset
 * @hca: the adapter
 */
void hca_reset(struct hca *hca)
{
	cmdq_set(hca, 0);
	hca_drop_state(hca);
	iseg_reset(hca);
	pci_reset(hca);
}

/**
 * hca_clear_counters() - set everything that is counted to 0
 * @hca: the adapter
 */
void hca_clear_counters(struct hca *hca)
{
	memset(hca->errors, 0, sizeof(hca->errors));
	cmdlog_clear(hca);
	uars_clear_counters(hca);
	objects_clear_counters(hca);
}
