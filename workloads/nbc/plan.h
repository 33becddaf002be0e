/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Random collectives, and what a serial run makes of them: the same for every
 * library of collectives that is to be compared. Whoever has the same seed has the
 * same plan. Whole numbers have random bits, so sums and products wrap around. Sums
 * and products of floating-point numbers are exact, so they do not depend on their
 * order: the numbers to be added are multiples of one power of two, with a sign, and
 * those to be multiplied are powers of two.
 */
#ifndef SELFTESTS_NBC_PLAN_H
#define SELFTESTS_NBC_PLAN_H

#include "schedule.h"

#define PLAN_GROUPS	4u
#define PLAN_ITEMS	8u	/* under way at once */
#define PLAN_PROCESSES	16u

/**
 * struct plan_item - a collective
 * @id: of its values
 * @group: of plan_split()
 * @pick: the root, modulo the processes of the group
 * @count: elements of a part
 * @odd: among the numbers whose minimum or maximum is asked for are zeros of both
 *	signs, infinities, and NaNs
 */
struct plan_item {
	unsigned int id, group, pick, count;
	enum nbc_kind kind;
	enum nbc_type type;
	enum nbc_op op;
	bool odd;
};

/* @odd: of all items. MPI does not say what comes out, and differs by process */
struct plan {
	uint64_t state;
	unsigned int id;
	bool odd;
};

/* Where an item runs: rank and number of processes in its group. */
struct plan_place {
	unsigned int rank, n;
};

/* The next PLAN_ITEMS. With @again those of the last time, with other values. */
void plan_next(struct plan *plan, struct plan_item *items, bool again);

/* Color and key with which process @rank of @n is split into a group. */
void plan_split(unsigned int group, unsigned int rank, unsigned int n,
		int *color, int *key);

static inline unsigned int plan_root(const struct plan_item *item,
				     unsigned int n)
{
	return item->pick % n;
}

/*
 * Lengths of the parts of NBC_GATHERV and NBC_ALLTOALLV and where they begin, in
 * elements. There is a gap of an element between two parts. @out: parts that the
 * process gets
 */
void plan_parts(const struct plan_item *item, struct plan_place place,
		bool out, size_t *lens, size_t *at);

/* Bytes of input and output, 0 where the process has none. */
size_t plan_in_len(const struct plan_item *item, struct plan_place place);
size_t plan_out_len(const struct plan_item *item, struct plan_place place);

/* What is there before, and what the output is afterwards. */
void plan_in(const struct plan_item *item, struct plan_place place, void *in);
void plan_before(const struct plan_item *item, struct plan_place place,
		 void *out);
void plan_after(const struct plan_item *item, struct plan_place place,
		void *out);

/* A number for the bytes of an output. */
uint64_t plan_digest(const void *out, size_t len);

#endif
