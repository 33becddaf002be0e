// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What exists in the HCA and in the module, to be compared after a test. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "baseline.h"
#include "patience.h"
#include "simhca.h"
#include "sysfs.h"
#include "verbs.h"

static const char *const kinds[BASELINE_KINDS] = {
	"uar", "pd", "td", "xrcd", "cq", "qp", "srq", "rmp",
};

static int look(struct baseline *base)
{
	struct simhca_view view;
	int ret, i;

	ret = simhca_look(0, &view);
	if (ret)
		return ret;
	for (i = 0; i < BASELINE_KINDS; i++)
		base->alive[i] = simhca_alive(&view, kinds[i]);
	simhca_view_put(&view);
	base->uar_in_use = sysfs_number("uar_in_use");
	return base->uar_in_use < 0 ? base->uar_in_use : 0;
}

int baseline_take(struct baseline *base)
{
	struct verbs_rig rig;
	struct verbs_ep ep;
	int ret;

	ret = verbs_open(&rig, NULL, 1);
	if (ret)
		return ret;
	ret = verbs_ep_create(&rig, &ep, IBV_QPT_RC);
	if (!ret)
		verbs_ep_destroy(&ep);
	verbs_close(&rig);
	return ret ? ret : look(base);
}

int64_t baseline_alive(const struct baseline *base, const char *kind)
{
	int i;

	for (i = 0; i < BASELINE_KINDS; i++)
		if (!strcmp(kinds[i], kind))
			return base->alive[i];
	return -1;
}

static int compare(const struct baseline *base, const struct baseline *now,
		   int say)
{
	int i, differ = now->uar_in_use != base->uar_in_use;

	if (differ && say)
		fprintf(stderr, "# uar_in_use: %ld, was %ld\n",
			now->uar_in_use, base->uar_in_use);
	for (i = 0; i < BASELINE_KINDS; i++) {
		if (now->alive[i] == base->alive[i])
			continue;
		differ = 1;
		if (say)
			fprintf(stderr, "# alive %s: %jd, was %jd\n", kinds[i],
				(intmax_t)now->alive[i],
				(intmax_t)base->alive[i]);
	}
	return differ ? -EBUSY : 0;
}

int baseline_restored(const struct baseline *base, unsigned int seconds)
{
	time_t end = time(NULL) + seconds * PATIENCE * patience_factor();
	struct baseline now;
	int ret;

	for (;;) {
		ret = look(&now);
		if (ret)
			return ret;
		ret = compare(base, &now, time(NULL) >= end);
		if (!ret || time(NULL) >= end)
			return ret;
		usleep(50000);
	}
}
