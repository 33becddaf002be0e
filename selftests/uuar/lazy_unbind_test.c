// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, smp: 2, guest: attach, timeout: 240 */
/*
 * The device goes while threads of a program create QPs, each of which brings a
 * UAR page, and ring them. The program lives on and is told by errors; the
 * adapter gets all its objects back.
 */
#include "kselftest_harness.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "patience.h"
#include "simhca.h"
#include "sysfs.h"
#include "verbs.h"

#define PAGES 64
#define QPS 12
#define THREADS 2
#define ROUNDS 4

/* One inline write, through the BlueFlame register. */
static void lazy_unbind_ring(struct verbs_endpoint *endpoint)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)endpoint->src,
		.length = 8,
		.lkey = endpoint->setup->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
		.wr.rdma.remote_addr = (uintptr_t)endpoint->dst,
		.wr.rdma.rkey = endpoint->setup->mr->rkey,
	};

	ibv_post_send(endpoint->qp, &wr, &bad);
}

/* Open, create QPs and ring them, close; until the device is gone. */
static void *use(void *arg)
{
	struct verbs_endpoint endpoints[QPS];
	struct verbs_setup setup;
	unsigned long opened = 0;
	int made, ret = 0;

	while (!ret && !verbs_open(&setup, NULL, QPS)) {
		opened++;
		for (made = 0; made < QPS; made++) {
			ret = verbs_endpoint_create(&setup, &endpoints[made],
						    IBV_QPT_RC);
			if (ret)
				break;
			lazy_unbind_ring(&endpoints[made]);
		}
		while (made)
			verbs_endpoint_destroy(&endpoints[--made]);
		verbs_close(&setup);
	}
	return (void *)opened;
}

/* Returns true where each thread has used the device. */
static bool use_by_threads(void)
{
	pthread_t threads[THREADS];
	void *opened;
	bool all = true;
	int i;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, use, NULL))
			return false;
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &opened);
		all = all && opened;
	}
	return all;
}

static bool becomes_attached(void)
{
	int i;

	for (i = 0; i < 100 * PATIENCE * patience_factor(); i++) {
		if (sysfs_attached())
			return true;
		usleep(100000);
	}
	return false;
}

/* Returns true once the HCA has more than @before UAR pages. */
static bool pages_come(int64_t before)
{
	int i;

	for (i = 0; i < 100 * PATIENCE * patience_factor(); i++) {
		if (simhca_count("uar") > before)
			return true;
		usleep(10000);
	}
	return false;
}

FIXTURE(lazy)
{
};

FIXTURE_SETUP(lazy)
{
}

FIXTURE_TEARDOWN(lazy)
{
}

TEST_F_TIMEOUT(lazy, the_device_goes_while_pages_come, 200)
{
	char device[256];
	int64_t before;
	int round, status;
	pid_t pid;

	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_auxdev(device, sizeof(device)));
	ASSERT_EQ(0, sysfs_policy("independent", PAGES, false));
	before = simhca_count("uar");
	for (round = 0; round < ROUNDS; round++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			_exit(use_by_threads() ? 0 : 1);
		EXPECT_TRUE(pages_come(before));
		usleep((100000 + 130000 * round) * patience_factor());
		ASSERT_EQ(0, file_write(SYSFS_AUX_DRIVER "unbind", device));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);
		ASSERT_EQ(0, file_write(SYSFS_AUX_DRIVER "bind", device));
		ASSERT_TRUE(becomes_attached());
		EXPECT_EQ(0, sysfs_number("uar_in_use"));
		EXPECT_EQ(0, sysfs_number("uar_observed"));
		EXPECT_EQ(before, simhca_count("uar"));
	}
	EXPECT_EQ(0, sysfs_defaults());
	/* A program that sends may ring a QP which is destroyed already. */
	EXPECT_EQ(0, simhca_zero());
}

TEST_HARNESS_MAIN
