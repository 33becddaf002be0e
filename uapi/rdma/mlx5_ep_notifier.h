/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB */
/*
 * The file that MLX5_EP_METHOD_NOTIFIER_CREATE returns: what read() gives,
 * what mmap() shows, and the ioctls for watched ranges.
 */
#ifndef MLX5_EP_NOTIFIER_UAPI_H
#define MLX5_EP_NOTIFIER_UAPI_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * DOC: notifier file
 *
 * A notifier belongs to the address space that created it, and works from that
 * address space only. Elsewhere (in a forked child, in a process that was given
 * the file) mmap(), read() and every ioctl fail with EXDEV. A forked child does
 * not inherit the mapping. Another process that shares the address space (a child of
 * vfork() or clone(CLONE_VM)) adds and deletes no watch: both fail with EXDEV.
 *
 * read() returns whole &struct mlx5_ep_event records, as many as are pending
 * and fit. It blocks while there is none, unless O_NONBLOCK is set (EAGAIN). A
 * buffer shorter than one record is EINVAL. A buffer that cannot be written is
 * EFAULT, and the events stay pending. poll() reports EPOLLIN. Events come in
 * no particular order. What happens to a watch before its event is read is
 * added to that event, so there is no overflow. When the address space is gone,
 * a reader elsewhere gets one MLX5_EP_EVENT_MM_GONE and then end of file. When
 * the device is gone, a reader gets one MLX5_EP_EVENT_DEVICE_REMOVED and then
 * EIO.
 *
 * mmap(PROT_READ, MAP_SHARED) shows a &struct mlx5_ep_notifier_page at
 * offset 0 and the words of the watches from MLX5_EP_NOTIFIER_WORDS_OFFSET on.
 * Any other protection or flag, or a range beyond the capacity, is EINVAL
 * (EACCES if the kernel finds PROT_WRITE first). mprotect() to writable is
 * refused. A page of words in which no watch was ever added gives SIGBUS.
 *
 * A tagged address (arm64 top byte and MTE, x86 LAM) is accepted, as
 * ibv_reg_mr() accepts it: the tag is removed. Events have addresses without a
 * tag.
 *
 * The errors of NOTIFIER_CREATE:
 *
 * - EINVAL: a capacity of 0.
 * - EDQUOT: the capacity is above the module parameter notifier_max_watches, or
 *   the user has as many notifiers as notifiers_per_user allows.
 *
 * The errors of the ioctls:
 *
 * - ENOTTY: unknown ioctl number.
 * - EINVAL: a reserved field is not zero, a flag is unknown, a count is 0 or above
 *   MLX5_EP_WATCH_MAX_BATCH, the size of an entry is none, an address range is
 *   empty, wraps or is longer than 2^32 - 1 pages.
 * - EOPNOTSUPP: an entry is longer than this module knows, and the rest of it is
 *   not zero.
 * - EFAULT: an array cannot be read or written; a range is not user space.
 * - ENOSPC: the notifier's capacity is reached.
 * - ENOMEM: no memory, or the memory cgroup's limit is reached.
 * - ENOENT: no such watch, or one that reused its slot.
 * - EINTR: a fatal signal came while the call waited; nothing was added.
 * - EXDEV: called from another address space than the notifier's, whether that
 *   and the device are still there or not; a process that shares it adds or deletes.
 * - EIO: the device is gone.
 *
 * After an error of MLX5_EP_IOC_WATCH_ADD nothing has been added, unless another
 * thread has changed or unmapped the entries meanwhile.
 */

#define MLX5_EP_NOTIFIER_VERSION 1

/* Offset in the mapping of the word of slot 0; slot n is 8 * n further on. */
#define MLX5_EP_NOTIFIER_WORDS_OFFSET 4096

/* Most entries of one batched call. */
#define MLX5_EP_WATCH_MAX_BATCH 1024

/* Most bytes of an entry, of whatever version of this header. */
#define MLX5_EP_WATCH_MAX_ENTRY 256

/**
 * enum mlx5_ep_notifier_page_flags - state of the whole notifier
 * @MLX5_EP_NOTIFIER_PAGE_DEAD: closed, or the device is gone: all words are
 *	stale, and no word changes any more
 */
enum mlx5_ep_notifier_page_flags {
	MLX5_EP_NOTIFIER_PAGE_DEAD = 1 << 0,
};

/**
 * struct mlx5_ep_notifier_page - the start of the mapping, read-only
 * @version: MLX5_EP_NOTIFIER_VERSION; grows only when a field changes meaning
 * @flags: enum mlx5_ep_notifier_page_flags
 * @capacity: number of slots
 * @reserved: zero
 * @watch_total: hits, ever, each of which wrote a word; see below
 * @watch_pending: watches with an event that nobody has read
 * @source_total: events of other objects (XRC receive QPs), ever
 * @source_pending: other objects with an event that nobody has read
 *
 * Fields are added at the end. The rest of the page, up to
 * MLX5_EP_NOTIFIER_WORDS_OFFSET, is zero.
 *
 * @watch_total grows after the word of the watch that was hit is suspect or
 * stale, and before the system call that changed the memory returns. So if a
 * reader sees the same value twice, no system call that changed a word both began
 * after the first look and returned before the second. A word may have changed for
 * a call that has not returned yet. A word that verify makes stale is counted as
 * hit. Not counted are words that verify arms, words of watches that are deleted,
 * and words that become stale because the notifier ends.
 */
struct mlx5_ep_notifier_page {
	__u32 version;
	__u32 flags;
	__u32 capacity;
	__u32 reserved;
	__aligned_u64 watch_total;
	__aligned_u64 watch_pending;
	__aligned_u64 source_total;
	__aligned_u64 source_pending;
};

/**
 * enum mlx5_ep_watch_state - the low bits of a word
 * @MLX5_EP_WATCH_STATE_FREE: no watch has this slot
 * @MLX5_EP_WATCH_STATE_ARMED: the range is what it was when it was armed
 * @MLX5_EP_WATCH_STATE_SUSPECT: it may have changed; MLX5_EP_IOC_WATCH_VERIFY
 *	tells
 * @MLX5_EP_WATCH_STATE_STALE: it has changed; the word is never armed again
 *
 * The rest of the word is the watch's generation, never used twice in a
 * notifier. So the armed word is one constant through the life of a watch. To
 * ask whether the watch is valid, load the word and compare.
 */
enum mlx5_ep_watch_state {
	MLX5_EP_WATCH_STATE_FREE,
	MLX5_EP_WATCH_STATE_ARMED,
	MLX5_EP_WATCH_STATE_SUSPECT,
	MLX5_EP_WATCH_STATE_STALE,
};

#define MLX5_EP_WATCH_STATE_MASK 3ULL

/**
 * enum mlx5_ep_event_type - what an event is about
 * @MLX5_EP_EVENT_WATCH: a watched range was invalidated
 * @MLX5_EP_EVENT_MM_GONE: the notifier's address space is gone
 * @MLX5_EP_EVENT_DEVICE_REMOVED: the device is gone, or the context closed
 * @MLX5_EP_EVENT_XRC_COMM_EST: XRC receive QP: communication established
 * @MLX5_EP_EVENT_XRC_PATH_MIG: XRC receive QP: path migrated
 * @MLX5_EP_EVENT_XRC_PATH_MIG_ERR: XRC receive QP: path migration failed
 * @MLX5_EP_EVENT_XRC_QP_FATAL: XRC receive QP: local catastrophic error
 * @MLX5_EP_EVENT_XRC_QP_REQ_ERR: XRC receive QP: invalid request
 * @MLX5_EP_EVENT_XRC_QP_ACCESS_ERR: XRC receive QP: access violation
 * @MLX5_EP_EVENT_XRC_LAST_WQE: XRC receive QP: last WQE reached
 */
enum mlx5_ep_event_type {
	MLX5_EP_EVENT_WATCH,
	MLX5_EP_EVENT_MM_GONE,
	MLX5_EP_EVENT_DEVICE_REMOVED,
	MLX5_EP_EVENT_XRC_COMM_EST,
	MLX5_EP_EVENT_XRC_PATH_MIG,
	MLX5_EP_EVENT_XRC_PATH_MIG_ERR,
	MLX5_EP_EVENT_XRC_QP_FATAL,
	MLX5_EP_EVENT_XRC_QP_REQ_ERR,
	MLX5_EP_EVENT_XRC_QP_ACCESS_ERR,
	MLX5_EP_EVENT_XRC_LAST_WQE,
};

/**
 * enum mlx5_ep_watch_cause - why a watched range was invalidated
 * @MLX5_EP_WATCH_CAUSE_UNMAP: unmapped, replaced or moved away
 * @MLX5_EP_WATCH_CAUSE_CLEAR: page table entries were cleared, which may or
 *	may not have changed the pages
 * @MLX5_EP_WATCH_CAUSE_VERIFY: a verify call found other pages
 * @MLX5_EP_WATCH_CAUSE_DMABUF: the exporter of a dma-buf moved or revoked its
 *	memory
 */
enum mlx5_ep_watch_cause {
	MLX5_EP_WATCH_CAUSE_UNMAP = 1 << 0,
	MLX5_EP_WATCH_CAUSE_CLEAR = 1 << 1,
	MLX5_EP_WATCH_CAUSE_VERIFY = 1 << 2,
	MLX5_EP_WATCH_CAUSE_DMABUF = 1 << 3,
};

/**
 * struct mlx5_ep_event - what read() returns
 * @cookie: of the watch, or of the registration that made the event
 * @start: first address affected, page aligned (watches; else 0); of a watch of a
 *	dma-buf the offset in the buffer
 * @length: bytes affected, from the first to the last address that any of the
 *	@count invalidations touched within the watch (watches; else 0)
 * @word: the watch's armed word, which names it with @slot (watches; else 0)
 * @type: enum mlx5_ep_event_type
 * @slot: of the watch
 * @cause: watches: enum mlx5_ep_watch_cause, all that applied
 * @count: watches: invalidations coalesced into this event, saturating; else 1
 * @object: XRC receive QP: its number
 * @reserved: zero
 *
 * An event is 64 bytes long for ever; new fields come from @reserved.
 *
 * A watch is not hit again if that would not make a difference: once it is
 * stale, once it is suspect and an invalidation has covered all of it, or
 * once it has been hit eight times since it was armed. Such invalidations are
 * not in @count, @cause and @length. Verify looks at the whole range then.
 */
struct mlx5_ep_event {
	__aligned_u64 cookie;
	__aligned_u64 start;
	__aligned_u64 length;
	__aligned_u64 word;
	__u32 type;
	__u32 slot;
	__u32 cause;
	__u32 count;
	__u32 object;
	__u32 reserved[3];
};

/**
 * struct mlx5_ep_watch_add - one range to watch
 * @addr: first byte; rounded down to a page
 * @length: bytes, not 0; the end is rounded up to a page
 * @cookie: returned with each event
 * @word: out: the armed word, which names the watch with @slot
 * @slot: out: index of the word in the mapping
 * @flags: zero
 *
 * The range need not be mapped.
 */
struct mlx5_ep_watch_add {
	__aligned_u64 addr;
	__aligned_u64 length;
	__aligned_u64 cookie;
	__aligned_u64 word;
	__u32 slot;
	__u32 flags;
};

/**
 * struct mlx5_ep_watch_ref - one existing watch
 * @word: its armed word, as add returned it
 * @slot: its slot, as add returned it
 * @result: out: for verify, enum mlx5_ep_watch_state; for delete, 0; or a
 *	negative errno (ENOENT; EFAULT of %MLX5_EP_WATCH_VERIFY_RECORD)
 */
struct mlx5_ep_watch_ref {
	__aligned_u64 word;
	__u32 slot;
	__s32 result;
};

/**
 * enum mlx5_ep_watch_verify_flags - flags of MLX5_EP_IOC_WATCH_VERIFY
 * @MLX5_EP_WATCH_VERIFY_RECORD: take the fingerprints of the pages now mapped.
 *	To be called once the range has been registered. The answer is
 *	MLX5_EP_WATCH_STATE_ARMED where nothing happened to the range since it
 *	was armed; else the registration may be of other pages: start over. A
 *	range longer than 2 MiB needs 8 bytes for each 2 MiB, or the call fails
 *	with ENOMEM and nothing was recorded for this watch. The answer is -EFAULT
 *	where the module cannot look at the range: a page is not mapped, or it is not
 *	memory of the kernel's, as that of a GPU. The watch stays armed then, and other
 *	memory can come to the address without a hit: do not keep the registration,
 *	unless it is one on demand (ODP), which follows the page tables by itself.
 */
enum mlx5_ep_watch_verify_flags {
	MLX5_EP_WATCH_VERIFY_RECORD = 1 << 0,
};

/**
 * struct mlx5_ep_watch_batch - the argument of the watch ioctls
 * @entries: user address of an array, of &struct mlx5_ep_watch_add to add, else
 *	of &struct mlx5_ep_watch_ref
 * @count: its length, 1 to MLX5_EP_WATCH_MAX_BATCH
 * @flags: enum mlx5_ep_watch_verify_flags to verify, else 0
 * @entry_size: size of one entry in the calling program, a multiple of 8, at
 *	least the size in the first version of this header, at most
 *	MLX5_EP_WATCH_MAX_ENTRY
 * @reserved: zero
 *
 * Entries grow at the end. What the module does not know of a longer entry must
 * be zero, and is not written.
 *
 * MLX5_EP_IOC_WATCH_ADD: all are added, or none.
 *
 * MLX5_EP_IOC_WATCH_DEL: returns 0, or ENOENT where any was not found; the
 * others are deleted. An event of theirs that nobody has read is dropped.
 *
 * MLX5_EP_IOC_WATCH_VERIFY: compares, for each suspect watch, the pages now
 * mapped with the fingerprints. A watch has one for each 2 MiB from its first
 * page on, and those are compared that lie between the first and the last page
 * hit since the watch was armed. If other threads verify the same watch, one
 * of them compares and the others wait for it. It reads no anonymous page in,
 * but may read in a page of a shared file; if there is no memory for that, the call
 * fails with ENOMEM. The answer is right only while the range is registered: otherwise a
 * page can be freed and come back as another. So a page that is not pinned counts as
 * another one. A suspect watch whose fingerprints were never recorded becomes stale.
 */
struct mlx5_ep_watch_batch {
	__aligned_u64 entries;
	__u32 count;
	__u32 flags;
	__u32 entry_size;
	__u32 reserved;
};

/**
 * struct mlx5_ep_notifier_create - a notifier without a device
 * @capacity: watches that it has room for; 0: 65536, or the most that may be had
 * @flags: zero
 *
 * MLX5_EP_IOC_NOTIFIER_CREATE on /dev/mlx5_ep returns the file descriptor of a notifier of
 * the caller's address space, with O_CLOEXEC. Whatever device registers the memory, the
 * notifier tells of its watches, until the file is closed. Watches of dma-bufs and events
 * of XRC receive QPs need the notifier of a device (MLX5_EP_METHOD_NOTIFIER_CREATE).
 *
 * Errors: EINVAL: @flags is not zero; EDQUOT: a limit (notifier_max_watches,
 * notifiers_per_user) refuses; ENOMEM; EMFILE, ENFILE; EFAULT: the structure cannot be
 * read.
 */
struct mlx5_ep_notifier_create {
	__u32 capacity;
	__u32 flags;
};

#define MLX5_EP_IOC_MAGIC 'm'
#define MLX5_EP_IOC_NOTIFIER_CREATE \
	_IOW(MLX5_EP_IOC_MAGIC, 0xdf, struct mlx5_ep_notifier_create)
#define MLX5_EP_IOC_WATCH_ADD \
	_IOW(MLX5_EP_IOC_MAGIC, 0xe0, struct mlx5_ep_watch_batch)
#define MLX5_EP_IOC_WATCH_DEL \
	_IOW(MLX5_EP_IOC_MAGIC, 0xe1, struct mlx5_ep_watch_batch)
#define MLX5_EP_IOC_WATCH_VERIFY \
	_IOW(MLX5_EP_IOC_MAGIC, 0xe2, struct mlx5_ep_watch_batch)

#endif /* MLX5_EP_NOTIFIER_UAPI_H */
