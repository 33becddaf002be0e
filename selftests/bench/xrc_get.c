// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * xrc_get [-n ROUNDS] - what GET of a shared XRC receive QP costs
 *
 * Prints one line:
 *	the first GET of a process, which creates the QP, in a domain without any
 *	the first GET of a process, which joins
 *	64 processes that GET one key at the same time, all together
 *	kernel memory of a registration, in bytes
 * The first three are medians over ROUNDS, in ticks of the time stamp counter, which are
 * instructions where QEMU counts them.
 */
#include <fcntl.h>
#include <getopt.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "baseline.h"
#include "instr.h"
#include "xrc.h"

#define DOMAIN_FILE "/tmp/xrc_get_domain"
#define RACERS 64
#define REGISTRATIONS 20000

enum { CREATE, JOIN, RACE, KINDS };

/* Shared by all processes. */
static struct {
	atomic_uint ready, done, failed;
	atomic_uint go;		/* a futex: the round */
	uint64_t ticks;
} *shared;

static int get_key(struct xrc_node *node, unsigned int key,
		   struct mlx5ep_xrc_rcv_qp **qp)
{
	return mlx5ep_xrc_rcv_qp_get(node->xrcd, &key, sizeof(key), 0, NULL, qp);
}

/* A child GETs for the first time. Returns the ticks; 0: it failed. */
static uint64_t first_get(const char *domain, int expected)
{
	struct mlx5ep_xrc_rcv_qp *qp;
	struct xrc_node node;
	uint64_t start;
	int status;
	pid_t pid;

	shared->ticks = 0;
	pid = fork();
	if (!pid) {
		if (xrc_node_open(&node, NULL, domain, 0))
			_exit(1);
		start = ticks_now();
		if (get_key(&node, 0, &qp) != expected)
			_exit(2);
		shared->ticks = ticks_now() - start;
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return 0;
	return shared->ticks;
}

static void go_wait(unsigned int round)
{
	while (atomic_load(&shared->go) < round)
		syscall(SYS_futex, &shared->go, FUTEX_WAIT, round - 1, NULL);
}

/* GETs the key of each round with all others, and ends the registration after it. */
static void __attribute__((noreturn)) racer(unsigned int rounds)
{
	struct mlx5ep_xrc_rcv_qp *qp;
	struct xrc_node node;
	unsigned int round;

	if (xrc_node_open(&node, NULL, DOMAIN_FILE, 0))
		atomic_fetch_add(&shared->failed, 1);
	for (round = 1; round <= rounds; round++) {
		atomic_fetch_add(&shared->ready, 1);
		go_wait(2 * round - 1);
		if (get_key(&node, round, &qp) < 0)
			atomic_fetch_add(&shared->failed, 1);
		atomic_fetch_add(&shared->done, 1);
		go_wait(2 * round);
		mlx5ep_xrc_rcv_qp_unreg(qp);
	}
	_exit(0);
}

static void go(unsigned int round)
{
	atomic_store(&shared->go, round);
	syscall(SYS_futex, &shared->go, FUTEX_WAKE, RACERS, NULL);
}

static void all(atomic_uint *count)
{
	while (atomic_load(count) < RACERS && !atomic_load(&shared->failed))
		usleep(20000);
	atomic_store(count, 0);
}

/* The parent is the first to be scheduled again when all are done. */
static uint64_t race(unsigned int round)
{
	uint64_t start;

	all(&shared->ready);
	usleep(20000);
	start = ticks_now();
	go(2 * round - 1);
	while (atomic_load(&shared->done) < RACERS &&
	       !atomic_load(&shared->failed))
		sched_yield();
	start = ticks_now() - start;
	atomic_store(&shared->done, 0);
	go(2 * round);
	return atomic_load(&shared->failed) ? 0 : start;
}

/* Bytes of slab that @REGISTRATIONS take, each; 0: it failed. */
static long memory(void)
{
	struct mlx5ep_xrc_rcv_qp *qp, *first;
	struct xrc_node node;
	long before = 0;
	int i;

	if (xrc_node_open(&node, NULL, DOMAIN_FILE, 0) ||
	    get_key(&node, 0, &first) < 0)
		return 0;
	for (i = 0; i < 2 * REGISTRATIONS; i++) {
		if (i == REGISTRATIONS)
			before = baseline_slab_kib();
		if (mlx5ep_xrc_rcv_qp_reg(node.xrcd, mlx5ep_xrc_rcv_qp_num(first),
					  NULL, &qp))
			return 0;
	}
	return (baseline_slab_kib() - before) * 1024 / REGISTRATIONS;
}

int main(int argc, char **argv)
{
	uint64_t *ticks[KINDS];
	unsigned int rounds = 21, i, k;
	struct mlx5ep_xrc_rcv_qp *qp;
	struct xrc_node node;
	int opt;

	while ((opt = getopt(argc, argv, "n:")) != -1) {
		if (opt != 'n')
			return 2;
		rounds = atoi(optarg);
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	for (k = 0; k < KINDS; k++)
		ticks[k] = calloc(rounds, sizeof(**ticks));
	for (i = 0; i < rounds; i++)
		ticks[CREATE][i] = first_get(NULL, 1);
	for (i = 0; i < RACERS; i++)
		if (!fork())
			racer(rounds);
	for (i = 0; i < rounds; i++)
		ticks[RACE][i] = race(i + 1);
	while (wait(NULL) > 0)
		;
	if (xrc_node_open(&node, NULL, DOMAIN_FILE, 0) ||
	    get_key(&node, 0, &qp) != 1)
		return 1;
	for (i = 0; i < rounds; i++)
		ticks[JOIN][i] = first_get(DOMAIN_FILE, 0);
	for (k = 0; k < KINDS; k++) {
		instr_sort(ticks[k], rounds);
		if (!ticks[k][0])
			return 1;
		printf("%llu ", (unsigned long long)ticks[k][rounds / 2]);
	}
	printf("%ld\n", memory());
	return 0;
}
