// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * The registrations that the library for UCX answers, with ucx_regs.c compiled into this
 * program: which of them have a watch, what becomes of it if the memory changes or a call
 * fails, and that each is found again among very many. Verbs and watches are made up.
 */
#include "kselftest_harness.h"

#include <stdlib.h>
#include <string.h>

#include "../../userlib/ucx/ucx_regs.c"
#include "cancelled.h"

#define MANY (3 * REGS_BUCKETS)

/* What the adapter and the kernel have, and how they answer. */
static struct {
	int registered;		/* registrations */
	int registrations;	/* calls so far */
	int watches;
	int unwatched;
	int changes;		/* times that memory changes while it is registered */
	int reg_errno;		/* of calls that register; 0: they work */
	int dereg_ret;
	int add_ret;
	bool no_notifier;
	int declined, missed;
	struct ucx_reg_call call;	/* the last one */
} fake;

struct mlx5ep_notifier *ucx_events_notifier(void)
{
	return fake.no_notifier ? NULL : (struct mlx5ep_notifier *)&fake;
}

UCX_THREAD struct ucx_noted ucx_noted;

void ucx_env_decline(const char *format, ...)
{
	fake.declined++;
}

void ucx_lookup_missed(const void *caller)
{
	fake.missed++;
}

void ucx_events_unwatched(int by)
{
	fake.unwatched += by;
}

int mlx5ep_watch_add(struct mlx5ep_notifier *notifier, const void *addr, size_t length,
		     uint64_t cookie, struct mlx5ep_watch *watch)
{
	(void)cookie;
	pthread_testcancel();
	if (fake.add_ret)
		return fake.add_ret;
	memset(watch, 0, sizeof(*watch));
	watch->notifier = notifier;
	fake.watches++;
	return addr && length ? 0 : -EINVAL;
}

int mlx5ep_watch_del(struct mlx5ep_watch *watch)
{
	fake.watches -= watch->notifier != NULL;
	watch->notifier = NULL;
	return 0;
}

int mlx5ep_watch_record(struct mlx5ep_watch *watch)
{
	(void)watch;
	return fake.changes > 0 && fake.changes-- ? -EAGAIN : 0;
}

static struct ibv_mr *registered(struct ibv_pd *pd, void *addr, size_t length,
				 uint64_t iova, unsigned int access)
{
	fake.registrations++;
	pthread_testcancel();
	fake.call = (struct ucx_reg_call){
		.pd = pd, .addr = addr, .length = length,
		.iova = iova, .access = access,
	};
	if (fake.reg_errno) {
		errno = fake.reg_errno;
		return NULL;
	}
	fake.registered++;
	return calloc(1, sizeof(struct ibv_mr));
}

static struct ibv_mr *fake_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
				  int access)
{
	return registered(pd, addr, length, 0, access);
}

static struct ibv_mr *fake_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length,
				       uint64_t iova, int access)
{
	return registered(pd, addr, length, iova, access);
}

static int fake_dereg_mr(struct ibv_mr *mr)
{
	pthread_testcancel();
	if (fake.dereg_ret)
		return fake.dereg_ret;
	fake.registered--;
	free(mr);
	return 0;
}

void *ucx_real(const char *name, const void *caller)
{
	static const struct {
		const char *name;
		void *function;
	} functions[] = {
		{ "ibv_reg_mr", fake_reg_mr },
		{ "ibv_reg_mr_iova", fake_reg_mr_iova },
		{ "ibv_reg_mr_iova2", registered },
		{ "ibv_dereg_mr", fake_dereg_mr },
	};
	size_t i;

	(void)caller;
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strcmp(functions[i].name, name))
			return functions[i].function;
	return NULL;
}

FIXTURE(regs)
{
	struct ibv_pd pd;
	char memory[64];
};

FIXTURE_SETUP(regs)
{
	memset(&fake, 0, sizeof(fake));
}

FIXTURE_TEARDOWN(regs)
{
	size_t i;

	EXPECT_TRUE(thread_is_free());
	EXPECT_EQ(0, fake.registered);
	EXPECT_EQ(0, fake.watches);
	EXPECT_EQ(0, fake.unwatched);
	for (i = 0; i < REGS_BUCKETS; i++)
		ASSERT_EQ(NULL, regs[i]);
}

static struct ibv_mr *ucx_regs_reg(FIXTURE_DATA(regs) *self)
{
	return ibv_reg_mr(&self->pd, self->memory, sizeof(self->memory),
			  IBV_ACCESS_LOCAL_WRITE);
}

TEST_F(regs, of_each_call_are_made_as_it_says)
{
	struct ibv_mr *mr[3];
	int i;

	mr[0] = ucx_regs_reg(self);
	EXPECT_EQ(0, fake.call.iova);
	EXPECT_EQ(IBV_ACCESS_LOCAL_WRITE, fake.call.access);
	mr[1] = ibv_reg_mr_iova(&self->pd, self->memory, 7, 0x1234,
				IBV_ACCESS_REMOTE_READ);
	EXPECT_EQ(7, fake.call.length);
	EXPECT_EQ(0x1234, fake.call.iova);
	EXPECT_EQ(IBV_ACCESS_REMOTE_READ, fake.call.access);
	mr[2] = ibv_reg_mr_iova2(&self->pd, self->memory + 1, 9, 0x5678,
				 IBV_ACCESS_REMOTE_WRITE);
	EXPECT_EQ(&self->pd, fake.call.pd);
	EXPECT_EQ(self->memory + 1, fake.call.addr);
	EXPECT_EQ(9, fake.call.length);
	EXPECT_EQ(0x5678, fake.call.iova);
	EXPECT_EQ(IBV_ACCESS_REMOTE_WRITE, fake.call.access);
	EXPECT_EQ(3, fake.watches);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, ibv_dereg_mr(mr[i]));
}

TEST_F(regs, are_found_again_among_very_many)
{
	static struct ibv_mr *mr[MANY];
	int i;

	for (i = 0; i < MANY; i++) {
		mr[i] = ucx_regs_reg(self);
		ASSERT_NE(NULL, mr[i]);
	}
	EXPECT_EQ(MANY, fake.watches);
	/* Those in the middle of a bucket, then those at its ends. */
	for (i = 1; i < MANY; i += 2)
		ASSERT_EQ(0, ibv_dereg_mr(mr[i]));
	EXPECT_EQ(MANY / 2, fake.watches);
	for (i = 0; i < MANY; i += 2)
		ASSERT_EQ(0, ibv_dereg_mr(mr[i]));
}

TEST_F(regs, begin_anew_if_the_memory_changes)
{
	struct ibv_mr *mr;

	fake.changes = 2;
	mr = ucx_regs_reg(self);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(3, fake.registrations);
	EXPECT_EQ(1, fake.registered);
	EXPECT_EQ(1, fake.watches);
	EXPECT_EQ(0, ibv_dereg_mr(mr));

	/* If it always changes, the last one is kept, and its watch was hit. */
	fake.registrations = 0;
	fake.changes = 2 * REG_TRIES;
	mr = ucx_regs_reg(self);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(REG_TRIES, fake.registrations);
	EXPECT_EQ(1, fake.registered);
	EXPECT_EQ(1, fake.watches);
	fake.changes = 0;
	EXPECT_EQ(0, ibv_dereg_mr(mr));

	/* So is one that cannot be taken back. */
	fake.registrations = 0;
	fake.changes = 1;
	fake.dereg_ret = EBUSY;
	mr = ucx_regs_reg(self);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(1, fake.registrations);
	EXPECT_EQ(1, fake.watches);
	fake.dereg_ret = 0;
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

TEST_F(regs, that_fail_have_no_watch)
{
	fake.reg_errno = ENOMEM;
	errno = 0;
	EXPECT_EQ(NULL, ucx_regs_reg(self));
	EXPECT_EQ(ENOMEM, errno);
	EXPECT_EQ(1, fake.registrations);
	EXPECT_EQ(0, fake.watches);
}

TEST_F(regs, without_a_watch_are_counted)
{
	struct ibv_mr *mr;

	fake.add_ret = -ENOSPC;
	mr = ucx_regs_reg(self);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(1, fake.unwatched);
	EXPECT_EQ(1, fake.declined);
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, fake.unwatched);
	/* One that fails is none. */
	fake.reg_errno = EINVAL;
	EXPECT_EQ(NULL, ucx_regs_reg(self));
	EXPECT_EQ(EINVAL, errno);
}

/* The probe of a UCX context counts on that. */
TEST_F(regs, are_noted_by_what_they_got)
{
	struct ibv_mr *mr[3];
	int i;

	ucx_noted = (struct ucx_noted) {};
	mr[0] = ucx_regs_reg(self);
	EXPECT_EQ(1, ucx_noted.watched);
	mr[1] = ibv_reg_mr(&self->pd, self->memory, 1, IBV_ACCESS_ON_DEMAND);
	EXPECT_EQ(1, ucx_noted.on_demand);
	fake.add_ret = -EIO;
	mr[2] = ucx_regs_reg(self);
	EXPECT_EQ(1, ucx_noted.unwatched);
	EXPECT_EQ(1, ucx_noted.watched);
	EXPECT_EQ(1, ucx_noted.on_demand);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, ibv_dereg_mr(mr[i]));
}

static void cancelled_reg(void *mr)
{
	static char memory[64];

	*(struct ibv_mr **)mr = ibv_reg_mr(NULL, memory, sizeof(memory),
					   IBV_ACCESS_LOCAL_WRITE);
}

static void cancelled_dereg(void *mr)
{
	ibv_dereg_mr(*(struct ibv_mr **)mr);
}

TEST_F(regs, are_whole_in_a_thread_that_is_cancelled)
{
	struct ibv_mr *mr = NULL;

	EXPECT_TRUE(cancelled_after(cancelled_reg, &mr));
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(1, fake.watches);
	EXPECT_TRUE(cancelled_after(cancelled_dereg, &mr));
}

TEST_F(regs, that_need_no_watch_are_passed_on)
{
	struct ibv_mr *mr[3];
	int i;

	mr[0] = ibv_reg_mr(&self->pd, self->memory, sizeof(self->memory),
			   IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE);
	mr[1] = ibv_reg_mr(&self->pd, self->memory, 0, IBV_ACCESS_LOCAL_WRITE);
	EXPECT_EQ(0, fake.missed);
	fake.no_notifier = true;
	mr[2] = ucx_regs_reg(self);
	EXPECT_EQ(1, fake.missed);
	EXPECT_EQ(3, fake.registered);
	EXPECT_EQ(0, fake.watches);
	EXPECT_EQ(0, fake.unwatched);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, ibv_dereg_mr(mr[i]));
}

/*
 * In a child without a handler the lock stays with a thread of the parent, which may have
 * been here when the child was forked.
 */
TEST_F_TIMEOUT(regs, are_given_back_without_a_lock_if_there_is_no_notifier, 5)
{
	struct ibv_mr *mr;

	fake.no_notifier = true;
	mr = ucx_regs_reg(self);
	ASSERT_NE(NULL, mr);
	pthread_mutex_lock(&lock);
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	pthread_mutex_unlock(&lock);
}

TEST_F(regs, stay_if_they_cannot_be_taken_back)
{
	struct ibv_mr *mr = ucx_regs_reg(self);

	ASSERT_NE(NULL, mr);
	fake.dereg_ret = EBUSY;
	EXPECT_EQ(EBUSY, ibv_dereg_mr(mr));
	EXPECT_EQ(1, fake.watches);
	fake.dereg_ret = 0;
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

TEST_F(regs, of_the_parent_are_forgotten_in_a_child)
{
	struct ibv_mr *mr = ucx_regs_reg(self), *own;
	struct ucx_reg **at = regs_bucket(mr), *of_parent = *at;

	ASSERT_NE(NULL, mr);
	ASSERT_NE(NULL, of_parent);
	pthread_mutex_lock(&lock);
	ucx_regs_forked();
	/* Another thread of the parent may have had the lock. */
	own = ucx_regs_reg(self);
	ASSERT_NE(NULL, own);
	EXPECT_EQ(0, ibv_dereg_mr(own));
	/* That of the parent is none with a watch here. */
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(1, fake.watches);
	fake.watches = 0;
	free(of_parent);
}

TEST_HARNESS_MAIN
