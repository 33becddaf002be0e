// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The record of commands: a counter per opcode and adapter, and a log of the
 * last CMDLOG_LEN commands of all adapters.
 *
 * Invariants
 * - Sequence numbers start at 1, grow by one and are never given twice.
 * - The log has the fields of a command that its handler passed to cmd_note().
 *   Addresses are not among them, so that two equal runs have equal logs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/log.h"
#include "control/control.h"
#include "fw/cmd.h"

#define CMDLOG_LEN 8192u
#define CMDLOG_OPCODES 0x1000u

struct cmd_counter {
	uint64_t count;
	uint64_t failed;
};

struct cmdlog {
	struct cmd_counter by_opcode[CMDLOG_OPCODES];
};

struct cmdlog_entry {
	uint64_t seq;
	unsigned int hca;
	uint16_t opcode;
	uint16_t uid;
	uint8_t status;
	struct json_object *key;
};

/* All adapters share one log, so that it has the order between adapters. */
static struct cmdlog_entry ring[CMDLOG_LEN];
static uint64_t ring_next = 1;

/**
 * cmdlog_init() - make an adapter's counters
 *
 * Return: 0 or -ENOMEM
 */
int cmdlog_init(struct hca *hca)
{
	hca->cmdlog = calloc(1, sizeof(*hca->cmdlog));
	return hca->cmdlog ? 0 : -ENOMEM;
}

/**
 * cmdlog_fini() - free an adapter's counters, and the log
 */
void cmdlog_fini(struct hca *hca)
{
	unsigned int i;

	free(hca->cmdlog);
	hca->cmdlog = NULL;
	for (i = 0; i < CMDLOG_LEN; i++) {
		json_object_put(ring[i].key);
		ring[i] = (struct cmdlog_entry){ 0 };
	}
}

/**
 * cmdlog_clear() - set an adapter's counters to 0; the log stays
 */
void cmdlog_clear(struct hca *hca)
{
	*hca->cmdlog = (struct cmdlog){ 0 };
}

static const char *opcode_name(uint16_t opcode, char *buf, size_t len)
{
	const struct cmd_def *def = cmd_find(opcode);

	if (def)
		return def->name;
	snprintf(buf, len, "0x%x", opcode);
	return buf;
}

/**
 * cmdlog_add() - take note of a command
 * @cmd: the command, after it was run
 * @status: what it answered
 */
void cmdlog_add(const struct cmd *cmd, uint8_t status)
{
	struct cmdlog_entry *entry = &ring[ring_next % CMDLOG_LEN];
	struct cmd_counter *counter;
	char name[16];

	counter = &cmd->hca->cmdlog->by_opcode[cmd->opcode % CMDLOG_OPCODES];
	counter->count++;
	counter->failed += status != 0;
	json_object_put(entry->key);
	*entry = (struct cmdlog_entry){ .seq = ring_next++,
					.hca = cmd->hca->index,
					.opcode = cmd->opcode,
					.uid = cmd->uid,
					.status = status,
					.key = json_object_get(cmd->key) };
	log_debug("hca%u: %s op_mod 0x%x uid %u: status 0x%x %s",
		  cmd->hca->index,
		  opcode_name(cmd->opcode, name, sizeof(name)), cmd->op_mod,
		  cmd->uid, status, json_object_to_json_string(cmd->key));
}

/**
 * cmdlog_counts() - the counters
 *
 * Return: a new JSON object: name to count and failed, 0 left out
 */
struct json_object *cmdlog_counts(struct hca *hca)
{
	struct json_object *all = json_object_new_object(), *o;
	const struct cmd_counter *c;
	char name[16];
	unsigned int i;

	for (i = 0; i < CMDLOG_OPCODES; i++) {
		c = &hca->cmdlog->by_opcode[i];
		if (!c->count)
			continue;
		o = json_object_new_object();
		json_add_number(o, "count", c->count);
		json_add_number(o, "failed", c->failed);
		json_object_object_add(all, opcode_name(i, name, sizeof(name)),
				       o);
	}
	return all;
}

/**
 * cmdlog_since() - the log from a sequence number on
 * @since: the first number that is wanted; older ones may be gone
 * @next: set to the number that the next command will get
 *
 * Return: a new JSON array
 */
struct json_object *cmdlog_since(uint64_t since, uint64_t *next)
{
	struct json_object *log = json_object_new_array(), *o;
	const struct cmdlog_entry *entry;
	char name[16];
	uint64_t seq;

	seq = ring_next > CMDLOG_LEN ? ring_next - CMDLOG_LEN + 1 : 1;
	for (seq = since > seq ? since : seq; seq < ring_next; seq++) {
		entry = &ring[seq % CMDLOG_LEN];
		o = json_object_new_object();
		json_add_number(o, "seq", seq);
		json_add_number(o, "hca", entry->hca);
		json_object_object_add(
			o, "op",
			json_object_new_string(opcode_name(
				entry->opcode, name, sizeof(name))));
		json_add_number(o, "status", entry->status);
		json_add_number(o, "uid", entry->uid);
		json_object_object_add(o, "key", json_object_get(entry->key));
		json_object_array_add(log, o);
	}
	*next = ring_next;
	return log;
}
