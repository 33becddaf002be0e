// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, kernels: 6.1 6.12 7.2 7.3 newest, smp: 2, timeout: 120, config: KRETPROBES */
/*
 * REG guesses the number of a QP while the call that creates the QP has not
 * answered. The creator then gives that QP a key, and the two registrations meet in one
 * record. A kernel module makes that call slow (birth_delay), with a kretprobe, which the
 * debug kernel lacks.
 */
#include "kselftest_harness.h"

#include <pthread.h>
#include <sys/utsname.h>
#include <time.h>

#include "baseline.h"
#include "simhca.h"
#include "xrc.h"

#define DOMAIN_FILE "/tmp/xrc_guess_domain"
#define NUMBERS 64	/* numbers that are tried, above the last one */

/**
 * struct creator - a thread that creates a QP
 * @xrcd: domain of the QP
 * @qp: registration with the new QP
 * @ret: of the call
 * @end: when it answered
 * @over: it has answered
 */
struct creator {
	struct mlx5ep_xrcd *xrcd;
	struct mlx5ep_xrc_rcv_qp *qp;
	int ret;
	double end;
	bool over;
};

FIXTURE(guess)
{
	struct baseline base;
	struct xrc_node nodes[2];
	struct creator creator;
};

static int module_command(const char *command, const char *file)
{
	char path[512];
	struct utsname u;

	uname(&u);
	snprintf(path, sizeof(path), file ? "%s build/modules/%s/%s" : "%s",
		 command, u.release, file);
	return system(path);
}

static double guess_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

FIXTURE_SETUP(guess)
{
	int i;

	unlink(DOMAIN_FILE);
	ASSERT_EQ(0, baseline_take(&self->base));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, xrc_node_open(&self->nodes[i], NULL, DOMAIN_FILE,
					   0));
	self->creator.xrcd = self->nodes[0].xrcd;
}

FIXTURE_TEARDOWN(guess)
{
	EXPECT_EQ(0, xrc_node_close(&self->nodes[1]));
	EXPECT_EQ(0, xrc_node_close(&self->nodes[0]));
	EXPECT_EQ(0, baseline_restored(&self->base, 10));
}

static void *guess_create(void *arg)
{
	struct creator *creator = arg;

	creator->ret = mlx5ep_xrc_rcv_qp_get(creator->xrcd, "key", 3, 0, NULL,
					     &creator->qp);
	creator->end = guess_now();
	__atomic_store_n(&creator->over, true, __ATOMIC_RELEASE);
	return NULL;
}

/*
 * Tries numbers above @last until there is a QP. Returns when the call that found
 * one began; 0: the creator had answered before.
 */
static double guess(struct creator *creator, struct mlx5ep_xrcd *xrcd,
		    uint32_t last, struct mlx5ep_xrc_rcv_qp **qp)
{
	double begin;
	uint32_t i;

	for (i = 0; !__atomic_load_n(&creator->over, __ATOMIC_ACQUIRE); i++) {
		begin = guess_now();
		if (!mlx5ep_xrc_rcv_qp_reg(xrcd, last + 1 + i % NUMBERS, NULL,
					   qp))
			return begin;
	}
	return 0;
}

TEST_F(guess, both_registrations_have_one_record)
{
	struct creator *creator = &self->creator;
	struct mlx5_ep_xrc_rcv_qp_info info;
	struct mlx5ep_xrc_rcv_qp *before, *qp = NULL;
	pthread_t thread;
	int64_t qps;
	double begin;
	uint32_t last;

	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(creator->xrcd, NULL, &before));
	last = mlx5ep_xrc_rcv_qp_num(before);
	qps = simhca_count("qp");
	ASSERT_EQ(0, module_command("insmod", "birth_delay.ko"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, guess_create, creator));
	begin = guess(creator, self->nodes[1].xrcd, last, &qp);
	pthread_join(thread, NULL);
	ASSERT_EQ(0, module_command("rmmod birth_delay", NULL));
	ASSERT_EQ(1, creator->ret);

	/* The guess was right, and it was made in time. */
	ASSERT_NE(NULL, qp);
	EXPECT_LT(0, begin);
	EXPECT_LT(begin, creator->end);
	EXPECT_EQ(mlx5ep_xrc_rcv_qp_num(creator->qp),
		  mlx5ep_xrc_rcv_qp_num(qp));
	EXPECT_EQ(qps + 1, simhca_count("qp"));

	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_query(qp, NULL, &info));
	EXPECT_EQ(2, info.registrants);
	EXPECT_EQ(3, info.key_len);
	EXPECT_EQ(0, memcmp(info.key, "key", 3));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_query(creator->qp, NULL, &info));
	EXPECT_EQ(2, info.registrants);

	/* The QP lives as long as the one that guessed it. */
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(creator->qp));
	EXPECT_EQ(qps + 1, simhca_count("qp"));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_query(qp, NULL, &info));
	EXPECT_EQ(1, info.registrants);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
	EXPECT_EQ(qps, simhca_count("qp"));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(before));
}

TEST_HARNESS_MAIN
