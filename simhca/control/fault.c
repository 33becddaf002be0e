// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults of commands: the adapter delays or does not run certain commands.
 *
 * Invariants
 * - A command fault waits until the nth matching command has come, acts on
 *   count of them and is gone; count 0 acts until it is cleared.
 * - If several faults match a command, the first one acts on it. The others
 *   count it as well.
 * - The commands that faults made fail are recorded until the faults are
 *   cleared, so that a test can see which commands failed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/control.h"
#include "fw/cmd.h"

#define FAULTS_MAX 256u
#define HITS_MAX 64u	/* commands whose name is recorded */

struct faults {
	struct fault list[FAULTS_MAX];
	size_t count;
	uint16_t hits[HITS_MAX];
	size_t nhits;
};

/**
 * faults_init() - make the empty list
 *
 * Return: 0 or -ENOMEM
 */
int faults_init(struct hca *hca)
{
	hca->faults = calloc(1, sizeof(*hca->faults));
	return hca->faults ? 0 : -ENOMEM;
}

/**
 * faults_fini() - free the list
 */
void faults_fini(struct hca *hca)
{
	free(hca->faults);
	hca->faults = NULL;
}

/**
 * faults_report() - what command faults did since they were cleared last
 * @waiting: increased by the number of faults that wait or go on
 * @hits: gets the names of the commands that were made to fail
 */
void faults_report(struct hca *hca, struct json_object *waiting,
		 struct json_object *hits)
{
	struct faults *faults = hca->faults;
	const struct cmd_def *def;
	char opcode[8];
	size_t i;

	json_object_int_inc(waiting, (int64_t)faults->count);
	for (i = 0; i < faults->nhits && i < HITS_MAX; i++) {
		def = cmd_find(faults->hits[i]);
		snprintf(opcode, sizeof(opcode), "0x%x", faults->hits[i]);
		json_object_array_add(hits, json_object_new_string(
			def ? def->name : opcode));
	}
}

/**
 * faults_add() - add a fault, which acts on commands from now on
 *
 * Return: 0, -ENOSPC where too many faults wait
 */
int faults_add(struct hca *hca, const struct fault *fault)
{
	struct faults *faults = hca->faults;

	if (faults->count == FAULTS_MAX)
		return -ENOSPC;
	faults->list[faults->count++] = *fault;
	return 0;
}

/**
 * faults_clear() - remove all faults, and forget which commands failed
 */
void faults_clear(struct hca *hca)
{
	hca->faults->count = 0;
	hca->faults->nhits = 0;
	hca->mute = false;
	hca->wrong_uar = false;
	hca->large_uar = false;
	hca->few_uars = false;
	hca->no_wc = false;
	hca->flip = false;
}

/* Record a command that a fault acts on, unless the fault only delays it. */
static void fault_hit(struct faults *faults, const struct fault_verdict *v,
		      uint16_t opcode)
{
	if (!v->fail && !v->never)
		return;
	if (faults->nhits < HITS_MAX)
		faults->hits[faults->nhits] = opcode;
	faults->nhits++;
}

/**
 * faults_command() - what is to be done to a command?
 * @opcode: the command that came
 *
 * Return: the verdict, all zero for nothing
 */
struct fault_verdict faults_command(struct hca *hca, uint16_t opcode)
{
	struct faults *faults = hca->faults;
	struct fault_verdict verdict = { 0 };
	bool decided = false;
	struct fault *f;
	size_t i;

	for (i = 0; i < faults->count; i++) {
		f = &faults->list[i];
		if (f->opcode != FAULT_ANY_OPCODE && f->opcode != opcode)
			continue;
		if (f->nth && --f->nth)
			continue;
		if (!decided) {
			verdict = f->verdict;
			verdict.run = f->run == opcode;
		}
		decided = true;
		if (f->left != UINT64_MAX && !--f->left) {
			memmove(f, f + 1,
				(faults->count - i - 1) * sizeof(*f));
			faults->count--;
			i--;
		}
	}
	fault_hit(faults, &verdict, opcode);
	return verdict;
}
