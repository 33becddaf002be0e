// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Calls on the file of a notifier, and on memory that it watches. All memory that
 * calls change is in one reserved area.
 */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

#define PAGE 4096u
#define BATCH_BYTES (64u * MLX5_EP_WATCH_MAX_ENTRY)

static __thread uint8_t entries[BATCH_BYTES];

static int file_of(struct fuzz_session *s, uint64_t which)
{
	return s->notifiers[which % 2];
}

static uint8_t *address(struct fuzz_session *s, uint64_t page)
{
	return s->mem + page % FUZZ_MEM_PAGES * PAGE;
}

/* Bytes from @page on, at most to the end of the area. */
static size_t length(uint64_t page, uint64_t pages)
{
	uint64_t room = FUZZ_MEM_PAGES - page % FUZZ_MEM_PAGES;

	pages = pages % FUZZ_MEM_PAGES + 1;
	return (pages < room ? pages : room) * PAGE;
}

/* The header of a batch; small values are right ones. */
static void batch_fill(struct mlx5_ep_watch_batch *batch, const uint64_t *a,
		       uint32_t size)
{
	memset(batch, 0, sizeof(*batch));
	batch->entries = a[0] == 1 ? a[5] : (uintptr_t)entries;
	batch->count = a[1] < 9 ? 1 + a[1] : (uint32_t)a[1];
	batch->entry_size = a[0] == 2 ? (uint32_t)a[5] : size;
	if (a[0] == 3)
		batch->entry_size = size + 8 * (a[5] % 32);
	if (a[0] == 4)
		batch->reserved = a[5];
	if (a[0] == 5)
		batch->flags = a[5];
}

void op_watch_add(struct fuzz_session *s, const uint64_t *a)
{
	struct mlx5_ep_watch_batch batch;
	struct mlx5_ep_watch_add *add;
	uint32_t i;

	memset(entries, 0, sizeof(entries));
	batch_fill(&batch, a, sizeof(*add));
	for (i = 0; i < 64; i++) {
		add = (void *)(entries + i * sizeof(*add));
		add->addr = a[3] >> 40 ? a[3] :
			    (uintptr_t)address(s, a[3] + i);
		add->length = a[4] < 9 ? (1 + a[4]) * PAGE : a[4];
		add->cookie = i;
		add->flags = a[0] == 6 ? a[5] : 0;
	}
	if (ioctl(file_of(s, a[2]), MLX5_EP_IOC_WATCH_ADD, &batch))
		return;
	add = (void *)entries;
	s->refs[s->next_ref % FUZZ_SLOTS].word = add->word;
	s->refs[s->next_ref++ % FUZZ_SLOTS].slot = add->slot;
}

static void refs_call(struct fuzz_session *s, unsigned int cmd, uint32_t flags,
		      const uint64_t *a)
{
	struct mlx5_ep_watch_batch batch;
	struct mlx5_ep_watch_ref *ref;
	uint32_t i;

	memset(entries, 0, sizeof(entries));
	batch_fill(&batch, a, sizeof(*ref));
	batch.flags |= flags;
	for (i = 0; i < 64; i++) {
		ref = (void *)(entries + i * sizeof(*ref));
		*ref = s->refs[(a[3] + i) % FUZZ_SLOTS];
		if (a[0] == 6)
			ref->slot ^= a[5];
		if (a[0] == 7)
			ref->word ^= a[5];
	}
	ioctl(file_of(s, a[2]), cmd, &batch);
}

void op_watch_del(struct fuzz_session *s, const uint64_t *a)
{
	refs_call(s, MLX5_EP_IOC_WATCH_DEL, 0, a);
}

void op_watch_verify(struct fuzz_session *s, const uint64_t *a)
{
	refs_call(s, MLX5_EP_IOC_WATCH_VERIFY,
		  a[4] & 1 ? MLX5_EP_WATCH_VERIFY_RECORD : 0, a);
}

void op_file_ioctl(struct fuzz_session *s, const uint64_t *a)
{
	unsigned int cmd = MLX5_EP_IOC_WATCH_ADD + a[1] % 4;

	memset(entries, a[5], sizeof(struct mlx5_ep_watch_batch));
	ioctl(file_of(s, a[2]), a[1] < 9 ? cmd : a[1],
	      a[3] < 9 ? (void *)entries : (void *)a[3]);
}

void op_file_read(struct fuzz_session *s, const uint64_t *a)
{
	int file = file_of(s, a[2]);
	struct pollfd poll_fd = { .fd = file, .events = POLLIN };
	void *to = a[0] == 1 ? (void *)a[5] : entries;
	size_t size = a[1] < 9 ? 64 * a[1] : a[1] % sizeof(entries);

	/* A read that waits is interrupted when the program ends. */
	fcntl(file, F_SETFL, a[3] % 8 ? O_NONBLOCK : 0);
	if (a[3] % 8 || poll(&poll_fd, 1, a[4] % 8))
		if (read(file, to, size) < 0)
			return;
}

void op_file_poll(struct fuzz_session *s, const uint64_t *a)
{
	struct pollfd poll_fd = { .fd = file_of(s, a[2]), .events = POLLIN };

	poll(&poll_fd, 1, a[1] % 8);
}

/* Map a part of the file, look at each page, and keep the mapping or not. */
void op_file_mmap(struct fuzz_session *s, const uint64_t *a)
{
	size_t size = a[1] < 9 ? (1 + a[1]) * PAGE : a[1] % (1u << 22);
	uint8_t *map, got;
	size_t at;

	map = mmap(NULL, size, a[0] ? a[5] % 8 : PROT_READ,
		   a[0] == 2 ? MAP_PRIVATE : MAP_SHARED, file_of(s, a[2]),
		   a[3] * PAGE);
	if (map == MAP_FAILED)
		return;
	/* The pipe reads in place of us, since a page may not be there. */
	for (at = 0; at < size && at < 16 * PAGE; at += PAGE)
		if (write(s->pipe[1], map + at, 1) == 1 &&
		    read(s->pipe[0], &got, 1) != 1)
			break;
	if (a[4] & 1)
		mprotect(map, PAGE, a[5] % 8);
	if (a[4] & 2)
		munmap(map, PAGE);
	if (!(a[4] & 4))
		munmap(map, size);
}

/* A notifier without a device; small values are right ones. */
void op_file_open(struct fuzz_session *s, const uint64_t *a)
{
	struct mlx5_ep_notifier_create create = {
		.capacity = a[0] % 4 ? a[0] % 4096 : a[4],
		.flags = a[1] < 8 ? 0 : a[1],
	};
	int *file = &s->notifiers[a[2] % 2], old = *file;
	int dev = open("/dev/mlx5_ep", O_RDONLY | O_CLOEXEC);
	int fd;

	if (dev < 0)
		return;
	fd = ioctl(dev, MLX5_EP_IOC_NOTIFIER_CREATE,
		   a[3] == 1 ? (void *)a[5] : &create);
	close(dev);
	if (fd < 0)
		return;
	*file = fd;
	if (old >= 0)
		close(old);
}

void op_file_close(struct fuzz_session *s, const uint64_t *a)
{
	int *file = &s->notifiers[a[2] % 2];
	int old = *file;

	*file = -1;
	if (old >= 0)
		close(old);
}

void op_mem_map(struct fuzz_session *s, const uint64_t *a)
{
	mmap(address(s, a[1]), length(a[1], a[2]), PROT_READ | PROT_WRITE,
	     (a[3] & 1 ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_FIXED,
	     -1, 0);
}

void op_mem_unmap(struct fuzz_session *s, const uint64_t *a)
{
	munmap(address(s, a[1]), length(a[1], a[2]));
}

void op_mem_advise(struct fuzz_session *s, const uint64_t *a)
{
	static const int advice[] = {
		MADV_DONTNEED, MADV_FREE, MADV_HUGEPAGE, MADV_COLLAPSE,
		MADV_PAGEOUT, MADV_COLD, MADV_DONTFORK, MADV_DOFORK,
	};

	madvise(address(s, a[1]), length(a[1], a[2]), advice[a[3] % 8]);
}

void op_mem_protect(struct fuzz_session *s, const uint64_t *a)
{
	mprotect(address(s, a[1]), length(a[1], a[2]), a[3] % 4);
}

void op_mem_move(struct fuzz_session *s, const uint64_t *a)
{
	size_t size = length(a[1], a[2] % 16);

	if (length(a[3], a[2] % 16) == size)
		mremap(address(s, a[1]), size, size,
		       MREMAP_MAYMOVE | MREMAP_FIXED, address(s, a[3]));
}

void op_mem_write(struct fuzz_session *s, const uint64_t *a)
{
	uint64_t i;
	char byte = a[3];

	for (i = 0; i <= a[2] % 16; i++)
		if (write(s->pipe[1], &byte, 1) == 1 &&
		    read(s->pipe[0], address(s, a[1] + i), 1) != 1 &&
		    read(s->pipe[0], &byte, 1) != 1)
			return;
}
