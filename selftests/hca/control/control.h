/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How tests see into adapters and make them do wrong: the control socket
 * (control.c), what it injects (inject.c), faults of commands (fault.c), the
 * log of commands (cmdlog.c).
 */
#ifndef SIMHCA_CONTROL_H
#define SIMHCA_CONTROL_H

#include "hca.h"

/* ---- control.c */
int control_init(const char *path);
void control_fini(void);

/* ---- inject.c */
int fault_inject(struct hca *hca, struct json_object *req, const char **why);

/* ---- fault.c */
/**
 * struct fault_verdict - what an injected fault does to a command
 * @never: the command is taken and never answered
 * @fail: it is not run, and answers @status
 * @run: it is run all the same
 * @delay_ns: it runs so much later
 */
struct fault_verdict {
	bool never;
	bool fail;
	bool run;
	uint8_t status;
	uint64_t delay_ns;
};

#define FAULT_ANY_OPCODE 0u

/**
 * struct fault - a fault that waits for commands
 * @opcode: the only ones that it acts on; FAULT_ANY_OPCODE: all
 * @nth: commands to wait for, counting the one that it acts on first
 * @left: commands to act on, UINT64_MAX: all
 * @run: commands of this opcode are run all the same
 * @verdict: what it does to a command
 */
struct fault {
	uint16_t opcode;
	uint64_t nth;
	uint64_t left;
	uint16_t run;
	struct fault_verdict verdict;
};

int faults_init(struct hca *hca);
void faults_fini(struct hca *hca);
int faults_add(struct hca *hca, const struct fault *fault);
void faults_report(struct hca *hca, struct json_object *waiting,
		   struct json_object *hits);
void faults_clear(struct hca *hca);
struct fault_verdict faults_command(struct hca *hca, uint16_t opcode);

/* ---- cmdlog.c */
int cmdlog_init(struct hca *hca);
void cmdlog_fini(struct hca *hca);
void cmdlog_add(const struct cmd *cmd, uint8_t status);
void cmdlog_clear(struct hca *hca);
struct json_object *cmdlog_counts(struct hca *hca);
struct json_object *cmdlog_since(uint64_t since, uint64_t *next);

#endif
