/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Both ends of a connection, which one thread drives in turns. */
#ifndef SELFTESTS_LOGP_SIDES_H
#define SELFTESTS_LOGP_SIDES_H

/**
 * struct logp_sides - both ends of a connection; end 0 sends
 * @look: look once for what happened at an end; above 0 if something did
 * @finish: once all is done, before the next sample; may be NULL. 0 or -errno
 */
struct logp_sides {
	void *arg;
	int (*look)(void *arg, unsigned int end);
	int (*finish)(void *arg);
};

/* Begins to send a message. 0 or -errno */
typedef int (*logp_send)(void *arg);

/* Of @n numbers, which are sorted. */
double logp_median(double *v, unsigned int n);

#endif
