/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * libmlx5ep-ucx with a UCX, a notifier and a system that are made up, for ucx_calls_test.c:
 * its files are compiled into the program.
 */
#ifndef UCX_FAKE_H
#define UCX_FAKE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cancelled.h"
#include "steps.h"

static int fake_access(const char *path, int mode);
static int fake_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

#define pthread_mutex_lock step_lock
#define pthread_mutex_unlock step_unlock
#include "../../userlib/ucx/ucx_env.c"
#include "../../userlib/ucx/ucx_events.c"
#define access fake_access
#define pthread_atfork fake_atfork
#include "../../userlib/ucx/ucx.c"
#undef access
#undef pthread_atfork
#undef pthread_mutex_lock
#undef pthread_mutex_unlock
#include "../../userlib/ucx/ucx_lookup.c"
#include "said.h"

#define EVENTS	150

static struct {
	bool asks_us, from_ucp, transport, bypassed;
	bool past_us;			/* UCX's context is not made by what is here */
	unsigned int version;
	const char *wrong;		/* what the probe says */
	bool no_adapter;
	int probes;
	const char *device;		/* that is there */
	int possible, start_ret, atfork_ret;
	int listeners, atforks, regs_forked, destroyed;
	void (*in_child)(void);

	struct mlx5_ep_notifier_page page, *second;	/* of another notifier */
	struct mlx5_ep_event events[EVENTS];
	int n_events, next_event, reads;
	int interrupts;			/* reads that a signal ends, before others */
	int end;			/* what a read says when there are no more */
	int verify_ret;

	int externals, unsets;
	int external_events;
	int munmaps;
	void *munmap_addr;
	size_t munmap_len;
	ucm_mmap_hook_mode_t mode;	/* that UCX was given */
	int handlers, unset_handlers, lookups, gets, inits;
	ucs_status_t cache_status, init_status;
} fake;

static int fake_access(const char *path, int mode)
{
	step_outside();
	return fake.device && !strcmp(path, fake.device) ? 0 : -1;
}

static int fake_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	step_outside();
	fake.atforks++;
	fake.in_child = child;
	return fake.atfork_ret;
}

bool ucx_real_asks_us(void)
{
	return fake.asks_us;
}

unsigned int ucx_real_version(void)
{
	return fake.version;
}

bool ucx_real_is_transport(const void *caller)
{
	return fake.transport;
}

bool ucx_real_is_bypassed(const void *ours)
{
	return fake.bypassed && ours == ucs_pgtable_lookup;
}

const char *ucx_probe(ucp_context_h context, const void *caller)
{
	step_outside();
	fake.probes += context == (ucp_context_h)&fake;
	return fake.wrong;
}

bool ucx_probe_has_adapter(ucp_context_h context, const void *caller)
{
	return !fake.no_adapter;
}

bool ucx_real_from_ucp(const void *caller)
{
	return fake.from_ucp;
}

void ucx_regs_forked(void)
{
	fake.regs_forked++;
}

int listener_possible(void)
{
	return fake.possible;
}

int listener_start(struct listener *listener)
{
	if (fake.start_ret)
		return fake.start_ret;
	step_outside();
	fake.listeners++;
	listener->notifier = (struct mlx5ep_notifier *)&fake;
	step_outside();
	return 0;
}

const volatile struct mlx5_ep_notifier_page *
mlx5ep_notifier_page(const struct mlx5ep_notifier *notifier)
{
	step();
	return notifier == (struct mlx5ep_notifier *)fake.second ? fake.second : &fake.page;
}

int mlx5ep_notifier_destroy(struct mlx5ep_notifier *notifier)
{
	fake.destroyed += notifier == (struct mlx5ep_notifier *)&fake;
	return 0;
}

ssize_t mlx5ep_notifier_read(struct mlx5ep_notifier *notifier,
			     struct mlx5_ep_event *list, size_t count)
{
	ssize_t n = 0;

	step_outside();
	fake.reads++;
	if (fake.interrupts) {
		fake.interrupts--;
		return -EINTR;
	}
	while (n < count && fake.next_event < fake.n_events)
		list[n++] = fake.events[fake.next_event++];
	return n ? n : fake.end;
}

int mlx5ep_watch_verify(struct mlx5ep_watch *watch)
{
	step_outside();
	return fake.verify_ret;
}

static void set_external(int event_mask)
{
	step_outside();
	fake.externals++;
	fake.external_events = event_mask;
}

static void unset_external(int event_mask)
{
	fake.unsets++;
	fake.external_events = event_mask;
}

static void vm_munmap(void *addr, size_t length)
{
	step_outside();
	fake.munmaps++;
	fake.munmap_addr = addr;
	fake.munmap_len = length;
}

static void global_opts(const ucm_global_config_t *opts)
{
	fake.mode = opts->mmap_hook_mode;
}

static ucs_status_t event_handler(int mask, int priority, ucm_event_callback_t cb, void *arg)
{
	fake.handlers++;
	if (cb == ignore)
		return UCS_OK;
	return priority == 7 && arg == &fake ? UCS_INPROGRESS : UCS_ERR_BUSY;
}

static void unset_handler(int mask, ucm_event_callback_t cb, void *arg)
{
	fake.unset_handlers++;
}

static ucs_status_t init_version(unsigned int major, unsigned int minor,
				 const ucp_params_t *params, const ucp_config_t *config,
				 ucp_context_h *context)
{
	*context = (ucp_context_h)&fake;
	fake.inits += major == 1 && minor == 18;
	fake.cache_status = ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 7, NULL, &fake);
	return fake.init_status;
}

static ucs_pgt_region_t *lookup(const ucs_pgtable_t *table, ucs_pgt_addr_t address)
{
	fake.lookups++;
	return (void *)address;
}

static ucs_status_t rcache_get(ucs_rcache_t *rcache, void *address, size_t length,
			       size_t alignment, int prot, void *arg,
			       ucs_rcache_region_t **region)
{
	fake.gets++;
	return address == &fake && length == 8 ? UCS_INPROGRESS : UCS_ERR_BUSY;
}

void *ucx_real(const char *name, const void *caller)
{
	static const struct {
		const char *name;
		void *function;
	} functions[] = {
		{ "ucm_set_external_event", set_external },
		{ "ucm_unset_external_event", unset_external },
		{ "ucm_vm_munmap", vm_munmap },
		{ "ucm_set_global_opts", global_opts },
		{ "ucm_set_event_handler", event_handler },
		{ "ucm_unset_event_handler", unset_handler },
		{ "ucp_init_version", init_version },
		{ "ucs_pgtable_lookup", lookup },
		{ "ucs_rcache_get", rcache_get },
	};
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strcmp(functions[i].name, name))
			return functions[i].function;
	return NULL;
}

FIXTURE(ucx)
{
	struct ucx_ucm ucm;
};

/* A machine on which all is as it has to be. */
FIXTURE_SETUP(ucx)
{
	fake.asks_us = true;
	fake.version = UCX_OLDEST;
	fake.end = -EAGAIN;
	/* A test that wants to hear something says so. */
	setenv("MLX5EP_UCX", "quiet", 1);
	unsetenv("MLX5EP_UCX_NEWEST");
	self->ucm = (struct ucx_ucm) { set_external, unset_external, vm_munmap };
}

FIXTURE_TEARDOWN(ucx)
{
	EXPECT_TRUE(thread_is_free());
}

/* UCX makes a context, and a registration cache in it. */
static ucs_status_t make_cache(void)
{
	ucp_params_t params = {};
	ucp_context_h context;

	if (fake.past_us)
		return ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 7, NULL, &fake);
	ucp_init_version(1, 18, &params, NULL, &context);
	return fake.cache_status;
}

static void make_cache_once(void)
{
	make_cache();
}

/* The mode that UCX gets. */
static ucm_mmap_hook_mode_t mode_of(ucm_mmap_hook_mode_t mode)
{
	ucm_global_config_t opts = { .mmap_hook_mode = mode };

	ucm_set_global_opts(&opts);
	return opts.mmap_hook_mode == mode ? fake.mode : UCM_MMAP_HOOK_LAST;
}

/* Returns 0 if a child has nothing of its parent's, and makes what it needs. */
static int child_is_wrong(void)
{
	fake.asks_us = true;
	if (fake.in_child)
		fake.in_child();
	if (ucx_events_notifier() || ucx_events_counter != &never_changes)
		return 1;
	fake.listeners = 0;
	make_cache();
	return fake.listeners != 1 || !ucx_events_notifier();
}

static void happen(unsigned int n)
{
	static uint64_t at;

	fake.n_events = n;
	fake.next_event = 0;
	fake.reads = 0;
	fake.munmaps = 0;
	while (n--)
		fake.events[n] = (struct mlx5_ep_event) {
			.type = MLX5_EP_EVENT_WATCH, .start = ++at << 12, .length = at,
		};
	fake.page.watch_total += fake.n_events;
}

#endif
