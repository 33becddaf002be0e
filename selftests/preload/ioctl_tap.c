// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ioctl_tap.so - preloaded into a verbs program, writes every uverbs ioctl to the
 * file that $IOCTL_TAP names: object, method, and each attribute with its bytes,
 * as they were before the call (<) and after it (>).
 *
 * strace shows that a call was made; this shows what was in it. An attribute of
 * up to 8 bytes travels in the attribute itself, a longer one as a pointer.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#define INLINE_BYTES 8

static FILE *tap;

static void __attribute__((constructor)) tap_open(void)
{
	const char *path = getenv("IOCTL_TAP");

	if (path)
		tap = fopen(path, "we");
}

static void tap_attr(char direction, const struct ib_uverbs_attr *attr)
{
	const unsigned char *p = (const void *)&attr->data;
	unsigned int i;

	if (attr->len > INLINE_BYTES)
		p = (const void *)(uintptr_t)attr->data;
	fprintf(tap, " %c %04x %u:", direction, attr->attr_id, attr->len);
	for (i = 0; p && i < attr->len; i++)
		fprintf(tap, "%s%02x", i % 4 ? "" : " ", p[i]);
	/* Handles and file descriptors have no length, only data. */
	if (!attr->len)
		fprintf(tap, " #%llu", (unsigned long long)attr->data);
	fputc('\n', tap);
}

static void tap_call(char direction, const struct ib_uverbs_ioctl_hdr *hdr)
{
	unsigned int i;

	fprintf(tap, "%c object %04x method %04x attrs %u\n", direction,
		hdr->object_id, hdr->method_id, hdr->num_attrs);
	for (i = 0; i < hdr->num_attrs; i++)
		tap_attr(direction, &hdr->attrs[i]);
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*real)(int fd, unsigned long request, ...);
	void *arg;
	va_list ap;
	int ret;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "ioctl");
	if (!tap || request != RDMA_VERBS_IOCTL)
		return real(fd, request, arg);
	tap_call('<', arg);
	ret = real(fd, request, arg);
	fprintf(tap, "= %d\n", ret);
	tap_call('>', arg);
	return ret;
}
