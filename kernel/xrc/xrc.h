/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared XRC receive QPs: what xrc_rcv_qp.c (registrations, the uverbs object),
 * xrc_qp.c (the QP behind them) and xrc_domain.c (domains, open XRCD handles,
 * processes, limits) have in common.
 *
 * Locks, outermost first:
 *   ufile->hw_destroy_rwsem    uverbs; held by every method and every cleanup
 *   mlx5_ep_xrc_qp.lock        one QP's life and state; firmware commands are
 *                              issued under it
 *   mlx5_ep_xrc.lock           the tables and every count in them; never held
 *                              over a firmware command
 *   qp_open_list_lock          ib_core; the event handler runs under it
 */
#ifndef MLX5_EP_XRC_H
#define MLX5_EP_XRC_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rhashtable.h>
#include <linux/sched.h>
#include <rdma/ib_verbs.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "watch/notifier.h"

struct mlx5_ep_device;
struct mlx5_ep_qp;
struct seq_file;

/**
 * struct mlx5_ep_xrc - shared XRC receive QPs of one device
 * @edev: the device
 * @lock: protects all below and everything documented as "under xrc->lock"
 * @by_key: (domain, key) -> struct mlx5_ep_xrc_qp
 * @domains: struct mlx5_ep_xrc_domain, oldest first
 * @handles: struct mlx5_ep_xrc_handle by its uobject
 * @holders: struct mlx5_ep_xrc_holder by its struct pid
 * @num_qps: struct mlx5_ep_xrc_qp alive
 * @num_regs: registrations alive
 * @last_domain: id given last
 */
struct mlx5_ep_xrc {
	struct mlx5_ep_device *edev;
	struct mutex lock;
	struct rhashtable by_key;
	struct list_head domains;
	DECLARE_HASHTABLE(handles, 8);
	DECLARE_HASHTABLE(holders, 8);
	u32 num_qps;
	u32 num_regs;
	u32 last_domain;
};

/**
 * struct mlx5_ep_xrc_domain - an XRC domain that has registrations
 * @entry: link in xrc->domains
 * @qps: its struct mlx5_ep_xrc_qp, under xrc->lock
 * @xrcd: the domain of ib_core; alive because each handle pins one opening of it
 * @id: names the domain in debugfs
 * @num_handles: handles of it, which are what keeps this alive
 * @num_qps: length of @qps
 */
struct mlx5_ep_xrc_domain {
	struct list_head entry;
	struct list_head qps;
	struct ib_xrcd *xrcd;
	u32 id;
	u32 num_handles;
	u32 num_qps;
};

/**
 * struct mlx5_ep_xrc_handle - one opening of an XRC domain, with registrations
 * @node: link in xrc->handles
 * @uobj: the XRCD uobject, referenced
 * @domain: what it opens
 * @num_regs: registrations made through it, under xrc->lock
 * @pinned: a read lock of @uobj is held, so that closing it says EBUSY
 */
struct mlx5_ep_xrc_handle {
	struct hlist_node node;
	struct ib_uobject *uobj;
	struct mlx5_ep_xrc_domain *domain;
	u32 num_regs;
	bool pinned;
};

/**
 * struct mlx5_ep_xrc_holder - a process with registrations
 * @node: link in xrc->holders
 * @pid: the process (thread group), referenced
 * @num_regs: its registrations on this device, under xrc->lock
 * @comm: its name when it first registered
 */
struct mlx5_ep_xrc_holder {
	struct hlist_node node;
	struct pid *pid;
	u32 num_regs;
	char comm[TASK_COMM_LEN];
};

/**
 * struct mlx5_ep_xrc_key - what GET looks up
 * @domain: where
 * @len: bytes of @data, 0 for no key
 * @data: the key; zero after @len, as it is hashed in words
 */
struct mlx5_ep_xrc_key {
	struct mlx5_ep_xrc_domain *domain;
	u32 len;
	u8 data[MLX5_EP_XRC_KEY_MAX];
};

/**
 * struct mlx5_ep_xrc_qp - one shared receive QP
 * @lock: serialises creation, destruction, joining by key, MODIFY and QUERY
 * @domain: where it belongs
 * @hash: link in xrc->by_key, where @key.len is not 0
 * @key: which remote process it is for
 * @entry: link in domain->qps
 * @regs: registrations, those being made or ended included; this lives while
 *	there is one; under xrc->lock
 * @num_open: handles of ib_core that registrations hold; the QP of the hardware
 *	exists for us while this is not 0. From and to 0 under @lock; up from
 *	1 by anyone who holds a handle
 * @eqp: our side of that QP, whose @shared is this
 * @num: its number
 * @state: enum ib_qp_state last seen, for debugfs
 * @rcu: the table's worker may still look at @hash
 */
struct mlx5_ep_xrc_qp {
	struct mutex lock;
	struct mlx5_ep_xrc_domain *domain;
	struct rhash_head hash;
	struct mlx5_ep_xrc_key key;
	struct list_head entry;
	struct list_head regs;
	atomic_t num_open;
	struct mlx5_ep_qp *eqp;
	u32 num;
	u32 state;
	struct rcu_head rcu;
};

/**
 * struct mlx5_ep_xrc_reg - one registration, a uverbs object
 * @uobj: must be first
 * @xrc: the device's tables
 * @handle: the opening of the domain that it was made through
 * @holder: the process that made it
 * @qp: the shared QP
 * @ib_qp: this registration's own handle of ib_core on it, NULL before it is
 *	open and once it is closed
 * @entry: link in qp->regs
 * @source: where its events go
 */
struct mlx5_ep_xrc_reg {
	struct ib_uobject uobj;
	struct mlx5_ep_xrc *xrc;
	struct mlx5_ep_xrc_handle *handle;
	struct mlx5_ep_xrc_holder *holder;
	struct mlx5_ep_xrc_qp *qp;
	struct ib_qp *ib_qp;
	struct list_head entry;
	struct mlx5_ep_notifier_source source;
};

/* xrc_domain.c */
struct mlx5_ep_xrc *mlx5_ep_xrc_create(struct mlx5_ep_device *edev);
void mlx5_ep_xrc_destroy(struct mlx5_ep_xrc *xrc);
int mlx5_ep_xrc_charge(struct mlx5_ep_xrc_reg *reg, struct ib_uobject *xrcd);
void mlx5_ep_xrc_uncharge(struct mlx5_ep_xrc_reg *reg);
void mlx5_ep_xrc_ufile_cleanup(struct mlx5_ep_xrc *xrc,
			       struct ib_uverbs_file *ufile);

/* xrc_qp.c */
extern const struct rhashtable_params mlx5_ep_xrc_key_params;
int mlx5_ep_xrc_qp_join_new(struct mlx5_ep_xrc_reg *reg);
int mlx5_ep_xrc_qp_join_key(struct mlx5_ep_xrc_reg *reg,
			    struct mlx5_ep_xrc_key *key, bool create);
void mlx5_ep_xrc_qp_leave(struct mlx5_ep_xrc_reg *reg);
struct ib_qp *mlx5_ep_xrc_qp_find(struct mlx5_ep_xrc_reg *reg,
				  struct ib_xrcd *xrcd, u32 num);
int mlx5_ep_xrc_qp_join(struct mlx5_ep_xrc_reg *reg, struct ib_qp *ib_qp);
int mlx5_ep_xrc_qp_open(struct mlx5_ep_xrc_reg *reg, bool create);
void mlx5_ep_xrc_qp_close(struct mlx5_ep_xrc_reg *reg);
int mlx5_ep_xrc_qp_modify(struct mlx5_ep_xrc_reg *reg, struct ib_qp_attr *attr,
			  int mask, struct ib_udata *udata,
			  struct mlx5_ep_xrc_rcv_qp_modify *answer);
int mlx5_ep_xrc_qp_query(struct mlx5_ep_xrc_reg *reg, struct ib_qp_attr *attr,
			 struct mlx5_ep_xrc_rcv_qp_info *info);

/* xrc_show.c */
void mlx5_ep_xrc_show(struct mlx5_ep_xrc *xrc, struct seq_file *seq);

/* xrc_rcv_qp.c */
extern const struct uapi_definition mlx5_ep_xrc_rcv_qp_defs[];

#endif
