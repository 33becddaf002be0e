// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Both ends of a connection; see ends.h. */
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "ends.h"

#define MEMORY	(1u << 20)
#define DEPTH	64u

static void ignore(void *arg, unsigned int from, const void *msg, size_t len)
{
}

static void sink(struct am_token *token, const uint64_t *args,
		 const void *body, size_t len)
{
}

static void echo(struct am_token *token, const uint64_t *args,
		 const void *body, size_t len)
{
	am_reply(token, ENDS_PONG, args, body, len);
}

static const am_handler handlers[ENDS_HANDLERS] = {
	[ENDS_SINK] = sink,
	[ENDS_ECHO] = echo,
	[ENDS_PONG] = sink,
};

/* With a window, for requests that follow a write. */
static int open_am(struct end *end)
{
	void *window;
	int ret = tp_window(end->tp, MEMORY, &window);

	return ret ? ret : am_open(&end->am, end->tp, DEPTH, handlers,
				   ENDS_HANDLERS, NULL);
}

static void *open_end(void *arg)
{
	struct end *end = arg;

	end->ret = tp_open(&end->tp, &end->attr);
	if (end->ret)
		return NULL;
	if (end->kind == ENDS_POST)
		tp_set_handler(end->tp, ignore, NULL);
	else if (end->kind == ENDS_AM)
		end->ret = open_am(end);
	else
		end->ret = sc_open(&end->sc, end->tp, MEMORY, DEPTH);
	return NULL;
}

static void *close_end(void *arg)
{
	struct end *end = arg;
	int ret = 0;

	if (end->am)
		ret = am_close(end->am);
	if (end->sc)
		ret = sc_close(end->sc);
	end->ret = tp_close(end->tp);
	end->ret = end->ret ? end->ret : ret;
	return NULL;
}

/* Both meet the other one in @fn, so each needs a thread for a while. */
static int both(struct ends *e, void *(*fn)(void *arg))
{
	pthread_t other;
	int ret = -pthread_create(&other, NULL, fn, &e->end[1]);

	if (ret)
		return ret;
	fn(&e->end[0]);
	pthread_join(other, NULL);
	return e->end[0].ret ? e->end[0].ret : e->end[1].ret;
}

int ends_open(struct ends *e, enum ends_kind kind, unsigned int category)
{
	unsigned int i;

	*e = (struct ends){};
	snprintf(e->folder, sizeof(e->folder), "/tmp/logp.XXXXXX");
	if (!mkdtemp(e->folder))
		return -errno;
	snprintf(e->domain, sizeof(e->domain), "%s/domain", e->folder);
	for (i = 0; i < 2; i++)
		e->end[i] = (struct end){
			.kind = kind,
			.attr = {
				/* a lock on a file is that of a process */
				.meet = "tcp:127.0.0.1:17410",
				.domain = e->domain,
				.rank = i,
				.nodes = 2,
				.ppn = 1,
				.category = category,
				.credits = DEPTH,
			},
		};
	return both(e, open_end);
}

static int remove_one(const char *path, const struct stat *st, int kind,
		      struct FTW *ftw)
{
	return remove(path);
}

int ends_close(struct ends *e)
{
	int ret = both(e, close_end);

	nftw(e->folder, remove_one, 4, FTW_DEPTH | FTW_PHYS);
	return ret;
}
