// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What exists in the HCA and in the module; see baseline.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "baseline.h"
#include "patience.h"
#include "proc.h"
#include "simhca.h"
#include "sysfs.h"
#include "verbs.h"

/* In the order of the scopes: kinds_in() of them are compared. */
static const char *const kinds[BASELINE_KINDS] = {
	"uar", "pd", "td", "xrcd", "cq", "qp", "srq", "rmp", "xrq",
	"flow_counter", "modify_header", "packet_reformat",
	"uar_held", "eq", "uctx", "umem", "tis", "sq", "memic",
	"memic_op", "general", "psv", "pace",
	"page",
	"mkey",
};

static int kinds_in(enum baseline_scope scope)
{
	static const int count[] = {
		[BASELINE_VERBS] = 12,
		[BASELINE_DRIVER] = 24,
		[BASELINE_MKEYS] = 25,
	};

	return count[scope];
}

static const char *const modules[BASELINE_MODULES] = {
	"mlx5_ep", "mlx5_ib", "ib_uverbs",
};

static long module_refs(const char *module)
{
	char path[96], text[32];
	FILE *file;
	long refs;

	snprintf(path, sizeof(path), "/sys/module/%s/refcnt", module);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	refs = fgets(text, sizeof(text), file) ? strtol(text, NULL, 0) : -EIO;
	fclose(file);
	return refs;
}

int baseline_look(struct baseline *base, enum baseline_scope scope)
{
	struct simhca_view view;
	int ret, i;

	memset(base, 0, sizeof(*base));
	base->scope = scope;
	ret = simhca_look(0, &view);
	if (ret)
		return ret;
	for (i = 0; i < BASELINE_KINDS; i++)
		base->alive[i] = simhca_alive(&view, kinds[i]);
	simhca_view_put(&view);
	/* Without the module both sides of the comparison are the same errno. */
	base->uar_in_use = sysfs_number("uar_in_use");
	for (i = 0; i < BASELINE_MODULES; i++)
		base->refs[i] = module_refs(modules[i]);
	return 0;
}

int baseline_take(struct baseline *base)
{
	struct verbs_endpoint endpoint;
	struct verbs_setup setup;
	int ret;

	ret = verbs_open(&setup, NULL, 1);
	if (ret)
		return ret;
	ret = verbs_endpoint_create(&setup, &endpoint, IBV_QPT_RC);
	if (!ret)
		verbs_endpoint_destroy(&endpoint);
	verbs_close(&setup);
	if (!ret)
		ret = baseline_look(base, BASELINE_VERBS);
	return ret || base->uar_in_use >= 0 ? ret : base->uar_in_use;
}

static int kind_of(const char *name)
{
	int i;

	for (i = 0; i < BASELINE_KINDS; i++)
		if (!strcmp(kinds[i], name))
			return i;
	return -1;
}

int64_t baseline_alive(const struct baseline *base, const char *kind)
{
	int i = kind_of(kind);

	return i < 0 ? -1 : base->alive[i];
}

void baseline_allow(struct baseline *base, const char *const *names, size_t n)
{
	struct baseline now;
	size_t i;
	int kind;

	if (!n || baseline_look(&now, base->scope))
		return;
	for (i = 0; i < n; i++) {
		kind = kind_of(names[i]);
		if (kind >= 0 && now.alive[kind] ==
		    base->alive[kind] + base->allowed[kind] + 1) {
			base->allowed[kind]++;
			return;
		}
	}
}

static bool baseline_differs(const char *what, const char *name, int64_t now,
			     int64_t was, bool say)
{
	if (now != was && say)
		fprintf(stderr, "# left: %s %s: %jd, was %jd\n", what, name,
			(intmax_t)now, (intmax_t)was);
	return now != was;
}

static bool compare(const struct baseline *base, const struct baseline *now,
		    bool say)
{
	bool ret = baseline_differs("uar_in_use", "of the module", now->uar_in_use,
				    base->uar_in_use, say);
	int i;

	for (i = 0; i < kinds_in(base->scope); i++)
		if (now->alive[i] < base->alive[i] ||
		    now->alive[i] > base->alive[i] + base->allowed[i])
			ret |= baseline_differs("objects alive:", kinds[i],
						now->alive[i], base->alive[i],
						say);
	for (i = 0; base->scope > BASELINE_VERBS && i < BASELINE_MODULES; i++)
		ret |= baseline_differs("references of", modules[i], now->refs[i],
					base->refs[i], say);
	return ret;
}

/* The QPs that programs made, the module's tables, who has devices open. */
static void say_what_is_left(void)
{
	struct simhca_view view;
	size_t i;

	if (!simhca_look(0, &view)) {
		for (i = 0; i < view.n_qps; i++)
			if (view.qps[i].user)
				fprintf(stderr, "# left: QP 0x%x %s uar %u\n",
					view.qps[i].qpn, view.qps[i].type,
					view.qps[i].uar);
		simhca_view_put(&view);
	}
	fflush(stderr);
	if (system("exec >&2; cd /sys/kernel/debug/mlx5_ep 2>/dev/null && "
		   "grep -s '' */* | sed 's/^/# left: /'; "
		   "ls -l /proc/[0-9]*/fd 2>/dev/null | awk '"
		   "/^\\/proc/ { of = $0 } /infiniband/ { "
		   "print \"# left: \" of \" \" $NF }'"))
		fprintf(stderr, "# left: the tables cannot be read\n");
}

int baseline_restored(struct baseline *base, unsigned int seconds)
{
	time_t end = time(NULL) + seconds * PATIENCE * patience_factor();
	struct baseline now;
	bool over;
	int ret, i;

	for (;;) {
		over = time(NULL) >= end;
		ret = baseline_look(&now, base->scope);
		if (ret)
			return ret;
		if (!compare(base, &now, over))
			break;
		if (over) {
			say_what_is_left();
			return -EBUSY;
		}
		usleep(20000);
	}
	for (i = 0; i < BASELINE_KINDS; i++)
		if (base->allowed[i])
			base->allowed[i] = now.alive[i] - base->alive[i];
	return 0;
}

long baseline_slab_kib(void)
{
	return proc_number("/proc/meminfo", "SUnreclaim:");
}

long baseline_slab_objects(const char *cache)
{
	char path[128];
	long n = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/slab/%s/shrink", cache);
	if (file_write(path, "1"))
		return -1;
	snprintf(path, sizeof(path), "/sys/kernel/slab/%s/objects", cache);
	file = fopen(path, "r");
	if (!file)
		return -1;
	if (fscanf(file, "%ld", &n) != 1)
		n = -1;
	fclose(file);
	return n;
}
