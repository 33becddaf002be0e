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

#include "sweep_run.h"
#include "sysfs.h"

#define RUNS_MAX 20000u
#define FAIL_NTH "/proc/thread-self/fail-nth"
#define DEBUGFS "/sys/kernel/debug/"
/* As much as a module's last function may have */
#define LAST_FUNCTION 4096u
#define NAME_LEN "255"
#define NAME_SIZE 256
#define KMEMLEAK DEBUGFS "kmemleak"
/* kmemleak takes nothing for lost that is younger (MSECS_MIN_AGE) */
#define KMEMLEAK_AGE 6

static const char *const faults[] = {
	"failslab", "fail_page_alloc", "fail_usercopy",
};

struct range {
	unsigned long start, end;
};

static int set_fault(const char *fault, const char *name, unsigned long value)
{
	char path[96], text[32];

	snprintf(path, sizeof(path), DEBUGFS "%s/%s", fault, name);
	snprintf(text, sizeof(text), "0x%lx", value);
	return file_write(path, text);
}

const char *sweep_no_allocations(void)
{
	if (access(FAIL_NTH, W_OK))
		return "this kernel has no fault injection";
	if (access(DEBUGFS "failslab/require-start", W_OK))
		return "fault injection of this kernel has no stack filter";
	return NULL;
}

/* The next function of a module, in no order; false: there are no more. */
static bool next_function(FILE *symbols, const char *module, unsigned long *at,
			  char *name)
{
	char line[512], of[64], kind;

	while (fgets(line, sizeof(line), symbols))
		if (sscanf(line, "%lx %c %" NAME_LEN "s [%63[^]]", at, &kind,
			   name, of) == 4 && *at && !strcmp(of, module) &&
		    (kind == 't' || kind == 'T'))
			return true;
	return false;
}

/* Where a function of a module is, up to the next one; NULL: all of them. */
static int text_range(const char *module, const char *function,
		      struct range *range)
{
	FILE *symbols = fopen("/proc/kallsyms", "re");
	char name[NAME_SIZE];
	unsigned long at;

	if (!symbols)
		return -errno;
	*range = (struct range){ ~0ul, 0 };
	while (next_function(symbols, module, &at, name)) {
		if (function && strcmp(name, function))
			continue;
		if (at < range->start)
			range->start = at;
		/* no symbol says where the last function ends */
		if (at + LAST_FUNCTION > range->end)
			range->end = at + LAST_FUNCTION;
	}
	rewind(symbols);
	while (function && next_function(symbols, module, &at, name))
		if (at > range->start && at < range->end)
			range->end = at;
	fclose(symbols);
	if (range->end)
		return 0;
	fprintf(stderr, "# sweep: %s has no %s\n", module,
		function ? function : "code");
	return -ENOENT;
}

/* Functions that stock code does not undo; see enum sweep_exempted. */
static struct {
	const char *module, *function;
	struct range range;
} exempted[] = {
	[SWEEP_DESTROY_QP] = { "mlx5_ib", "mlx5_core_destroy_qp", { 0, 0 } },
	[SWEEP_CREATE_QP] = { "ib_core", "ib_create_qp_user", { 0, 0 } },
};

/*
 * Whether allocations may fail now. If not, no function needs to be exempted.
 */
static bool sweeping;

static int exempt(enum sweep_exempted what)
{
	struct range *range = &exempted[what].range;
	unsigned int i;
	int ret = 0;

	if (!range->end)
		ret = text_range(exempted[what].module, exempted[what].function,
				 range);
	for (i = 0; !ret && i < sizeof(faults) / sizeof(faults[0]); i++) {
		/* one at a time, so that no range matches while they change */
		ret = set_fault(faults[i], "reject-end", 0);
		if (!ret)
			ret = set_fault(faults[i], "reject-start",
					range->start);
		if (!ret)
			ret = set_fault(faults[i], "reject-end", range->end);
	}
	return ret;
}

int sweep_exempt(enum sweep_exempted what)
{
	/* These writes may be what fails where everything may. */
	return sweeping ? sweep_undo(exempt(what)) : 0;
}

/* Who must have called what fails. */
static int required_range(const struct sweep *sweep, struct range *range)
{
	*range = (struct range){ 0, ~0ul };
	if (sweep->below)
		return text_range("ib_core", sweep->below, range);
	return sweep_whole() ? 0 : text_range("mlx5_ep", NULL, range);
}

/* What may fail: all that can, called by whom the ranges say. */
static int faults_set_up(const struct sweep *sweep)
{
	struct range range;
	unsigned int i;
	int ret;

	ret = required_range(sweep, &range);
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
	}
	if (!ret)
		ret = exempt(SWEEP_DESTROY_QP);
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

static int run_allocation(struct sweep *sweep, struct baseline *base,
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
	if (hit && !body)
		sweep_allow(base, NULL);
	ret = sweep_restored(base);
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

	/* A scan takes long; without it leaks are told when the guest ends. */
	if (!sweep_whole() || access(KMEMLEAK, W_OK))
		return 0;
	/* The first scan takes a checksum, the second one what kept it. */
	sleep(KMEMLEAK_AGE);
	for (i = 0; i < 2; i++)
		if (file_write(KMEMLEAK, "scan"))
			return -EIO;
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

static int sweep_places(struct sweep *sweep, int fd)
{
	struct baseline base;
	unsigned int n;
	int ret;

	ret = sweep_baseline(sweep, &base);
	if (!ret && sweep_whole())
		file_write(KMEMLEAK, "clear");
	for (n = 1; !ret; n = sweep_next(sweep, n)) {
		if (sweep->runs > RUNS_MAX)
			return -E2BIG;
		sweep_progress(sweep, "allocation", n);
		ret = run_allocation(sweep, &base, fd, n);
		if (ret <= 0)
			return ret;
		ret = 0;
	}
	return ret;
}

int sweep_allocations(struct sweep *sweep)
{
	int ret, fd;

	sweep->runs = 0;
	sweep->failed = 0;
	if (sweep_no_allocations())
		return -EOPNOTSUPP;
	ret = faults_set_up(sweep);
	if (ret)
		return ret;
	fd = open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	sweeping = true;
	ret = sweep_places(sweep, fd);
	sweeping = false;
	close(fd);
	return ret ? ret : kmemleak_scan();
}
