/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The bus: a PCI function that a VMM accesses over vfio-user. The bus does not
 * know the adapter. It calls the adapter through struct bus_ops.
 */
#ifndef SIMHCA_BUS_H
#define SIMHCA_BUS_H

#include "hca.h"

/*
 * BAR 0: initialisation segment, MSI-X (which the VMM emulates), UAR pages, and of a PF
 * device memory
 */
#define ISEG_BYTES 0x4000u
#define UAR_FIRST 16u
#define MEMIC_BYTES (256u << 10)	/* device memory */
#define MEMIC_LOG_UNIT 6u		/* log2 of the bytes of the least piece */
#define MEMIC_LOG_ALIGN_MAX 12u		/* log2 of the alignment that one may have */

#define PCI_MSIX_VECTORS 16u
#define PCI_CONFIG_BYTES 4096u
#define HW_ID 0x20du /* what a ConnectX-5 calls itself, beside its PCI device id */

/**
 * struct bus_ops - the adapter's functions that the bus calls
 * @reset: the guest asked for a function level reset, or the VMM disconnected
 * @iseg_read: read @len bytes at @off; the range is within ISEG_BYTES
 * @iseg_write: write @len bytes at @off; the range is within ISEG_BYTES
 * @uar_write: the guest stored @len bytes at @off of the 4 KiB @index of the BAR
 * @memic_read: read device memory at @at of the BAR; -EFAULT where there is none
 * @memic_write: write it likewise
 */
struct bus_ops {
	void (*reset)(struct hca *hca);
	void (*iseg_read)(struct hca *hca, uint32_t off, uint8_t *buf,
			  size_t len);
	void (*iseg_write)(struct hca *hca, uint32_t off, const uint8_t *buf,
			   size_t len);
	void (*uar_write)(struct hca *hca, uint32_t index, uint32_t off,
			  const uint8_t *buf, size_t len);
	int (*memic_read)(struct hca *hca, uint64_t at, void *buf, size_t len);
	int (*memic_write)(struct hca *hca, uint64_t at, const void *buf,
			   size_t len);
};

/*
 * Bytes of BAR 0 up to the end of the UAR pages. Those of a VF are the least that
 * uar_sz of the capabilities can say: a PF shares its BAR out to its VFs.
 */
static inline uint32_t pci_uar_bytes(const struct hca *hca)
{
	return (hca_is_vf(hca) ? 1u : 32u) << 20;
}

/* Bytes of BAR 0, which are a power of two. */
static inline uint32_t pci_bar_bytes(const struct hca *hca)
{
	return pci_uar_bytes(hca) * (hca->function == FUNCTION_VF ? 1 : 2);
}

/* Where in BAR 0 device memory begins: behind the UAR pages. 0 where there is none. */
static inline uint32_t pci_memic_at(const struct hca *hca)
{
	return hca_is_vf(hca) ? 0 : pci_uar_bytes(hca);
}

/* The 4 KiB behind the last UAR page. */
static inline uint32_t uar_limit(const struct hca *hca)
{
	return pci_uar_bytes(hca) / SIM_PAGE;
}

/* ---- pci.c */
int pci_init(struct hca *hca);
void pci_fini(struct hca *hca);
void pci_reset(struct hca *hca);
int pci_config_read(struct hca *hca, uint64_t off, void *buf, size_t len);
int pci_config_write(struct hca *hca, uint64_t off, const void *buf,
		     size_t len);
int pci_bar_read(struct hca *hca, uint64_t off, void *buf, size_t len);
int pci_bar_write(struct hca *hca, uint64_t off, const void *buf, size_t len);

/* ---- vfio_user.c, vfio_irq.c */
int vfio_user_listen(const char *path);
int vfio_user_init(struct hca *hca, const char *path);
void vfio_user_fini(struct hca *hca);
void vfio_irq_raise(struct hca *hca, unsigned int vector);

#endif
