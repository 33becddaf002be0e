// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * What `mlx5ep run --policy` puts into the place of the functions that open a device,
 * compiled into this program: which contexts are opened and closed, and what a program is
 * told. Devices and contexts are made up.
 */
#include "kselftest_harness.h"

#include <dlfcn.h>
#include <errno.h>

static void *fake_dlsym(void *handle, const char *name);
static void *fake_dlopen(const char *name, int flags);
static int fake_dlclose(void *handle);

#define dlsym fake_dlsym
#define dlopen fake_dlopen
#define dlclose fake_dlclose
#include "../../userlib/policy/open_policy.c"
#undef dlsym
#undef dlopen
#undef dlclose

#define OPENS	4

static struct {
	bool other_device, not_attached, no_function;
	bool of_plugin;		/* a plugin has loaded rdma-core */
	int open_errno[OPENS];	/* of the first, second, ... open; 0: it works */
	int opens, live;
	int live_at_open;	/* contexts that were open at the last open */
	bool by_mlx5dv[OPENS];
	struct mlx5dv_context_attr *attr;
	int set_ret, query_ret;
	uint32_t policy;	/* that the program's context has */
	struct mlx5_ep_context_policy asked;
	struct ibv_context contexts[OPENS];
} fake;

static struct ibv_context *opened(bool by_mlx5dv)
{
	int i = fake.opens++;

	fake.by_mlx5dv[i] = by_mlx5dv;
	fake.live_at_open = fake.live;
	if (fake.open_errno[i]) {
		errno = fake.open_errno[i];
		return NULL;
	}
	fake.live++;
	return &fake.contexts[i];
}

static struct ibv_context *by_verbs(struct ibv_device *device)
{
	return opened(false);
}

static struct ibv_context *by_dv(struct ibv_device *device, struct mlx5dv_context_attr *attr)
{
	fake.attr = attr;
	return opened(true);
}

static void *fake_dlsym(void *handle, const char *name)
{
	if (handle == RTLD_NEXT ? fake.of_plugin : handle != &fake)
		return NULL;
	if (!strcmp(name, "mlx5dv_is_supported"))
		return mlx5dv_is_supported;
	if (!strcmp(name, "ibv_close_device"))
		return ibv_close_device;
	if (fake.no_function)
		return NULL;
	return strcmp(name, "ibv_open_device") ? (void *)by_dv : (void *)by_verbs;
}

static void *fake_dlopen(const char *name, int flags)
{
	return fake.of_plugin && flags & RTLD_NOLOAD ? &fake : NULL;
}

static int fake_dlclose(void *handle)
{
	return 0;
}

int ibv_close_device(struct ibv_context *context)
{
	fake.live--;
	errno = EBADF;
	return 0;
}

bool mlx5dv_is_supported(struct ibv_device *device)
{
	return !fake.other_device;
}

int mlx5ep_device_attached(const struct ibv_device *device, char *reason, size_t len)
{
	return fake.not_attached ? -EOPNOTSUPP : 0;
}

int _mlx5ep_context_set_policy(struct ibv_context *context,
			       const struct mlx5_ep_context_policy *policy, size_t size)
{
	fake.asked = *policy;
	return context == &fake.contexts[0] ? fake.set_ret : -EINVAL;
}

int _mlx5ep_context_query(struct ibv_context *context, struct mlx5_ep_context_info *info,
			  size_t size)
{
	info->policy = fake.policy;
	return context == &fake.contexts[1] ? fake.query_ret : -EINVAL;
}

FIXTURE(policy)
{
	struct ibv_device device;
	struct ibv_context *context;
	int error;
	char said[256];
	FILE *file;
	int err;
};

FIXTURE_SETUP(policy)
{
	fake.policy = MLX5_EP_UUAR_POLICY_INDEPENDENT;
	self->file = tmpfile();
	ASSERT_NE(NULL, self->file);
	self->err = dup(2);
	strcpy(self->device.name, "mlx5_9");
}

FIXTURE_TEARDOWN(policy)
{
	fclose(self->file);
	close(self->err);
}

/* Opens the device with a text in the environment, and notes what is said. */
static void open_with(FIXTURE_DATA(policy) *self, const char *text)
{
	size_t n;

	fake.opens = 0;
	fake.live = 0;
	rewind(self->file);
	ftruncate(fileno(self->file), 0);
	unsetenv("MLX5EP_POLICY");
	if (text)
		setenv("MLX5EP_POLICY", text, 1);
	dup2(fileno(self->file), 2);
	errno = 0;
	self->context = ibv_open_device(&self->device);
	self->error = errno;
	dup2(self->err, 2);
	rewind(self->file);
	n = fread(self->said, 1, sizeof(self->said) - 1, self->file);
	self->said[n] = '\0';
}

#define EXPECT_OPENED(at, text)						\
	do {								\
		EXPECT_EQ(&fake.contexts[at], self->context);		\
		EXPECT_EQ((at) + 1, fake.opens);			\
		EXPECT_EQ(1, fake.live);				\
		EXPECT_STREQ(text, self->said);				\
	} while (0)

#define EXPECT_REFUSED(number, text)					\
	do {								\
		EXPECT_EQ(NULL, self->context);				\
		EXPECT_EQ(number, self->error);				\
		EXPECT_EQ(0, fake.live);				\
		EXPECT_STREQ("mlx5ep run: mlx5_9: " text "\n", self->said);	\
	} while (0)

TEST_F(policy, of_another_device_is_none)
{
	fake.other_device = true;
	open_with(self, "independent 1 9");
	EXPECT_OPENED(0, "");
	EXPECT_EQ(0, fake.asked.flags);
}

TEST_F(policy, is_asked_for_by_a_context_that_is_closed_again)
{
	static const struct {
		const char *text;
		uint32_t policy, flags, pages;
	} texts[] = {
		{ "stock 0 0", MLX5_EP_UUAR_POLICY_STOCK, 0, 0 },
		{ "independent 0 9", MLX5_EP_UUAR_POLICY_INDEPENDENT, 0, 9 },
		{ "shared-uar 1 8", MLX5_EP_UUAR_POLICY_SHARED_UAR,
		  MLX5_EP_POLICY_STRICT, 8 },
		{ "shared-uuar 2 0", MLX5_EP_UUAR_POLICY_SHARED_UUAR,
		  MLX5_EP_POLICY_STRICT, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		fake.policy = texts[i].policy;
		open_with(self, texts[i].text);
		EXPECT_OPENED(1, "");
		/* The first one is still open then. */
		EXPECT_EQ(1, fake.live_at_open);
		EXPECT_EQ(texts[i].policy, fake.asked.policy);
		EXPECT_EQ(MLX5_EP_POLICY_LATER_OPENS | texts[i].flags, fake.asked.flags);
		EXPECT_EQ(texts[i].pages, fake.asked.pages);
	}
}

/* Only a plugin sees the rdma-core that it has loaded. */
TEST_F(policy, goes_to_contexts_of_a_plugin_too)
{
	fake.of_plugin = true;
	open_with(self, "independent 0 0");
	EXPECT_EQ(&fake.contexts[1], self->context);
	EXPECT_EQ(1, fake.live);
	EXPECT_STREQ("", self->said);
}

TEST_F(policy, that_is_no_text_of_one_leaves_all_as_it_is)
{
	open_with(self, NULL);
	EXPECT_OPENED(0, "mlx5ep run: mlx5_9: MLX5EP_POLICY is not POLICY STRICT PAGES\n");
	/* That is said once. */
	open_with(self, "independent 0");
	EXPECT_OPENED(0, "");
	open_with(self, "fastest 1 0");
	EXPECT_OPENED(0, "");
	open_with(self, "stoc 0 0");
	EXPECT_OPENED(0, "");
}

TEST_F(policy, that_cannot_be_asked_for_is_told)
{
	fake.set_ret = -EDQUOT;
	open_with(self, "independent 0 0");
	EXPECT_OPENED(1, "mlx5ep run: mlx5_9: opened without the policy: Disk quota exceeded\n");
}

TEST_F(policy, that_cannot_be_asked_for_refuses_if_it_is_strict)
{
	fake.set_ret = -EDQUOT;
	open_with(self, "independent 1 0");
	EXPECT_REFUSED(EDQUOT, "not opened, as it cannot get the policy: Disk quota exceeded");
	EXPECT_EQ(1, fake.opens);
}

TEST_F(policy, that_a_context_has_not_got_is_told)
{
	fake.policy = MLX5_EP_UUAR_POLICY_STOCK;
	open_with(self, "independent 0 0");
	EXPECT_OPENED(2, "mlx5ep run: mlx5_9: opened without the policy: No space left on device\n");
}

TEST_F(policy, that_a_context_has_not_got_refuses_if_it_is_strict)
{
	fake.policy = MLX5_EP_UUAR_POLICY_SHARED_UAR;
	open_with(self, "independent 1 0");
	EXPECT_REFUSED(ENOSPC, "not opened, as it cannot get the policy: No space left on device");
	EXPECT_EQ(2, fake.opens);
	/* Nor is one that cannot be asked. */
	fake.policy = MLX5_EP_UUAR_POLICY_INDEPENDENT;
	fake.query_ret = -EIO;
	open_with(self, "independent 1 0");
	EXPECT_EQ(NULL, self->context);
	EXPECT_EQ(ENOSPC, self->error);
	EXPECT_EQ(0, fake.live);
}

TEST_F(policy, without_the_module_is_told)
{
	fake.not_attached = true;
	open_with(self, "independent 0 0");
	EXPECT_OPENED(0, "mlx5ep run: mlx5_9: opened without the policy: Operation not supported\n");
}

TEST_F(policy, without_the_module_refuses_if_it_is_strict)
{
	fake.not_attached = true;
	open_with(self, "independent 1 0");
	EXPECT_REFUSED(EOPNOTSUPP, "not opened, as it cannot get the policy: Operation not supported");
	EXPECT_EQ(0, fake.opens);
}

TEST_F(policy, of_a_device_that_cannot_be_opened_keeps_its_error)
{
	fake.open_errno[0] = ENFILE;
	open_with(self, "independent 1 0");
	EXPECT_REFUSED(ENFILE, "not opened, as it cannot get the policy: Too many open files in system");
	fake.open_errno[0] = 0;
	fake.open_errno[1] = EACCES;
	open_with(self, "independent 1 0");
	EXPECT_EQ(NULL, self->context);
	EXPECT_EQ(EACCES, self->error);
	EXPECT_EQ(0, fake.live);
	fake.no_function = true;
	open_with(self, "independent 0 0");
	EXPECT_EQ(NULL, self->context);
	EXPECT_EQ(EOPNOTSUPP, self->error);
}

/* Where the program cannot open the device at all, nothing is said of the policy. */
TEST_F(policy, says_nothing_of_a_device_that_does_not_open)
{
	fake.open_errno[0] = ENFILE;
	fake.open_errno[1] = EACCES;
	open_with(self, "independent 0 0");
	EXPECT_EQ(NULL, self->context);
	EXPECT_EQ(EACCES, self->error);
	EXPECT_STREQ("", self->said);
}

TEST_F(policy, goes_to_contexts_of_mlx5dv_too)
{
	struct mlx5dv_context_attr attr = {};

	setenv("MLX5EP_POLICY", "independent 0 0", 1);
	EXPECT_EQ(&fake.contexts[1], mlx5dv_open_device(&self->device, &attr));
	EXPECT_FALSE(fake.by_mlx5dv[0]);
	EXPECT_TRUE(fake.by_mlx5dv[1]);
	EXPECT_EQ(&attr, fake.attr);
	EXPECT_EQ(1, fake.live);
	fake.no_function = true;
	errno = 0;
	EXPECT_EQ(NULL, mlx5dv_open_device(&self->device, &attr));
	EXPECT_EQ(EOPNOTSUPP, errno);
}

TEST_HARNESS_MAIN
