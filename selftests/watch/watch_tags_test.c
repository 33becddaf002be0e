// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * Addresses with a tag, as LAM of x86 and TBI and MTE of arm64 have them: what the
 * module makes of them. The kernel's part is written down here again, as no kernel of
 * the lab has such address spaces.
 */
#include "kselftest_harness.h"

typedef uint64_t u64;

/* Bits of a tag, as in arch/x86/kernel/process_64.c. Bit 63 is no tag. */
#define LAM_U57	(0x3full << 57)
#define LAM_U48	(0x7fffull << 48)

static struct mm_struct {
	u64 untag_mask;
} space;
static struct task_struct {
	struct mm_struct *mm;
} task = { .mm = &space }, *current = &task;

static inline u64 space_untag_mask(const struct mm_struct *mm)
{
	return mm->untag_mask;
}

/* An x86 kernel with CONFIG_ADDRESS_MASKING. */
#define mm_untag_mask(mm) space_untag_mask(mm)
#define CONFIG_X86
#define compat_untagged_addr lam_untagged_addr
#include "../../kernel/compat/untagged.h"
#undef MLX5_EP_COMPAT_UNTAGGED_H
#undef compat_untagged_addr
#undef mm_untag_mask

/* One that has no mask: before 6.4. */
#define compat_untagged_addr no_untagged_addr
#include "../../kernel/compat/untagged.h"
#undef MLX5_EP_COMPAT_UNTAGGED_H
#undef compat_untagged_addr
#undef CONFIG_X86

/* arm64: bits 63:56 become copies of bit 55, in user addresses alone. */
static inline u64 untagged_addr(u64 addr)
{
	return addr & (u64)((int64_t)(addr << 8) >> 8);
}

#define compat_untagged_addr arm_untagged_addr
#include "../../kernel/compat/untagged.h"

static const u64 addresses[] = {
	0x1000, 0x7f1234567000, 0x7ffffffff000, 0x00ff123456789000,
};

TEST(the_mask_of_the_address_space_is_applied)
{
	size_t i;

	for (i = 0; i < 3; i++) {
		space.untag_mask = ~0ull;
		EXPECT_EQ(addresses[i], lam_untagged_addr(addresses[i]));
		/* A process that has no LAM has no tags: the address is wrong. */
		EXPECT_EQ(addresses[i] | LAM_U57,
			  lam_untagged_addr(addresses[i] | LAM_U57));
		space.untag_mask = ~LAM_U48;
		EXPECT_EQ(addresses[i],
			  lam_untagged_addr(addresses[i] | LAM_U48));
	}
	for (i = 0; i < 4; i++) {
		space.untag_mask = ~LAM_U57;
		EXPECT_EQ(addresses[i],
			  lam_untagged_addr(addresses[i] | LAM_U57));
		EXPECT_EQ(addresses[i],
			  lam_untagged_addr(addresses[i] | 0x2aull << 57));
	}
}

TEST(an_address_of_the_kernel_does_not_become_one_of_the_process)
{
	space.untag_mask = ~LAM_U57;
	EXPECT_NE(0, lam_untagged_addr(0xffff888000001000) >> 63);
	space.untag_mask = ~LAM_U48;
	EXPECT_NE(0, lam_untagged_addr(0xffff888000001000) >> 63);
}

TEST(a_kernel_without_masks_leaves_addresses_alone)
{
	EXPECT_EQ(0x7f1234567000, no_untagged_addr(0x7f1234567000));
	EXPECT_EQ(LAM_U57 | 0x1000, no_untagged_addr(LAM_U57 | 0x1000));
}

TEST(other_architectures_use_their_own_function)
{
	EXPECT_EQ(0x7f1234567000, arm_untagged_addr(0xab007f1234567000));
	EXPECT_EQ(0x1000, arm_untagged_addr(0x0f00000000001000));
}

TEST_HARNESS_MAIN
