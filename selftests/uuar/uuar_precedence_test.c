// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, timeout: 240 */
/*
 * Which policy a context gets if several are set. The module and the tool must
 * name the reason, and the QPs must be placed as that policy says.
 */
#include "kselftest_harness.h"

#include <json-c/json.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <mlx5ep.h>

#include "doorbells.h"
#include "sysfs.h"
#include "verbs.h"

#define QPS 4
#define CGROUPS "/tmp/uuar_precedence"

/*
 * Each layer sets another policy, so that the result shows which layer decided.
 */
FIXTURE(precedence)
{
	char comm[16];
	struct verbs_setup asker;
	int64_t fallbacks;
};

FIXTURE_SETUP(precedence)
{
	FILE *file = fopen("/proc/self/comm", "r");

	ASSERT_TRUE(sysfs_attached());
	ASSERT_NE(NULL, file);
	ASSERT_EQ(1, fscanf(file, "%15s", self->comm));
	fclose(file);
	mkdir(CGROUPS, 0700);
	ASSERT_EQ(0, mount("none", CGROUPS, "cgroup2", 0, NULL));
	ASSERT_EQ(0, mkdir(CGROUPS "/job", 0700));
	ASSERT_EQ(0, file_write(CGROUPS "/job/cgroup.procs", "0"));
	ASSERT_EQ(0, sysfs_policy("independent", 9, false));
	ASSERT_EQ(0, sysfs_write("uuar_exempt", self->comm));
	ASSERT_EQ(0, sysfs_write("uuar_cgroups", "/job shared-uar 0 7"));
	self->fallbacks = sysfs_number("uuar_fallbacks");
}

FIXTURE_TEARDOWN(precedence)
{
	if (self->asker.ctx)
		verbs_close(&self->asker);
	EXPECT_EQ(0, file_write(CGROUPS "/cgroup.procs", "0"));
	EXPECT_EQ(0, rmdir(CGROUPS "/job"));
	EXPECT_EQ(0, umount(CGROUPS));
	EXPECT_EQ(0, sysfs_write("uuar_exempt", "\n"));
	EXPECT_EQ(0, sysfs_defaults());
}

/* The row of this process's only context in mlx5ep -j show contexts. */
static struct json_object *shown(struct json_object **all)
{
	struct json_object *list, *row, *pid, *found = NULL;
	FILE *tool = popen("mlx5ep -j -d mlx5_0 show contexts", "r");
	static char text[1 << 16];
	size_t i, n;

	n = tool ? fread(text, 1, sizeof(text) - 1, tool) : 0;
	if (tool)
		pclose(tool);
	text[n] = '\0';
	*all = json_tokener_parse(text);
	if (!json_object_object_get_ex(*all, "devices", &list) ||
	    !json_object_object_get_ex(json_object_array_get_idx(list, 0),
				       "contexts", &list))
		return NULL;
	/* The newest context is the first. */
	for (i = 0; i < json_object_array_length(list) && !found; i++) {
		row = json_object_array_get_idx(list, i);
		if (json_object_object_get_ex(row, "pid", &pid) &&
		    json_object_get_int(pid) == getpid())
			found = row;
	}
	return found;
}

static const char *precedence_text_of(struct json_object *row, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(row, key, &value) ?
		json_object_get_string(value) : "";
}

struct expect {
	const char *why, *name;
	enum mlx5_ep_policy_source source;
	enum mlx5_ep_uuar_policy policy;
	unsigned int static_pages;
	size_t on_pages, on_uuars;	/* where QPS QPs ring */
};

static const struct expect by_device = {
	"device", "independent", MLX5_EP_POLICY_SOURCE_DEVICE,
	MLX5_EP_UUAR_POLICY_INDEPENDENT, 9, 4, 4 };
/* libmlx5 places two QPs on the first page and two on the next. */
static const struct expect by_exemption = {
	"exempt", "stock", MLX5_EP_POLICY_SOURCE_EXEMPT,
	MLX5_EP_UUAR_POLICY_STOCK, 0, 2, 4 };
static const struct expect by_cgroup = {
	"cgroup", "shared-uar", MLX5_EP_POLICY_SOURCE_CGROUP,
	MLX5_EP_UUAR_POLICY_SHARED_UAR, 7, 2, 4 };
static const struct expect by_process = {
	"process", "shared-uuar", MLX5_EP_POLICY_SOURCE_PROCESS,
	MLX5_EP_UUAR_POLICY_SHARED_UUAR, 3, 1, 1 };
static const struct expect by_context = {
	"context", "independent", MLX5_EP_POLICY_SOURCE_CONTEXT,
	MLX5_EP_UUAR_POLICY_INDEPENDENT, 3, 3, 4 };
static const struct expect by_fallback = {
	"fallback", "stock", MLX5_EP_POLICY_SOURCE_FALLBACK,
	MLX5_EP_UUAR_POLICY_STOCK, 0, 2, 4 };

/* What the module, the tool and the HCA report about a context. */
static void precedence_look(struct __test_metadata *_metadata,
			    struct verbs_setup *setup,
			    const struct expect *expect)
{
	struct json_object *all, *row;
	struct mlx5_ep_context_info info;
	struct verbs_endpoint endpoints[QPS];
	struct doorbells_report doorbells;
	unsigned int i;

	ASSERT_EQ(0, simhca_zero());
	for (i = 0; i < QPS; i++)
		ASSERT_EQ(0, verbs_endpoint_create(setup, &endpoints[i],
						   IBV_QPT_RC));
	EXPECT_EQ(0, verbs_traffic(endpoints, QPS, VERBS_WRITE, 1));
	ASSERT_EQ(0, mlx5ep_context_query(setup->ctx, &info));
	EXPECT_EQ(expect->source, info.source);
	EXPECT_EQ(expect->policy, info.policy);
	EXPECT_EQ(expect->static_pages, info.static_pages);
	EXPECT_EQ(!expect->static_pages, !info.low_latency);
	row = shown(&all);
	EXPECT_STREQ(expect->why, precedence_text_of(row, "source"));
	EXPECT_STREQ(expect->name, precedence_text_of(row, "policy"));
	json_object_put(all);
	ASSERT_EQ(0, doorbells_look(0, &doorbells));
	EXPECT_EQ(QPS, doorbells.n);
	EXPECT_EQ(expect->on_pages, doorbells.pages);
	EXPECT_EQ(expect->on_uuars, doorbells.uuars);
	EXPECT_EQ(0, doorbells.wrong_uar);
	doorbells_put(&doorbells);
	for (i = 0; i < QPS; i++)
		verbs_endpoint_destroy(&endpoints[i]);
}

static void *open_in_thread(void *setup)
{
	prctl(PR_SET_NAME, "a thread");
	return (void *)(intptr_t)verbs_open(setup, NULL, QPS);
}

/* By a thread that has another name than the program, which counts. */
static void opened(struct __test_metadata *_metadata,
		   const struct expect *expect)
{
	struct verbs_setup setup;
	pthread_t thread;
	void *ret;

	ASSERT_EQ(0, pthread_create(&thread, NULL, open_in_thread, &setup));
	pthread_join(thread, &ret);
	ASSERT_EQ(NULL, ret);
	precedence_look(_metadata, &setup, expect);
	verbs_close(&setup);
}

/*
 * From the strongest layer to the weakest: when one is removed, the next
 * decides.
 */
TEST_F_TIMEOUT(precedence, context_process_cgroup_exemption_device, 60)
{
	struct mlx5_ep_context_policy later = {
		.policy = MLX5_EP_UUAR_POLICY_SHARED_UUAR,
		.flags = MLX5_EP_POLICY_LATER_OPENS,
		.pages = 3,
	};
	struct mlx5_ep_context_policy now = {
		.policy = MLX5_EP_UUAR_POLICY_INDEPENDENT,
	};
	struct verbs_setup setup;

	ASSERT_EQ(0, verbs_open(&self->asker, NULL, 1));
	ASSERT_EQ(0, mlx5ep_context_set_policy(self->asker.ctx, &later));
	ASSERT_EQ(0, verbs_open(&setup, NULL, QPS));
	ASSERT_EQ(0, mlx5ep_context_set_policy(setup.ctx, &now));
	precedence_look(_metadata, &setup, &by_context);
	verbs_close(&setup);
	opened(_metadata, &by_process);
	/*
	 * The policy of a process holds while the context that set it is open.
	 */
	verbs_close(&self->asker);
	memset(&self->asker, 0, sizeof(self->asker));
	opened(_metadata, &by_cgroup);
	ASSERT_EQ(0, sysfs_write("uuar_cgroups", "/job none"));
	opened(_metadata, &by_exemption);
	ASSERT_EQ(0, sysfs_write("uuar_exempt", "\n"));
	opened(_metadata, &by_device);
	EXPECT_EQ(self->fallbacks, sysfs_number("uuar_fallbacks"));
}

/* Asks for a policy, for the context itself or for later ones. */
static int ask(struct ibv_context *ctx, bool later, bool strict)
{
	struct mlx5_ep_context_policy policy = {
		.policy = MLX5_EP_UUAR_POLICY_INDEPENDENT,
		.flags = (later ? MLX5_EP_POLICY_LATER_OPENS : 0) |
			 (strict ? MLX5_EP_POLICY_STRICT : 0),
		.pages = later ? QPS - 1 : 0,
	};

	return mlx5ep_context_set_policy(ctx, &policy);
}

/* Creates one QP more than the context has places of the policy's level. */
static int one_too_many(struct verbs_setup *setup, bool strict)
{
	struct mlx5_ep_context_info info = {};
	struct verbs_endpoint endpoints[QPS];
	unsigned int n;
	int ret;

	ret = mlx5ep_context_query(setup->ctx, &info);
	if (!ret && !!(info.flags & MLX5_EP_CONTEXT_STRICT) != strict)
		ret = -EBADMSG;
	for (n = 0; n < QPS && !ret; n += !ret)
		ret = verbs_endpoint_create(setup, &endpoints[n], IBV_QPT_RC);
	if (ret && n != QPS - 1)
		ret = -EBADMSG;
	while (n--)
		verbs_endpoint_destroy(&endpoints[n]);
	return ret;
}

/* What the context itself asks for decides, and not what it was opened with. */
TEST_F_TIMEOUT(precedence, of_strict_is_the_contexts_own, 60)
{
	struct verbs_setup setup;
	unsigned int opened_strict, strict;

	ASSERT_EQ(0, sysfs_write("uuar_exempt", "\n"));
	ASSERT_EQ(0, sysfs_write("uuar_cgroups", "/job none"));
	for (opened_strict = 0; opened_strict < 2; opened_strict++) {
		for (strict = 0; strict < 2; strict++) {
			ASSERT_EQ(0, sysfs_policy("independent", QPS - 1,
						  opened_strict));
			ASSERT_EQ(0, verbs_open(&setup, NULL, QPS));
			ASSERT_EQ(0, ask(setup.ctx, false, strict));
			EXPECT_EQ(strict ? -ENOSPC : 0,
				  one_too_many(&setup, strict)) {
				TH_LOG("opened with %u, asked for %u",
				       opened_strict, strict);
			}
			verbs_close(&setup);
		}
	}
}

/* The same of what a process asks for, and of the contexts that it opens later. */
TEST_F_TIMEOUT(precedence, of_strict_is_what_the_process_asks_for, 60)
{
	struct verbs_setup setup;
	unsigned int device_strict, strict;

	ASSERT_EQ(0, verbs_open(&self->asker, NULL, 1));
	for (device_strict = 0; device_strict < 2; device_strict++) {
		ASSERT_EQ(0, sysfs_policy("independent", 9, device_strict));
		for (strict = 0; strict < 2; strict++) {
			ASSERT_EQ(0, ask(self->asker.ctx, true, strict));
			ASSERT_EQ(0, verbs_open(&setup, NULL, QPS));
			EXPECT_EQ(strict ? -ENOSPC : 0,
				  one_too_many(&setup, strict)) {
				TH_LOG("device %u, asked for %u", device_strict,
				       strict);
			}
			verbs_close(&setup);
		}
	}
}

static unsigned int pages_of_next(struct __test_metadata *_metadata)
{
	struct mlx5_ep_context_info info = {};
	struct verbs_setup setup;

	ASSERT_EQ(0, verbs_open(&setup, NULL, 1));
	EXPECT_EQ(0, mlx5ep_context_query(setup.ctx, &info));
	EXPECT_EQ(MLX5_EP_POLICY_SOURCE_PROCESS, info.source);
	verbs_close(&setup);
	return info.static_pages;
}

/* Without a number of pages it is that of the device. The wish that came last holds. */
TEST_F(precedence, the_last_wish_of_a_process_and_the_pages_of_the_device)
{
	struct mlx5_ep_context_policy later = {
		.policy = MLX5_EP_UUAR_POLICY_INDEPENDENT,
		.flags = MLX5_EP_POLICY_LATER_OPENS,
	};
	struct verbs_setup other;

	ASSERT_EQ(0, verbs_open(&self->asker, NULL, 1));
	ASSERT_EQ(0, verbs_open(&other, NULL, 1));
	ASSERT_EQ(0, mlx5ep_context_set_policy(other.ctx, &later));
	EXPECT_EQ(9, pages_of_next(_metadata));
	later.pages = 2;
	ASSERT_EQ(0, mlx5ep_context_set_policy(self->asker.ctx, &later));
	EXPECT_EQ(2, pages_of_next(_metadata));
	later.pages = 5;
	ASSERT_EQ(0, mlx5ep_context_set_policy(other.ctx, &later));
	EXPECT_EQ(5, pages_of_next(_metadata));
	verbs_close(&other);
	EXPECT_EQ(2, pages_of_next(_metadata));
}

/*
 * The HCA refuses the page of the managed context, and gives one to the stock
 * context.
 */
TEST_F(precedence, what_cannot_be_had_falls_back_to_stock)
{
	struct verbs_setup setup;

	/* A managed context allocates this one page at open. */
	ASSERT_EQ(0, simhca_fail("ALLOC_UAR", 1, 1, 15));
	ASSERT_EQ(0, verbs_open(&setup, NULL, QPS));
	ASSERT_EQ(0, simhca_fail_nothing());
	EXPECT_EQ(self->fallbacks + 1, sysfs_number("uuar_fallbacks"));
	precedence_look(_metadata, &setup, &by_fallback);
	verbs_close(&setup);
	opened(_metadata, &by_cgroup);
}

TEST_HARNESS_MAIN
