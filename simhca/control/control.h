/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tests use the control socket (control.c) to read the state of adapters and to
 * inject faults (inject.c). Faults of commands wait in fault.c. The log of
 * commands is in cmdlog.c.
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
 * struct fault_verdict - the effect of an injected fault on one command
 * @never: the adapter takes the command and never answers it
 * @fail: the adapter does not run the command and answers @status
 * @run: with @fail or @never: the adapter runs the command nevertheless
 * @delay_ns: the adapter runs the command after this delay
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
 * @opcode: commands that match the fault; FAULT_ANY_OPCODE: all commands
 * @nth: the fault acts first on the @nth matching command from now, from 1
 * @left: matching commands that it still acts on; UINT64_MAX: no limit
 * @run: commands with this opcode fail, but run nevertheless
 * @verdict: the effect on each command
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
