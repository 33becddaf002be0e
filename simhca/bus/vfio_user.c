// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vfio-user, the transport: a listening socket per adapter, one VMM at a time,
 * messages cut out of the stream and answered in order.
 *
 * Invariants
 * - A message with an invalid size ends the connection. A message with a valid
 *   size that cannot be carried out is answered with an error.
 * - Descriptors belong to the message that they came with. recvmsg() ends a
 *   read after the bytes that carried descriptors, so they belong to the
 *   message with the last byte of that read. Descriptors that a handler does
 *   not keep are closed.
 * - When the VMM disconnects, its memory and interrupts are removed and the
 *   adapter is reset.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bus/bus.h"
#include "bus/dma.h"
#include "bus/vfio_user.h"

#define TX_MAX (1u << 20)

static void vu_hang_up(struct vfio_user *vu, const char *why)
{
	unsigned int i;

	if (vu->conn.fd < 0)
		return;
	log_line("hca%u: VMM gone: %s", vu->hca->index, why);
	loop_remove(&vu->conn);
	close(vu->conn.fd);
	vu->conn.fd = -1;
	for (i = 0; i < vu->nfds; i++)
		close(vu->fds[i].fd);
	vu->nfds = 0;
	vu->rx_len = 0;
	free(vu->tx);
	vu->tx = NULL;
	vu->tx_len = 0;
	vu->ready = false;
	vfio_irqs_off(vu);
	vu->hca->bus_ops->reset(vu->hca);
	dma_unmap_all(vu->hca->dma);
	loop_modify(&vu->listen, EPOLLIN);
}

/* Send as much as the socket accepts. Keep the rest until EPOLLOUT. */
static void vu_send(struct vfio_user *vu, const void *data, size_t len)
{
	ssize_t n = 0;
	uint8_t *tx;

	if (!vu->tx_len) {
		n = send(vu->conn.fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN) {
			vu_hang_up(vu, strerror(errno));
			return;
		}
		if (n < 0)
			n = 0;
		if ((size_t)n == len)
			return;
	}
	len -= (size_t)n;
	tx = len > TX_MAX - vu->tx_len ? NULL :
					 realloc(vu->tx, vu->tx_len + len);
	if (!tx) {
		vu_hang_up(vu, "it takes no answers");
		return;
	}
	memcpy(tx + vu->tx_len, (const uint8_t *)data + n, len);
	vu->tx = tx;
	vu->tx_len += len;
	loop_modify(&vu->conn, EPOLLIN | EPOLLOUT);
}

static void vu_flush(struct vfio_user *vu)
{
	ssize_t n = send(vu->conn.fd, vu->tx, vu->tx_len,
			 MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0) {
		if (errno != EAGAIN)
			vu_hang_up(vu, strerror(errno));
		return;
	}
	vu->tx_len -= (size_t)n;
	memmove(vu->tx, vu->tx + n, vu->tx_len);
	if (!vu->tx_len)
		loop_modify(&vu->conn, EPOLLIN);
}

static void vu_reply(struct vfio_user *vu, struct vfio_user_msg *msg, int ret)
{
	uint8_t out[sizeof(msg->hdr) + sizeof(msg->reply)];
	struct vfio_user_hdr hdr = {
		.id = msg->hdr.id,
		.command = msg->hdr.command,
		.flags = VFIO_USER_F_REPLY | (ret ? VFIO_USER_F_ERROR : 0),
		.error = ret ? (uint32_t)-ret : 0,
	};
	size_t len = ret ? 0 : msg->reply_len;

	if (ret)
		log_line("hca%u: vfio-user command %u refused: %s",
			 vu->hca->index, msg->hdr.command, strerror(-ret));
	if (msg->hdr.flags & VFIO_USER_F_NO_REPLY)
		return;
	hdr.size = (uint32_t)(sizeof(hdr) + len);
	memcpy(out, &hdr, sizeof(hdr));
	memcpy(out + sizeof(hdr), msg->reply, len);
	vu_send(vu, out, hdr.size);
}

/* Take the descriptors that came with bytes before @end of the stream. */
static unsigned int vu_take_fds(struct vfio_user *vu, uint64_t end, int *fds)
{
	unsigned int n, i;

	for (n = 0; n < vu->nfds && vu->fds[n].pos < end; n++)
		fds[n] = vu->fds[n].fd;
	for (i = n; i < vu->nfds; i++)
		vu->fds[i - n] = vu->fds[i];
	vu->nfds -= n;
	return n;
}

/* Handle the first message of @at; return its size, 0 to wait for more. */
static size_t vu_message(struct vfio_user *vu, const uint8_t *at, size_t len,
			 uint64_t pos)
{
	int fds[VFIO_USER_FDS_MAX];
	struct vfio_user_msg msg;
	unsigned int i;
	int ret;

	if (len < sizeof(msg.hdr))
		return 0;
	memcpy(&msg.hdr, at, sizeof(msg.hdr));
	if (msg.hdr.size < sizeof(msg.hdr) ||
	    msg.hdr.size > VFIO_USER_MSG_MAX ||
	    (msg.hdr.flags & VFIO_USER_F_TYPE)) {
		vu_hang_up(vu, "a message without sense");
		return 0;
	}
	if (len < msg.hdr.size)
		return 0;
	msg.body = at + sizeof(msg.hdr);
	msg.len = msg.hdr.size - sizeof(msg.hdr);
	msg.fds = fds;
	msg.nfds = vu_take_fds(vu, pos + msg.hdr.size, fds);
	msg.reply_len = 0;
	ret = vfio_msg_handle(vu, &msg);
	for (i = 0; i < msg.nfds; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	vu_reply(vu, &msg, ret);
	return msg.hdr.size;
}

static void vu_messages(struct vfio_user *vu)
{
	size_t done = 0, n;

	do {
		n = vu_message(vu, vu->rx + done, vu->rx_len - done,
			       vu->rx_pos + done);
		done += n;
	} while (n && vu->conn.fd >= 0);
	if (vu->conn.fd < 0)
		return;
	vu->rx_len -= done;
	vu->rx_pos += done;
	memmove(vu->rx, vu->rx + done, vu->rx_len);
}

static void vu_keep_fds(struct vfio_user *vu, struct msghdr *mh, uint64_t pos)
{
	struct cmsghdr *cmsg;
	size_t n, i;
	int fd;

	for (cmsg = CMSG_FIRSTHDR(mh); cmsg; cmsg = CMSG_NXTHDR(mh, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET ||
		    cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		n = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n; i++) {
			memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(int),
			       sizeof(fd));
			if (vu->nfds < VFIO_USER_FDS_MAX)
				vu->fds[vu->nfds++] =
					(struct vfio_user_fd){ fd, pos };
			else
				close(fd);
		}
	}
}

static void vu_ready(struct sim_fd *sfd, uint32_t events)
{
	struct vfio_user *vu = container_of(sfd, struct vfio_user, conn);
	char control[CMSG_SPACE(VFIO_USER_FDS_MAX * sizeof(int))];
	struct iovec iov = { .iov_base = vu->rx + vu->rx_len,
			     .iov_len = sizeof(vu->rx) - vu->rx_len };
	struct msghdr mh = { .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control) };
	ssize_t n;

	if (events & EPOLLOUT) {
		vu_flush(vu);
		if (vu->conn.fd < 0 || !(events & ~EPOLLOUT))
			return;
	}
	n = recvmsg(vu->conn.fd, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		vu_hang_up(vu, n ? strerror(errno) : "it closed");
		return;
	}
	vu->rx_len += (size_t)n;
	vu_keep_fds(vu, &mh, vu->rx_pos + vu->rx_len - 1);
	vu_messages(vu);
}

static void vu_connect(struct sim_fd *sfd, uint32_t events)
{
	struct vfio_user *vu = container_of(sfd, struct vfio_user, listen);
	int fd = accept4(sfd->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd < 0)
		return;
	vu->conn.fd = fd;
	vu->conn.events = EPOLLIN;
	vu->conn.ready = vu_ready;
	vu->rx_pos = 0;
	if (loop_add(&vu->conn)) {
		close(fd);
		vu->conn.fd = -1;
		return;
	}
	loop_modify(&vu->listen, 0);
	log_line("hca%u: VMM connected", vu->hca->index);
}

/**
 * vfio_user_listen() - make a listening unix socket
 * @path: where; an old socket there is replaced
 *
 * Return: the descriptor or -errno
 */
int vfio_user_listen(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(path) >= sizeof(sa.sun_path))
		return -ENAMETOOLONG;
	memcpy(sa.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	unlink(path);
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) || listen(fd, 8)) {
		ret = -errno;
		close(fd);
		return ret;
	}
	return fd;
}

/**
 * vfio_user_init() - offer an adapter to VMMs
 * @path: of its socket
 *
 * Return: 0 or -errno
 */
int vfio_user_init(struct hca *hca, const char *path)
{
	struct vfio_user *vu = calloc(1, sizeof(*vu));
	unsigned int i;
	int ret;

	if (!vu)
		return -ENOMEM;
	hca->vfio = vu;
	vu->hca = hca;
	vu->conn.fd = -1;
	vu->listen.fd = -1;
	vu->path = strdup(path);
	vu->irqs = calloc(PCI_MSIX_VECTORS, sizeof(*vu->irqs));
	if (!vu->path || !vu->irqs)
		return -ENOMEM;
	for (i = 0; i < PCI_MSIX_VECTORS; i++)
		vu->irqs[i] = -1;
	ret = vfio_user_listen(path);
	if (ret < 0)
		return ret;
	vu->listen = (struct sim_fd){ .fd = ret,
				      .events = EPOLLIN,
				      .ready = vu_connect };
	return loop_add(&vu->listen);
}

/**
 * vfio_user_fini() - hang up and take the socket away
 * @hca: the adapter, however far vfio_user_init() came
 */
void vfio_user_fini(struct hca *hca)
{
	struct vfio_user *vu = hca->vfio;

	if (!vu)
		return;
	vu_hang_up(vu, "end");
	if (vu->listen.fd >= 0) {
		loop_remove(&vu->listen);
		close(vu->listen.fd);
		unlink(vu->path);
	}
	free(vu->path);
	free(vu->irqs);
	free(vu);
	hca->vfio = NULL;
}
