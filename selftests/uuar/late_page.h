/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two pages of which the second is missing: who reads or writes there waits until a
 * thread of the test has seen it, and gives the page.
 */
#ifndef SELFTESTS_LATE_PAGE_H
#define SELFTESTS_LATE_PAGE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LATE_PAGE 4096

struct late_page {
	char *pages;
	int uffd;
};

/* Return: 0 or -errno. */
static inline int late_page_make(struct late_page *late)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range.len = LATE_PAGE,
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	late->pages = mmap(NULL, 2 * LATE_PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	late->uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (late->pages == MAP_FAILED || late->uffd < 0)
		return -errno;
	range.range.start = (uintptr_t)late->pages + LATE_PAGE;
	return ioctl(late->uffd, UFFDIO_API, &api) ||
	       ioctl(late->uffd, UFFDIO_REGISTER, &range) ? -errno : 0;
}

/* Wait until somebody needs the second page. */
static inline bool late_page_needed(struct late_page *late)
{
	struct uffd_msg msg;

	return read(late->uffd, &msg, sizeof(msg)) == sizeof(msg);
}

/* Make it a copy of @page, which begins where a page does. Return: 0 or -errno. */
static inline int late_page_give(struct late_page *late, const char *page)
{
	struct uffdio_copy copy = {
		.dst = (uintptr_t)late->pages + LATE_PAGE,
		.src = (uintptr_t)page,
		.len = LATE_PAGE,
	};

	return ioctl(late->uffd, UFFDIO_COPY, &copy) ? -errno : 0;
}

static inline void late_page_end(struct late_page *late)
{
	close(late->uffd);
	munmap(late->pages, 2 * LATE_PAGE);
}

#endif
