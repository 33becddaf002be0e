// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, timeout: 600 */
/*
 * Calls of libibverbs and libmlx5 that use a context or its UAR pages, each once, on a
 * context of each policy beside stock. Each returns the same, but for those that the
 * table says. The table is in Documentation/results/uuars.md.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "devx.h"
#include "sysfs.h"
#include "verbs.h"

static const char * const policies[] = {
	"stock", "independent", "shared-uar", "shared-uuar",
};

#define POLICIES (sizeof(policies) / sizeof(*policies))

/* 0 or the errno of what made no object, which is given back. */
#define MADE(type, make, undo) ({					\
	type *made = (make);						\
									\
	made ? ((void)(undo), 0) : errno ? errno : EIO;			\
})

/* A QP moves data with each operation. */
static int traffic(struct verbs_setup *setup, struct ibv_pd *pd)
{
	struct verbs_endpoint endpoint;
	int ret = verbs_endpoint_create_in(setup, pd, &endpoint, IBV_QPT_RC);

	if (ret)
		return -ret;
	ret = verbs_traffic_all(&endpoint, 1, 1);
	verbs_endpoint_destroy(&endpoint);
	/* The next QP begins where this one began. */
	setup->next = 0;
	return -ret;
}

/* Of a parent domain, with a thread domain or without. */
static int domain_traffic(struct verbs_setup *setup, bool thread)
{
	struct ibv_td_init_attr td_attr = {};
	struct ibv_parent_domain_init_attr attr = { .pd = setup->pd };
	struct ibv_pd *pd;
	int ret;

	if (thread) {
		attr.td = ibv_alloc_td(setup->ctx, &td_attr);
		if (!attr.td)
			return errno;
	}
	pd = ibv_alloc_parent_domain(setup->ctx, &attr);
	ret = pd ? traffic(setup, pd) : errno;
	if (pd)
		ibv_dealloc_pd(pd);
	if (attr.td)
		ibv_dealloc_td(attr.td);
	return ret;
}

static int imported(struct verbs_setup *setup)
{
	struct verbs_setup importer;
	int ret = verbs_import(&importer, setup->ctx->cmd_fd,
			       setup->pd->handle, 1);

	if (ret)
		return -ret;
	ret = traffic(&importer, importer.pd);
	verbs_close(&importer);
	return ret;
}

/* What a program asks a context with such a variable of its environment. */
static int with_variable(const char *name, const char *value)
{
	struct verbs_setup setup;
	int ret;

	setenv(name, value, 1);
	ret = verbs_open(&setup, NULL, 1);
	unsetenv(name);
	if (ret)
		return -ret;
	ret = traffic(&setup, setup.pd);
	verbs_close(&setup);
	return ret;
}

static int device_opened(struct verbs_setup *setup, uint32_t flags)
{
	struct mlx5dv_context_attr attr = { .flags = flags };

	return MADE(struct ibv_context,
		    mlx5dv_open_device(setup->ctx->device, &attr),
		    ibv_close_device(made));
}

static int general_cmd(struct ibv_context *ctx)
{
	/* QUERY_HCA_CAP, general, current */
	uint32_t in[4] = { htobe32(0x100 << 16), htobe32(1) };
	uint32_t out[(16 + 4096) / 4];

	return mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, sizeof(out));
}

static int device_memory(struct ibv_context *ctx, bool mapped)
{
	struct ibv_alloc_dm_attr attr = { .length = 64 };
	struct ibv_dm *dm = ibv_alloc_dm(ctx, &attr);
	uint64_t word = 1;
	void *mapped_at;
	int ret = 0;

	if (!dm)
		return errno;
	if (!mapped) {
		ret = ibv_memcpy_to_dm(dm, 0, &word, sizeof(word));
	} else {
		mapped_at = mlx5dv_dm_map_op_addr(dm, 0);
		/* It keeps the context, and is the program's to unmap. */
		if (!mapped_at || munmap((void *)((uintptr_t)mapped_at & -4096ul),
					 4096))
			ret = errno;
	}
	ibv_free_dm(dm);
	return ret;
}

static int object_of_qp(struct verbs_setup *setup)
{
	struct ibv_qp *qp = verbs_qp_create(setup->pd, setup->cq, IBV_QPT_RC);
	struct mlx5dv_qp out = { .comp_mask = MLX5DV_QP_MASK_UAR_MMAP_OFFSET };
	struct mlx5dv_obj obj = { .qp = { .in = qp, .out = &out } };
	int ret;

	if (!qp)
		return errno;
	ret = mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP);
	ibv_destroy_qp(qp);
	return ret ? ret : out.bf.reg ? 0 : ENXIO;
}

static int direct_qp(struct verbs_setup *setup)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC, .send_cq = setup->cq,
		.recv_cq = setup->cq, .pd = setup->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE,
		.cap = { .max_send_wr = 4, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct mlx5dv_qp_init_attr dv = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
		.create_flags = MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
	};

	return MADE(struct ibv_qp, mlx5dv_create_qp(setup->ctx, &attr, &dv),
		    ibv_destroy_qp(made));
}

static int extended_cq(struct verbs_setup *setup, bool single)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 16, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = single ? IBV_CREATE_CQ_ATTR_SINGLE_THREADED : 0,
	};

	return MADE(struct ibv_cq_ex, ibv_create_cq_ex(setup->ctx, &attr),
		    ibv_destroy_cq(ibv_cq_ex_to_cq(made)));
}

static int reserved_qpn(struct ibv_context *ctx)
{
	uint32_t qpn;
	int ret = mlx5dv_reserved_qpn_alloc(ctx, &qpn);

	return ret ? ret : mlx5dv_reserved_qpn_dealloc(ctx, qpn);
}

/* WORD, NAME, EXPRESSION, what a managed context returns: SAME as stock, or an errno */
#define SAME -1
#define CALLS(CALL)							\
CALL(qp, "ibv_create_qp()", traffic(s, s->pd), SAME)			\
CALL(parent, "ibv_alloc_parent_domain()", domain_traffic(s, false), SAME)	\
CALL(td, "ibv_alloc_td()", domain_traffic(s, true), SAME)			\
CALL(import, "ibv_import_device()", imported(s), SAME)				\
CALL(open, "mlx5dv_open_device()", device_opened(s, 0), SAME)			\
CALL(open_devx, "mlx5dv_open_device(), DEVX",					\
	device_opened(s, MLX5DV_CONTEXT_FLAGS_DEVX), SAME)		\
CALL(direct_qp, "mlx5dv_create_qp()", direct_qp(s), SAME)				\
CALL(init_obj, "mlx5dv_init_obj() of a QP", object_of_qp(s), SAME)		\
CALL(uar_bf, "mlx5dv_devx_alloc_uar(), BF",					\
	-devx_uar_rung(s, MLX5DV_UAR_ALLOC_TYPE_BF), SAME)			\
CALL(uar_nc, "mlx5dv_devx_alloc_uar(), NC",					\
	-devx_uar_rung(s, MLX5DV_UAR_ALLOC_TYPE_NC), EOPNOTSUPP)		\
CALL(uar_dedicated, "mlx5dv_devx_alloc_uar(), NC_DEDICATED",				\
	-devx_uar_rung(s, MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED), EOPNOTSUPP)	\
CALL(cmd, "mlx5dv_devx_general_cmd()", general_cmd(s->ctx), SAME)		\
CALL(eqn, "mlx5dv_devx_query_eqn()", ({					\
	uint32_t eqn;							\
	mlx5dv_devx_query_eqn(s->ctx, 0, &eqn); }), SAME)		\
CALL(umem, "mlx5dv_devx_umem_reg()", MADE(struct mlx5dv_devx_umem,		\
	mlx5dv_devx_umem_reg(s->ctx, s->buf, 4096, 0),			\
	mlx5dv_devx_umem_dereg(made)), SAME)				\
CALL(events, "mlx5dv_devx_create_event_channel()",				\
	MADE(struct mlx5dv_devx_event_channel,				\
	mlx5dv_devx_create_event_channel(s->ctx, 0),			\
	mlx5dv_devx_destroy_event_channel(made)), SAME)			\
CALL(cmd_comp, "mlx5dv_devx_create_cmd_comp()", MADE(struct mlx5dv_devx_cmd_comp,	\
	mlx5dv_devx_create_cmd_comp(s->ctx),				\
	mlx5dv_devx_destroy_cmd_comp(made)), SAME)			\
CALL(var, "mlx5dv_alloc_var()", MADE(struct mlx5dv_var,			\
	mlx5dv_alloc_var(s->ctx, 0), mlx5dv_free_var(made)), SAME)	\
CALL(qpn, "mlx5dv_reserved_qpn_alloc()", reserved_qpn(s->ctx), SAME)		\
CALL(dm, "ibv_alloc_dm()", device_memory(s->ctx, false), SAME)		\
CALL(dm_op, "mlx5dv_dm_map_op_addr()", device_memory(s->ctx, true), SAME)	\
CALL(cq, "ibv_create_cq_ex()", extended_cq(s, false), SAME)			\
CALL(cq_single, "ibv_create_cq_ex(), single-threaded", extended_cq(s, true), SAME)	\
CALL(null_mr, "ibv_alloc_null_mr()", MADE(struct ibv_mr,				\
	ibv_alloc_null_mr(s->pd), ibv_dereg_mr(made)), SAME)		\
CALL(clock, "mlx5dv_get_clock_info()", ({					\
	struct mlx5dv_clock_info info;					\
	mlx5dv_get_clock_info(s->ctx, &info); }), SAME)			\
CALL(raw_clock, "ibv_query_rt_values_ex()", ({					\
	struct ibv_values_ex values = {					\
		.comp_mask = IBV_VALUES_MASK_RAW_CLOCK, };		\
	ibv_query_rt_values_ex(s->ctx, &values); }), SAME)		\
CALL(total, "MLX5_TOTAL_UUARS=64", with_variable("MLX5_TOTAL_UUARS", "64"), SAME) \
CALL(low_lat, "MLX5_NUM_LOW_LAT_UUARS=8",					\
	with_variable("MLX5_NUM_LOW_LAT_UUARS", "8"), SAME)		\
CALL(shut_up, "MLX5_SHUT_UP_BF=1", with_variable("MLX5_SHUT_UP_BF", "1"), SAME)	\
CALL(prefer_bf, "MLX5_POST_SEND_PREFER_BF=0",					\
	with_variable("MLX5_POST_SEND_PREFER_BF", "0"), SAME)		\
CALL(single, "MLX5_SINGLE_THREADED=1",						\
	with_variable("MLX5_SINGLE_THREADED", "1"), SAME)

#define DEFINE(word, name, expression, managed)				\
static int do_##word(struct verbs_setup *s)				\
{									\
	int value = expression;						\
									\
	return value;							\
}

#define ENTRY(word, name, expression, managed)				\
	{ name, do_##word, managed },

CALLS(DEFINE)

static const struct call {
	const char *name;
	int (*make)(struct verbs_setup *s);
	int managed;
} calls[] = {
	CALLS(ENTRY)
};

#define NR_CALLS (sizeof(calls) / sizeof(*calls))

static int results[NR_CALLS][POLICIES];

/* A row of the table, as the page has it. */
static void row_print(char *row, size_t size, unsigned int i)
{
	unsigned int j;
	size_t len;

	len = snprintf(row, size, "| `%s` |", calls[i].name);
	for (j = 0; j < POLICIES && len < size; j++)
		len += snprintf(row + len, size - len, " %s |",
				results[i][j] ?
				strerrorname_np(results[i][j]) : "works");
	printf("# %s\n", row);
}

/* Does the page have that row? Where the tests are installed, there is no page. */
static bool page_has(const char *row)
{
	FILE *page = fopen("Documentation/results/uuars.md", "r");
	bool has = !page;
	char line[256];

	while (!has && fgets(line, sizeof(line), page)) {
		line[strcspn(line, "\n")] = '\0';
		has = !strcmp(line, row);
	}
	if (page)
		fclose(page);
	return has;
}

FIXTURE(calls)
{
};

FIXTURE_SETUP(calls)
{
	ASSERT_TRUE(sysfs_attached());
}

FIXTURE_TEARDOWN(calls)
{
	EXPECT_EQ(0, sysfs_defaults());
}

TEST_F_TIMEOUT(calls, return_on_a_managed_context_what_they_return_under_stock,
	       500)
{
	struct verbs_setup setup;
	unsigned int i, j;
	char row[256];
	int want;

	for (j = 0; j < POLICIES; j++) {
		ASSERT_EQ(0, sysfs_policy(policies[j], 0, false));
		ASSERT_EQ(0, verbs_open(&setup, NULL, 1));
		for (i = 0; i < NR_CALLS; i++) {
			errno = 0;
			results[i][j] = calls[i].make(&setup);
		}
		verbs_close(&setup);
		EXPECT_EQ(0, sysfs_number("uar_in_use"));
		EXPECT_EQ(0, sysfs_number("uar_observed"));
	}
	for (i = 0; i < NR_CALLS; i++) {
		row_print(row, sizeof(row), i);
		EXPECT_TRUE(page_has(row)) {
			TH_LOG("Documentation/results/uuars.md has not: %s",
			       row);
		}
		for (j = 1; j < POLICIES; j++) {
			want = calls[i].managed == SAME ? results[i][0] :
							  calls[i].managed;
			EXPECT_EQ(want, results[i][j]) {
				TH_LOG("%s under %s", calls[i].name,
				       policies[j]);
			}
		}
	}
}

TEST_HARNESS_MAIN
