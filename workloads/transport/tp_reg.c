// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Registrations of large buffers: through the cache that notifications keep
 * right, or, to show the difference, kept for good.
 */
#include <errno.h>
#include <stdlib.h>

#include "tp.h"

static struct ibv_mr *find_kept(struct transport *tp, const void *buf,
				size_t len)
{
	struct tp_kept *k;

	for (k = tp->kept; k; k = k->next)
		if (buf >= k->mr->addr &&
		    buf + len <= k->mr->addr + k->mr->length)
			return k->mr;
	return NULL;
}

static int keep(struct transport *tp, const void *buf, size_t len,
		struct ibv_mr **mr)
{
	struct tp_kept *k;

	*mr = find_kept(tp, buf, len);
	if (*mr)
		return 0;
	k = malloc(sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->mr = ibv_reg_mr(tp->pd, (void *)buf, len, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
	if (!k->mr) {
		free(k);
		return -errno;
	}
	k->next = tp->kept;
	tp->kept = k;
	*mr = k->mr;
	return 0;
}

int tp_reg_get(struct transport *tp, const void *buf, size_t len,
	       struct tp_reg *reg)
{
	int ret;

	reg->entry = NULL;
	if (tp->attr.keep_for_good)
		return keep(tp, buf, len, &reg->mr);
	ret = mlx5ep_mr_cache_get(tp->cache, (void *)buf, len, &reg->entry);
	if (!ret)
		reg->mr = reg->entry->mr;
	return ret;
}

/* Does nothing if it is not in use. */
void tp_reg_put(struct transport *tp, struct tp_reg *reg)
{
	if (reg->entry)
		mlx5ep_mr_cache_put(tp->cache, reg->entry);
	reg->entry = NULL;
	reg->mr = NULL;
}

void tp_reg_free(struct transport *tp)
{
	struct tp_kept *k;

	while ((k = tp->kept)) {
		tp->kept = k->next;
		ibv_dereg_mr(k->mr);
		free(k);
	}
}
