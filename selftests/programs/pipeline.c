// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * pipeline [-b BYTES] [-f FRAGMENT] [-r REUSE] [-m MESSAGES] [-d DEVICE] [-n] [-j] -
 * five protocols for large messages, after "High Performance RDMA Protocols in HPC"
 * (Woodall, Shipman, Bosilca, Maccabe, 2006)
 *
 * copy: fragments are copied to memory that is registered for good. register: the whole
 * buffer is registered each time. cache: it is registered through a cache. pipeline: an
 * eager part is copied, then fragments are registered while earlier ones are in flight,
 * each released at once. caching: the pipeline, with fragments from the cache. A buffer
 * is sent REUSE times, then unmapped, and a new one is mapped at the same address with
 * other content: notifications keep the cache right. Every message is compared with what
 * was to be sent. With -n the two that cache are not told: they keep the registration of
 * the first buffer. With -d messages go to that device, over the cable.
 *
 * Prints for each protocol bandwidth, registrations and hits; with -j as a JSON
 * object a line. Exit status 1 where a byte was wrong.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <mlx5ep/mr_cache.h>

#include "watch/watched.h"

#define EAGER	4096u
#define DEPTH	4	/* send requests that verbs_qp_create() allows */

enum protocol { COPY, REGISTER, CACHE, PIPELINE, CACHING };

static const char *const names[] = { "copy", "register", "cache", "pipeline", "caching" };

/* A fragment in flight, and what is given back when it has landed, if anything. */
struct fragment {
	struct ibv_mr *mr;
	struct mlx5ep_mr_cache_entry *entry;
};

static struct watched_setup setup;
static struct verbs_setup there;	/* the other device, with -d */
static struct ibv_qp *qp, *there_qp;
static struct mlx5ep_mr_cache *cache;
static struct ibv_mr *target, *copies, *kept;
static size_t bytes = 1 << 20, fragment = 64 << 10;
static unsigned int reuse = 4, messages = 64;
static bool json;
static unsigned long registrations;
static struct fragment ring[DEPTH];
static unsigned int head, tail;

static void pipeline_fail(const char *what, int ret)
{
	fprintf(stderr, "pipeline: %s: %s\n", what, strerror(-ret));
	exit(1);
}

static void release(struct fragment *f)
{
	if (f->entry)
		mlx5ep_mr_cache_put(cache, f->entry);
	else if (f->mr && ibv_dereg_mr(f->mr))
		pipeline_fail("ibv_dereg_mr", -errno);
}

static void wait_oldest(void)
{
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(setup.verbs.cq, 1, &wc);
	} while (!n);
	if (n < 0 || wc.status)
		pipeline_fail("completion", -EIO);
	release(&ring[tail++ % DEPTH]);
}

/* Writes @len bytes to where they belong; what @f holds is released later. */
static void pipeline_post(struct fragment f, const void *at, size_t len,
			  uint32_t lkey, size_t offset)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)at,
		.length = len,
		.lkey = lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma.remote_addr = (uintptr_t)target->addr + offset,
		.wr.rdma.rkey = target->rkey,
	};
	int ret;

	ring[head++ % DEPTH] = f;
	ret = ibv_post_send(qp, &wr, &bad);
	if (ret)
		pipeline_fail("ibv_post_send", -ret);
}

/* Copied to memory that is registered for good. */
static void send_eager(const char *buf)
{
	memcpy(setup.endpoint.src, buf, EAGER);
	pipeline_post((struct fragment){}, setup.endpoint.src, EAGER,
		      setup.verbs.mr->lkey, 0);
}

/* A piece of @copies for each fragment in flight. */
static void send_copy(const char *at, size_t len, size_t offset)
{
	char *to = (char *)copies->addr + head % DEPTH * fragment;

	memcpy(to, at, len);
	pipeline_post((struct fragment){}, to, len, copies->lkey, offset);
}

static void send_fragment(enum protocol protocol, char *at, size_t len,
			  size_t offset)
{
	struct fragment f = {};
	int ret;

	if (head - tail == DEPTH)
		wait_oldest();
	if (protocol == COPY) {
		send_copy(at, len, offset);
	} else if (protocol == PIPELINE || protocol == REGISTER) {
		f.mr = ibv_reg_mr(setup.verbs.pd, at, len, 0);
		if (!f.mr)
			pipeline_fail("ibv_reg_mr", -errno);
		registrations++;
		pipeline_post(f, at, len, f.mr->lkey, offset);
	} else if (kept) {
		pipeline_post(f, at, len, kept->lkey, offset);
	} else {
		ret = mlx5ep_mr_cache_get(cache, at, len, &f.entry);
		if (ret)
			pipeline_fail("mlx5ep_mr_cache_get", ret);
		pipeline_post(f, at, len, f.entry->mr->lkey, offset);
	}
}

static void send_message(enum protocol protocol, char *buf)
{
	bool whole = protocol == CACHE || protocol == REGISTER;
	size_t step = whole ? bytes : fragment, at = 0, len;

	if (!whole) {
		/*
		 * The eager part is sent while the first fragment is
		 * registered.
		 */
		send_eager(buf);
		at = EAGER;
	}
	for (; at < bytes; at += len) {
		len = step - at % step;
		if (len > bytes - at)
			len = bytes - at;
		send_fragment(protocol, buf + at, len, at);
	}
	while (head != tail)
		wait_oldest();
}

static uint64_t pipeline_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Memory of its own, registered for good. */
static struct ibv_mr *pipeline_memory(struct ibv_pd *pd, size_t len)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct ibv_mr *mr = NULL;

	if (at != MAP_FAILED)
		mr = ibv_reg_mr(pd, at, len, IBV_ACCESS_LOCAL_WRITE |
				IBV_ACCESS_REMOTE_WRITE);
	if (!mr)
		pipeline_fail("memory", -errno);
	return mr;
}

static void pipeline_forget(struct ibv_mr *mr)
{
	void *at = mr->addr;
	size_t len = mr->length;

	if (ibv_dereg_mr(mr))
		pipeline_fail("ibv_dereg_mr", -errno);
	munmap(at, len);
}

/* Registers the whole buffer for good. */
static void keep_for_good(char *buf)
{
	kept = ibv_reg_mr(setup.verbs.pd, buf, bytes, 0);
	if (!kept)
		pipeline_fail("ibv_reg_mr", -errno);
	registrations++;
}

static unsigned int pipeline_run(enum protocol protocol, bool told)
{
	struct mlx5ep_mr_cache_attr attr = { .access = IBV_ACCESS_LOCAL_WRITE };
	struct mlx5ep_mr_cache_stats stats;
	uint64_t spent = 0, start;
	unsigned int i, wrong = 0;
	char *buf = (char *)0x600000000000ul;
	int ret;

	registrations = 0;
	ret = mlx5ep_mr_cache_create(setup.verbs.pd, &attr, &cache);
	if (ret)
		pipeline_fail("mlx5ep_mr_cache_create", ret);
	for (i = 0; i < messages; i++) {
		if (i % reuse == 0 &&
		    mmap(buf, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			 MAP_ANONYMOUS | MAP_FIXED, -1, 0) != buf)
			pipeline_fail("mmap", -errno);
		watched_fill(buf, bytes, i + 1);
		if (!told && (protocol == CACHE || protocol == CACHING) && !kept)
			keep_for_good(buf);
		start = pipeline_now();
		send_message(protocol, buf);
		spent += pipeline_now() - start;
		wrong += !!memcmp(buf, target->addr, bytes);
	}
	mlx5ep_mr_cache_query(cache, &stats);
	printf(json ? "{\"name\":\"%s\",\"bytes\":%zu,\"reuse\":%u,\"messages\":%u,\"unit\":\"MB/s\",\"value\":%.3f,\"registrations\":%lu,\"hits\":%lu,\"wrong\":%u}\n" :
	       "pipeline: protocol=%s bytes=%zu reuse=%u messages=%u MB/s=%.1f registrations=%lu hits=%lu wrong=%u\n",
	       names[protocol], bytes, reuse, messages,
	       (double)bytes * messages * 1000 / spent,
	       registrations + (unsigned long)stats.misses,
	       (unsigned long)stats.hits, wrong);
	if (kept)
		ibv_dereg_mr(kept);
	kept = NULL;
	munmap(buf, bytes);
	mlx5ep_mr_cache_destroy(cache);
	return wrong;
}

/* Messages stay on this device, or go to the one of that name. */
static void open_target(const char *device)
{
	struct ibv_pd *pd = setup.verbs.pd;
	int ret = 0;

	qp = setup.endpoint.qp;
	if (device) {
		ret = verbs_open(&there, device, 1);
		if (ret)
			pipeline_fail(device, ret);
		qp = verbs_qp_create(setup.verbs.pd, setup.verbs.cq, IBV_QPT_RC);
		there_qp = verbs_qp_create(there.pd, there.cq, IBV_QPT_RC);
		if (!qp || !there_qp)
			pipeline_fail("ibv_create_qp", -errno);
		ret = verbs_qp_connect(qp, there_qp->qp_num, &there.address);
		if (!ret)
			ret = verbs_qp_connect(there_qp, qp->qp_num,
					       &setup.verbs.address);
		if (ret)
			pipeline_fail("ibv_modify_qp", ret);
		pd = there.pd;
	}
	target = pipeline_memory(pd, bytes);
}

static void close_target(void)
{
	pipeline_forget(target);
	if (!there_qp)
		return;
	ibv_destroy_qp(qp);
	ibv_destroy_qp(there_qp);
	verbs_close(&there);
}

int main(int argc, char **argv)
{
	const char *device = NULL;
	unsigned int wrong = 0;
	bool told = true;
	int c, ret;

	while ((c = getopt(argc, argv, "b:f:r:m:d:nj")) != -1) {
		switch (c) {
		case 'n':
			told = false;
			break;
		case 'j':
			json = true;
			break;
		case 'd':
			device = optarg;
			break;
		case 'b':
			bytes = strtoul(optarg, NULL, 0);
			break;
		case 'f':
			fragment = strtoul(optarg, NULL, 0);
			break;
		case 'r':
			reuse = strtoul(optarg, NULL, 0);
			break;
		case 'm':
			messages = strtoul(optarg, NULL, 0);
			break;
		default:
			return 2;
		}
	}
	if (bytes < 2 * EAGER || bytes % 4096 || fragment < EAGER ||
	    fragment % 4096 || !reuse || !messages)
		return 2;
	ret = watched_open(&setup, 16);
	if (ret)
		pipeline_fail("open", ret);
	copies = pipeline_memory(setup.verbs.pd, DEPTH * fragment);
	open_target(device);
	for (c = COPY; c <= CACHING; c++)
		wrong += pipeline_run(c, told);
	close_target();
	pipeline_forget(copies);
	watched_close(&setup);
	return !!wrong;
}
