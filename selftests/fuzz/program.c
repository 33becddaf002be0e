// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Programs of calls: made, changed, written and read. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

static uint64_t state = 1;

/* xorshift64*: the same numbers from the same seed everywhere. */
uint64_t fuzz_random(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dULL;
}

void fuzz_seed(uint64_t seed)
{
	int i;

	state = seed * 0x9e3779b97f4a7c15ULL + 1;
	for (i = 0; i < 8; i++)
		fuzz_random();
}

static uint64_t below(uint64_t n)
{
	return (fuzz_random() >> 16) % n;
}

/* Mostly small numbers, which name objects and sizes that exist. */
static uint64_t make_arg(void)
{
	static const uint64_t edges[] = {
		16, 64, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 65535,
		65536, 1u << 20, 0x7fffffff, 0x80000000, 0xffffffff,
		1ULL << 32, 0x7fffffffffffffff, ~0ULL,
	};

	switch (below(10)) {
	case 0 ... 6:
		return below(9);
	case 7:
		return edges[below(sizeof(edges) / sizeof(edges[0]))];
	case 8:
		return 1ULL << below(64);
	default:
		return fuzz_random();
	}
}

static void make_call(struct fuzz_call *call)
{
	unsigned int total = 0, i;
	uint64_t pick;

	for (i = 0; i < fuzz_n_ops; i++)
		total += fuzz_ops[i].weight;
	pick = below(total);
	for (i = 0; pick >= fuzz_ops[i].weight; i++)
		pick -= fuzz_ops[i].weight;
	call->op = i;
	call->aside = !below(8);
	for (i = 0; i < FUZZ_ARGS; i++)
		call->arg[i] = make_arg();
	/* The first argument of a method says what is wrong with the call. */
	if (below(4))
		call->arg[0] = 0;
}

void fuzz_make(struct fuzz_program *program)
{
	unsigned int i;

	program->found = 0;
	program->n = 1 + below(FUZZ_CALLS);
	for (i = 0; i < program->n; i++)
		make_call(&program->calls[i]);
}

static void mutate_once(struct fuzz_program *p,
			const struct fuzz_program *other)
{
	unsigned int at = below(p->n), keep;
	uint64_t *arg = &p->calls[at].arg[below(FUZZ_ARGS)];

	switch (below(8)) {
	case 0:
		*arg = make_arg();
		break;
	case 1:
		*arg += below(2) ? 1 : -1;
		break;
	case 2:
		*arg ^= 1ULL << below(64);
		break;
	case 3:
		make_call(&p->calls[at]);
		break;
	case 4:
		p->calls[at].aside ^= true;
		break;
	case 5:
		if (p->n == 1)
			break;
		memmove(&p->calls[at], &p->calls[at + 1],
			(p->n - at - 1) * sizeof(p->calls[0]));
		p->n--;
		break;
	case 6:
		if (p->n == FUZZ_CALLS)
			break;
		memmove(&p->calls[at + 1], &p->calls[at],
			(p->n - at) * sizeof(p->calls[0]));
		p->n++;
		if (below(2))
			make_call(&p->calls[at]);
		break;
	default:
		keep = other->n < FUZZ_CALLS - at ? other->n : FUZZ_CALLS - at;
		memcpy(&p->calls[at], other->calls,
		       keep * sizeof(p->calls[0]));
		p->n = at + keep;
	}
}

void fuzz_mutate(struct fuzz_program *program,
		 const struct fuzz_program *other)
{
	unsigned int n = 1 + below(4);

	program->found = 0;
	while (n--)
		mutate_once(program, other);
}

unsigned int fuzz_cost(const struct fuzz_program *program)
{
	unsigned int cost = 0, i;

	for (i = 0; i < program->n; i++)
		cost += 1 + 256 / fuzz_ops[program->calls[i].op].weight;
	return cost;
}

void fuzz_print(FILE *file, const struct fuzz_program *program)
{
	const struct fuzz_call *call;
	unsigned int i, k;

	if (program->found)
		fprintf(file, "# %u edges\n", program->found);
	for (i = 0; i < program->n; i++) {
		call = &program->calls[i];
		fprintf(file, "%s%s", call->aside ? "&" : "",
			fuzz_ops[call->op].name);
		for (k = 0; k < FUZZ_ARGS; k++)
			fprintf(file, " %#" PRIx64, call->arg[k]);
		fputc('\n', file);
	}
	fputc('\n', file);
}

static int parse_call(char *line, struct fuzz_call *call)
{
	char *save, *word = strtok_r(line, "\n ", &save), *end;
	int k;

	call->aside = word && *word == '&';
	for (call->op = 0; word && call->op < fuzz_n_ops; call->op++)
		if (!strcmp(word + call->aside, fuzz_ops[call->op].name))
			break;
	if (!word || call->op == fuzz_n_ops)
		return -EINVAL;
	for (k = 0; k < FUZZ_ARGS; k++) {
		word = strtok_r(NULL, "\n ", &save);
		call->arg[k] = word ? strtoull(word, &end, 0) : 0;
		if (word && *end)
			return -EINVAL;
	}
	return strtok_r(NULL, "\n ", &save) ? -EINVAL : 0;
}

int fuzz_parse(FILE *file, struct fuzz_program *program)
{
	char line[256];

	program->n = 0;
	program->found = 0;
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#')
			continue;
		if (line[0] == '\n') {
			if (program->n)
				return 1;
			continue;
		}
		if (program->n == FUZZ_CALLS ||
		    parse_call(line, &program->calls[program->n++]))
			return -EINVAL;
	}
	return !!program->n;
}
