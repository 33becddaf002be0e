// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, timeout: 900 */
/*
 * Each call of the library, made once by a child of each kind with what its parent has:
 * a child of fork(), one that is forked without the handlers of fork(), one of vfork(),
 * and one that shares the memory of its parent and runs beside it. After each call the
 * parent's objects are there and work, and the adapter reads its registered memory.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mlx5ep.h>
#define MLX5EP_OFED_KEEP_XRC_DOMAIN
#include <mlx5ep/ofed_xrc.h>

#include "page.h"
#include "simhca.h"
#include "verbs.h"

#define STACK	(256 * 1024)
#define COOKIE	42

/* What a call is to return. */
#define SAME	0x10000		/* what it returns in the parent */
#define NOT	0x20000		/* it is not made: what it reads is not there */

enum child { FORKED, RAW, VFORKED, SHARED };

struct objects {
	struct verbs_setup verbs;
	struct verbs_endpoint rc;
	char *memory;
	struct mlx5ep_notifier *notifier;
	struct mlx5ep_watch watch;
	struct mlx5ep_watch hit;	/* its event is not read yet */
	struct mlx5ep_mr mr;
	struct mlx5ep_mr_cache *cache;
	struct mlx5ep_mr_cache_entry *used;
	struct mlx5ep_endpoints *set;
	struct mlx5ep_domain *domain;
	struct mlx5ep_xrcd *xrcd;
	struct mlx5ep_xrc_rcv_qp *xrc;
	struct ibv_xrcd *ofed_domain;
	uint32_t ofed_qpn;
	int file;
};

static const struct mlx5ep_endpoints_attr set_attr = {
	.category = MLX5EP_CATEGORY_DYNAMIC,
};
static const struct mlx5ep_mr_cache_attr cache_attr;

/* A new object is given back by the process that made it. */
#define MADE(create, destroy) ({					\
	int made = (create);						\
									\
	made ? made : (destroy);					\
})

static int init_xrc(struct ibv_qp_attr *attr)
{
	*attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
	};
	return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
	       IBV_QP_ACCESS_FLAGS;
}

/*
 * CALL(NAME, FORKED, SHARED, EXPRESSION): what a forked child gets, and one that shares
 * the memory.
 */
#define CALLS(CALL)							\
CALL(mlx5ep_version, SAME, SAME, mlx5ep_version())			\
CALL(mlx5ep_version_string, SAME, SAME, mlx5ep_version_string()[0])	\
CALL(mlx5ep_category_name, SAME, SAME, mlx5ep_category_name(1)[0])	\
CALL(mlx5ep_category_parse, SAME, SAME, mlx5ep_category_parse("static")) \
CALL(mlx5ep_device_attached, 0, 0,					\
	mlx5ep_device_attached(o->verbs.ctx->device, NULL, 0))		\
CALL(mlx5ep_device_query, 0, 0, ({					\
	struct mlx5_ep_features features;				\
	mlx5ep_device_query(o->verbs.ctx, &features); }))		\
CALL(mlx5ep_context_query, 0, 0, ({					\
	struct mlx5_ep_context_info info;				\
	mlx5ep_context_query(o->verbs.ctx, &info); }))			\
CALL(mlx5ep_context_dump, SAME, SAME, ({				\
	unsigned int count = 0;						\
	mlx5ep_context_dump(o->verbs.ctx, NULL, &count); }))		\
CALL(mlx5ep_context_set_policy, SAME, SAME, ({			\
	struct mlx5_ep_context_policy policy = { .policy = 0 };		\
	mlx5ep_context_set_policy(o->verbs.ctx, &policy); }))		\
CALL(mlx5ep_qp_query_uuar, 0, 0, ({					\
	struct mlx5_ep_qp_uuar uuar;					\
	mlx5ep_qp_query_uuar(o->rc.qp, &uuar); }))			\
CALL(mlx5ep_domain_alloc, 0, -EXDEV, ({					\
	struct mlx5ep_domain *domain;					\
	MADE(mlx5ep_domain_alloc(o->verbs.pd, NULL, &domain),		\
	     mlx5ep_domain_free(domain)); }))				\
CALL(mlx5ep_domain_free, 0, -EXDEV, mlx5ep_domain_free(o->domain))	\
CALL(mlx5ep_domain_pd, 0, 0, !mlx5ep_domain_pd(o->domain))		\
CALL(mlx5ep_domain_query, 1, 1, ({					\
	struct mlx5ep_domain_info info;					\
	mlx5ep_domain_query(o->domain, &info); info.level; }))		\
CALL(mlx5ep_endpoint_address, 0, 0, ({					\
	struct mlx5ep_endpoint_address address;				\
	mlx5ep_endpoint_address(o->rc.qp, NULL, &address); }))		\
CALL(mlx5ep_endpoint_connect, -EISCONN, -EISCONN, ({			\
	struct mlx5ep_endpoint_address address;				\
	mlx5ep_endpoint_address(o->rc.qp, NULL, &address);		\
	mlx5ep_endpoint_connect(o->rc.qp, NULL, &address); }))		\
CALL(mlx5ep_endpoints_create, 0, -EXDEV, ({				\
	struct mlx5ep_endpoints *set;					\
	MADE(mlx5ep_endpoints_create(o->verbs.ctx, &set_attr, 1, &set),	\
	     mlx5ep_endpoints_destroy(set)); }))			\
CALL(mlx5ep_endpoints_open, 0, -EXDEV, ({				\
	struct mlx5ep_endpoints *set;					\
	MADE(mlx5ep_endpoints_open(o->verbs.ctx->device, &set_attr, 1,	\
				   &set),				\
	     mlx5ep_endpoints_destroy(set)); }))			\
CALL(mlx5ep_endpoints_destroy, 0, -EXDEV, mlx5ep_endpoints_destroy(o->set)) \
CALL(mlx5ep_endpoints_get, 1, 1, ({					\
	struct mlx5ep_endpoint endpoint;				\
	mlx5ep_endpoints_get(o->set, 1, &endpoint); endpoint.level; }))	\
CALL(mlx5ep_endpoints_query, 2, 2, ({					\
	struct mlx5ep_endpoints_info info;				\
	mlx5ep_endpoints_query(o->set, &info); info.uar_pages; }))	\
CALL(mlx5ep_endpoints_predict, 2, 2, ({					\
	struct mlx5ep_endpoints_info info;				\
	mlx5ep_endpoints_predict(&set_attr, 2, &info); info.uar_pages; })) \
CALL(mlx5ep_notifier_create, 0, -EXDEV, ({				\
	struct mlx5ep_notifier *notifier;				\
	MADE(mlx5ep_notifier_create(o->verbs.ctx, 8, &notifier),	\
	     mlx5ep_notifier_destroy(notifier)); }))			\
CALL(mlx5ep_notifier_open, 0, -EXDEV, ({				\
	struct mlx5ep_notifier *notifier;				\
	MADE(mlx5ep_notifier_open(8, &notifier),			\
	     mlx5ep_notifier_destroy(notifier)); }))			\
CALL(mlx5ep_notifier_destroy, 0, -EXDEV, mlx5ep_notifier_destroy(o->notifier)) \
CALL(mlx5ep_notifier_fd, SAME, SAME, mlx5ep_notifier_fd(o->notifier))	\
CALL(mlx5ep_notifier_page, 0, 1, !!mlx5ep_notifier_page(o->notifier))	\
CALL(mlx5ep_notifier_read, -EXDEV, -EXDEV, ({				\
	struct mlx5_ep_event event;					\
	mlx5ep_notifier_read(o->notifier, &event, 1); }))		\
CALL(mlx5ep_notifier_usable, 0, 1, mlx5ep_notifier_usable(o->notifier))	\
CALL(mlx5ep_watch_add, -EXDEV, -EXDEV, ({				\
	struct mlx5ep_watch watch;					\
	mlx5ep_watch_add(o->notifier, o->memory, 1, 0, &watch); }))	\
CALL(mlx5ep_watch_add_batch, -EXDEV, -EXDEV, ({				\
	struct mlx5_ep_watch_add add = {				\
		.addr = (uintptr_t)o->memory, .length = 1, };		\
	struct mlx5ep_watch watch;					\
	mlx5ep_watch_add_batch(o->notifier, &add, &watch, 1); }))	\
CALL(mlx5ep_watch_dmabuf, -EXDEV, -EXDEV, ({				\
	struct mlx5ep_watch watch;					\
	mlx5ep_watch_dmabuf(o->notifier, o->file, 0, 1, 0, &watch); }))	\
CALL(mlx5ep_watch_del, -EXDEV, -EXDEV, mlx5ep_watch_del(&o->watch))	\
CALL(mlx5ep_watch_del_batch, -EXDEV, -EXDEV,				\
	mlx5ep_watch_del_batch(&o->watch, 1))				\
CALL(mlx5ep_watch_valid, 0, 1, mlx5ep_watch_valid(&o->watch))		\
CALL(mlx5ep_watch_record, -EXDEV, -EXDEV, mlx5ep_watch_record(&o->watch)) \
CALL(mlx5ep_watch_verify, -EXDEV, 0, mlx5ep_watch_verify(&o->watch))	\
CALL(mlx5ep_reg_mr, -EXDEV, -EXDEV, ({					\
	struct mlx5ep_mr mr;						\
	mlx5ep_reg_mr(o->notifier, o->verbs.pd, o->memory, 1, 0, 0, &mr); })) \
CALL(mlx5ep_reg_mr_iova, -EXDEV, -EXDEV, ({				\
	struct mlx5ep_mr mr;						\
	mlx5ep_reg_mr_iova(o->notifier, o->verbs.pd, o->memory, 1, 0, 0, 0, \
			   &mr); }))					\
CALL(mlx5ep_reg_dmabuf_mr, -EXDEV, -EXDEV, ({				\
	struct mlx5ep_mr mr;						\
	mlx5ep_reg_dmabuf_mr(o->notifier, o->verbs.pd, o->file, 0, 1, 0, 0, \
			     0, &mr); }))				\
CALL(mlx5ep_dereg_mr, -EXDEV, -EXDEV, mlx5ep_dereg_mr(&o->mr))		\
CALL(mlx5ep_mr_valid, 0, 1, mlx5ep_mr_valid(&o->mr))			\
CALL(mlx5ep_mr_check, -EXDEV, 0, mlx5ep_mr_check(&o->mr))		\
CALL(mlx5ep_mr_cache_create, 0, -EXDEV, ({				\
	struct mlx5ep_mr_cache *cache;					\
	MADE(mlx5ep_mr_cache_create(o->verbs.pd, &cache_attr, &cache),	\
	     mlx5ep_mr_cache_destroy(cache)); }))			\
CALL(mlx5ep_mr_cache_create_on, -EXDEV, -EXDEV, ({			\
	struct mlx5ep_mr_cache *cache;					\
	mlx5ep_mr_cache_create_on(o->notifier, o->verbs.pd, &cache_attr, \
				  &cache); }))				\
CALL(mlx5ep_mr_cache_destroy, 0, -EXDEV, mlx5ep_mr_cache_destroy(o->cache)) \
CALL(mlx5ep_mr_cache_get, -EXDEV, 0, ({					\
	struct mlx5ep_mr_cache_entry *entry;				\
	MADE(mlx5ep_mr_cache_get(o->cache, o->memory, 1, &entry),	\
	     (mlx5ep_mr_cache_put(o->cache, entry), 0)); }))		\
CALL(mlx5ep_mr_cache_get_as, -EXDEV, -EXDEV, ({				\
	struct mlx5ep_mr_cache_get_attr attr = {			\
		.flags = MLX5EP_MR_CACHE_GET_ACCESS, };			\
	struct mlx5ep_mr_cache_entry *entry;				\
	mlx5ep_mr_cache_get_as(o->cache, o->memory, 1, &attr, &entry); })) \
CALL(mlx5ep_mr_cache_get_dmabuf, -EXDEV, -EXDEV, ({			\
	struct mlx5ep_mr_cache_get_attr attr = { 0 };			\
	struct mlx5ep_mr_cache_entry *entry;				\
	mlx5ep_mr_cache_get_dmabuf(o->cache, o->file, 0, 1, &attr,	\
				   &entry); }))				\
CALL(mlx5ep_mr_cache_put, 0, NOT,					\
	(mlx5ep_mr_cache_put(o->cache, o->used), 0))			\
CALL(mlx5ep_mr_cache_trim, -EXDEV, -EXDEV, mlx5ep_mr_cache_trim(o->cache)) \
CALL(mlx5ep_mr_cache_fd, SAME, SAME, mlx5ep_mr_cache_fd(o->cache))	\
CALL(mlx5ep_mr_cache_query, 1, 1, ({					\
	struct mlx5ep_mr_cache_stats stats;				\
	mlx5ep_mr_cache_query(o->cache, &stats); stats.regions; }))	\
CALL(mlx5ep_xrcd_open, 0, -EXDEV, ({					\
	struct mlx5ep_xrcd *xrcd;					\
	MADE(mlx5ep_xrcd_open(o->verbs.ctx, -1, O_CREAT, &xrcd),	\
	     mlx5ep_xrcd_close(xrcd)); }))				\
CALL(mlx5ep_xrcd_wrap, 0, 0, ({						\
	struct mlx5ep_xrcd *xrcd;					\
	MADE(mlx5ep_xrcd_wrap(o->ofed_domain, &xrcd),			\
	     mlx5ep_xrcd_close(xrcd)); }))				\
CALL(mlx5ep_xrcd_ibv, 1, 1, !!mlx5ep_xrcd_ibv(o->xrcd))			\
CALL(mlx5ep_xrcd_close, 0, -EXDEV, mlx5ep_xrcd_close(o->xrcd))		\
CALL(mlx5ep_xrc_rcv_qp_create, -EXDEV, -EXDEV, ({			\
	struct mlx5ep_xrc_rcv_qp *xrc;					\
	mlx5ep_xrc_rcv_qp_create(o->xrcd, NULL, &xrc); }))		\
CALL(mlx5ep_xrc_rcv_qp_reg, -EXDEV, -EXDEV, ({				\
	struct mlx5ep_xrc_rcv_qp *xrc;					\
	mlx5ep_xrc_rcv_qp_reg(o->xrcd, mlx5ep_xrc_rcv_qp_num(o->xrc),	\
			      NULL, &xrc); }))				\
CALL(mlx5ep_xrc_rcv_qp_get, -EXDEV, -EXDEV, ({				\
	struct mlx5ep_xrc_rcv_qp *xrc;					\
	mlx5ep_xrc_rcv_qp_get(o->xrcd, "key", 3, 0, NULL, &xrc); }))	\
CALL(mlx5ep_xrc_rcv_qp_unreg, 0, -EXDEV, mlx5ep_xrc_rcv_qp_unreg(o->xrc)) \
CALL(mlx5ep_xrc_rcv_qp_num, SAME, SAME, mlx5ep_xrc_rcv_qp_num(o->xrc) & 0xffff) \
CALL(mlx5ep_xrc_rcv_qp_modify, -EXDEV, -EXDEV, ({			\
	struct ibv_qp_attr attr;					\
	int mask = init_xrc(&attr);					\
	mlx5ep_xrc_rcv_qp_modify(o->xrc, &attr, mask, NULL); }))	\
CALL(mlx5ep_xrc_rcv_qp_query, 1, 1, ({					\
	struct mlx5_ep_xrc_rcv_qp_info info = { 0 };			\
	mlx5ep_xrc_rcv_qp_query(o->xrc, NULL, &info); info.registrants; })) \
CALL(mlx5ep_ofed_create_xrc_rcv_qp, 0, EXDEV, ({			\
	uint32_t qpn;							\
	MADE(mlx5ep_ofed_create_xrc_rcv_qp(o->ofed_domain, &qpn),	\
	     mlx5ep_ofed_unreg_xrc_rcv_qp(o->ofed_domain, qpn)); }))	\
CALL(mlx5ep_ofed_reg_xrc_rcv_qp, 0, EXDEV,				\
	MADE(mlx5ep_ofed_reg_xrc_rcv_qp(o->ofed_domain, o->ofed_qpn),	\
	     mlx5ep_ofed_unreg_xrc_rcv_qp(o->ofed_domain, o->ofed_qpn))) \
CALL(mlx5ep_ofed_unreg_xrc_rcv_qp, 0, EXDEV,				\
	mlx5ep_ofed_unreg_xrc_rcv_qp(o->ofed_domain, o->ofed_qpn))	\
CALL(mlx5ep_ofed_modify_xrc_rcv_qp, EXDEV, EXDEV, ({			\
	struct ibv_qp_attr attr;					\
	int mask = init_xrc(&attr);					\
	mlx5ep_ofed_modify_xrc_rcv_qp(o->ofed_domain, o->ofed_qpn,	\
				      &attr, mask); }))			\
CALL(mlx5ep_ofed_query_xrc_rcv_qp, 0, 0, ({				\
	struct ibv_qp_attr attr;					\
	mlx5ep_ofed_query_xrc_rcv_qp(o->ofed_domain, o->ofed_qpn, &attr, \
				     0, NULL); }))

#define DEFINE(name, forked, shared, expression)			\
static int do_##name(struct objects *o)					\
{									\
	int value = expression;						\
									\
	return value;							\
}

#define ENTRY(name, forked, shared, expression)				\
	{ #name, do_##name, { forked, shared } },

CALLS(DEFINE)

static const struct call {
	const char *name;
	int (*make)(struct objects *o);
	int want[2];		/* of a forked child, of one that shares the memory */
} calls[] = {
	CALLS(ENTRY)
};

/* In memory that parent and child share: what one call has returned. */
struct made {
	const struct call *call;
	struct objects *objects;
	bool returned;
	int value;
};

static int child(void *arg)
{
	struct made *made = arg;

	made->value = made->call->make(made->objects);
	made->returned = true;
	_exit(0);
}

/* Return: its wait status, or -1 */
static int run_child(enum child kind, struct made *made)
{
	static char stack[STACK] __attribute__((aligned(64)));
	int status;
	pid_t pid;

	made->returned = false;
	switch (kind) {
	case FORKED:
		pid = fork();
		break;
	case RAW:
		pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
		break;
	case VFORKED:
		pid = vfork();
		break;
	default:
		pid = clone(child, stack + STACK, CLONE_VM | SIGCHLD, made);
	}
	if (!pid)
		child(made);
	return pid < 0 || waitpid(pid, &status, 0) != pid ? -1 : status;
}

struct alive {
	int64_t uars;
	int64_t others;
};

FIXTURE(children)
{
	struct objects o;
	struct made *made;
	struct alive alive;
};

FIXTURE_VARIANT(children)
{
	enum child kind;
};

FIXTURE_VARIANT_ADD(children, forked) { .kind = FORKED };
FIXTURE_VARIANT_ADD(children, forked_without_handlers) { .kind = RAW };
FIXTURE_VARIANT_ADD(children, vforked) { .kind = VFORKED };
FIXTURE_VARIANT_ADD(children, sharing_memory) { .kind = SHARED };

/*
 * Objects that the adapter has. libmlx5 keeps the UAR page of a thread domain: that of a
 * forked child stays with the context, which is the parent's too.
 */
static int look(struct alive *alive)
{
	struct simhca_view view;

	if (simhca_look(0, &view))
		return -EIO;
	alive->uars = simhca_alive(&view, "uar");
	alive->others = simhca_alive(&view, "qp") + simhca_alive(&view, "cq") +
			simhca_alive(&view, "pd") + simhca_alive(&view, "xrcd");
	simhca_view_put(&view);
	return 0;
}

static void setup_watches(struct __test_metadata *_metadata, struct objects *o)
{
	size_t page = page_bytes();

	o->memory = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, o->memory);
	ASSERT_EQ(0, mlx5ep_notifier_create(o->verbs.ctx, 64, &o->notifier));
	ASSERT_EQ(0, fcntl(mlx5ep_notifier_fd(o->notifier), F_SETFL,
			   O_NONBLOCK));
	ASSERT_EQ(0, mlx5ep_watch_add(o->notifier, o->memory, page, 1,
				      &o->watch));
	ASSERT_EQ(0, mlx5ep_watch_record(&o->watch));
	ASSERT_EQ(0, mlx5ep_reg_mr(o->notifier, o->verbs.pd, o->memory, page,
				   IBV_ACCESS_LOCAL_WRITE |
				   IBV_ACCESS_REMOTE_WRITE, 2, &o->mr));
	ASSERT_EQ(0, mlx5ep_watch_add(o->notifier, o->memory + 2 * page, page,
				      COOKIE, &o->hit));
	ASSERT_EQ(0, munmap(o->memory + 2 * page, page));
	ASSERT_EQ(0, mlx5ep_mr_cache_create(o->verbs.pd, &cache_attr,
					    &o->cache));
	ASSERT_EQ(0, mlx5ep_mr_cache_get(o->cache, o->memory, page, &o->used));
}

FIXTURE_SETUP(children)
{
	struct objects *o = &self->o;
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};

	self->made = mmap(NULL, page_bytes(), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->made);
	self->made->objects = o;
	ASSERT_EQ(0, verbs_open(&o->verbs, NULL, 1));
	ASSERT_EQ(0, verbs_endpoint_create(&o->verbs, &o->rc, IBV_QPT_RC));
	setup_watches(_metadata, o);
	ASSERT_EQ(0, mlx5ep_endpoints_create(o->verbs.ctx, &set_attr, 2,
					     &o->set));
	ASSERT_EQ(0, mlx5ep_domain_alloc(o->verbs.pd, NULL, &o->domain));
	ASSERT_EQ(0, mlx5ep_xrcd_open(o->verbs.ctx, -1, O_CREAT, &o->xrcd));
	ASSERT_EQ(0, mlx5ep_xrc_rcv_qp_create(o->xrcd, NULL, &o->xrc));
	o->ofed_domain = ibv_open_xrcd(o->verbs.ctx, &attr);
	ASSERT_NE(NULL, o->ofed_domain);
	ASSERT_EQ(0, mlx5ep_ofed_create_xrc_rcv_qp(o->ofed_domain,
						   &o->ofed_qpn));
	o->file = memfd_create("children", MFD_CLOEXEC);
	ASSERT_LE(0, o->file);
	ASSERT_EQ(0, look(&self->alive));
	ASSERT_LT(0, self->alive.uars);
	ASSERT_LT(0, self->alive.others);
}

/* The parent takes apart what it has: all of it is there and its own. */
FIXTURE_TEARDOWN(children)
{
	struct objects *o = &self->o;
	struct mlx5_ep_event event;

	EXPECT_EQ(1, mlx5ep_notifier_read(o->notifier, &event, 1));
	EXPECT_EQ(COOKIE, event.cookie);
	EXPECT_EQ(0, mlx5ep_ofed_unreg_xrc_rcv_qp(o->ofed_domain,
						  o->ofed_qpn));
	EXPECT_EQ(0, ibv_close_xrcd(o->ofed_domain));
	EXPECT_EQ(0, mlx5ep_xrc_rcv_qp_unreg(o->xrc));
	EXPECT_EQ(0, mlx5ep_xrcd_close(o->xrcd));
	EXPECT_EQ(0, mlx5ep_domain_free(o->domain));
	EXPECT_EQ(0, mlx5ep_endpoints_destroy(o->set));
	mlx5ep_mr_cache_put(o->cache, o->used);
	EXPECT_EQ(0, mlx5ep_mr_cache_destroy(o->cache));
	EXPECT_EQ(0, mlx5ep_dereg_mr(&o->mr));
	EXPECT_EQ(0, mlx5ep_watch_del(&o->hit));
	EXPECT_EQ(0, mlx5ep_watch_del(&o->watch));
	EXPECT_EQ(0, mlx5ep_notifier_destroy(o->notifier));
	verbs_endpoint_destroy(&o->rc);
	verbs_close(&o->verbs);
	munmap(o->memory, 4 * page_bytes());
	close(o->file);
}

/* Is all of the parent what it was? */
static const char *touched(struct objects *o, const struct alive *before)
{
	struct mlx5_ep_xrc_rcv_qp_info info = { 0 };
	struct mlx5ep_mr_cache_stats stats;
	static unsigned char byte;
	struct alive now;
	int ret;

	if (!mlx5ep_notifier_usable(o->notifier) ||
	    mlx5ep_notifier_page(o->notifier)->watch_pending != 1)
		return "the notifier";
	if (!mlx5ep_watch_valid(&o->watch) || mlx5ep_mr_check(&o->mr))
		return "a word";
	/* Half of the page goes to the other half, by the adapter. */
	memset(o->memory, ++byte, 8);
	ret = verbs_write(o->rc.qp, o->verbs.cq, o->memory, o->mr.mr->lkey,
			  o->memory + 2048, o->mr.mr->rkey, 8, 60);
	if (ret || memcmp(o->memory, o->memory + 2048, 8))
		return "a registration";
	mlx5ep_mr_cache_query(o->cache, &stats);
	if (stats.regions != 1)
		return "the cache";
	if (mlx5ep_xrc_rcv_qp_query(o->xrc, NULL, &info) ||
	    info.registrants != 1)
		return "a registration with an XRC receive QP";
	if (look(&now) || now.uars < before->uars ||
	    now.others != before->others)
		return "an object of the adapter";
	return NULL;
}

TEST_F_TIMEOUT(children, leave_their_parent_what_it_has, 200)
{
	bool shares = variant->kind == VFORKED || variant->kind == SHARED;
	const char *what;
	unsigned int i;
	int want, status;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		want = calls[i].want[shares];
		/* Only a handler of fork() puts zeroes where the words were. */
		if (want == NOT || (variant->kind == RAW &&
				    strstr(calls[i].name, "_valid")))
			continue;
		if (want == SAME)
			want = calls[i].make(&self->o);
		self->made->call = &calls[i];
		status = run_child(variant->kind, self->made);
		EXPECT_TRUE(self->made->returned) {
			TH_LOG("%s: wait status %#x", calls[i].name, status);
		}
		if (self->made->returned)
			EXPECT_EQ(want, self->made->value) {
				TH_LOG("%s", calls[i].name);
			}
		what = touched(&self->o, &self->alive);
		ASSERT_EQ(NULL, what) {
			TH_LOG("%s has changed %s", calls[i].name, what);
		}
	}
}

/* A child that has inherited a notifier makes its own, which works as another's. */
static int works_in_the_child(struct objects *o)
{
	struct mlx5ep_notifier *notifier;
	struct mlx5ep_mr_cache *cache;
	struct mlx5ep_watch watch;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct mlx5ep_mr_cache_entry *entry;

	context = ibv_open_device(o->verbs.ctx->device);
	pd = context ? ibv_alloc_pd(context) : NULL;
	if (!pd || mlx5ep_notifier_create(context, 8, &notifier) ||
	    mlx5ep_watch_add(notifier, o->memory, 1, 0, &watch) ||
	    !mlx5ep_watch_valid(&watch))
		return 1;
	if (munmap(o->memory, page_bytes()) || mlx5ep_watch_valid(&watch))
		return 2;
	if (mlx5ep_watch_del(&watch) || mlx5ep_notifier_destroy(notifier))
		return 3;
	if (mlx5ep_mr_cache_create(pd, &cache_attr, &cache) ||
	    mlx5ep_mr_cache_get(cache, o->memory + page_bytes(), 1, &entry))
		return 4;
	mlx5ep_mr_cache_put(cache, entry);
	if (mlx5ep_mr_cache_destroy(cache))
		return 5;
	/* What is inherited goes in any order. */
	if (mlx5ep_notifier_destroy(o->notifier) ||
	    mlx5ep_dereg_mr(&o->mr) != -EXDEV ||
	    mlx5ep_mr_cache_destroy(o->cache))
		return 6;
	return 0;
}

TEST_F_TIMEOUT(children, make_their_own, 100)
{
	static const struct call own = { .make = works_in_the_child };

	if (variant->kind == VFORKED || variant->kind == SHARED)
		SKIP(return, "it makes nothing");
	self->made->call = &own;
	EXPECT_EQ(0, run_child(variant->kind, self->made));
	EXPECT_TRUE(self->made->returned);
	EXPECT_EQ(0, self->made->value);
	EXPECT_EQ(NULL, touched(&self->o, &self->alive));
}

TEST_HARNESS_MAIN
