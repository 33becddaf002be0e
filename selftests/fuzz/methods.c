// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The uverbs methods of the module. The first argument of a call says what is wrong
 * with it, the second one with which attribute; the others are values.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_ep_user_ioctl_cmds.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>

#include "fuzz/fuzz.h"
#include "lib/uverbs.h"

#define METHOD_ATTRS 8
#define DATA_MAX 65536u	/* struct ib_uverbs_attr.len has 16 bits */

enum attr_kind {
	ATTR_END, ATTR_IN, ATTR_OUT, ATTR_ARRAY, ATTR_KEY, ATTR_QP_ATTR,
	ATTR_QP, ATTR_XRCD, ATTR_REG, ATTR_REG_NEW, ATTR_FILE, ATTR_FILE_NEW,
	ATTR_FILE_MUST, ATTR_DMABUF, ATTR_WATCH,
};

struct method {
	uint16_t object, id;
	struct {
		uint16_t id;
		enum attr_kind kind;
		uint16_t len;
	} attrs[METHOD_ATTRS];
};

#define REG(name) MLX5_EP_ATTR_XRC_RCV_QP_REG_##name

static const struct method methods[] = {
	{ UVERBS_OBJECT_DEVICE, MLX5_EP_METHOD_QUERY_FEATURES,
	  { { MLX5_EP_ATTR_QUERY_FEATURES_RESP, ATTR_OUT, 40 } } },
	{ UVERBS_OBJECT_DEVICE, MLX5_EP_METHOD_CONTEXT_SET_POLICY,
	  { { MLX5_EP_ATTR_CONTEXT_SET_POLICY_REQ, ATTR_IN, 16 } } },
	{ UVERBS_OBJECT_DEVICE, MLX5_EP_METHOD_CONTEXT_QUERY,
	  { { MLX5_EP_ATTR_CONTEXT_QUERY_RESP, ATTR_OUT, 56 } } },
	{ UVERBS_OBJECT_DEVICE, MLX5_EP_METHOD_CONTEXT_DUMP,
	  { { MLX5_EP_ATTR_CONTEXT_DUMP_RESP_UUARS, ATTR_ARRAY, 16 },
	    { MLX5_EP_ATTR_CONTEXT_DUMP_RESP_COUNT, ATTR_OUT, 4 },
	    { MLX5_EP_ATTR_CONTEXT_DUMP_ENTRY_SIZE, ATTR_IN, 4 } } },
	{ UVERBS_OBJECT_QP, MLX5_EP_METHOD_QP_QUERY_UUAR,
	  { { MLX5_EP_ATTR_QP_QUERY_UUAR_HANDLE, ATTR_QP, 0 },
	    { MLX5_EP_ATTR_QP_QUERY_UUAR_RESP, ATTR_OUT, 24 } } },
	{ UVERBS_OBJECT_QP, MLX5_EP_METHOD_QP_LIST,
	  { { MLX5_EP_ATTR_QP_LIST_FIRST, ATTR_IN, 4 },
	    { MLX5_EP_ATTR_QP_LIST_RESP_QPS, ATTR_ARRAY, 40 },
	    { MLX5_EP_ATTR_QP_LIST_RESP_COUNT, ATTR_OUT, 4 },
	    { MLX5_EP_ATTR_QP_LIST_ENTRY_SIZE, ATTR_IN, 4 } } },
	{ MLX5_EP_OBJECT_NOTIFIER, MLX5_EP_METHOD_NOTIFIER_CREATE,
	  { { MLX5_EP_ATTR_NOTIFIER_CREATE_HANDLE, ATTR_FILE_NEW, 0 },
	    { MLX5_EP_ATTR_NOTIFIER_CREATE_CAPACITY, ATTR_IN, 4 } } },
	{ MLX5_EP_OBJECT_XRC_RCV_QP, MLX5_EP_METHOD_XRC_RCV_QP_REG,
	  { { REG(HANDLE), ATTR_REG_NEW, 0 }, { REG(XRCD), ATTR_XRCD, 0 },
	    { REG(QP_NUM), ATTR_IN, 4 }, { REG(NOTIFIER), ATTR_FILE, 0 },
	    { REG(COOKIE), ATTR_IN, 8 } } },
	{ MLX5_EP_OBJECT_XRC_RCV_QP, MLX5_EP_METHOD_XRC_RCV_QP_GET,
	  { { REG(HANDLE), ATTR_REG_NEW, 0 }, { REG(XRCD), ATTR_XRCD, 0 },
	    { REG(FLAGS), ATTR_IN, 4 }, { REG(KEY), ATTR_KEY, 0 },
	    { REG(NOTIFIER), ATTR_FILE, 0 }, { REG(COOKIE), ATTR_IN, 8 },
	    { REG(ANSWER), ATTR_OUT, 8 },
	    { MLX5_EP_ATTR_XRC_RCV_QP_GET_QP, ATTR_QP, 0 } } },
	{ MLX5_EP_OBJECT_XRC_RCV_QP, MLX5_EP_METHOD_XRC_RCV_QP_MODIFY,
	  { { MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_HANDLE, ATTR_REG, 0 },
	    { MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_ATTR, ATTR_QP_ATTR,
	      sizeof(struct ib_uverbs_qp_attr) },
	    { MLX5_EP_ATTR_XRC_RCV_QP_MODIFY_ANSWER, ATTR_OUT, 8 } } },
	{ MLX5_EP_OBJECT_XRC_RCV_QP, MLX5_EP_METHOD_XRC_RCV_QP_QUERY,
	  { { MLX5_EP_ATTR_XRC_RCV_QP_QUERY_HANDLE, ATTR_REG, 0 },
	    { MLX5_EP_ATTR_XRC_RCV_QP_QUERY_INFO, ATTR_OUT,
	      sizeof(struct mlx5_ep_xrc_rcv_qp_info) },
	    { MLX5_EP_ATTR_XRC_RCV_QP_QUERY_ATTR, ATTR_OUT,
	      sizeof(struct ib_uverbs_qp_attr) } } },
	{ MLX5_EP_OBJECT_XRC_RCV_QP, MLX5_EP_METHOD_XRC_RCV_QP_UNREG,
	  { { MLX5_EP_ATTR_XRC_RCV_QP_UNREG_HANDLE, ATTR_REG, 0 } } },
	{ MLX5_EP_OBJECT_NOTIFIER, MLX5_EP_METHOD_NOTIFIER_WATCH_DMABUF,
	  { { MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_HANDLE, ATTR_FILE_MUST, 0 },
	    { MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_REQ, ATTR_DMABUF,
	      sizeof(struct mlx5_ep_watch_dmabuf) },
	    { MLX5_EP_ATTR_NOTIFIER_WATCH_DMABUF_RESP, ATTR_WATCH,
	      sizeof(struct mlx5_ep_watch_dmabuf_resp) } } },
};

/* One of the transitions that work, then what the values change. */
static void fill_qp_attr(struct ib_uverbs_qp_attr *attr, const uint64_t *a)
{
	static const uint32_t masks[] = {
		IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			IBV_QP_ACCESS_FLAGS,
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			IBV_QP_MIN_RNR_TIMER,
		IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC,
		IBV_QP_STATE,
	};
	unsigned int step = a[3] % 4;

	memset(attr, 0, sizeof(*attr));
	attr->qp_attr_mask = masks[step] ^ (a[4] < 9 ? 0 : (uint32_t)a[4]);
	attr->qp_state = step < 3 ? 1 + step : (uint32_t)a[5];
	attr->port_num = 1;
	attr->path_mtu = IBV_MTU_1024;
	attr->dest_qp_num = a[5] < 9 ? 0x100 + a[5] : (uint32_t)a[5];
	attr->max_dest_rd_atomic = 1;
	attr->min_rnr_timer = 12;
	attr->timeout = 14;
	attr->ah_attr.dlid = 1 + a[5] % 4;
	attr->ah_attr.port_num = 1;
	if (a[4] >= 9)
		((uint8_t *)attr)[a[4] % sizeof(*attr)] ^= a[5];
}

/* A range of a dma-buf; small values are right ones. */
static void fill_dmabuf(struct fuzz_session *s, struct mlx5_ep_watch_dmabuf *req,
			const uint64_t *a)
{
	*req = (struct mlx5_ep_watch_dmabuf){
		.offset = a[2] < 9 ? a[2] % 4 * 4096 : a[2],
		.length = a[4] < 9 ? (1 + a[4] % 4) * 4096 : a[4],
		.cookie = a[2],
		.fd = dmabufs_fd(s, a[5]),
		.flags = a[0] % 16 == 15 ? a[1] : 0,
	};
}

/* Fill attribute @i of @m; its values begin at @value. */
static void methods_fill(struct fuzz_session *s, const struct method *m, int i,
			 struct ib_uverbs_attr *attr, uint8_t *data,
			 const uint64_t *a, unsigned int *value)
{
	unsigned int words = (m->attrs[i].len + 3) / 4, k;

	attr->attr_id = m->attrs[i].id;
	attr->flags = UVERBS_ATTR_F_MANDATORY;
	attr->len = m->attrs[i].len;
	attr->data = (uintptr_t)data;
	switch (m->attrs[i].kind) {
	case ATTR_IN:
		if (m->attrs[i].id == MLX5_EP_ATTR_XRC_RCV_QP_REG_QP_NUM &&
		    a[*value] < 9)
			attr->data = s->reg_num;
		else if (attr->len == 4 && a[*value] == 8)
			attr->data = 40;	/* an entry that is known */
		else if (attr->len <= 8)
			attr->data = attr->len == 4 ? (uint32_t)a[*value] :
						      a[*value];
		for (k = 0; k < words && attr->len > 8; k++)
			((uint32_t *)data)[k] = a[(*value + k) % FUZZ_ARGS];
		++*value;
		break;
	case ATTR_ARRAY:
		attr->len = a[*value] % 257 * attr->len;
		++*value;
		break;
	case ATTR_KEY:
		attr->len = a[4] < 9 ? 1 + a[4] % 8 : a[4] % 66;
		memset(data, 'a' + a[5] % 4, 66);
		if (attr->len <= 8)
			memcpy(&attr->data, data, 8);
		break;
	case ATTR_QP_ATTR:
		fill_qp_attr((void *)data, a);
		break;
	case ATTR_QP:
		attr->data = s->qps[a[2] % FUZZ_SLOTS] ?
			     s->qps[a[2] % FUZZ_SLOTS]->handle : a[2];
		break;
	case ATTR_XRCD:
		attr->data = objects_xrcd_handle(s, a[2]);
		break;
	case ATTR_REG:
		attr->data = s->regs[a[2] % FUZZ_SLOTS];
		break;
	case ATTR_DMABUF:
		fill_dmabuf(s, (void *)data, a);
		break;
	case ATTR_FILE:
	case ATTR_FILE_MUST:
		attr->data = (int64_t)s->notifiers[a[3] % 2];
		break;
	default:
		break;
	}
	if (*value >= FUZZ_ARGS)
		*value = 2;
}

/* One bit is another. An answer must not come to memory of libraries. */
static uint64_t flipped(uint64_t data, unsigned int bit)
{
	if (data >> 32 && bit >= 12)
		bit = 48 + bit % 16;
	return data ^ 1ULL << bit;
}

/* Spoil the call as the first two arguments say. */
static void spoil(struct fuzz_session *s, struct uverbs_call *call,
		  const uint64_t *a)
{
	unsigned int n = call->hdr.num_attrs;
	struct ib_uverbs_attr *attr = &call->attrs[a[1] % n];

	switch (a[0] % 16) {
	case 1:
		*attr = call->attrs[n - 1];
		call->hdr.num_attrs--;
		call->hdr.length -= sizeof(*attr);
		break;
	case 2:
		call->attrs[n] = *attr;
		call->hdr.num_attrs++;
		call->hdr.length += sizeof(*attr);
		break;
	case 3:
		attr->len = a[1] >> 4;
		break;
	case 4:
		attr->data = 0x10;
		break;
	case 5:
		attr->data = (uintptr_t)s->mem + a[5] % 8192;
		break;
	case 6:
		attr->data = ~0ULL << 12;
		break;
	case 7:
		attr->attr_id ^= 1 << a[5] % 16;
		break;
	case 8:
		attr->flags ^= a[5];
		break;
	case 9:
		attr->data = flipped(attr->data, a[5] % 64);
		break;
	case 10:
		call->hdr.num_attrs = a[5] % UVERBS_MAX_ATTRS;
		break;
	case 11:
		call->hdr.length ^= 1 << a[5] % 16;
		break;
	case 12:
		call->hdr.method_id ^= 1 << a[5] % 4;
		break;
	case 13:
		attr->attr_data.reserved = a[5];
		break;
	case 14:
		attr->len += 8;
		break;
	default:
		break;
	}
}

/* Remember the objects that the call made. New ones are the first attribute. */
static void keep(struct fuzz_session *s, const struct method *m,
		 const struct uverbs_call *call, uint8_t (*data)[DATA_MAX],
		 const uint64_t *a)
{
	int *file = &s->notifiers[a[3] % 2], old = *file;
	struct mlx5_ep_watch_dmabuf_resp watch;
	struct mlx5_ep_watch_ref *ref;
	int i;

	for (i = 0; i < METHOD_ATTRS && m->attrs[i].kind; i++) {
		if (m->attrs[i].kind == ATTR_REG_NEW)
			s->regs[s->next_reg++ % FUZZ_SLOTS] =
				call->attrs[i].data;
		if (m->attrs[i].kind == ATTR_OUT && m->attrs[i].len == 8)
			memcpy(&s->reg_num, data[i], sizeof(s->reg_num));
		if (m->attrs[i].kind == ATTR_WATCH) {
			memcpy(&watch, data[i], sizeof(watch));
			ref = &s->refs[s->next_ref++ % FUZZ_SLOTS];
			ref->word = watch.word;
			ref->slot = watch.slot;
		}
		if (m->attrs[i].kind == ATTR_FILE_NEW) {
			*file = call->attrs[i].data;
			if (old >= 0)
				close(old);
		}
	}
}

void method_run(struct fuzz_session *s, unsigned int index,
		const uint64_t *arg)
{
	static __thread uint8_t (*data)[DATA_MAX];
	const struct method *m = &methods[index];
	struct uverbs_call call;
	unsigned int value = 2;
	int i, fd;

	if (!data)
		data = calloc(METHOD_ATTRS + 1, sizeof(*data));
	if (!data)
		return;
	uverbs_begin(&call, m->object, m->id);
	for (i = 0; i < METHOD_ATTRS && m->attrs[i].kind; i++) {
		/* No notifier: the attribute is optional. */
		if (m->attrs[i].kind == ATTR_FILE && arg[3] % 3)
			continue;
		/* No QP that is offered, likewise. */
		if (m->id == MLX5_EP_METHOD_XRC_RCV_QP_GET &&
		    m->attrs[i].kind == ATTR_QP && arg[5] % 2)
			continue;
		methods_fill(s, m, i, &call.attrs[call.hdr.num_attrs++],
			     data[i], arg, &value);
		call.hdr.length += sizeof(call.attrs[0]);
	}
	if (arg[0])
		spoil(s, &call, arg);
	fd = s->setup.ctx ? s->setup.ctx->cmd_fd : -1;
	if (arg[1] == 7 && s->raw[0] >= 0)
		fd = s->raw[0];
	if (!ioctl(fd, RDMA_VERBS_IOCTL, &call.hdr))
		keep(s, m, &call, data, arg);
}
