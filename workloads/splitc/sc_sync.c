// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Split-C: barriers, and waits for stores of others. */
#include "sc.h"

/* What is waited for: a counter that handlers write. */
struct target {
	const uint64_t *counter;
	uint64_t value;
};

static bool is_reached(void *arg)
{
	const struct target *t = arg;

	return *t->counter >= t->value;
}

/* In round k each tells the process 2^k further on, and waits to be told. */
int sc_barrier(struct sc *sc)
{
	unsigned int n = sc_processes(sc), k, step;
	uint64_t args[AM_ARGS] = {};
	struct target t;
	int ret = 0;

	sc->barriers++;
	for (k = 0, step = 1; step < n && !ret; k++, step *= 2) {
		args[0] = k;
		ret = am_request(sc->am, (sc_rank(sc) + step) % n, SC_ARRIVED,
				 args, NULL, 0);
		t.counter = &sc->arrived[k];
		t.value = sc->barriers;
		if (!ret)
			ret = tp_wait_until(sc->tp, is_reached, &t);
	}
	return ret;
}

static bool take_bytes(void *arg)
{
	struct target *t = arg;

	if (!is_reached(t))
		return false;
	*(uint64_t *)t->counter -= t->value;
	return true;
}

int sc_store_sync(struct sc *sc, size_t len)
{
	struct target t = { &sc->stored[sc->epoch & 1], len };

	return tp_wait_until(sc->tp, take_bytes, &t);
}

/*
 * After the barrier no store of this epoch is on its way. Those of the next one
 * may be, and are counted apart.
 */
int sc_all_store_sync(struct sc *sc)
{
	int ret = sc_sync(sc);

	if (!ret)
		ret = sc_barrier(sc);
	sc->stored[sc->epoch & 1] = 0;
	sc->epoch++;
	return ret;
}
