/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The kernel's kselftest harness with longer limits: see patience.h. */
#ifndef SELFTESTS_KSELFTEST_HARNESS_H
#define SELFTESTS_KSELFTEST_HARNESS_H

#include_next <kselftest_harness.h>

#include "patience.h"

/*
 * The harness uses this macro where a test is defined, so it holds from here
 * on.
 */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT (30 * PATIENCE)

#undef TEST_F_TIMEOUT
#define TEST_F_TIMEOUT(fixture_name, test_name, timeout) \
	__TEST_F_IMPL(fixture_name, test_name, -1, (timeout) * PATIENCE)

static inline int run_patiently(int argc, char **argv)
{
	struct __fixture_metadata *f;
	struct __test_metadata *t;

	for (f = __fixture_list; f; f = f->next)
		for (t = f->tests; t; t = t->next)
			t->timeout *= patience_factor();
	return test_harness_run(argc, argv);
}

#undef TEST_HARNESS_MAIN
#define TEST_HARNESS_MAIN \
	int main(int argc, char **argv) { return run_patiently(argc, argv); }

#endif
