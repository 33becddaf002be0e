// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Capabilities of vDPA: the emulation of a virtio-net device by a virtual function. See
 * object/virtq.h for what the model does.
 */
#include "bus/bus.h"
#include "fw/fw.h"
#include "object/virtq.h"

/* A bit for each mode of events: none at all, and by a QP. Interrupts are missing. */
#define EVENT_MODES (1u << VIRTQ_NO_EVENT | 1u << VIRTQ_EVENT_QP)

#define VDPA(fld, v) IFC_SET(virtio_emulation_cap, c, fld, v)

/**
 * caps_vdpa_general() - add to the general capabilities
 *
 * The driver itself may make UMEMs (umem_uid_0), which it needs for the virtio-net
 * device that it gives to its own kernel.
 */
void caps_vdpa_general(uint8_t *c)
{
	IFC_SET64(cmd_hca_cap, c, general_obj_types,
		  IFC_GET64(cmd_hca_cap, c, general_obj_types) |
			  1ull << MLX5_OBJ_TYPE_VIRTIO_NET_Q);
	IFC_SET(cmd_hca_cap, c, umem_uid_0, 1);
}

/**
 * caps_vdpa() - the page of capabilities of vDPA
 *
 * No offload is announced: device_features_bits_mask is 0. The doorbell page is 4 KiB.
 */
void caps_vdpa(const struct hca *hca, uint8_t *c)
{
	VDPA(eth_frame_offload_type, 1);
	VDPA(virtio_version_1_0, 1);
	VDPA(event_mode, EVENT_MODES);
	VDPA(virtio_queue_type,
	     MLX5_VIRTIO_EMULATION_CAP_VIRTIO_QUEUE_TYPE_SPLIT);
	VDPA(log_doorbell_stride, KICK_LOG_BYTES);
	IFC_SET64(virtio_emulation_cap, c, doorbell_bar_offset,
		  pci_kick_at(hca));
	VDPA(max_num_virtio_queues, VIRTQ_MAX);
	VDPA(freeze_to_rdy_supported, 1);
	VDPA(umem_1_buffer_param_a, VIRTQ_UMEM_A);
	VDPA(umem_1_buffer_param_b, VIRTQ_UMEM_B);
	VDPA(umem_2_buffer_param_a, VIRTQ_UMEM_A);
	VDPA(umem_2_buffer_param_b, VIRTQ_UMEM_B);
	VDPA(umem_3_buffer_param_a, VIRTQ_UMEM_A);
	VDPA(umem_3_buffer_param_b, VIRTQ_UMEM_B);
}
