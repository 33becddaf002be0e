// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: core, smp: 2, timeout: 120 */
/*
 * Commands that create a QP in ways that are legal and that libibverbs does not
 * use: the answer goes where the request is, threads share one request, and request
 * and answer are as short as they can be. A context with a policy serves them as a
 * stock one does.
 *
 * This program's ioctl() stands in front of libc's. It changes the commands that
 * libibverbs makes, so that the QPs can be used like any other.
 */
#include "kselftest_harness.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <mlx5ep/uuar.h>

#include "doorbells.h"
#include "sysfs.h"
#include "uverbs.h"
#include "verbs.h"

#define QPS 4
#define ROUNDS 10
#define BUFFER 512
#define BAD_RESOURCE_STATE 9	/* status of a firmware command */

enum way { AS_IS, BY_IOCTL, BY_WRITE, SHORT };

static enum way way;
static unsigned int changed;	/* commands, so far */
static struct uverbs_call template;	/* the newest command, as it was made */
static uint8_t template_request[BUFFER] __attribute__((aligned(8)));
static struct ib_uverbs_qp_cap template_cap;

static struct ib_uverbs_attr *attr_of(struct ib_uverbs_ioctl_hdr *hdr,
				      uint16_t id)
{
	unsigned int i;

	for (i = 0; i < hdr->num_attrs; i++)
		if (hdr->attrs[i].attr_id == id)
			return &hdr->attrs[i];
	return NULL;
}

static int real_ioctl(int fd, void *arg)
{
	static int (*real)(int fd, unsigned long request, ...);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "ioctl");
	return real(fd, RDMA_VERBS_IOCTL, arg);
}

/* Request and answer of the driver begin at one address. */
static int share_ioctl(int fd, struct ib_uverbs_ioctl_hdr *hdr)
{
	static uint8_t buf[BUFFER] __attribute__((aligned(8)));
	struct ib_uverbs_attr *in = attr_of(hdr, UVERBS_ATTR_UHW_IN);
	struct ib_uverbs_attr *out = attr_of(hdr, UVERBS_ATTR_UHW_OUT);
	uint64_t was_in = in->data, was_out = out->data;
	int ret;

	memcpy(buf, (void *)(uintptr_t)was_in, in->len);
	in->data = (uintptr_t)buf;
	out->data = (uintptr_t)buf;
	ret = real_ioctl(fd, hdr);
	memcpy((void *)(uintptr_t)was_out, buf, out->len);
	in->data = was_in;
	out->data = was_out;
	changed++;
	return ret;
}

/* As short as mlx5_ib takes them; the answer is the uUAR alone. */
static int shorten_ioctl(int fd, struct ib_uverbs_ioctl_hdr *hdr)
{
	struct ib_uverbs_attr *in = attr_of(hdr, UVERBS_ATTR_UHW_IN);
	struct ib_uverbs_attr *out = attr_of(hdr, UVERBS_ATTR_UHW_OUT);
	uint16_t was_in = in->len, was_out = out->len;
	int ret;

	in->len = offsetof(struct mlx5_ib_create_qp, ece_options);
	out->len = sizeof(uint32_t);
	ret = real_ioctl(fd, hdr);
	in->len = was_in;
	out->len = was_out;
	changed++;
	return ret;
}

static void *data_of(struct ib_uverbs_ioctl_hdr *hdr, uint16_t id,
		     unsigned int *len)
{
	struct ib_uverbs_attr *attr = attr_of(hdr, id);

	*len = attr->len;
	return attr->len > sizeof(attr->data) ?
		(void *)(uintptr_t)attr->data : &attr->data;
}

/*
 * The same command by write(), without libibverbs. The answer of the driver begins
 * where its request does; the core's answer is before it, over the end of the
 * core's request.
 */
static int share_write(int fd, struct ib_uverbs_ioctl_hdr *hdr)
{
	static uint8_t buf[BUFFER] __attribute__((aligned(8)));
	struct ib_uverbs_cmd_hdr *cmd = (void *)buf;
	struct ib_uverbs_create_qp *core = (void *)(cmd + 1);
	struct ib_uverbs_create_qp_resp *answer = (void *)(core + 1);
	unsigned int in, out, n;
	void *data;

	memcpy(core, data_of(hdr, UVERBS_ATTR_CORE_IN, &n), sizeof(*core));
	data = data_of(hdr, UVERBS_ATTR_UHW_IN, &in);
	memcpy(core + 1, data, in);
	data = data_of(hdr, UVERBS_ATTR_UHW_OUT, &out);
	cmd->command = IB_USER_VERBS_CMD_CREATE_QP;
	cmd->in_words = (sizeof(*cmd) + sizeof(*core) + in) / 4;
	cmd->out_words = (sizeof(*answer) + out) / 4;
	answer--;
	core->response = (uintptr_t)answer;
	if (write(fd, buf, 4 * cmd->in_words) < 0)
		return -1;
	memcpy(data, answer + 1, out);
	memcpy(data_of(hdr, UVERBS_ATTR_CORE_OUT, &n), answer,
	       sizeof(*answer));
	changed++;
	return 0;
}

/* Is it a command of the old interface that creates a QP? */
static bool is_old_create(struct ib_uverbs_ioctl_hdr *hdr)
{
	return hdr->object_id == UVERBS_OBJECT_DEVICE &&
		hdr->method_id == UVERBS_METHOD_INVOKE_WRITE &&
		attr_of(hdr, UVERBS_ATTR_WRITE_CMD)->data ==
			IB_USER_VERBS_CMD_CREATE_QP;
}

static void keep_template(const struct ib_uverbs_ioctl_hdr *hdr)
{
	struct ib_uverbs_attr *in;

	memset(&template, 0, sizeof(template));
	memcpy(&template, hdr, hdr->length);
	in = attr_of(&template.hdr, UVERBS_ATTR_UHW_IN);
	memcpy(template_request, (void *)(uintptr_t)in->data, in->len);
	in->data = (uintptr_t)template_request;
	/* The library has it on a stack that is used again. */
	in = attr_of(&template.hdr, UVERBS_ATTR_CREATE_QP_CAP);
	template_cap = *(struct ib_uverbs_qp_cap *)(uintptr_t)in->data;
	in->data = (uintptr_t)&template_cap;
}

int ioctl(int fd, unsigned long request, ...)
{
	struct ib_uverbs_ioctl_hdr *hdr;
	va_list ap;

	va_start(ap, request);
	hdr = va_arg(ap, void *);
	va_end(ap);
	if (request != RDMA_VERBS_IOCTL) {
		errno = ENOTTY;
		return -1;
	}
	if (way == BY_WRITE && is_old_create(hdr))
		return share_write(fd, hdr);
	if (hdr->object_id != UVERBS_OBJECT_QP ||
	    hdr->method_id != UVERBS_METHOD_QP_CREATE)
		return real_ioctl(fd, hdr);
	if (way == BY_IOCTL)
		return share_ioctl(fd, hdr);
	if (way == SHORT)
		return shorten_ioctl(fd, hdr);
	if (way == BY_WRITE) {
		/* libibverbs then makes a command of the old interface. */
		errno = ENOTTY;
		return -1;
	}
	if (hdr->length <= sizeof(template))
		keep_template(hdr);
	return real_ioctl(fd, hdr);
}

FIXTURE(qp)
{
	struct verbs_setup setup;
	struct verbs_endpoint endpoints[QPS];
	unsigned int made;
};

FIXTURE_SETUP(qp)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_defaults());
	ASSERT_EQ(0, simhca_zero());
}

FIXTURE_TEARDOWN(qp)
{
	way = AS_IS;
	while (self->made)
		verbs_endpoint_destroy(&self->endpoints[--self->made]);
	verbs_close(&self->setup);
	EXPECT_EQ(0, sysfs_defaults());
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
}

/* QPs that were created that way work, and are where the policy wants them. */
static void works(struct __test_metadata *_metadata, struct _test_data_qp *self,
		  enum way how, bool managed)
{
	struct doorbells_report doorbells;

	if (managed)
		ASSERT_EQ(0, sysfs_policy("independent", QPS, true));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, QPS));
	way = how;
	for (; self->made < QPS; self->made++)
		ASSERT_EQ(0, verbs_endpoint_create(&self->setup,
						   &self->endpoints[self->made],
						   IBV_QPT_RC));
	EXPECT_EQ(QPS, changed);
	ASSERT_EQ(0, verbs_traffic(self->endpoints, QPS, VERBS_WRITE_INLINE,
				   2));
	ASSERT_EQ(0, doorbells_look(0, &doorbells));
	EXPECT_EQ(0, doorbells.wrong_uar);
	EXPECT_EQ(0, doorbells.silent);
	if (managed) {
		EXPECT_EQ(QPS, doorbells.pages);
		EXPECT_EQ(0, doorbells.shared);
	}
	doorbells_put(&doorbells);
}

TEST_F(qp, answer_over_request_by_ioctl_under_stock)
{
	works(_metadata, self, BY_IOCTL, false);
}

TEST_F(qp, answer_over_request_by_ioctl_under_a_policy)
{
	works(_metadata, self, BY_IOCTL, true);
}

TEST_F(qp, answer_over_request_by_write_under_stock)
{
	works(_metadata, self, BY_WRITE, false);
}

TEST_F(qp, answer_over_request_by_write_under_a_policy)
{
	works(_metadata, self, BY_WRITE, true);
}

TEST_F(qp, of_the_shortest_request_under_stock)
{
	works(_metadata, self, SHORT, false);
}

TEST_F(qp, of_the_shortest_request_under_a_policy)
{
	works(_metadata, self, SHORT, true);
}

/* A thread that creates QPs by the template, and what it got last. */
struct creator {
	struct ibv_context *ctx;
	pthread_t thread;
	struct mlx5_ib_create_qp_resp *answer;
	struct mlx5_ib_create_qp_resp own;
	uint32_t handle, qpn;
	int ret;
	atomic_bool over;
};

static void *qp_shared_buffer_create(void *arg)
{
	struct creator *creator = arg;
	struct uverbs_call call = template;
	struct ib_uverbs_attr *out = attr_of(&call.hdr, UVERBS_ATTR_UHW_OUT);
	struct ib_uverbs_qp_cap cap;

	out->data = (uintptr_t)creator->answer;
	attr_of(&call.hdr, UVERBS_ATTR_CREATE_QP_RESP_CAP)->data =
		(uintptr_t)&cap;
	attr_of(&call.hdr, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM)->data =
		(uintptr_t)&creator->qpn;
	creator->ret = real_ioctl(creator->ctx->cmd_fd, &call) ? -errno : 0;
	creator->handle =
		attr_of(&call.hdr, UVERBS_ATTR_CREATE_QP_HANDLE)->data;
	atomic_store(&creator->over, true);
	return NULL;
}

static int destroy(struct creator *creator)
{
	struct ib_uverbs_destroy_qp_resp resp;
	struct uverbs_call call;

	uverbs_begin(&call, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY);
	uverbs_handle(&call, UVERBS_ATTR_DESTROY_QP_HANDLE, creator->handle);
	uverbs_out(&call, UVERBS_ATTR_DESTROY_QP_RESP, &resp, sizeof(resp));
	return uverbs_do(creator->ctx, &call);
}

/* Two QPs are on pages of their own, and the answers say so. */
static void qp_shared_buffer_look(struct __test_metadata *_metadata,
				  struct creator *creators)
{
	const struct simhca_qp *qps[2];
	struct simhca_view view;

	ASSERT_EQ(0, simhca_look(0, &view));
	qps[0] = simhca_qp(&view, creators[0].qpn);
	qps[1] = simhca_qp(&view, creators[1].qpn);
	ASSERT_NE(NULL, qps[0]);
	ASSERT_NE(NULL, qps[1]);
	EXPECT_NE(qps[0]->uar, qps[1]->uar);
	if (creators[0].answer != creators[1].answer)
		EXPECT_NE(creators[0].answer->bfreg_index,
			  creators[1].answer->bfreg_index);
	simhca_view_put(&view);
}

static int hold_up(const char *opcode)
{
	return simhca_delay(opcode, 300000);
}

/*
 * Another thread changes a request while the driver reads it. Nobody knows which page
 * the QP rings, so there is no QP, and what was counted for it is given back.
 */
TEST_F(qp, of_a_request_that_changes_is_not_created)
{
	struct mlx5_ib_create_qp *req = (void *)template_request;
	struct mlx5_ep_context_info info;
	volatile uint32_t *flags = &req->flags;
	struct creator creator = {};
	int64_t before;
	uint32_t was;

	ASSERT_EQ(0, sysfs_policy("independent", QPS, true));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, QPS));
	ASSERT_EQ(0, verbs_endpoint_create(&self->setup, &self->endpoints[0],
					   IBV_QPT_RC));
	self->made = 1;
	before = simhca_count("qp");
	was = *flags;
	creator.ctx = self->setup.ctx;
	creator.answer = &creator.own;
	ASSERT_EQ(0, hold_up("CREATE_QP"));
	ASSERT_EQ(0, pthread_create(&creator.thread, NULL,
				    qp_shared_buffer_create, &creator));
	while (*flags == was && !atomic_load(&creator.over))
		;
	*flags = was;
	ASSERT_EQ(0, pthread_join(creator.thread, NULL));
	EXPECT_EQ(-EFAULT, creator.ret);
	EXPECT_EQ(was, *flags);
	EXPECT_EQ(before, simhca_count("qp"));
	ASSERT_EQ(0, mlx5ep_context_query(self->setup.ctx, &info));
	EXPECT_EQ(1, info.qps);
	EXPECT_EQ(1, info.placed_qps);
	EXPECT_EQ(0, simhca_fail_nothing());
}

/* The driver fails to create a QP: its uUAR is free again. */
TEST_F(qp, that_the_driver_refuses_takes_no_uuar)
{
	struct mlx5_ep_context_info info;
	struct creator creator = {};

	ASSERT_EQ(0, sysfs_policy("independent", QPS, true));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, QPS));
	ASSERT_EQ(0, verbs_endpoint_create(&self->setup, &self->endpoints[0],
					   IBV_QPT_RC));
	self->made = 1;
	creator.ctx = self->setup.ctx;
	creator.answer = &creator.own;
	ASSERT_EQ(0, simhca_fail("CREATE_QP", 1, 1, BAD_RESOURCE_STATE));
	qp_shared_buffer_create(&creator);
	EXPECT_GT(0, creator.ret);
	EXPECT_EQ(0, simhca_fail_nothing());
	ASSERT_EQ(0, mlx5ep_context_query(self->setup.ctx, &info));
	EXPECT_EQ(1, info.qps);
	EXPECT_EQ(1, info.placed_qps);
}

/*
 * A request that cannot be written: the driver gets a copy, which counts for the limits of
 * the process. Without room for it there is no QP, and the error says why.
 */
TEST_F(qp, of_a_request_that_cannot_be_written)
{
	const struct rlimit none = { 0, RLIM_INFINITY };
	struct ib_uverbs_attr *in;
	struct mlx5_ep_context_info info;
	struct creator creator = {};
	struct rlimit was;
	int64_t before;
	void *page;

	ASSERT_EQ(0, sysfs_policy("independent", QPS, true));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, QPS));
	ASSERT_EQ(0, verbs_endpoint_create(&self->setup, &self->endpoints[0],
					   IBV_QPT_RC));
	self->made = 1;
	before = simhca_count("qp");
	in = attr_of(&template.hdr, UVERBS_ATTR_UHW_IN);
	page = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, page);
	memcpy(page, template_request, BUFFER);
	ASSERT_EQ(0, mprotect(page, BUFFER, PROT_READ));
	in->data = (uintptr_t)page;
	creator.ctx = self->setup.ctx;
	creator.answer = &creator.own;

	ASSERT_EQ(0, getrlimit(RLIMIT_AS, &was));
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &none));
	qp_shared_buffer_create(&creator);
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &was));
	EXPECT_EQ(-ENOMEM, creator.ret);
	EXPECT_EQ(before, simhca_count("qp"));
	ASSERT_EQ(0, mlx5ep_context_query(self->setup.ctx, &info));
	EXPECT_EQ(1, info.qps);
	EXPECT_EQ(1, info.placed_qps);

	qp_shared_buffer_create(&creator);
	ASSERT_EQ(0, creator.ret);
	EXPECT_EQ(before + 1, simhca_count("qp"));
	ASSERT_EQ(0, mlx5ep_context_query(self->setup.ctx, &info));
	EXPECT_EQ(2, info.placed_qps);
	EXPECT_EQ(0, destroy(&creator));
	EXPECT_EQ(0, memcmp(page, template_request, BUFFER));
	munmap(page, BUFFER);
}

/* The changed bytes of a request are on two pages, and the second cannot be written. */
TEST_F(qp, of_a_request_whose_end_cannot_be_written)
{
	static const size_t on_first[] = {
		offsetof(struct mlx5_ib_create_qp, uidx),
		offsetof(struct mlx5_ib_create_qp, bfreg_index),
	};
	const size_t size = sysconf(_SC_PAGESIZE);
	struct mlx5_ep_context_info info;
	struct creator creator = {};
	uint8_t *pages, *at;
	size_t i;

	ASSERT_EQ(0, sysfs_policy("independent", QPS, true));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, QPS));
	ASSERT_EQ(0, verbs_endpoint_create(&self->setup, &self->endpoints[0],
					   IBV_QPT_RC));
	self->made = 1;
	pages = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, pages);
	creator.ctx = self->setup.ctx;
	creator.answer = &creator.own;
	for (i = 0; i < 2; i++) {
		at = pages + size - on_first[i];
		memcpy(at, template_request, BUFFER);
		ASSERT_EQ(0, mprotect(pages + size, size, PROT_READ));
		attr_of(&template.hdr, UVERBS_ATTR_UHW_IN)->data = (uintptr_t)at;
		qp_shared_buffer_create(&creator);
		ASSERT_EQ(0, creator.ret);
		EXPECT_EQ(0, memcmp(at, template_request, BUFFER));
		ASSERT_EQ(0, mlx5ep_context_query(self->setup.ctx, &info));
		EXPECT_EQ(2, info.placed_qps);
		EXPECT_EQ(0, destroy(&creator));
		ASSERT_EQ(0, mprotect(pages, 2 * size, PROT_READ | PROT_WRITE));
	}
	munmap(pages, 2 * size);
}

static void threads_share(struct __test_metadata *_metadata,
			  struct _test_data_qp *self, bool answer_too)
{
	struct creator creators[2] = {};
	uint8_t was[BUFFER];
	unsigned int round, i;

	ASSERT_EQ(0, sysfs_policy("independent", QPS, true));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, QPS));
	ASSERT_EQ(0, verbs_endpoint_create(&self->setup, &self->endpoints[0],
					   IBV_QPT_RC));
	self->made = 1;
	memcpy(was, template_request, BUFFER);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < 2; i++) {
			creators[i].ctx = self->setup.ctx;
			creators[i].answer = &creators[answer_too ? 0 : i].own;
			ASSERT_EQ(0, pthread_create(&creators[i].thread, NULL,
						    qp_shared_buffer_create,
						    &creators[i]));
		}
		for (i = 0; i < 2; i++) {
			ASSERT_EQ(0, pthread_join(creators[i].thread, NULL));
			ASSERT_EQ(0, creators[i].ret);
		}
		qp_shared_buffer_look(_metadata, creators);
		EXPECT_EQ(0, memcmp(was, template_request, BUFFER));
		EXPECT_EQ(0, destroy(&creators[0]));
		EXPECT_EQ(0, destroy(&creators[1]));
	}
}

TEST_F_TIMEOUT(qp, threads_share_one_request, 60)
{
	threads_share(_metadata, self, false);
}

TEST_F_TIMEOUT(qp, threads_share_one_request_and_one_answer, 60)
{
	threads_share(_metadata, self, true);
}

TEST_HARNESS_MAIN
