#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# rdma_rxe (soft-RoCE) with rdma-core 56.1 (Debian trixie, kernel 6.12.117-1): once a process has changed
# its credentials after ibv_open_device(), here by giving up one capability that it does not
# use, ibv_post_send() returns EACCES (13), although the request was taken before. Slow calls go on:
# registering memory, creating a CQ, changing a QP. Polling and posting receives, which make no system call, too.
# The provider rings by write() on the uverbs file, and the kernel refuses a write() under other credentials than
# those of the open(); the other calls are ioctl(). So a daemon that drops its privileges after it has opened the
# device works on an adapter whose doorbell is a store, and not on the soft one it was tried on.
# A device that is opened after the change works. Guessed before: an open device stays usable, as with any
# descriptor, or nothing of it does. Seen on 29 November 2026.
set -euo pipefail
# shellcheck source=/dev/null
. "$(dirname "$0")/lib/guest.sh"

guest_setup trixie 'linux-image-6.12.117+deb13-amd64=6.12.117-1' -- \
	ibverbs-providers=56.1-1 libibverbs-dev=56.1-1 iproute2=6.15.0-1

guest_cc posts -libverbs <<'END'
#include <errno.h>
#include <infiniband/verbs.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char memory[4096];

static struct side {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
} a, b;

static int side_open(struct side *s)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1 };
	struct ibv_ah_attr to = { .is_global = 1, .port_num = 1, .grh = { .sgid_index = 1, .hop_limit = 1 } };

	s->ctx = ibv_open_device(list[0]);
	s->pd = ibv_alloc_pd(s->ctx);
	s->cq = ibv_create_cq(s->ctx, 8, NULL, NULL, 0);
	s->mr = ibv_reg_mr(s->pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	s->qp = ibv_create_qp(s->pd, &(struct ibv_qp_init_attr){
		.send_cq = s->cq, .recv_cq = s->cq, .qp_type = IBV_QPT_UD,
		.cap = { 8, 8, 1, 1, 0 } });
	if (ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
		return 1;
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(s->qp, &attr, IBV_QP_STATE))
		return 1;
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
		return 1;
	ibv_query_gid(s->ctx, 1, 1, &to.grh.dgid);
	s->ah = ibv_create_ah(s->pd, &to);
	return !s->ah;
}

/* The errno of a call that returns NULL, or 0. */
static int made(void *object)
{
	return object ? 0 : errno;
}

static void calls(const char *when, struct side *s)
{
	struct ibv_sge sge = { (uintptr_t)memory, 1024, s->mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 }, *bad_recv;
	struct ibv_send_wr send = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED }, *bad;
	struct ibv_wc wc;
	int got = 0, i, posted;

	sge.length = 16;
	send.wr.ud.ah = s->ah;
	send.wr.ud.remote_qpn = s->qp->qp_num;
	send.wr.ud.remote_qkey = 1;
	sge.length = 1024;
	printf("%s: receive %d", when, ibv_post_recv(s->qp, &recv, &bad_recv));
	sge.length = 16;
	posted = ibv_post_send(s->qp, &send, &bad);
	for (i = 0; i < 200 && got < 2; i++) {
		got += ibv_poll_cq(s->cq, 1, &wc) > 0;
		usleep(10000);
	}
	printf(", send %d, completions %d, memory %d, CQ %d\n", posted, got,
	       made(ibv_reg_mr(s->pd, memory, 4096, 0)),
	       made(ibv_create_cq(s->ctx, 8, NULL, NULL, 0)));
}

int main(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	setbuf(stdout, NULL);
	if (side_open(&a))
		return 1;
	calls("as opened", &a);
	syscall(SYS_capget, &header, data);
	data[0].effective &= ~(1u << CAP_SYS_BOOT);
	if (syscall(SYS_capset, &header, data))
		return 2;
	calls("with a capability less", &a);
	if (side_open(&b))
		return 3;
	calls("opened with a capability less", &b);
	return 0;
}
END

guest_run '6.12.117+deb13-amd64' <<'GUEST'
rxe_on
timeout 60 ./posts
GUEST
guest_same 'what a process can do that has changed its credentials' <<'END'
as opened: receive 0, send 0, completions 2, memory 0, CQ 0
with a capability less: receive 0, send 13, completions 0, memory 0, CQ 0
opened with a capability less: receive 0, send 0, completions 2, memory 0, CQ 0
END

verdict 'soft-RoCE takes no send of a process that has changed its credentials since it opened the device'
