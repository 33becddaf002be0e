// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * xsrq [-n NODES] [-p PPN] [-s NSRQ] [-m MESSAGES] - the X-SRQ wire-up of
 * Shipman et al. 2008 with real traffic
 *
 * NODES nodes of PPN processes with NSRQ SRQs each, node i on HCA i modulo the
 * HCAs there are. A process has one initiator QP to each other node, whose
 * receive QP there is shared by all processes of that node:
 *   1. it asks process 0 of the node, who opens the receive QP and answers its
 *	number and its own SRQ numbers;
 *   2. with that number it asks each other process, who registers and answers
 *	its SRQ numbers.
 * Then each process sends MESSAGES messages to each SRQ of all other nodes, and
 * checks the bytes and the order of what it receives. Last line: what it took.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <pthread.h>

#include "xrc.h"

#define MAX_SRQS 16
#define MAX_PEERS 256
#define WAIT_S 120

static unsigned int nodes = 2, ppn = 2, nsrq = 2, messages = 50, hcas;

struct shared {
	pthread_barrier_t barrier;
	atomic_uint qps;		/* of all nodes, both ends */
	atomic_uint received, corrupt;
};

/* One message of the wire-up, request and answer. */
struct wire {
	uint32_t answer;		/* 0: request */
	uint32_t from_node, from_proc;
	uint32_t qp_num;		/* request: of the initiator; answer: shared */
	uint32_t shared_num;		/* request: 0 open, else register */
	uint32_t lid;
	uint32_t srqs[MAX_SRQS];
};

struct remote {
	struct xrc_sender sender;
	uint32_t shared_num;
	unsigned int answers;
	uint32_t (*srqs)[MAX_SRQS];	/* of each process of the node */
};

struct process {
	struct shared *shared;
	unsigned int node, proc;
	int sock;
	struct xrc_node local;
	struct remote *remotes;		/* by node */
	struct mlx5ep_xrc_rcv_qp *regs[MAX_PEERS];
	unsigned int n_regs;
	uint32_t *next_seq;		/* by sender and SRQ */
	unsigned int got;
};

static void address(struct sockaddr_un *addr, unsigned int node,
		    unsigned int proc)
{
	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	snprintf(addr->sun_path + 1, sizeof(addr->sun_path) - 1,
		 "xsrq.%d.%u.%u", getpgrp(), node, proc);
}

static int tell(struct process *p, unsigned int node, unsigned int proc,
		const struct wire *wire)
{
	struct sockaddr_un addr;

	address(&addr, node, proc);
	if (sendto(p->sock, wire, sizeof(*wire), 0, (void *)&addr,
		   sizeof(addr)) != sizeof(*wire)) {
		perror("xsrq: sendto");
		return -errno;
	}
	return 0;
}

/* Ask process @proc of node @node to open the shared QP, or to register. */
static int ask(struct process *p, unsigned int node, unsigned int proc)
{
	struct remote *remote = &p->remotes[node];
	struct wire wire = {
		.from_node = p->node,
		.from_proc = p->proc,
		.qp_num = remote->sender.qp->qp_num,
		.shared_num = remote->shared_num,
		.lid = remote->sender.lid,
	};

	return tell(p, node, proc, &wire);
}

static int serve(struct process *p, const struct wire *req)
{
	struct wire wire = { .answer = 1, .from_node = p->node,
			     .from_proc = p->proc, .lid = p->local.lid };
	struct mlx5ep_xrc_rcv_qp *qp;
	unsigned int i;
	int ret;

	if (p->n_regs == MAX_PEERS)
		return -ENOBUFS;
	if (req->shared_num) {
		ret = mlx5ep_xrc_rcv_qp_reg(p->local.xrcd, req->shared_num,
					    NULL, &qp);
	} else {
		ret = mlx5ep_xrc_rcv_qp_create(p->local.xrcd, NULL, &qp);
		if (!ret)
			ret = xrc_qp_connect(qp, req->qp_num, req->lid);
		atomic_fetch_add(&p->shared->qps, 1);
	}
	if (ret)
		return ret;
	p->regs[p->n_regs++] = qp;
	wire.shared_num = mlx5ep_xrc_rcv_qp_num(qp);
	for (i = 0; i < nsrq; i++)
		wire.srqs[i] = p->local.srqs[i].num;
	return tell(p, req->from_node, req->from_proc, &wire);
}

static int take_answer(struct process *p, const struct wire *wire)
{
	struct remote *remote = &p->remotes[wire->from_node];
	unsigned int proc;
	int ret = 0;

	memcpy(remote->srqs[wire->from_proc], wire->srqs, sizeof(wire->srqs));
	remote->answers++;
	if (wire->from_proc)
		return wire->shared_num == remote->shared_num ? 0 : -EBADMSG;
	remote->shared_num = wire->shared_num;
	ret = xrc_sender_connect(&remote->sender, wire->shared_num, wire->lid);
	for (proc = 1; !ret && proc < ppn; proc++)
		ret = ask(p, wire->from_node, proc);
	return ret;
}

/* Ask and be asked until everybody knows everybody. */
static int wire_up(struct process *p)
{
	unsigned int expected = (nodes - 1) * ppn, answers = 0, served = 0;
	struct wire wire;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < nodes && !ret; i++)
		if (i != p->node)
			ret = ask(p, i, 0);
	while (!ret && (answers < expected || served < expected)) {
		if (recv(p->sock, &wire, sizeof(wire), 0) != sizeof(wire))
			return -ETIMEDOUT;
		ret = wire.answer ? take_answer(p, &wire) : serve(p, &wire);
		answers += wire.answer;
		served += !wire.answer;
	}
	return ret;
}

/* A message names its sender; each sender's come in order to each SRQ. */
static void take_message(struct process *p, unsigned int srq, const void *msg)
{
	uint32_t from, *seq;

	memcpy(&from, msg, sizeof(from));
	p->got++;
	atomic_fetch_add(&p->shared->received, 1);
	if (from >= nodes * ppn) {
		atomic_fetch_add(&p->shared->corrupt, 1);
		return;
	}
	seq = &p->next_seq[from * nsrq + srq];
	if (!xrc_msg_is(msg, from, (p->node * ppn + p->proc) * nsrq + srq,
			(*seq)++))
		atomic_fetch_add(&p->shared->corrupt, 1);
}

static int drain(struct process *p)
{
	uint8_t msg[XRC_MSG];
	unsigned int srq;
	int ret;

	while (!(ret = xrc_node_recv(&p->local, &srq, msg, 0)))
		take_message(p, srq, msg);
	return ret == -ETIMEDOUT ? 0 : ret;
}

/* Own receives go on while a send waits for the other side's. */
static int send_one(struct process *p, unsigned int node, unsigned int proc,
		    unsigned int srq, unsigned int seq)
{
	struct remote *remote = &p->remotes[node];
	uint8_t msg[XRC_MSG];
	time_t end = time(NULL) + WAIT_S;
	int ret;

	xrc_msg_fill(msg, p->node * ppn + p->proc,
		     (node * ppn + proc) * nsrq + srq, seq);
	ret = xrc_sender_post(&remote->sender, remote->srqs[proc][srq], msg);
	while (!ret) {
		ret = drain(p);
		if (!ret)
			ret = xrc_sender_wait(&remote->sender, 1);
		if (!ret)
			return 0;
		if (ret == -ETIMEDOUT && time(NULL) < end)
			ret = 0;
	}
	return ret;
}

static int traffic(struct process *p)
{
	unsigned int expected = (nodes - 1) * ppn * nsrq * messages;
	time_t end = time(NULL) + WAIT_S;
	unsigned int seq, node, proc, srq;
	int ret = 0;

	for (seq = 0; seq < messages; seq++)
		for (node = 0; node < nodes; node++)
			for (proc = 0; node != p->node && proc < ppn; proc++)
				for (srq = 0; srq < nsrq && !ret; srq++)
					ret = send_one(p, node, proc, srq, seq);
	while (!ret && p->got < expected) {
		ret = drain(p);
		if (time(NULL) > end)
			ret = -ETIMEDOUT;
	}
	return ret;
}

static int process_open(struct process *p)
{
	struct timeval limit = { .tv_sec = WAIT_S };
	struct sockaddr_un addr;
	char path[64];
	unsigned int i;
	int ret;

	p->sock = socket(AF_UNIX, SOCK_DGRAM, 0);
	address(&addr, p->node, p->proc);
	if (p->sock < 0 || bind(p->sock, (void *)&addr, sizeof(addr)) ||
	    setsockopt(p->sock, SOL_SOCKET, SO_RCVTIMEO, &limit,
		       sizeof(limit)))
		return -errno;
	snprintf(path, sizeof(path), "/tmp/xsrq.%d.%u", getpgrp(), p->node);
	ret = xrc_node_open(&p->local, xrc_device(p->node % hcas), path, nsrq);
	if (ret)
		return ret;
	p->next_seq = calloc(nodes * ppn * nsrq, sizeof(*p->next_seq));
	p->remotes = calloc(nodes, sizeof(*p->remotes));
	if (!p->next_seq || !p->remotes)
		return -ENOMEM;
	for (i = 0; i < nodes && !ret; i++) {
		if (i == p->node)
			continue;
		p->remotes[i].srqs = calloc(ppn, sizeof(*p->remotes[i].srqs));
		if (!p->remotes[i].srqs)
			return -ENOMEM;
		ret = xrc_sender_open(&p->remotes[i].sender,
				      xrc_device(p->node % hcas));
		atomic_fetch_add(&p->shared->qps, 1);
	}
	return ret;
}

static int process_close(struct process *p)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < nodes; i++)
		if (i != p->node)
			xrc_sender_close(&p->remotes[i].sender);
	for (i = 0; i < p->n_regs && !ret; i++)
		ret = mlx5ep_xrc_rcv_qp_unreg(p->regs[i]);
	return ret ? ret : xrc_node_close(&p->local);
}

static void __attribute__((noreturn))
process(struct shared *shared, unsigned int node, unsigned int proc)
{
	struct process p = { .shared = shared, .node = node, .proc = proc };
	int ret;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ret = process_open(&p);
	/* A process that fails leaves the barrier waiting: end them all. */
	if (!ret) {
		pthread_barrier_wait(&shared->barrier);
		ret = wire_up(&p);
	}
	if (!ret) {
		pthread_barrier_wait(&shared->barrier);
		ret = traffic(&p);
	}
	if (!ret) {
		pthread_barrier_wait(&shared->barrier);
		ret = process_close(&p);
	}
	if (ret) {
		fprintf(stderr, "xsrq: process %u of node %u: %s\n", proc, node,
			strerror(-ret));
		kill(0, SIGTERM);
		_exit(1);
	}
	_exit(0);
}

static long slab_kb(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128];
	long kb = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Slab: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

/* Kernel memory of one more registration, over many; -1 where it failed. */
static double registration_bytes(void)
{
	enum { MANY = 4000 };
	static struct mlx5ep_xrc_rcv_qp *qps[MANY];
	struct xrc_node node;
	double bytes = -1;
	unsigned int n;
	long before;

	if (xrc_node_open(&node, NULL, NULL, 0))
		return -1;
	if (mlx5ep_xrc_rcv_qp_create(node.xrcd, NULL, &qps[0]))
		goto out_close;
	before = slab_kb();
	for (n = 1; n < MANY; n++)
		if (mlx5ep_xrc_rcv_qp_reg(node.xrcd,
					  mlx5ep_xrc_rcv_qp_num(qps[0]), NULL,
					  &qps[n]))
			break;
	if (n == MANY)
		bytes = (slab_kb() - before) * 1024.0 / (MANY - 1);
	while (n--)
		mlx5ep_xrc_rcv_qp_unreg(qps[n]);
out_close:
	xrc_node_close(&node);
	return bytes;
}

static int run(struct shared *shared)
{
	pthread_barrierattr_t attr;
	unsigned int node, proc, bad = 0;
	int status;

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->barrier, &attr, nodes * ppn);
	signal(SIGTERM, SIG_IGN);
	for (node = 0; node < nodes; node++)
		for (proc = 0; proc < ppn; proc++)
			if (!fork()) {
				signal(SIGTERM, SIG_DFL);
				process(shared, node, proc);
			}
	while (wait(&status) > 0)
		bad += status != 0;
	return bad;
}

int main(int argc, char **argv)
{
	struct ibv_device **list;
	struct shared *shared;
	unsigned int expected, sent;
	int opt, n = 0, bad;

	while ((opt = getopt(argc, argv, "n:p:s:m:")) != -1) {
		switch (opt) {
		case 'n':
			nodes = atoi(optarg);
			break;
		case 'p':
			ppn = atoi(optarg);
			break;
		case 's':
			nsrq = atoi(optarg);
			break;
		case 'm':
			messages = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	list = ibv_get_device_list(&n);
	hcas = n;
	if (nodes < 2 || !ppn || !nsrq || nsrq > MAX_SRQS || !hcas ||
	    (nodes - 1) * ppn > MAX_PEERS) {
		fprintf(stderr, "usage: xsrq [-n NODES] [-p PPN] [-s NSRQ] [-m MESSAGES]\n");
		return 2;
	}
	ibv_free_device_list(list);
	setpgid(0, 0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 2;
	bad = run(shared);
	expected = ppn * 2 * (nodes - 1);
	sent = nodes * ppn * (nodes - 1) * ppn * nsrq * messages;
	printf("xsrq: nodes=%u ppn=%u nsrq=%u qps_per_node=%u expected=%u bsrq_qps_per_node=%u messages=%u lost=%u corrupt=%u bytes_per_registration=%.0f\n",
	       nodes, ppn, nsrq, shared->qps / nodes, expected,
	       ppn * ppn * nsrq * (nodes - 1), sent, sent - shared->received,
	       shared->corrupt, registration_bytes());
	return bad || shared->qps != expected * nodes ||
	       shared->received != sent || shared->corrupt;
}
