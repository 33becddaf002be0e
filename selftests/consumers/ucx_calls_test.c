// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * When libmlx5ep-ucx takes the place of UCX's hooks, and what it then tells UCX: its files
 * compiled into this program, with a UCX, a notifier and a system that are made up.
 */
#include "kselftest_harness.h"

#include "ucx_fake.h"

TEST_F(ucx, keeps_its_mode_if_it_is_another_or_we_are_not_wanted)
{
	EXPECT_EQ(UCM_MMAP_HOOK_RELOC, mode_of(UCM_MMAP_HOOK_BISTRO));
	EXPECT_EQ(UCM_MMAP_HOOK_RELOC, mode_of(UCM_MMAP_HOOK_RELOC));
	EXPECT_EQ(UCM_MMAP_HOOK_NONE, mode_of(UCM_MMAP_HOOK_NONE));
	setenv("MLX5EP_UCX", "off", 1);
	EXPECT_EQ(UCM_MMAP_HOOK_BISTRO, mode_of(UCM_MMAP_HOOK_BISTRO));
	setenv("MLX5EP_UCX", "verbose,off", 1);
	EXPECT_EQ(UCM_MMAP_HOOK_BISTRO, mode_of(UCM_MMAP_HOOK_BISTRO));
	setenv("MLX5EP_UCX", "on", 1);
	EXPECT_EQ(UCM_MMAP_HOOK_RELOC, mode_of(UCM_MMAP_HOOK_BISTRO));
	fake.possible = -EOPNOTSUPP;
	EXPECT_EQ(UCM_MMAP_HOOK_BISTRO, mode_of(UCM_MMAP_HOOK_BISTRO));
}

/* Each reason is one line, and a process says one of them. */
TEST_F(ucx, keeps_its_hooks_where_we_cannot_take_their_place)
{
	setenv("MLX5EP_UCX", "on", 1);
#define SAYS(text)							\
	do {								\
		EXPECT_STREQ("mlx5ep-ucx: " text "\n", said(make_cache_once)); \
		EXPECT_STREQ("", said(make_cache_once));		\
		EXPECT_EQ(UCM_MMAP_HOOK_BISTRO, mode_of(UCM_MMAP_HOOK_BISTRO)); \
		is_said = false;					\
	} while (0)
	fake.asks_us = false;
	SAYS("UCX is linked in another way: its hooks stay");
	fake.asks_us = true;
	fake.version = UCX_VERSION(1, 16);
	SAYS("UCX is older than 1.17: its hooks stay");
	fake.version = UCX_NEWEST + 1;
	SAYS("UCX is newer than what this library was run with: its hooks stay; see MLX5EP_UCX_NEWEST in libmlx5ep-ucx(7)");
	fake.version = UCX_NEWEST;
	fake.device = "/dev/knem";
	SAYS("knem or xpmem is there: UCX's hooks stay");
	fake.device = "/dev/xpmem";
	SAYS("knem or xpmem is there: UCX's hooks stay");
	fake.device = NULL;
	fake.possible = -EOPNOTSUPP;
	SAYS("mlx5_ep is not loaded, or there is no /dev/mlx5_ep: UCX's hooks stay");
	fake.possible = 0;
	EXPECT_EQ(0, fake.listeners);
	EXPECT_EQ(0, fake.externals);
	EXPECT_EQ(0, fake.probes);
	fake.past_us = true;
	EXPECT_STREQ("mlx5ep-ucx: UCX's context is made past libmlx5ep-ucx (RTLD_DEEPBIND?): its hooks stay\n",
		     said(make_cache_once));
	EXPECT_EQ(0, fake.externals);
}

TEST_F(ucx, may_be_newer_if_the_environment_says_so)
{
	static const struct {
		const char *newest;
		bool does;
	} values[] = {
		{ "1.99", true }, { "2.0", true }, { "1.98", false }, { "0.100", false },
		{ "", false }, { "1", false }, { "new", false }, { "1.1000", false },
	};
	size_t i;

	fake.version = UCX_VERSION(1, 99);
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		setenv("MLX5EP_UCX_NEWEST", values[i].newest, 1);
		EXPECT_EQ(values[i].does, !obstacle()) {
			TH_LOG("%s", values[i].newest);
		}
	}
	fake.version = UCX_NEWEST;
	unsetenv("MLX5EP_UCX_NEWEST");
	EXPECT_EQ(NULL, obstacle());
	setenv("MLX5EP_UCX_NEWEST", "1.22", 1);
	EXPECT_NE(NULL, obstacle());
}

/* Exit status of a child with that word, in which something is not as it has to be. */
static int status_with(const char *word, void (*call)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		setenv("MLX5EP_UCX", word, 1);
		close(2);
		call();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void lose_adapter(void)
{
	make_cache();
	fake.end = -EIO;
	events_read(NULL);
}

static void import_memory(void)
{
	ucp_params_t params = {
		.field_mask = UCP_PARAM_FIELD_FEATURES,
		.features = UCP_FEATURE_EXPORTED_MEMH,
	};
	ucp_context_h context;

	ucp_init_version(1, 18, &params, NULL, &context);
}

static void miss_lookup(void)
{
	ucx_lookup_missed(NULL);
}

TEST_F(ucx, ends_the_program_if_that_is_strict)
{
	EXPECT_EQ(0, status_with("strict", make_cache_once));
	EXPECT_EQ(1, status_with("strict", lose_adapter));
	EXPECT_EQ(1, status_with("strict", import_memory));
	EXPECT_EQ(0, status_with("verbose", import_memory));
	fake.start_ret = -EMFILE;
	EXPECT_EQ(1, status_with("verbose,strict", make_cache_once));
	EXPECT_EQ(0, status_with("stricter", make_cache_once));
	fake.start_ret = 0;
	fake.wrong = "something is wrong";
	EXPECT_EQ(1, status_with("strict", make_cache_once));
	fake.no_adapter = true;
	EXPECT_EQ(0, status_with("strict", make_cache_once));
	fake.wrong = NULL;
	fake.version = 0;
	EXPECT_EQ(1, status_with("strict", make_cache_once));
	EXPECT_EQ(0, status_with("strict,off", make_cache_once));
	fake.transport = true;
	fake.bypassed = true;
	EXPECT_EQ(1, status_with("strict", miss_lookup));
	EXPECT_EQ(0, status_with("strict,off", miss_lookup));
}

TEST_F(ucx, whose_calls_go_past_us_is_named_once)
{
	setenv("MLX5EP_UCX", "on", 1);
	EXPECT_STREQ("", said(miss_lookup));
	fake.transport = true;
	EXPECT_STREQ("", said(miss_lookup));
	fake.bypassed = true;
	EXPECT_STREQ("mlx5ep-ucx: UCX's calls go past libmlx5ep-ucx (RTLD_DEEPBIND?): its hooks stay\n",
		     said(miss_lookup));
	is_said = false;
	EXPECT_STREQ("", said(miss_lookup));
}

/* What is told goes on beside the hooks. */
TEST_F(ucx, gets_its_hooks_if_the_probe_fails)
{
	setenv("MLX5EP_UCX", "verbose", 1);
	fake.wrong = "something is wrong";
	EXPECT_STREQ("mlx5ep-ucx: something is wrong: UCX has hooks of mode reloc\n",
		     said(make_cache_once));
	EXPECT_EQ(1, fake.probes);
	EXPECT_EQ(1, fake.externals);
	EXPECT_EQ(1, fake.unsets);
	EXPECT_EQ(2, fake.handlers);
	EXPECT_EQ(1, fake.unset_handlers);
	EXPECT_NE(NULL, ucx_events_notifier());
	/* It is so for each context after that. */
	fake.wrong = NULL;
	EXPECT_STREQ("", said(make_cache_once));
	EXPECT_EQ(1, fake.probes);
	EXPECT_EQ(1, fake.externals);
	/* Another UCX of a child may be right. */
	fake.in_child();
	EXPECT_STREQ("mlx5ep-ucx: UCX is told by mlx5_ep\n", said(make_cache_once));
	EXPECT_EQ(2, fake.externals);
}

TEST_F(ucx, that_uses_no_adapter_has_its_hooks)
{
	setenv("MLX5EP_UCX", "verbose", 1);
	fake.wrong = "something is wrong";
	fake.no_adapter = true;
	EXPECT_STREQ("mlx5ep-ucx: UCX uses no adapter: it has its hooks\n",
		     said(make_cache_once));
	EXPECT_EQ(1, fake.unsets);
}

TEST_F(ucx, is_tried_for_each_context_that_has_a_cache)
{
	ucp_params_t params = {};
	ucp_context_h context;

	make_cache();
	make_cache();
	EXPECT_EQ(2, fake.probes);
	fake.init_status = UCS_ERR_NO_DEVICE;
	EXPECT_EQ(UCS_ERR_NO_DEVICE, ucp_init_version(1, 18, &params, NULL, &context));
	EXPECT_EQ(2, fake.probes);
	EXPECT_EQ(3, fake.inits);
}

TEST_F(ucx, gets_events_from_us_when_it_makes_a_cache)
{
	EXPECT_EQ(UCS_INPROGRESS, ucm_set_event_handler(UCM_EVENT_VM_MAPPED, 7, NULL,
							 &fake));
	EXPECT_EQ(UCS_INPROGRESS, ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED |
							 UCM_EVENT_FLAG_NO_INSTALL, 7,
							 NULL, &fake));
	EXPECT_STREQ("", said(import_memory));
	setenv("MLX5EP_UCX", "off", 1);
	EXPECT_EQ(UCS_INPROGRESS, make_cache());
	EXPECT_EQ(0, fake.listeners);
	setenv("MLX5EP_UCX", "quiet", 1);
	EXPECT_EQ(UCS_INPROGRESS, make_cache());
	EXPECT_EQ(UCS_INPROGRESS, make_cache());
	EXPECT_EQ(6, fake.handlers);
	EXPECT_EQ(1, fake.listeners);
	EXPECT_EQ(1, fake.externals);
	EXPECT_EQ(0, fake.unsets);
	EXPECT_EQ(UCM_EVENT_VM_UNMAPPED, fake.external_events);
	EXPECT_TRUE(events.listener.read == events_read);
}

TEST_F(ucx, is_asked_again_if_we_could_not_start)
{
	fake.asks_us = false;
	make_cache();
	fake.asks_us = true;
	fake.atfork_ret = ENOMEM;
	make_cache();
	EXPECT_EQ(1, fake.atforks);
	fake.atfork_ret = 0;
	fake.start_ret = -EMFILE;
	setenv("MLX5EP_UCX", "verbose", 1);
	EXPECT_STREQ("mlx5ep-ucx: Too many open files: UCX has hooks of mode reloc\n",
		     said(make_cache_once));
	EXPECT_STREQ("", said(ucx_unload));
	EXPECT_EQ(0, fake.externals);
	EXPECT_EQ(NULL, ucx_events_notifier());
	EXPECT_FALSE(ucx_events_new());
	fake.start_ret = 0;
	EXPECT_STREQ("mlx5ep-ucx: UCX is told by mlx5_ep\n", said(make_cache_once));
	EXPECT_EQ(1, fake.externals);
	EXPECT_EQ(0, fake.unsets);
	/* Once is enough for all children. */
	EXPECT_EQ(2, fake.atforks);
	EXPECT_STREQ("mlx5ep-ucx: changed 0 unchanged 0 dropped-all 0\n", said(ucx_unload));
	setenv("MLX5EP_UCX", "on", 1);
	EXPECT_STREQ("", said(ucx_unload));
}

TEST_F(ucx, starts_anew_in_a_child)
{
	make_cache();
	ASSERT_TRUE(fake.in_child == forked);
	happen(1);
	ucx_events_tell();
	EXPECT_NE(0, ucx_events_seen.value);
	/* Another thread may have had the locks. */
	pthread_mutex_lock(&start);
	pthread_mutex_lock(&events.tell);
	pthread_mutex_lock(&events.mode);
	fake.in_child();
	EXPECT_EQ(1, fake.destroyed);
	EXPECT_EQ(1, fake.regs_forked);
	EXPECT_EQ(NULL, ucx_events_notifier());
	EXPECT_EQ(0, ucx_events_seen.value);
	EXPECT_FALSE(ucx_events_new());
	/* One that makes no cache, and its child in turn. */
	fake.in_child();
	EXPECT_EQ(1, fake.regs_forked);
	make_cache();
	EXPECT_EQ(2, fake.listeners);
	EXPECT_EQ(2, fake.externals);
	EXPECT_EQ(0, fake.unsets);
	EXPECT_EQ(1, fake.atforks);
}

TEST_F(ucx, starts_anew_in_a_child_that_is_forked_while_we_start)
{
	steps.wrong = child_is_wrong;
	steps.on = true;
	fake.asks_us = false;
	make_cache();
	fake.asks_us = true;
	make_cache();
	steps.on = false;
	EXPECT_LE(15, steps.children);
	EXPECT_EQ(0, steps.bad);
	EXPECT_EQ(1, fake.listeners);
	EXPECT_EQ(1, fake.externals);
	/* One that cannot start has no part of a notifier either. */
	fake.in_child();
	fake.start_ret = -EMFILE;
	make_cache();
	fake.start_ret = 0;
	EXPECT_EQ(0, child_is_wrong());
}

TEST_F(ucx, has_its_hooks_in_a_child_that_cannot_start)
{
	make_cache();
	fake.in_child();
	fake.possible = -EOPNOTSUPP;
	fake.external_events = 0;
	make_cache();
	EXPECT_EQ(1, fake.unsets);
	EXPECT_EQ(UCM_EVENT_VM_UNMAPPED, fake.external_events);
	make_cache();
	EXPECT_EQ(1, fake.unsets);
	EXPECT_EQ(1, fake.externals);
}

static void cancelled_start(void *self)
{
	ucx_events_start(&((FIXTURE_DATA(ucx) *)self)->ucm);
}

static void cancelled_cache(void *unused)
{
	make_cache();
}

static void cancelled_lookup(void *unused)
{
	ucs_pgtable_lookup(NULL, 77);
}

static void cancelled_get(void *unused)
{
	ucs_rcache_get(NULL, &fake, 8, 1, 0, NULL, NULL);
}

static void cancelled_read(void *unused)
{
	events_read(NULL);
}

/* Each call that takes a lock; what it calls of others is a cancellation point. */
TEST_F(ucx, leaves_nothing_half_done_in_a_thread_that_is_cancelled)
{
	fake.start_ret = -EMFILE;
	EXPECT_TRUE(cancelled_after(cancelled_start, self));
	EXPECT_TRUE(lock_is_free(&events.tell));
	fake.start_ret = 0;
	EXPECT_TRUE(cancelled_after(cancelled_cache, NULL));
	EXPECT_TRUE(lock_is_free(&start));
	EXPECT_TRUE(lock_is_free(&events.tell));
	EXPECT_EQ(1, fake.externals);

	fake.verify_ret = -ESTALE;
	fake.from_ucp = true;
	happen(3);
	EXPECT_TRUE(cancelled_after(cancelled_lookup, NULL));
	EXPECT_TRUE(lock_is_free(&events.tell));
	EXPECT_EQ(3, fake.munmaps);
	happen(3);
	EXPECT_TRUE(cancelled_after(cancelled_get, NULL));
	EXPECT_TRUE(lock_is_free(&events.tell));
	EXPECT_EQ(3, fake.munmaps);
	happen(3);
	EXPECT_TRUE(cancelled_after(cancelled_read, NULL));
	EXPECT_TRUE(lock_is_free(&events.tell));
	EXPECT_EQ(3, fake.munmaps);
}

/* More events than are read at once; one is none of a watch. */
TEST_F(ucx, is_told_what_has_really_changed)
{
	ASSERT_EQ(0, ucx_events_start(&self->ucm));
	ASSERT_EQ(0, ucx_events_start(&self->ucm));
	EXPECT_EQ(1, fake.listeners);
	/* A thread that comes for the first time has seen nothing told. */
	EXPECT_TRUE(ucx_events_new());
	ucx_events_tell();
	EXPECT_FALSE(ucx_events_new());
	happen(EVENTS);
	fake.events[9].type = MLX5_EP_EVENT_WATCH + 1;
	fake.interrupts = 1;
	fake.verify_ret = -ESTALE;
	EXPECT_TRUE(ucx_events_new());
	ucx_events_tell();
	EXPECT_FALSE(ucx_events_new());
	EXPECT_EQ(EVENTS - 1, fake.munmaps);
	EXPECT_EQ((void *)(uintptr_t)fake.events[EVENTS - 1].start, fake.munmap_addr);
	EXPECT_EQ(fake.events[EVENTS - 1].length, fake.munmap_len);
	/* Nothing has happened since. */
	fake.reads = 0;
	ucx_events_tell();
	EXPECT_EQ(0, fake.reads);
	/* What is as it was, and what UCX has deregistered, is not told. */
	happen(1);
	fake.verify_ret = 0;
	ucx_events_tell();
	EXPECT_EQ(0, fake.munmaps);
	happen(2);
	fake.verify_ret = -ENOENT;
	ucx_events_tell();
	EXPECT_EQ(0, fake.munmaps);
	/* What cannot be verified is. */
	happen(1);
	fake.verify_ret = -EINTR;
	EXPECT_TRUE(events_read(NULL));
	EXPECT_EQ(1, fake.munmaps);
	EXPECT_STREQ("mlx5ep-ucx: changed 150 unchanged 3 dropped-all 0\n",
		     said(ucx_events_print));
}

TEST_F(ucx, drops_all_while_a_registration_has_no_watch)
{
	ASSERT_EQ(0, ucx_events_start(&self->ucm));
	ucx_events_unwatched(1);
	ucx_events_unwatched(1);
	ucx_events_tell();
	EXPECT_TRUE(ucx_events_new());
	EXPECT_EQ(1, fake.munmaps);
	EXPECT_EQ(NULL, fake.munmap_addr);
	EXPECT_EQ(1ul << 56, fake.munmap_len);
	ucx_events_unwatched(-1);
	EXPECT_TRUE(ucx_events_new());
	ucx_events_tell();
	EXPECT_EQ(2, fake.munmaps);
	ucx_events_unwatched(-1);
	EXPECT_FALSE(ucx_events_new());
	ucx_events_tell();
	EXPECT_EQ(2, fake.munmaps);
	EXPECT_EQ(2, events.dropped_all);
}

TEST_F(ucx, drops_all_when_the_adapter_is_gone)
{
	ASSERT_EQ(0, ucx_events_start(&self->ucm));
	fake.end = -EIO;
	EXPECT_FALSE(events_read(NULL));
	EXPECT_EQ(1, fake.munmaps);
	EXPECT_TRUE(ucx_events_new());
	ucx_events_tell();
	EXPECT_EQ(2, fake.munmaps);
	/* It stays so as long as there is no other notifier. */
	ucx_events_unwatched(1);
	ucx_events_unwatched(-1);
	EXPECT_TRUE(ucx_events_new());
	fake.end = -EAGAIN;
	EXPECT_TRUE(events_read(NULL));
	EXPECT_EQ(3, fake.munmaps);
}

/*
 * Its count begins anew, and may be at any time what this thread has seen of the old one.
 * Registrations that were watched by that are dropped before anything is compared.
 */
TEST_F(ucx, is_told_by_another_notifier_when_there_is_one)
{
	static struct mlx5_ep_notifier_page second;

	ASSERT_EQ(0, ucx_events_start(&self->ucm));
	happen(7);
	ucx_events_tell();
	EXPECT_FALSE(ucx_events_new());
	fake.end = -EIO;
	fake.munmaps = 0;
	EXPECT_FALSE(events_read(NULL));
	EXPECT_EQ(1, fake.munmaps);
	fake.end = -EAGAIN;
	fake.second = &second;
	second.watch_total = 7;
	events.listener.renewed((struct mlx5ep_notifier *)&second);
	EXPECT_EQ((struct mlx5ep_notifier *)&second, ucx_events_notifier());
	EXPECT_EQ(2, fake.munmaps);
	EXPECT_EQ(1ul << 56, fake.munmap_len);
	EXPECT_TRUE(ucx_events_new());
	ucx_events_seen = (struct ucx_seen) { counter_of((void *)&fake), 7 };
	EXPECT_TRUE(ucx_events_new());
	ucx_events_tell();
	EXPECT_FALSE(ucx_events_new());
	second.watch_total++;
	EXPECT_TRUE(ucx_events_new());
}

TEST_F(ucx, reads_no_end_as_more_events)
{
	ASSERT_EQ(0, ucx_events_start(&self->ucm));
	fake.end = 0;
	EXPECT_FALSE(events_read(NULL));
	EXPECT_TRUE(events.gone);
}

TEST_F(ucx, looks_up_when_it_was_told)
{
	ucs_pgtable_t *table = (void *)self;

	ASSERT_EQ(0, ucx_events_start(&self->ucm));
	EXPECT_EQ((void *)77, ucs_pgtable_lookup(table, 77));
	happen(1);
	fake.verify_ret = -ESTALE;
	/* Other tables are not of registrations. */
	EXPECT_EQ((void *)77, ucs_pgtable_lookup(table, 77));
	EXPECT_EQ(0, fake.munmaps);
	fake.from_ucp = true;
	EXPECT_EQ(NULL, ucs_pgtable_lookup(table, 77));
	EXPECT_EQ(1, fake.munmaps);
	EXPECT_EQ(2, fake.lookups);
	EXPECT_EQ((void *)77, ucs_pgtable_lookup(table, 77));

	happen(1);
	EXPECT_EQ(UCS_INPROGRESS, ucs_rcache_get(NULL, &fake, 8, 1, 0, NULL, NULL));
	EXPECT_EQ(1, fake.munmaps);
	EXPECT_EQ(UCS_INPROGRESS, ucs_rcache_get(NULL, &fake, 8, 1, 0, NULL, NULL));
	EXPECT_EQ(1, fake.munmaps);
	EXPECT_EQ(2, fake.gets);
}

TEST_HARNESS_MAIN
