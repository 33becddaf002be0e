// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The VMM: process, vfio-user messages, regions, control socket. vmm_cmd.c is
 * the driver.
 */
#include <errno.h>
#include <linux/vfio.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bus/vfio_user.h"
#include "test/unit/vmm.h"

#define WAIT_MS 20000

static int unix_connect(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa))) {
		close(fd);
		return -errno;
	}
	return fd;
}

static void child(struct vmm *vmm, int out)
{
	const char *bin = getenv("SIMHCA_BIN");
	char n[8], log[96];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(out, STDOUT_FILENO);
	snprintf(n, sizeof(n), "%u", VMM_HCAS);
	snprintf(log, sizeof(log), "%s/log", vmm->dir);
	bin = bin ? bin : "build/san/simhca-test";
	execl(bin, bin, "--dir", vmm->dir, "--hca", n, "--log", log, NULL);
	_exit(127);
}

/* Start simhca, wait until it is ready. */
int vmm_start(struct vmm *vmm)
{
	struct pollfd pfd = { .events = POLLIN };
	char ready[16];
	unsigned int i;
	int out[2];

	*vmm = (struct vmm){ .fd = -1, .ram_fd = -1 };
	for (i = 0; i < VMM_VECTORS; i++)
		vmm->irqs[i] = -1;
	snprintf(vmm->dir, sizeof(vmm->dir), "/tmp/simhca-test.XXXXXX");
	if (!mkdtemp(vmm->dir) || pipe(out))
		return -errno;
	vmm->pid = fork();
	if (!vmm->pid)
		child(vmm, out[1]);
	close(out[1]);
	pfd.fd = out[0];
	if (poll(&pfd, 1, WAIT_MS) != 1 ||
	    read(out[0], ready, sizeof(ready)) < 6 ||
	    memcmp(ready, "ready\n", 6))
		return -EPROTO;
	close(out[0]);
	vmm->ram_fd = memfd_create("ram", MFD_CLOEXEC);
	if (ftruncate(vmm->ram_fd, VMM_RAM))
		return -errno;
	vmm->ram = mmap(NULL, VMM_RAM, PROT_READ | PROT_WRITE, MAP_SHARED,
			vmm->ram_fd, 0);
	/* Page 0 is not given out, so an address that was never set fails. */
	vmm->next = VMM_PAGE;
	return vmm->ram == MAP_FAILED ? -errno : 0;
}

/* Connect to HCA 0, after closing the last connection. */
int vmm_connect(struct vmm *vmm)
{
	char path[96];

	if (vmm->fd >= 0)
		close(vmm->fd);
	snprintf(path, sizeof(path), "%s/hca0.sock", vmm->dir);
	vmm->fd = unix_connect(path);
	return vmm->fd < 0 ? vmm->fd : 0;
}

/* End simhca: 0 if it ends as it should, -EPROTO if not (a sanitizer's exit). */
int vmm_stop(struct vmm *vmm)
{
	char cmd[96];
	int status, ret = 0;

	kill(vmm->pid, SIGTERM);
	if (waitpid(vmm->pid, &status, 0) != vmm->pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status)) {
		fprintf(stderr, "# simhca ended with 0x%x\n", status);
		ret = -EPROTO;
	}
	if (ret) {
		snprintf(cmd, sizeof(cmd), "tail -n 5 %s/log >&2", vmm->dir);
		ret = system(cmd) ? -EIO : ret;
	}
	snprintf(cmd, sizeof(cmd), "rm -rf %s", vmm->dir);
	if (system(cmd))
		ret = -EIO;
	return ret;
}

/* Send a message; its size field is right. */
static int vmm_send(struct vmm *vmm, uint16_t command, uint32_t flags,
	     const void *body, size_t len, const int *fds, unsigned int nfds)
{
	char control[CMSG_SPACE(VFIO_USER_FDS_MAX * sizeof(int))] = { 0 };
	struct vfio_user_hdr hdr = { .id = vmm->id++,
				     .command = command,
				     .size = sizeof(hdr) + len,
				     .flags = flags };
	struct iovec iov[2] = { { &hdr, sizeof(hdr) },
				{ (void *)(uintptr_t)body, len } };
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = 2 };
	struct cmsghdr *cmsg;

	if (nfds) {
		mh.msg_control = control;
		mh.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		cmsg = CMSG_FIRSTHDR(&mh);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(cmsg), fds, nfds * sizeof(int));
	}
	return sendmsg(vmm->fd, &mh, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int read_all(int fd, void *buf, size_t len)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	ssize_t n;

	for (; len; buf = (char *)buf + n, len -= (size_t)n) {
		if (poll(&pfd, 1, WAIT_MS) != 1)
			return -ETIMEDOUT;
		n = read(fd, buf, len);
		if (n <= 0)
			return -ECONNRESET;
	}
	return 0;
}

/* Take an answer: bytes of its body, -errno when there is none. */
int vmm_recv(struct vmm *vmm, uint16_t *command, void *body, size_t len,
	     uint32_t *error)
{
	struct vfio_user_hdr hdr;
	uint8_t rest[8192];
	int ret = read_all(vmm->fd, &hdr, sizeof(hdr));

	if (ret)
		return ret;
	if (hdr.size < sizeof(hdr) || hdr.size > sizeof(rest) + sizeof(hdr) ||
	    (hdr.flags & VFIO_USER_F_TYPE) != VFIO_USER_F_REPLY)
		return -EPROTO;
	ret = read_all(vmm->fd, rest, hdr.size - sizeof(hdr));
	if (ret)
		return ret;
	*command = hdr.command;
	*error = hdr.flags & VFIO_USER_F_ERROR ? hdr.error : 0;
	if (len > hdr.size - sizeof(hdr))
		len = hdr.size - sizeof(hdr);
	if (body)
		memcpy(body, rest, len);
	return (int)(hdr.size - sizeof(hdr));
}

/* Ask: bytes of the answer's body, or -errno, the other side's too. */
int vmm_call(struct vmm *vmm, uint16_t command, const void *body, size_t len,
	     const int *fds, unsigned int nfds, void *reply, size_t room)
{
	uint16_t answered;
	uint32_t error;
	int ret = vmm_send(vmm, command, 0, body, len, fds, nfds);

	if (ret)
		return ret;
	ret = vmm_recv(vmm, &answered, reply, room, &error);
	if (ret < 0)
		return ret;
	if (answered != command)
		return -EPROTO;
	return error ? -(int)error : ret;
}

/* Agree on the version. */
int vmm_hello(struct vmm *vmm)
{
	struct vfio_user_version version = { 0 };
	int ret = vmm_call(vmm, VFIO_USER_VERSION, &version, sizeof(version),
			   NULL, 0, NULL, 0);

	return ret < 0 ? ret : 0;
}

/* Map guest memory and become a bus master. */
int vmm_map(struct vmm *vmm)
{
	struct vfio_user_dma_map map = { .argsz = sizeof(map),
					 .flags = VFIO_USER_DMA_READ_OK |
						  VFIO_USER_DMA_WRITE_OK,
					 .size = VMM_RAM };
	const uint16_t master = 0x6; /* memory and bus master */
	int ret = vmm_call(vmm, VFIO_USER_DMA_MAP, &map, sizeof(map),
			   &vmm->ram_fd, 1, NULL, 0);

	if (ret < 0)
		return ret;
	return vmm_write(vmm, VFIO_PCI_CONFIG_REGION_INDEX, 4, &master,
			 sizeof(master));
}

/* Have an eventfd for every vector. */
int vmm_irqs(struct vmm *vmm)
{
	struct vfio_irq_set set = { .argsz = sizeof(set),
				    .flags = VFIO_IRQ_SET_DATA_EVENTFD |
					     VFIO_IRQ_SET_ACTION_TRIGGER,
				    .index = VFIO_PCI_MSIX_IRQ_INDEX,
				    .count = VMM_VECTORS };
	unsigned int i;
	int ret;

	for (i = 0; i < VMM_VECTORS; i++)
		vmm->irqs[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	ret = vmm_call(vmm, VFIO_USER_DEVICE_SET_IRQS, &set, sizeof(set),
		       vmm->irqs, VMM_VECTORS, NULL, 0);
	return ret < 0 ? ret : 0;
}

/* Has the other side hung up? */
bool vmm_gone(struct vmm *vmm)
{
	struct pollfd pfd = { .fd = vmm->fd, .events = POLLIN };
	char c;

	return poll(&pfd, 1, WAIT_MS) == 1 && read(vmm->fd, &c, 1) <= 0;
}

int vmm_read(struct vmm *vmm, uint32_t region, uint64_t off, void *buf,
	     uint32_t len)
{
	struct vfio_user_rw rw = { .offset = off, .region = region,
				   .count = len };
	uint8_t reply[sizeof(rw) + VFIO_USER_XFER_MAX];
	int ret = vmm_call(vmm, VFIO_USER_REGION_READ, &rw, sizeof(rw), NULL, 0,
			   reply, sizeof(reply));

	if (ret < 0)
		return ret;
	if ((size_t)ret != sizeof(rw) + len)
		return -EPROTO;
	memcpy(buf, reply + sizeof(rw), len);
	return 0;
}

static int region_send(struct vmm *vmm, uint32_t region, uint64_t off,
		       const void *buf, uint32_t len, uint32_t flags)
{
	uint8_t msg[sizeof(struct vfio_user_rw) + 4096];
	struct vfio_user_rw rw = { .offset = off, .region = region,
				   .count = len };

	memcpy(msg, &rw, sizeof(rw));
	memcpy(msg + sizeof(rw), buf, len);
	return vmm_send(vmm, VFIO_USER_REGION_WRITE, flags, msg,
			sizeof(rw) + len, NULL, 0);
}

int vmm_write(struct vmm *vmm, uint32_t region, uint64_t off, const void *buf,
	      uint32_t len)
{
	uint16_t command;
	uint32_t error;
	int ret = region_send(vmm, region, off, buf, len, 0);

	if (ret)
		return ret;
	ret = vmm_recv(vmm, &command, NULL, 0, &error);
	return ret < 0 ? ret : -(int)error;
}

int vmm_uar(struct vmm *vmm, uint32_t uar, uint32_t off, const void *buf,
	    uint32_t len)
{
	return region_send(vmm, VFIO_PCI_BAR0_REGION_INDEX,
			   (uint64_t)uar * UAR_BYTES + off, buf, len,
			   VFIO_USER_F_NO_REPLY);
}

int vmm_write_be32(struct vmm *vmm, uint64_t off, uint32_t val)
{
	val = htobe32(val);
	return vmm_write(vmm, VFIO_PCI_BAR0_REGION_INDEX, off, &val,
			 sizeof(val));
}

uint32_t vmm_read_be32(struct vmm *vmm, uint64_t off)
{
	uint32_t val = 0;

	vmm_read(vmm, VFIO_PCI_BAR0_REGION_INDEX, off, &val, sizeof(val));
	return be32toh(val);
}

struct json_object *vmm_control(struct vmm *vmm, const char *request)
{
	size_t len = 0, room = 16 << 20;
	struct json_object *o = NULL;
	char *buf = malloc(room);
	char path[96];
	ssize_t n;
	int fd;

	/* what was posted before shall have been done: an answer says so */
	if (vmm->fd >= 0)
		vmm_read_be32(vmm, 0);
	snprintf(path, sizeof(path), "%s/control.sock", vmm->dir);
	fd = unix_connect(path);
	if (fd >= 0 && dprintf(fd, "%s\n", request) > 0) {
		while (len < room - 1 && (!len || buf[len - 1] != '\n') &&
		       (n = read(fd, buf + len, room - 1 - len)) > 0)
			len += (size_t)n;
		buf[len] = '\0';
		o = json_tokener_parse(buf);
	}
	close(fd);
	free(buf);
	return o;
}

static struct json_object *get(struct json_object *o, const char *name)
{
	struct json_object *v;

	return o && json_object_object_get_ex(o, name, &v) ? v : NULL;
}

static struct json_object *first_hca(struct json_object *dump)
{
	struct json_object *hcas = get(dump, "hcas");

	return hcas ? json_object_array_get_idx(hcas, 0) : NULL;
}

int64_t vmm_count(struct vmm *vmm, const char *section, const char *name)
{
	struct json_object *dump = vmm_control(vmm, "{\"op\":\"dump\"}");
	struct json_object *v = get(get(first_hca(dump), section), name);
	int64_t n = v ? json_object_get_int64(v) : -1;

	json_object_put(dump);
	return n;
}

int64_t vmm_count_until(struct vmm *vmm, const char *section, const char *name,
			int64_t want)
{
	int64_t n = -1;
	int ms;

	for (ms = 0; ms < WAIT_MS; ms++) {
		n = vmm_count(vmm, section, name);
		if (n == want)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	return n;
}

int64_t vmm_slot(struct vmm *vmm, uint32_t uar, unsigned int slot,
		 const char *field)
{
	struct json_object *dump = vmm_control(vmm, "{\"op\":\"dump\"}");
	struct json_object *uars = get(first_hca(dump), "uars"), *u, *v;
	int64_t n = -1;
	size_t i;

	for (i = 0; uars && i < json_object_array_length(uars); i++) {
		u = json_object_array_get_idx(uars, i);
		if ((uint32_t)json_object_get_int(get(u, "index")) != uar)
			continue;
		v = get(json_object_array_get_idx(get(u, "slots"), slot),
			field);
		n = v ? json_object_get_int64(v) : -1;
	}
	json_object_put(dump);
	return n;
}
