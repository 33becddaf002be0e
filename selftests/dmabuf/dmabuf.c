// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "dmabuf.h"

#define EXPORTER "/dev/dmabuf_exporter"

int dmabuf_exporter(void)
{
	char command[512];
	struct utsname u;
	int fd;

	uname(&u);
	snprintf(command, sizeof(command),
		 "insmod build/modules/%s/dmabuf_exporter.ko", u.release);
	if (access(EXPORTER, F_OK) && system(command))
		return -ENODEV;
	fd = open(EXPORTER, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int dmabuf_create(int exporter, size_t size, uint32_t flags)
{
	struct exporter_create create = { .size = size, .flags = flags };

	return ioctl(exporter, EXPORTER_CREATE, &create) ? -errno : create.fd;
}

int dmabuf_move(int exporter, int fd, uint8_t byte)
{
	struct exporter_move move = { .fd = fd, .byte = byte };

	return ioctl(exporter, EXPORTER_MOVE, &move) ? -errno : 0;
}

int dmabuf_revoke(int exporter, int fd)
{
	struct exporter_move move = { .fd = fd, .revoke = 1 };

	return ioctl(exporter, EXPORTER_MOVE, &move) ? -errno : 0;
}

int dmabuf_attachments(int exporter, int fd)
{
	struct exporter_query query = { .fd = fd };

	return ioctl(exporter, EXPORTER_QUERY, &query) ? -errno :
							 query.attachments;
}

int dmabuf_buffers(int exporter)
{
	struct exporter_query query = { .fd = -1 };

	return ioctl(exporter, EXPORTER_QUERY, &query) ? -errno : query.buffers;
}

int dmabuf_maps(int exporter, int fd)
{
	struct exporter_query query = { .fd = fd };

	return ioctl(exporter, EXPORTER_QUERY, &query) ? -errno : query.maps;
}

int dmabuf_attach_maps(int exporter)
{
	struct exporter_query query = { .fd = -1 };

	return ioctl(exporter, EXPORTER_QUERY, &query) ? -errno :
							 query.attach_maps;
}
