// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Exchanges: what moves without a copy, and holds a registration until it is
 * done. Its number is what other processes know of it, so a number that does not
 * exist harms nobody.
 */
#include <stdlib.h>

#include "tp.h"

#define ONE_MORE 16

static bool grow(struct transport *tp)
{
	unsigned int n = tp->n_exchanges + ONE_MORE, i;
	struct tp_exchange **all, *x;

	all = realloc(tp->exchanges, n * sizeof(*all));
	if (!all)
		return false;
	tp->exchanges = all;
	for (i = tp->n_exchanges; i < n; i++) {
		x = calloc(1, sizeof(*x));
		if (!x)
			return false;
		x->tp = tp;
		x->id = i;
		x->next = tp->free_exchanges;
		tp->free_exchanges = x;
		all[i] = x;
		tp->n_exchanges = i + 1;
	}
	return true;
}

/* Return: NULL without memory. */
struct tp_exchange *tp_exchange_new(struct transport *tp, struct tp_req *req,
				    unsigned int peer)
{
	struct tp_exchange *x;

	if (!tp->free_exchanges && !grow(tp))
		return NULL;
	x = tp->free_exchanges;
	tp->free_exchanges = x->next;
	x->req = req;
	x->peer = peer;
	x->peer_id = -1;
	return x;
}

/* Return: NULL if nothing of that number is moving. */
struct tp_exchange *tp_exchange_of(struct transport *tp, int id)
{
	if (id < 0 || (unsigned int)id >= tp->n_exchanges ||
	    !tp->exchanges[id]->req)
		return NULL;
	return tp->exchanges[id];
}

/* The request is done, and the registration not in use any more. */
void tp_exchange_end(struct tp_exchange *x, int status)
{
	struct transport *tp = x->tp;

	tp_reg_put(tp, &x->reg);
	x->req->status = status;
	x->req = NULL;
	x->next = tp->free_exchanges;
	tp->free_exchanges = x;
}

/* Registrations that a failure left in use are returned too. */
void tp_exchange_free(struct transport *tp)
{
	unsigned int i;

	for (i = 0; i < tp->n_exchanges; i++) {
		tp_reg_put(tp, &tp->exchanges[i]->reg);
		free(tp->exchanges[i]);
	}
	free(tp->exchanges);
	tp->exchanges = NULL;
	tp->n_exchanges = 0;
}
