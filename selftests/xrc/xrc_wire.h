/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Datagrams by which processes that connect XRC QPs find each other. A process
 * is addressed by its node and its number. Nodes on one machine use Unix
 * sockets. Nodes that have addresses use UDP, which may lose a datagram: the
 * caller must ask again.
 */
#ifndef SELFTESTS_XRC_WIRE_H
#define SELFTESTS_XRC_WIRE_H

#include <netinet/in.h>
#include <stddef.h>

#define WIRE_NODES 16

/**
 * struct wire_net - where the nodes are
 * @ppn: processes of a node
 * @known: nodes that have an address: none, or all
 * @nodes: their addresses
 */
struct wire_net {
	unsigned int ppn;
	unsigned int known;
	struct in_addr nodes[WIRE_NODES];
};

/* Take "ADDRESS,ADDRESS,...". Return: 0 or -EINVAL. */
int wire_net_parse(struct wire_net *net, const char *list);

/**
 * wire_open() - a socket for one process
 * @ms: how long a receive waits
 *
 * Return: the socket, or -errno.
 */
int wire_open(const struct wire_net *net, unsigned int node, unsigned int proc,
	      unsigned int ms);

/* Return: 0, also if nobody receives there yet; or -errno. */
int wire_send(const struct wire_net *net, int sock, unsigned int node,
	      unsigned int proc, const void *msg, size_t len);

#endif
