/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The checks of mlx5ep selftest. Each group of checks runs in a process of its
 * own, which sends its results to the tool as one JSON object per line. A group
 * changes nothing of the device: policies are those of its own contexts. Only the
 * reloading of the module, which is asked for, takes the device away for a while.
 */
#ifndef MLX5EP_CLI_SELFTEST_H
#define MLX5EP_CLI_SELFTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <json-c/json.h>
#include <mlx5ep.h>

enum selftest_result { PASSED, FAILED, NOT_TESTABLE };

/**
 * struct selftest - what a group of checks is given
 * @device: name of the device
 * @group: name of the group, for the report
 * @fd: where results go
 */
struct selftest {
	const char *device;
	const char *group;
	int fd;
};

typedef void (*selftest_group)(struct selftest *st);

/* result.c */
void selftest_say(struct selftest *st, enum selftest_result result,
		  const char *check, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
bool selftest_expect(struct selftest *st, bool holds, const char *check,
		     const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void selftest_no_policy(struct selftest *st, const char *check);

/* report.c */
struct cli;
int report_open(const char *path);
int report_write(struct cli *cli, int fd, const char *path,
		 struct json_object *on, struct json_object *results);

/* process.c */
void selftest_process(const char *device, const char *name,
		      selftest_group group, unsigned int seconds,
		      struct json_object *results);

/* the groups, in the files of their names */
void selftest_stock(struct selftest *st);
void selftest_independent(struct selftest *st);
void selftest_shared_uar(struct selftest *st);
void selftest_shared_uuar(struct selftest *st);
void selftest_limits(struct selftest *st);
void selftest_limits_clean(void);
void selftest_events(struct selftest *st);
void selftest_notifier(struct selftest *st);
void selftest_xrc(struct selftest *st);
void selftest_reload(struct selftest *st);

/* loopback.c */
#define LOOPBACK_QPS 6
#define LOOPBACK_LEN 4096

/**
 * struct loopback - RC QPs of one context, each connected to itself
 * @channel: for the events of @cq
 * @n: QPs that exist
 * @buf: per QP LOOPBACK_LEN bytes to send and as many to receive
 */
struct loopback {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *buf;
	unsigned int n;
	struct ibv_qp *qps[LOOPBACK_QPS];
};

bool loopback_possible(const char *device);
bool loopback_managed(const char *device);
struct ibv_context *
loopback_context(const char *device,
		 const struct mlx5_ep_context_policy *policy);
int loopback_open(struct loopback *loop, const char *device,
		  const struct mlx5_ep_context_policy *policy);
int loopback_add(struct loopback *loop);
int loopback_write(struct loopback *loop, unsigned int i, const void *from,
		   uint32_t lkey, unsigned int len, int flags);
int loopback_wait(struct loopback *loop, unsigned int n);
int loopback_data(struct loopback *loop, unsigned int i);
void loopback_close(struct loopback *loop);

#endif
