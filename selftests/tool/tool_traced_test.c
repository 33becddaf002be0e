// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: host, tier: core */
/*
 * The contexts that the tool finds without debugfs. A made-up /proc names processes and
 * their files; what kernel and module answer is given here.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli.h"

#define DEVICE "mlx5_0"
#define NODE "uverbs3"

/* What the module is asked, and what it answers. */
static struct {
	int fds[8];		/* the descriptors that were asked about */
	int n;
	char device[256];	/* the folder of the device, in sysfs */
	int refusal;		/* of a query; 0: the module knows the context */
	unsigned int uuars;	/* how many the context has */
} asked;

/* What the kernel answers. */
static struct {
	bool no_process, no_file;
} gone;

/* A pidfd is any file here, and a file of a process is one of this process. */
static long made_up_syscall(long number, long first, long second, long third)
{
	(void)third;
	if (number == SYS_pidfd_open && !gone.no_process)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (number == SYS_pidfd_getfd && !gone.no_file)
		return first < 0 ? -1 : dup(second);
	errno = number == SYS_pidfd_open ? ESRCH : EPERM;
	return -1;
}

/* pidfd_open() has two arguments, pidfd_getfd() three. */
#define CALL(number, first, second, third, ...)				\
	made_up_syscall(number, first, second, third)
#define syscall(...) CALL(__VA_ARGS__, 0, 0)

#include "traced.c"

#undef syscall

int _mlx5ep_context_query(struct ibv_context *context,
			  struct mlx5_ep_context_info *info, size_t size)
{
	if (size != sizeof(*info) || asked.n == ARRAY_SIZE(asked.fds))
		return -EINVAL;
	asked.fds[asked.n++] = context->cmd_fd;
	strcpy(asked.device, context->device->ibdev_path);
	*info = (struct mlx5_ep_context_info) {
		.policy = MLX5_EP_UUAR_POLICY_INDEPENDENT,
		.source = MLX5_EP_POLICY_SOURCE_CGROUP,
		.flags = MLX5_EP_CONTEXT_MANAGED, .static_pages = 8,
		.dynamic_pages = 9, .held_pages = 10, .low_latency = 11,
		.qps = 12, .placed_qps = 13, .used_pages = 14, .used_uuars = 15,
		.shared_uuars = 16,
	};
	return asked.refusal;
}

int _mlx5ep_context_dump(struct ibv_context *context,
			 struct mlx5_ep_uuar_info *uuars, unsigned int *count,
			 size_t size)
{
	unsigned int i;

	if (context->cmd_fd != asked.fds[asked.n - 1] || size != sizeof(*uuars))
		return -EINVAL;
	for (i = 0; i < asked.uuars && i < *count; i++)
		uuars[i] = (struct mlx5_ep_uuar_info) {
			.uar = i ? i : MLX5_EP_UAR_UNKNOWN, .page = i / 2,
			.slot = i % 2, .qps = i + 20,
			.flags = i ? MLX5_EP_UUAR_LOCKED :
				MLX5_EP_UUAR_NO_BLUEFLAME,
		};
	*count = asked.uuars;
	return 0;
}

FIXTURE(own)
{
	char root[64];
	struct json_object *dev;
};

/* Makes folders, the last name is one too. */
static void make_folder(const char *fmt, ...)
{
	char path[PATH_LEN], *slash;
	va_list args;

	va_start(args, fmt);
	vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	for (slash = strchr(path + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	mkdir(path, 0700);
}

/* The made-up /proc: process @pid has @target as its file @fd. */
static void has_file(const char *root, long pid, int fd, const char *target)
{
	char path[PATH_LEN];

	make_folder("%s/proc/%ld/fd", root, pid);
	snprintf(path, sizeof(path), "%s/proc/%ld/fd/%d", root, pid, fd);
	(void)!symlink(target, path);
}

FIXTURE_SETUP(own)
{
	char path[PATH_LEN];
	FILE *file;

	strcpy(self->root, "/tmp/tool_traced.XXXXXX");
	ASSERT_NE(mkdtemp(self->root), NULL);
	setenv("MLX5EP_ROOT", self->root, 1);
	make_folder("%s/sys/class/infiniband/" DEVICE
		    "/device/infiniband_verbs/" NODE, self->root);
	make_folder("%s/proc/4711/fd", self->root);
	snprintf(path, sizeof(path), "%s/proc/4711/comm", self->root);
	file = fopen(path, "w");
	ASSERT_NE(file, NULL);
	fputs("my job\n", file);
	fclose(file);
	self->dev = json_object_new_object();
	memset(&asked, 0, sizeof(asked));
	memset(&gone, 0, sizeof(gone));
	asked.uuars = 2;
}

FIXTURE_TEARDOWN(own)
{
	char command[128];

	json_object_put(self->dev);
	snprintf(command, sizeof(command), "rm -rf %s", self->root);
	EXPECT_EQ(system(command), 0);
}

/* How many rows the table has. */
static size_t rows(struct json_object *dev, const char *table)
{
	return json_object_array_length(json_object_object_get(dev, table));
}

/* A row of a table, as JSON. */
static const char *row(struct json_object *dev, const char *table, size_t at)
{
	return json_object_to_json_string_ext(json_object_array_get_idx(
		json_object_object_get(dev, table), at), JSON_C_TO_STRING_PLAIN);
}

/* Could all processes be asked? */
static const char *whose(struct json_object *dev)
{
	return json_object_get_string(json_object_object_get(dev, "own"));
}

TEST_F(own, contexts_are_found_by_their_files)
{
	char device[256];

	has_file(self->root, 4711, STDERR_FILENO, "/dev/infiniband/" NODE);
	has_file(self->root, 4711, STDOUT_FILENO, "/dev/infiniband/uverbs30");
	traced_contexts(self->dev, DEVICE);
	ASSERT_EQ(asked.n, 1);
	EXPECT_EQ(fcntl(asked.fds[0], F_GETFD), -1);
	snprintf(device, sizeof(device), "%s/sys/class/infiniband/" DEVICE,
		 self->root);
	EXPECT_STREQ(asked.device, device);
	ASSERT_EQ(rows(self->dev, "contexts"), 1);
	EXPECT_STREQ(row(self->dev, "contexts", 0),
		     "{\"pid\":4711,\"policy\":\"independent\",\"strict\":0,\"source\":\"cgroup\",\"managed\":1,\"static\":8,\"dynamic\":9,\"held\":10,\"low_latency\":11,\"qps\":12,\"placed\":13,\"used_pages\":14,\"used_uuars\":15,\"shared_uuars\":16,\"comm\":\"my job\"}");
	ASSERT_EQ(rows(self->dev, "uuars"), 2);
	EXPECT_STREQ(row(self->dev, "uuars", 0),
		     "{\"pid\":4711,\"uar\":null,\"page\":0,\"slot\":0,\"qps\":20,\"locked\":0,\"blueflame\":0}");
	EXPECT_STREQ(row(self->dev, "uuars", 1),
		     "{\"pid\":4711,\"uar\":1,\"page\":0,\"slot\":1,\"qps\":21,\"locked\":1,\"blueflame\":1}");
	EXPECT_STREQ(whose(self->dev), "all");
}

/* The answer has at most 512; a later module may know of more. */
TEST_F(own, uuars_are_as_many_as_were_written)
{
	has_file(self->root, 4711, STDERR_FILENO, "/dev/infiniband/" NODE);
	asked.uuars = 513;
	traced_contexts(self->dev, DEVICE);
	EXPECT_EQ(rows(self->dev, "uuars"), 512);
}

/* If the standard input is closed, the descriptor of the process is 0. */
TEST_F(own, descriptor_zero_is_one_too)
{
	has_file(self->root, 4711, STDERR_FILENO, "/dev/infiniband/" NODE);
	close(STDIN_FILENO);
	traced_contexts(self->dev, DEVICE);
	EXPECT_EQ(rows(self->dev, "contexts"), 1);
	EXPECT_EQ(fcntl(STDIN_FILENO, F_GETFD), -1);
}

/* Numbers are processes; one of 11 digits is none, nor what is left of it. */
TEST_F(own, other_names_are_no_processes)
{
	has_file(self->root, 1234567890, STDERR_FILENO, "/dev/infiniband/" NODE);
	has_file(self->root, 12345678901, STDERR_FILENO,
		 "/dev/infiniband/" NODE);
	make_folder("%s/proc/12x/fd", self->root);
	traced_contexts(self->dev, DEVICE);
	EXPECT_EQ(rows(self->dev, "contexts"), 1);
}

TEST_F(own, what_has_ended_is_left_out)
{
	has_file(self->root, 4711, STDERR_FILENO, "/dev/infiniband/" NODE);
	gone.no_process = true;
	traced_contexts(self->dev, DEVICE);
	EXPECT_EQ(asked.n, 0);
	EXPECT_EQ(rows(self->dev, "contexts"), 0);
	EXPECT_STREQ(whose(self->dev), "all");
}

TEST_F(own, refused_files_are_told)
{
	has_file(self->root, 4711, STDERR_FILENO, "/dev/infiniband/" NODE);
	gone.no_file = true;
	traced_contexts(self->dev, DEVICE);
	EXPECT_EQ(asked.n, 0);
	EXPECT_EQ(rows(self->dev, "contexts"), 0);
	EXPECT_STREQ(whose(self->dev), "some");
}

TEST_F(own, contexts_that_the_module_does_not_know_are_left_out)
{
	has_file(self->root, 4711, STDERR_FILENO, "/dev/infiniband/" NODE);
	asked.refusal = -EOPNOTSUPP;
	traced_contexts(self->dev, DEVICE);
	ASSERT_EQ(asked.n, 1);
	EXPECT_EQ(fcntl(asked.fds[0], F_GETFD), -1);
	EXPECT_EQ(rows(self->dev, "contexts"), 0);
	EXPECT_EQ(rows(self->dev, "uuars"), 0);
}

TEST_F(own, a_device_without_a_node_has_no_table)
{
	traced_contexts(self->dev, "mlx5_9");
	EXPECT_EQ(json_object_object_get(self->dev, "contexts"), NULL);
	EXPECT_EQ(json_object_object_get(self->dev, "own"), NULL);
}

TEST_HARNESS_MAIN
