/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The thread of process 0 at which processes meet over TCP. */
#ifndef SELFTESTS_TRANSPORT_MEET_SERVER_H
#define SELFTESTS_TRANSPORT_MEET_SERVER_H

#include <netinet/in.h>
#include <stdint.h>

enum { MEET_ROUND, MEET_DEAD, MEET_GIVE_UP };

#define MEET_MAGIC 0x6d656574u		/* "meet" */

/* The first bytes of a connection: that it is one of the job, and of which process. */
struct meet_hello {
	uint32_t magic, rank;
};

/*
 * What goes before the bytes of a round. With MEET_DEAD and MEET_GIVE_UP no bytes
 * follow. With MEET_DEAD @len is the rank of the process.
 */
struct meet_frame {
	uint32_t kind, round;
	uint64_t len;
};

struct meet_server;

/*
 * Seconds after which a connection has ended whose other end does not answer: its
 * machine or the network is gone. The end of a process is told at once.
 */
#define MEET_BOUND_S 12

/* Give a connection that bound, at either end. 0 or -errno. */
int meet_bound(int sock);

/* Listen at @addr and serve @n processes. 0 or -errno. */
int meet_server_start(struct meet_server **server,
		      const struct sockaddr_in *addr, unsigned int n);

/*
 * Wait until all have left, some seconds at most, and end the thread. @server
 * may be NULL.
 */
void meet_server_stop(struct meet_server *server);

#endif
