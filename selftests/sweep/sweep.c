// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Error sweeps over the HCA's commands, and what all sweeps share. Sweeps over
 * the kernel's allocations are in sweep_alloc.c.
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
#include "sweep_run.h"
#include "sysfs.h"
#include "verbs.h"

#define RUNS_MAX 20000u
#define RELEASE_SECONDS 8	/* on an idle machine it takes none */
#define RESTART_SECONDS 60
#define PROGRESS_SECONDS 60
#define SLOW_TRIES 5
#define QUICK_STATUSES 3u
#define PCI_DRIVER "/sys/bus/pci/drivers/mlx5_core"

/* enum mlx5_cmd_status of the driver (linux/mlx5/device.h), OK left out */
static const uint8_t statuses[] = {
	0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x8, 0x9, 0xa, 0xf, 0x10, 0x30,
	0x40, 0x50, 0x51,
};

#define NEVER 0u	/* in place of a status */

/*
 * The kind of object that a command frees. @unheard: mlx5_ib sends it when a
 * context closes and ignores that it fails.
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

bool sweep_of_commands(void)
{
	const char *how = getenv("SWEEP");

	return !how || strcmp(how, "allocations");
}

int sweep_undo_body(const struct sweep *sweep)
{
	int ret = sweep->undo ? sweep->undo(sweep->arg) : 0;

	if (ret)
		fprintf(stderr, "# sweep: undo: %d\n", ret);
	return ret;
}

int sweep_baseline(const struct sweep *sweep, struct baseline *base)
{
	int ret = sweep->body(sweep->arg);

	if (ret) {
		fprintf(stderr, "# sweep: the body fails by itself: %d\n", ret);
		return -EIO;
	}
	ret = sweep_undo_body(sweep);
	return ret ? ret : baseline_look(base, sweep->mkeys ? BASELINE_MKEYS :
					       BASELINE_DRIVER);
}

int sweep_restored(struct baseline *base)
{
	return baseline_restored(base, RELEASE_SECONDS);
}

/*
 * The driver ignores that some commands fail while it frees an object. The object
 * then stays in the HCA whoever called the driver, so one is allowed.
 */
void sweep_allow(struct baseline *base, const char *hit)
{
	const char *kinds[sizeof(frees) / sizeof(frees[0])];
	unsigned int i, n = 0;

	for (i = 0; i < sizeof(frees) / sizeof(frees[0]); i++)
		if (hit ? !strcmp(frees[i].opcode, hit) : frees[i].unheard)
			kinds[n++] = frees[i].kind;
	baseline_allow(base, kinds, n);
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

/*
 * End the fault. Return: the command that failed, which the caller frees; NULL
 * where none did.
 */
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
static int run_commands(struct sweep *sweep, struct baseline *base,
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
		sweep_allow(base, hit);
	} else if (body) {
		fprintf(stderr, "# sweep: command %u: not hit, yet %d\n", nth,
			body);
		if (status != NEVER || body != -ECANCELED)
			ret = -EIO;
	}
	if (!ret)
		ret = sweep_restored(base);
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

/* Make one run, and repeat it when the machine was too slow for it. */
static int run_commands_patiently(struct sweep *sweep,
				  struct baseline *base, unsigned int nth,
				  unsigned int status)
{
	int ret = -EAGAIN, tries;

	for (tries = 0; ret == -EAGAIN && tries < SLOW_TRIES; tries++)
		ret = run_commands(sweep, base, nth, status);
	return ret;
}

/* Every place with @each of the statuses, which take turns. */
static int sweep_statuses(struct sweep *sweep, const uint8_t *list,
			  unsigned int count, unsigned int each)
{
	struct baseline base;
	unsigned int turn = 0, n, i;
	int ret;

	sweep->runs = 0;
	sweep->failed = 0;
	ret = sweep_baseline(sweep, &base);
	for (n = 1; !ret; n = sweep_next(sweep, n)) {
		if (sweep->runs > RUNS_MAX)
			return -E2BIG;
		sweep_progress(sweep, "command", n);
		for (i = 0; i < each; i++) {
			ret = run_commands_patiently(sweep, &base, n,
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

/*
 * Whether the device is there, with the module's attributes where it is
 * attached.
 */
static bool device_up(bool attached)
{
	struct ibv_port_attr port;
	struct verbs_setup setup;
	bool up;

	if (attached && !sysfs_attached())
		return false;
	if (verbs_open(&setup, verbs_device_name(), 1))
		return false;
	up = !ibv_query_port(setup.ctx, 1, &port) &&
		port.state == IBV_PORT_ACTIVE;
	verbs_close(&setup);
	return up;
}

int sweep_restart(unsigned int ms)
{
	bool attached = sysfs_attached();
	char address[32];
	int ret, tries;

	ret = pci_address(address, sizeof(address));
	if (!ret)
		ret = simhca_ask("{\"op\":\"fault\",\"kind\":\"timeout\","
				 "\"ms\":%u}", ms);
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
