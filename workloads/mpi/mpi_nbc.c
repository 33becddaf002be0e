// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mpi_nbc FOLDER ROUNDS SEED - the collectives of nbc_check with an MPI
 *
 * The same random collectives in the same groups, eight under way at once. Each
 * output is compared with that of a serial run, and FOLDER/RANK gets a line for it,
 * which is that of nbc_check -o.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_begin.h"

static MPI_Comm groups[PLAN_GROUPS];
static FILE *file;
static unsigned long wrong, checks;

struct item {
	struct plan_item *plan;
	struct plan_place place;
	MPI_Comm comm;
	char *in, *out;
	MPI_Request req;
};

static void prepare(struct item *it, struct plan_item *plan)
{
	int rank, n;

	it->plan = plan;
	it->comm = groups[plan->group];
	if (it->comm == MPI_COMM_NULL)
		return;
	MPI_Comm_rank(it->comm, &rank);
	MPI_Comm_size(it->comm, &n);
	it->place = (struct plan_place){ rank, n };
	it->in = malloc(plan_in_len(plan, it->place) + 1);
	it->out = malloc(plan_out_len(plan, it->place) + 1);
	if (!it->in || !it->out)
		MPI_Abort(MPI_COMM_WORLD, 1);
	plan_in(plan, it->place, it->in);
	plan_before(plan, it->place, it->out);
}

static void finish(struct item *it)
{
	size_t len;
	void *right;

	if (it->comm == MPI_COMM_NULL)
		return;
	MPI_Wait(&it->req, MPI_STATUS_IGNORE);
	len = plan_out_len(it->plan, it->place);
	right = malloc(len + 1);
	if (!right)
		MPI_Abort(MPI_COMM_WORLD, 1);
	plan_after(it->plan, it->place, right);
	checks++;
	wrong += memcmp(it->out, right, len) != 0;
	fprintf(file, "%u %u %u %u %u %zu %016jx\n", it->plan->id,
		it->plan->kind, it->plan->type, it->plan->op, it->plan->group,
		len, (uintmax_t)plan_digest(it->out, len));
	free(right);
	free(it->in);
	free(it->out);
}

static void batch(struct plan_item *plan)
{
	struct item items[PLAN_ITEMS];
	unsigned int i;

	for (i = 0; i < PLAN_ITEMS; i++)
		prepare(&items[i], &plan[i]);
	for (i = 0; i < PLAN_ITEMS; i++)
		if (items[i].comm != MPI_COMM_NULL)
			mpi_begin(items[i].comm, items[i].plan, items[i].in,
				  items[i].out, &items[i].req);
	for (i = PLAN_ITEMS; i--;)
		finish(&items[i]);
}

static void open_all(const char *folder, int rank, int n)
{
	char path[256];
	int color, key;
	unsigned int i;

	for (i = 0; i < PLAN_GROUPS; i++) {
		plan_split(i, rank, n, &color, &key);
		MPI_Comm_split(MPI_COMM_WORLD, color < 0 ? MPI_UNDEFINED : color,
			       key, &groups[i]);
	}
	snprintf(path, sizeof(path), "%s/%d", folder, rank);
	file = fopen(path, "w");
	if (!file)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
	struct plan_item items[PLAN_ITEMS];
	struct plan plan = {};
	int rank, n, round;
	unsigned long all;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (argc != 4 || n > (int)PLAN_PROCESSES)
		MPI_Abort(MPI_COMM_WORLD, 2);
	plan.state = atoi(argv[3]);
	open_all(argv[1], rank, n);
	for (round = 0; round < atoi(argv[2]); round++) {
		plan_next(&plan, items, false);
		batch(items);
		plan_next(&plan, items, true);
		batch(items);
	}
	if (fclose(file))
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Reduce(&wrong, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0,
		   MPI_COMM_WORLD);
	if (!rank)
		printf("mpi_nbc: processes=%d checks=%lu wrong=%lu\n", n,
		       checks, all);
	MPI_Finalize();
	return wrong != 0;
}
