// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The registrations of the process, each with a watch.
 *
 * UCX registers by verbs calls, so these are answered here: arm a watch,
 * register, take the fingerprint, and start over if the memory changed
 * meanwhile. Registrations of others than UCX get a watch too. Telling UCX of
 * memory that it has not registered does nothing.
 *
 * A registration with on-demand paging follows the memory by itself and gets no
 * watch. A registration that could not get a watch, as the notifier is full, is
 * counted; see ucx_events.c for what happens then.
 *
 * @lock protects the table only, and is held for no call of anybody else. Nobody
 * takes it before there is a notifier: until then no handler sets it free in a
 * forked child.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <mlx5ep/mr_watch.h>

#include "ucx.h"

/* verbs.h has macros of these names, which count arguments. */
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define REGS_BUCKETS 4096
#define REG_TRIES 100

/**
 * struct ucx_reg - a registration
 * @watch: has no notifier if the registration is not watched
 */
struct ucx_reg {
	struct ucx_reg *next;
	struct ibv_mr *mr;
	struct mlx5ep_watch watch;
};

/**
 * struct ucx_reg_call - the call that registers
 * @dereg: what undoes it
 */
struct ucx_reg_call {
	struct ibv_mr *(*reg)(struct ibv_pd *pd, void *addr, size_t length,
			      int access);
	struct ibv_mr *(*reg_iova)(struct ibv_pd *pd, void *addr, size_t length,
				   uint64_t iova, int access);
	struct ibv_mr *(*reg_iova2)(struct ibv_pd *pd, void *addr,
				    size_t length, uint64_t iova,
				    unsigned int access);
	__typeof__(&ibv_dereg_mr) dereg;
	struct ibv_pd *pd;
	void *addr;
	size_t length;
	uint64_t iova;
	unsigned int access;
};

static struct ucx_reg *regs[REGS_BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct ucx_reg **regs_bucket(const struct ibv_mr *mr)
{
	uint64_t key = (uintptr_t)mr * 0x9e3779b97f4a7c15ull;

	return &regs[(key >> 32) % REGS_BUCKETS];
}

static void regs_put(struct ucx_reg *reg)
{
	struct ucx_reg **at = regs_bucket(reg->mr);

	pthread_mutex_lock(&lock);
	reg->next = *at;
	*at = reg;
	pthread_mutex_unlock(&lock);
}

/*
 * Takes a registration out of the table; NULL for one without a watch. The table
 * is empty until there is a notifier, which then stays as long as the process.
 */
static struct ucx_reg *regs_take(const struct ibv_mr *mr)
{
	struct ucx_reg **at = regs_bucket(mr);
	struct ucx_reg *reg;

	if (!ucx_events_notifier())
		return NULL;
	pthread_mutex_lock(&lock);
	while (*at && (*at)->mr != mr)
		at = &(*at)->next;
	reg = *at;
	if (reg)
		*at = reg->next;
	pthread_mutex_unlock(&lock);
	return reg;
}

/**
 * ucx_regs_forked() - forget the registrations of the parent
 *
 * Context: the only thread of a forked child, before fork() returns.
 */
void ucx_regs_forked(void)
{
	size_t i;

	for (i = 0; i < REGS_BUCKETS; i++)
		regs[i] = NULL;
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static struct ibv_mr *reg_real(const struct ucx_reg_call *call)
{
	if (call->reg)
		return call->reg(call->pd, call->addr, call->length,
				 call->access);
	if (call->reg_iova)
		return call->reg_iova(call->pd, call->addr, call->length,
				      call->iova, call->access);
	return call->reg_iova2(call->pd, call->addr, call->length, call->iova,
			       call->access);
}

/*
 * Registers once. Returns -EAGAIN if the memory changed meanwhile. If the kernel cannot
 * look at the memory (-EFAULT), as at that of a GPU, the watch stays: UCX learns from its
 * own hooks when a GPU's memory is freed, and a hit of the watch counts as a change.
 */
static int reg_once(const struct ucx_reg_call *call, struct ucx_reg *reg)
{
	int no_watch, ret;

	no_watch = mlx5ep_watch_add(ucx_events_notifier(), call->addr,
				    call->length, 0, &reg->watch);
	reg->mr = reg_real(call);
	if (!reg->mr) {
		ret = -errno;
		if (!no_watch)
			mlx5ep_watch_del(&reg->watch);
		return ret;
	}
	if (!no_watch) {
		ucx_noted.watched++;
		return mlx5ep_watch_record(&reg->watch) == -EAGAIN ? -EAGAIN :
								     0;
	}
	ucx_noted.unwatched++;
	reg->watch.notifier = NULL;
	ucx_events_unwatched(1);
	ucx_env_decline("no watch for a registration (%s): while it exists UCX registers anew at each transfer",
			strerror(-no_watch));
	return 0;
}

/*
 * If the memory changes in each attempt, the last registration is kept: its
 * watch has been hit, so the next lookup drops it.
 */
static struct ibv_mr *reg_watched(const struct ucx_reg_call *call)
{
	struct ucx_reg *reg;
	int i, ret;

	if (call->access & IBV_ACCESS_ON_DEMAND)
		ucx_noted.on_demand++;
	if (!ucx_events_notifier() || !call->length ||
	    call->access & IBV_ACCESS_ON_DEMAND)
		return reg_real(call);
	reg = calloc(1, sizeof(*reg));
	if (!reg)
		return NULL;
	for (i = 1;; i++) {
		ret = reg_once(call, reg);
		if (ret != -EAGAIN || !reg->mr || i == REG_TRIES ||
		    call->dereg(reg->mr))
			break;
		mlx5ep_watch_del(&reg->watch);
	}
	if (!reg->mr) {
		free(reg);
		errno = -ret;
		return NULL;
	}
	regs_put(reg);
	return reg->mr;
}

/*
 * The caller is what called ibv_reg_mr(). A thread that is cancelled in between would leave
 * a watch that nobody removes, and a registration that is in no table.
 */
static struct ibv_mr *reg_called(struct ucx_reg_call *call,
				 const void *caller)
{
	struct ibv_mr *mr;
	int cancel;

	call->dereg = REAL_OF(ibv_dereg_mr, caller);

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (!ucx_events_notifier())
		ucx_lookup_missed(caller);
	mr = reg_watched(call);
	pthread_setcancelstate(cancel, NULL);
	return mr;
}

EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
				 int access)
{
	struct ucx_reg_call call = {
		.reg = REAL(ibv_reg_mr),
		.pd = pd,
		.addr = addr,
		.length = length,
		.access = access,
	};

	return reg_called(&call, __builtin_return_address(0));
}

EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr,
				      size_t length, uint64_t iova, int access)
{
	struct ucx_reg_call call = {
		.reg_iova = REAL(ibv_reg_mr_iova),
		.pd = pd,
		.addr = addr,
		.length = length,
		.iova = iova,
		.access = access,
	};

	return reg_called(&call, __builtin_return_address(0));
}

EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr,
				       size_t length, uint64_t iova,
				       unsigned int access)
{
	struct ucx_reg_call call = {
		.reg_iova2 = REAL(ibv_reg_mr_iova2),
		.pd = pd,
		.addr = addr,
		.length = length,
		.iova = iova,
		.access = access,
	};

	return reg_called(&call, __builtin_return_address(0));
}

/* The number of a registration can be reused as soon as it is deregistered. */
static int dereg_watched(struct ibv_mr *mr, __typeof__(&ibv_dereg_mr) dereg)
{
	struct ucx_reg *reg = regs_take(mr);
	int ret = dereg(mr);

	if (!reg)
		return ret;
	if (ret) {
		regs_put(reg);
		return ret;
	}
	if (reg->watch.notifier)
		mlx5ep_watch_del(&reg->watch);
	else
		ucx_events_unwatched(-1);
	free(reg);
	return 0;
}

EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
	__typeof__(&ibv_dereg_mr) dereg = REAL(ibv_dereg_mr);
	int ret, cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	ret = dereg_watched(mr, dereg);
	pthread_setcancelstate(cancel, NULL);
	return ret;
}
