// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, smp: 2, mem: 2G, timeout: 300 */
/*
 * The notifier's file: which events it gives and when, how it answers invalid
 * requests, who may use it, and what is left after it.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <rdma/mlx5_ep_user_ioctl_cmds.h>

#include "fdpass.h"
#include "page.h"
#include "patience.h"
#include "sysfs.h"
#include "uverbs.h"
#include "watched.h"

#define PAGE	page_bytes()
#define SLOTS	1000
#define MANY	32

FIXTURE(notifier)
{
	struct verbs_setup setup;
	struct mlx5ep_notifier *n;
	int fd;
	void *mem;
};

FIXTURE_SETUP(notifier)
{
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	ASSERT_EQ(0, mlx5ep_notifier_create(self->setup.ctx, SLOTS, &self->n));
	self->fd = mlx5ep_notifier_fd(self->n);
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	self->mem = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, self->mem);
}

FIXTURE_TEARDOWN(notifier)
{
	munmap(self->mem, 64 * PAGE);
	mlx5ep_notifier_destroy(self->n);
	verbs_close(&self->setup);
}

/* Raw ioctl: 0 or -errno. */
static int watch_ioctl(int fd, unsigned long cmd, void *entries,
		       uint32_t count, uint32_t flags)
{
	struct mlx5_ep_watch_batch batch = {
		.entries = (uintptr_t)entries, .count = count, .flags = flags,
		.entry_size = cmd == MLX5_EP_IOC_WATCH_ADD ?
			sizeof(struct mlx5_ep_watch_add) :
			sizeof(struct mlx5_ep_watch_ref),
	};

	return ioctl(fd, cmd, &batch) ? -errno : 0;
}

static int add_raw(int fd, uint64_t addr, uint64_t length, uint32_t flags)
{
	struct mlx5_ep_watch_add add = {
		.addr = addr, .length = length, .flags = flags,
	};

	return watch_ioctl(fd, MLX5_EP_IOC_WATCH_ADD, &add, 1, 0);
}

TEST_F(notifier, tells_an_event_with_range_cause_and_cookie)
{
	struct mlx5_ep_event ev[4];
	struct mlx5ep_watch w;

	ASSERT_EQ(0, mlx5ep_watch_add(self->n, self->mem, 32 * PAGE, 7, &w));
	EXPECT_TRUE(mlx5ep_watch_valid(&w));
	EXPECT_EQ(-EAGAIN, mlx5ep_notifier_read(self->n, ev, 4));
	ASSERT_EQ(0, munmap(self->mem + 4 * PAGE, PAGE));
	ASSERT_EQ(0, madvise(self->mem + 9 * PAGE, 2 * PAGE, MADV_DONTNEED));
	EXPECT_FALSE(mlx5ep_watch_valid(&w));
	EXPECT_EQ(1, mlx5ep_notifier_page(self->n)->watch_pending);
	ASSERT_EQ(1, mlx5ep_notifier_read(self->n, ev, 4));
	EXPECT_EQ(MLX5_EP_EVENT_WATCH, ev[0].type);
	EXPECT_EQ(7, ev[0].cookie);
	EXPECT_EQ((uintptr_t)self->mem + 4 * PAGE, ev[0].start);
	EXPECT_EQ(PAGE, ev[0].length);
	EXPECT_EQ(MLX5_EP_WATCH_CAUSE_UNMAP, ev[0].cause);
	EXPECT_EQ(w.armed, ev[0].word);
	EXPECT_EQ(0, mlx5ep_notifier_page(self->n)->watch_pending);
	EXPECT_EQ(-EAGAIN, mlx5ep_notifier_read(self->n, ev, 4));
}

TEST_F(notifier, coalesces_the_events_of_a_watch)
{
	struct mlx5_ep_event ev[4];
	struct mlx5ep_watch w;

	ASSERT_EQ(0, mlx5ep_watch_add(self->n, self->mem, 32 * PAGE, 7, &w));
	ASSERT_EQ(0, madvise(self->mem + 3 * PAGE, PAGE, MADV_DONTNEED));
	ASSERT_EQ(0, madvise(self->mem + 20 * PAGE, PAGE, MADV_DONTNEED));
	ASSERT_EQ(0, munmap(self->mem + 10 * PAGE, PAGE));
	ASSERT_EQ(1, mlx5ep_notifier_read(self->n, ev, 4));
	EXPECT_EQ((uintptr_t)self->mem + 3 * PAGE, ev[0].start);
	EXPECT_EQ(18 * PAGE, ev[0].length);
	EXPECT_EQ(MLX5_EP_WATCH_CAUSE_UNMAP | MLX5_EP_WATCH_CAUSE_CLEAR,
		  ev[0].cause);
	EXPECT_EQ(3, ev[0].count);
}

TEST_F(notifier, forgets_the_event_of_a_deleted_watch)
{
	struct mlx5_ep_event ev;
	struct mlx5ep_watch w, again;

	ASSERT_EQ(0, mlx5ep_watch_add(self->n, self->mem, PAGE, 7, &w));
	ASSERT_EQ(0, madvise(self->mem, PAGE, MADV_DONTNEED));
	ASSERT_EQ(0, mlx5ep_watch_del(&w));
	EXPECT_EQ(-ENOENT, mlx5ep_watch_del(&w));
	EXPECT_EQ(-EAGAIN, mlx5ep_notifier_read(self->n, &ev, 1));
	/* The slot is used again, and the old handle stays invalid. */
	ASSERT_EQ(0, mlx5ep_watch_add(self->n, self->mem, PAGE, 8, &again));
	EXPECT_EQ(w.slot, again.slot);
	EXPECT_FALSE(mlx5ep_watch_valid(&w));
	EXPECT_EQ(-ENOENT, mlx5ep_watch_verify(&w));
	EXPECT_EQ(-ENOENT, mlx5ep_watch_del(&w));
	EXPECT_TRUE(mlx5ep_watch_valid(&again));
}

static void *unmap_later(void *mem)
{
	usleep(100000);
	munmap(mem, PAGE);
	return NULL;
}

TEST_F(notifier, wakes_who_reads_and_who_polls)
{
	struct pollfd p = { .fd = self->fd, .events = POLLIN };
	struct mlx5_ep_event ev;
	struct mlx5ep_watch w;
	pthread_t t;

	ASSERT_EQ(0, mlx5ep_watch_add(self->n, self->mem, 4 * PAGE, 1, &w));
	EXPECT_EQ(0, poll(&p, 1, 0));
	ASSERT_EQ(0, pthread_create(&t, NULL, unmap_later, self->mem));
	EXPECT_EQ(1, poll(&p, 1, EVENT_MS));
	EXPECT_EQ(POLLIN, p.revents);
	pthread_join(t, NULL);
	EXPECT_EQ(1, mlx5ep_notifier_read(self->n, &ev, 1));
	mlx5ep_watch_del(&w);

	ASSERT_EQ(0, mlx5ep_watch_add(self->n, self->mem + 4 * PAGE, PAGE, 2,
				      &w));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	ASSERT_EQ(0, pthread_create(&t, NULL, unmap_later,
				    self->mem + 4 * PAGE));
	EXPECT_EQ(1, mlx5ep_notifier_read(self->n, &ev, 1));
	EXPECT_EQ(2, ev.cookie);
	pthread_join(t, NULL);
}

/* The kernel takes 8 events at a time. */
TEST_F_TIMEOUT(notifier, a_read_with_room_for_more_waits_for_no_more, 20)
{
	struct mlx5ep_watch w[MANY];
	struct mlx5_ep_event ev[MANY + 1];
	unsigned int events, i;

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	for (events = 1; events <= MANY; events++) {
		for (i = 0; i < events; i++)
			ASSERT_EQ(0, mlx5ep_watch_add(self->n,
						      self->mem + i * PAGE,
						      PAGE, i, &w[i]));
		memset(self->mem, 1, MANY * PAGE);
		ASSERT_EQ(0, madvise(self->mem, MANY * PAGE, MADV_DONTNEED));
		EXPECT_EQ(events, mlx5ep_notifier_page(self->n)->watch_pending);
		EXPECT_EQ(events, mlx5ep_notifier_read(self->n, ev, MANY + 1));
		for (i = 0; i < events; i++)
			ASSERT_EQ(0, mlx5ep_watch_del(&w[i]));
	}
}

TEST_F(notifier, refuses_bad_ranges)
{
	EXPECT_EQ(-EINVAL, add_raw(self->fd, 0x10000, 0, 0));
	EXPECT_EQ(-EINVAL, add_raw(self->fd, 0x10000, PAGE, 1));
	EXPECT_EQ(-EINVAL, add_raw(self->fd, 0, ~0ull, 0));
	EXPECT_EQ(-EFAULT, add_raw(self->fd, 0xffff888000000000ull, PAGE, 0));
#ifdef __x86_64__
	/* On arm64 the highest byte is a tag, and user space may have 52 bits. */
	EXPECT_EQ(-EINVAL, add_raw(self->fd, ~0ull - PAGE, 4 * PAGE, 0));
	EXPECT_EQ(-EFAULT, add_raw(self->fd, (1ull << 47) - PAGE, 1ull << 20,
				   0));
#endif
	/* Unaligned and unmapped ranges are fine. */
	EXPECT_EQ(0, add_raw(self->fd, 0x12345, 1, 0));
}

TEST_F(notifier, refuses_bad_calls)
{
	struct mlx5_ep_watch_ref ref = { .word = 5, .slot = 3 };
	struct mlx5_ep_watch_add add = {
		.addr = (uintptr_t)self->mem, .length = PAGE,
	};

	EXPECT_EQ(-ENOTTY, watch_ioctl(self->fd, _IO('m', 0x10), &ref, 1, 0));
	EXPECT_EQ(-EINVAL, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_ADD, &add,
				       0, 0));
	EXPECT_EQ(-EINVAL, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_ADD, &add,
				       MLX5_EP_WATCH_MAX_BATCH + 1, 0));
	EXPECT_EQ(-EINVAL, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_ADD, &add,
				       1, 1));
	EXPECT_EQ(-EINVAL, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_VERIFY,
				       &ref, 1, 2));
	EXPECT_EQ(-EFAULT, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_ADD,
				       (void *)8, 1, 0));
	EXPECT_EQ(-ENOENT, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_DEL, &ref,
				       1, 0));
	EXPECT_EQ(0, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_VERIFY, &ref, 1,
				 0));
	EXPECT_EQ(-ENOENT, ref.result);
	ref.slot = 0xffffffff;
	EXPECT_EQ(-ENOENT, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_DEL, &ref,
				       1, 0));
	EXPECT_EQ(-1, ioctl(self->fd, MLX5_EP_IOC_WATCH_ADD, NULL));
	EXPECT_EQ(EFAULT, errno);
}

/* Neither entries nor the call itself can be where the kernel is. */
TEST_F(notifier, refuses_addresses_of_the_kernel)
{
	struct mlx5_ep_watch_ref ref = {};
	void *kernel = (void *)(1ul << (8 * sizeof(long) - 1));

	EXPECT_EQ(-1, ioctl(self->fd, MLX5_EP_IOC_WATCH_ADD, kernel));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-EFAULT, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_ADD, kernel,
				       1, 0));
	EXPECT_EQ(-EFAULT, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_DEL, kernel,
				       1, 0));
	EXPECT_EQ(-EFAULT, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_VERIFY,
				       kernel, 1, 0));
	EXPECT_EQ(-ENOENT, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_DEL, &ref, 1,
				       0));
}

static struct mlx5_ep_watch_ref ref_of(const struct mlx5ep_watch *w)
{
	return (struct mlx5_ep_watch_ref){ .word = w->armed, .slot = w->slot };
}

/* What the call before left on the kernel's stack are no entries of the next. */
TEST_F(notifier, touches_no_watch_that_a_call_does_not_name)
{
	struct mlx5_ep_watch_ref refs[2];
	struct mlx5ep_watch w[2];
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, mlx5ep_watch_add(self->n, self->mem + i * PAGE,
					      PAGE, 0, &w[i]));
		ASSERT_EQ(0, mlx5ep_watch_record(&w[i]));
		refs[i] = ref_of(&w[i]);
	}
	ASSERT_EQ(0, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_VERIFY, refs, 2,
				 0));
	ASSERT_EQ(0, madvise(self->mem + PAGE, PAGE, MADV_DONTNEED));
	EXPECT_FALSE(mlx5ep_watch_valid(&w[1]));
	EXPECT_EQ(0, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_VERIFY, refs, 1,
				 0));
	EXPECT_EQ(MLX5_EP_WATCH_STATE_SUSPECT,
		  *w[1].word & MLX5_EP_WATCH_STATE_MASK);
	EXPECT_EQ(-EFAULT, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_DEL,
				       (void *)8, 2, 0));
	EXPECT_EQ(0, mlx5ep_watch_del(&w[0]));
	EXPECT_EQ(0, mlx5ep_watch_del(&w[1]));
}

/* Whichever of a batch is gone already: the call says so, and the others are handled. */
TEST_F(notifier, tells_of_a_watch_of_a_batch_that_is_gone)
{
	struct mlx5_ep_watch_add adds[MANY] = {};
	struct mlx5_ep_watch_ref refs[MANY];
	struct mlx5ep_watch w[MANY];
	int gone, i;

	for (i = 0; i < MANY; i++) {
		adds[i].addr = (uintptr_t)self->mem;
		adds[i].length = PAGE;
	}
	for (gone = 0; gone < MANY; gone++) {
		ASSERT_EQ(0, mlx5ep_watch_add_batch(self->n, adds, w, MANY));
		for (i = 0; i < MANY; i++)
			refs[i] = ref_of(&w[i]);
		ASSERT_EQ(0, mlx5ep_watch_del(&w[gone]));
		EXPECT_EQ(0, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_VERIFY,
					 refs, MANY, 0));
		for (i = 0; i < MANY; i++)
			EXPECT_EQ(i == gone ? -ENOENT :
					      MLX5_EP_WATCH_STATE_ARMED,
				  refs[i].result);
		EXPECT_EQ(-ENOENT, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_DEL,
					       refs, MANY, 0)) {
			TH_LOG("number %d was gone", gone);
		}
		for (i = 0; i < MANY; i++) {
			EXPECT_EQ(i == gone ? -ENOENT : 0, refs[i].result);
			EXPECT_EQ(-ENOENT, mlx5ep_watch_del(&w[i]));
		}
	}
}

/* Entries that cannot be read end a call; those of later pieces stay. */
TEST_F(notifier, deletes_nothing_behind_entries_that_cannot_be_read)
{
	/* As many as 4 KiB hold, which is more than one piece. */
	const unsigned int before = 4096 / sizeof(struct mlx5_ep_watch_ref);
	const unsigned int count = 2 * before;
	struct mlx5_ep_watch_ref *refs;
	struct mlx5ep_watch w;
	void *mem;

	mem = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		   MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, mem);
	/* The first half lies where nothing can be read. */
	refs = mem + PAGE - before * sizeof(*refs);
	ASSERT_EQ(0, mlx5ep_watch_add(self->n, self->mem, PAGE, 0, &w));
	refs[count - 1] = ref_of(&w);
	ASSERT_EQ(0, munmap(mem, PAGE));
	EXPECT_EQ(-EFAULT, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_DEL, refs,
				       count, 0));
	EXPECT_EQ(0, mlx5ep_watch_del(&w));
	munmap(mem + PAGE, PAGE);
}

TEST_F(notifier, adds_nothing_where_the_answer_cannot_be_written)
{
	struct mlx5_ep_watch_add *ro;
	struct mlx5ep_watch w;

	ro = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		  MAP_ANONYMOUS, -1, 0);
	ro->addr = (uintptr_t)self->mem;
	ro->length = PAGE;
	ASSERT_EQ(0, mprotect(ro, PAGE, PROT_READ));
	EXPECT_EQ(-EFAULT, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_ADD, ro, 1,
				       0));
	/* A range that is refused has no answer. */
	ASSERT_EQ(0, mprotect(ro, PAGE, PROT_READ | PROT_WRITE));
	ro->length = 0;
	ASSERT_EQ(0, mprotect(ro, PAGE, PROT_READ));
	EXPECT_EQ(-EINVAL, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_ADD, ro, 1,
				       0));
	ASSERT_EQ(0, mlx5ep_watch_add(self->n, self->mem, PAGE, 0, &w));
	EXPECT_EQ(0, w.slot);
}

/* The kernel copies a batch in pieces. */
TEST_F(notifier, adds_nothing_where_a_later_answer_cannot_be_written)
{
	/* As many as 4 KiB hold, which is more than one piece. */
	const unsigned int before = 4096 / sizeof(struct mlx5_ep_watch_add);
	const unsigned int count = 2 * before;
	struct mlx5_ep_watch_add *adds, all[SLOTS] = {};
	struct mlx5ep_watch w[SLOTS];
	unsigned int i;
	void *mem;

	mem = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		   MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, mem);
	/* The second half lies where nobody can write. */
	adds = mem + PAGE - before * sizeof(*adds);
	for (i = 0; i < SLOTS; i++) {
		all[i].addr = (uintptr_t)self->mem;
		all[i].length = PAGE;
	}
	memcpy(adds, all, count * sizeof(*adds));
	ASSERT_EQ(0, mprotect(mem + PAGE, PAGE, PROT_READ));
	EXPECT_EQ(-EFAULT, watch_ioctl(self->fd, MLX5_EP_IOC_WATCH_ADD, adds,
				       count, 0));
	/* All slots are free. */
	EXPECT_EQ(0, mlx5ep_watch_add_batch(self->n, all, w, SLOTS));
}

TEST_F(notifier, keeps_events_that_cannot_be_written)
{
	struct mlx5_ep_event ev;
	struct mlx5ep_watch w;

	ASSERT_EQ(0, mlx5ep_watch_add(self->n, self->mem, PAGE, 3, &w));
	ASSERT_EQ(0, munmap(self->mem, PAGE));
	EXPECT_EQ(-1, read(self->fd, self->mem, sizeof(ev)));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, read(self->fd, &ev, sizeof(ev) - 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(1, mlx5ep_notifier_read(self->n, &ev, 1));
}

TEST_F(notifier, writes_to_a_buffer_what_it_reads_and_no_more)
{
	struct mlx5_ep_event ev[9], was;
	struct mlx5ep_watch w;
	int i;

	memset(ev, 0xa5, sizeof(ev));
	was = ev[8];
	EXPECT_EQ(-EAGAIN, mlx5ep_notifier_read(self->n, ev, 9));
	EXPECT_EQ(0, memcmp(&ev[0], &was, sizeof(was)));
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, mlx5ep_watch_add(self->n, self->mem, PAGE, i,
					      &w));
	ASSERT_EQ(0, munmap(self->mem, PAGE));
	EXPECT_EQ(8, mlx5ep_notifier_read(self->n, ev, 9));
	EXPECT_EQ(0, memcmp(&ev[8], &was, sizeof(was)));
}

TEST_F(notifier, adds_all_of_a_batch_or_nothing)
{
	struct mlx5_ep_watch_add adds[SLOTS + 1] = {};
	struct mlx5ep_watch w[SLOTS + 1];
	int i;

	for (i = 0; i <= SLOTS; i++) {
		adds[i].addr = (uintptr_t)self->mem;
		adds[i].length = PAGE;
	}
	EXPECT_EQ(-ENOSPC, mlx5ep_watch_add_batch(self->n, adds, w,
						  SLOTS + 1));
	adds[7].length = 0;
	EXPECT_EQ(-EINVAL, mlx5ep_watch_add_batch(self->n, adds, w, SLOTS));
	adds[7].length = PAGE;
	adds[507].length = 0;
	EXPECT_EQ(-EINVAL, mlx5ep_watch_add_batch(self->n, adds, w, SLOTS));
	adds[507].length = PAGE;
	ASSERT_EQ(0, mlx5ep_watch_add_batch(self->n, adds, w, SLOTS));
	EXPECT_EQ(-ENOSPC, add_raw(self->fd, 0x10000, PAGE, 0));
	ASSERT_EQ(0, munmap(self->mem, PAGE));
	for (i = 0; i < SLOTS; i++)
		ASSERT_FALSE(mlx5ep_watch_valid(&w[i]));
	EXPECT_EQ(SLOTS, mlx5ep_notifier_page(self->n)->watch_pending);
	EXPECT_EQ(0, mlx5ep_watch_del_batch(w, SLOTS));
	EXPECT_EQ(0, mlx5ep_notifier_page(self->n)->watch_pending);
	ASSERT_EQ(0, mlx5ep_watch_add_batch(self->n, adds, w, SLOTS));
}

TEST_F(notifier, shows_its_words_read_only)
{
	size_t len = MLX5_EP_NOTIFIER_WORDS_OFFSET + 2 * PAGE;
	void *map;

	EXPECT_EQ(MAP_FAILED, mmap(NULL, len, PROT_READ | PROT_WRITE,
				   MAP_SHARED, self->fd, 0));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, len, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE, self->fd, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, len, PROT_READ, MAP_PRIVATE, self->fd,
				   0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 64 * PAGE, PROT_READ, MAP_SHARED,
				   self->fd, 0));
	EXPECT_EQ(EINVAL, errno);
	map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(-1, mprotect(map, PAGE, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(0, munmap(map, PAGE));
}

TEST_F(notifier, kills_the_words_when_it_is_closed)
{
	const size_t words = MLX5_EP_NOTIFIER_WORDS_OFFSET + 8 * SLOTS;
	const volatile struct mlx5_ep_notifier_page *page;
	struct mlx5ep_watch w;
	int fd = dup(self->fd);

	page = mmap(NULL, words, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, mlx5ep_watch_add(self->n, self->mem, PAGE, 0, &w));
	w.word = (void *)page + MLX5_EP_NOTIFIER_WORDS_OFFSET + 8 * w.slot;
	EXPECT_TRUE(mlx5ep_watch_valid(&w));
	/*
	 * The mapping keeps the file open. The notifier ends when both are
	 * gone.
	 */
	close(fd);
	mlx5ep_notifier_destroy(self->n);
	EXPECT_TRUE(mlx5ep_watch_valid(&w));
	ASSERT_EQ(0, munmap(self->mem, PAGE));
	EXPECT_FALSE(mlx5ep_watch_valid(&w));
	munmap((void *)page, words);
	ASSERT_EQ(0, mlx5ep_notifier_create(self->setup.ctx, 1, &self->n));
}

TEST_F(notifier, is_of_no_use_to_a_forked_child)
{
	struct mlx5ep_watch w;
	int status;
	pid_t pid;

	ASSERT_EQ(0, mlx5ep_watch_add(self->n, self->mem, PAGE, 0, &w));
	pid = fork();
	if (!pid) {
		struct mlx5_ep_event ev;
		int bad = 0;

		bad |= mlx5ep_notifier_usable(self->n);
		bad |= (add_raw(self->fd, 0x10000, PAGE, 0) != -EXDEV) << 1;
		bad |= (mlx5ep_watch_del(&w) != -EXDEV) << 2;
		bad |= (mlx5ep_watch_verify(&w) != -EXDEV) << 3;
		bad |= (mlx5ep_notifier_read(self->n, &ev, 1) != -EXDEV) << 4;
		bad |= (mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->fd, 0) !=
			MAP_FAILED || errno != EXDEV) << 5;
		munmap(self->mem, PAGE);
		mlx5ep_notifier_destroy(self->n);
		_exit(bad);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(mlx5ep_watch_valid(&w));
	ASSERT_EQ(0, munmap(self->mem, PAGE));
	EXPECT_FALSE(mlx5ep_watch_valid(&w));
}

TEST_F(notifier, tells_who_is_left_that_the_address_space_is_gone)
{
	struct pollfd p = { .events = POLLIN };
	struct mlx5_ep_event ev;
	int sock[2], fd, status;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	pid = fork();
	if (!pid) {
		if (watched_give_notifier(sock[1]))
			_exit(1);
		pause();
	}
	fd = fdpass_receive(sock[0]);
	ASSERT_GE(fd, 0);
	EXPECT_EQ(-1, read(fd, &ev, sizeof(ev)));
	EXPECT_EQ(EXDEV, errno);
	p.fd = fd;
	EXPECT_EQ(0, poll(&p, 1, 0));
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(1, poll(&p, 1, EVENT_MS));
	ASSERT_EQ(sizeof(ev), read(fd, &ev, sizeof(ev)));
	EXPECT_EQ(MLX5_EP_EVENT_MM_GONE, ev.type);
	EXPECT_EQ(0, read(fd, &ev, sizeof(ev)));
	close(fd);
}

TEST_F(notifier, obeys_its_limits)
{
	struct uverbs_call call;
	struct mlx5ep_notifier *n;
	uint64_t wide = 1;
	uint32_t zero = 0;

	EXPECT_EQ(-EDQUOT,
		  mlx5ep_notifier_create(self->setup.ctx, (1 << 20) + 1, &n));
	uverbs_begin(&call, MLX5_EP_OBJECT_NOTIFIER,
		     MLX5_EP_METHOD_NOTIFIER_CREATE);
	uverbs_handle(&call, MLX5_EP_ATTR_NOTIFIER_CREATE_HANDLE, 0);
	uverbs_in(&call, MLX5_EP_ATTR_NOTIFIER_CREATE_CAPACITY, &zero, 4);
	EXPECT_EQ(-EINVAL, uverbs_do(self->setup.ctx, &call));
	uverbs_begin(&call, MLX5_EP_OBJECT_NOTIFIER,
		     MLX5_EP_METHOD_NOTIFIER_CREATE);
	uverbs_handle(&call, MLX5_EP_ATTR_NOTIFIER_CREATE_HANDLE, 0);
	uverbs_in(&call, MLX5_EP_ATTR_NOTIFIER_CREATE_CAPACITY, &wide, 8);
	EXPECT_EQ(-EINVAL, uverbs_do(self->setup.ctx, &call));
}

/* A row of the table "watches". */
struct row {
	int pid;
	unsigned int watches, capacity;
	unsigned long long bytes, events, unread, xrc_events, xrc_unread;
	char comm[32];
};

/* Notifiers of this process that debugfs knows, the last one in @row. */
static int rows_of_mine(struct row *row)
{
	FILE *file = debugfs_open("watches");
	struct row r;
	int n = 0;

	if (!file)
		return -errno;
	while (fscanf(file, "%d %u %u %llu %llu %llu %llu %llu %31[^\n]",
		      &r.pid, &r.watches, &r.capacity, &r.bytes, &r.events,
		      &r.unread, &r.xrc_events, &r.xrc_unread, r.comm) == 9) {
		if (r.pid != getpid())
			continue;
		*row = r;
		n++;
	}
	fclose(file);
	return n;
}

TEST_F(notifier, is_told_in_debugfs)
{
	struct mlx5_ep_watch_add adds[SLOTS] = {};
	struct mlx5ep_watch w[SLOTS];
	unsigned long long empty;
	struct mlx5_ep_event ev;
	char comm[32] = {};
	FILE *file;
	struct row row;
	int i;

	ASSERT_EQ(1, rows_of_mine(&row));
	EXPECT_EQ(0, row.watches);
	EXPECT_EQ(SLOTS, row.capacity);
	EXPECT_EQ(0, row.events + row.unread + row.xrc_events + row.xrc_unread);
	file = fopen("/proc/self/comm", "r");
	ASSERT_NE(NULL, file);
	ASSERT_EQ(1, fscanf(file, "%31[^\n]", comm));
	fclose(file);
	EXPECT_STREQ(comm, row.comm);
	empty = row.bytes;
	EXPECT_GE(empty, PAGE);

	for (i = 0; i < SLOTS; i++) {
		adds[i].addr = (uintptr_t)self->mem + i % 64 * PAGE;
		adds[i].length = 1;
	}
	ASSERT_EQ(0, mlx5ep_watch_add_batch(self->n, adds, w, SLOTS));
	ASSERT_EQ(0, mlx5ep_watch_del_batch(w, 100));
	ASSERT_EQ(0, munmap(self->mem + 63 * PAGE, PAGE));
	ASSERT_EQ(1, rows_of_mine(&row));
	EXPECT_EQ(SLOTS - 100, row.watches);
	/* 4 KiB hold 50 slots. Each slot also has a word. */
	if (PAGE == 4096)
		EXPECT_EQ(empty + SLOTS / 50 * PAGE + 2 * PAGE, row.bytes);
	/* Slots 127, 191, ... 959 are those left of the last page's. */
	EXPECT_EQ(14, row.events);
	EXPECT_EQ(14, row.unread);
	ASSERT_EQ(1, mlx5ep_notifier_read(self->n, &ev, 1));
	ASSERT_EQ(1, rows_of_mine(&row));
	EXPECT_EQ(14, row.events);
	EXPECT_EQ(13, row.unread);

	mlx5ep_notifier_destroy(self->n);
	EXPECT_EQ(0, rows_of_mine(&row));
	ASSERT_EQ(0, mlx5ep_notifier_create(self->setup.ctx, 1, &self->n));
}

TEST_F(notifier, watches_a_million_ranges)
{
	/*
	 * With larger pages the split of the mapping hits all that one page of a page
	 * table maps, 512 MiB with pages of 64 KiB, as the table is there already.
	 */
	const int near = PAGE == 4096 ? 1 : PAGE / 8;
	static struct mlx5_ep_watch_add adds[1000];
	struct mlx5ep_notifier *n;
	struct mlx5_ep_event ev;
	struct mlx5ep_watch *w;
	void *big;
	int i, j;

	w = calloc(1000000, sizeof(*w));
	ASSERT_NE(NULL, w);
	ASSERT_EQ(0, mlx5ep_notifier_create(self->setup.ctx, 1000000, &n));
	big = mmap(NULL, 1000000 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		   MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ASSERT_NE(MAP_FAILED, big);
	for (i = 0; i < 1000; i++) {
		for (j = 0; j < 1000; j++) {
			adds[j].addr = (uintptr_t)big + (i * 1000 + j) * PAGE;
			adds[j].length = PAGE;
			adds[j].cookie = i * 1000 + j;
		}
		ASSERT_EQ(0, mlx5ep_watch_add_batch(n, adds, w + i * 1000,
						    1000));
	}
	ASSERT_EQ(0, munmap(big + 123456 * PAGE, PAGE));
	EXPECT_TRUE(mlx5ep_watch_valid(&w[123456 - near]));
	EXPECT_FALSE(mlx5ep_watch_valid(&w[123456]));
	EXPECT_TRUE(mlx5ep_watch_valid(&w[123456 + near]));
	ASSERT_EQ(1, mlx5ep_notifier_read(n, &ev, 1));
	EXPECT_GE(123456, ev.cookie);
	EXPECT_LT(123456 - near, ev.cookie);
	ASSERT_EQ(0, munmap(big, 1000000 * PAGE));
	for (i = 0; i < 1000000; i++)
		ASSERT_FALSE(mlx5ep_watch_valid(&w[i]));
	EXPECT_EQ(999999, mlx5ep_notifier_page(n)->watch_pending);
	EXPECT_EQ(0, mlx5ep_notifier_destroy(n));
	free(w);
}

TEST_HARNESS_MAIN
