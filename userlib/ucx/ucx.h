/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MLX5EP_UCX_H
#define MLX5EP_UCX_H

#include <stdbool.h>
#include <stdint.h>

#include <mlx5ep/notifier.h>
#include <ucm/api/ucm.h>

#define EXPORT __attribute__((visibility("default")))

/* The function that a program would call if this library were not there. */
#define REAL(name) \
({ \
	static __typeof__(&(name)) real; \
\
	if (!__atomic_load_n(&real, __ATOMIC_RELAXED)) \
		__atomic_store_n(&real, \
				 ucx_real(#name, __builtin_return_address(0)), \
				 __ATOMIC_RELAXED); \
	real; \
})

/**
 * struct ucx_ucm - the functions of UCX that take events
 */
struct ucx_ucm {
	__typeof__(&ucm_set_external_event) set_external_event;
	__typeof__(&ucm_unset_external_event) unset_external_event;
	__typeof__(&ucm_vm_munmap) vm_munmap;
};

/* ucx_real.c */
void *ucx_real(const char *name, const void *caller);
bool ucx_real_asks_us(void);
bool ucx_real_is_new(void);
bool ucx_real_from_ucp(const void *caller);

/* ucx_events.c */
extern const volatile uint64_t *ucx_events_counter;
extern __thread uint64_t ucx_events_seen
	__attribute__((tls_model("initial-exec")));

int ucx_events_possible(void);
int ucx_events_start(const struct ucx_ucm *ucm);
void ucx_events_forked(void);
struct mlx5ep_notifier *ucx_events_notifier(void);
void ucx_events_tell(void);
void ucx_events_unwatched(int by);
void ucx_events_print(void);

/**
 * ucx_events_new() - may there be an event that this thread has not seen told?
 *
 * The call costs three loads and a compare.
 */
static inline bool ucx_events_new(void)
{
	const volatile uint64_t *counter =
		__atomic_load_n(&ucx_events_counter, __ATOMIC_ACQUIRE);

	return __atomic_load_n(counter, __ATOMIC_ACQUIRE) != ucx_events_seen;
}

/* ucx_regs.c */
void ucx_regs_forked(void);

#endif
