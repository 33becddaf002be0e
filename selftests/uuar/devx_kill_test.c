// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, guest: devx-kill, timeout: 200 */
/*
 * Whatever ends a DevX QP, it leaves the list once: the program destroys it,
 * closes the context, is killed, or the device goes. Neither the HCA nor the
 * module has anything left then.
 */
#include "kselftest_harness.h"

#include <signal.h>

#include "baseline.h"
#include "devx.h"
#include "simhca.h"
#include "sysfs.h"

#define QPS 6
#define ROUNDS 10
#define BAD_RESOURCE_STATE 9	/* status of a firmware command */

static unsigned int rows(void)
{
	FILE *table = debugfs_open("qps");
	unsigned int n = 0;
	char line[256];

	while (table && fgets(line, sizeof(line), table))
		n++;
	if (table)
		fclose(table);
	return n;
}

/* Tell the parent that one more step is done. */
static void devx_kill_step(int progress)
{
	if (write(progress, "", 1) != 1)
		_exit(1);
}

static int wait_steps(int progress, unsigned int steps)
{
	char byte;

	while (steps--)
		if (read(progress, &byte, 1) != 1)
			return -ECHILD;
	return 0;
}

/* Make QPs, destroy some of them, close the context with the others, repeat. */
static void victim(int progress, unsigned int rounds)
{
	struct mlx5dv_devx_uar *uar;
	struct devx_qp qps[QPS];
	struct verbs_setup setup;
	unsigned int i;

	while (rounds--) {
		if (verbs_open(&setup, NULL, 1))
			_exit(2);
		uar = mlx5dv_devx_alloc_uar(setup.ctx,
					    MLX5DV_UAR_ALLOC_TYPE_BF);
		if (!uar)
			_exit(3);
		for (i = 0; i < QPS; i++) {
			if (devx_qp_create(&setup, uar->page_id, &qps[i]) ||
			    (i % 2 && devx_qp_connect(&setup, &qps[i])))
				_exit(4);
			devx_kill_step(progress);
		}
		for (i = 0; i < QPS / 2; i++) {
			devx_qp_destroy(&qps[i]);
			devx_kill_step(progress);
		}
		/* The kernel destroys the others. A mapping would keep the file. */
		mlx5dv_devx_free_uar(uar);
		ibv_close_device(setup.ctx);
		devx_kill_step(progress);
	}
}

static pid_t start(int *progress, unsigned int rounds)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		close(ends[0]);
		victim(ends[1], rounds);
		pause();
	}
	close(ends[1]);
	*progress = ends[0];
	return pid;
}

/* Kill the victim. Returns the status with which it ended. */
static int devx_kill_end(pid_t pid, int progress)
{
	int status = -1;

	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(progress);
	return status;
}

FIXTURE(devx)
{
	struct baseline base;
};

FIXTURE_VARIANT(devx)
{
	const char *policy;
};

FIXTURE_VARIANT_ADD(devx, stock) { "stock" };
FIXTURE_VARIANT_ADD(devx, independent) { "independent" };

FIXTURE_SETUP(devx)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_policy(variant->policy, 4, false));
	ASSERT_EQ(0, baseline_take(&self->base));
	ASSERT_EQ(0, rows());
}

FIXTURE_TEARDOWN(devx)
{
	EXPECT_EQ(0, simhca_fail_nothing());
	EXPECT_EQ(0, rows());
	EXPECT_EQ(0, sysfs_number("uar_observed"));
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(0, sysfs_defaults());
}

TEST_F_TIMEOUT(devx, a_killed_program_leaves_nothing, 120)
{
	unsigned int round;
	int progress;
	pid_t pid;

	srand(1);
	for (round = 0; round < ROUNDS; round++) {
		pid = start(&progress, 1000);
		ASSERT_LT(0, pid);
		ASSERT_EQ(0, wait_steps(progress, 2 * round));
		usleep(rand() % 3000);
		EXPECT_EQ(SIGKILL, devx_kill_end(pid, progress));
		ASSERT_EQ(0, baseline_restored(&self->base, 30));
		ASSERT_EQ(0, rows());
	}
}

TEST_F(devx, a_closed_context_has_no_qps)
{
	struct mlx5dv_devx_uar *uar;
	struct verbs_setup setup;
	struct devx_qp qps[QPS];
	int i;

	ASSERT_EQ(0, verbs_open(&setup, NULL, 1));
	uar = mlx5dv_devx_alloc_uar(setup.ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
	ASSERT_NE(NULL, uar);
	for (i = 0; i < QPS; i++)
		ASSERT_EQ(0, devx_qp_create(&setup, uar->page_id, &qps[i]));
	EXPECT_EQ(QPS, rows());
	/* The kernel destroys the QPs. A mapping would keep the file. */
	mlx5dv_devx_free_uar(uar);
	ibv_close_device(setup.ctx);
	EXPECT_EQ(0, rows());
	ASSERT_EQ(0, baseline_restored(&self->base, 30));
}

TEST_F_TIMEOUT(devx, an_unbound_device_has_no_qps, 60)
{
	char auxdev[64];
	int progress;
	pid_t pid;

	ASSERT_EQ(0, sysfs_auxdev(auxdev, sizeof(auxdev)));
	pid = start(&progress, 1000);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, wait_steps(progress, 20));
	ASSERT_EQ(0, file_write(SYSFS_AUX_DRIVER "unbind", auxdev));
	/* It may have ended by itself: it cannot open the device any more. */
	EXPECT_LE(0, devx_kill_end(pid, progress));
	ASSERT_EQ(0, file_write(SYSFS_AUX_DRIVER "bind", auxdev));
	EXPECT_EQ(0, rows());
	ASSERT_EQ(0, baseline_take(&self->base));
}

/* What the HCA keeps stays listed, and can be destroyed later. */
TEST_F(devx, a_qp_that_was_not_destroyed_stays)
{
	struct mlx5dv_devx_uar *uar;
	struct verbs_setup setup;
	struct devx_qp qp;

	ASSERT_EQ(0, verbs_open(&setup, NULL, 1));
	uar = mlx5dv_devx_alloc_uar(setup.ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
	ASSERT_NE(NULL, uar);
	ASSERT_EQ(0, devx_qp_create(&setup, uar->page_id, &qp));
	EXPECT_EQ(1, rows());
	ASSERT_EQ(0, simhca_fail("DESTROY_QP", 1, 1, BAD_RESOURCE_STATE));
	EXPECT_NE(0, mlx5dv_devx_obj_destroy(qp.obj));
	EXPECT_EQ(1, rows());
	/* libmlx5 has freed its object; the context destroys the QP. */
	qp.obj = NULL;
	mlx5dv_devx_free_uar(uar);
	ibv_close_device(setup.ctx);
	EXPECT_EQ(0, rows());
	ASSERT_EQ(0, baseline_restored(&self->base, 30));
}

/* A refused command leaves no row. */
TEST_F(devx, a_qp_that_was_not_created_is_not_listed)
{
	struct mlx5dv_devx_uar *uar;
	struct verbs_setup setup;
	struct devx_qp qp;

	ASSERT_EQ(0, verbs_open(&setup, NULL, 1));
	uar = mlx5dv_devx_alloc_uar(setup.ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
	ASSERT_NE(NULL, uar);
	ASSERT_EQ(0, simhca_fail("CREATE_QP", 1, 1, BAD_RESOURCE_STATE));
	EXPECT_NE(0, devx_qp_create(&setup, uar->page_id, &qp));
	EXPECT_EQ(0, rows());
	mlx5dv_devx_free_uar(uar);
	verbs_close(&setup);
	ASSERT_EQ(0, baseline_restored(&self->base, 30));
}

TEST_HARNESS_MAIN
