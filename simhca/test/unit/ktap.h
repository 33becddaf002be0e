/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * KTAP output for the tests of simhca. Each test is a function. CHECK() ends
 * the test at the first condition that is false.
 */
#ifndef SIMHCA_UNIT_KTAP_H
#define SIMHCA_UNIT_KTAP_H

#include <stdbool.h>
#include <stdio.h>

struct ktap_test {
	const char *name;
	void (*run)(void);
};

extern bool ktap_failed;

#define CHECK(cond)                                                        \
	do {                                                               \
		if (!(cond)) {                                             \
			printf("# %s:%d: not so: %s\n", __FILE__, __LINE__, \
			       #cond);                                     \
			ktap_failed = true;                                \
			return;                                            \
		}                                                          \
	} while (0)

#define CHECK_EQ(a, b)                                                     \
	do {                                                               \
		unsigned long long a_ = (a), b_ = (b);                     \
		if (a_ != b_) {                                            \
			printf("# %s:%d: %s is 0x%llx, not %s 0x%llx\n",    \
			       __FILE__, __LINE__, #a, a_, #b, b_);        \
			ktap_failed = true;                                \
			return;                                            \
		}                                                          \
	} while (0)

int ktap_main(const struct ktap_test *tests, size_t n, void (*setup)(void),
	      void (*teardown)(void));

#endif
