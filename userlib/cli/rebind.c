// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Unbinds the auxiliary device of an RDMA device from mlx5_ib and binds it, so
 * that the RDMA device is registered again.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "rebind.h"

#define DRIVER "sys/bus/auxiliary/drivers/mlx5_ib.rdma/%s"
#define AUX "mlx5_core.rdma."
#define WAIT_MS 10000

static int each_entry(const char *name, void *aux)
{
	if (strncmp(name, AUX, strlen(AUX)))
		return 0;
	snprintf(aux, ENTRY_LEN, "%s", name);
	return 1;
}

/**
 * aux_device() - find the auxiliary device of an RDMA device
 * @aux: has room for ENTRY_LEN characters
 *
 * Return: 1; 0: it has none, as it is no mlx5 device; -errno.
 */
int aux_device(const char *device, char *aux)
{
	char path[PATH_LEN];
	int ret;

	root_path(path, "sys/class/infiniband/%s/device", device);
	ret = dir_names(path, each_entry, aux);
	return ret == -ENOENT ? 0 : ret;
}

/**
 * aux_unbind() - take an auxiliary device from mlx5_ib
 */
int aux_unbind(const char *aux)
{
	char path[PATH_LEN];
	int ret;

	root_path(path, DRIVER, "unbind");
	ret = file_write(path, aux);
	return ret ? complain(exit_code(ret), "%s: unbind: %s", aux,
			      what_failed(ret)) : EXIT_OK;
}

/**
 * aux_bind() - give an auxiliary device to mlx5_ib
 */
int aux_bind(const char *aux)
{
	char path[PATH_LEN];
	int ret;

	root_path(path, DRIVER, "bind");
	ret = file_write(path, aux);
	return ret ? complain(exit_code(ret), "%s is unbound and cannot be bound again: %s: see the kernel log, then echo %s >%s",
			      aux, strerror(-ret), aux, path) : EXIT_OK;
}

/**
 * is_attached() - is the module attached to the device?
 */
bool is_attached(const char *device)
{
	char buf[512];

	return attribute_read(device, "attached", buf, sizeof(buf)) > 0 &&
		says_attached(buf);
}

/**
 * is_half_attached() - is the module attached for policies and limits only?
 */
bool is_half_attached(const char *device)
{
	char buf[512];

	return attribute_read(device, "attached", buf, sizeof(buf)) > 0 &&
		says_half(buf);
}

/**
 * wait_attached() - wait until the module is attached to a new device
 */
int wait_attached(const char *device)
{
	struct timespec ms = { .tv_nsec = 1000000 };
	int i;

	for (i = 0; i < WAIT_MS; i++) {
		if (is_attached(device))
			return EXIT_OK;
		nanosleep(&ms, NULL);
	}
	return complain(EXIT_FAILED, "%s: not attached after the re-probe; see mlx5ep show",
			device);
}
