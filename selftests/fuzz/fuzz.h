/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The fuzzer of the module's uapi. A program is a sequence of calls. A session is a
 * fresh process with a context that runs some programs one after the other. The
 * objects that a program leaves are there for the next ones of the session, so what
 * repeats a failure is the session and not one program.
 */
#ifndef SELFTESTS_FUZZ_H
#define SELFTESTS_FUZZ_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rdma/mlx5_ep_notifier.h>

#include "lib/verbs.h"

#define FUZZ_ARGS 6
#define FUZZ_CALLS 12
#define FUZZ_PROGRAMS 256	/* of a session */
#define FUZZ_SLOTS 8		/* objects of a kind that a session knows */
#define FUZZ_EDGES 65536
#define FUZZ_OPS_MAX 48
#define FUZZ_MEM_PAGES 2048u	/* memory that calls map, watch and change */

struct fuzz_call {
	unsigned int op;	/* index in fuzz_ops */
	bool aside;		/* in the second thread */
	uint64_t arg[FUZZ_ARGS];
};

struct fuzz_program {
	unsigned int n;
	unsigned int found;	/* edges, when it was kept */
	struct fuzz_call calls[FUZZ_CALLS];
};

/* What the process of a session has. Handles may be of objects that are gone. */
struct fuzz_session {
	struct verbs_setup setup;
	pthread_mutex_t verbs;	/* of all that libibverbs made */
	struct ibv_pd *td_pd;
	struct ibv_qp *qps[FUZZ_SLOTS];
	struct ibv_xrcd *xrcds[2];
	int raw[2];		/* contexts without libmlx5 */
	uint32_t regs[FUZZ_SLOTS];
	uint32_t next_reg, reg_num;
	int notifiers[2];
	struct mlx5_ep_watch_ref refs[FUZZ_SLOTS];
	uint32_t next_ref;
	uint8_t *mem;
	int pipe[2];
	int exporter, dmabufs[2];
};

struct fuzz_op {
	const char *name;
	/* How often new calls are of this kind: less often what takes long. */
	unsigned int weight;
	void (*run)(struct fuzz_session *s, const uint64_t *arg);
};

extern const struct fuzz_op fuzz_ops[];
extern const unsigned int fuzz_n_ops;

/* What the session's process tells the one that started it. */
struct fuzz_shared {
	uint8_t edges[FUZZ_EDGES];
	unsigned int n_edges;
	unsigned int done;	/* programs that have ended */
	/* Calls of a program up to the last one that found an edge. */
	unsigned int useful[FUZZ_PROGRAMS];
	unsigned int found[FUZZ_PROGRAMS];	/* edges */
	/* Of each kind of call: how many were made, and what they took. */
	uint64_t calls[FUZZ_OPS_MAX], ns[FUZZ_OPS_MAX];
};

/* Programs: made, changed, written and read (program.c). */
uint64_t fuzz_random(void);
void fuzz_seed(uint64_t seed);
void fuzz_make(struct fuzz_program *program);
void fuzz_mutate(struct fuzz_program *program,
		 const struct fuzz_program *other);
void fuzz_print(FILE *file, const struct fuzz_program *program);
/* What a program takes about, in calls of a method. */
unsigned int fuzz_cost(const struct fuzz_program *program);
/* Return: 1 where a program was read, 0 at the end, -EINVAL. */
int fuzz_parse(FILE *file, struct fuzz_program *program);

/* Edges that the calling thread runs in the module (cover.c). */
int cover_start(struct fuzz_shared *shared);
/* Add the edges since the last call. Return: how many nobody had found. */
unsigned int cover_collect(void);

/* A uverbs method of the module, by its index in the table (methods.c). */
void method_run(struct fuzz_session *s, unsigned int index,
		const uint64_t *arg);

/* Open the context of a session, or close it with all it has (objects.c). */
int objects_open(struct fuzz_session *s);
void objects_close(struct fuzz_session *s);
uint32_t objects_xrcd_handle(struct fuzz_session *s, uint64_t which);
void op_ctx_open(struct fuzz_session *s, const uint64_t *a);
void op_ctx_raw(struct fuzz_session *s, const uint64_t *a);
void op_qp_create(struct fuzz_session *s, const uint64_t *a);
void op_qp_destroy(struct fuzz_session *s, const uint64_t *a);
void op_qp_modify(struct fuzz_session *s, const uint64_t *a);
void op_devx_qp(struct fuzz_session *s, const uint64_t *a);
void op_xrcd_open(struct fuzz_session *s, const uint64_t *a);
void op_xrcd_close(struct fuzz_session *s, const uint64_t *a);

/* Calls on the file of a notifier and on memory (watches.c). */
void op_watch_add(struct fuzz_session *s, const uint64_t *a);
void op_watch_del(struct fuzz_session *s, const uint64_t *a);
void op_watch_verify(struct fuzz_session *s, const uint64_t *a);
void op_file_ioctl(struct fuzz_session *s, const uint64_t *a);
void op_file_read(struct fuzz_session *s, const uint64_t *a);
void op_file_poll(struct fuzz_session *s, const uint64_t *a);
void op_file_mmap(struct fuzz_session *s, const uint64_t *a);
void op_file_open(struct fuzz_session *s, const uint64_t *a);
void op_file_close(struct fuzz_session *s, const uint64_t *a);
void op_mem_map(struct fuzz_session *s, const uint64_t *a);
void op_mem_unmap(struct fuzz_session *s, const uint64_t *a);
void op_mem_advise(struct fuzz_session *s, const uint64_t *a);
void op_mem_protect(struct fuzz_session *s, const uint64_t *a);
void op_mem_move(struct fuzz_session *s, const uint64_t *a);
void op_mem_write(struct fuzz_session *s, const uint64_t *a);

/* dma-bufs, which a method watches (dmabufs.c). */
void dmabufs_open(struct fuzz_session *s);
int dmabufs_fd(struct fuzz_session *s, uint64_t which);
void op_dmabuf_make(struct fuzz_session *s, const uint64_t *a);
void op_dmabuf_move(struct fuzz_session *s, const uint64_t *a);

/* Files of the module in sysfs and debugfs (settings.c). */
void op_sysfs_write(struct fuzz_session *s, const uint64_t *a);
void op_sysfs_read(struct fuzz_session *s, const uint64_t *a);
void op_debugfs_read(struct fuzz_session *s, const uint64_t *a);
void op_param_write(struct fuzz_session *s, const uint64_t *a);
void op_rebind(struct fuzz_session *s, const uint64_t *a);
/* Remember the parameters; later set everything back. */
void settings_save(void);
void settings_restore(void);

/* CLOCK_MONOTONIC in ns (session.c). */
uint64_t fuzz_now(void);

/* The process of a session: runs its programs and ends (session.c). */
void session_run(struct fuzz_shared *shared,
		 const struct fuzz_program *programs, unsigned int n)
	__attribute__((noreturn));

#endif
