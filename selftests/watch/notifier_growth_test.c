// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core */
/*
 * The calls for watches as a newer and as an older program makes them: entries
 * that are longer than this module knows, or shorter than the first version.
 */
#include "kselftest_harness.h"

#include <sys/ioctl.h>
#include <sys/mman.h>

#include <mlx5ep.h>

#include "sysfs.h"
#include "verbs.h"

#define PAGE 4096
#define LIMIT "/sys/module/mlx5_ep/parameters/notifier_max_watches"
#define ENTRIES 20		/* more than the module keeps on its stack */

struct long_add {
	struct mlx5_ep_watch_add known;
	uint64_t newer;
};

struct long_ref {
	struct mlx5_ep_watch_ref known;
	uint64_t newer[2];
};

FIXTURE(growth)
{
	struct verbs_setup setup;
	struct mlx5ep_notifier *n;
	int fd;
	char *mem;
	struct long_add adds[ENTRIES];
};

FIXTURE_SETUP(growth)
{
	unsigned int i;

	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	ASSERT_EQ(0, mlx5ep_notifier_create(self->setup.ctx, 64, &self->n));
	self->fd = mlx5ep_notifier_fd(self->n);
	self->mem = mmap(NULL, ENTRIES * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, self->mem);
	for (i = 0; i < ENTRIES; i++) {
		self->adds[i].known.addr = (uintptr_t)self->mem + i * PAGE;
		self->adds[i].known.length = PAGE;
		self->adds[i].known.cookie = 100 + i;
	}
}

FIXTURE_TEARDOWN(growth)
{
	munmap(self->mem, ENTRIES * PAGE);
	mlx5ep_notifier_destroy(self->n);
	verbs_close(&self->setup);
}

/* Raw ioctl: 0 or -errno. */
static int batch(int fd, unsigned long cmd, void *entries, uint32_t count,
		 uint32_t size)
{
	struct mlx5_ep_watch_batch batch = {
		.entries = (uintptr_t)entries,
		.count = count,
		.entry_size = size,
	};

	return ioctl(fd, cmd, &batch) ? -errno : 0;
}

static int notifier_growth_add(int fd, void *entries, uint32_t count,
			       uint32_t size)
{
	return batch(fd, MLX5_EP_IOC_WATCH_ADD, entries, count, size);
}

TEST_F(growth, entries_of_a_newer_program_are_taken)
{
	static const unsigned int counts[] = { 1, 8, ENTRIES };
	struct long_ref refs[ENTRIES] = {};
	unsigned int i, k, n;

	for (k = 0; k < 3; k++) {
		n = counts[k];
		ASSERT_EQ(0, notifier_growth_add(self->fd, self->adds, n,
						 sizeof(*self->adds)));
		for (i = 0; i < n; i++) {
			EXPECT_EQ(0, self->adds[i].newer);
			refs[i].known.word = self->adds[i].known.word;
			refs[i].known.slot = self->adds[i].known.slot;
		}
		/* Each entry made a watch of its own page. */
		ASSERT_EQ(0, madvise(self->mem + (n - 1) * PAGE, PAGE,
				     MADV_DONTNEED));
		EXPECT_EQ(0, batch(self->fd, MLX5_EP_IOC_WATCH_VERIFY, refs,
				   n, sizeof(*refs)));
		for (i = 0; i < n; i++)
			EXPECT_EQ(i == n - 1 ? MLX5_EP_WATCH_STATE_STALE :
					       MLX5_EP_WATCH_STATE_ARMED,
				  refs[i].known.result);
		EXPECT_EQ(0, batch(self->fd, MLX5_EP_IOC_WATCH_DEL, refs, n,
				   sizeof(*refs)));
		EXPECT_EQ(-ENOENT, batch(self->fd, MLX5_EP_IOC_WATCH_DEL,
					 refs, n, sizeof(*refs)));
		EXPECT_EQ(-ENOENT, refs[n - 1].known.result);
	}
}

TEST_F(growth, what_is_not_known_must_be_zero)
{
	struct mlx5ep_watch watches[64];
	struct mlx5_ep_watch_add ranges[64] = {};
	struct long_ref ref = { .newer = { 0, 1 } };
	unsigned int i;

	self->adds[ENTRIES - 1].newer = 1;
	EXPECT_EQ(-EOPNOTSUPP,
		  notifier_growth_add(self->fd, self->adds, ENTRIES,
				      sizeof(*self->adds)));
	EXPECT_EQ(-EOPNOTSUPP, batch(self->fd, MLX5_EP_IOC_WATCH_DEL, &ref, 1,
				     sizeof(ref)));
	/* What follows the entries of a call is not looked at. */
	self->adds[1].newer = 1;
	EXPECT_EQ(0, notifier_growth_add(self->fd, self->adds, 1,
					 sizeof(*self->adds)));
	ref.known.word = self->adds[0].known.word;
	ref.known.slot = self->adds[0].known.slot;
	EXPECT_EQ(0, batch(self->fd, MLX5_EP_IOC_WATCH_DEL, &ref.known, 1,
			   sizeof(ref.known)));
	/* Nothing is left: the notifier takes all that it has room for. */
	for (i = 0; i < 64; i++) {
		ranges[i].addr = (uintptr_t)self->mem;
		ranges[i].length = PAGE;
	}
	EXPECT_EQ(0, mlx5ep_watch_add_batch(self->n, ranges, watches, 64));
}

TEST_F(growth, a_size_that_no_program_can_have_is_refused)
{
	static const uint32_t sizes[] = {
		0, 8, sizeof(struct mlx5_ep_watch_add) - 8,
		sizeof(struct mlx5_ep_watch_add) + 4,
		MLX5_EP_WATCH_MAX_ENTRY + 8, 1u << 31, UINT32_MAX,
	};
	char room[2 * MLX5_EP_WATCH_MAX_ENTRY] = {};
	unsigned int i;

	memcpy(room, &self->adds[0].known, sizeof(self->adds[0].known));
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		EXPECT_EQ(-EINVAL,
			  notifier_growth_add(self->fd, room, 1, sizes[i]))
			TH_LOG("size %u", sizes[i]);
			EXPECT_EQ(0,
				  notifier_growth_add(self->fd, room, 1,
						      MLX5_EP_WATCH_MAX_ENTRY));
}

TEST_F(growth, a_reserved_field_must_be_zero)
{
	struct mlx5_ep_watch_batch call = {
		.entries = (uintptr_t)self->adds,
		.count = 1,
		.entry_size = sizeof(self->adds[0]),
		.reserved = 1,
	};

	EXPECT_EQ(-1, ioctl(self->fd, MLX5_EP_IOC_WATCH_ADD, &call));
	EXPECT_EQ(EINVAL, errno);
	self->adds[0].known.flags = 1;
	EXPECT_EQ(-EINVAL, notifier_growth_add(self->fd, self->adds, 1,
					       sizeof(self->adds[0])));
}

/* The newer field of the last entry is where nothing is mapped. */
TEST_F(growth, an_entry_that_cannot_be_read_to_its_end_is_refused)
{
	struct long_add *last;
	char *room;

	room = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		    MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, room);
	ASSERT_EQ(0, munmap(room + PAGE, PAGE));
	last = (void *)(room + PAGE - sizeof(last->known));
	last->known = self->adds[0].known;
	EXPECT_EQ(-EFAULT,
		  notifier_growth_add(self->fd, last, 1, sizeof(*last)));
	EXPECT_EQ(0,
		  notifier_growth_add(self->fd, last, 1, sizeof(last->known)));
	munmap(room, PAGE);
}

TEST_F(growth, the_library_takes_ranges_of_a_newer_program)
{
	struct mlx5ep_watch watches[ENTRIES];
	unsigned int i;

	memset(watches, 0xaa, sizeof(watches));
	ASSERT_EQ(0, _mlx5ep_watch_add_batch(self->n, &self->adds[0].known,
					     sizeof(*self->adds), watches,
					     ENTRIES));
	ASSERT_EQ(0, madvise(self->mem + 7 * PAGE, PAGE, MADV_DONTNEED));
	for (i = 0; i < ENTRIES; i++) {
		EXPECT_EQ(i != 7, mlx5ep_watch_valid(&watches[i]));
		EXPECT_EQ(0, watches[i].reserved[0]);
		EXPECT_EQ(0, watches[i].reserved[4]);
	}
}

TEST_F(growth, an_event_has_room_and_its_reserved_fields_are_zero)
{
	struct mlx5_ep_event event;

	ASSERT_EQ(0, notifier_growth_add(self->fd, self->adds, 1,
					 sizeof(*self->adds)));
	ASSERT_EQ(0, madvise(self->mem, PAGE, MADV_DONTNEED));
	EXPECT_EQ(-1, read(self->fd, &event, sizeof(event) - 1));
	EXPECT_EQ(EINVAL, errno);
	memset(&event, 0xaa, sizeof(event));
	ASSERT_EQ(64, read(self->fd, &event, 64));
	EXPECT_EQ(100, event.cookie);
	EXPECT_EQ(0, event.reserved[0]);
	EXPECT_EQ(0, event.reserved[1]);
	EXPECT_EQ(0, event.reserved[2]);
}

TEST_F(growth, a_range_has_fewer_than_two_to_the_32_pages)
{
	const uint64_t most = ((1ull << 32) - 1) * PAGE;
	struct mlx5_ep_watch_add range = { .addr = PAGE, .length = most };
	struct mlx5_ep_watch_ref ref = {};

	if (sizeof(void *) == 4) {
		/* No program of 32 bits has so many addresses. */
		EXPECT_EQ(-EFAULT, notifier_growth_add(self->fd, &range, 1,
						       sizeof(range)));
	} else {
		EXPECT_EQ(0, notifier_growth_add(self->fd, &range, 1,
						 sizeof(range)));
		ref.word = range.word;
		ref.slot = range.slot;
		EXPECT_EQ(0, batch(self->fd, MLX5_EP_IOC_WATCH_DEL, &ref, 1,
				   sizeof(ref)));
	}
	range.length = most + 1;
	EXPECT_EQ(-EINVAL,
		  notifier_growth_add(self->fd, &range, 1, sizeof(range)));
	/* The same number of bytes touches a page more. */
	range.addr++;
	range.length = most;
	EXPECT_EQ(-EINVAL,
		  notifier_growth_add(self->fd, &range, 1, sizeof(range)));
}

/* Slots of a notifier whose program asked for none; -errno: it was refused. */
static int slots_of_default(struct ibv_context *ctx)
{
	const struct mlx5_ep_notifier_page *page;
	struct mlx5ep_notifier *n;
	int ret;

	ret = mlx5ep_notifier_create(ctx, 0, &n);
	if (ret)
		return ret;
	page = mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED,
		    mlx5ep_notifier_fd(n), 0);
	ret = page == MAP_FAILED ? -errno : (int)page->capacity;
	if (page != MAP_FAILED)
		munmap((void *)page, sizeof(*page));
	mlx5ep_notifier_destroy(n);
	return ret;
}

TEST_F(growth, a_program_that_asks_for_no_number_gets_what_it_may_have)
{
	EXPECT_EQ(65536, slots_of_default(self->setup.ctx));
	EXPECT_EQ(0, file_write(LIMIT, "65537"));
	EXPECT_EQ(65536, slots_of_default(self->setup.ctx));
	EXPECT_EQ(0, file_write(LIMIT, "70"));
	EXPECT_EQ(70, slots_of_default(self->setup.ctx));
	EXPECT_EQ(0, file_write(LIMIT, "0"));
	EXPECT_EQ(-EINVAL, slots_of_default(self->setup.ctx));
	EXPECT_EQ(0, file_write(LIMIT, "1048576"));
}

/* An administrator may want to write "no limit". */
TEST_F(growth, no_limit_allows_more_than_there_can_be)
{
	const uint32_t most = 1u << 28;
	struct mlx5ep_notifier *n;

	EXPECT_EQ(0, file_write(LIMIT, "4294967295"));
	EXPECT_EQ(-EDQUOT, mlx5ep_notifier_create(self->setup.ctx, most + 1,
						  &n));
	EXPECT_EQ(-EDQUOT, mlx5ep_notifier_create(self->setup.ctx, UINT32_MAX,
						  &n));
	EXPECT_EQ(0, mlx5ep_notifier_create(self->setup.ctx, 1 << 21, &n));
	mlx5ep_notifier_destroy(n);
	EXPECT_EQ(0, file_write(LIMIT, "1048576"));
}

TEST_HARNESS_MAIN
