// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * libmlx5ep-ucx: a program preloads it, and UCX's registration cache is told by
 * notifications of mlx5_ep what happened to memory, instead of by functions
 * that UCX patches in glibc.
 *
 * UCX patches glibc when it is loaded, where its hook mode is "bistro", the
 * default. Here the mode becomes "reloc" before that: then UCX patches nothing
 * until it makes a registration cache and asks for the events of memory
 * (ucm_set_event_handler()). That call first makes a notifier, and declares the
 * event to come from outside (ucm_set_external_event()): then no hook is
 * installed. The other files do the rest: ucx_regs.c watches what is
 * registered, ucx_events.c tells UCX what happened, ucx_lookup.c makes each
 * lookup wait until that was done.
 *
 * Never:
 * - are the hooks left out when this library cannot do their work: without the
 *   module, without a device, with a UCX whose lookups do not pass here or which
 *   no other thread may tell, or where UCX may keep registrations that verbs did
 *   not make (knem, xpmem), all stays as without this library. If only the
 *   notifier cannot be made, UCX installs the hooks of mode "reloc";
 * - is anything done in a program that does not use UCX;
 * - is something inherited by a forked child: there all is as if the library
 *   had just been loaded. A UCX context that the child makes gets a notifier of
 *   its own, or the hooks. After exec() the new program loads the library
 *   anew, as the environment says.
 *
 * Order of locks: UCX's locks of a registration cache, then @start, @tell, UCX's
 * lock of events (for reading), the locks that UCX's handler takes (it tries the
 * first kind and waits for none), then @lock and @mode, which are innermost.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ucx.h"

/* Devices by which processes of a node reach each other's memory. */
#define KNEM "/dev/knem"
#define XPMEM "/dev/xpmem"

static pthread_mutex_t start = PTHREAD_MUTEX_INITIALIZER;
static bool started, child_cleared, verbose;

static void say(const char *what)
{
	if (verbose)
		fprintf(stderr, "mlx5ep-ucx: %s\n", what);
}

static bool is_started(void)
{
	return __atomic_load_n(&started, __ATOMIC_ACQUIRE);
}

/* pthread_atfork() has no argument. */
static void forked(void)
{
	start = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	if (!started)
		return;
	started = false;
	child_cleared = true;
	ucx_regs_forked();
	ucx_events_forked();
}

/* Returns false if UCX's own hooks are needed. */
static bool is_possible(void)
{
	if (!ucx_real_asks_us())
		say("UCX is linked in another way: its hooks stay");
	else if (!ucx_real_is_new())
		say("UCX is older than 1.17: its hooks stay");
	else if (!access(KNEM, F_OK) || !access(XPMEM, F_OK))
		say("knem or xpmem is there: UCX's hooks stay");
	else if (ucx_events_possible())
		say("mlx5_ep is attached to no device: UCX's hooks stay");
	else
		return true;
	return false;
}

/* A second handler, of a thread that came at the same time, finds nothing to do. */
static bool is_ready_for_fork(void)
{
	static bool atfork;

	if (!__atomic_load_n(&atfork, __ATOMIC_ACQUIRE) &&
	    pthread_atfork(NULL, NULL, forked))
		return false;
	__atomic_store_n(&atfork, true, __ATOMIC_RELEASE);
	return true;
}

/*
 * The caller holds @start. While the notifier is being made, @started is set, so that a
 * child that is forked by another thread forgets what there is of it.
 */
static void try_start(const struct ucx_ucm *ucm)
{
	int ret;

	__atomic_store_n(&started, true, __ATOMIC_SEQ_CST);
	ret = ucx_events_start(ucm);
	__atomic_store_n(&started, !ret, __ATOMIC_SEQ_CST);
	say(ret ? strerror(-ret) : "UCX is told by mlx5_ep");
}

/*
 * UCX makes a registration cache. The caller has cancellation off, since UCX would be left
 * half done, and @start held, if the thread ended here. Events stay external as long as somebody
 * tells them: not in a child whose parent did.
 *
 * No lock is taken before there is a handler that sets it free in a child.
 */
static void start_once(const void *caller)
{
	bool can_start = !is_started() && is_possible() && is_ready_for_fork();
	const struct ucx_ucm ucm = {
		ucx_real("ucm_set_external_event", caller),
		ucx_real("ucm_unset_external_event", caller),
		ucx_real("ucm_vm_munmap", caller),
	};

	if (!can_start && !is_started() && !child_cleared)
		return;
	pthread_mutex_lock(&start);
	if (!started) {
		if (can_start)
			try_start(&ucm);
		if (started)
			ucm.set_external_event(UCM_EVENT_VM_UNMAPPED);
		else if (child_cleared)
			ucm.unset_external_event(UCM_EVENT_VM_UNMAPPED);
		child_cleared = false;
	}
	pthread_mutex_unlock(&start);
}

/* Reads the environment; returns false if all shall stay as it is. */
static bool is_wanted(void)
{
	const char *how = getenv("MLX5EP_UCX");

	verbose = how && !strcmp(how, "verbose");
	return !how || strcmp(how, "off");
}

/* The structure is larger in other versions of UCX, so it is not copied. */
EXPORT void ucm_set_global_opts(const ucm_global_config_t *ucm_opts)
{
	ucm_global_config_t *opts = (ucm_global_config_t *)ucm_opts;
	ucm_mmap_hook_mode_t mode = opts->mmap_hook_mode;

	if (mode == UCM_MMAP_HOOK_BISTRO && is_wanted() && is_possible())
		opts->mmap_hook_mode = UCM_MMAP_HOOK_RELOC;
	REAL(ucm_set_global_opts)(opts);
	opts->mmap_hook_mode = mode;
}

EXPORT ucs_status_t ucm_set_event_handler(int mask, int priority,
					  ucm_event_callback_t cb, void *arg)
{
	const void *caller = __builtin_return_address(0);
	int cancel;

	/* UCX's own function is no cancellation point. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (mask & UCM_EVENT_VM_UNMAPPED &&
	    !(mask & UCM_EVENT_FLAG_NO_INSTALL) && is_wanted())
		start_once(caller);
	pthread_setcancelstate(cancel, NULL);
	return REAL(ucm_set_event_handler)(mask, priority, cb, arg);
}

static __attribute__((destructor)) void ucx_unload(void)
{
	if (verbose && started)
		ucx_events_print();
}
