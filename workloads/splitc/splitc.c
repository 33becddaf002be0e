// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Split-C: memory, and the accesses that are active messages. A put and a store
 * are requests without a reply; active messages answer them all the same, so who
 * has drained its requests knows that all of them were handled.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sc.h"

#define ALIGN 64ul

static void get(struct am_token *token, const uint64_t *args,
		const void *body, size_t len)
{
	struct sc *sc = am_arg(token->am);

	am_reply(token, SC_GOT, args, sc->memory + args[0], args[1]);
}

static void got(struct am_token *token, const uint64_t *args,
		const void *body, size_t len)
{
	memcpy((void *)(uintptr_t)args[2], body, len);
}

static void put(struct am_token *token, const uint64_t *args,
		const void *body, size_t len)
{
	struct sc *sc = am_arg(token->am);

	memcpy(sc->memory + args[0], body, len);
}

static void store(struct am_token *token, const uint64_t *args,
		  const void *body, size_t len)
{
	struct sc *sc = am_arg(token->am);

	memcpy(sc->memory + args[0], body, len);
	sc->stored[args[1] & 1] += len;
}

/* A bulk store arrived. */
static void stored(struct am_token *token, const uint64_t *args,
		   const void *body, size_t len)
{
	struct sc *sc = am_arg(token->am);

	sc->stored[args[1] & 1] += args[0];
}

static void arrived(struct am_token *token, const uint64_t *args,
		    const void *body, size_t len)
{
	struct sc *sc = am_arg(token->am);

	sc->arrived[args[0] % SC_ROUNDS]++;
}

static const am_handler handlers[SC_HANDLERS] = {
	[SC_GET] = get,
	[SC_GOT] = got,
	[SC_PUT] = put,
	[SC_STORE] = store,
	[SC_STORED] = stored,
	[SC_ARRIVED] = arrived,
};

bool sc_in_memory(const struct sc *sc, struct sc_global at, size_t len)
{
	return at.process < sc_processes(sc) && at.at <= sc->len &&
		len <= sc->len - at.at;
}

int sc_get(struct sc *sc, void *to, struct sc_global from, size_t len)
{
	uint64_t args[AM_ARGS] = { from.at, len, (uintptr_t)to };

	if (!sc_in_memory(sc, from, len))
		return -EFAULT;
	if (len > sc_max(sc))
		return -EINVAL;
	return am_request(sc->am, from.process, SC_GET, args, NULL, 0);
}

static int write_to(struct sc *sc, struct sc_global to, const void *from,
		    size_t len, enum sc_handler handler)
{
	uint64_t args[AM_ARGS] = { to.at, sc->epoch };

	if (!sc_in_memory(sc, to, len))
		return -EFAULT;
	return am_request(sc->am, to.process, handler, args, from, len);
}

int sc_put(struct sc *sc, struct sc_global to, const void *from, size_t len)
{
	return write_to(sc, to, from, len, SC_PUT);
}

int sc_store(struct sc *sc, struct sc_global to, const void *from, size_t len)
{
	return write_to(sc, to, from, len, SC_STORE);
}

int sc_sync(struct sc *sc)
{
	int ret = am_drain(sc->am), error = sc_bulk_wait(sc);

	return ret ? ret : error;
}

int sc_alloc(struct sc *sc, size_t len, size_t *at)
{
	size_t whole = (len + ALIGN - 1) & ~(ALIGN - 1);

	if (whole < len || whole > sc->len - sc->taken)
		return -ENOMEM;
	*at = sc->taken;
	sc->taken += whole;
	return 0;
}

int sc_spread_alloc(struct sc *sc, size_t n, size_t size,
		    struct sc_spread *array)
{
	unsigned int processes = sc_processes(sc);
	size_t mine = n / processes + !!(n % processes), len, at;
	int ret;

	if (__builtin_mul_overflow(mine, size, &len))
		return -ENOMEM;
	ret = sc_alloc(sc, len, &at);
	if (!ret)
		*array = (struct sc_spread){ .size = size, .n = n, .at = at,
					     .processes = processes };
	return ret;
}

unsigned int sc_rank(const struct sc *sc)
{
	return tp_rank(sc->tp);
}

unsigned int sc_processes(const struct sc *sc)
{
	return tp_processes(sc->tp);
}

void *sc_local(const struct sc *sc, size_t at)
{
	return sc->memory + at;
}

size_t sc_max(const struct sc *sc)
{
	return am_max(sc->am);
}

int sc_open(struct sc **out, struct transport *tp, size_t len,
	    unsigned int depth)
{
	struct sc *sc = calloc(1, sizeof(*sc));
	void *memory;
	int ret;

	if (!sc)
		return -ENOMEM;
	sc->tp = tp;
	sc->len = len & ~(ALIGN - 1);
	ret = tp_window(tp, len, &memory);
	if (!ret) {
		sc->memory = memory;
		ret = am_open(&sc->am, tp, depth, handlers, SC_HANDLERS, sc);
	}
	if (ret) {
		free(sc);
		return ret;
	}
	*out = sc;
	return 0;
}

int sc_close(struct sc *sc)
{
	int ret, error;

	if (!sc)
		return 0;
	ret = sc_bulk_wait(sc);
	error = am_close(sc->am);
	free(sc);
	return ret ? ret : error;
}
