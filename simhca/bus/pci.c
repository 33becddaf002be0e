// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The PCI function: configuration space, and which part of BAR 0 is what.
 *
 * BAR 0: initialisation segment, MSI-X table and PBA (both of which the VMM
 * emulates), then UAR pages from UAR_FIRST on, page n at n * 4 KiB, then device memory.
 *
 * Invariants
 * - A guest can change the bits of config_wmask alone.
 * - Guest memory is out of reach while bus mastering is off.
 * - A function level reset leaves the function as it was when it was made.
 */
#include <endian.h>
#include <errno.h>
#include <linux/pci_regs.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "bus/dma.h"

#define PCI_VENDOR_MELLANOX 0x15b3
#define PCI_DEVICE_CX5 0x1017
#define PCI_DEVICE_CX5_VF 0x1018
#define PCI_CLASS_INFINIBAND 0x020700
#define PCI_CLASS_ETHERNET 0x020000

#define PCI_AT_PM 0x40
/*
 * The registers of the adapter behind its configuration space, for tools: the one whose
 * address is at the first is read at the second. mstflint takes this way where there is no
 * vendor-specific capability.
 */
#define PCI_AT_CR_ADDRESS 0x58
#define PCI_AT_CR_DATA 0x5c
#define PCI_AT_EXP 0x60
#define PCI_AT_MSIX 0xb0

#define PCI_MSIX_TABLE_AT 0x4000u
#define PCI_MSIX_PBA_AT 0x5000u
#define PCI_MSIX_END 0x6000u

#define CR_HW_ID 0xf0014u

#define LINK_SPEED_8GT 3
#define LINK_WIDTH_X16 16

struct pci {
	uint8_t config[PCI_CONFIG_BYTES];
	uint8_t wmask[PCI_CONFIG_BYTES];
};

static void put16(uint8_t *p, unsigned int off, uint16_t v)
{
	v = htole16(v);
	memcpy(p + off, &v, sizeof(v));
}

static void put32(uint8_t *p, unsigned int off, uint32_t v)
{
	v = htole32(v);
	memcpy(p + off, &v, sizeof(v));
}

static uint16_t get16(const uint8_t *p, unsigned int off)
{
	uint16_t v;

	memcpy(&v, p + off, sizeof(v));
	return le16toh(v);
}

static uint32_t get32(const uint8_t *p, unsigned int off)
{
	uint32_t v;

	memcpy(&v, p + off, sizeof(v));
	return le32toh(v);
}

static void pci_header(const struct hca *hca)
{
	uint32_t class = hca->link == LINK_ETH ? PCI_CLASS_ETHERNET :
						 PCI_CLASS_INFINIBAND;
	uint8_t *c = hca->pci->config, *w = hca->pci->wmask;

	put16(c, PCI_VENDOR_ID, PCI_VENDOR_MELLANOX);
	put16(c, PCI_DEVICE_ID, hca_is_vf(hca) ?
					PCI_DEVICE_CX5_VF : PCI_DEVICE_CX5);
	put16(w, PCI_COMMAND,
	      PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY |
		      PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE);
	put16(c, PCI_STATUS, PCI_STATUS_CAP_LIST);
	put32(c, PCI_CLASS_REVISION, class << 8);
	w[PCI_CACHE_LINE_SIZE] = 0xff;
	put32(c, PCI_BASE_ADDRESS_0,
	      PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH);
	put32(w, PCI_BASE_ADDRESS_0, ~(pci_bar_bytes(hca) - 1));
	put32(w, PCI_BASE_ADDRESS_1, ~0u);
	put16(c, PCI_SUBSYSTEM_VENDOR_ID, PCI_VENDOR_MELLANOX);
	put16(c, PCI_SUBSYSTEM_ID, PCI_DEVICE_CX5);
	c[PCI_CAPABILITY_LIST] = PCI_AT_PM;
	w[PCI_INTERRUPT_LINE] = 0xff;
}

static void pci_capabilities(struct pci *pci)
{
	uint8_t *c = pci->config, *w = pci->wmask;

	c[PCI_AT_PM] = PCI_CAP_ID_PM;
	c[PCI_AT_PM + PCI_CAP_LIST_NEXT] = PCI_AT_EXP;
	put16(c, PCI_AT_PM + PCI_PM_PMC, 3);
	put16(c, PCI_AT_PM + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET);
	put16(w, PCI_AT_PM + PCI_PM_CTRL, PCI_PM_CTRL_STATE_MASK);

	put32(w, PCI_AT_CR_ADDRESS, ~0u);

	c[PCI_AT_EXP] = PCI_CAP_ID_EXP;
	c[PCI_AT_EXP + PCI_CAP_LIST_NEXT] = PCI_AT_MSIX;
	put16(c, PCI_AT_EXP + PCI_EXP_FLAGS, 2 | PCI_EXP_TYPE_ENDPOINT << 4);
	put32(c, PCI_AT_EXP + PCI_EXP_DEVCAP,
	      1 | PCI_EXP_DEVCAP_EXT_TAG | PCI_EXP_DEVCAP_RBER |
		      PCI_EXP_DEVCAP_FLR);
	/* all but FLR, which reads as 0 */
	put16(w, PCI_AT_EXP + PCI_EXP_DEVCTL, 0x7fff);
	put32(c, PCI_AT_EXP + PCI_EXP_LNKCAP,
	      LINK_SPEED_8GT | LINK_WIDTH_X16 << 4);
	put16(w, PCI_AT_EXP + PCI_EXP_LNKCTL, 0x1ff);
	put16(c, PCI_AT_EXP + PCI_EXP_LNKSTA,
	      LINK_SPEED_8GT | LINK_WIDTH_X16 << 4);
	put16(w, PCI_AT_EXP + PCI_EXP_DEVCTL2, 0xffff);
	put32(c, PCI_AT_EXP + PCI_EXP_LNKCAP2, 0xe);
	put16(c, PCI_AT_EXP + PCI_EXP_LNKCTL2, LINK_SPEED_8GT);

	c[PCI_AT_MSIX] = PCI_CAP_ID_MSIX;
	put16(c, PCI_AT_MSIX + PCI_MSIX_FLAGS, PCI_MSIX_VECTORS - 1);
	put16(w, PCI_AT_MSIX + PCI_MSIX_FLAGS,
	      PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	put32(c, PCI_AT_MSIX + PCI_MSIX_TABLE, PCI_MSIX_TABLE_AT);
	put32(c, PCI_AT_MSIX + PCI_MSIX_PBA, PCI_MSIX_PBA_AT);
}

/**
 * pci_init() - make the function
 *
 * Return: 0 or -ENOMEM
 */
int pci_init(struct hca *hca)
{
	hca->pci = calloc(1, sizeof(*hca->pci));
	if (!hca->pci)
		return -ENOMEM;
	pci_reset(hca);
	return 0;
}

/**
 * pci_fini() - free the function
 */
void pci_fini(struct hca *hca)
{
	free(hca->pci);
	hca->pci = NULL;
}

/**
 * pci_reset() - the configuration space after a reset
 */
void pci_reset(struct hca *hca)
{
	memset(hca->pci, 0, sizeof(*hca->pci));
	pci_header(hca);
	pci_capabilities(hca->pci);
	dma_set_master(hca->dma, false);
}

/**
 * pci_config_read() - read configuration space
 * @off: where, any alignment
 * @buf: set to what is there
 * @len: bytes
 *
 * Return: 0 or -EINVAL beyond the end
 */
int pci_config_read(struct hca *hca, uint64_t off, void *buf, size_t len)
{
	if (off > PCI_CONFIG_BYTES || len > PCI_CONFIG_BYTES - off)
		return -EINVAL;
	memcpy(buf, hca->pci->config + off, len);
	return 0;
}

/**
 * pci_config_write() - write configuration space, with its effects
 * @off: where, any alignment
 * @len: bytes
 *
 * Return: 0 or -EINVAL beyond the end
 */
int pci_config_write(struct hca *hca, uint64_t off, const void *buf, size_t len)
{
	const unsigned int flr = PCI_AT_EXP + PCI_EXP_DEVCTL + 1;
	struct pci *pci = hca->pci;
	const uint8_t *in = buf;
	size_t i;

	if (off > PCI_CONFIG_BYTES || len > PCI_CONFIG_BYTES - off)
		return -EINVAL;
	for (i = 0; i < len; i++) {
		uint8_t *c = &pci->config[off + i], w = pci->wmask[off + i];

		*c = (*c & ~w) | (in[i] & w);
	}
	put32(pci->config, PCI_AT_CR_DATA,
	      get32(pci->config, PCI_AT_CR_ADDRESS) == CR_HW_ID ? HW_ID : 0);
	dma_set_master(hca->dma, get16(pci->config, PCI_COMMAND) &
					 PCI_COMMAND_MASTER);
	if (off <= flr && flr - off < len &&
	    in[flr - off] & (PCI_EXP_DEVCTL_BCR_FLR >> 8)) {
		log_line("hca%u: function level reset", hca->index);
		hca->bus_ops->reset(hca);
	}
	return 0;
}

static bool in_bar(const struct hca *hca, uint64_t off, size_t len)
{
	uint32_t bytes = pci_bar_bytes(hca);

	return off <= bytes && len <= bytes - off;
}

static bool in_memic(const struct hca *hca, uint64_t off)
{
	return pci_memic_at(hca) && off >= pci_memic_at(hca);
}

static bool in_msix(uint64_t off, size_t len)
{
	return off >= PCI_MSIX_TABLE_AT && off + len <= PCI_MSIX_END;
}

/**
 * pci_bar_read() - read BAR 0
 * @buf: zeroed; set to what is there
 * @len: bytes
 *
 * Return: 0 or -EINVAL beyond the end
 */
int pci_bar_read(struct hca *hca, uint64_t off, void *buf, size_t len)
{
	if (!in_bar(hca, off, len))
		return -EINVAL;
	if (off + len <= ISEG_BYTES)
		hca->bus_ops->iseg_read(hca, (uint32_t)off, buf, len);
	else if (in_memic(hca, off) &&
		 !hca->bus_ops->memic_read(hca, off, buf, len))
		return 0;
	else if (!in_msix(off, len))
		hca_error(hca, SIM_ERR_BAD_MMIO, "read of %zu bytes at 0x%llx",
			  len, (unsigned long long)off);
	return 0;
}

/**
 * pci_bar_write() - write BAR 0
 * @len: bytes
 *
 * Return: 0 or -EINVAL beyond the end
 */
int pci_bar_write(struct hca *hca, uint64_t off, const void *buf, size_t len)
{
	uint32_t at = (uint32_t)off;

	if (!in_bar(hca, off, len))
		return -EINVAL;
	if (off + len <= ISEG_BYTES)
		hca->bus_ops->iseg_write(hca, at, buf, len);
	else if (in_memic(hca, off) &&
		 !hca->bus_ops->memic_write(hca, off, buf, len))
		return 0;
	else if (off >= UAR_FIRST * SIM_PAGE && off < pci_uar_bytes(hca) &&
		 at % SIM_PAGE + len <= SIM_PAGE)
		hca->bus_ops->uar_write(hca, at / SIM_PAGE, at % SIM_PAGE, buf,
					len);
	else if (!in_msix(off, len))
		hca_error(hca, SIM_ERR_BAD_MMIO, "write of %zu bytes at 0x%llx",
			  len, (unsigned long long)off);
	return 0;
}
