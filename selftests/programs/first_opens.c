// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Opens an RDMA device as soon as that can be done, again and again, and prints
 * which policy each context has: "POLICY COUNT", a line for each run of contexts
 * with the same policy. It ends after a number of contexts.
 *
 * first_opens UVERBS-FILE CONTEXTS
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <mlx5ep.h>

static const char * const names[] = {
	"stock", "independent", "shared-uar", "shared-uuar", "unknown",
	"fallback",
};

/* Returns the policy of a new context, or -1. */
static int open_once(void)
{
	struct mlx5_ep_context_info info = {};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	int policy = -1;

	if (list && list[0])
		context = ibv_open_device(list[0]);
	if (context) {
		policy = mlx5ep_context_query(context, &info) ? 4 :
			info.source == MLX5_EP_POLICY_SOURCE_FALLBACK ? 5 :
			(int)info.policy;
		ibv_close_device(context);
	}
	if (list)
		ibv_free_device_list(list);
	return policy;
}

int main(int argc, char **argv)
{
	int n, fd, policy, last = -1, run = 0, left;

	if (argc != 3)
		return 2;
	left = atoi(argv[2]);
	while ((fd = open(argv[1], O_RDWR | O_CLOEXEC)) < 0)
		sched_yield();
	close(fd);
	for (n = 0; n < left; n += policy >= 0) {
		policy = open_once();
		if (policy < 0)
			continue;
		if (policy != last && run)
			printf("%s %d\n", names[last], run);
		run = policy == last ? run + 1 : 1;
		last = policy;
	}
	printf("%s %d\n", names[last], run);
	return 0;
}
