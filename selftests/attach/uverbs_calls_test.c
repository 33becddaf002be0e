// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * The uverbs ioctls of the library, attribute by attribute, and the calls about policies
 * and devices that consist of one ioctl or one attribute of sysfs: their files compiled
 * into this program, with a kernel that is made up.
 */
#include "kselftest_harness.h"

#include <stdarg.h>

#include <rdma/mlx5_ep_user_ioctl_cmds.h>

#include "../../userlib/uverbs.c"
#include "../../userlib/uuar.c"
#include "../../userlib/device.c"

#define HANDLE	0x1234

static struct {
	int id;			/* of each object and method, or an error */
	const char *name;	/* that was looked up last */
	int error;		/* of each ioctl; 0: it succeeds */
	int calls, forgotten;
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[MLX5EP_CMD_ATTRS];
	uint32_t count;		/* entries of a table */
	const char *text;	/* of the attribute of sysfs; NULL: there is none */
} fake;

int mlx5ep_uverbs_id(struct ibv_context *ctx, const char *name)
{
	fake.name = name;
	return fake.id;
}

void mlx5ep_uverbs_forget(struct ibv_context *ctx)
{
	fake.forgotten++;
}

ssize_t mlx5ep_read_sysfs(const struct ibv_device *dev, const char *name, char *buf,
			  size_t len)
{
	memset(buf, 0x55, len);
	buf[0] = '\0';
	if (strcmp(name, "attached") || !fake.text)
		return -ENOENT;
	return snprintf(buf, len, "%s", fake.text);
}

int ioctl(int fd, unsigned long request, ...)
{
	struct ib_uverbs_ioctl_hdr *hdr;
	unsigned int i;
	va_list args;

	va_start(args, request);
	hdr = va_arg(args, struct ib_uverbs_ioctl_hdr *);
	va_end(args);
	if (request != RDMA_VERBS_IOCTL)
		return -1;
	fake.calls++;
	fake.hdr = *hdr;
	memcpy(fake.attrs, hdr->attrs, hdr->num_attrs * sizeof(fake.attrs[0]));
	errno = fake.error;
	if (fake.error)
		return -1;
	for (i = 0; i < hdr->num_attrs; i++)
		if (hdr->method_id == fake.id &&
		    hdr->attrs[i].attr_id == MLX5_EP_ATTR_CONTEXT_DUMP_RESP_COUNT)
			*(uint32_t *)(uintptr_t)hdr->attrs[i].data = fake.count;
	return 0;
}

/* A command, and what is behind it on the stack of its caller. */
struct guarded {
	struct mlx5ep_cmd cmd;
	uint64_t behind[2];
};

FIXTURE(calls)
{
	struct ibv_context ctx;
	struct ibv_device dev;
	struct guarded on;
};

FIXTURE_SETUP(calls)
{
	memset(&self->on, 0xff, sizeof(self->on));
	mlx5ep_cmd_init(&self->on.cmd, 0x100a, 0x1005);
	fake.id = 0x1007;
}

FIXTURE_TEARDOWN(calls)
{
	EXPECT_EQ(UINT64_MAX, self->on.behind[0]);
	EXPECT_EQ(UINT64_MAX, self->on.behind[1]);
}

#define EXPECT_ATTR(i, id, size, value)					\
	do {								\
		EXPECT_EQ(id, fake.attrs[i].attr_id);			\
		EXPECT_EQ(size, fake.attrs[i].len);			\
		EXPECT_EQ((uint64_t)(value), fake.attrs[i].data);	\
		EXPECT_EQ(UVERBS_ATTR_F_MANDATORY, fake.attrs[i].flags);	\
	} while (0)

TEST_F(calls, have_the_attributes_in_their_order)
{
	static const char nine[9] = "123456789";
	const uint64_t eight = 0x8877665544332211ull;
	const uint16_t two = 0xffee;
	char out[100];

	mlx5ep_cmd_in(&self->on.cmd, 1, &two, sizeof(two));
	mlx5ep_cmd_in(&self->on.cmd, 2, &eight, sizeof(eight));
	mlx5ep_cmd_in(&self->on.cmd, 3, nine, sizeof(nine));
	mlx5ep_cmd_out(&self->on.cmd, 4, out, sizeof(out));
	mlx5ep_cmd_obj(&self->on.cmd, 5, HANDLE);
	mlx5ep_cmd_fd(&self->on.cmd, 6, -7);
	ASSERT_EQ(0, mlx5ep_cmd_exec(&self->ctx, &self->on.cmd));
	EXPECT_EQ(0x100a, fake.hdr.object_id);
	EXPECT_EQ(0x1005, fake.hdr.method_id);
	EXPECT_EQ(RDMA_DRIVER_MLX5, fake.hdr.driver_id);
	EXPECT_EQ(6, fake.hdr.num_attrs);
	EXPECT_EQ(sizeof(fake.hdr) + 6 * sizeof(fake.attrs[0]), fake.hdr.length);
	EXPECT_EQ(0, fake.hdr.reserved1);
	EXPECT_ATTR(0, 1, 2, two);
	EXPECT_ATTR(1, 2, 8, eight);
	EXPECT_ATTR(2, 3, 9, (uintptr_t)nine);
	EXPECT_ATTR(3, 4, 100, (uintptr_t)out);
	EXPECT_ATTR(4, 5, 0, HANDLE);
	EXPECT_ATTR(5, 6, 0, -7ll);
	EXPECT_EQ(HANDLE, mlx5ep_cmd_result(&self->on.cmd, 5));
	EXPECT_EQ(-7, mlx5ep_cmd_result(&self->on.cmd, 6));
	EXPECT_EQ(-ENOENT, mlx5ep_cmd_result(&self->on.cmd, 7));
}

TEST_F(calls, have_no_more_attributes_than_there_is_room_for)
{
	int i;

	for (i = 0; i < MLX5EP_CMD_ATTRS; i++)
		mlx5ep_cmd_obj(&self->on.cmd, i, i);
	EXPECT_EQ(0, mlx5ep_cmd_exec(&self->ctx, &self->on.cmd));
	EXPECT_EQ(MLX5EP_CMD_ATTRS, fake.hdr.num_attrs);
	EXPECT_EQ(-ENOENT, mlx5ep_cmd_result(&self->on.cmd, i));
	mlx5ep_cmd_in(&self->on.cmd, 1, &i, sizeof(i));
	EXPECT_EQ(-EINVAL, mlx5ep_cmd_exec(&self->ctx, &self->on.cmd));
	mlx5ep_cmd_out(&self->on.cmd, 1, &i, sizeof(i));
	mlx5ep_cmd_obj(&self->on.cmd, 1, 1);
	mlx5ep_cmd_fd(&self->on.cmd, 1, 1);
	EXPECT_EQ(-EINVAL, mlx5ep_cmd_exec(&self->ctx, &self->on.cmd));
	EXPECT_EQ(1, fake.calls);
}

TEST_F(calls, have_attributes_of_16_bits_of_length)
{
	static char much[UINT16_MAX + 1];

	mlx5ep_cmd_out(&self->on.cmd, 1, much, UINT16_MAX);
	EXPECT_EQ(0, mlx5ep_cmd_exec(&self->ctx, &self->on.cmd));
	EXPECT_EQ(UINT16_MAX, fake.attrs[0].len);
	mlx5ep_cmd_out(&self->on.cmd, 1, much, sizeof(much));
	EXPECT_EQ(-EINVAL, mlx5ep_cmd_exec(&self->ctx, &self->on.cmd));
	EXPECT_EQ(1, fake.calls);
}

TEST_F(calls, that_the_kernel_does_not_have_are_not_made)
{
	mlx5ep_cmd_init(&self->on.cmd, -EOPNOTSUPP, -EPROTO);
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_cmd_exec(&self->ctx, &self->on.cmd));
	mlx5ep_cmd_init(&self->on.cmd, 1, -EPROTO);
	EXPECT_EQ(-EPROTO, mlx5ep_cmd_exec(&self->ctx, &self->on.cmd));
	mlx5ep_cmd_init(&self->on.cmd, 0, 0);
	EXPECT_EQ(0, mlx5ep_cmd_exec(&self->ctx, &self->on.cmd));
	EXPECT_EQ(1, fake.calls);
}

/* The ids are of a module that was loaded before, and are read anew. */
TEST_F(calls, that_the_kernel_refuses_tell_its_error)
{
	fake.error = EPERM;
	EXPECT_EQ(-EPERM, mlx5ep_cmd_exec(&self->ctx, &self->on.cmd));
	EXPECT_EQ(0, fake.forgotten);
	fake.error = EPROTONOSUPPORT;
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_cmd_exec(&self->ctx, &self->on.cmd));
	EXPECT_EQ(1, fake.forgotten);
}

TEST_F(calls, about_a_table_take_as_much_as_an_attribute_has)
{
	struct mlx5_ep_uuar_info table[2];
	unsigned int count = 2;

	fake.count = 32;
	EXPECT_EQ(0, mlx5ep_context_dump(&self->ctx, table, &count));
	EXPECT_EQ(32, count);
	EXPECT_STREQ("method device context_dump", fake.name);
	EXPECT_ATTR(0, MLX5_EP_ATTR_CONTEXT_DUMP_RESP_UUARS, sizeof(table),
		    (uintptr_t)table);
	EXPECT_ATTR(1, MLX5_EP_ATTR_CONTEXT_DUMP_ENTRY_SIZE, 4, sizeof(table[0]));
	EXPECT_EQ(4, fake.attrs[2].len);
	EXPECT_EQ(3, fake.hdr.num_attrs);
	/* An attribute cannot be empty. */
	count = 0;
	EXPECT_EQ(0, mlx5ep_context_dump(&self->ctx, NULL, &count));
	EXPECT_EQ(32, count);
	EXPECT_EQ(1, fake.attrs[0].len);
	EXPECT_NE(0, fake.attrs[0].data);

	count = UINT16_MAX / 3;
	EXPECT_EQ(0, _mlx5ep_context_dump(&self->ctx, table, &count, 3));
	EXPECT_EQ(UINT16_MAX, fake.attrs[0].len);
	count = UINT16_MAX / 3 + 1;
	EXPECT_EQ(0, _mlx5ep_context_dump(&self->ctx, table, &count, 3));
	EXPECT_EQ(UINT16_MAX, fake.attrs[0].len);
	count = UINT32_MAX;
	EXPECT_EQ(0, _mlx5ep_context_dump(&self->ctx, table, &count, UINT16_MAX));
	EXPECT_EQ(UINT16_MAX, fake.attrs[0].len);
	fake.calls = 0;
	EXPECT_EQ(-EINVAL, _mlx5ep_context_dump(&self->ctx, table, &count, 0));
	EXPECT_EQ(-EINVAL, _mlx5ep_context_dump(&self->ctx, table, &count,
						UINT16_MAX + 1));
	EXPECT_EQ(0, fake.calls);
	count = 5;
	fake.error = EOPNOTSUPP;
	EXPECT_EQ(-EOPNOTSUPP, mlx5ep_context_dump(&self->ctx, table, &count));
	EXPECT_EQ(5, count);
}

TEST_F(calls, name_object_method_and_structure)
{
	struct ibv_qp qp = { .context = &self->ctx, .handle = HANDLE };
	struct mlx5_ep_context_policy policy = {};
	struct mlx5_ep_context_info info;
	struct mlx5_ep_features features;
	struct mlx5_ep_qp_uuar uuar;

	EXPECT_EQ(0, mlx5ep_context_query(&self->ctx, &info));
	EXPECT_STREQ("method device context_query", fake.name);
	EXPECT_EQ(UVERBS_OBJECT_DEVICE, fake.hdr.object_id);
	EXPECT_EQ(1, fake.hdr.num_attrs);
	EXPECT_ATTR(0, MLX5_EP_ATTR_CONTEXT_QUERY_RESP, sizeof(info), (uintptr_t)&info);
	EXPECT_EQ(0, mlx5ep_context_set_policy(&self->ctx, &policy));
	EXPECT_STREQ("method device context_set_policy", fake.name);
	EXPECT_EQ(1, fake.hdr.num_attrs);
	EXPECT_ATTR(0, MLX5_EP_ATTR_CONTEXT_SET_POLICY_REQ, sizeof(policy),
		    (uintptr_t)&policy);
	EXPECT_EQ(0, mlx5ep_device_query(&self->ctx, &features));
	EXPECT_STREQ("method device query_features", fake.name);
	EXPECT_EQ(1, fake.hdr.num_attrs);
	EXPECT_ATTR(0, MLX5_EP_ATTR_QUERY_FEATURES_RESP, sizeof(features),
		    (uintptr_t)&features);
	EXPECT_EQ(0, mlx5ep_qp_query_uuar(&qp, &uuar));
	EXPECT_STREQ("method qp query_uuar", fake.name);
	EXPECT_EQ(UVERBS_OBJECT_QP, fake.hdr.object_id);
	EXPECT_EQ(2, fake.hdr.num_attrs);
	EXPECT_ATTR(0, MLX5_EP_ATTR_QP_QUERY_UUAR_HANDLE, 0, HANDLE);
	EXPECT_ATTR(1, MLX5_EP_ATTR_QP_QUERY_UUAR_RESP, sizeof(uuar), (uintptr_t)&uuar);
	EXPECT_EQ(4, fake.calls);
}

TEST_F(calls, say_whether_a_device_has_the_module)
{
	static const struct {
		const char *text, *reason;
		int ret;
	} texts[] = {
		{ "yes\n", "yes", 0 },
		{ "yes", "yes", 0 },
		{ "yes, except in 2 namespaces\n", "yes, except in 2 namespaces", 0 },
		{ "ye\n", "ye", -EOPNOTSUPP },
		{ "no: a reason\n", "no: a reason", -EOPNOTSUPP },
		{ "\n", "", -EOPNOTSUPP },
		{ "", "", -EOPNOTSUPP },
		{ NULL, "", -EOPNOTSUPP },
	};
	char reason[64], byte = 'x';
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		fake.text = texts[i].text;
		strcpy(reason, "before");
		EXPECT_EQ(texts[i].ret, mlx5ep_device_attached(&self->dev, reason,
							       sizeof(reason)));
		EXPECT_STREQ(texts[i].reason, reason);
		EXPECT_EQ(texts[i].ret, mlx5ep_device_attached(&self->dev, NULL, 9));
		EXPECT_EQ(texts[i].ret, mlx5ep_device_attached(&self->dev, &byte, 0));
	}
	EXPECT_EQ('x', byte);
}

TEST_HARNESS_MAIN
