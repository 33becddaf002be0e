/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the kernel says of the connections and protection domains of an RDMA device. */
#ifndef MLX5EP_CLI_NLDEV_H
#define MLX5EP_CLI_NLDEV_H

#include <stdbool.h>
#include <stdint.h>

struct resource {
	bool is_pd;		/* or else a cm_id: a connection, or a listener */
	uint64_t used;		/* QPs, SRQs and registrations of this PD */
	bool hears_all;		/* a listener on every address of the node */
	const char *module;	/* of the kernel; NULL: a process */
	int pid;		/* of this process */
};

const char *nldev_resources(const char *device,
			    void (*each)(const struct resource *resource,
					 void *arg), void *arg);

#endif
