// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Registers a buffer and watches it. Then puts other memory at the same address, and
 * shows that the registration is known to be stale.
 *
 *	cc -o watch watch.c $(pkg-config --cflags --libs mlx5ep)
 *	./watch [DEVICE]
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <mlx5ep.h>

#define LENGTH (16 * 4096)
#define COOKIE 42

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	int i;

	for (i = 0; list && list[i] && !context; i++)
		if (!name || !strcmp(name, ibv_get_device_name(list[i])))
			context = ibv_open_device(list[i]);
	if (!context)
		errx(1, "cannot open %s", name ? name : "a device");
	ibv_free_device_list(list);
	return context;
}

static void *map(void *address, int flags)
{
	address = mmap(address, LENGTH, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
	if (address == MAP_FAILED)
		err(1, "mmap");
	memset(address, 1, LENGTH);
	return address;
}

int main(int argc, char **argv)
{
	struct ibv_context *context = open_device(argc > 1 ? argv[1] : NULL);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct mlx5ep_notifier *notifier;
	struct mlx5_ep_event event;
	struct mlx5ep_mr mr;
	char *buffer = map(NULL, 0);
	ssize_t count;
	int ret;

	ret = mlx5ep_notifier_create(context, 0, &notifier);
	if (ret)
		errx(1, "mlx5ep_notifier_create: %s", strerror(-ret));
	ret = mlx5ep_reg_mr(notifier, pd, buffer, LENGTH,
			    IBV_ACCESS_LOCAL_WRITE, COOKIE, &mr);
	if (ret)
		errx(1, "mlx5ep_reg_mr: %s", strerror(-ret));
	printf("registered: %s\n", mlx5ep_mr_check(&mr) ? "stale" : "valid");

	/* Protection alone is not a change of the memory. */
	mprotect(buffer, LENGTH, PROT_READ);
	printf("mprotect: %s\n", mlx5ep_mr_check(&mr) ? "stale" : "valid");

	map(buffer, MAP_FIXED);
	printf("mapped anew: %s\n", mlx5ep_mr_check(&mr) ? "stale" : "valid");

	count = mlx5ep_notifier_read(notifier, &event, 1);
	if (count != 1)
		errx(1, "mlx5ep_notifier_read: %s", strerror(-count));
	printf("event: cookie %llu, offset %llu, %llu bytes%s\n", event.cookie,
	       event.start - (uintptr_t)buffer, event.length,
	       event.cause & MLX5_EP_WATCH_CAUSE_UNMAP ? ", unmapped" : "");

	mlx5ep_dereg_mr(&mr);
	mlx5ep_notifier_destroy(notifier);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	return 0;
}
