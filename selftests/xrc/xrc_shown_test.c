// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, timeout: 60 */
/*
 * `rdma -dd resource show` says which XRC domain a shared receive QP and the SRQs are
 * in, how many registrants the QP has, and how many shared QPs the domain has: what
 * `mlx5ep show xrc` says.
 */
#include "kselftest_harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "baseline.h"
#include "xrc.h"

#define DOMAIN_FILE "/tmp/xrc_shown_domain"

FIXTURE(shown)
{
	struct baseline base;
	struct xrc_node node;
	struct mlx5ep_xrc_rcv_qp *first, *second;
};

FIXTURE_SETUP(shown)
{
	ASSERT_EQ(0, baseline_take(&self->base));
	ASSERT_EQ(0, xrc_node_open(&self->node, NULL, DOMAIN_FILE, 1));
	ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "a", 1, 0, NULL,
					   &self->first));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_get(self->node.xrcd, "a", 1, 0, NULL,
					   &self->second));
}

FIXTURE_TEARDOWN(shown)
{
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->second));
	if (self->first)
		EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->first));
	EXPECT_EQ(0, xrc_node_close(&self->node));
	unlink(DOMAIN_FILE);
	EXPECT_EQ(0, baseline_restored(&self->base, 5));
}

/*
 * 0: @filter is true of the only object that `rdma resource show` shows of this kind and
 * that @which is true of. $domain and $qp are what the tool shows of the domain and of
 * its QP.
 */
static int says(const char *kind, const char *which, const char *filter)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "mlx5ep -j show xrc | jq -c '.devices[0].xrc' >/tmp/xrc_shown.json && "
		 "rdma -j -dd resource show %s | sed 's/\"drv_/\"/g' | jq -e --slurpfile tool /tmp/xrc_shown.json "
		 "'($tool[0][] | select(.kind == \"domain\")) as $domain | "
		 "($tool[0][] | select(.kind == \"qp\")) as $qp | "
		 "[.[] | select(%s)] | length == 1 and (.[0] | %s)' >/dev/null; "
		 "code=$?; rm -f /tmp/xrc_shown.json; exit $code",
		 kind, which, filter);
	return system(command);
}

TEST_F(shown, the_registrants_of_a_shared_qp)
{
	static const char filter[] =
		".xrc_domain == $domain.id and .registrants == $qp.registrants and .lqpn == $qp.num";

	EXPECT_EQ(0, says("qp", ".type == \"XRC_TGT\"", filter));
	EXPECT_EQ(0, says("qp", ".type == \"XRC_TGT\"", ".registrants == 2"));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(self->first));
	self->first = NULL;
	EXPECT_EQ(0, says("qp", ".type == \"XRC_TGT\"", filter));
	EXPECT_EQ(0, says("qp", ".type == \"XRC_TGT\"", ".registrants == 1"));
}

TEST_F(shown, the_domain_of_an_srq)
{
	struct utsname name;

	ASSERT_EQ(0, uname(&name));
	if (!strncmp(name.release, "6.1.", 4))
		SKIP(return, "its ib_core does not ask drivers about SRQs");
	EXPECT_EQ(0, says("srq", ".pid", ".type == \"XRC\""));
	EXPECT_EQ(0, says("srq", ".pid",
			  ".xrc_domain == $domain.id and .xrc_qps == $domain.qps"));
	EXPECT_EQ(0, says("srq", ".pid", ".xrc_qps == 1"));
	/* The driver's own has none, and nobody has registered in its domain. */
	EXPECT_EQ(0, says("srq", ".xrc_domain", ".pid"));
}

/* Another domain, with two QPs. Each is shown with its own. */
TEST_F(shown, the_qps_of_each_of_two_domains)
{
	static const char command[] =
		"rdma -j -dd resource show srq | sed 's/\"drv_/\"/g' | "
		"jq -e '[.[] | select(.pid) | .xrc_qps] | sort == [1, 2]' >/dev/null";
	struct mlx5ep_xrc_rcv_qp *qps[2];
	struct xrc_node other;
	struct utsname name;
	int i;

	ASSERT_EQ(0, uname(&name));
	if (!strncmp(name.release, "6.1.", 4))
		SKIP(return, "its ib_core does not ask drivers about SRQs");
	ASSERT_EQ(0, xrc_node_open(&other, NULL, NULL, 1));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(1, mlx5ep_xrc_rcv_qp_get(other.xrcd, &"ab"[i], 1, 0,
						   NULL, &qps[i]));
	EXPECT_EQ(0, system(command));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(qps[i]));
	EXPECT_EQ(0, xrc_node_close(&other));
}

TEST_HARNESS_MAIN
