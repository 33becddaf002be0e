// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two vectors in one. The compiler makes each loop twice, and the loader takes that for
 * the vectors of this processor; selftests.mk asks for -O3. The loader asks before
 * ThreadSanitizer has begun, so there it is made once.
 */
#include "schedule.h"

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

size_t nbc_size(enum nbc_type type)
{
	static const size_t sizes[NBC_TYPES] = {
		[NBC_UINT8] = 1, [NBC_INT32] = 4, [NBC_INT64] = 8,
		[NBC_UINT64] = 8, [NBC_FLOAT] = sizeof(float),
		[NBC_DOUBLE] = sizeof(double),
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

#define SUMS					\
	case NBC_SUM:				\
		EACH(from[i] + to[i]);		\
		break;				\
	case NBC_PROD:				\
		EACH(from[i] * to[i]);		\
		break

#define ORDER					\
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

/* Those of numbers that are equal differ in the sign of a zero only. */
#define REAL_ORDER(either, both, nan)			\
	case NBC_MIN:					\
		EACH(from[i] < to[i] ? from[i] :	\
		     from[i] > to[i] ? to[i] :		\
		     from[i] == to[i] ? either(from[i], to[i]) : nan); \
		break;					\
	case NBC_MAX:					\
		EACH(from[i] > to[i] ? from[i] :	\
		     from[i] < to[i] ? to[i] :		\
		     from[i] == to[i] ? both(from[i], to[i]) : nan); \
		break

/* The bits that one of two numbers has, or both. */
#define OF_BITS(name, type, whole, op)			\
static inline type name(type a, type b)			\
{							\
	union { type number; whole bits; } x = { a }, y = { b }; \
							\
	x.bits = x.bits op y.bits;			\
	return x.number;				\
}

OF_BITS(either_float, float, uint32_t, |)
OF_BITS(both_float, float, uint32_t, &)
OF_BITS(either_double, double, uint64_t, |)
OF_BITS(both_double, double, uint64_t, &)

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

FOLD(fold_uint8, uint8_t, SUMS; ORDER; BITS)
FOLD(fold_uint32, uint32_t, SUMS; BITS)
FOLD(order_int32, int32_t, ORDER)
FOLD(fold_uint64, uint64_t, SUMS; ORDER; BITS)
FOLD(order_int64, int64_t, ORDER)
FOLD(fold_float, float,
	SUMS; REAL_ORDER(either_float, both_float, __builtin_nanf("")))
FOLD(fold_double, double,
	SUMS; REAL_ORDER(either_double, both_double, __builtin_nan("")))

static bool is_order(enum nbc_op op)
{
	return op == NBC_MIN || op == NBC_MAX;
}

/* Only the order of numbers knows their sign. */
void nbc_compute(enum nbc_type type, enum nbc_op op, void *to,
		 const void *from, size_t len)
{
	size_t n = len / nbc_size(type);

	switch (type) {
	case NBC_UINT8:
		fold_uint8(op, to, from, n);
		break;
	case NBC_INT32:
		if (is_order(op))
			order_int32(op, to, from, n);
		else
			fold_uint32(op, to, from, n);
		break;
	case NBC_INT64:
		if (is_order(op))
			order_int64(op, to, from, n);
		else
			fold_uint64(op, to, from, n);
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
