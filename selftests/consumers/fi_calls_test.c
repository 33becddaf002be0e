// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * The monitor that libmlx5ep-fi gives to libfabric, compiled into this program: which
 * regions have a watch and what is said of them, which events libfabric is told, and what a
 * call that fails, and a child, leave alone. libfabric, watches and memory are made up.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../userlib/listener.h"
#include "cancelled.h"
#include "steps.h"

static void *fake_calloc(size_t n, size_t size);
static void fake_free(void *room);

#define calloc fake_calloc
#define free fake_free
#include "../../userlib/libfabric/fi_regions.c"
#define pthread_mutex_lock step_lock
#define pthread_mutex_unlock step_unlock
#include "../../userlib/libfabric/fi_monitor.c"
#undef calloc
#undef free
#undef pthread_mutex_lock
#undef pthread_mutex_unlock
#include "said.h"

#define REGION	4096ul
#define MANY	1000
#define EVENTS	200

static struct {
	bool no_fabric;		/* the program has not loaded libfabric */
	int possible;		/* what listener_possible() says */
	int start_ret, starts;
	int open_ret, bind_ret;
	int opened, closed, bound;
	uint32_t version;
	bool child;

	int blocks;
	bool no_memory, overrun;
	int watches;
	int add_ret, record_ret, verify_ret;
	uint64_t word;		/* of all watches */
	unsigned int verifies;

	struct mlx5_ep_event events[EVENTS];
	int n_events, next_event;
	int interrupts;		/* reads that a signal ends, before others */
	int end;		/* what a read says when there are no more */
	int notified;
	const void *notified_addr;
	size_t notified_len;
} fake = { .possible = -EOPNOTSUPP };

struct block {
	size_t size;
	char room[];
};

static void *fake_calloc(size_t n, size_t size)
{
	struct block *block;

	if (fake.no_memory)
		return NULL;
	block = calloc(1, sizeof(*block) + n * size + 1);
	block->size = n * size;
	block->room[block->size] = 'x';
	fake.blocks++;
	step();
	return block->room;
}

static void fake_free(void *room)
{
	struct block *block = (void *)((char *)room - offsetof(struct block, room));

	if (!room)
		return;
	fake.overrun |= block->room[block->size] != 'x';
	fake.blocks--;
	free(block);
	step();
}

int listener_possible(void)
{
	return fake.possible;
}

int listener_start(struct listener *listener)
{
	step_outside();
	if (fake.start_ret)
		return fake.start_ret;
	fake.starts++;
	listener->notifier = (struct mlx5ep_notifier *)&fake;
	return 0;
}

bool mlx5ep_notifier_usable(const struct mlx5ep_notifier *notifier)
{
	return notifier && !fake.child;
}

ssize_t mlx5ep_notifier_read(struct mlx5ep_notifier *notifier,
			     struct mlx5_ep_event *events, size_t count)
{
	ssize_t n = 0;

	if (fake.interrupts) {
		fake.interrupts--;
		return -EINTR;
	}
	while (n < count && fake.next_event < fake.n_events)
		events[n++] = fake.events[fake.next_event++];
	return n ? n : fake.end;
}

int mlx5ep_watch_add(struct mlx5ep_notifier *notifier, const void *addr, size_t length,
		     uint64_t cookie, struct mlx5ep_watch *watch)
{
	pthread_testcancel();
	if (fake.add_ret)
		return fake.add_ret;
	fake.watches++;
	*watch = (struct mlx5ep_watch) { .word = &fake.word, .armed = fake.word };
	return 0;
}

int mlx5ep_watch_del(struct mlx5ep_watch *watch)
{
	pthread_testcancel();
	fake.watches -= watch->word == &fake.word;
	return 0;
}

int mlx5ep_watch_record(struct mlx5ep_watch *watch)
{
	return fake.record_ret;
}

int mlx5ep_watch_verify(struct mlx5ep_watch *watch)
{
	pthread_testcancel();
	fake.verifies++;
	return fake.verify_ret;
}

static void told(struct fid_mem_monitor *fid, const void *addr, size_t len)
{
	fake.notified++;
	fake.notified_addr = addr;
	fake.notified_len = len;
}

static struct fi_ops_mem_notify notify_ops = {
	.size = sizeof(notify_ops),
	.notify = told,
};

static int cache_close(struct fid *fid)
{
	fake.closed++;
	return 0;
}

static int cache_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
	if (fake.bind_ret)
		return fake.bind_ret;
	fake.bound += other == &monitor.fid.fid && other->fclass == FI_CLASS_MEM_MONITOR;
	monitor.fid.import_ops = &notify_ops;
	return 0;
}

static struct fi_ops cache_ops = {
	.size = sizeof(cache_ops),
	.close = cache_close,
	.bind = cache_bind,
};

static struct fid cache_fid = { .ops = &cache_ops };

static int open_fid(uint32_t version, const char *name, void *attr, size_t attr_len, uint64_t flags,
	    struct fid **fid, void *context)
{
	step_outside();
	fake.version = version;
	if (fake.open_ret)
		return fake.open_ret;
	fake.opened++;
	*fid = &cache_fid;
	return 0;
}

void (*fi_found_first)(void);

void *fi_found(const char *name)
{
	return fake.no_fabric || strcmp(name, "fi_open") ? NULL : open_fid;
}

FIXTURE(fi)
{
	struct fid_mem_monitor *fid;
	const struct fi_ops_mem_monitor *ops;
};

FIXTURE_SETUP(fi)
{
	fake.possible = 0;
	fake.end = -EAGAIN;
	ASSERT_EQ(0, mlx5ep_fi_monitor_import());
	self->fid = &monitor.fid;
	self->ops = monitor.fid.export_ops;
}

FIXTURE_TEARDOWN(fi)
{
	EXPECT_TRUE(thread_is_free());
	fake.child = false;
	self->ops->stop(self->fid);
	EXPECT_EQ(0, fake.watches);
	/* The table stays. */
	EXPECT_GE(1, fake.blocks);
	EXPECT_FALSE(fake.overrun);
}

static const void *region(int i)
{
	return (const void *)(i * REGION);
}

static int subscribe(FIXTURE_DATA(fi) *self, int i)
{
	return self->ops->subscribe(self->fid, region(i), REGION);
}

static void unsubscribe(FIXTURE_DATA(fi) *self, int i)
{
	self->ops->unsubscribe(self->fid, region(i), REGION);
}

static bool valid(FIXTURE_DATA(fi) *self, int i)
{
	return self->ops->valid(self->fid, region(i), REGION);
}

static struct mlx5ep_fi_monitor_stats stats(void)
{
	struct mlx5ep_fi_monitor_stats now;

	mlx5ep_fi_monitor_query(&now);
	return now;
}

TEST_F(fi, finds_each_of_very_many_regions)
{
	int i;

	ASSERT_EQ(0, self->ops->start(self->fid));
	for (i = 0; i < MANY; i++)
		ASSERT_EQ(0, subscribe(self, i));
	EXPECT_EQ(MANY, stats().watched);
	EXPECT_EQ(MANY, fake.watches);
	for (i = 0; i < MANY; i++)
		ASSERT_TRUE(valid(self, i));
	EXPECT_EQ(MANY, fake.watches);
	/* No more in a bucket than there are regions to each. */
	EXPECT_EQ(1023, monitor.regions.mask);
	EXPECT_FALSE(self->ops->valid(self->fid, region(1), REGION + 1));
	EXPECT_FALSE(valid(self, MANY));
	EXPECT_EQ(2, stats().stale);
	for (i = 0; i < MANY; i += 2)
		unsubscribe(self, i);
	EXPECT_EQ(MANY / 2, stats().watched);
	for (i = 0; i < MANY; i++)
		ASSERT_EQ(i % 2, valid(self, i));
	self->ops->stop(self->fid);
	EXPECT_EQ(0, stats().watched);
	EXPECT_EQ(0, fake.watches);
	EXPECT_FALSE(valid(self, 1));
	/* Each bucket is empty. */
	ASSERT_EQ(0, subscribe(self, 1));
	unsubscribe(self, 1);
}

TEST_F(fi, widens_the_table_when_it_has_a_region_for_each_bucket)
{
	size_t first;
	int i;

	ASSERT_EQ(0, self->ops->start(self->fid));
	first = monitor.regions.mask;
	for (i = 0; i <= first; i++) {
		EXPECT_EQ(first, monitor.regions.mask);
		ASSERT_EQ(0, subscribe(self, i));
	}
	EXPECT_EQ(2 * first + 1, monitor.regions.mask);
}

TEST_F(fi, keeps_a_watch_for_its_last_subscriber)
{
	ASSERT_EQ(0, self->ops->start(self->fid));
	ASSERT_EQ(0, subscribe(self, 1));
	ASSERT_EQ(0, subscribe(self, 1));
	EXPECT_EQ(1, fake.watches);
	EXPECT_EQ(1, stats().watched);
	unsubscribe(self, 1);
	EXPECT_EQ(1, fake.watches);
	EXPECT_TRUE(valid(self, 1));
	EXPECT_EQ(0, fake.verifies);
	/* What is stale gets no other subscriber, but that one ends it too. */
	fake.word++;
	fake.verify_ret = -ESTALE;
	EXPECT_FALSE(valid(self, 1));
	EXPECT_EQ(-EAGAIN, subscribe(self, 1));
	unsubscribe(self, 1);
	EXPECT_EQ(1, fake.watches);
	unsubscribe(self, 1);
	EXPECT_EQ(0, fake.watches);
	unsubscribe(self, 1);
	EXPECT_EQ(3, stats().subscribed);
	EXPECT_EQ(1, stats().refused);
	EXPECT_EQ(1, stats().valid);
	EXPECT_EQ(1, stats().stale);
	EXPECT_EQ(0, stats().watched);
}

TEST_F(fi, verifies_what_may_have_changed)
{
	ASSERT_EQ(0, self->ops->start(self->fid));
	ASSERT_EQ(0, subscribe(self, 1));
	fake.word++;
	EXPECT_TRUE(valid(self, 1));
	EXPECT_EQ(1, fake.verifies);
	EXPECT_EQ(1, stats().verified);
	EXPECT_EQ(1, stats().valid);
	EXPECT_EQ(0, subscribe(self, 1));
}

TEST_F(fi, subscribes_nothing_without_watch_or_memory)
{
	struct mlx5ep_fi_monitor_stats all;

	ASSERT_EQ(0, self->ops->start(self->fid));
	fake.add_ret = -ENOSPC;
	EXPECT_EQ(-ENOSPC, subscribe(self, 1));
	fake.add_ret = 0;
	fake.record_ret = -EAGAIN;
	EXPECT_EQ(-EAGAIN, subscribe(self, 1));
	fake.record_ret = 0;
	fake.no_memory = true;
	EXPECT_EQ(-ENOMEM, subscribe(self, 1));
	fake.no_memory = false;
	EXPECT_EQ(0, fake.watches);
	EXPECT_EQ(1, fake.blocks);
	EXPECT_FALSE(valid(self, 1));
	all = stats();
	EXPECT_EQ(3, all.subscribed);
	EXPECT_EQ(3, all.refused);
	EXPECT_EQ(0, all.watched);
}

TEST_F(fi, works_on_if_the_table_cannot_grow)
{
	int i;

	ASSERT_EQ(0, self->ops->start(self->fid));
	for (i = 0; i < REGIONS_FIRST_BUCKETS - 1; i++)
		ASSERT_EQ(0, subscribe(self, i));
	fake.no_memory = true;
	regions_grow(&monitor.regions);
	fake.no_memory = false;
	EXPECT_EQ(REGIONS_FIRST_BUCKETS - 1, monitor.regions.mask);
	for (i = 0; i < REGIONS_FIRST_BUCKETS - 1; i++)
		ASSERT_TRUE(valid(self, i));
}

TEST_F(fi, starts_once_and_anew_if_it_could_not)
{
	EXPECT_EQ(-EAGAIN, subscribe(self, 1));
	EXPECT_FALSE(valid(self, 1));
	unsubscribe(self, 1);
	self->ops->stop(self->fid);
	EXPECT_EQ(0, stats().stale);
	fake.start_ret = -EMFILE;
	EXPECT_EQ(-EMFILE, self->ops->start(self->fid));
	EXPECT_EQ(0, fake.blocks);
	self->ops->stop(self->fid);
	fake.start_ret = 0;
	fake.no_memory = true;
	EXPECT_EQ(-ENOMEM, self->ops->start(self->fid));
	fake.no_memory = false;
	EXPECT_EQ(0, fake.starts);
	EXPECT_EQ(-EAGAIN, subscribe(self, 1));
	EXPECT_EQ(2, stats().refused);
	EXPECT_EQ(0, self->ops->start(self->fid));
	EXPECT_EQ(0, self->ops->start(self->fid));
	EXPECT_EQ(1, fake.starts);
	EXPECT_TRUE(monitor.listener.read == monitor_read);
	EXPECT_EQ(0, subscribe(self, 1));
}

TEST_F(fi, does_nothing_in_a_child)
{
	ASSERT_EQ(0, self->ops->start(self->fid));
	ASSERT_EQ(0, subscribe(self, 1));
	monitor.notified = 5;
	fake.child = true;
	/* Another thread of the parent may have had the lock. */
	pthread_mutex_lock(&monitor.lock);
	EXPECT_EQ(-EXDEV, self->ops->start(self->fid));
	EXPECT_EQ(-EXDEV, subscribe(self, 2));
	EXPECT_FALSE(valid(self, 1));
	unsubscribe(self, 1);
	self->ops->stop(self->fid);
	EXPECT_EQ(-EXDEV, mlx5ep_fi_monitor_import());
	EXPECT_EQ(0, stats().subscribed);
	EXPECT_EQ(5, stats().notified);
	pthread_mutex_unlock(&monitor.lock);
	EXPECT_EQ(1, fake.watches);
	fake.child = false;
	EXPECT_TRUE(valid(self, 1));
	EXPECT_EQ(1, stats().subscribed);
}

/* Of the parent's monitor, if it has one, nothing is valid; else the child has its own. */
static int child_is_wrong(void)
{
	const struct fi_ops_mem_monitor *ops = &monitor_ops;
	int ret;

	fake.start_ret = 0;
	fake.child = monitor.notifier;
	ret = fake.child ? -EXDEV : 0;
	ops->stop(&monitor.fid);
	if (mlx5ep_fi_monitor_import() != ret || ops->start(&monitor.fid) != ret ||
	    ops->subscribe(&monitor.fid, region(1), REGION) != ret)
		return 1;
	ops->unsubscribe(&monitor.fid, region(1), REGION);
	return ops->valid(&monitor.fid, region(1), REGION);
}

TEST_F(fi, is_one_of_its_own_in_a_child_that_is_forked_before_the_start)
{
	steps.wrong = child_is_wrong;
	monitor.imported = false;
	fake.start_ret = -EMFILE;
	steps.on = true;
	EXPECT_EQ(0, mlx5ep_fi_monitor_import());
	EXPECT_EQ(-EAGAIN, subscribe(self, 1));
	EXPECT_EQ(-EMFILE, self->ops->start(self->fid));
	self->ops->stop(self->fid);
	fake.start_ret = 0;
	EXPECT_EQ(0, self->ops->start(self->fid));
	steps.on = false;
	EXPECT_LE(20, steps.children);
	EXPECT_EQ(0, steps.bad);
	EXPECT_EQ(0, subscribe(self, 1));
}

static void cancelled_import(void *unused)
{
	mlx5ep_fi_monitor_import();
}

static void cancelled_start(void *unused)
{
	monitor_ops.start(&monitor.fid);
}

static void cancelled_subscribe(void *self)
{
	subscribe(self, 1);
}

static void cancelled_valid(void *self)
{
	valid(self, 1);
}

static void cancelled_unsubscribe(void *self)
{
	unsubscribe(self, 1);
}

static void cancelled_stop(void *unused)
{
	monitor_ops.stop(&monitor.fid);
}

/* Each call that takes the lock; what it calls of others is a cancellation point. */
TEST_F(fi, leaves_nothing_half_done_in_a_thread_that_is_cancelled)
{
	static void (*const calls[])(void *self) = {
		cancelled_import, cancelled_start, cancelled_subscribe, cancelled_valid,
		cancelled_unsubscribe, cancelled_subscribe, cancelled_stop,
	};
	size_t i;

	monitor.imported = false;
	/* That of the watch has changed when it is asked. */
	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		fake.word += calls[i] == cancelled_valid;
		EXPECT_TRUE(cancelled_after(calls[i], self)) {
			TH_LOG("call %zu", i);
		}
		ASSERT_TRUE(lock_is_free(&monitor.lock));
	}
	EXPECT_EQ(2, fake.bound);
	EXPECT_EQ(1, fake.starts);
	EXPECT_EQ(1, fake.verifies);
	EXPECT_EQ(0, fake.watches);
}

/* More events than are read at once; one of them is none of a watch. */
TEST_F(fi, tells_libfabric_of_what_has_really_changed)
{
	int i;

	fake.n_events = EVENTS;
	for (i = 0; i < EVENTS; i++)
		fake.events[i] = (struct mlx5_ep_event) {
			.type = MLX5_EP_EVENT_WATCH, .start = 0x1000 + i, .length = i,
		};
	fake.events[7].type = MLX5_EP_EVENT_WATCH + 1;
	fake.verify_ret = -ESTALE;
	EXPECT_TRUE(monitor_read(NULL));
	EXPECT_EQ(EVENTS - 1, fake.notified);
	EXPECT_EQ(EVENTS - 1, stats().notified);
	EXPECT_EQ((const void *)(0x1000ul + EVENTS - 1), fake.notified_addr);
	EXPECT_EQ(EVENTS - 1, fake.notified_len);
	/* What is as it was, and what is gone, is not told. */
	for (i = 0; i > -3; i--) {
		fake.next_event = EVENTS - 1;
		fake.verify_ret = i;
		EXPECT_TRUE(monitor_read(NULL));
	}
	EXPECT_EQ(EVENTS - 1, fake.notified);
	/* The thread sleeps and comes again, unless the notifier is gone. */
	fake.interrupts = 1;
	EXPECT_TRUE(monitor_read(NULL));
	fake.end = 0;
	EXPECT_FALSE(monitor_read(NULL));
	fake.end = -EIO;
	EXPECT_FALSE(monitor_read(NULL));
}

TEST_F(fi, is_imported_once)
{
	EXPECT_EQ(1, fake.opened);
	EXPECT_EQ(1, fake.closed);
	EXPECT_EQ(1, fake.bound);
	EXPECT_EQ(FI_VERSION(1, 13), fake.version);
	EXPECT_EQ(0, mlx5ep_fi_monitor_import());
	EXPECT_EQ(1, fake.opened);
	EXPECT_EQ(NULL, fi_prov_ini());
}

TEST_F(fi, is_imported_later_if_it_could_not_be)
{
	monitor.imported = false;
	fake.possible = -EOPNOTSUPP;
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_fi_monitor_import());
	fake.possible = 0;
	fake.open_ret = -FI_ENOSYS;
	EXPECT_EQ(-FI_ENOSYS, mlx5ep_fi_monitor_import());
	EXPECT_EQ(1, fake.closed);
	fake.open_ret = 0;
	fake.bind_ret = -FI_EBUSY;
	EXPECT_EQ(-FI_EBUSY, mlx5ep_fi_monitor_import());
	EXPECT_EQ(2, fake.closed);
	fake.bind_ret = 0;
	EXPECT_EQ(0, mlx5ep_fi_monitor_import());
	EXPECT_EQ(2, fake.bound);
	EXPECT_EQ(0, mlx5ep_fi_monitor_import());
	EXPECT_EQ(2, fake.bound);
}

static void load_anew(void)
{
	monitor.imported = false;
	monitor.tried = false;
}

/* A plugin brings libfabric: the library hears of it by the first call. */
TEST_F(fi, is_imported_when_the_program_has_loaded_libfabric)
{
	load_anew();
	setenv("MLX5EP_FI_MONITOR", "verbose", 1);
	fake.no_fabric = true;
	EXPECT_EQ(-FI_ENOSYS, mlx5ep_fi_monitor_import());
	EXPECT_STREQ("", said(monitor_load));
	EXPECT_STREQ("", said(monitor_first));
	EXPECT_EQ(1, fake.bound);
	fake.no_fabric = false;
	EXPECT_STREQ("mlx5ep-fi: imported\n", said(monitor_first));
	EXPECT_EQ(2, fake.bound);
	/* Once, also where that fails. */
	EXPECT_STREQ("", said(monitor_first));
	load_anew();
	fake.bind_ret = -FI_EBUSY;
	EXPECT_STREQ("mlx5ep-fi: Device or resource busy\n", said(monitor_first));
	EXPECT_STREQ("", said(monitor_first));
	monitor.verbose = false;
}

/* The adapter of the first one was removed. */
TEST_F(fi, goes_on_with_another_notifier)
{
	ASSERT_EQ(0, self->ops->start(self->fid));
	ASSERT_EQ(0, subscribe(self, 1));
	monitor.listener.renewed((struct mlx5ep_notifier *)self);
	EXPECT_EQ((struct mlx5ep_notifier *)self, monitor.notifier);
	/* What the old one watched is stale. */
	fake.word++;
	fake.verify_ret = -EIO;
	EXPECT_FALSE(valid(self, 1));
	unsubscribe(self, 1);
	fake.verify_ret = 0;
	EXPECT_EQ(0, subscribe(self, 1));
	EXPECT_TRUE(valid(self, 1));
}

TEST_F(fi, is_loaded_as_the_environment_says)
{
	load_anew();
	setenv("MLX5EP_FI_MONITOR", "off", 1);
	EXPECT_STREQ("", said(monitor_load));
	EXPECT_EQ(1, fake.bound);
	setenv("MLX5EP_FI_MONITOR", "quiet", 1);
	EXPECT_STREQ("", said(monitor_load));
	EXPECT_EQ(2, fake.bound);
	ASSERT_EQ(0, self->ops->start(self->fid));
	EXPECT_STREQ("", said(monitor_unload));
	load_anew();
	unsetenv("MLX5EP_FI_MONITOR");
	EXPECT_STREQ("", said(monitor_load));
	EXPECT_EQ(3, fake.bound);
}

TEST_F(fi, says_what_it_did_if_it_is_to)
{
	load_anew();
	setenv("MLX5EP_FI_MONITOR", "verbose", 1);
	EXPECT_STREQ("mlx5ep-fi: imported\n", said(monitor_load));
	EXPECT_STREQ("", said(monitor_unload));
	ASSERT_EQ(0, self->ops->start(self->fid));
	ASSERT_EQ(0, subscribe(self, 1));
	EXPECT_STREQ("mlx5ep-fi: subscribed 1 refused 0 valid 0 verified 0 stale 0 notified 0\n",
		     said(monitor_unload));
	fake.child = true;
	EXPECT_STREQ("", said(monitor_unload));
	monitor.tried = false;
	EXPECT_STREQ("mlx5ep-fi: Invalid cross-device link\n", said(monitor_load));
	fake.child = false;
	load_anew();
	fake.possible = -EOPNOTSUPP;
	EXPECT_STREQ("mlx5ep-fi: Operation not supported\n", said(monitor_load));
	monitor.verbose = false;
}

TEST_HARNESS_MAIN
