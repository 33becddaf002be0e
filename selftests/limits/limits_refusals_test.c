// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 60, config: EVENT_TRACING */
/*
 * Each limit, and a strict policy, counts what it refuses in `refusals`, and counts
 * nothing else. What is refused to a process is traced with its name. The counts of
 * shared XRC receive QPs follow what is alive.
 */
#include "kselftest_harness.h"

#include <infiniband/verbs.h>
#include <mlx5ep.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "ctx_open.h"
#include "simhca.h"
#include "sysfs.h"
#include "uar_page.h"
#include "verbs.h"
#include "xrc.h"

#define NO_RESOURCES 15		/* a status of firmware commands */
#define FOREVER 1000
#define TRACING "/sys/kernel/tracing/"
#define PARAM(name) "/sys/module/mlx5_ep/parameters/" name

static int take_page(void)
{
	struct ibv_context *ctx = ctx_open();
	uint32_t handle;
	int ret;

	if (!ctx)
		return -errno;
	ret = uar_page_alloc(ctx, &handle, NULL);
	ibv_close_device(ctx);
	return ret;
}

static int take_notifiers(uint32_t watches)
{
	struct mlx5ep_notifier *one = NULL, *two = NULL;
	struct ibv_context *ctx = ctx_open();
	int ret;

	if (!ctx)
		return -errno;
	ret = mlx5ep_notifier_create(ctx, watches, &one);
	if (!ret) {
		ret = mlx5ep_notifier_create(ctx, watches, &two);
		if (!ret)
			mlx5ep_notifier_destroy(two);
		mlx5ep_notifier_destroy(one);
	}
	ibv_close_device(ctx);
	return ret;
}

static int take_xrc_qp(void)
{
	struct mlx5ep_xrc_rcv_qp *qp;
	struct xrc_node node;
	int ret;

	ret = xrc_node_open(&node, NULL, NULL, 1);
	if (ret)
		return ret;
	ret = mlx5ep_xrc_rcv_qp_create(node.xrcd, NULL, &qp);
	if (!ret)
		mlx5ep_xrc_rcv_qp_unreg(qp);
	xrc_node_close(&node);
	return ret;
}

static int over_budget(void)
{
	return sysfs_write("uar_budget", "1") ?: take_page();
}

static int over_user_limit(void)
{
	return sysfs_write("uar_user_limit", "1") ?: take_page();
}

static int over_cgroup_limit(void)
{
	return sysfs_write("uar_cgroup_limits", "/ 1") ?: take_page();
}

static int over_watches(void)
{
	return file_write(PARAM("notifier_max_watches"), "10") ?:
	       take_notifiers(11);
}

static int over_notifiers(void)
{
	return file_write(PARAM("notifiers_per_user"), "1") ?:
	       take_notifiers(8);
}

static int over_xrc_qps_of_device(void)
{
	return file_write(PARAM("xrc_qps_per_device"), "0") ?: take_xrc_qp();
}

static int over_xrc_qps_of_user(void)
{
	return file_write(PARAM("xrc_qps_per_user"), "0") ?: take_xrc_qp();
}

static int over_xrc_regs_of_user(void)
{
	return file_write(PARAM("xrc_regs_per_user"), "0") ?: take_xrc_qp();
}

static int strict_without_page(void)
{
	int ret = sysfs_policy("independent", 2, true) ?:
		  simhca_fail("ALLOC_UAR", 1, FOREVER, NO_RESOURCES);

	return ret ?: take_page();
}

static int strict_without_uuar(void)
{
	struct verbs_endpoint endpoints[3];
	struct verbs_setup setup;
	int n, ret;

	ret = sysfs_policy("independent", 2, true) ?:
	      verbs_open(&setup, NULL, 3);
	if (ret)
		return ret;
	for (n = 0; n < 3 && !ret; n += !ret)
		ret = verbs_endpoint_create(&setup, &endpoints[n], IBV_QPT_RC);
	while (n > 0)
		verbs_endpoint_destroy(&endpoints[--n]);
	verbs_close(&setup);
	return ret;
}

static const struct {
	const char *reason;
	int (*provoke)(void);
	int error;
} reasons[] = {
	{ "uar_budget", over_budget, EDQUOT },
	{ "uar_user_limit", over_user_limit, EDQUOT },
	{ "uar_cgroup_limits", over_cgroup_limit, EDQUOT },
	{ "notifier_max_watches", over_watches, EDQUOT },
	{ "notifiers_per_user", over_notifiers, EDQUOT },
	{ "dmabuf_watches_per_user", NULL, 0 },	/* see dmabuf_watch */
	{ "xrc_qps_per_device", over_xrc_qps_of_device, EDQUOT },
	{ "xrc_qps_per_user", over_xrc_qps_of_user, EDQUOT },
	{ "xrc_regs_per_user", over_xrc_regs_of_user, EDQUOT },
	{ "strict_context", strict_without_page, EDQUOT },
	{ "strict_qp", strict_without_uuar, ENOSPC },
};

#define REASONS ARRAY_SIZE(reasons)

FIXTURE(refusals)
{
	char before[4096];
};

FIXTURE_SETUP(refusals)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_policy("independent", 4, false));
	ASSERT_EQ(0, sysfs_read("refusals", self->before,
				sizeof(self->before)));
}

static void default_limits(struct __test_metadata *_metadata)
{
	int ret = sysfs_write("uar_cgroup_limits", "/ none");

	EXPECT_TRUE(!ret || ret == -ENOENT);
	EXPECT_EQ(0, sysfs_write("uar_budget", "0"));
	EXPECT_EQ(0, sysfs_write("uar_user_limit", "0"));
	EXPECT_EQ(0, simhca_fail_nothing());
	EXPECT_EQ(0, file_write(PARAM("notifier_max_watches"), "1048576"));
	EXPECT_EQ(0, file_write(PARAM("notifiers_per_user"), "16384"));
	EXPECT_EQ(0, file_write(PARAM("xrc_qps_per_device"), "65536"));
	EXPECT_EQ(0, file_write(PARAM("xrc_qps_per_user"), "32768"));
	EXPECT_EQ(0, file_write(PARAM("xrc_regs_per_user"), "262144"));
	EXPECT_EQ(0, sysfs_policy("independent", 4, false));
}

FIXTURE_TEARDOWN(refusals)
{
	default_limits(_metadata);
	EXPECT_EQ(0, sysfs_defaults());
}

TEST_F(refusals, each_limit_counts_its_own)
{
	long before[REASONS], now;
	size_t i, j;

	for (i = 0; i < REASONS; i++) {
		if (!reasons[i].provoke)
			continue;
		for (j = 0; j < REASONS; j++)
			before[j] = sysfs_refusals(reasons[j].reason);
		EXPECT_EQ(-reasons[i].error, reasons[i].provoke()) {
			TH_LOG("%s", reasons[i].reason);
		}
		default_limits(_metadata);
		for (j = 0; j < REASONS; j++) {
			now = sysfs_refusals(reasons[j].reason);
			EXPECT_LE(0, now);
			EXPECT_EQ(j == i, now != before[j]) {
				TH_LOG("%s counts %ld, was %ld, after %s",
				       reasons[j].reason, now, before[j],
				       reasons[i].reason);
			}
		}
	}
}

/* What the users of the device hold, a line for each. */
static void users_look(struct __test_metadata *_metadata, char *text,
		       size_t size)
{
	FILE *file = debugfs_open("users");
	size_t len;

	ASSERT_NE(NULL, file);
	len = fread(text, 1, size - 1, file);
	text[len] = '\0';
	fclose(file);
}

/*
 * An account lives as long as a context of its user: one is open here. What is not listed
 * is shown by limits that leave room for one.
 */
TEST_F(refusals, leave_each_account_as_it_was)
{
	char before[1024], now[sizeof(before)], limit[32];
	struct ibv_context *ctx = ctx_open();
	long held;
	size_t i;

	ASSERT_NE(NULL, ctx);
	users_look(_metadata, before, sizeof(before));
	ASSERT_NE(NULL, strchr(before, '\n'));
	held = sysfs_number("uar_in_use");
	ASSERT_LT(0, held);
	for (i = 0; i < REASONS; i++) {
		if (!reasons[i].provoke)
			continue;
		EXPECT_EQ(-reasons[i].error, reasons[i].provoke());
		default_limits(_metadata);
		users_look(_metadata, now, sizeof(now));
		EXPECT_STREQ(before, now) {
			TH_LOG("after %s", reasons[i].reason);
		}
		EXPECT_EQ(held, sysfs_number("uar_in_use"));
	}
	EXPECT_EQ(0, file_write(PARAM("notifiers_per_user"), "2"));
	EXPECT_EQ(0, take_notifiers(8));
	EXPECT_EQ(0, file_write(PARAM("xrc_qps_per_device"), "1"));
	EXPECT_EQ(0, file_write(PARAM("xrc_qps_per_user"), "1"));
	EXPECT_EQ(0, file_write(PARAM("xrc_regs_per_user"), "1"));
	EXPECT_EQ(0, take_xrc_qp());
	/* Another context has as many pages, and then takes one. */
	snprintf(limit, sizeof(limit), "/ %ld", 2 * held + 1);
	EXPECT_EQ(0, sysfs_write("uar_cgroup_limits", limit));
	EXPECT_EQ(0, take_page());
	ibv_close_device(ctx);
}

/* A call that is made once, and not by a library that tries again, counts once. */
TEST_F(refusals, a_refusal_counts_once)
{
	long before = sysfs_refusals("xrc_qps_per_user");

	EXPECT_EQ(-EDQUOT, over_xrc_qps_of_user());
	EXPECT_EQ(before + 1, sysfs_refusals("xrc_qps_per_user"));
	EXPECT_EQ(-EDQUOT, take_xrc_qp());
	EXPECT_EQ(before + 2, sysfs_refusals("xrc_qps_per_user"));
}

static bool traced(const char *words)
{
	FILE *trace = fopen(TRACING "trace", "re");
	char line[512];
	bool found = false;

	while (trace && !found && fgets(line, sizeof(line), trace))
		found = strstr(line, words);
	if (trace)
		fclose(trace);
	return found;
}

static void *over_watches_in_thread(void *ret)
{
	prctl(PR_SET_NAME, "a thread");
	*(int *)ret = over_watches();
	return NULL;
}

/* By its own name, whatever that of the thread is. */
TEST_F(refusals, a_process_at_its_limit_is_named)
{
	char name[16] = "", words[128];
	pthread_t thread;
	int ret = 0;

	prctl(PR_SET_NAME, "at its limit");
	prctl(PR_GET_NAME, name);
	snprintf(words, sizeof(words),
		 "who=\"%s[%d]\" what=\"watches of a notifier\" held=0 refused=11 limit=10",
		 name, getpid());
	ASSERT_EQ(0, file_write(TRACING "events/mlx5_ep/enable", "1"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, over_watches_in_thread, &ret));
	pthread_join(thread, NULL);
	EXPECT_EQ(-EDQUOT, ret);
	EXPECT_TRUE(traced(words)) {
		TH_LOG("%s", words);
	}
	ASSERT_EQ(0, file_write(TRACING "events/mlx5_ep/enable", "0"));
}

TEST_F(refusals, what_is_served_counts_nothing)
{
	char now[sizeof(self->before)];

	EXPECT_EQ(0, take_page());
	EXPECT_EQ(0, take_notifiers(8));
	EXPECT_EQ(0, take_xrc_qp());
	ASSERT_EQ(0, sysfs_read("refusals", now, sizeof(now)));
	EXPECT_STREQ(self->before, now);
}

#define XRC_COUNTS(domains, qps, registrations)                                \
	do {                                                                   \
		EXPECT_EQ(domains, sysfs_number("xrc_domains"));               \
		EXPECT_EQ(qps, sysfs_number("xrc_qps"));                       \
		EXPECT_EQ(registrations, sysfs_number("xrc_registrations"));   \
	} while (0)

TEST_F(refusals, counts_of_xrc_follow_what_is_alive)
{
	struct mlx5ep_xrc_rcv_qp *qp, *joined, *other;
	struct xrc_node one, two;

	XRC_COUNTS(0, 0, 0);
	ASSERT_EQ(0, xrc_node_open(&one, NULL, NULL, 1));
	ASSERT_EQ(0, xrc_node_open(&two, NULL, NULL, 1));
	/* A domain counts from its first registration on. */
	XRC_COUNTS(0, 0, 0);
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(one.xrcd, NULL, &qp));
	XRC_COUNTS(1, 1, 1);
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_reg(one.xrcd, mlx5ep_xrc_rcv_qp_num(qp),
					   NULL, &joined));
	XRC_COUNTS(1, 1, 2);
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(two.xrcd, NULL, &other));
	XRC_COUNTS(2, 2, 3);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qp));
	XRC_COUNTS(2, 2, 2);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(joined));
	XRC_COUNTS(1, 1, 1);
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(other));
	XRC_COUNTS(0, 0, 0);
	EXPECT_EQ(0, xrc_node_close(&one));
	EXPECT_EQ(0, xrc_node_close(&two));
}

TEST_HARNESS_MAIN
