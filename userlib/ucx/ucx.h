/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_UCX_H
#define MLX5EP_UCX_H

#include <stdbool.h>
#include <stdint.h>

#include <mlx5ep/notifier.h>
#include <ucm/api/ucm.h>
#include <ucp/api/ucp_def.h>

#define EXPORT __attribute__((visibility("default")))

/*
 * The function that a program would call if this library were not there. @caller is an
 * address in what called; REAL() is for the functions that are called from outside.
 */
#define REAL_OF(name, caller) \
({ \
	static __typeof__(&(name)) real_; \
\
	if (!__atomic_load_n(&real_, __ATOMIC_RELAXED)) \
		__atomic_store_n(&real_, ucx_real(#name, caller), \
				 __ATOMIC_RELAXED); \
	real_; \
})

#define REAL(name) REAL_OF(name, __builtin_return_address(0))

/**
 * struct ucx_ucm - the functions of UCX that take events
 */
struct ucx_ucm {
	__typeof__(&ucm_set_external_event) set_external_event;
	__typeof__(&ucm_unset_external_event) unset_external_event;
	__typeof__(&ucm_vm_munmap) vm_munmap;
};

/* ucx_env.c */
bool ucx_env_off(void);
bool ucx_env_verbose(void);
unsigned int ucx_env_newest(void);
void ucx_env_say(const char *what);
void ucx_env_decline(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
void ucx_env_forked(void);

/* ucx_real.c */
void *ucx_real(const char *name, const void *caller);
bool ucx_real_asks_us(void);
unsigned int ucx_real_version(void);
bool ucx_real_from_ucp(const void *caller);
bool ucx_real_is_bypassed(const void *ours);
bool ucx_real_is_transport(const void *caller);

/* ucx_events.c */
#define UCX_THREAD __thread __attribute__((tls_model("initial-exec")))

/**
 * struct ucx_noted - what came to the library, for ucx_probe.c
 * @lookups: of UCX's protocol library, with events that were not told yet
 * @watched: registrations that got a watch
 * @unwatched: registrations that got none
 * @on_demand: registrations that need none
 */
struct ucx_noted {
	unsigned int lookups, watched, unwatched, on_demand;
};

/**
 * struct ucx_seen - how far events were told when this thread looked
 * @counter: what it looked at
 * @value: of that
 */
struct ucx_seen {
	const volatile uint64_t *counter;
	uint64_t value;
};

extern const volatile uint64_t *ucx_events_counter;
extern UCX_THREAD struct ucx_seen ucx_events_seen;
extern UCX_THREAD struct ucx_noted ucx_noted;

int ucx_events_possible(void);
int ucx_events_start(const struct ucx_ucm *ucm);
void ucx_events_forked(void);
struct mlx5ep_notifier *ucx_events_notifier(void);
void ucx_events_tell(void);
void ucx_events_forget(void);
void ucx_events_unwatched(int by);
void ucx_events_print(void);

/**
 * ucx_events_new() - may there be an event that this thread has not seen told?
 *
 * The call costs four loads and two compares.
 */
static inline bool ucx_events_new(void)
{
	const volatile uint64_t *counter =
		__atomic_load_n(&ucx_events_counter, __ATOMIC_ACQUIRE);

	return counter != ucx_events_seen.counter ||
	       __atomic_load_n(counter, __ATOMIC_ACQUIRE) !=
		       ucx_events_seen.value;
}

/* ucx_lookup.c */
void ucx_lookup_missed(const void *caller);

/* ucx_regs.c */
void ucx_regs_forked(void);

/* ucx_probe.c */
const char *ucx_probe(ucp_context_h context, const void *caller);
bool ucx_probe_has_adapter(ucp_context_h context, const void *caller);

#endif
