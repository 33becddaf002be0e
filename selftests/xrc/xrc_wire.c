// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Datagrams between the processes of nodes, on one machine or on several. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "xrc_wire.h"

#define PORT 17000

union address {
	struct sockaddr any;
	struct sockaddr_un local;
	struct sockaddr_in inet;
};

int wire_net_parse(struct wire_net *net, const char *list)
{
	char text[INET_ADDRSTRLEN];
	size_t len;

	for (net->known = 0; *list; net->known++) {
		len = strcspn(list, ",");
		if (net->known == WIRE_NODES || len >= sizeof(text))
			return -EINVAL;
		memcpy(text, list, len);
		text[len] = 0;
		if (inet_pton(AF_INET, text, &net->nodes[net->known]) != 1)
			return -EINVAL;
		list += len + (list[len] == ',');
	}
	return 0;
}

static socklen_t address(const struct wire_net *net, union address *addr,
			 unsigned int node, unsigned int proc)
{
	memset(addr, 0, sizeof(*addr));
	if (net->known) {
		addr->inet.sin_family = AF_INET;
		addr->inet.sin_addr = net->nodes[node];
		addr->inet.sin_port = htons(PORT + node * net->ppn + proc);
		return sizeof(addr->inet);
	}
	/* The kernel frees an abstract name when the process ends. */
	addr->local.sun_family = AF_UNIX;
	snprintf(addr->local.sun_path + 1, sizeof(addr->local.sun_path) - 1,
		 "wire.%d.%u.%u", getpgrp(), node, proc);
	return sizeof(addr->local);
}

int wire_open(const struct wire_net *net, unsigned int node, unsigned int proc,
	      unsigned int ms)
{
	struct timeval limit = {
		.tv_sec = ms / 1000,
		.tv_usec = ms % 1000 * 1000,
	};
	union address addr;
	socklen_t len = address(net, &addr, node, proc);
	int sock, ret;

	sock = socket(addr.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -errno;
	if (!bind(sock, &addr.any, len) &&
	    !setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)))
		return sock;
	ret = -errno;
	close(sock);
	return ret;
}

int wire_send(const struct wire_net *net, int sock, unsigned int node,
	      unsigned int proc, const void *msg, size_t len)
{
	union address addr;
	socklen_t size = address(net, &addr, node, proc);

	if (sendto(sock, msg, len, 0, &addr.any, size) == (ssize_t)len)
		return 0;
	switch (errno) {
	case ECONNREFUSED:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return 0;
	default:
		return -errno;
	}
}
