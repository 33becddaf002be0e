// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core */
/*
 * If a baseline is not restored, its message names the objects that are left
 * and their owners.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "baseline.h"
#include "sysfs.h"
#include "verbs.h"

FIXTURE(baseline)
{
	struct baseline base;
	struct verbs_setup setup;
	struct verbs_endpoint endpoint;
};

FIXTURE_SETUP(baseline)
{
	ASSERT_EQ(0, sysfs_policy("independent", 2, false));
	ASSERT_EQ(0, baseline_take(&self->base));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, 1));
	ASSERT_EQ(0, verbs_endpoint_create(&self->setup, &self->endpoint,
					   IBV_QPT_RC));
}

FIXTURE_TEARDOWN(baseline)
{
	sysfs_defaults();
}

/* The message of baseline_restored(), which does not wait here. */
static int baseline_text_of(struct baseline *base, char *text, size_t size)
{
	int file = memfd_create("stderr", MFD_CLOEXEC);
	int saved = dup(STDERR_FILENO);
	ssize_t n;
	int ret;

	dup2(file, STDERR_FILENO);
	ret = baseline_restored(base, 0);
	dup2(saved, STDERR_FILENO);
	n = pread(file, text, size - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(saved);
	close(file);
	return ret;
}

TEST_F(baseline, what_is_left_is_named)
{
	char text[65536], qp[32];

	EXPECT_EQ(-EBUSY, baseline_text_of(&self->base, text, sizeof(text)));
	snprintf(qp, sizeof(qp), "# left: QP 0x%x ",
		 self->endpoint.qp->qp_num);
	EXPECT_NE(NULL, strstr(text, "# left: objects alive: qp: "));
	EXPECT_NE(NULL, strstr(text, qp));
	EXPECT_NE(NULL, strstr(text, "/contexts:"));
	EXPECT_NE(NULL, strstr(text, "/dev/infiniband/uverbs")) {
		TH_LOG("%s", text);
	}
	verbs_endpoint_destroy(&self->endpoint);
	verbs_close(&self->setup);
	EXPECT_EQ(0, baseline_restored(&self->base, 5));
}

TEST_F(baseline, one_object_can_be_allowed)
{
	static const char *const none[] = { "srq" }, *const some[] = { "qp" };
	struct baseline with_qp;

	ASSERT_EQ(0, baseline_look(&with_qp, BASELINE_VERBS));
	with_qp.alive[5]--;
	baseline_allow(&with_qp, none, 1);
	EXPECT_EQ(0, with_qp.allowed[7] | with_qp.allowed[6]);
	baseline_allow(&with_qp, some, 1);
	EXPECT_EQ(1, with_qp.allowed[5]);
	EXPECT_EQ(0, baseline_restored(&with_qp, 5));
	verbs_endpoint_destroy(&self->endpoint);
	EXPECT_EQ(0, baseline_restored(&with_qp, 5));
	EXPECT_EQ(0, with_qp.allowed[5]);
	verbs_close(&self->setup);
}

TEST_HARNESS_MAIN
