// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ucx_puts - puts a buffer through UCX again and again, and runs commands in between
 *
 * usage: ucx_puts PUTS [COMMAND PUTS]...
 *
 * Prints "puts: right N of M" for all of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucx_link.h"

#define LENGTH 65536

static int puts_right(struct ucx_link *link, char *buffer, int puts)
{
	static int stamp;
	int i, right = 0;

	for (i = 0; i < puts; i++) {
		memset(buffer, ++stamp, LENGTH);
		ucx_link_put(link, buffer, 0, LENGTH);
		right += !memcmp(link->remote, buffer, LENGTH);
	}
	return right;
}

int main(int argc, char **argv)
{
	char *buffer = aligned_alloc(4096, LENGTH);
	int i, all = 0, right = 0;
	struct ucx_link link = {};

	if (argc < 2 || argc % 2 || !buffer) {
		fprintf(stderr, "usage: ucx_puts PUTS [COMMAND PUTS]...\n");
		return 2;
	}
	ucx_link_init(UCP_FEATURE_RMA, false);
	ucx_link_open(&link, LENGTH);
	for (i = 1; i < argc; i += 2) {
		if (i > 1 && system(argv[i - 1]))
			return 1;
		all += atoi(argv[i]);
		right += puts_right(&link, buffer, atoi(argv[i]));
	}
	printf("puts: right %d of %d\n", right, all);
	ucx_link_close(&link);
	ucx_link_cleanup();
	free(buffer);
	return 0;
}
