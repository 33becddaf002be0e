// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Discovery. The module says in sysfs whether it is attached to a device and
 * under which ids its methods are found; user space never probes. The ids of
 * one device are kept after the first look, because calls on the path of a
 * connection must not read files; a call that the kernel does not know drops
 * them again (mlx5ep_uverbs_forget()).
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mlx5ep/device.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>

#include "internal.h"

#define MAX_DEVICES 16
/* All that sysfs gives of an attribute, and a terminator */
#define IDS_TEXT 4097

static pthread_mutex_t ids_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	char path[IBV_SYSFS_PATH_MAX];
	char text[IDS_TEXT];
} ids[MAX_DEVICES];
static unsigned int ids_next;

/**
 * mlx5ep_read_sysfs - read an attribute of the module on a device
 * @dev: device
 * @name: attribute, for instance "attached"
 * @buf: gets the text, always terminated
 * @len: bytes at @buf, not 0
 *
 * Return: length of the text, or a negative errno.
 */
ssize_t mlx5ep_read_sysfs(const struct ibv_device *dev, const char *name,
			  char *buf, size_t len)
{
	char path[IBV_SYSFS_PATH_MAX + 64];
	ssize_t ret;
	int fd;

	buf[0] = '\0';
	snprintf(path, sizeof(path), "%s/mlx5_ep/%s", dev->ibdev_path, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = read(fd, buf, len - 1);
	if (ret < 0)
		ret = -errno;
	else
		buf[ret] = '\0';
	close(fd);
	return ret;
}

/* "kind name id" per line, as "object notifier 0x100b" */
static int ids_find(const char *text, const char *name)
{
	size_t len = strlen(name);
	const char *line = text;
	char *end;
	long id;

	while (line) {
		if (!strncmp(line, name, len) && line[len] == ' ') {
			id = strtol(line + len + 1, &end, 0);
			if (end == line + len + 1 || id < 0 || id > 0xffff)
				return -EPROTO;
			return id;
		}
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	return -EOPNOTSUPP;
}

/* The ids of a module that speaks another ABI are of no use. */
static bool same_abi(const struct ibv_device *dev)
{
	char text[32];

	return mlx5ep_read_sysfs(dev, "abi_version", text, sizeof(text)) > 0 &&
		strtoul(text, NULL, 10) == MLX5_EP_ABI_VERSION;
}

/* A thread that was cancelled while it reads would keep ids_lock. */
static bool ids_read(const struct ibv_device *dev, char *text)
{
	bool known;
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	known = same_abi(dev) &&
		mlx5ep_read_sysfs(dev, "uverbs_ids", text, IDS_TEXT) > 0;
	pthread_setcancelstate(cancel, NULL);
	return known;
}

/**
 * mlx5ep_uverbs_id - id of an object or of a method on a core object
 * @ctx: context on the device
 * @name: as in sysfs uverbs_ids, for instance "method device context_query"
 *
 * Return: the id; -EOPNOTSUPP where the module is not attached, speaks another
 * ABI, or does not have it; -EPROTO where the attribute cannot be understood.
 */
int mlx5ep_uverbs_id(struct ibv_context *ctx, const char *name)
{
	const char *path = ctx->device->ibdev_path;
	char text[IDS_TEXT];
	unsigned int i;
	int ret;

	pthread_mutex_lock(&ids_lock);
	for (i = 0; i < MAX_DEVICES; i++)
		if (!strcmp(ids[i].path, path))
			break;
	if (i < MAX_DEVICES) {
		ret = ids_find(ids[i].text, name);
		goto out_unlock;
	}
	if (!ids_read(ctx->device, text)) {
		ret = -EOPNOTSUPP;
		goto out_unlock;
	}
	i = ids_next++ % MAX_DEVICES;
	snprintf(ids[i].path, sizeof(ids[i].path), "%s", path);
	memcpy(ids[i].text, text, sizeof(text));
	ret = ids_find(text, name);
out_unlock:
	pthread_mutex_unlock(&ids_lock);
	return ret;
}

/**
 * mlx5ep_uverbs_forget - read the ids of a device again at the next call
 * @ctx: context on the device
 */
void mlx5ep_uverbs_forget(struct ibv_context *ctx)
{
	unsigned int i;

	pthread_mutex_lock(&ids_lock);
	for (i = 0; i < MAX_DEVICES; i++)
		if (!strcmp(ids[i].path, ctx->device->ibdev_path))
			ids[i].path[0] = '\0';
	pthread_mutex_unlock(&ids_lock);
}

MLX5EP_EXPORT int mlx5ep_device_attached(const struct ibv_device *device,
					 char *reason, size_t len)
{
	char text[256];
	ssize_t ret;

	ret = mlx5ep_read_sysfs(device, "attached", text, sizeof(text));
	if (ret > 0 && text[ret - 1] == '\n')
		text[ret - 1] = '\0';
	if (reason && len)
		snprintf(reason, len, "%s", text);
	if (ret <= 0 || strcmp(text, "yes"))
		return -EOPNOTSUPP;
	return 0;
}

MLX5EP_EXPORT int _mlx5ep_device_query(struct ibv_context *context,
				       struct mlx5_ep_features *features,
				       size_t size)
{
	struct mlx5ep_cmd cmd;

	mlx5ep_cmd_init(&cmd, UVERBS_OBJECT_DEVICE,
			mlx5ep_uverbs_id(context, "method device query_features"));
	mlx5ep_cmd_out(&cmd, MLX5_EP_ATTR_QUERY_FEATURES_RESP, features, size);
	return mlx5ep_cmd_exec(context, &cmd);
}
