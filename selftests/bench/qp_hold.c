// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * qp_hold QPS - how long does the kernel keep the CPU while a context's very many
 * QPs are listed?
 *
 * Prints "NAME LATE N" as sleeper_print() says, for each of
 *
 * - none: the same system calls as below, of a context without QPs, which includes
 *   what waking the thread takes by itself;
 * - pass: QP_LIST passes over all QPs but the last;
 * - list: QP_LIST answers as many QPs as one call can;
 * - qps: the table "qps" of debugfs is read;
 * - uuars: the table "uuars", of a context with all the pages that it can have.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/mlx5_ep_user_ioctl_verbs.h>

#include "sleeper.h"
#include "sysfs.h"
#include "uverbs.h"
#include "verbs.h"

#define ROUNDS	20
#define MOST	(65535 / sizeof(struct mlx5_ep_qp_info))	/* in one call */
#define PAGES	256

enum phase { NONE, PASS, LIST, QPS, UUARS, BETWEEN, PHASES };

static const char *const names[] = { "none", "pass", "list", "qps", "uuars" };

/* Return: the number of lines without the first, or -errno. */
static int table_lines(const char *name)
{
	FILE *file = debugfs_open(name);
	char line[160];
	int n = 0;

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		n++;
	fclose(file);
	return n;
}

static int all_once(struct ibv_context *ctx, int qps)
{
	static struct mlx5_ep_qp_info infos[MOST];
	int ret;

	sleeper_phase(qps ? PASS : NONE);
	sleeper_wait();
	ret = uverbs_qp_list(ctx, qps ? qps - 1 : 0, 1, infos);
	if (ret != !!qps)
		return -EPROTO;
	sleeper_phase(qps ? LIST : NONE);
	sleeper_wait();
	ret = uverbs_qp_list(ctx, 0, MOST, infos);
	if (ret != (qps < MOST ? qps : MOST))
		return -EPROTO;
	sleeper_phase(BETWEEN);
	return 0;
}

static int tables_once(int qps)
{
	int ret;

	sleeper_phase(QPS);
	sleeper_wait();
	ret = table_lines("qps");
	if (ret != qps)
		return -EPROTO;
	sleeper_phase(UUARS);
	sleeper_wait();
	ret = table_lines("uuars");
	if (ret != 2 * PAGES)
		return -EPROTO;
	sleeper_phase(BETWEEN);
	return 0;
}

static int make_qps(struct verbs_setup *setup, int n)
{
	for (; n > 0; n--)
		if (!verbs_qp_create(setup->pd, setup->cq, IBV_QPT_RC))
			return -errno;
	return 0;
}

/* Printing is slow, and as long for each QP, so the tables are of a tenth of them. */
static int qp_hold_measure(struct verbs_setup *setup, int qps)
{
	int i, ret;

	ret = sleeper_start();
	if (ret)
		return ret;
	for (i = 0; i < ROUNDS && !ret; i++)
		ret = all_once(setup->ctx, 0);
	ret = ret ?: make_qps(setup, qps / 10);
	for (i = 0; i < 2 && !ret; i++)
		ret = tables_once(qps / 10);
	ret = ret ?: make_qps(setup, qps - qps / 10);
	for (i = 0; i < ROUNDS && !ret; i++)
		ret = all_once(setup->ctx, qps);
	sleeper_stop();
	return ret;
}

int main(int argc, char **argv)
{
	struct verbs_setup setup;
	int ret;

	if (argc != 2)
		return 2;
	ret = sysfs_policy("shared-uuar", PAGES, false) ?:
		      verbs_open(&setup, NULL, 1) ?:
		      qp_hold_measure(&setup, atoi(argv[1]));
	if (ret) {
		fprintf(stderr, "qp_hold: %s\n", strerror(-ret));
		return 1;
	}
	sleeper_print(names, BETWEEN);
	fflush(stdout);
	/* The kernel destroys the QPs. */
	_exit(0);
}
