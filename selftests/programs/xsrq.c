// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * xsrq [-n NODES] [-p PPN] [-s NSRQ] [-m MESSAGES] [-j] [-i NODE -a ADDRESS,...]
 * - the X-SRQ wire-up of Shipman et al. 2008 with real traffic
 *
 * NODES nodes of PPN processes with NSRQ SRQs each, all on the HCA that
 * MLX5_EP_DEVICE names, or node i on HCA i modulo the HCAs there are; or only
 * node NODE of them, and the others on other machines, where a program like this
 * one runs each: they ask each other over IP. A process has one initiator QP to
 * each other node, whose receive QP there is shared by all processes of that node:
 *   1. it asks process 0 of the node, who opens the receive QP and answers its
 *	number and its own SRQ numbers;
 *   2. with that number it asks each other process, who registers and answers
 *	its SRQ numbers.
 * Then each process sends MESSAGES messages to each SRQ of all other nodes, and
 * checks the bytes and the order of what it receives. Last line: what it took, and
 * how long the wire-up of this machine's processes; with -j the QPs as JSON.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <pthread.h>

#include "option.h"
#include "xrc.h"
#include "xrc/xrc_bytes.h"
#include "xrc/xrc_wire.h"

#define MAX_SRQS 16
#define MAX_PEERS 256
#define NO_NODE UINT_MAX		/* -i was not given */
#define WAIT_S 240
#define ASK_MS 1000		/* time without an answer after which to ask again */

static unsigned int nodes = 2, ppn = 2, nsrq = 2, messages = 50, hcas;
static bool json;
static unsigned int first_node, end_node;	/* those of this machine */
static struct wire_net net;

struct shared {
	pthread_barrier_t barrier;
	atomic_uint qps;		/* of all nodes, both ends */
	atomic_uint received, corrupt;
	uint64_t setup_ns;		/* from where all are open to where all are wired up */
};

/* One message of the wire-up, request and answer. */
struct wire {
	uint32_t answer;		/* 0: request */
	uint32_t from_node, from_proc;
	uint32_t qp_num;		/* request: of the initiator; answer: shared */
	uint32_t shared_num;		/* request: 0 open, else register */
	struct address address;	/* of the port of who writes this */
	uint32_t srqs[MAX_SRQS];
};

struct remote {
	struct xrc_sender sender;
	uint32_t shared_num;
	uint32_t (*srqs)[MAX_SRQS];	/* by process; [0] is 0: not known */
};

struct process {
	struct shared *shared;
	unsigned int node, proc;
	int sock;
	struct xrc_node local;
	struct remote *remotes;		/* by node */
	struct mlx5ep_xrc_rcv_qp **regs;	/* by who asked for it */
	unsigned int answers, served;
	uint32_t *next_seq;		/* by sender and SRQ */
	unsigned int got;
};

/* Ask process @proc of node @node to open the shared QP, or to register. */
static int xsrq_ask(struct process *p, unsigned int node, unsigned int proc)
{
	struct remote *remote = &p->remotes[node];
	struct wire wire = {
		.from_node = p->node,
		.from_proc = p->proc,
		.qp_num = remote->sender.qp->qp_num,
		.shared_num = remote->shared_num,
		.address = remote->sender.address,
	};

	return wire_send(&net, p->sock, node, proc, &wire, sizeof(wire));
}

static int reg_for(struct process *p, const struct wire *req,
		   struct mlx5ep_xrc_rcv_qp **qp)
{
	int ret;

	if (req->shared_num)
		return mlx5ep_xrc_rcv_qp_reg(p->local.xrcd, req->shared_num,
					     NULL, qp);
	ret = mlx5ep_xrc_rcv_qp_create(p->local.xrcd, NULL, qp);
	if (!ret)
		ret = xrc_qp_connect(*qp, req->qp_num, &req->address);
	atomic_fetch_add(&p->shared->qps, 1);
	return ret;
}

/* A process that asks again has not received the answer. */
static int serve(struct process *p, const struct wire *req)
{
	struct wire wire = { .answer = 1, .from_node = p->node,
			     .from_proc = p->proc,
			     .address = p->local.address };
	struct mlx5ep_xrc_rcv_qp **qp;
	unsigned int i;
	int ret;

	if (req->from_node >= nodes || req->from_proc >= ppn)
		return -EBADMSG;
	qp = &p->regs[req->from_node * ppn + req->from_proc];
	if (!*qp) {
		ret = reg_for(p, req, qp);
		if (ret)
			return ret;
		p->served++;
	}
	wire.shared_num = mlx5ep_xrc_rcv_qp_num(*qp);
	for (i = 0; i < nsrq; i++)
		wire.srqs[i] = p->local.srqs[i].num;
	return wire_send(&net, p->sock, req->from_node, req->from_proc, &wire,
			 sizeof(wire));
}

/* Choose whom to ask: the first process of a node, then all others of it. */
static int ask_all(struct process *p, unsigned int node)
{
	struct remote *remote = &p->remotes[node];
	unsigned int proc;
	int ret = 0;

	if (!remote->shared_num)
		return xsrq_ask(p, node, 0);
	for (proc = 1; !ret && proc < ppn; proc++)
		if (!remote->srqs[proc][0])
			ret = xsrq_ask(p, node, proc);
	return ret;
}

static int take_answer(struct process *p, const struct wire *wire)
{
	struct remote *remote = &p->remotes[wire->from_node];
	int ret;

	if (wire->from_node >= nodes || wire->from_node == p->node ||
	    wire->from_proc >= ppn || !wire->srqs[0])
		return -EBADMSG;
	if (remote->srqs[wire->from_proc][0])
		return 0;
	memcpy(remote->srqs[wire->from_proc], wire->srqs, sizeof(wire->srqs));
	p->answers++;
	if (wire->from_proc)
		return wire->shared_num == remote->shared_num ? 0 : -EBADMSG;
	remote->shared_num = wire->shared_num;
	ret = xrc_sender_connect(&remote->sender, wire->shared_num,
				 &wire->address);
	return ret ? ret : ask_all(p, wire->from_node);
}

/* Take a request or an answer; -EAGAIN: there is none. */
static int attend(struct process *p, int flags)
{
	struct wire wire;

	if (recv(p->sock, &wire, sizeof(wire), flags) != sizeof(wire))
		return errno ? -errno : -EBADMSG;
	return wire.answer ? take_answer(p, &wire) : serve(p, &wire);
}

/* Ask and be asked until everybody knows everybody. */
static int wire_up(struct process *p)
{
	unsigned int expected = (nodes - 1) * ppn, node;
	time_t end = time(NULL) + WAIT_S;
	int ret = -EAGAIN;

	while (p->answers < expected || p->served < expected) {
		for (node = 0; ret == -EAGAIN && node < nodes; node++)
			if (node != p->node && ask_all(p, node))
				return -EIO;
		ret = attend(p, 0);
		if (ret && ret != -EAGAIN)
			return ret;
		if (time(NULL) > end)
			return -ETIMEDOUT;
	}
	return 0;
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
	if (ret != -ETIMEDOUT)
		return ret;
	ret = attend(p, MSG_DONTWAIT);
	return ret == -EAGAIN ? 0 : ret;
}

/*
 * While a send waits, serve this process's own receives and repeat answers that
 * were lost.
 */
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

static const char *device_of(const struct process *p)
{
	const char *named = getenv("MLX5_EP_DEVICE");

	return named ? named : xrc_device(p->node % hcas);
}

static int process_open(struct process *p)
{
	char path[64];
	unsigned int i;
	int ret;

	p->sock = wire_open(&net, p->node, p->proc, ASK_MS);
	if (p->sock < 0)
		return p->sock;
	snprintf(path, sizeof(path), "/tmp/xsrq.%d.%u", getpgrp(), p->node);
	ret = xrc_node_open(&p->local, device_of(p), path, nsrq);
	if (ret)
		return ret;
	p->next_seq = calloc(nodes * ppn * nsrq, sizeof(*p->next_seq));
	p->remotes = calloc(nodes, sizeof(*p->remotes));
	p->regs = calloc(nodes * ppn, sizeof(*p->regs));
	if (!p->next_seq || !p->remotes || !p->regs)
		return -ENOMEM;
	for (i = 0; i < nodes && !ret; i++) {
		if (i == p->node)
			continue;
		p->remotes[i].srqs = calloc(ppn, sizeof(*p->remotes[i].srqs));
		if (!p->remotes[i].srqs)
			return -ENOMEM;
		ret = xrc_sender_open(&p->remotes[i].sender, device_of(p));
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
	for (i = 0; i < nodes * ppn && !ret; i++)
		if (p->regs[i])
			ret = mlx5ep_xrc_rcv_qp_unreg(p->regs[i]);
	return ret ? ret : xrc_node_close(&p->local);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Wire up, and wait until all of this machine have; one of them keeps the time. */
static int wire_up_all(struct process *p)
{
	int last = pthread_barrier_wait(&p->shared->barrier);
	uint64_t since = now_ns();
	int ret = wire_up(p);

	if (ret)
		return ret;
	pthread_barrier_wait(&p->shared->barrier);
	if (last == PTHREAD_BARRIER_SERIAL_THREAD)
		p->shared->setup_ns = now_ns() - since;
	return 0;
}

static void __attribute__((noreturn))
process(struct shared *shared, unsigned int node, unsigned int proc)
{
	struct process p = { .shared = shared, .node = node, .proc = proc };
	int ret;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ret = process_open(&p);
	/*
	 * When a process fails, the others wait at the barrier: end them all.
	 */
	if (!ret)
		ret = wire_up_all(&p);
	if (!ret)
		ret = traffic(&p);
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

static int xsrq_run(struct shared *shared)
{
	pthread_barrierattr_t attr;
	unsigned int node, proc, bad = 0;
	int status;

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->barrier, &attr,
			     (end_node - first_node) * ppn);
	signal(SIGTERM, SIG_IGN);
	for (node = first_node; node < end_node; node++)
		for (proc = 0; proc < ppn; proc++)
			if (!fork()) {
				signal(SIGTERM, SIG_DFL);
				process(shared, node, proc);
			}
	while (wait(&status) > 0)
		bad += status != 0;
	return bad;
}

static int options(int argc, char **argv)
{
	unsigned int only = NO_NODE;
	int opt, ret = 0;

	while (!ret && (opt = getopt(argc, argv, "n:p:s:m:ji:a:")) != -1) {
		switch (opt) {
		case 'n':
			ret = option_number(opt, optarg, 2, MAX_PEERS, &nodes);
			break;
		case 'p':
			ret = option_number(opt, optarg, 1, MAX_PEERS, &ppn);
			break;
		case 's':
			ret = option_number(opt, optarg, 1, MAX_SRQS, &nsrq);
			break;
		case 'm':
			ret = option_number(opt, optarg, 0, INT_MAX, &messages);
			break;
		case 'j':
			json = true;
			break;
		case 'i':
			ret = option_number(opt, optarg, 0, MAX_PEERS, &only);
			break;
		case 'a':
			ret = wire_net_parse(&net, optarg);
			break;
		default:
			return -EINVAL;
		}
	}
	if (ret || (nodes - 1) * ppn > MAX_PEERS ||
	    (only != NO_NODE && only >= nodes) ||
	    (net.known && net.known != nodes) ||
	    (only != NO_NODE) != !!net.known)
		return -EINVAL;
	net.ppn = ppn;
	first_node = only == NO_NODE ? 0 : only;
	end_node = only == NO_NODE ? nodes : first_node + 1;
	return 0;
}

/* What a node has, and what it would have without shared receive QPs. */
static void print_json(unsigned int qps)
{
	printf("{\"name\":\"one QP for each SRQ\",\"unit\":\"QPs\",\"value\":%u}\n"
	       "{\"name\":\"shared XRC QPs\",\"unit\":\"QPs\",\"value\":%u}\n",
	       ppn * ppn * nsrq * (nodes - 1), qps);
}

int main(int argc, char **argv)
{
	unsigned int here, expected, sent;
	struct ibv_device **list;
	struct shared *shared;
	int n = 0, bad;

	if (options(argc, argv)) {
		fprintf(stderr, "usage: xsrq [-n NODES] [-p PPN] [-s NSRQ] [-m MESSAGES] [-j] [-i NODE -a ADDRESS,...]\n");
		return 2;
	}
	list = ibv_get_device_list(&n);
	hcas = n;
	if (!hcas) {
		fprintf(stderr, "xsrq: no HCA\n");
		return 2;
	}
	ibv_free_device_list(list);
	setpgid(0, 0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 2;
	bad = xsrq_run(shared);
	here = end_node - first_node;
	expected = ppn * 2 * (nodes - 1);
	sent = here * ppn * (nodes - 1) * ppn * nsrq * messages;
	if (json)
		print_json(shared->qps / here);
	else
		printf("xsrq: nodes=%u ppn=%u nsrq=%u qps_per_node=%u expected=%u bsrq_qps_per_node=%u messages=%u lost=%u corrupt=%u setup_us=%ju bytes_per_registration=%.0f\n",
		       nodes, ppn, nsrq, shared->qps / here, expected,
		       ppn * ppn * nsrq * (nodes - 1), sent,
		       sent - shared->received, shared->corrupt,
		       (uintmax_t)(shared->setup_ns / 1000),
		       xrc_registration_bytes());
	return bad || shared->qps != expected * here ||
	       shared->received != sent || shared->corrupt;
}
