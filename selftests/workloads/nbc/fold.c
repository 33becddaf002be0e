// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two vectors in one. The compiler makes each loop twice, and the loader takes that for
 * the vectors of this processor; selftests.mk asks for -O3.
 */
#include "schedule.h"

#ifdef __x86_64__
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

size_t nbc_size(enum nbc_type type)
{
	static const size_t sizes[NBC_TYPES] = {
		[NBC_UINT8] = 1, [NBC_INT32] = 4, [NBC_UINT64] = 8,
		[NBC_FLOAT] = sizeof(float), [NBC_DOUBLE] = sizeof(double),
	};

	return sizes[type];
}

bool nbc_has_op(enum nbc_type type, enum nbc_op op)
{
	return op < NBC_BAND || type < NBC_FLOAT;
}

#define EACH(expression)			\
	do {					\
		for (i = 0; i < n; i++)		\
			to[i] = (expression);	\
	} while (0)

#define NUMBERS					\
	case NBC_SUM:				\
		EACH(from[i] + to[i]);		\
		break;				\
	case NBC_PROD:				\
		EACH(from[i] * to[i]);		\
		break;				\
	case NBC_MIN:				\
		EACH(from[i] < to[i] ? from[i] : to[i]); \
		break;				\
	case NBC_MAX:				\
		EACH(from[i] > to[i] ? from[i] : to[i]); \
		break

#define BITS					\
	case NBC_BAND:				\
		EACH(from[i] & to[i]);		\
		break;				\
	case NBC_BOR:				\
		EACH(from[i] | to[i]);		\
		break;				\
	case NBC_BXOR:				\
		EACH(from[i] ^ to[i]);		\
		break

#define FOLD(name, type, cases)					\
FOR_EACH_PROCESSOR						\
static void name(enum nbc_op op, type *restrict to,		\
		 const type *restrict from, size_t n)		\
{								\
	size_t i;						\
								\
	switch (op) {						\
	cases;							\
	default:						\
		break;						\
	}							\
}

FOLD(fold_uint8, uint8_t, NUMBERS; BITS)
FOLD(fold_int32, int32_t, NUMBERS; BITS)
FOLD(fold_uint64, uint64_t, NUMBERS; BITS)
FOLD(fold_float, float, NUMBERS)
FOLD(fold_double, double, NUMBERS)

void nbc_compute(enum nbc_type type, enum nbc_op op, void *to,
		 const void *from, size_t len)
{
	size_t n = len / nbc_size(type);

	switch (type) {
	case NBC_UINT8:
		fold_uint8(op, to, from, n);
		break;
	case NBC_INT32:
		fold_int32(op, to, from, n);
		break;
	case NBC_UINT64:
		fold_uint64(op, to, from, n);
		break;
	case NBC_FLOAT:
		fold_float(op, to, from, n);
		break;
	case NBC_DOUBLE:
		fold_double(op, to, from, n);
		break;
	default:
		break;
	}
}
