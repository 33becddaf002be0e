/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The kernel's kselftest harness with longer limits: see patience.h. It also runs on
 * kernels without pidfd_open(), before 5.3.
 */
#ifndef SELFTESTS_KSELFTEST_HARNESS_H
#define SELFTESTS_KSELFTEST_HARNESS_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t harness_child;

/* Waits for the child, who stays there for waitpid(). */
static inline void *harness_wait(void *end)
{
	siginfo_t info;

	while (waitid(P_PID, harness_child, &info, WEXITED | WNOWAIT) &&
	       errno == EINTR)
		;
	close((intptr_t)end);
	return NULL;
}

/*
 * The only system call that the harness makes by its number, pidfd_open(): a descriptor
 * that becomes ready when a child has ended. For kernels without pidfds it is the end of a
 * pipe. There is one child at a time. Return: -1 where there is none.
 */
static inline int harness_syscall(long number, pid_t pid, unsigned int flags)
{
	int fd = syscall(number, pid, flags);
	pthread_t thread;
	int ends[2];

	if (fd >= 0)
		return fd;
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	harness_child = pid;
	errno = pthread_create(&thread, NULL, harness_wait,
			       (void *)(intptr_t)ends[1]);
	if (errno) {
		close(ends[0]);
		close(ends[1]);
		return -1;
	}
	pthread_detach(thread);
	return ends[0];
}

#define syscall harness_syscall
#include_next <kselftest_harness.h>
#undef syscall

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
