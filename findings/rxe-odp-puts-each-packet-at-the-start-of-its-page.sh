#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Debian's kernels 6.16.12-1~bpo13+1 and 7.3.4-1~bpo13+1 (amd64; 7.2.12-1~bpo13+1 does the
# same), rdma_rxe, rdma-core 65.0-1.1: rxe announces on-demand paging for RC (send, receive,
# write, read), and memory registered with IBV_ACCESS_ON_DEMAND takes and gives wrong data
# while each completion says success. The offset in the page is lost: each packet is read from,
# or put at, the start of its page. So a message up to the path MTU at the start of a page is
# right, and "ibv_rc_pingpong -o -c", which compares the first byte of each page, sees nothing.
# 6.12.117-1 refuses the registration with EOPNOTSUPP. Guessed before: soft-RoCE is where one
# tries on-demand paging without an adapter. Seen on 30 November 2026; "[4096]=7168..8191" are
# the bytes 7168 to 8191 of the message, at offset 4096 of the buffer:
#
#    7.3.4: write, plain memory, 4096 bytes at 0: success, [0]=0..4095
#    7.3.4: write, on demand, 4 bytes at 100: success, [0]=0..3
#    7.3.4: write, on demand, 1024 bytes at 1024: success, [0]=0..1023
#    7.3.4: write, on demand, 8192 bytes at 0: success, [0]=3072..4095 [4096]=7168..8191
#    7.3.4: write from on demand, 4096 bytes at 0: success, [0]=0..1023 [1024]=0..1023 [2048]=0..1023 [3072]=0..1023
set -euo pipefail
# shellcheck source=/dev/null
. "$(dirname "$0")/lib/guest.sh"

guest_setup sid 'linux-image-7.3.4+deb13-amd64=7.3.4-1~bpo13+1' \
	'linux-image-6.16.12+deb13-amd64=6.16.12-1~bpo13+1' -- \
	ibverbs-providers=65.0-1.1 libibverbs-dev=65.0-1.1 iproute2=7.3.0-1

guest_cc odp -libverbs <<'END'
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LEN 16384

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp[2];

static int qp_connect(struct ibv_qp *q, struct ibv_qp *to)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = to->qp_num, .max_dest_rd_atomic = 1, .max_rd_atomic = 1,
		.min_rnr_timer = 12, .timeout = 14, .retry_cnt = 3, .rnr_retry = 3,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ,
		.ah_attr = { .is_global = 1, .port_num = 1,
			.grh = { .sgid_index = 1, .hop_limit = 1 } },
	};

	ibv_query_gid(ctx, 1, 1, &attr.ah_attr.grh.dgid);
	if (ibv_modify_qp(q, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS))
		return 1;
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(q, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			  IBV_QP_MIN_RNR_TIMER))
		return 1;
	attr.qp_state = IBV_QPS_RTS;
	return ibv_modify_qp(q, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			     IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* Waits for completions and returns the status of the first that failed. */
static const char *done(int number)
{
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 1000 && number; i++) {
		if (ibv_poll_cq(cq, 1, &wc) > 0) {
			if (wc.status)
				return ibv_wc_status_str(wc.status);
			number--;
		} else {
			usleep(5000);
		}
	}
	return number ? "no completion" : "success";
}

/* Prints the ranges of to[] that have a byte of the message, and which bytes they are. */
static void show(const uint16_t *to)
{
	int i, n;

	for (i = 0; i < LEN / 2; i += n) {
		for (n = 1; i + n < LEN / 2 && (to[i] ? to[i + n] == to[i] + n : !to[i + n]); n++)
			;
		if (to[i])
			printf(" [%d]=%d..%d", i * 2, (to[i] - 1) * 2, (to[i] - 1 + n) * 2 - 1);
	}
	printf("\n");
}

static void one(const char *what, int opcode, struct ibv_mr *l, struct ibv_mr *r, int at, int n)
{
	char *local = l->addr, *remote = r->addr;
	struct ibv_sge sge = { (uintptr_t)local, n, l->lkey };
	struct ibv_sge in = { (uintptr_t)remote + at, n, r->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED }, *bad;
	struct ibv_recv_wr rw = { .sg_list = &in, .num_sge = 1 }, *badr;
	int i, read = opcode == IBV_WR_RDMA_READ, send = opcode == IBV_WR_SEND;
	const char *status;

	memset(local, 0, LEN);
	memset(remote, 0, LEN);
	for (i = 0; i < n / 2; i++)
		((uint16_t *)(read ? remote + at : local))[i] = i + 1;
	wr.wr.rdma.remote_addr = (uintptr_t)remote + at;
	wr.wr.rdma.rkey = r->rkey;
	if (send)
		ibv_post_recv(qp[1], &rw, &badr);
	ibv_post_send(qp[0], &wr, &bad);
	status = done(1 + send);
	printf("%s, %d bytes at %d: %s,", what, n, at, status);
	show((void *)(read ? local : remote));
}

static struct ibv_mr *mr(int flags)
{
	void *p = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return ibv_reg_mr(pd, p, LEN, flags | IBV_ACCESS_LOCAL_WRITE |
			  IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_mr *plain, *odp;
	int i;

	setbuf(stdout, NULL);
	ctx = ibv_open_device(list[0]);
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 64, NULL, NULL, 0);
	for (i = 0; i < 2; i++)
		qp[i] = ibv_create_qp(pd, &(struct ibv_qp_init_attr){ .send_cq = cq,
			.recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = { 8, 8, 1, 1, 0 } });
	if (qp_connect(qp[0], qp[1]) || qp_connect(qp[1], qp[0]))
		return 1;
	plain = mr(0);
	odp = mr(IBV_ACCESS_ON_DEMAND);
	if (!plain || !odp)
		return 2;
	one("write, plain memory", IBV_WR_RDMA_WRITE, plain, plain, 0, 4096);
	one("write, on demand", IBV_WR_RDMA_WRITE, plain, odp, 0, 1024);
	one("write, on demand", IBV_WR_RDMA_WRITE, plain, odp, 100, 4);
	one("write, on demand", IBV_WR_RDMA_WRITE, plain, odp, 1024, 1024);
	one("write, on demand", IBV_WR_RDMA_WRITE, plain, odp, 0, 8192);
	one("read, on demand", IBV_WR_RDMA_READ, plain, odp, 0, 4096);
	one("send, on demand", IBV_WR_SEND, plain, odp, 0, 4096);
	one("write from on demand", IBV_WR_RDMA_WRITE, odp, plain, 0, 4096);
	return 0;
}
END
guest_run_each 6.16.12 7.3.4 <<'GUEST'
rxe_on
timeout 100 ./odp
GUEST
guest_same 'where the bytes of a message are' <<'END'
6.16.12: write, plain memory, 4096 bytes at 0: success, [0]=0..4095
6.16.12: write, on demand, 1024 bytes at 0: success, [0]=0..1023
6.16.12: write, on demand, 4 bytes at 100: success, [0]=0..3
6.16.12: write, on demand, 1024 bytes at 1024: success, [0]=0..1023
6.16.12: write, on demand, 8192 bytes at 0: success, [0]=3072..4095 [4096]=7168..8191
6.16.12: read, on demand, 4096 bytes at 0: success, [0]=0..1023 [1024]=0..1023 [2048]=0..1023 [3072]=0..1023
6.16.12: send, on demand, 4096 bytes at 0: success, [0]=3072..4095
6.16.12: write from on demand, 4096 bytes at 0: success, [0]=0..1023 [1024]=0..1023 [2048]=0..1023 [3072]=0..1023
7.3.4: write, plain memory, 4096 bytes at 0: success, [0]=0..4095
7.3.4: write, on demand, 1024 bytes at 0: success, [0]=0..1023
7.3.4: write, on demand, 4 bytes at 100: success, [0]=0..3
7.3.4: write, on demand, 1024 bytes at 1024: success, [0]=0..1023
7.3.4: write, on demand, 8192 bytes at 0: success, [0]=3072..4095 [4096]=7168..8191
7.3.4: read, on demand, 4096 bytes at 0: success, [0]=0..1023 [1024]=0..1023 [2048]=0..1023 [3072]=0..1023
7.3.4: send, on demand, 4096 bytes at 0: success, [0]=3072..4095
7.3.4: write from on demand, 4096 bytes at 0: success, [0]=0..1023 [1024]=0..1023 [2048]=0..1023 [3072]=0..1023
END

verdict 'on-demand memory of rxe takes each packet at the start of its page, and says success'
