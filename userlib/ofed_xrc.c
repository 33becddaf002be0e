// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The XRC calls of OFED by their old names. They name a QP by its domain and
 * its number. This file keeps a list of the process's registrations to find the
 * handle. A process that registered n times with a QP has n entries for it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <mlx5ep/xrc_rcv_qp.h>
#define MLX5EP_OFED_KEEP_XRC_DOMAIN
#include <mlx5ep/ofed_xrc.h>

#include "internal.h"
#include "lock.h"
#include "xrcd.h"

struct ofed_reg {
	struct ofed_reg *next;
	struct ibv_xrcd *domain;
	struct mlx5ep_xrc_rcv_qp *qp;
};

static pthread_mutex_t ofed_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ofed_reg *ofed_regs;

/*
 * In a forked child. Another thread of the parent may have held ofed_lock. The list is
 * whole at each moment.
 */
static void ofed_forked(void)
{
	ofed_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static __attribute__((constructor)) void ofed_load(void)
{
	pthread_atfork(NULL, NULL, ofed_forked);
}

/*
 * The caller holds ofed_lock. Returns the link that points to the registration,
 * or the last link, which is NULL.
 */
static struct ofed_reg **ofed_find(struct ibv_xrcd *domain, uint32_t qp_num)
{
	struct ofed_reg **link;

	for (link = &ofed_regs; *link; link = &(*link)->next)
		if ((*link)->domain == domain &&
		    mlx5ep_xrc_rcv_qp_num((*link)->qp) == qp_num)
			break;
	return link;
}

/* If *@qp_num is 0, creates a QP and writes its number. Returns 0 or -errno. */
static int ofed_register(struct ibv_xrcd *domain, uint32_t *qp_num)
{
	struct mlx5ep_xrcd xrcd;
	struct ofed_reg *reg;
	int ret;

	if (!domain)
		return -EINVAL;
	ret = mlx5ep_xrcd_init(&xrcd, domain);
	if (ret)
		return ret;
	reg = malloc(sizeof(*reg));
	if (!reg)
		return -ENOMEM;
	reg->domain = domain;
	if (*qp_num)
		ret = mlx5ep_xrc_rcv_qp_reg(&xrcd, *qp_num, NULL, &reg->qp);
	else
		ret = mlx5ep_xrc_rcv_qp_create(&xrcd, NULL, &reg->qp);
	if (ret) {
		free(reg);
		return ret;
	}
	*qp_num = mlx5ep_xrc_rcv_qp_num(reg->qp);
	pthread_mutex_lock(&ofed_lock);
	reg->next = ofed_regs;
	ofed_regs = reg;
	pthread_mutex_unlock(&ofed_lock);
	return 0;
}

MLX5EP_EXPORT int mlx5ep_ofed_create_xrc_rcv_qp(struct ibv_xrcd *domain,
						uint32_t *qp_num)
{
	uint32_t num = 0;
	int ret = ofed_register(domain, &num);

	if (!ret)
		*qp_num = num;
	return -ret;
}

MLX5EP_EXPORT int mlx5ep_ofed_reg_xrc_rcv_qp(struct ibv_xrcd *domain,
					     uint32_t qp_num)
{
	return -(qp_num ? ofed_register(domain, &qp_num) : -ENOENT);
}

MLX5EP_EXPORT int mlx5ep_ofed_unreg_xrc_rcv_qp(struct ibv_xrcd *domain,
					       uint32_t qp_num)
{
	struct ofed_reg **link, *reg;
	int ret, cancel;

	cancel = lock_take(&ofed_lock);
	link = ofed_find(domain, qp_num);
	reg = *link;
	if (!reg) {
		ret = -EINVAL;
		goto out_unlock;
	}
	/* A child that is forked now must not find what is freed. */
	*link = reg->next;
	ret = mlx5ep_xrc_rcv_qp_unreg(reg->qp);
	if (!ret)
		free(reg);
	else
		*link = reg;

out_unlock:
	lock_release(&ofed_lock, cancel);
	return -ret;
}

/*
 * Holds ofed_lock during the call, so that no other thread frees the
 * registration meanwhile.
 */
MLX5EP_EXPORT int mlx5ep_ofed_modify_xrc_rcv_qp(struct ibv_xrcd *domain,
						uint32_t qp_num,
						struct ibv_qp_attr *attr,
						int attr_mask)
{
	struct ofed_reg *reg;
	int ret = -EINVAL, cancel;

	cancel = lock_take(&ofed_lock);
	reg = *ofed_find(domain, qp_num);
	if (reg)
		ret = mlx5ep_xrc_rcv_qp_modify(reg->qp, attr, attr_mask, NULL);
	lock_release(&ofed_lock, cancel);
	return -ret;
}

MLX5EP_EXPORT int
mlx5ep_ofed_query_xrc_rcv_qp(struct ibv_xrcd *domain, uint32_t qp_num,
			     struct ibv_qp_attr *attr, int attr_mask,
			     struct ibv_qp_init_attr *init_attr)
{
	struct ofed_reg *reg;
	int ret = -EINVAL, cancel;

	(void)attr_mask;
	cancel = lock_take(&ofed_lock);
	reg = *ofed_find(domain, qp_num);
	if (reg)
		ret = mlx5ep_xrc_rcv_qp_query(reg->qp, attr, NULL);
	lock_release(&ofed_lock, cancel);
	if (!ret && init_attr) {
		memset(init_attr, 0, sizeof(*init_attr));
		init_attr->qp_type = IBV_QPT_XRC_RECV;
		init_attr->qp_context = domain;
	}
	return -ret;
}
