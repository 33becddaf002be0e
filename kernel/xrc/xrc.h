/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared XRC receive QPs: what the files of this folder have in common.
 *
 * Locks, outermost first:
 *   ufile->hw_destroy_rwsem    uverbs; held by every method and every cleanup
 *   mlx5_ep_xrc_qp.lock        creation, destruction and state of one QP;
 *                              firmware commands are issued under it
 *   mlx5_ep_xrc_domain.births  held for reading while a QP of the domain is
 *                              created, until its record has it; whoever takes it
 *                              for writing has waited for all such calls
 *   mlx5_ep_xrc.lock           the tables and every count in them. Nothing is
 *                              allocated and no firmware command is issued
 *                              under it: all processes of the device share it
 *   qp_open_list_lock          ib_core; the event handler runs under it
 *
 * The tables' own workers look at the entries under RCU, so entries are freed
 * with kfree_rcu().
 */
#ifndef MLX5_EP_XRC_H
#define MLX5_EP_XRC_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rhashtable.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <rdma/ib_verbs.h>
#include <rdma/mlx5_ep_user_ioctl_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "watch/notifier.h"

struct mlx5_ep_account;
struct mlx5_ep_device;
struct mlx5_ep_qp;
struct seq_file;

/**
 * struct mlx5_ep_xrc - shared XRC receive QPs of one device
 * @lock: protects all below, and every field documented as "under xrc->lock"
 * @by_key: (domain, key) -> struct mlx5_ep_xrc_qp
 * @by_xrcd: struct mlx5_ep_xrc_domain by ib_core's domain
 * @domains: the same, oldest first
 * @handles: struct mlx5_ep_xrc_handle by its uobject
 * @files: struct mlx5_ep_xrc_file by its uverbs file
 * @holders: struct mlx5_ep_xrc_holder by its struct pid
 * @num_domains: length of @domains; sysfs reads it and the next two without @lock
 * @num_qps: struct mlx5_ep_xrc_qp alive
 * @num_regs: registrations alive
 * @last_domain: id given last
 */
struct mlx5_ep_xrc {
	struct mlx5_ep_device *edev;
	struct mutex lock;
	struct rhashtable by_key;
	struct rhashtable by_xrcd;
	struct list_head domains;
	struct rhashtable handles;
	struct rhashtable files;
	struct rhashtable holders;
	u32 num_domains;
	u32 num_qps;
	u32 num_regs;
	u32 last_domain;
};

/**
 * struct mlx5_ep_xrc_domain - an XRC domain that has registrations
 * @node: link in xrc->by_xrcd
 * @entry: link in xrc->domains
 * @qps: its struct mlx5_ep_xrc_qp, under xrc->lock
 * @xrcd: ib_core's domain; alive because each handle pins one XRCD handle of it
 * @id: names the domain in debugfs
 * @births: see above
 * @num_handles: handles of it; if there is no waiter, the last one frees this
 * @num_waiters: calls that wait for @births
 * @num_qps: length of @qps
 */
struct mlx5_ep_xrc_domain {
	struct rhash_head node;
	struct list_head entry;
	struct list_head qps;
	struct ib_xrcd *xrcd;
	struct rw_semaphore births;
	u32 id;
	u32 num_handles;
	u32 num_waiters;
	u32 num_qps;
	struct rcu_head rcu;
};

/**
 * struct mlx5_ep_xrc_file - a user context that has handles
 * @node: link in xrc->files
 * @ufile: the context as uverbs knows it; compared only
 * @handles: its struct mlx5_ep_xrc_handle, under xrc->lock
 */
struct mlx5_ep_xrc_file {
	struct rhash_head node;
	struct ib_uverbs_file *ufile;
	struct list_head handles;
	struct rcu_head rcu;
};

/**
 * struct mlx5_ep_xrc_handle - an XRCD handle that has registrations
 * @node: link in xrc->handles
 * @entry: link in file->handles
 * @uobj: the XRCD uobject, referenced
 * @domain: the domain that the handle opened
 * @num_regs: registrations made through it, under xrc->lock
 * @pinned: a read lock of @uobj is held, so that closing it answers EBUSY
 */
struct mlx5_ep_xrc_handle {
	struct rhash_head node;
	struct list_head entry;
	struct ib_uobject *uobj;
	struct mlx5_ep_xrc_file *file;
	struct mlx5_ep_xrc_domain *domain;
	u32 num_regs;
	bool pinned;
	struct rcu_head rcu;
};

/**
 * struct mlx5_ep_xrc_holder - a process with registrations
 * @node: link in xrc->holders
 * @pid: the process (thread group), referenced
 * @num_regs: its registrations on this device, under xrc->lock
 * @comm: its name when it first registered
 */
struct mlx5_ep_xrc_holder {
	struct rhash_head node;
	struct pid *pid;
	u32 num_regs;
	char comm[TASK_COMM_LEN];
	struct rcu_head rcu;
};

/**
 * struct mlx5_ep_xrc_key - what GET looks up
 * @domain: the key is valid in this domain only
 * @len: bytes of @data; 0: the QP has no key
 * @data: the key; zero after @len, because whole words are hashed
 */
struct mlx5_ep_xrc_key {
	struct mlx5_ep_xrc_domain *domain;
	u32 len;
	u8 data[MLX5_EP_XRC_KEY_MAX];
};

/**
 * struct mlx5_ep_xrc_qp - the record of one shared receive QP
 * @lock: serialises creation, destruction, joining by key, MODIFY and QUERY
 * @user: account of its creator, for whom it counts; referenced
 * @hash: link in xrc->by_key, if @key.len is not 0
 * @key: which remote process the QP is for
 * @entry: link in domain->qps
 * @regs: registrations, including those that are being made or ended. The
 *	record lives while the list is not empty. Under xrc->lock
 * @num_open: handles of ib_core that registrations hold. While it is 0, the
 *	record has no QP of the hardware. Changes between 0 and 1 are made under
 *	@lock, or under xrc->lock where the record is new and has no key; who holds
 *	a handle may add to it without the lock
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
	atomic_t num_open;
	struct mlx5_ep_qp *eqp;
	u32 num;
	struct rcu_head rcu;
};

/**
 * struct mlx5_ep_xrc_reg - one registration, a uverbs object
 * @uobj: must be first
 * @xrc: the device's tables
 * @handle: the XRCD handle that it was made through
 * @holder: the process that made it
 * @user: account of the user who opened the context
 * @qp: the record of the shared QP
 * @ib_qp: this registration's own handle of ib_core on the QP; NULL before the
 *	handle is opened and after it is closed
 * @entry: link in qp->regs
 * @source: where its events go
 */
struct mlx5_ep_xrc_reg {
	struct ib_uobject uobj;
	struct mlx5_ep_xrc *xrc;
	struct mlx5_ep_xrc_handle *handle;
	struct mlx5_ep_xrc_holder *holder;
	struct mlx5_ep_account *user;
	struct mlx5_ep_xrc_qp *qp;
	struct ib_qp *ib_qp;
	struct list_head entry;
	struct mlx5_ep_notifier_source source;
};

enum mlx5_ep_xrc_spare_kind {
	XRC_SPARE_DOMAIN,
	XRC_SPARE_HANDLE,
	XRC_SPARE_FILE,
	XRC_SPARE_HOLDER,
	XRC_SPARE_QP,
	XRC_SPARE_KINDS
};

/**
 * struct mlx5_ep_xrc_spare - memory for new entries of the tables
 * @mem: one entry of each kind, or NULL
 * @wanted: bit per kind that was asked for
 */
struct mlx5_ep_xrc_spare {
	void *mem[XRC_SPARE_KINDS];
	u32 wanted;
};

/* xrc_device.c */
struct mlx5_ep_xrc *mlx5_ep_xrc_device_create(struct mlx5_ep_device *edev);
void mlx5_ep_xrc_device_destroy(struct mlx5_ep_xrc *xrc);

/* xrc_spare.c */
void *mlx5_ep_xrc_spare_take(struct mlx5_ep_xrc_spare *spare,
			     enum mlx5_ep_xrc_spare_kind kind);
int mlx5_ep_xrc_spare_fill(struct mlx5_ep_xrc_spare *spare);
void mlx5_ep_xrc_spare_free(struct mlx5_ep_xrc_spare *spare);

/* xrc_domain.c */
int mlx5_ep_xrc_domains_init(struct mlx5_ep_xrc *xrc);
void mlx5_ep_xrc_domains_fini(struct mlx5_ep_xrc *xrc);
bool mlx5_ep_xrc_domain_info_get(struct mlx5_ep_xrc *xrc,
				 const struct ib_xrcd *xrcd, u32 *domain,
				 u32 *qps);
void mlx5_ep_xrc_domain_wait_births(struct mlx5_ep_xrc *xrc,
				    struct ib_xrcd *xrcd);
int mlx5_ep_xrc_domain_handle_get(struct mlx5_ep_xrc_reg *reg,
				  struct ib_uobject *uobj,
				  struct mlx5_ep_xrc_spare *spare);
void mlx5_ep_xrc_domain_handle_put(struct mlx5_ep_xrc_reg *reg);
void mlx5_ep_xrc_domain_ufile_cleanup(struct mlx5_ep_xrc *xrc,
				      struct ib_uverbs_file *ufile);

/* xrc_limits.c */
int mlx5_ep_xrc_limits_init(struct mlx5_ep_xrc *xrc);
void mlx5_ep_xrc_limits_fini(struct mlx5_ep_xrc *xrc);
int mlx5_ep_xrc_limits_charge(struct mlx5_ep_xrc_reg *reg,
			      struct mlx5_ep_xrc_spare *spare);
void mlx5_ep_xrc_limits_uncharge(struct mlx5_ep_xrc_reg *reg);
int mlx5_ep_xrc_limits_charge_qp(struct mlx5_ep_xrc *xrc,
				 struct mlx5_ep_account *user);
void mlx5_ep_xrc_limits_uncharge_qp(struct mlx5_ep_xrc *xrc,
				    struct mlx5_ep_account *user);

/* xrc_qp.c */
extern const struct rhashtable_params mlx5_ep_xrc_key_params;
int mlx5_ep_xrc_qp_join_new(struct mlx5_ep_xrc_reg *reg,
			    struct mlx5_ep_xrc_spare *spare);
int mlx5_ep_xrc_qp_join_key(struct mlx5_ep_xrc_reg *reg,
			    struct mlx5_ep_xrc_key *key, bool create,
			    struct mlx5_ep_xrc_spare *spare);
void mlx5_ep_xrc_qp_leave(struct mlx5_ep_xrc_reg *reg);
struct ib_qp *mlx5_ep_xrc_qp_find(struct mlx5_ep_xrc_reg *reg,
				  struct ib_xrcd *xrcd, u32 num);
void mlx5_ep_xrc_qp_wait_record(struct mlx5_ep_xrc *xrc, struct ib_xrcd *xrcd,
				struct ib_qp *ib_qp);
int mlx5_ep_xrc_qp_join(struct mlx5_ep_xrc_reg *reg, struct ib_qp *ib_qp,
			struct mlx5_ep_xrc_spare *spare);
int mlx5_ep_xrc_qp_open(struct mlx5_ep_xrc_reg *reg, bool create);
void mlx5_ep_xrc_qp_close(struct mlx5_ep_xrc_reg *reg);

/* xrc_attr.c */
struct ib_uverbs_qp_attr;
int mlx5_ep_xrc_attr_from_user(struct ib_device *ibdev, struct ib_qp_attr *attr,
			       struct ib_uverbs_qp_attr *user);

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
