// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * A program that is not linked to the library and opens it with dlopen(): each call of
 * the headers is found by its own name, and a call writes no more of a structure than
 * the structure had in the release that brought the call.
 */
#include "kselftest_harness.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>

#include <mlx5ep.h>

#define POISON 0x5a
#define END(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/* What the inline function has as its type, the exported one has too. */
#define FIND(name) ((__typeof__(name) *)dlsym(self->library, #name))

FIXTURE(plain)
{
	void *library;
	unsigned char poison[512];
};

FIXTURE_SETUP(plain)
{
	self->library = dlopen("libmlx5ep.so.0", RTLD_NOW | RTLD_LOCAL);
	ASSERT_NE(NULL, self->library) TH_LOG("%s", dlerror());
	memset(self->poison, POISON, sizeof(self->poison));
}

FIXTURE_TEARDOWN(plain)
{
	EXPECT_EQ(0, dlclose(self->library));
}

static bool poisoned(const void *from, const void *end)
{
	const unsigned char *byte;

	for (byte = from; byte < (const unsigned char *)end; byte++)
		if (*byte != POISON)
			return false;
	return true;
}

TEST_F(plain, the_program_is_not_linked_to_the_library)
{
	char name[] = "libmlx5ep.so.0";

	dlclose(self->library);
	EXPECT_EQ(NULL, dlopen(name, RTLD_NOW | RTLD_NOLOAD));
	self->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	ASSERT_NE(NULL, self->library);
}

TEST_F(plain, calls_that_are_inline_in_the_headers_are_found)
{
	EXPECT_NE(NULL, FIND(mlx5ep_context_dump));
	EXPECT_NE(NULL, FIND(mlx5ep_context_query));
	EXPECT_NE(NULL, FIND(mlx5ep_context_set_policy));
	EXPECT_NE(NULL, FIND(mlx5ep_device_query));
	EXPECT_NE(NULL, FIND(mlx5ep_domain_query));
	EXPECT_NE(NULL, FIND(mlx5ep_endpoints_get));
	EXPECT_NE(NULL, FIND(mlx5ep_endpoints_query));
	EXPECT_NE(NULL, FIND(mlx5ep_mr_cache_query));
	EXPECT_NE(NULL, FIND(mlx5ep_mr_check));
	EXPECT_NE(NULL, FIND(mlx5ep_qp_query_uuar));
	EXPECT_NE(NULL, FIND(mlx5ep_watch_add_batch));
	EXPECT_NE(NULL, FIND(mlx5ep_xrc_rcv_qp_modify));
	EXPECT_NE(NULL, FIND(mlx5ep_xrc_rcv_qp_query));
}

TEST_F(plain, the_release_of_the_library_is_told)
{
	__typeof__(mlx5ep_version) *version = FIND(mlx5ep_version);

	ASSERT_NE(NULL, version);
	EXPECT_EQ(MLX5EP_VERSION, version());
}

TEST_F(plain, an_answer_is_as_long_as_when_the_call_came)
{
	__typeof__(mlx5ep_endpoints_predict) *predict =
		FIND(mlx5ep_endpoints_predict);
	struct mlx5ep_endpoints_attr attr = {
		.category = MLX5EP_CATEGORY_DYNAMIC,
	};
	struct mlx5ep_endpoints_info *info = (void *)self->poison;

	ASSERT_NE(NULL, predict);
	ASSERT_EQ(0, predict(&attr, 16, info));
	EXPECT_EQ(16, info->uar_pages);
	EXPECT_EQ(16, info->level[1]);
	EXPECT_TRUE(poisoned((char *)info +
			     END(struct mlx5ep_endpoints_info, bytes),
			     self->poison + sizeof(self->poison)));
	EXPECT_EQ(-EINVAL, predict(&attr, 0, info));
}

TEST_F(plain, a_word_is_compared)
{
	__typeof__(mlx5ep_watch_valid) *watch_valid = FIND(mlx5ep_watch_valid);
	__typeof__(mlx5ep_mr_valid) *mr_valid = FIND(mlx5ep_mr_valid);
	uint64_t word = 17;
	struct mlx5ep_mr mr = { .watch = { .word = &word, .armed = 17 } };

	ASSERT_NE(NULL, watch_valid);
	ASSERT_NE(NULL, mr_valid);
	EXPECT_TRUE(watch_valid(&mr.watch));
	EXPECT_TRUE(mr_valid(&mr));
	word = 18;
	EXPECT_FALSE(watch_valid(&mr.watch));
	EXPECT_FALSE(mr_valid(&mr));
}

TEST_F(plain, a_device_without_the_module_is_told)
{
	__typeof__(mlx5ep_context_query) *query = FIND(mlx5ep_context_query);
	struct mlx5_ep_context_info *info = (void *)self->poison;
	struct ibv_device dev = { .ibdev_path = "/nowhere" };
	struct ibv_context ctx = { .device = &dev, .cmd_fd = -1 };

	ASSERT_NE(NULL, query);
	EXPECT_EQ(-EOPNOTSUPP, query(&ctx, info));
	EXPECT_TRUE(poisoned(self->poison,
			     self->poison + sizeof(self->poison)));
}

/* What Documentation/library.md says never becomes longer; on 64 bits. */
TEST(structures_that_a_program_lays_out_keep_their_size)
{
	EXPECT_EQ(48, sizeof(struct mlx5ep_watch));
	EXPECT_EQ(72, sizeof(struct mlx5ep_mr));
	EXPECT_EQ(64, sizeof(struct mlx5ep_endpoint_address));
	EXPECT_EQ(8, sizeof(struct mlx5ep_mr_cache_entry));
	EXPECT_EQ(64, sizeof(struct mlx5_ep_event));
	EXPECT_EQ(40, sizeof(struct mlx5_ep_watch_add));
	EXPECT_EQ(16, sizeof(struct mlx5_ep_uuar_info));
}

/* What a program passes has the room of its reserved members, and no more. */
TEST(attributes_keep_their_size)
{
	EXPECT_EQ(40, sizeof(struct mlx5ep_domain_attr));
	EXPECT_EQ(64, sizeof(struct mlx5ep_connect_attr));
	EXPECT_EQ(64, sizeof(struct mlx5ep_endpoint_attr));
	EXPECT_EQ(96, sizeof(struct mlx5ep_endpoints_attr));
	EXPECT_EQ(56, sizeof(struct mlx5ep_mr_cache_attr));
	EXPECT_EQ(48, sizeof(struct mlx5ep_mr_cache_get_attr));
	EXPECT_EQ(32, sizeof(struct mlx5ep_xrc_events));
}

TEST_HARNESS_MAIN
