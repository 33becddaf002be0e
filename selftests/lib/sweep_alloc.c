// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sweeps over the kernel's allocations and copies from and to user memory, by
 * fail-nth (Documentation/fault-injection of the kernel), which makes the nth
 * place where this thread could fail do so.
 *
 * fail-nth counts what the file itself is read and written with, too. That is
 * told by EFAULT, and means that the body was not hit.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sweep_books.h"

#define RUNS_MAX 20000u
#define FAIL_NTH "/proc/thread-self/fail-nth"
#define DEBUGFS "/sys/kernel/debug/"
#define KMEMLEAK DEBUGFS "kmemleak"
/* kmemleak takes nothing for lost that is younger (MSECS_MIN_AGE) */
#define KMEMLEAK_AGE 6

static const char *const faults[] = {
	"failslab", "fail_page_alloc", "fail_usercopy",
};

struct range {
	unsigned long start, end;
};

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static int set_fault(const char *fault, const char *name, unsigned long value)
{
	char path[96], text[32];

	snprintf(path, sizeof(path), DEBUGFS "%s/%s", fault, name);
	snprintf(text, sizeof(text), "0x%lx", value);
	return write_text(path, text);
}

const char *sweep_no_allocations(void)
{
	if (access(FAIL_NTH, W_OK))
		return "this kernel has no fault injection";
	if (access(DEBUGFS "failslab/require-start", W_OK) && !sweep_whole())
		return "fault injection of this kernel has no stack filter";
	return NULL;
}

/*
 * Call @see for each function of a module, in no order. Returns -errno where the
 * symbols cannot be read.
 */
static int module_functions(const char *module, struct range *range,
			    void (*see)(struct range *range, unsigned long at,
					const char *name))
{
	char line[512], name[256], of[64];
	unsigned long at;
	FILE *file;
	char kind;

	file = fopen("/proc/kallsyms", "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx %c %255s [%63[^]]", &at, &kind, name,
			   of) == 4 && at && !strcmp(of, module) &&
		    (kind == 't' || kind == 'T'))
			see(range, at, name);
	}
	fclose(file);
	return 0;
}

static void widen(struct range *range, unsigned long at, const char *name)
{
	if (at < range->start)
		range->start = at;
	/* no symbol says where the last function ends */
	if (at + 4096 > range->end)
		range->end = at + 4096;
}

static void begin_destroy_qp(struct range *range, unsigned long at,
			     const char *name)
{
	if (!strcmp(name, "mlx5_core_destroy_qp"))
		range->start = at;
}

static void end_destroy_qp(struct range *range, unsigned long at,
			   const char *name)
{
	if (at > range->start && at < range->end)
		range->end = at;
}

/* Where mlx5_ep's code is. */
static int module_range(struct range *range)
{
	int ret;

	*range = (struct range){ ~0ul, 0 };
	ret = module_functions("mlx5_ep", range, widen);
	return ret ? ret : range->end ? 0 : -ENOENT;
}

/*
 * The driver takes no notice of a DESTROY_QP that fails, for want of memory as
 * for any other reason, and gives back the memory of a QP that is still there.
 * That is not ours to mend: nothing fails below it.
 */
static int spared_range(struct range *range)
{
	int ret;

	*range = (struct range){ 0, ~0ul };
	ret = module_functions("mlx5_ib", range, begin_destroy_qp);
	if (!ret && range->start)
		ret = module_functions("mlx5_ib", range, end_destroy_qp);
	return ret ? ret : range->start ? 0 : -ENOENT;
}

/* What may fail: all that can, called by whom the ranges say. */
static int faults_set_up(void)
{
	struct range range = { 0, ~0ul }, spared;
	unsigned int i;
	int ret;

	ret = spared_range(&spared);
	if (!ret && !sweep_whole())
		ret = module_range(&range);
	for (i = 0; !ret && i < sizeof(faults) / sizeof(faults[0]); i++) {
		/* which of these there are depends on the fault */
		set_fault(faults[i], "ignore-gfp-wait", 0);
		set_fault(faults[i], "ignore-gfp-highmem", 0);
		set_fault(faults[i], "min-order", 0);
		set_fault(faults[i], "verbose", 0);
		set_fault(faults[i], "stacktrace-depth", 32);
		ret = set_fault(faults[i], "require-start", range.start);
		if (!ret)
			ret = set_fault(faults[i], "require-end", range.end);
		if (!ret)
			ret = set_fault(faults[i], "reject-start",
					spared.start);
		if (!ret)
			ret = set_fault(faults[i], "reject-end", spared.end);
		/* without the filter everything may fail anyway */
		if (ret == -ENOENT && sweep_whole())
			ret = 0;
	}
	return ret;
}

static int nth_set(int fd, unsigned int nth)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", nth);
	if (pwrite(fd, text, strlen(text), 0) < 0)
		return -errno;
	return 0;
}

/* Returns 1 where the nth place was reached, 0 where not, -errno. */
static int nth_end(int fd)
{
	char text[16] = "";
	int ret;

	if (pread(fd, text, sizeof(text) - 1, 0) < 0)
		return errno == EFAULT ? 0 : -errno;
	ret = nth_set(fd, 0);
	if (ret == -EFAULT) {
		ret = nth_set(fd, 0);
		return ret;
	}
	return ret ? ret : !strtoul(text, NULL, 0);
}

static int run_allocation(struct sweep *sweep, struct sweep_books *books,
			  int fd, unsigned int nth)
{
	int ret, body, hit;

	ret = nth_set(fd, nth);
	if (ret)
		return ret;
	body = sweep->body(sweep->arg);
	hit = nth_end(fd);
	ret = sweep_undo_body(sweep);
	if (hit < 0 || ret)
		return hit < 0 ? hit : ret;
	sweep->runs += hit;
	sweep->failed += hit && body;
	if (!hit && body) {
		fprintf(stderr, "# sweep: allocation %u: not hit, yet %d\n",
			nth, body);
		return -EIO;
	}
	ret = sweep_books_check(sweep, books);
	if (ret)
		fprintf(stderr, "# sweep: allocation %u, body %d: %d\n", nth,
			body, ret);
	return ret ? ret : hit;
}

static int kmemleak_scan(void)
{
	char text[4096];
	ssize_t n;
	int fd, i;

	if (access(KMEMLEAK, W_OK))
		return 0;
	for (i = 0; i < 2; i++) {
		sleep(KMEMLEAK_AGE);
		if (write_text(KMEMLEAK, "scan"))
			return -EIO;
	}
	fd = open(KMEMLEAK, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	fprintf(stderr, "# kmemleak:\n%s\n", text);
	return -EBUSY;
}

int sweep_allocations(struct sweep *sweep)
{
	struct sweep_books books;
	unsigned int n;
	int ret, fd;

	sweep->runs = 0;
	sweep->failed = 0;
	if (sweep_no_allocations())
		return -EOPNOTSUPP;
	ret = faults_set_up();
	if (ret)
		return ret;
	fd = open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = sweep_books_take(sweep, &books);
	if (!ret)
		write_text(KMEMLEAK, "clear");
	for (n = 1; !ret; n = sweep_next(sweep, n)) {
		if (sweep->runs > RUNS_MAX) {
			ret = -E2BIG;
			break;
		}
		ret = run_allocation(sweep, &books, fd, n);
		if (!ret)
			break;
		if (ret > 0)
			ret = 0;
	}
	close(fd);
	return ret ? ret : kmemleak_scan();
}
