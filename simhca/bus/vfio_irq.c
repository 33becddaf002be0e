// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * MSI-X interrupts: an eventfd of the VMM for each vector.
 *
 * The VMM emulates the MSI-X table, so it also does the masking.
 */
#include <errno.h>
#include <linux/vfio.h>
#include <string.h>
#include <unistd.h>

#include "bus/bus.h"
#include "bus/vfio_user.h"

static void irq_off(struct vfio_user *vu, unsigned int vector)
{
	if (vu->irqs[vector] >= 0)
		close(vu->irqs[vector]);
	vu->irqs[vector] = -1;
}

/**
 * vfio_irqs_off() - forget every eventfd
 */
void vfio_irqs_off(struct vfio_user *vu)
{
	unsigned int i;

	for (i = 0; i < PCI_MSIX_VECTORS; i++)
		irq_off(vu, i);
}

/**
 * vfio_irqs_set() - do what SET_IRQS says
 * @fds: descriptors that came with it; one that is kept becomes -1
 * @nfds: how many
 *
 * Return: 0 or -EINVAL
 */
int vfio_irqs_set(struct vfio_user *vu, const struct vfio_irq_set *set,
		  int *fds, unsigned int nfds)
{
	unsigned int i;

	if (set->index != VFIO_PCI_MSIX_IRQ_INDEX)
		return set->count ? -EINVAL : 0;
	if (set->start > PCI_MSIX_VECTORS ||
	    set->count > PCI_MSIX_VECTORS - set->start)
		return -EINVAL;
	switch (set->flags) {
	case VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER:
		if (!set->count)
			vfio_irqs_off(vu);
		for (i = 0; i < set->count; i++)
			vfio_irq_raise(vu->hca, set->start + i);
		return 0;
	case VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER:
		if (nfds && nfds != set->count)
			return -EINVAL;
		for (i = 0; i < set->count; i++) {
			irq_off(vu, set->start + i);
			if (!nfds)
				continue;
			vu->irqs[set->start + i] = fds[i];
			fds[i] = -1;
		}
		return 0;
	default:
		return -EINVAL;
	}
}

/**
 * vfio_irq_raise() - raise an MSI-X interrupt
 * @vector: any number; one without an eventfd does nothing
 */
void vfio_irq_raise(struct hca *hca, unsigned int vector)
{
	const uint64_t one = 1;
	int fd;

	fd = vector < PCI_MSIX_VECTORS ? hca->vfio->irqs[vector] : -1;
	if (fd >= 0 && write(fd, &one, sizeof(one)) != sizeof(one))
		log_line("hca%u: vector %u: %s", hca->index, vector,
			 strerror(errno));
}
