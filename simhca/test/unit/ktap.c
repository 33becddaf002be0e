// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See ktap.h.
 */
#include "test/unit/ktap.h"

bool ktap_failed;

/**
 * ktap_main() - run tests and report in KTAP
 * @n: how many
 * @setup: runs before each, may be NULL
 * @teardown: runs after each, may be NULL
 *
 * Return: exit status: 0, or 1 where one failed
 */
int ktap_main(const struct ktap_test *tests, size_t n, void (*setup)(void),
	      void (*teardown)(void))
{
	size_t i, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n1..%zu\n", n);
	for (i = 0; i < n; i++) {
		ktap_failed = false;
		if (setup)
			setup();
		if (!ktap_failed)
			tests[i].run();
		if (teardown)
			teardown();
		failed += ktap_failed;
		printf("%sok %zu %s\n", ktap_failed ? "not " : "", i + 1,
		       tests[i].name);
	}
	return failed ? 1 : 0;
}
