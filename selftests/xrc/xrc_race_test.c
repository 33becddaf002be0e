// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, smp: 2, mem: 2G, timeout: 300 */
/*
 * Many processes at once on shared XRC receive QPs: one creates, all join, one
 * destroys. A process that is killed at any moment leaves nothing behind.
 */
#include "kselftest_harness.h"

#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "baseline.h"
#include "patience.h"
#include "simhca.h"
#include "xrc.h"

#define DOMAIN_FILE "/tmp/xrc_race_domain"
#define RACERS 64
#define ROUNDS (1000 / patience_factor())
#define KILLS (120 / patience_factor())
#define STORMERS 16

/* Shared by all processes of a test. */
struct shared {
	atomic_uint arrived;
	atomic_uint round;		/* a futex */
	atomic_uint created;
	atomic_uint joined;
	atomic_uint failed;
	atomic_uint nums[RACERS];
	atomic_uint steps[RACERS];
};

FIXTURE(race)
{
	struct baseline base;
	struct shared *shared;
};

FIXTURE_SETUP(race)
{
	unlink(DOMAIN_FILE);
	ASSERT_EQ(0, baseline_take(&self->base));
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
}

FIXTURE_TEARDOWN(race)
{
	EXPECT_EQ(0, baseline_restored(&self->base, 10));
	munmap(self->shared, sizeof(*self->shared));
}

/*
 * While all are registered, they have one QP number, and the QP has RACERS
 * registrants.
 */
static int race_check(struct shared *s, struct mlx5ep_xrc_rcv_qp *qp)
{
	struct mlx5_ep_xrc_rcv_qp_info info;
	unsigned int i;
	int ret;

	for (i = 0; i < RACERS; i++)
		if (atomic_load(&s->nums[i]) != mlx5ep_xrc_rcv_qp_num(qp))
			return -EBADMSG;
	ret = mlx5ep_xrc_rcv_qp_query(qp, NULL, &info);
	if (!ret && info.registrants != RACERS)
		ret = -EBADMSG;
	return ret;
}

/*
 * In each round all racers GET one key. The last racer that has it checks the
 * QP and wakes the others. They all end their registrations and race for the
 * next key. A racer sleeps once a round.
 */
static int race_round(struct shared *s, struct xrc_node *node, unsigned int me,
		      unsigned int round)
{
	struct mlx5ep_xrc_rcv_qp *qp;
	int ret;

	ret = mlx5ep_xrc_rcv_qp_get(node->xrcd, &round, sizeof(round), 0, NULL,
				    &qp);
	if (ret < 0) {
		fprintf(stderr, "# round %u: GET: %d\n", round, ret);
		return ret;
	}
	atomic_fetch_add(ret ? &s->created : &s->joined, 1);
	atomic_store(&s->nums[me], mlx5ep_xrc_rcv_qp_num(qp));
	if (atomic_fetch_add(&s->arrived, 1) + 1 == RACERS) {
		ret = race_check(s, qp);
		if (ret)
			return ret;
		atomic_store(&s->arrived, 0);
		atomic_store(&s->round, round + 1);
		syscall(SYS_futex, &s->round, FUTEX_WAKE, RACERS, NULL);
	}
	while (atomic_load(&s->round) == round)
		syscall(SYS_futex, &s->round, FUTEX_WAIT, round, NULL);
	return mlx5ep_xrc_rcv_qp_unreg(qp);
}

static void racer(struct shared *s, unsigned int me)
{
	struct xrc_node node;
	unsigned int round;
	int ret;

	/* The others wait for a racer that fails, so it ends them all. */
	ret = xrc_node_open(&node, NULL, DOMAIN_FILE, 0);
	for (round = 0; !ret && round < ROUNDS; round++)
		ret = race_round(s, &node, me, round);
	if (ret) {
		atomic_fetch_add(&s->failed, 1);
		kill(0, SIGKILL);
	}
	_exit(xrc_node_close(&node) ? 1 : 0);
}

/* How many commands of a kind the HCA executed, with those that failed. */
static int64_t commands(const char *name)
{
	struct json_object *answer, *hcas, *cmds, *cmd, *count;
	struct simhca *sim;
	int64_t n = 0;

	if (simhca_open(&sim, NULL))
		return -1;
	if (simhca_call(sim, &answer, "{\"op\":\"dump\"}")) {
		simhca_close(sim);
		return -1;
	}
	if (json_object_object_get_ex(answer, "hcas", &hcas) &&
	    json_object_object_get_ex(json_object_array_get_idx(hcas, 0),
				      "commands", &cmds) &&
	    json_object_object_get_ex(cmds, name, &cmd) &&
	    json_object_object_get_ex(cmd, "count", &count))
		n = json_object_get_int64(count);
	json_object_put(answer);
	simhca_close(sim);
	return n;
}

TEST_F_TIMEOUT(race, of_64_processes_for_a_key_one_creates, 280)
{
	int64_t creates, destroys;
	unsigned int i, good = 0;
	int status;
	pid_t group, pid;

	creates = commands("CREATE_QP");
	destroys = commands("DESTROY_QP");
	group = fork();
	ASSERT_LE(0, group);
	if (!group) {
		setpgid(0, 0);
		for (i = 1; i < RACERS; i++) {
			pid = fork();
			if (!pid)
				racer(self->shared, i);
		}
		if (!fork())
			racer(self->shared, 0);
		for (i = 0; i < RACERS; i++)
			good += wait(&status) > 0 && !status;
		_exit(good == RACERS ? 0 : 1);
	}
	ASSERT_EQ(group, waitpid(group, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, self->shared->failed);
	EXPECT_EQ(ROUNDS, self->shared->created);
	EXPECT_EQ(ROUNDS * (RACERS - 1), self->shared->joined);
	/* Who came too late with a QP of its own has destroyed it. */
	creates = commands("CREATE_QP") - creates;
	destroys = commands("DESTROY_QP") - destroys;
	EXPECT_LE(ROUNDS, creates);
	EXPECT_EQ(creates, destroys);
	TH_LOG("%ld QPs in %d rounds", (long)creates, (int)ROUNDS);
}

/*
 * Join by the key, or by the number seen last, whose QP may be ending just now.
 */
static int storm_join(struct shared *s, struct xrc_node *node,
		      unsigned int key, bool by_num,
		      struct mlx5ep_xrc_rcv_qp **qp)
{
	uint32_t num = atomic_load(&s->nums[key]);
	int ret;

	if (by_num && num) {
		ret = mlx5ep_xrc_rcv_qp_reg(node->xrcd, num, NULL, qp);
		return ret == -ENOENT ? 0 : ret;
	}
	ret = mlx5ep_xrc_rcv_qp_get(node->xrcd, &key, sizeof(key), 0, NULL, qp);
	if (ret >= 0)
		atomic_store(&s->nums[key], mlx5ep_xrc_rcv_qp_num(*qp));
	return ret;
}

/* Register, join, change the state and leave at random, without end. */
static void __attribute__((noreturn)) stormer(struct shared *s,
					      unsigned int me,
					      unsigned int seed)
{
	struct mlx5ep_xrc_rcv_qp *qps[8] = {};
	struct ibv_qp_attr attr;
	struct xrc_node node;
	unsigned int key, slot;
	int ret;

	if (xrc_node_open(&node, NULL, DOMAIN_FILE, 0))
		_exit(1);
	for (;;) {
		slot = rand_r(&seed) % 8;
		key = rand_r(&seed) % 4;
		ret = 0;
		if (!qps[slot])
			ret = storm_join(s, &node, key, rand_r(&seed) % 2,
					 &qps[slot]);
		else if (rand_r(&seed) % 3 == 0)
			ret = xrc_qp_step(qps[slot], IBV_QPS_INIT, 0, NULL);
		else if (rand_r(&seed) % 3 == 0)
			ret = mlx5ep_xrc_rcv_qp_query(qps[slot], &attr, NULL);
		else {
			ret = mlx5ep_xrc_rcv_qp_unreg(qps[slot]);
			qps[slot] = NULL;
		}
		if (ret < 0) {
			fprintf(stderr, "# stormer: %d\n", ret);
			_exit(2);
		}
		atomic_fetch_add(&s->steps[me], 1);
	}
}

/* Wait until a stormer has made @steps steps, or has ended by itself. */
static void storm_wait(struct shared *s, unsigned int i, unsigned int steps,
		       pid_t pid)
{
	siginfo_t info = {};

	while (atomic_load(&s->steps[i]) < steps && !info.si_pid) {
		usleep(1000);
		waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT);
	}
}

TEST_F_TIMEOUT(race, a_storm_with_kills_leaves_nothing, 120)
{
	unsigned int round, i, victim;
	pid_t pids[STORMERS] = {};
	int status;

	srand(7);
	for (i = 0; i < STORMERS; i++) {
		pids[i] = fork();
		ASSERT_LE(0, pids[i]);
		if (!pids[i])
			stormer(self->shared, i, i + 1);
	}
	/*
	 * Each victim is killed after some steps, a few victims in their first
	 * steps.
	 */
	for (round = 0; round < KILLS; round++) {
		victim = rand() % STORMERS;
		storm_wait(self->shared, victim, rand() % 60, pids[victim]);
		usleep(rand() % 3000);
		ASSERT_EQ(0, kill(pids[victim], SIGKILL));
		ASSERT_EQ(pids[victim], waitpid(pids[victim], &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status)) {
			TH_LOG("a stormer failed by itself: 0x%x", status);
		}
		atomic_store(&self->shared->steps[victim], 0);
		pids[victim] = fork();
		ASSERT_LE(0, pids[victim]);
		if (!pids[victim])
			stormer(self->shared, victim, round + 100);
	}
	for (i = 0; i < STORMERS; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], &status, 0);
		EXPECT_TRUE(WIFSIGNALED(status));
	}
}

TEST_HARNESS_MAIN
