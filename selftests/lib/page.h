/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The size of the system's pages, which is not 4 KiB everywhere. */
#ifndef SELFTESTS_PAGE_H
#define SELFTESTS_PAGE_H

#include <unistd.h>

static inline unsigned long page_bytes(void)
{
	return sysconf(_SC_PAGESIZE);
}

/* UAR pages of 4 KiB that a context holds which wants @n: those of whole system pages. */
static inline unsigned int page_uars(unsigned int n)
{
	unsigned int together = page_bytes() / 4096;

	return (n + together - 1) / together * together;
}

#endif
