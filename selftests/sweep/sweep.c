// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Error sweeps over the HCA's commands, and the books that every sweep keeps.
 * Sweeps over the kernel's allocations are in sweep_alloc.c.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "patience.h"
#include "simhca.h"
#include "sweep_books.h"
#include "sysfs.h"
#include "verbs.h"

#define RUNS_MAX 20000u
#define RELEASE_SECONDS 30	/* of a slow machine; else at once */
#define RESTART_SECONDS 60
#define PROGRESS_SECONDS 60
#define SLOW_TRIES 5
#define QUICK_STATUSES 3u
#define PCI_DRIVER "/sys/bus/pci/drivers/mlx5_core"

/* Memory keys last, because they are not always compared. */
static const char *const kinds[SWEEP_KINDS] = {
	"uar", "uar_held", "pd", "td", "xrcd", "cq", "qp", "srq", "rmp", "eq",
	"uctx", "umem", "tis", "sq", "page", "mkey",
};

static const char *const modules[SWEEP_MODULES] = {
	"mlx5_ep", "mlx5_ib", "ib_uverbs",
};

/* enum mlx5_cmd_status of the driver (linux/mlx5/device.h), OK left out */
static const uint8_t statuses[] = {
	0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x8, 0x9, 0xa, 0xf, 0x10, 0x30,
	0x40, 0x50, 0x51,
};

#define NEVER 0u	/* in place of a status */

/*
 * What a command that was made to fail would have freed, and whether mlx5_ib does
 * that where nobody hears of a failure: with a context.
 */
static const struct {
	const char *opcode;
	const char *kind;
	bool unheard;
} frees[] = {
	{ "DEALLOC_UAR", "uar", true },
	{ "DEALLOC_TRANSPORT_DOMAIN", "td", true },
	{ "DESTROY_UCTX", "uctx", true },
	{ "DEALLOC_PD", "pd", false },
	{ "DEALLOC_XRCD", "xrcd", false },
	{ "DESTROY_CQ", "cq", false },
	{ "DESTROY_SRQ", "srq", false },
	{ "DESTROY_XRC_SRQ", "srq", false },
	{ "DESTROY_RMP", "rmp", false },
	{ "DESTROY_EQ", "eq", false },
	{ "DESTROY_UMEM", "umem", false },
	{ "DESTROY_TIS", "tis", false },
	{ "DESTROY_SQ", "sq", false },
	{ "DESTROY_MKEY", "mkey", false },
};

bool sweep_whole(void)
{
	const char *how = getenv("SWEEP");

	return how && !strcmp(how, "whole");
}

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

static int books_look(struct sweep_books *books)
{
	struct simhca_view view;
	int ret, i;

	memset(books, 0, sizeof(*books));
	ret = simhca_look(0, &view);
	if (ret)
		return ret;
	for (i = 0; i < SWEEP_KINDS; i++)
		books->alive[i] = simhca_alive(&view, kinds[i]);
	simhca_view_put(&view);
	books->uar_in_use = sysfs_number("uar_in_use");
	for (i = 0; i < SWEEP_MODULES; i++)
		books->refs[i] = module_refs(modules[i]);
	return 0;
}

static bool differs(const char *what, const char *name, int64_t now,
		    int64_t was, bool say)
{
	if (now != was && say)
		fprintf(stderr, "# %s %s: %jd, was %jd\n", what, name,
			(intmax_t)now, (intmax_t)was);
	return now != was;
}

static bool books_differ(const struct sweep *sweep,
			 const struct sweep_books *was,
			 const struct sweep_books *now, bool say)
{
	bool ret = differs("uar_in_use", "", now->uar_in_use, was->uar_in_use,
			   say);
	int i;

	for (i = 0; i < SWEEP_KINDS - !sweep->mkeys; i++)
		if (now->alive[i] < was->alive[i] ||
		    now->alive[i] > was->alive[i] + was->lost[i])
			ret |= differs("alive", kinds[i], now->alive[i],
				       was->alive[i], say);
	for (i = 0; i < SWEEP_MODULES; i++)
		ret |= differs("references of", modules[i], now->refs[i],
			       was->refs[i], say);
	return ret;
}

int sweep_undo_body(const struct sweep *sweep)
{
	int ret = sweep->undo ? sweep->undo(sweep->arg) : 0;

	if (ret)
		fprintf(stderr, "# sweep: undo: %d\n", ret);
	return ret;
}

int sweep_books_take(const struct sweep *sweep, struct sweep_books *books)
{
	int ret = sweep->body(sweep->arg);

	if (ret) {
		fprintf(stderr, "# sweep: the body fails by itself: %d\n", ret);
		return -EIO;
	}
	ret = sweep_undo_body(sweep);
	return ret ? ret : books_look(books);
}

/* What was allowed for and is gone after all is not allowed for again. */
static void books_settle(struct sweep_books *books,
			 const struct sweep_books *now)
{
	int i;

	for (i = 0; i < SWEEP_KINDS; i++)
		if (books->lost[i])
			books->lost[i] = now->alive[i] - books->alive[i];
}

int sweep_books_check(const struct sweep *sweep, struct sweep_books *books)
{
	time_t end = time(NULL) + RELEASE_SECONDS * patience_factor();
	struct sweep_books now;
	bool late;
	int ret;

	for (;;) {
		late = time(NULL) >= end;
		ret = books_look(&now);
		if (ret)
			return ret;
		if (!books_differ(sweep, books, &now, late))
			break;
		if (late)
			return -EBUSY;
		usleep(20000);
	}
	books_settle(books, &now);
	return 0;
}

static int kind_of(const char *name)
{
	int kind = 0;

	while (strcmp(kinds[kind], name))
		kind++;
	return kind;
}

/*
 * The driver takes no notice of some commands that fail while it gives a thing
 * back. What such a command would have freed stays with the HCA, whoever called
 * it: one object is allowed for.
 */
void sweep_books_forgive(struct sweep_books *books, const char *hit)
{
	struct sweep_books now;
	unsigned int i;
	int kind;

	if (books_look(&now))
		return;
	for (i = 0; i < sizeof(frees) / sizeof(frees[0]); i++) {
		if (hit ? strcmp(frees[i].opcode, hit) : !frees[i].unheard)
			continue;
		kind = kind_of(frees[i].kind);
		if (now.alive[kind] ==
		    books->alive[kind] + books->lost[kind] + 1) {
			books->lost[kind]++;
			return;
		}
	}
}

unsigned int sweep_next(const struct sweep *sweep, unsigned int n)
{
	if (!sweep->coarse || sweep_whole())
		return n + 1;
	return n + 1 + n / sweep->coarse;
}

void sweep_progress(const struct sweep *sweep, const char *what,
		    unsigned int nth)
{
	static time_t last;
	time_t now = time(NULL);

	if (last && now < last + PROGRESS_SECONDS)
		return;
	if (last)
		fprintf(stderr, "# progress: %s %u, %u runs, %u failed\n",
			what, nth, sweep->runs, sweep->failed);
	last = now;
}

/* Forget the fault. Returns what it hit; NULL: nothing. The caller frees it. */
static int fault_end(struct simhca *sim, char **hit)
{
	struct json_object *answer, *hits;
	int ret;

	ret = simhca_call(sim, &answer, "{\"op\":\"clear\"}");
	if (ret)
		return ret;
	*hit = NULL;
	if (json_object_object_get_ex(answer, "hits", &hits) &&
	    json_object_array_length(hits))
		*hit = strdup(json_object_get_string(
			json_object_array_get_idx(hits, 0)));
	json_object_put(answer);
	return 0;
}

static int fault_begin(struct simhca *sim, const struct sweep *sweep,
		       unsigned int nth, unsigned int status)
{
	char opcode[64] = "", what[16] = "\"never\"";

	if (sweep->opcode)
		snprintf(opcode, sizeof(opcode), ",\"opcode\":\"%s\"",
			 sweep->opcode);
	if (status != NEVER)
		snprintf(what, sizeof(what), "%u", status);
	/*
	 * The driver takes no notice of a DESTROY_QP that fails and gives back
	 * the memory of the QP; a QP that stayed would hold on to all the rest.
	 */
	return simhca_call(sim, NULL, "{\"op\":\"fault\",\"kind\":\"cmd\","
			   "\"run\":\"DESTROY_QP\",\"nth\":%u,\"status\":%s%s}",
			   nth, what, opcode);
}

static int fault_set(const struct sweep *sweep, unsigned int nth,
		     unsigned int status, char **hit)
{
	struct simhca *sim;
	int ret;

	ret = simhca_open(&sim, NULL);
	if (ret)
		return ret;
	if (hit)
		ret = fault_end(sim, hit);
	else
		ret = fault_begin(sim, sweep, nth, status);
	simhca_close(sim);
	return ret;
}

/*
 * One run. Returns 1 where it was hit, 0 where not, -EAGAIN where the driver, which
 * waits for a short time only, gave up a command before it had sent it; -errno.
 */
static int run_commands(struct sweep *sweep, struct sweep_books *books,
			unsigned int nth, unsigned int status)
{
	char *hit = NULL;
	int ret, body;

	ret = fault_set(sweep, nth, status, NULL);
	if (ret)
		return ret;
	body = sweep->body(sweep->arg);
	ret = fault_set(sweep, nth, status, &hit);
	if (!ret)
		ret = sweep_undo_body(sweep);
	if (ret)
		return ret;
	if (hit) {
		sweep->runs++;
		sweep->failed += body != 0;
		sweep_books_forgive(books, hit);
	} else if (body) {
		fprintf(stderr, "# sweep: command %u: not hit, yet %d\n", nth,
			body);
		if (status != NEVER || body != -ECANCELED)
			ret = -EIO;
	}
	if (!ret)
		ret = sweep_books_check(sweep, books);
	if (!ret && !hit && body)
		return -EAGAIN;
	if (ret)
		fprintf(stderr, "# sweep: command %u (%s), status 0x%x: %d\n",
			nth, hit ? hit : "none", status, ret);
	else
		ret = hit != NULL;
	free(hit);
	return ret;
}

/* One run; more where the machine was too slow for it. */
static int run_commands_patiently(struct sweep *sweep,
				  struct sweep_books *books, unsigned int nth,
				  unsigned int status)
{
	int ret = -EAGAIN, tries;

	for (tries = 0; ret == -EAGAIN && tries < SLOW_TRIES; tries++)
		ret = run_commands(sweep, books, nth, status);
	return ret;
}

/* Every place with @each of the statuses, which take turns. */
static int sweep_statuses(struct sweep *sweep, const uint8_t *list,
			  unsigned int count, unsigned int each)
{
	struct sweep_books books;
	unsigned int turn = 0, n, i;
	int ret;

	sweep->runs = 0;
	sweep->failed = 0;
	ret = sweep_books_take(sweep, &books);
	for (n = 1; !ret; n = sweep_next(sweep, n)) {
		if (sweep->runs > RUNS_MAX)
			return -E2BIG;
		sweep_progress(sweep, "command", n);
		for (i = 0; i < each; i++) {
			ret = run_commands_patiently(sweep, &books, n,
						     list[turn++ % count]);
			if (ret <= 0)
				return ret;
		}
		ret = 0;
	}
	return ret;
}

int sweep_commands(struct sweep *sweep)
{
	unsigned int count = sizeof(statuses);

	return sweep_statuses(sweep, statuses, count,
			      sweep_whole() ? count :
			      sweep->coarse ? 1 : QUICK_STATUSES);
}

int sweep_silence(struct sweep *sweep)
{
	static const uint8_t never = NEVER;

	return sweep_statuses(sweep, &never, 1, 1);
}

/* The PCI address of the HCA under test, as its driver's folder has it. */
static int pci_address(char *name, size_t size)
{
	struct dirent *entry;
	int ret = -ENODEV;
	DIR *dir;

	dir = opendir(PCI_DRIVER);
	while (dir && (entry = readdir(dir)))
		if (strchr(entry->d_name, ':') &&
		    strlen(entry->d_name) < size) {
			strcpy(name, entry->d_name);
			ret = 0;
			break;
		}
	if (dir)
		closedir(dir);
	return ret;
}

/* Is it there, with its attributes where the module is? */
static bool device_up(bool attached)
{
	struct ibv_port_attr port;
	struct verbs_rig rig;
	bool up;

	if (attached && !sysfs_attached())
		return false;
	if (verbs_open(&rig, verbs_device_name(), 1))
		return false;
	up = !ibv_query_port(rig.ctx, 1, &port) &&
		port.state == IBV_PORT_ACTIVE;
	verbs_close(&rig);
	return up;
}

int sweep_restart(unsigned int ms)
{
	bool attached = sysfs_attached();
	struct simhca *sim;
	char address[32];
	int ret, tries;

	ret = pci_address(address, sizeof(address));
	if (!ret)
		ret = simhca_open(&sim, NULL);
	if (ret)
		return ret;
	ret = simhca_call(sim, NULL, "{\"op\":\"fault\",\"kind\":\"timeout\","
			  "\"ms\":%u}", ms);
	simhca_close(sim);
	if (!ret)
		ret = file_write(PCI_DRIVER "/unbind", address);
	if (!ret)
		ret = file_write(PCI_DRIVER "/bind", address);
	for (tries = 0; !ret && !device_up(attached); tries++) {
		if (tries == 10 * RESTART_SECONDS * patience_factor())
			ret = -ETIMEDOUT;
		usleep(100000);
	}
	return ret;
}
