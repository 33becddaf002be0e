// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The split ring of a virtqueue in guest memory (virtio 1.0, "Split Virtqueues"). See
 * object/virtq.h for the model.
 *
 * Fields of the ring are little endian. The two indices, which driver and adapter use at
 * the same time, are read and written in one access each.
 */
#include <errno.h>
#include <linux/virtio_ring.h>

#include "object/virtq.h"

#define AVAIL_FLAGS 0u
#define AVAIL_IDX 2u
#define AVAIL_RING 4u
#define USED_IDX 2u
#define USED_RING 4u
#define USED_ENTRY 8u

/* The ring breaks a rule: the queue stops. @why: for the log */
static void fail(struct virtq *vq, const char *why)
{
	vq->state = VIRTQ_ERR;
	hca_error(vq->hca, SIM_ERR_BAD_WQE, "virtqueue %u (0x%x): %s",
		  vq->index, vq->obj.id, why);
}

static int map(struct virtq *vq, uint64_t va, uint64_t len, bool write,
	       struct sglist *to)
{
	struct accessor who = { .pd = vq->pd->obj.id };

	return mkey_map(vq->hca, &who, vq->mkey, va, len,
			write ? ACCESS_LOCAL_WRITE : ACCESS_LOCAL_READ, to);
}

/* A field of the ring. NULL where it is not in one piece of memory, or not aligned. */
static void *field(struct virtq *vq, uint64_t va, size_t len, bool write)
{
	struct sglist *l = &vq->hca->objs->ring;

	sgl_reset(l);
	if (map(vq, va, len, write, l) || l->n != 1 ||
	    (uintptr_t)l->v[0].iov_base % len)
		return NULL;
	return l->v[0].iov_base;
}

static bool read16(struct virtq *vq, uint64_t va, uint16_t *value)
{
	const uint16_t *p = field(vq, va, sizeof(*p), false);

	if (!p)
		return false;
	*value = le16toh(__atomic_load_n(p, __ATOMIC_ACQUIRE));
	return true;
}

static bool write16(struct virtq *vq, uint64_t va, uint16_t value)
{
	uint16_t *p = field(vq, va, sizeof(*p), true);

	if (p)
		__atomic_store_n(p, htole16(value), __ATOMIC_RELEASE);
	return p;
}

static bool write32(struct virtq *vq, uint64_t va, uint32_t value)
{
	uint32_t *p = field(vq, va, sizeof(*p), true);

	if (p)
		__atomic_store_n(p, htole32(value), __ATOMIC_RELAXED);
	return p;
}

/* A copy of a descriptor: the guest's own may change under the adapter. */
static bool read_desc(struct virtq *vq, uint16_t i, struct vring_desc *d)
{
	const void *p = field(vq, vq->desc + i * sizeof(*d), sizeof(*d), false);

	if (!p)
		return false;
	memcpy(d, p, sizeof(*d));
	return true;
}

/*
 * The memory of a chain. Its descriptors all have one direction: a TX queue reads, an
 * RX queue writes. A chain longer than the ring goes in a circle.
 */
static const char *walk(struct virtq *vq, struct virtq_chain *chain)
{
	uint16_t want = virtq_is_tx(vq) ? 0 : VRING_DESC_F_WRITE, flags, at;
	struct vring_desc d;
	uint32_t n;

	sgl_reset(chain->data);
	at = chain->head;
	for (n = 0; n < vq->size; n++) {
		if (at >= vq->size)
			return "a descriptor beyond the ring";
		if (!read_desc(vq, at, &d))
			return "descriptors that cannot be read";
		flags = le16toh(d.flags);
		if (flags & VRING_DESC_F_INDIRECT ||
		    (flags & VRING_DESC_F_WRITE) != want)
			return "a descriptor of a wrong kind";
		if (map(vq, le64toh(d.addr), le32toh(d.len), want, chain->data))
			return "a buffer that cannot be reached";
		if (!(flags & VRING_DESC_F_NEXT))
			return NULL;
		at = le16toh(d.next);
	}
	return "a chain without an end";
}

/**
 * virtq_take() - find the next chain that the driver made available
 * @chain: @data is set by the caller; the rest on success
 *
 * The chain stays the next one until virtq_put().
 *
 * Return: 0, -EAGAIN where there is none, -EFAULT: the queue is in error now
 */
int virtq_take(struct virtq *vq, struct virtq_chain *chain)
{
	uint16_t idx, posted, at = vq->avail_next & (vq->size - 1);
	const char *wrong = NULL;

	if (!read16(vq, vq->avail + AVAIL_IDX, &idx)) {
		fail(vq, "its available ring cannot be read");
		return -EFAULT;
	}
	posted = idx - vq->avail_next;
	if (!posted)
		return -EAGAIN;
	if (posted > vq->size)
		wrong = "more entries are available than there are";
	else if (!read16(vq, vq->avail + AVAIL_RING + at * sizeof(uint16_t),
			 &chain->head))
		wrong = "its available ring cannot be read";
	else
		wrong = walk(vq, chain);
	if (!wrong)
		return 0;
	fail(vq, wrong);
	return -EFAULT;
}

/**
 * virtq_put() - give a chain back to the driver
 * @chain: the one that virtq_take() found
 * @len: bytes that were written to it
 *
 * Return: false where the queue is in error now
 */
bool virtq_put(struct virtq *vq, const struct virtq_chain *chain, uint32_t len)
{
	uint64_t at = vq->used + USED_RING +
		      (vq->used_next & (vq->size - 1)) * USED_ENTRY;

	if (!write32(vq, at, chain->head) || !write32(vq, at + 4, len) ||
	    !write16(vq, vq->used + USED_IDX, vq->used_next + 1)) {
		fail(vq, "its used ring cannot be written");
		return false;
	}
	vq->avail_next++;
	vq->used_next++;
	return true;
}

/**
 * virtq_wants_event() - does the driver want to be told of used entries?
 */
bool virtq_wants_event(struct virtq *vq)
{
	uint16_t flags;

	/* The driver must see the index, or the adapter the driver's wish. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return read16(vq, vq->avail + AVAIL_FLAGS, &flags) &&
	       !(flags & VRING_AVAIL_F_NO_INTERRUPT);
}
