// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Groups of processes, and the schedules that they keep. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"

#define SEGMENT 65536
#define KEEP 64

struct nbc *nbc_new(struct nbc_job *job, unsigned int n)
{
	struct nbc *nbc = calloc(1, sizeof(*nbc));

	if (!nbc)
		return NULL;
	nbc->members = calloc(n, sizeof(*nbc->members));
	if (!nbc->members) {
		free(nbc);
		return NULL;
	}
	nbc->job = job;
	nbc->n = n;
	nbc->keep = KEEP;
	nbc_tune(nbc, NBC_DEFAULT, NBC_DEFAULT);
	return nbc;
}

static void schedule_free(struct nbc_schedule *s)
{
	nbc_req_free(s->idle);
	free((size_t *)s->key.vec);
	free(s->steps);
	free(s);
}

void nbc_free(struct nbc *nbc)
{
	struct nbc_schedule *s;

	while (nbc && (s = nbc->schedules)) {
		nbc->schedules = s->next;
		schedule_free(s);
	}
	if (nbc)
		free(nbc->members);
	free(nbc);
}

static bool same(const struct nbc_key *a, const struct nbc_key *b)
{
	return a->kind == b->kind && a->len == b->len && a->root == b->root &&
		a->type == b->type && a->op == b->op && a->n_vec == b->n_vec &&
		(!a->n_vec ||
		 !memcmp(a->vec, b->vec, a->n_vec * sizeof(*a->vec)));
}

static struct nbc_schedule *build(struct nbc *nbc, const struct nbc_key *key)
{
	struct nbc_schedule *s = calloc(1, sizeof(*s));
	size_t len = key->n_vec * sizeof(*key->vec);
	size_t *vec = NULL;

	if (!s)
		return NULL;
	s->key = *key;
	s->rank = nbc->rank;
	s->processes = nbc->n;
	s->few = nbc->few;
	s->segment = nbc->segment;
	if (len) {
		vec = malloc(len);
		s->failed = !vec;
		if (vec)
			memcpy(vec, key->vec, len);
		s->key.vec = vec;
	}
	if (!s->failed)
		nbc_build(s);
	if (s->failed) {
		schedule_free(s);
		return NULL;
	}
	return s;
}

/* The schedule, which is built where there is none. NULL without memory. */
struct nbc_schedule *nbc_find(struct nbc *nbc, const struct nbc_key *key)
{
	struct nbc_schedule **at, *s;

	for (at = &nbc->schedules; (s = *at); at = &s->next)
		if (same(&s->key, key))
			break;
	if (s) {
		*at = s->next;
	} else {
		s = build(nbc, key);
		if (!s)
			return NULL;
		nbc->n_schedules++;
		nbc->built++;
	}
	s->next = nbc->schedules;
	nbc->schedules = s;
	return s;
}

/* The last one that no request uses goes. Return: was there one? */
static bool drop_last(struct nbc *nbc)
{
	struct nbc_schedule **at, **last = NULL, *s;

	for (at = &nbc->schedules; *at; at = &(*at)->next)
		if (!(*at)->users)
			last = at;
	if (!last)
		return false;
	s = *last;
	*last = s->next;
	nbc->n_schedules--;
	schedule_free(s);
	return true;
}

/* Keep as many schedules as nbc_keep() says, and those in use. */
void nbc_trim(struct nbc *nbc)
{
	while (nbc->n_schedules > nbc->keep && drop_last(nbc))
		;
}

struct member {
	int color, key;
	unsigned int next_id, rank;
};

static int by_key(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Only those of one color stay. Return: how many. */
static unsigned int only(struct member *all, unsigned int n, int color)
{
	unsigned int i, k = 0;

	for (i = 0; i < n; i++)
		if (all[i].color == color)
			all[k++] = all[i];
	qsort(all, k, sizeof(*all), by_key);
	return k;
}

static int join(struct nbc *nbc, struct member *all, int color,
		struct nbc **out)
{
	unsigned int id = 0, i, n;
	struct nbc *new;

	for (i = 0; i < nbc->n; i++)
		id = all[i].next_id > id ? all[i].next_id : id;
	if (id > NBC_GROUPS)
		return -ENOSPC;
	nbc->job->next_id = id + 1;
	*out = NULL;
	if (color < 0)
		return 0;
	n = only(all, nbc->n, color);
	new = nbc_new(nbc->job, n);
	if (!new)
		return -ENOMEM;
	new->id = id;
	for (i = 0; i < n; i++) {
		new->members[i] = nbc->members[all[i].rank];
		if (all[i].rank == nbc->rank)
			new->rank = i;
	}
	*out = new;
	return 0;
}

int nbc_split(struct nbc *nbc, int color, int key, struct nbc **out)
{
	struct member mine = {
		.color = color,
		.key = key,
		.next_id = nbc->job->next_id,
		.rank = nbc->rank,
	};
	struct member *all = calloc(nbc->n, sizeof(*all));
	struct nbc_req *req;
	int ret = -ENOMEM;

	if (all)
		ret = nbc_iallgather(nbc, &mine, sizeof(mine), all, &req);
	if (!ret)
		ret = nbc_wait(req);
	/* After an error nothing is freed: it may still be moving. */
	if (ret)
		return ret;
	ret = join(nbc, all, color, out);
	free(all);
	return ret;
}

void nbc_tune(struct nbc *nbc, size_t few, size_t segment)
{
	nbc->few = few;
	nbc->segment = segment == NBC_DEFAULT ? SEGMENT : segment;
}

unsigned int nbc_rank(const struct nbc *nbc)
{
	return nbc->rank;
}

unsigned int nbc_processes(const struct nbc *nbc)
{
	return nbc->n;
}

void nbc_keep(struct nbc *nbc, unsigned int most)
{
	nbc->keep = most;
}

unsigned int nbc_schedules(const struct nbc *nbc)
{
	return nbc->n_schedules;
}

unsigned int nbc_built(const struct nbc *nbc)
{
	return nbc->built;
}
