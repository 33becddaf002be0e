// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * smart - many threads look keys up in a hash table by RDMA READ
 *
 *	smart [-d DEVICE] [-t THREADS] [-n LOOKUPS] [-b BUCKETS] [-x COMMAND]
 *
 * The workload is that of SMART (ASPLOS 2024). One process has one context, and
 * each thread has a QP and a CQ of its own, made by plain verbs. A lookup reads
 * the bucket of a key and compares all of it with what the table has there. The
 * authors changed libmlx5, because the QPs of the threads share 12 doorbell
 * registers. This program knows nothing of doorbells. COMMAND runs while the QPs
 * still exist. Exit status 0 means that each lookup found what it should.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "verbs.h"

#define BUCKET 64
#define WORDS (BUCKET / sizeof(uint64_t))

struct options {
	const char *device;
	const char *command;
	unsigned int threads;
	unsigned int lookups;
	unsigned int buckets;
};

struct bucket {
	_Alignas(BUCKET) uint64_t words[WORDS];
};

/* The table, and behind it a bucket for each thread, where its reads arrive. */
struct table {
	struct bucket *buckets;
	unsigned int n;
	struct ibv_mr *mr;
};

struct reader {
	pthread_t thread;
	pthread_barrier_t *start;
	const struct table *table;
	struct bucket *found;
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	unsigned int id;
	unsigned int lookups;
	int ret;
};

/* The finalizer of splitmix64: what word I of the bucket of a key holds. */
static uint64_t content(uint64_t key, unsigned int i)
{
	uint64_t x = (key + 1) * 0x9e3779b97f4a7c15ull + i;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static int table_create(struct verbs_setup *setup, struct table *table,
			const struct options *opt)
{
	size_t len = (opt->buckets + opt->threads) * sizeof(struct bucket);
	unsigned int key, i;

	table->n = opt->buckets;
	table->buckets = aligned_alloc(BUCKET, len);
	if (!table->buckets)
		return -ENOMEM;
	for (key = 0; key < table->n; key++)
		for (i = 0; i < WORDS; i++)
			table->buckets[key].words[i] = content(key, i);
	table->mr = ibv_reg_mr(setup->pd, table->buckets, len,
			       IBV_ACCESS_LOCAL_WRITE |
				       IBV_ACCESS_REMOTE_READ);
	return table->mr ? 0 : -errno;
}

static void table_destroy(struct table *table)
{
	if (table->mr)
		ibv_dereg_mr(table->mr);
	free(table->buckets);
}

/* Read the bucket of a key, and compare it. -EBADMSG: it is another one's. */
static int look_up(struct reader *reader, unsigned int key)
{
	const struct table *table = reader->table;
	unsigned int i;
	int ret;
	struct ibv_sge sge = {
		.addr = (uintptr_t)reader->found,
		.length = BUCKET,
		.lkey = table->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {
			.remote_addr = (uintptr_t)&table->buckets[key],
			.rkey = table->mr->rkey,
		},
	};
	struct ibv_wc wc;

	memset(reader->found, 0xff, BUCKET);
	ret = ibv_post_send(reader->qp, &wr, &bad);
	if (ret)
		return -ret;
	do
		ret = ibv_poll_cq(reader->cq, 1, &wc);
	while (!ret);
	if (ret < 0 || wc.status != IBV_WC_SUCCESS)
		return -EIO;
	for (i = 0; i < WORDS; i++)
		if (reader->found->words[i] != content(key, i))
			return -EBADMSG;
	return 0;
}

static void *read_all(void *arg)
{
	struct reader *reader = arg;
	unsigned int i;

	pthread_barrier_wait(reader->start);
	for (i = 0; i < reader->lookups && !reader->ret; i++)
		reader->ret = look_up(reader, content(reader->id, i) %
						      reader->table->n);
	return NULL;
}

static int reader_create(struct verbs_setup *setup, struct reader *reader)
{
	reader->cq = ibv_create_cq(setup->ctx, 8, NULL, NULL, 0);
	if (!reader->cq)
		return -errno;
	reader->qp = verbs_qp_create(setup->pd, reader->cq, IBV_QPT_RC);
	if (!reader->qp)
		return -errno;
	return verbs_qp_connect(reader->qp, reader->qp->qp_num,
				&setup->address);
}

static void reader_destroy(struct reader *reader)
{
	if (reader->qp)
		ibv_destroy_qp(reader->qp);
	if (reader->cq)
		ibv_destroy_cq(reader->cq);
}

/* Start the threads, wait for all. Return: the first failure of one. */
static int run_threads(struct reader *readers, unsigned int n)
{
	pthread_barrier_t start;
	unsigned int i;
	int ret = 0;

	pthread_barrier_init(&start, NULL, n);
	for (i = 0; i < n; i++) {
		readers[i].start = &start;
		if (pthread_create(&readers[i].thread, NULL, read_all,
				   &readers[i])) {
			/* The others wait for this one. */
			fprintf(stderr, "smart: no thread %u\n", i);
			exit(1);
		}
	}
	for (i = 0; i < n; i++) {
		pthread_join(readers[i].thread, NULL);
		if (readers[i].ret && !ret)
			ret = readers[i].ret;
	}
	pthread_barrier_destroy(&start);
	return ret;
}

static int run_command(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ECHILD;
}

static int smart_run(const struct options *opt, struct verbs_setup *setup,
		     struct reader *readers)
{
	struct table table = {};
	unsigned int i;
	int ret;

	ret = table_create(setup, &table, opt);
	for (i = 0; i < opt->threads && !ret; i++) {
		readers[i].table = &table;
		readers[i].found = &table.buckets[table.n + i];
		readers[i].id = i;
		readers[i].lookups = opt->lookups;
		ret = reader_create(setup, &readers[i]);
	}
	if (!ret)
		ret = run_threads(readers, opt->threads);
	if (!ret) {
		printf("smart: threads=%u lookups=%llu wrong=0\n",
		       opt->threads,
		       (unsigned long long)opt->threads * opt->lookups);
		fflush(stdout);
	}
	if (!ret && opt->command)
		ret = run_command(opt->command);
	for (i = 0; i < opt->threads; i++)
		reader_destroy(&readers[i]);
	table_destroy(&table);
	return ret;
}

static int usage(FILE *out)
{
	fprintf(out,
		"usage: smart [-d DEVICE] [-t THREADS] [-n LOOKUPS] [-b BUCKETS] [-x COMMAND]\n"
		"  -t  threads, each with a QP (96)  -n  lookups of each (64)\n"
		"  -b  buckets of the table (4096)\n"
		"  -x  run COMMAND while the QPs still exist\n");
	return out == stdout ? 0 : 2;
}

static bool parse_number(unsigned int *number)
{
	char *end;

	*number = strtoul(optarg, &end, 0);
	return *number && *number <= 1u << 20 && !*end;
}

/* Return: -1, or the exit status of the program, which ends. */
static int smart_parse(int argc, char **argv, struct options *opt)
{
	bool good = true;
	int c;

	while (good && (c = getopt(argc, argv, "d:t:n:b:x:h")) != -1) {
		if (c == 'h')
			return usage(stdout);
		if (c == 'd')
			opt->device = optarg;
		else if (c == 'x')
			opt->command = optarg;
		else if (c == 't')
			good = parse_number(&opt->threads);
		else if (c == 'n')
			good = parse_number(&opt->lookups);
		else
			good = c == 'b' && parse_number(&opt->buckets);
	}
	return good && optind == argc ? -1 : usage(stderr);
}

int main(int argc, char **argv)
{
	struct options opt = { .threads = 96, .lookups = 64, .buckets = 4096 };
	struct verbs_setup setup;
	struct reader *readers;
	int ret;

	ret = smart_parse(argc, argv, &opt);
	if (ret >= 0)
		return ret;
	readers = calloc(opt.threads, sizeof(*readers));
	if (!readers)
		return 1;
	ret = verbs_open(&setup, opt.device, 1);
	if (!ret) {
		ret = smart_run(&opt, &setup, readers);
		verbs_close(&setup);
	}
	if (ret)
		fprintf(stderr, "smart: %s\n", strerror(-ret));
	free(readers);
	return ret ? 1 : 0;
}
