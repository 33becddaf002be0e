// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The table of am_logp; see table.h. */
#include <stdio.h>
#include <string.h>

#include "table.h"

#define ROWS 32u

static struct {
	const char *name;
	unsigned int len;
	struct logp_cost cost;
} rows[ROWS];

static struct {
	const char *name, *of;
	double instructions, ns;
} adds[ROWS];

static struct {
	const char *policy, *category;
	struct logp_cost cost;
} placements[ROWS];

static unsigned int n_rows, n_adds, n_placements;

void logp_row(const char *name, unsigned int len, const struct logp_cost *cost)
{
	if (n_rows == ROWS)
		return;
	rows[n_rows].name = name;
	rows[n_rows].len = len;
	rows[n_rows++].cost = *cost;
}

void logp_add(const char *name, const char *of, double instructions, double ns)
{
	if (n_adds == ROWS)
		return;
	adds[n_adds].name = name;
	adds[n_adds].of = of;
	adds[n_adds].instructions = instructions;
	adds[n_adds++].ns = ns;
}

void logp_per_byte(void)
{
	unsigned int i;
	double more;

	for (i = 1; i < n_rows; i++) {
		if (strcmp(rows[i - 1].name, rows[i].name))
			continue;
		more = (double)rows[i].len - rows[i - 1].len;
		logp_add("per byte (G)", rows[i].name,
			 (logp_whole(&rows[i].cost) -
			  logp_whole(&rows[i - 1].cost)) / more,
			 (rows[i].cost.time.low -
			  rows[i - 1].cost.time.low) / more);
	}
}

void logp_placement(const char *policy, const char *category,
		    const struct logp_cost *cost)
{
	if (n_placements == ROWS)
		return;
	placements[n_placements].policy = policy;
	placements[n_placements].category = category;
	placements[n_placements++].cost = *cost;
}

/* What the busier side pays for each message. */
static double gap(const struct logp_cost *c)
{
	double sender = c->send + c->done;

	return sender > c->recv ? sender : c->recv;
}

static double instructions(const struct logp_cost *c)
{
	return c->send + c->recv + c->done;
}

/* Of the instructions at both ends to those of a raw RDMA write. */
static double ratio(const struct logp_cost *c)
{
	unsigned int i;

	for (i = 0; i < n_rows; i++)
		if (!strcmp(rows[i].name, LOGP_REFERENCE))
			return instructions(c) / instructions(&rows[i].cost);
	return 0;
}

static void print_costs(const struct logp_cost *c)
{
	const struct logp_time *t = &c->time;

	printf("\"o_send\":%.0f,\"o_recv\":%.0f,\"o_done\":%.0f,\"latency\":%.0f,\"gap\":%.0f,",
	       c->send, c->recv, c->done, c->send + c->recv, gap(c));
	printf("\"time\":%.0f,\"time_low\":%.0f,\"time_high\":%.0f,\"ratio\":%.3f}",
	       t->ns, t->low, t->high, ratio(c));
}

static void print_json(void)
{
	unsigned int i;

	printf("{\"unit\":\"instructions\",\"primitives\":[");
	for (i = 0; i < n_rows; i++) {
		printf("%s{\"primitive\":\"%s\",\"bytes\":%u,", i ? "," : "",
		       rows[i].name, rows[i].len);
		print_costs(&rows[i].cost);
	}
	printf("],\"placements\":[");
	for (i = 0; i < n_placements; i++) {
		printf("%s{\"policy\":\"%s\",\"category\":\"%s\",", i ? "," : "",
		       placements[i].policy, placements[i].category);
		print_costs(&placements[i].cost);
	}
	printf("],\"adds\":[");
	for (i = 0; i < n_adds; i++)
		printf("%s{\"what\":\"%s\",\"of\":\"%s\",\"instructions\":%.3f,\"time\":%.3f}",
		       i ? "," : "", adds[i].name, adds[i].of,
		       adds[i].instructions, adds[i].ns);
	printf("]}\n");
}

static void print_numbers(const struct logp_cost *c)
{
	const struct logp_time *t = &c->time;

	printf(" %8.0f %8.0f %8.0f %8.0f %8.0f", c->send, c->recv, c->done,
	       c->send + c->recv, gap(c));
	printf(" %8.0f %8.0f %8.0f %6.2f\n", t->ns, t->low, t->high, ratio(c));
}

static void print_titles(const char *first, const char *second)
{
	printf("%-20s %14s %8s %8s %8s %8s %8s %8s %8s %8s %6s\n", first, second,
	       "o_send", "o_recv", "o_done", "latency", "gap", "time", "low",
	       "high", "ratio");
}

void logp_print(bool json)
{
	unsigned int i;

	if (json) {
		print_json();
		return;
	}
	print_titles("primitive", "bytes");
	for (i = 0; i < n_rows; i++) {
		printf("%-20s %14u", rows[i].name, rows[i].len);
		print_numbers(&rows[i].cost);
	}
	putchar('\n');
	print_titles("am_request, policy", "category");
	for (i = 0; i < n_placements; i++) {
		printf("%-20s %14s", placements[i].policy,
		       placements[i].category);
		print_numbers(&placements[i].cost);
	}
	printf("\n%-20s %-35s %12s %10s\n", "what", "of", "instructions",
	       "time");
	for (i = 0; i < n_adds; i++)
		printf("%-20s %-35s %12.3f %10.3f\n", adds[i].name,
		       adds[i].of, adds[i].instructions, adds[i].ns);
}
