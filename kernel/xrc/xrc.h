/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared XRC receive QPs: what the files of this folder have in common.
 *
 * Locks, outermost first:
 *   ufile->hw_destroy_rwsem    uverbs; held by every method and every cleanup
 *   mlx5_ep_xrc_qp.lock        MODIFY and QUERY of one QP; firmware commands are
 *                              issued under it
 *   mlx5_ep_xrc.lock           the tables and every count in them. Nothing is
 *                              allocated and no firmware command is issued
 *                              under it: all processes of the device share it
 *   qp_open_list_lock          ib_core; the event handler runs under it
 *
 * Keys are looked up under RCU too, so entries are freed with kfree_rcu().
 */
#ifndef MLX5_EP_XRC_H
#define MLX5_EP_XRC_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rhashtable.h>
#include <rdma/ib_verbs.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "watch/notifier.h"

struct mlx5_ep_account;
struct mlx5_ep_context;
struct mlx5_ep_device;
struct mlx5_ep_qp;
struct seq_file;

/**
 * struct mlx5_ep_xrc_announced - somebody creates a QP
 * @until: jiffies until which GETs of the same domain wait for it; 0: nobody does
 * @xrcd: the domain; compared only
 */
struct mlx5_ep_xrc_announced {
	unsigned long until;
	const struct ib_xrcd *xrcd;
};

/**
 * struct mlx5_ep_xrc - shared XRC receive QPs of one device
 * @lock: protects all below, and every field documented as "under xrc->lock"
 * @by_key: (domain, key) -> struct mlx5_ep_xrc_qp
 * @by_xrcd: struct mlx5_ep_xrc_domain by ib_core's domain
 * @domains: the same, oldest first
 * @num_domains: length of @domains; sysfs reads it and the next two without @lock
 * @num_qps: struct mlx5_ep_xrc_qp alive
 * @num_regs: registrations alive
 * @last_domain: id given last
 * @announced: who creates a QP for a key, by its hash. Not under @lock
 */
struct mlx5_ep_xrc {
	struct mlx5_ep_device *edev;
	struct mutex lock;
	struct rhashtable by_key;
	struct rhashtable by_xrcd;
	struct list_head domains;
	u32 num_domains;
	u32 num_qps;
	u32 num_regs;
	u32 last_domain;
	struct mlx5_ep_xrc_announced announced[64];
};

/**
 * struct mlx5_ep_xrc_domain - an XRC domain that has shared QPs
 * @node: link in xrc->by_xrcd
 * @entry: link in xrc->domains
 * @qps: its struct mlx5_ep_xrc_qp; the last one frees this. Under xrc->lock
 * @xrcd: ib_core's domain; alive because each registration pins one handle of it
 * @id: names the domain in debugfs
 * @num_qps: length of @qps
 */
struct mlx5_ep_xrc_domain {
	struct rhash_head node;
	struct list_head entry;
	struct list_head qps;
	struct ib_xrcd *xrcd;
	u32 id;
	u32 num_qps;
	struct rcu_head rcu;
};

/**
 * struct mlx5_ep_xrc_key - what GET looks up
 * @xrcd: the key is valid in this domain only
 * @len: bytes of @data; 0: the QP has no key
 * @data: the key; zero after @len, because whole words are hashed
 */
struct mlx5_ep_xrc_key {
	struct ib_xrcd *xrcd;
	u32 len;
	u8 data[MLX5_EP_XRC_KEY_MAX];
};

/**
 * struct mlx5_ep_xrc_qp - the record of one shared receive QP
 * @lock: serialises MODIFY and QUERY
 * @domain: where the QP is
 * @user: account of the registrant who brought the QP, for whom it counts;
 *	referenced
 * @hash: link in xrc->by_key, if @key.len is not 0
 * @key: which remote process the QP is for, under xrc->lock
 * @entry: link in domain->qps
 * @regs: registrations, each with an open handle on the QP. The record lives while
 *	the list is not empty. Under xrc->lock
 * @num_regs: length of @regs
 * @eqp: our side of the QP of ib_core, whose @shared is this record
 * @num: the QP's number
 */
struct mlx5_ep_xrc_qp {
	struct mutex lock;
	struct mlx5_ep_xrc_domain *domain;
	struct mlx5_ep_account *user;
	struct rhash_head hash;
	struct mlx5_ep_xrc_key key;
	struct list_head entry;
	struct list_head regs;
	u32 num_regs;
	u32 num;
	struct mlx5_ep_qp *eqp;
	struct rcu_head rcu;
};

/**
 * struct mlx5_ep_xrc_reg - one registration, a uverbs object
 * @uobj: must be first
 * @ectx: the context that it was made in
 * @xrcd: the XRCD handle that it was made through, and of which it keeps a read lock;
 *	NULL: it keeps none
 * @qp: the record of the shared QP
 * @ib_qp: this registration's own handle of ib_core on the QP
 * @entry: link in qp->regs
 * @source: where its events go
 */
struct mlx5_ep_xrc_reg {
	struct ib_uobject uobj;
	struct mlx5_ep_context *ectx;
	struct ib_uobject *xrcd;
	struct mlx5_ep_xrc_qp *qp;
	struct ib_qp *ib_qp;
	struct list_head entry;
	struct mlx5_ep_notifier_source source;
};

/**
 * struct mlx5_ep_xrc_request - which QP a registration is to be made with
 * @num: REG: number of the QP. GET: number of the QP that the caller offers; 0: none
 * @announce: GET: if nobody has the key, the caller creates a QP next
 * @key: GET: the key; its length is 0 for REG
 */
struct mlx5_ep_xrc_request {
	u32 num;
	bool announce;
	struct mlx5_ep_xrc_key key;
};

/* xrc_device.c */
struct mlx5_ep_xrc *mlx5_ep_xrc_device_create(struct mlx5_ep_device *edev);
void mlx5_ep_xrc_device_destroy(struct mlx5_ep_xrc *xrc);

/* xrc_domain.c */
extern const struct rhashtable_params mlx5_ep_xrc_domain_params;
bool mlx5_ep_xrc_domain_info_get(struct mlx5_ep_xrc *xrc,
				 const struct ib_xrcd *xrcd, u32 *domain,
				 u32 *qps);
struct mlx5_ep_xrc_domain *
mlx5_ep_xrc_domain_get(struct mlx5_ep_xrc *xrc, struct ib_xrcd *xrcd,
		       struct mlx5_ep_xrc_domain **spare);
void mlx5_ep_xrc_domain_free_unused(struct mlx5_ep_xrc *xrc,
				    struct mlx5_ep_xrc_domain *domain);
void mlx5_ep_xrc_domain_pin(struct mlx5_ep_xrc_reg *reg,
			    struct ib_uobject *xrcd);
void mlx5_ep_xrc_domain_unpin(struct mlx5_ep_xrc_reg *reg);
void mlx5_ep_xrc_domain_ufile_cleanup(struct ib_uverbs_file *ufile);

/* xrc_limits.c */
int mlx5_ep_xrc_limits_charge(struct mlx5_ep_xrc_reg *reg);
void mlx5_ep_xrc_limits_uncharge(struct mlx5_ep_xrc_reg *reg);
int mlx5_ep_xrc_limits_charge_qp(struct mlx5_ep_xrc *xrc,
				 struct mlx5_ep_account *user);
void mlx5_ep_xrc_limits_uncharge_qp(struct mlx5_ep_xrc *xrc,
				    struct mlx5_ep_account *user);

/* xrc_qp.c */
extern const struct rhashtable_params mlx5_ep_xrc_key_params;
int mlx5_ep_xrc_qp_join(struct mlx5_ep_xrc_reg *reg, struct ib_xrcd *xrcd,
			struct mlx5_ep_xrc_request *request);
void mlx5_ep_xrc_qp_leave(struct mlx5_ep_xrc_reg *reg);

/* xrc_attr.c */
struct ib_uverbs_qp_attr;
int mlx5_ep_xrc_attr_from_user(struct ib_device *ibdev, struct ib_qp_attr *attr,
			       struct ib_uverbs_qp_attr *user);
void mlx5_ep_xrc_attr_to_user(struct ib_uverbs_qp_attr *user,
			      const struct ib_qp_attr *attr);

/* xrc_modify.c */
int mlx5_ep_xrc_qp_modify(struct mlx5_ep_xrc_reg *reg, struct ib_qp_attr *attr,
			  int mask, struct ib_udata *udata,
			  struct mlx5_ep_xrc_rcv_qp_modify *answer);
int mlx5_ep_xrc_qp_query(struct mlx5_ep_xrc_reg *reg, struct ib_qp_attr *attr,
			 struct mlx5_ep_xrc_rcv_qp_info *info);

/* xrc_show.c */
bool mlx5_ep_xrc_qp_info_get(struct mlx5_ep_xrc *xrc,
			     const struct ib_qp *ib_qp, u32 *domain,
			     u32 *registrants);
void mlx5_ep_xrc_show(struct mlx5_ep_xrc *xrc, struct seq_file *seq);

/* xrc_rcv_qp.c */
extern const struct uapi_definition mlx5_ep_xrc_rcv_qp_defs[];

#endif
