// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * Watches, and registrations with a watch, as the library asks the kernel and verbs for
 * them: mr_watch.c compiled into this program, with both made up. What changes while it is
 * registered is registered again, and what fails leaves neither. A registration can be given
 * back after its notifier is destroyed.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../userlib/process.c"

static void *fake_calloc(size_t n, size_t size);
static void fake_free(void *block);

#define calloc fake_calloc
#define free fake_free
#include "../../userlib/mr_watch.c"
#include "../../userlib/notifier.c"
#undef calloc
#undef free
#include "../../userlib/uverbs.c"

#define SLOTS	8
#define FD	77
#define PD	((struct ibv_pd *)&fake)

static struct {
	int error;		/* of each ioctl; 0: it succeeds */
	int calls;
	struct mlx5_ep_watch_batch batch;
	struct mlx5_ep_watch_ref refs[SLOTS];
	int result;		/* of each watch that is verified */
	int changes;		/* times that a record says that memory changed */
	int watches, records, dels;

	struct mlx5_ep_watch_dmabuf dmabuf;
	int dmabuf_fd;		/* of the notifier, as the call had it */

	int registrations, registered;
	int dereg_fails;	/* so many times; -1: always */
	int deregs;
	int reg_errno;
	int watched_at_reg;	/* watches when memory was registered */
	struct ibv_mr mr;
	uint64_t iova;
	int access, mr_fd;
	size_t length;

	int blocks;
	bool no_memory;
} fake;

static void *fake_calloc(size_t n, size_t size)
{
	if (fake.no_memory)
		return NULL;
	fake.blocks++;
	return calloc(n, size);
}

static void fake_free(void *block)
{
	fake.blocks -= block != NULL;
	free(block);
}

int mlx5ep_uverbs_id(struct ibv_context *ctx, const char *name)
{
	return strcmp(name, "object notifier") ? -EPROTO : 0x100b;
}

void mlx5ep_uverbs_forget(struct ibv_context *ctx)
{
}

static void fake_add(void)
{
	char *at = (char *)(uintptr_t)fake.batch.entries;
	struct mlx5_ep_watch_add *range;
	unsigned int i;

	for (i = 0; i < fake.batch.count; i++, at += fake.batch.entry_size) {
		range = (void *)at;
		range->slot = 2 + i;
		range->word = range->addr + range->length + range->cookie;
		fake.watches++;
	}
}

static void fake_refs(unsigned long request)
{
	struct mlx5_ep_watch_ref *refs = (void *)(uintptr_t)fake.batch.entries;
	unsigned int i;

	memcpy(fake.refs, refs, fake.batch.count * sizeof(*refs));
	for (i = 0; i < fake.batch.count; i++)
		refs[i].result = fake.result;
	if (request == MLX5_EP_IOC_WATCH_DEL) {
		fake.watches -= fake.batch.count;
		fake.dels++;
		refs[0].result = 0;
	} else if (fake.batch.flags & MLX5_EP_WATCH_VERIFY_RECORD) {
		fake.records++;
		if (fake.changes) {
			fake.changes -= fake.changes > 0;
			refs[0].result = MLX5_EP_WATCH_STATE_STALE;
		}
	}
}

/* The file of a notifier is what a test has opened as FD. */
static void fake_notifier(struct ib_uverbs_ioctl_hdr *hdr)
{
	hdr->attrs[0].data_s64 = FD;
}

static void fake_dmabuf(struct ib_uverbs_ioctl_hdr *hdr)
{
	struct mlx5_ep_watch_dmabuf_resp *resp = (void *)(uintptr_t)hdr->attrs[2].data;

	fake.dmabuf_fd = hdr->attrs[0].data_s64;
	memcpy(&fake.dmabuf, (void *)(uintptr_t)hdr->attrs[1].data, sizeof(fake.dmabuf));
	resp->slot = 5;
	resp->word = 555;
	fake.watches++;
}

int ioctl(int fd, unsigned long request, ...)
{
	void *arg;
	va_list args;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	fake.calls++;
	errno = fake.error;
	if (fake.error)
		return -1;
	if (request == RDMA_VERBS_IOCTL) {
		if (((struct ib_uverbs_ioctl_hdr *)arg)->method_id ==
		    MLX5_EP_METHOD_NOTIFIER_CREATE)
			fake_notifier(arg);
		else
			fake_dmabuf(arg);
		return 0;
	}
	errno = EBADF;
	if (fd != FD)
		return -1;
	fake.batch = *(struct mlx5_ep_watch_batch *)arg;
	if (request == MLX5_EP_IOC_WATCH_ADD)
		fake_add();
	else
		fake_refs(request);
	return 0;
}

static struct ibv_mr *registered(size_t length, uint64_t iova, int access, int fd)
{
	fake.registrations++;
	fake.watched_at_reg = fake.watches;
	fake.length = length;
	fake.iova = iova;
	fake.access = access;
	fake.mr_fd = fd;
	errno = fake.reg_errno;
	if (fake.reg_errno)
		return NULL;
	fake.registered++;
	return &fake.mr;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	return registered(length, iova, access, -1);
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
				 uint64_t iova, int fd, int access)
{
	return registered(length, iova, access, fd);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	fake.deregs++;
	if (fake.dereg_fails) {
		fake.dereg_fails -= fake.dereg_fails > 0;
		errno = EBUSY;
		return errno;
	}
	fake.registered--;
	return 0;
}

FIXTURE(watch)
{
	struct ibv_context ctx;
	struct mlx5ep_notifier notifier;
	uint64_t words[SLOTS];
	struct mlx5ep_watch watches[3];
	struct mlx5ep_mr mr;
};

FIXTURE_SETUP(watch)
{
	self->notifier.fd = FD;
	self->notifier.users = 1;
	self->notifier.context = &self->ctx;
	self->notifier.words = self->words;
	self->notifier.memory = mlx5ep_process_memory();
	fake.result = MLX5_EP_WATCH_STATE_ARMED;
}

FIXTURE_TEARDOWN(watch)
{
	EXPECT_EQ(0, fake.blocks);
}

TEST_F(watch, of_a_batch_are_as_the_kernel_says)
{
	struct {
		struct mlx5_ep_watch_add known;
		uint64_t later;
	} ranges[3] = {
		{ { .addr = 10, .length = 1, .cookie = 100 }, 0 },
		{ { .addr = 20, .length = 2, .cookie = 200 }, 0 },
		{ { .addr = 30, .length = 3, .cookie = 300 }, 0 },
	};
	int i;

	fake.error = ENOSPC;
	EXPECT_EQ(-ENOSPC, _mlx5ep_watch_add_batch(&self->notifier, &ranges[0].known,
						   sizeof(ranges[0]), self->watches, 3));
	EXPECT_EQ(NULL, self->watches[0].notifier);
	fake.error = 0;
	ASSERT_EQ(0, _mlx5ep_watch_add_batch(&self->notifier, &ranges[0].known,
					     sizeof(ranges[0]), self->watches, 2));
	EXPECT_EQ(NULL, self->watches[2].notifier);
	EXPECT_EQ(sizeof(ranges[0]), fake.batch.entry_size);
	EXPECT_EQ(2, fake.batch.count);
	EXPECT_EQ(0, fake.batch.flags);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(&self->words[2 + i], self->watches[i].word);
		EXPECT_EQ(2 + i, self->watches[i].slot);
		EXPECT_EQ(111 * (i + 1), self->watches[i].armed);
		EXPECT_EQ(&self->notifier, self->watches[i].notifier);
	}
	EXPECT_EQ(0, mlx5ep_watch_del_batch(self->watches, 2));
	EXPECT_EQ(2, fake.batch.count);
	EXPECT_EQ(sizeof(struct mlx5_ep_watch_ref), fake.batch.entry_size);
	EXPECT_EQ(222, fake.refs[1].word);
	EXPECT_EQ(3, fake.refs[1].slot);
	fake.calls = 0;
	EXPECT_EQ(-EINVAL, mlx5ep_watch_del_batch(self->watches, 0));
	fake.no_memory = true;
	EXPECT_EQ(-ENOMEM, mlx5ep_watch_del_batch(self->watches, 2));
	EXPECT_EQ(0, fake.calls);
	fake.no_memory = false;
	fake.error = EINTR;
	EXPECT_EQ(-EINTR, mlx5ep_watch_del_batch(self->watches, 2));
}

TEST_F(watch, of_a_dmabuf_is_as_the_kernel_says)
{
	struct mlx5ep_watch *watch = self->watches;

	fake.error = EBADF;
	EXPECT_EQ(-EBADF, mlx5ep_watch_dmabuf(&self->notifier, 9, 1, 2, 3, watch));
	EXPECT_EQ(NULL, watch->notifier);
	fake.error = 0;
	ASSERT_EQ(0, mlx5ep_watch_dmabuf(&self->notifier, 9, 1, 2, 3, watch));
	EXPECT_EQ(FD, fake.dmabuf_fd);
	EXPECT_EQ(9, fake.dmabuf.fd);
	EXPECT_EQ(1, fake.dmabuf.offset);
	EXPECT_EQ(2, fake.dmabuf.length);
	EXPECT_EQ(3, fake.dmabuf.cookie);
	EXPECT_EQ(&self->words[5], watch->word);
	EXPECT_EQ(555, watch->armed);
	EXPECT_EQ(5, watch->slot);
	EXPECT_EQ(&self->notifier, watch->notifier);
}

TEST_F(watch, has_a_state)
{
	static const struct {
		int result, verified, recorded;
	} states[] = {
		{ MLX5_EP_WATCH_STATE_ARMED, 0, 0 },
		{ MLX5_EP_WATCH_STATE_STALE, -ESTALE, -EAGAIN },
		{ MLX5_EP_WATCH_STATE_SUSPECT, -EAGAIN, -EAGAIN },
		{ -ENOENT, -ENOENT, -ENOENT },
		{ -EFAULT, -EFAULT, -EFAULT },
	};
	struct mlx5ep_watch *watch = self->watches;
	struct mlx5_ep_watch_ref refs[2] = {};
	size_t i;

	ASSERT_EQ(0, mlx5ep_watch_add(&self->notifier, (void *)0x1000, 2, 3, watch));
	EXPECT_EQ(0x1005, watch->armed);
	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		fake.result = states[i].result;
		EXPECT_EQ(states[i].verified, mlx5ep_watch_verify(watch));
		EXPECT_EQ(0, fake.batch.flags);
		EXPECT_EQ(0x1005, fake.refs[0].word);
		EXPECT_EQ(2, fake.refs[0].slot);
		EXPECT_EQ(states[i].recorded, mlx5ep_watch_record(watch));
		EXPECT_EQ(MLX5_EP_WATCH_VERIFY_RECORD, fake.batch.flags);
	}
	EXPECT_EQ(0, mlx5ep_watch_verify_refs(&self->notifier, refs, 2));
	EXPECT_EQ(-EFAULT, refs[1].result);
	fake.error = EINTR;
	EXPECT_EQ(-EINTR, mlx5ep_watch_verify(watch));
	EXPECT_EQ(-EINTR, mlx5ep_watch_record(watch));
	EXPECT_EQ(-EINTR, mlx5ep_watch_del(watch));
}

/* Registers memory, or a dma-buf. */
static int watch_calls_reg(FIXTURE_DATA(watch) *self, bool dmabuf)
{
	fake.registrations = 0;
	fake.records = 0;
	fake.deregs = 0;
	memset(&self->mr, 0, sizeof(self->mr));
	return dmabuf ? mlx5ep_reg_dmabuf_mr(&self->notifier, PD, 9, 4096, 8192, 16384, 3,
					     0, &self->mr) :
			mlx5ep_reg_mr_iova(&self->notifier, PD, self->words, 8192, 16384, 3,
					   0, &self->mr);
}

static void registers(struct __test_metadata *_metadata, FIXTURE_DATA(watch) *self,
		      bool dmabuf)
{
	ASSERT_EQ(0, watch_calls_reg(self, dmabuf));
	EXPECT_EQ(1, fake.registrations);
	EXPECT_EQ(1, fake.records);
	/* The watch is there before. */
	EXPECT_EQ(1, fake.watched_at_reg);
	EXPECT_EQ(8192, fake.length);
	EXPECT_EQ(16384, fake.iova);
	EXPECT_EQ(3, fake.access);
	EXPECT_EQ(dmabuf ? 9 : -1, fake.mr_fd);
	EXPECT_EQ(&fake.mr, self->mr.mr);
	EXPECT_EQ(&self->notifier, self->mr.watch.notifier);
	fake.dereg_fails = 1;
	EXPECT_EQ(-EBUSY, mlx5ep_dereg_mr(&self->mr));
	EXPECT_EQ(1, fake.watches);
	EXPECT_EQ(0, mlx5ep_dereg_mr(&self->mr));
	EXPECT_EQ(0, fake.watches);
	EXPECT_EQ(0, fake.registered);

	/* What changes meanwhile is registered anew. */
	fake.changes = 2;
	fake.dereg_fails = 1;
	ASSERT_EQ(0, watch_calls_reg(self, dmabuf));
	EXPECT_EQ(3, fake.registrations);
	EXPECT_EQ(1, fake.registered);
	EXPECT_EQ(1, fake.watches);
	EXPECT_EQ(0, mlx5ep_dereg_mr(&self->mr));
	fake.changes = -1;
	EXPECT_EQ(-EAGAIN, watch_calls_reg(self, dmabuf));
	EXPECT_EQ(REG_TRIES, fake.registrations);
	EXPECT_EQ(0, fake.registered);
	EXPECT_EQ(0, fake.watches);
	EXPECT_EQ(NULL, self->mr.mr);

	/* What cannot be given back is the caller's, and is stale. */
	fake.dereg_fails = -1;
	EXPECT_EQ(0, watch_calls_reg(self, dmabuf));
	EXPECT_EQ(1, fake.registrations);
	EXPECT_EQ(REG_TRIES, fake.deregs);
	EXPECT_EQ(&fake.mr, self->mr.mr);
	EXPECT_EQ(1, fake.watches);
	fake.dereg_fails = 0;
	fake.changes = 0;
	EXPECT_EQ(0, mlx5ep_dereg_mr(&self->mr));
}

static void fails(struct __test_metadata *_metadata, FIXTURE_DATA(watch) *self, bool dmabuf)
{
	fake.error = ENOSPC;
	EXPECT_EQ(-ENOSPC, watch_calls_reg(self, dmabuf));
	EXPECT_EQ(0, fake.registrations);
	fake.error = 0;
	fake.reg_errno = ENOMEM;
	EXPECT_EQ(-ENOMEM, watch_calls_reg(self, dmabuf));
	EXPECT_EQ(1, fake.registrations);
	EXPECT_EQ(0, fake.records);
	EXPECT_EQ(0, fake.deregs);
	EXPECT_EQ(0, fake.watches);
	fake.reg_errno = 0;
	fake.result = -EINTR;
	EXPECT_EQ(-EINTR, watch_calls_reg(self, dmabuf));
	EXPECT_EQ(1, fake.registrations);
	EXPECT_EQ(0, fake.registered);
	EXPECT_EQ(0, fake.watches);
	EXPECT_EQ(NULL, self->mr.mr);
}

TEST_F(watch, is_of_registered_memory)
{
	registers(_metadata, self, false);
	ASSERT_EQ(0, mlx5ep_reg_mr(&self->notifier, PD, self->words, 64, 1, 0, &self->mr));
	EXPECT_EQ((uintptr_t)self->words, fake.iova);
	EXPECT_EQ(0, mlx5ep_dereg_mr(&self->mr));
}

/* Nobody would learn of a change: the watch is gone, and so the registration not valid. */
TEST_F(watch, is_not_of_memory_that_the_kernel_cannot_look_at)
{
	fake.result = -EFAULT;
	ASSERT_EQ(0, watch_calls_reg(self, false));
	EXPECT_EQ(1, fake.registrations);
	EXPECT_EQ(1, fake.registered);
	EXPECT_EQ(&fake.mr, self->mr.mr);
	EXPECT_EQ(0, fake.watches);
	EXPECT_EQ(1, fake.dels);
	fake.watches = 1;	/* As another one is deleted, which the kernel refuses. */
	EXPECT_EQ(0, mlx5ep_dereg_mr(&self->mr));
	EXPECT_EQ(0, fake.registered);

	/* That of the HCA's own page faults has the right memory all the time. */
	fake.dels = 0;
	fake.watches = 0;
	ASSERT_EQ(0, mlx5ep_reg_mr(&self->notifier, PD, self->words, 64,
				   IBV_ACCESS_ON_DEMAND, 0, &self->mr));
	EXPECT_EQ(1, fake.watches);
	EXPECT_EQ(0, fake.dels);
	EXPECT_EQ(0, mlx5ep_dereg_mr(&self->mr));
	EXPECT_EQ(0, fake.watches);
}

TEST_F(watch, is_of_a_registered_dmabuf)
{
	registers(_metadata, self, true);
}

/* A notifier whose file is there. */
static struct mlx5ep_notifier *notifier_of_its_own(struct ibv_context *context)
{
	struct mlx5_ep_notifier_page page = { .capacity = SLOTS };
	struct mlx5ep_notifier *notifier = NULL;
	int fd = memfd_create("notifier", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, MLX5_EP_NOTIFIER_WORDS_OFFSET + sizeof(uint64_t[SLOTS])) ||
	    write(fd, &page, sizeof(page)) != sizeof(page) || dup2(fd, FD) != FD)
		return NULL;
	close(fd);
	mlx5ep_notifier_create(context, SLOTS, &notifier);
	return notifier;
}

TEST_F(watch, is_of_memory_that_outlives_the_notifier)
{
	struct mlx5ep_notifier *n = notifier_of_its_own(&self->ctx);
	struct mlx5ep_mr mr[3];
	int i;

	ASSERT_NE(NULL, n);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, mlx5ep_reg_mr(n, PD, self->words, 64, 1, 0, &mr[i]));
	EXPECT_EQ(0, mlx5ep_dereg_mr(&mr[2]));
	EXPECT_EQ(2, fake.watches);
	EXPECT_EQ(0, mlx5ep_notifier_destroy(n));
	/* Another file has the number of the notifier's, and is asked for nothing. */
	ASSERT_EQ(FD, dup2(2, FD));
	fake.dels = 0;
	fake.dereg_fails = 1;
	EXPECT_EQ(-EBUSY, mlx5ep_dereg_mr(&mr[0]));
	EXPECT_EQ(0, mlx5ep_dereg_mr(&mr[0]));
	EXPECT_EQ(0, mlx5ep_dereg_mr(&mr[1]));
	EXPECT_EQ(0, fake.registered);
	EXPECT_EQ(0, fake.dels);
	close(FD);
}

/* One that is given back before, or could not be made, keeps nothing of the notifier. */
TEST_F(watch, is_of_memory_that_goes_before_the_notifier)
{
	struct mlx5ep_notifier *n = notifier_of_its_own(&self->ctx);
	struct mlx5ep_mr mr;

	ASSERT_NE(NULL, n);
	ASSERT_EQ(0, mlx5ep_reg_mr(n, PD, self->words, 64, 1, 0, &mr));
	EXPECT_EQ(0, mlx5ep_dereg_mr(&mr));
	fake.reg_errno = ENOMEM;
	EXPECT_EQ(-ENOMEM, mlx5ep_reg_mr(n, PD, self->words, 64, 1, 0, &mr));
	fake.reg_errno = 0;
	fake.changes = -1;
	EXPECT_EQ(-EAGAIN, mlx5ep_reg_mr(n, PD, self->words, 64, 1, 0, &mr));
	EXPECT_EQ(1, fake.blocks);
	EXPECT_EQ(0, mlx5ep_notifier_destroy(n));
}

/* The registrations are the parent's, also those of a notifier that a child frees. */
TEST_F(watch, is_of_memory_that_a_child_does_not_give_back)
{
	struct mlx5ep_notifier *n = notifier_of_its_own(&self->ctx);
	struct mlx5ep_mr mr;
	int status;
	pid_t pid;

	ASSERT_NE(NULL, n);
	ASSERT_EQ(0, mlx5ep_reg_mr(n, PD, self->words, 64, 1, 0, &mr));
	pid = fork();
	if (!pid) {
		/* A registration still names it. */
		mlx5ep_notifier_destroy(n);
		_exit(fake.blocks != 1 || mlx5ep_dereg_mr(&mr) != -EXDEV);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(1, fake.registered);
	EXPECT_EQ(0, mlx5ep_dereg_mr(&mr));
	EXPECT_EQ(0, mlx5ep_notifier_destroy(n));
}

TEST_F(watch, is_of_no_memory_that_cannot_be_registered)
{
	fails(_metadata, self, false);
}

TEST_F(watch, is_of_no_dmabuf_that_cannot_be_registered)
{
	fails(_metadata, self, true);
}

TEST_HARNESS_MAIN
