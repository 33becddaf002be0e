// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The uverbs ids of the module's objects and methods. The module lists them in
 * sysfs; the library never probes for them.
 *
 * The ids of a device are cached after the first read, so that a call on the
 * path of a connection reads no file. mlx5ep_uverbs_forget() drops them when
 * the kernel rejects one, as after a reload of the module. A forked child begins
 * with none.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/mlx5_ep_user_ioctl_cmds.h>

#include "internal.h"
#include "lock.h"

#define MAX_DEVICES 16
/* A sysfs attribute is one page at most; one byte more for the terminator. */
#define IDS_TEXT 4097

static pthread_mutex_t ids_lock = PTHREAD_MUTEX_INITIALIZER;
/* The paths are together, because each look-up compares them: a page, not one a device. */
static char ids_path[MAX_DEVICES][IBV_SYSFS_PATH_MAX];
static char ids_text[MAX_DEVICES][IDS_TEXT];
static unsigned int ids_next;

/*
 * In a forked child. Another thread of the parent may have held ids_lock, and may have
 * written half of the ids of a device.
 */
static void ids_forked(void)
{
	unsigned int i;

	/* A page that is only read stays the parent's. */
	for (i = 0; i < MAX_DEVICES; i++)
		if (ids_path[i][0])
			ids_path[i][0] = '\0';
	ids_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static __attribute__((constructor)) void ids_load(void)
{
	pthread_atfork(NULL, NULL, ids_forked);
}

/**
 * mlx5ep_read_sysfs() - read one of the module's attributes of a device
 * @name: for instance "attached"
 * @buf: receives the text, terminated also where the call fails
 * @len: size of @buf in bytes, at least 1
 *
 * Return: the length of the text, or a negative errno.
 */
ssize_t mlx5ep_read_sysfs(const struct ibv_device *dev, const char *name,
			  char *buf, size_t len)
{
	char path[IBV_SYSFS_PATH_MAX + 64];
	ssize_t ret;
	int fd;

	buf[0] = '\0';
	/* snprintf() would be a tenth of the first call that a process makes. */
	stpcpy(stpcpy(stpcpy(path, dev->ibdev_path), "/mlx5_ep/"), name);
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

/* Each line is "KIND NAME ID", for instance "object notifier 0x100b". */
static int ids_find(const char *text, const char *name)
{
	size_t len = strlen(name);
	const char *line = text;
	char *end;
	long id;

	while (line) {
		if (!strncmp(line, name, len) && line[len] == ' ') {
			id = strtol(line + len, &end, 0);
			if (end == line + len || id < 0 || id > 0xffff)
				return -EPROTO;
			return id;
		}
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	return -EOPNOTSUPP;
}

/*
 * A module with another ABI may give the same id another meaning. An older module does
 * not list the version with the ids.
 */
static bool ids_have_abi(const struct ibv_device *dev, const char *text)
{
	int abi = ids_find(text, "abi");
	char version[32];

	if (abi == -EOPNOTSUPP &&
	    mlx5ep_read_sysfs(dev, "abi_version", version, sizeof(version)) > 0)
		abi = strtoul(version, NULL, 10);
	return abi == MLX5_EP_ABI_VERSION;
}

/**
 * mlx5ep_uverbs_id() - look up the id of an object, or of a method
 * @name: as in sysfs uverbs_ids, for instance "method device context_query"
 *
 * Return: the id. -EOPNOTSUPP if the module is not attached, has another ABI
 * version, or has no such object or method. -EPROTO if the line has no valid
 * id.
 */
int mlx5ep_uverbs_id(struct ibv_context *ctx, const char *name)
{
	const char *path = ctx->device->ibdev_path;
	unsigned int i;
	int ret, cancel;

	cancel = lock_take(&ids_lock);
	for (i = 0; i < MAX_DEVICES; i++)
		if (!strcmp(ids_path[i], path))
			break;
	if (i == MAX_DEVICES) {
		i = ids_next % MAX_DEVICES;
		ids_path[i][0] = '\0';
		if (mlx5ep_read_sysfs(ctx->device, "uverbs_ids", ids_text[i],
				      IDS_TEXT) <= 0 ||
		    !ids_have_abi(ctx->device, ids_text[i])) {
			ret = -EOPNOTSUPP;
			goto out_unlock;
		}
		strcpy(ids_path[i], path);
		ids_next++;
	}
	ret = ids_find(ids_text[i], name);
out_unlock:
	lock_release(&ids_lock, cancel);
	return ret;
}

/**
 * mlx5ep_uverbs_forget() - drop the cached ids of a device
 *
 * The next mlx5ep_uverbs_id() reads them from sysfs again.
 */
void mlx5ep_uverbs_forget(struct ibv_context *ctx)
{
	unsigned int i;

	pthread_mutex_lock(&ids_lock);
	for (i = 0; i < MAX_DEVICES; i++)
		if (!strcmp(ids_path[i], ctx->device->ibdev_path))
			ids_path[i][0] = '\0';
	pthread_mutex_unlock(&ids_lock);
}
