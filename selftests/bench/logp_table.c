// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The table of am_logp; see logp_table.h. */
#include <stdio.h>

#include "logp_table.h"

#define ROWS 32u

static struct {
	const char *name;
	unsigned int len;
	struct logp_cost cost;
} rows[ROWS];

static struct {
	const char *name, *of;
	double instructions;
} adds[ROWS];

static unsigned int n_rows, n_adds;

void logp_row(const char *name, unsigned int len, const struct logp_cost *cost)
{
	if (n_rows == ROWS)
		return;
	rows[n_rows].name = name;
	rows[n_rows].len = len;
	rows[n_rows++].cost = *cost;
}

void logp_add(const char *name, const char *of, double instructions)
{
	if (n_adds == ROWS)
		return;
	adds[n_adds].name = name;
	adds[n_adds].of = of;
	adds[n_adds++].instructions = instructions;
}

/* What the busier side pays for each message. */
static double gap(const struct logp_cost *c)
{
	double sender = c->send + c->done;

	return sender > c->recv ? sender : c->recv;
}

static void print_json(void)
{
	const struct logp_cost *c;
	unsigned int i;

	printf("{\"unit\":\"instructions\",\"primitives\":[");
	for (i = 0; i < n_rows; i++) {
		c = &rows[i].cost;
		printf("%s{\"primitive\":\"%s\",\"bytes\":%u,\"o_send\":%.0f,\"o_recv\":%.0f,\"o_done\":%.0f,\"latency\":%.0f,\"gap\":%.0f}",
		       i ? "," : "", rows[i].name, rows[i].len, c->send,
		       c->recv, c->done, c->send + c->recv, gap(c));
	}
	printf("],\"adds\":[");
	for (i = 0; i < n_adds; i++)
		printf("%s{\"what\":\"%s\",\"of\":\"%s\",\"instructions\":%.3f}",
		       i ? "," : "", adds[i].name, adds[i].of,
		       adds[i].instructions);
	printf("]}\n");
}

void logp_print(bool json)
{
	const struct logp_cost *c;
	unsigned int i;

	if (json) {
		print_json();
		return;
	}
	printf("%-20s %7s %8s %8s %8s %8s %8s\n", "primitive", "bytes",
	       "o_send", "o_recv", "o_done", "latency", "gap");
	for (i = 0; i < n_rows; i++) {
		c = &rows[i].cost;
		printf("%-20s %7u %8.0f %8.0f %8.0f %8.0f %8.0f\n",
		       rows[i].name, rows[i].len, c->send, c->recv, c->done,
		       c->send + c->recv, gap(c));
	}
	printf("\n%-20s %-35s %12s\n", "what", "of", "instructions");
	for (i = 0; i < n_adds; i++)
		printf("%-20s %-35s %12.3f\n", adds[i].name, adds[i].of,
		       adds[i].instructions);
}
