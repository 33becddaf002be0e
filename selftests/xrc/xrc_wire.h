/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How processes that wire up XRC find each other: datagrams addressed by node
 * and process. Nodes of one machine use the machine's own sockets; nodes that
 * have addresses use UDP, which may lose some: ask again.
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

/* Return: 0, also where there is nobody yet; -errno. */
int wire_send(const struct wire_net *net, int sock, unsigned int node,
	      unsigned int proc, const void *msg, size_t len);

#endif
