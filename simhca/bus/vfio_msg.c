// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vfio-user, the messages: what a VMM may ask of a PCI function. A handler
 * checks the whole message before it changes anything.
 */
#include <errno.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bus/bus.h"
#include "bus/dma.h"
#include "bus/vfio_user.h"

/* The body as a struct of @size bytes, or NULL. */
static bool msg_body(const struct vfio_user_msg *msg, void *body, size_t size)
{
	if (msg->len < size)
		return false;
	memcpy(body, msg->body, size);
	return true;
}

static void msg_reply(struct vfio_user_msg *msg, const void *body, size_t size)
{
	memcpy(msg->reply + msg->reply_len, body, size);
	msg->reply_len += size;
}

static int msg_version(struct vfio_user *vu, struct vfio_user_msg *msg)
{
	struct vfio_user_version version;
	char json[256];
	int n;

	if (!msg_body(msg, &version, sizeof(version)))
		return -EINVAL;
	if (version.major != 0)
		return -ENOTSUP;
	version.minor = 0;
	msg_reply(msg, &version, sizeof(version));
	n = snprintf(json, sizeof(json),
		     "{\"capabilities\":{\"max_msg_fds\":%u,"
		     "\"max_data_xfer_size\":%u,\"pgsizes\":%u,"
		     "\"write_multiple\":true}}",
		     VFIO_USER_FDS_MAX, VFIO_USER_XFER_MAX, SIM_PAGE);
	msg_reply(msg, json, (size_t)n + 1);
	vu->ready = true;
	return 0;
}

static int msg_dma_map(struct vfio_user *vu, struct vfio_user_msg *msg)
{
	struct vfio_user_dma_map map;

	if (!msg_body(msg, &map, sizeof(map)) || msg->nfds > 1)
		return -EINVAL;
	return dma_map(vu->hca->dma, map.iova, map.size,
		       msg->nfds ? msg->fds[0] : -1, map.offset,
		       map.flags & VFIO_USER_DMA_WRITE_OK);
}

static int msg_dma_unmap(struct vfio_user *vu, struct vfio_user_msg *msg)
{
	struct vfio_user_dma_unmap unmap;
	int ret = 0;

	if (!msg_body(msg, &unmap, sizeof(unmap)))
		return -EINVAL;
	if (unmap.flags & VFIO_USER_UNMAP_ALL)
		dma_unmap_all(vu->hca->dma);
	else
		ret = dma_unmap(vu->hca->dma, unmap.iova, unmap.size);
	msg_reply(msg, &unmap, sizeof(unmap));
	return ret;
}

static int msg_get_info(struct vfio_user *vu, struct vfio_user_msg *msg)
{
	/* as far as vfio-user has it: no capabilities */
	uint32_t info[4] = { sizeof(info),
			     VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET,
			     VFIO_PCI_NUM_REGIONS, VFIO_PCI_NUM_IRQS };

	(void)vu;
	msg_reply(msg, info, sizeof(info));
	return 0;
}

static int msg_region_info(struct vfio_user *vu, struct vfio_user_msg *msg)
{
	struct vfio_region_info info;

	(void)vu;
	if (!msg_body(msg, &info, sizeof(info)) ||
	    info.index >= VFIO_PCI_NUM_REGIONS)
		return -EINVAL;
	info = (struct vfio_region_info){ .argsz = sizeof(info),
					  .index = info.index };
	if (info.index == VFIO_PCI_BAR0_REGION_INDEX)
		info.size = pci_bar_bytes(vu->hca);
	else if (info.index == VFIO_PCI_CONFIG_REGION_INDEX)
		info.size = PCI_CONFIG_BYTES;
	if (info.size)
		info.flags = VFIO_REGION_INFO_FLAG_READ |
			     VFIO_REGION_INFO_FLAG_WRITE;
	msg_reply(msg, &info, sizeof(info));
	return 0;
}

static int msg_irq_info(struct vfio_user *vu, struct vfio_user_msg *msg)
{
	struct vfio_irq_info info;

	(void)vu;
	if (!msg_body(msg, &info, sizeof(info)) ||
	    info.index >= VFIO_PCI_NUM_IRQS)
		return -EINVAL;
	info = (struct vfio_irq_info){ .argsz = sizeof(info),
				       .index = info.index };
	if (info.index == VFIO_PCI_MSIX_IRQ_INDEX) {
		info.count = PCI_MSIX_VECTORS;
		info.flags = VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE;
	}
	msg_reply(msg, &info, sizeof(info));
	return 0;
}

static int msg_set_irqs(struct vfio_user *vu, struct vfio_user_msg *msg)
{
	struct vfio_irq_set set;

	if (!msg_body(msg, &set, sizeof(set)))
		return -EINVAL;
	return vfio_irqs_set(vu, &set, msg->fds, msg->nfds);
}

static int region_write(struct hca *hca, uint32_t region, uint64_t off,
			const void *data, size_t len)
{
	switch (region) {
	case VFIO_PCI_BAR0_REGION_INDEX:
		return pci_bar_write(hca, off, data, len);
	case VFIO_PCI_CONFIG_REGION_INDEX:
		return pci_config_write(hca, off, data, len);
	default:
		return -EINVAL;
	}
}

static int msg_region_read(struct vfio_user *vu, struct vfio_user_msg *msg)
{
	struct vfio_user_rw rw;
	uint8_t *data;
	int ret;

	if (!msg_body(msg, &rw, sizeof(rw)) || rw.count > VFIO_USER_XFER_MAX)
		return -EINVAL;
	msg_reply(msg, &rw, sizeof(rw));
	data = msg->reply + msg->reply_len;
	memset(data, 0, rw.count);
	switch (rw.region) {
	case VFIO_PCI_BAR0_REGION_INDEX:
		ret = pci_bar_read(vu->hca, rw.offset, data, rw.count);
		break;
	case VFIO_PCI_CONFIG_REGION_INDEX:
		ret = pci_config_read(vu->hca, rw.offset, data, rw.count);
		break;
	default:
		ret = -EINVAL;
	}
	msg->reply_len += rw.count;
	return ret;
}

static int msg_region_write(struct vfio_user *vu, struct vfio_user_msg *msg)
{
	struct vfio_user_rw rw;

	if (!msg_body(msg, &rw, sizeof(rw)) ||
	    rw.count != msg->len - sizeof(rw))
		return -EINVAL;
	msg_reply(msg, &rw, sizeof(rw));
	return region_write(vu->hca, rw.region, rw.offset,
			    msg->body + sizeof(rw), rw.count);
}

static int msg_write_multi(struct vfio_user *vu, struct vfio_user_msg *msg)
{
	struct vfio_user_write_one one;
	const uint8_t *at = msg->body + sizeof(uint64_t);
	uint64_t count, i;
	int ret = 0, err;

	if (!msg_body(msg, &count, sizeof(count)) ||
	    count > (msg->len - sizeof(count)) / sizeof(one))
		return -EINVAL;
	for (i = 0; i < count; i++, at += sizeof(one)) {
		memcpy(&one, at, sizeof(one));
		err = one.count > sizeof(one.data) ? -EINVAL :
			region_write(vu->hca, one.region, one.offset, one.data,
				     one.count);
		if (err)
			ret = err;
	}
	msg_reply(msg, &count, sizeof(count));
	return ret;
}

static int msg_reset(struct vfio_user *vu, struct vfio_user_msg *msg)
{
	(void)msg;
	vu->hca->bus_ops->reset(vu->hca);
	return 0;
}

static int (*const handlers[])(struct vfio_user *vu,
			       struct vfio_user_msg *msg) = {
	[VFIO_USER_VERSION] = msg_version,
	[VFIO_USER_DMA_MAP] = msg_dma_map,
	[VFIO_USER_DMA_UNMAP] = msg_dma_unmap,
	[VFIO_USER_DEVICE_GET_INFO] = msg_get_info,
	[VFIO_USER_DEVICE_GET_REGION_INFO] = msg_region_info,
	[VFIO_USER_DEVICE_GET_IRQ_INFO] = msg_irq_info,
	[VFIO_USER_DEVICE_SET_IRQS] = msg_set_irqs,
	[VFIO_USER_REGION_READ] = msg_region_read,
	[VFIO_USER_REGION_WRITE] = msg_region_write,
	[VFIO_USER_DEVICE_RESET] = msg_reset,
	[VFIO_USER_REGION_WRITE_MULTI] = msg_write_multi,
};

/**
 * vfio_msg_handle() - do what a message says
 * @msg: the message; gets the answer's body
 *
 * Return: 0 or -errno, which the VMM is told
 */
int vfio_msg_handle(struct vfio_user *vu, struct vfio_user_msg *msg)
{
	if (msg->hdr.command >= ARRAY_SIZE(handlers) ||
	    !handlers[msg->hdr.command])
		return -ENOTSUP;
	if (!vu->ready && msg->hdr.command != VFIO_USER_VERSION)
		return -EPROTO;
	return handlers[msg->hdr.command](vu, msg);
}
