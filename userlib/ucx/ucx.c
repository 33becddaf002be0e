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
 * installed. When the context of UCX is there, ucx_probe.c tries whether the cache
 * loses what is gone; if it does not, the hooks are installed after all. The
 * other files do the rest: ucx_regs.c watches what is registered, ucx_events.c
 * tells UCX what happened, ucx_lookup.c makes each lookup wait until that was
 * done.
 *
 * Never:
 * - are the hooks left out when this library cannot do their work: without the
 *   module, without a device, with a UCX whose calls do not come here, which
 *   no other thread may tell or with which nobody has tried it, or where UCX may
 *   keep registrations that verbs did not make (knem, xpmem), all stays as
 *   without this library. If only the notifier cannot be made, or the probe
 *   fails, UCX installs the hooks of mode "reloc";
 * - is that done without a word, unless the environment asks for silence;
 * - is anything done in a program that does not use UCX;
 * - is something inherited by a forked child: there all is as if the library
 *   had just been loaded. A UCX context that the child makes gets a notifier of
 *   its own, or the hooks. After exec() the new program loads the library
 *   anew, as the environment says;
 * - is a thread cancelled in here: UCX's own functions are no cancellation points.
 *
 * Order of locks: UCX's locks of a registration cache, then @start, @tell, UCX's
 * lock of events (for reading), the locks that UCX's handler takes (it tries the
 * first kind and waits for none), then @lock and @mode, which are innermost.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ucp/api/ucp.h>

#include "ucx.h"
#include "ucx_limits.h"

/*
 * @start protects these. @hooked: UCX's hooks are installed although events are told.
 * @child_cleared: of a child, whose parent's events came from outside.
 */
static pthread_mutex_t start = PTHREAD_MUTEX_INITIALIZER;
static bool started, hooked, child_cleared;

/* It was said that UCX is told. */
static bool told;

/* Of a thread that makes a UCX context: is it inside, and has UCX made a cache there? */
static UCX_THREAD struct {
	bool inside, cache;
} making;

static bool is_started(void)
{
	return __atomic_load_n(&started, __ATOMIC_ACQUIRE);
}

/* pthread_atfork() has no argument. */
static void forked(void)
{
	start = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	ucx_env_forked();
	if (!started)
		return;
	started = false;
	hooked = false;
	told = false;
	child_cleared = true;
	ucx_regs_forked();
	ucx_events_forked();
}

/* Returns why UCX's own hooks are needed, or NULL. */
static const char *obstacle(void)
{
	unsigned int version;

	if (!ucx_real_asks_us())
		return "UCX is linked in another way: its hooks stay";
	version = ucx_real_version();
	if (version < UCX_OLDEST)
		return "UCX is older than 1.17: its hooks stay";
	if (version > ucx_env_newest())
		return "UCX is newer than what this library was run with: its hooks stay; see MLX5EP_UCX_NEWEST in libmlx5ep-ucx(7)";
	if (!access(UCX_KNEM, F_OK) || !access(UCX_XPMEM, F_OK))
		return "knem or xpmem is there: UCX's hooks stay";
	if (ucx_events_possible())
		return "mlx5_ep is not loaded, or there is no /dev/mlx5_ep: UCX's hooks stay";
	return NULL;
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
static int try_start(const struct ucx_ucm *ucm)
{
	int ret;

	__atomic_store_n(&started, true, __ATOMIC_SEQ_CST);
	ret = ucx_events_start(ucm);
	__atomic_store_n(&started, !ret, __ATOMIC_SEQ_CST);
	return ret;
}

/*
 * Events stay external as long as somebody tells them: not in a child whose parent did. No
 * lock is taken before there is a handler that sets it free in a child.
 *
 * Returns 0, or why there is no notifier: -errno.
 */
static int start_once(bool can_start, const void *caller)
{
	const struct ucx_ucm ucm = {
		ucx_real("ucm_set_external_event", caller),
		ucx_real("ucm_unset_external_event", caller),
		ucx_real("ucm_vm_munmap", caller),
	};
	int ret = 0;

	if (!can_start && !is_started() && !child_cleared)
		return 0;
	pthread_mutex_lock(&start);
	if (!started) {
		if (can_start)
			ret = try_start(&ucm);
		if (started)
			ucm.set_external_event(UCM_EVENT_VM_UNMAPPED);
		else if (child_cleared)
			ucm.unset_external_event(UCM_EVENT_VM_UNMAPPED);
		child_cleared = false;
	}
	pthread_mutex_unlock(&start);
	return ret;
}

/*
 * UCX makes a registration cache. Its calls come here if the one that makes the context
 * did: the scope in which a library's names are looked up is one.
 */
static void serve_cache(const void *caller)
{
	const char *why = NULL;
	int ret;

	if (!is_started()) {
		why = making.inside ? obstacle() :
			"UCX's context is made past libmlx5ep-ucx (RTLD_DEEPBIND?): its hooks stay";
		if (!why && !is_ready_for_fork())
			why = "no memory: UCX's hooks stay";
	}
	ret = start_once(!why, caller);
	making.cache = !why && !ret;
	if (why)
		ucx_env_decline("%s", why);
	else if (ret)
		ucx_env_decline("%s: UCX has hooks of mode reloc", strerror(-ret));
}

static void ignore(ucm_event_type_t type, ucm_event_t *event, void *arg)
{
	(void)type;
	(void)event;
	(void)arg;
}

/* Installs hooks beside what is told here: a handler asks for them. Returns what there is. */
static const char *install_hooks(const void *caller)
{
	__typeof__(&ucm_unset_external_event) unset_external =
		ucx_real("ucm_unset_external_event", caller);
	__typeof__(&ucm_set_event_handler) set =
		ucx_real("ucm_set_event_handler", caller);
	__typeof__(&ucm_unset_event_handler) unset =
		ucx_real("ucm_unset_event_handler", caller);
	ucs_status_t status;

	pthread_mutex_lock(&start);
	hooked = true;
	unset_external(UCM_EVENT_VM_UNMAPPED);
	pthread_mutex_unlock(&start);
	status = set(UCM_EVENT_VM_UNMAPPED, 0, ignore, NULL);
	if (status != UCS_OK)
		return "no hooks, and could not get any";
	unset(UCM_EVENT_VM_UNMAPPED, ignore, NULL);
	return "hooks of mode reloc";
}

/* UCX has made a context that has a cache, with events from here. */
static void prove(ucp_context_h context, const void *caller)
{
	const char *wrong, *hooks;

	if (__atomic_load_n(&hooked, __ATOMIC_RELAXED))
		return;
	wrong = ucx_probe(context, caller);
	if (!wrong) {
		if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
			ucx_env_say("UCX is told by mlx5_ep");
		return;
	}
	hooks = install_hooks(caller);
	if (ucx_probe_has_adapter(context, caller))
		ucx_env_decline("%s: UCX has %s", wrong, hooks);
	else
		ucx_env_say("UCX uses no adapter: it has its hooks");
}

/* A machine that imports memory of another one finds it by lookups that look the same. */
static bool imports_memory(const ucp_params_t *params)
{
	return params && params->field_mask & UCP_PARAM_FIELD_FEATURES &&
	       params->features & UCP_FEATURE_EXPORTED_MEMH;
}

/* The structure is larger in other versions of UCX, so it is not copied. */
EXPORT void ucm_set_global_opts(const ucm_global_config_t *ucm_opts)
{
	ucm_global_config_t *opts = (ucm_global_config_t *)ucm_opts;
	ucm_mmap_hook_mode_t mode = opts->mmap_hook_mode;

	if (mode == UCM_MMAP_HOOK_BISTRO && !ucx_env_off() && !obstacle())
		opts->mmap_hook_mode = UCM_MMAP_HOOK_RELOC;
	REAL(ucm_set_global_opts)(opts);
	opts->mmap_hook_mode = mode;
}

EXPORT ucs_status_t ucm_set_event_handler(int mask, int priority,
					  ucm_event_callback_t cb, void *arg)
{
	const void *caller = __builtin_return_address(0);
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (mask & UCM_EVENT_VM_UNMAPPED &&
	    !(mask & UCM_EVENT_FLAG_NO_INSTALL) && !ucx_env_off())
		serve_cache(caller);
	pthread_setcancelstate(cancel, NULL);
	return REAL(ucm_set_event_handler)(mask, priority, cb, arg);
}

/* ucp_init() is this function, with the version of the header that it is in. */
EXPORT ucs_status_t ucp_init_version(unsigned int major, unsigned int minor,
				     const ucp_params_t *params,
				     const ucp_config_t *config,
				     ucp_context_h *context)
{
	__typeof__(&ucp_init_version) init = REAL(ucp_init_version);
	ucs_status_t status;
	int cancel;

	if (ucx_env_off())
		return init(major, minor, params, config, context);
	if (imports_memory(params)) {
		ucx_env_decline("UCX imports memory (UCP_FEATURE_EXPORTED_MEMH): its hooks stay");
		return init(major, minor, params, config, context);
	}
	making.inside = true;
	making.cache = false;
	status = init(major, minor, params, config, context);
	making.inside = false;
	if (status != UCS_OK || !making.cache)
		return status;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	prove(*context, init);
	pthread_setcancelstate(cancel, NULL);
	return status;
}

static __attribute__((destructor)) void ucx_unload(void)
{
	if (started && ucx_env_verbose())
		ucx_events_print();
}
