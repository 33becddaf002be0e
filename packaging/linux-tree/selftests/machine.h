/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a test needs of the machine. The tests ask the simulated adapter (simhca)
 * which doorbells were rung and which objects exist, so they skip on a machine that
 * has another one.
 */
#ifndef MLX5_EP_MACHINE_H
#define MLX5_EP_MACHINE_H

#include <stdlib.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "kselftest.h"
#include "sysfs.h"

#define SIMHCA_PORT "/dev/virtio-ports/simhca"

/* The CPUs without which a test that has several threads says nothing. */
#ifndef TEST_CPUS
#define TEST_CPUS 1
#endif

static inline const char *machine_lacks(void)
{
	if (geteuid())
		return "root";
	if (get_nprocs() < TEST_CPUS)
		return "two CPUs";
	if (!sysfs_attached())
		return "an mlx5 device that mlx5_ep is attached to";
	if (!getenv("SIMHCA_CONTROL") && access(SIMHCA_PORT, R_OK | W_OK))
		return "the port of simhca, or its socket in SIMHCA_CONTROL";
	return NULL;
}

/* Runs before the harness begins. */
static void __attribute__((constructor)) machine_check(void)
{
	const char *missing = machine_lacks();

	if (missing) {
		ksft_print_header();
		ksft_exit_skip("the test needs %s\n", missing);
	}
	setenv("SIMHCA_CONTROL", SIMHCA_PORT, 0);
}

#endif
