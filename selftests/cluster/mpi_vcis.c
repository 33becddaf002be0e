// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mpi_vcis - message rate of threads that each have a communicator of their own
 *
 *	mpi_vcis [-t THREADS] [-n WINDOWS] [-s BYTES] [-r ROUNDS] [-p] [-b PAGES] [-c]
 *
 * Two processes. Each thread of rank 0 sends windows of small messages, each to its
 * partner in rank 1, which compares them and answers each window. -p: the thread puts
 * them into a window (MPI_Win) of its own, and the partner compares the last window of
 * messages. That is the workload of Zambre et al. 2018 with MPI in place of verbs.
 *
 * A virtual communication interface (VCI) is what an MPI keeps for a thread or a
 * communicator: here, the QPs that the adapter hears while one thread communicates and
 * the others are silent. Each thread does so in turn, before all do at once. What is
 * printed comes from the simulated HCA.
 *
 * -b: UAR pages that the adapter had given away before the processes started.
 * -c: rank 0 sends one wrong byte. Exit status 0 means that all messages were right.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include "doorbells.h"

#define MOST_THREADS	64
#define MOST_QPS	1024
#define WINDOW		32	/* messages that are under way at once */
#define LINE		64	/* the longest message */
#define ANSWER		1000	/* tag; messages have those of their place */

static struct {
	int threads, windows, bytes, rounds, before;
	bool put, corrupt;
} opt = { 4, 16, 8, 3, 0, false, false };

/**
 * struct vci - what one thread communicates by
 * @qpns: QPs that rang while it was the only one, in both processes, by number
 */
struct vci {
	uint32_t qpns[MOST_QPS];
	size_t n;
};

struct thread {
	_Alignas(LINE) uint8_t out[WINDOW][LINE];
	_Alignas(LINE) uint8_t in[WINDOW][LINE];
	pthread_t thread;
	MPI_Comm comm;
	MPI_Win win;
	int id;
	int stamp;	/* windows of messages so far */
	struct vci vci;
};

static int rank;
static struct thread threads[MOST_THREADS];
static pthread_barrier_t meet;

static void end(const char *why)
{
	fprintf(stderr, "mpi_vcis: rank %d: %s\n", rank, why);
	MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

static uint8_t byte(const struct thread *t, int stamp, int message, int i)
{
	return t->id * 7 + stamp * 31 + message * 131 + i + 1;
}

/* The guest has fewer processors than there are threads. */
static void wait_for(MPI_Request *reqs, int n)
{
	int done = 0;

	while (!done) {
		MPI_Testall(n, reqs, &done, MPI_STATUSES_IGNORE);
		if (!done)
			sched_yield();
	}
}

static void send_window(struct thread *t)
{
	MPI_Request reqs[WINDOW + 1];
	uint8_t answer;
	int i, j;

	for (i = 0; i < WINDOW; i++) {
		for (j = 0; j < opt.bytes; j++)
			t->out[i][j] = byte(t, t->stamp, i, j);
		if (opt.corrupt && t->id == 1 && i == WINDOW / 2)
			t->out[i][opt.bytes - 1]++;
	}
	MPI_Irecv(&answer, 1, MPI_BYTE, 1, ANSWER, t->comm, &reqs[WINDOW]);
	if (opt.put) {
		for (i = 0; i < WINDOW; i++)
			MPI_Put(t->out[i], opt.bytes, MPI_BYTE, 1, i * LINE,
				opt.bytes, MPI_BYTE, t->win);
		MPI_Win_flush(1, t->win);
		MPI_Isend(&answer, 0, MPI_BYTE, 1, 0, t->comm, &reqs[0]);
		wait_for(&reqs[0], 1);
	} else {
		for (i = 0; i < WINDOW; i++)
			MPI_Isend(t->out[i], opt.bytes, MPI_BYTE, 1, i,
				  t->comm, &reqs[i]);
		wait_for(reqs, WINDOW);
	}
	wait_for(&reqs[WINDOW], 1);
	t->stamp++;
}

static void receive_window(struct thread *t)
{
	MPI_Request reqs[WINDOW];
	uint8_t answer = 1;
	int i, j, n = opt.put ? 1 : WINDOW;

	for (i = 0; i < n; i++)
		MPI_Irecv(t->in[i], opt.put ? 0 : opt.bytes, MPI_BYTE, 0, i,
			  t->comm, &reqs[i]);
	wait_for(reqs, n);
	if (opt.put)
		MPI_Win_sync(t->win);
	for (i = 0; i < WINDOW; i++)
		for (j = 0; j < opt.bytes; j++)
			if (t->in[i][j] != byte(t, t->stamp, i, j))
				end("wrong data");
	MPI_Isend(&answer, 1, MPI_BYTE, 0, ANSWER, t->comm, reqs);
	wait_for(reqs, 1);
	t->stamp++;
}

static void windows(struct thread *t, int n)
{
	while (n--)
		rank ? receive_window(t) : send_window(t);
}

/* One thread communicates while the others wait for it. */
static void alone(struct thread *t)
{
	struct doorbells_report seen;
	size_t i;

	if (simhca_zero())
		end("the HCA does not answer");
	windows(t, 1);
	if (doorbells_look(0, &seen))
		end("the HCA does not answer");
	if (!seen.n || seen.n > MOST_QPS)
		end("the HCA heard no QP, or too many");
	for (i = 0; i < seen.n; i++)
		t->vci.qpns[i] = seen.qps[i].qpn;
	t->vci.n = seen.n;
	doorbells_put(&seen);
}

/* A thread of rank 1 answers whatever its partner sends. */
static void *run_thread(void *arg)
{
	struct thread *t = arg;
	int i;

	windows(t, 1);
	for (i = 0; i < opt.threads && !rank; i++) {
		pthread_barrier_wait(&meet);
		if (i == t->id)
			alone(t);
	}
	if (rank)
		windows(t, 1);
	for (i = 0; i < opt.rounds; i++) {
		if (!rank) {
			pthread_barrier_wait(&meet);
			pthread_barrier_wait(&meet);
		}
		windows(t, opt.windows);
		if (!rank)
			pthread_barrier_wait(&meet);
	}
	return NULL;
}

static bool same(const struct vci *a, const struct vci *b)
{
	return a->n == b->n &&
	       !memcmp(a->qpns, b->qpns, a->n * sizeof(*a->qpns));
}

/* What a VCI shares with others: the most QPs on one of its uUARs. */
static unsigned int sharers(const struct vci *vci,
			    const struct doorbells_report *seen)
{
	const struct doorbells_qp *qp;
	unsigned int most = 0;
	size_t i;

	for (i = 0; i < vci->n; i++) {
		qp = doorbells_qp(seen, vci->qpns[i]);
		if (qp && qp->sharers > most)
			most = qp->sharers;
	}
	return most;
}

/* VCIs of which each QP is on a page, or a uUAR, of its own. */
static bool has_level(const struct vci *vci,
		      const struct doorbells_report *seen, unsigned int level)
{
	const struct doorbells_qp *qp;
	size_t i;

	for (i = 0; i < vci->n; i++) {
		qp = doorbells_qp(seen, vci->qpns[i]);
		if (!qp || qp->level > level)
			return false;
	}
	return true;
}

static void report(const double *rates)
{
	struct doorbells_report seen;
	unsigned int vcis = 0, own_page = 0, own_uuar = 0, most = 0, n;
	const struct vci *vci;
	int i, j;

	if (doorbells_look(0, &seen))
		end("the HCA does not answer");
	for (i = 0; i < opt.threads; i++) {
		vci = &threads[i].vci;
		for (j = 0; j < i && !same(&threads[j].vci, vci); j++)
			;
		if (j < i)
			continue;
		vcis++;
		own_page += has_level(vci, &seen, 1);
		own_uuar += has_level(vci, &seen, 2);
		n = sharers(vci, &seen);
		if (n > most)
			most = n;
	}
	printf("mpi_vcis: threads=%d vcis=%u qps=%zu idle=%zu held=%jd pages=%zu uuars=%zu shared=%zu most=%u own_page=%u own_uuar=%u wrong_uar=%jd torn=%jd wrong=0 rates=",
	       opt.threads, vcis, seen.n, seen.silent,
	       (intmax_t)simhca_count("uar") - opt.before, seen.pages, seen.uuars, seen.shared,
	       most, own_page, own_uuar, (intmax_t)seen.wrong_uar,
	       (intmax_t)seen.torn);
	for (i = 0; i < opt.rounds; i++)
		printf("%s%.0f", i ? "," : "", rates[i]);
	printf("\n");
	doorbells_put(&seen);
}

/* What the main thread of rank 0 does while the others send: it looks at the clock. */
static void lead(void)
{
	double rates[16], began;
	int i;

	for (i = 0; i < opt.threads; i++)
		pthread_barrier_wait(&meet);
	for (i = 0; i < opt.rounds; i++) {
		pthread_barrier_wait(&meet);
		if (simhca_zero())
			end("the HCA does not answer");
		began = MPI_Wtime();
		pthread_barrier_wait(&meet);
		pthread_barrier_wait(&meet);
		rates[i] = (double)opt.threads * opt.windows * WINDOW /
			   (MPI_Wtime() - began);
	}
	report(rates);
}

static void create(struct thread *t, int id)
{
	t->id = id;
	MPI_Comm_dup(MPI_COMM_WORLD, &t->comm);
	if (!opt.put)
		return;
	MPI_Win_create(t->in, sizeof(t->in), 1, MPI_INFO_NULL, t->comm,
		       &t->win);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, t->win);
}

static void destroy(struct thread *t)
{
	if (opt.put) {
		MPI_Win_unlock_all(t->win);
		MPI_Win_free(&t->win);
	}
	MPI_Comm_free(&t->comm);
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "t:n:s:r:b:pc")) != -1) {
		if (c == 't')
			opt.threads = atoi(optarg);
		else if (c == 'n')
			opt.windows = atoi(optarg);
		else if (c == 's')
			opt.bytes = atoi(optarg);
		else if (c == 'r')
			opt.rounds = atoi(optarg);
		else if (c == 'b')
			opt.before = atoi(optarg);
		else if (c == 'p')
			opt.put = true;
		else if (c == 'c')
			opt.corrupt = true;
		else
			end("unknown option");
	}
	if (opt.threads < 1 || opt.threads > MOST_THREADS || opt.windows < 1 ||
	    opt.bytes < 1 || opt.bytes > LINE || opt.rounds < 1 ||
	    opt.rounds > 16)
		end("a number is out of its range");
}

int main(int argc, char **argv)
{
	int provided, size, i;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	parse(argc, argv);
	if (size != 2 || provided != MPI_THREAD_MULTIPLE)
		end("needs two processes and MPI_THREAD_MULTIPLE");
	pthread_barrier_init(&meet, NULL, opt.threads + 1);
	for (i = 0; i < opt.threads; i++)
		create(&threads[i], i);
	for (i = 0; i < opt.threads; i++)
		if (pthread_create(&threads[i].thread, NULL, run_thread,
				   &threads[i]))
			end("no thread");
	if (!rank)
		lead();
	for (i = 0; i < opt.threads; i++)
		pthread_join(threads[i].thread, NULL);
	for (i = 0; i < opt.threads; i++)
		destroy(&threads[i]);
	MPI_Finalize();
	return 0;
}
