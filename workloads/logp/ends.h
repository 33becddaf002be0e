/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Two processes of a job in one process, which one thread drives in turns. */
#ifndef SELFTESTS_LOGP_ENDS_H
#define SELFTESTS_LOGP_ENDS_H

#include "am/am.h"
#include "splitc/splitc.h"

enum ends_kind { ENDS_POST, ENDS_AM, ENDS_SC };
enum ends_handler { ENDS_SINK, ENDS_ECHO, ENDS_PONG, ENDS_HANDLERS };

struct end {
	struct transport *tp;
	struct am *am;		/* ENDS_AM */
	struct sc *sc;		/* ENDS_SC */
	struct tp_attr attr;
	enum ends_kind kind;
	int ret;
};

struct ends {
	struct end end[2];
	char folder[32], domain[48];
};

/*
 * Open both ends, on a node each. @category: of their send queues. 0 or -errno,
 * after which nothing is left to do but to exit.
 */
int ends_open(struct ends *e, enum ends_kind kind, unsigned int category);
int ends_close(struct ends *e);

#endif
