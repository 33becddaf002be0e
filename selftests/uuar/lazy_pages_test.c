// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, timeout: 400 */
/*
 * A managed context has one UAR page when it is opened, and gets another for
 * each page on which a QP is placed. The other static pages are empty mappings.
 * A process that changes them harms only itself.
 */
#include "kselftest_harness.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <infiniband/mlx5dv.h>

#include "baseline.h"
#include "doorbells.h"
#include "sysfs.h"
#include "verbs.h"

#define ALL 256		/* static pages that libmlx5 takes at most */
#define PAGES 8
#define PAGE 4096ul

FIXTURE(lazy)
{
	struct verbs_setup setup;
	struct verbs_endpoint endpoints[ALL];
	size_t made;
	struct doorbells_report doorbells;
	int64_t before;
};

FIXTURE_SETUP(lazy)
{
	ASSERT_TRUE(sysfs_attached());
	ASSERT_EQ(0, sysfs_defaults());
	ASSERT_EQ(0, sysfs_number("uar_in_use"));
	ASSERT_EQ(0, simhca_zero());
	self->before = simhca_count("uar");
}

FIXTURE_TEARDOWN(lazy)
{
	EXPECT_EQ(0, simhca_fail_nothing());
	while (self->made)
		verbs_endpoint_destroy(&self->endpoints[--self->made]);
	verbs_close(&self->setup);
	doorbells_put(&self->doorbells);
	EXPECT_EQ(0, sysfs_write("uar_budget", "0"));
	EXPECT_EQ(0, sysfs_write("uar_user_limit", "0"));
	EXPECT_EQ(0, sysfs_defaults());
	EXPECT_EQ(0, sysfs_number("uar_in_use"));
	EXPECT_EQ(self->before, simhca_count("uar"));
}

static int lazy_pages_add(struct _test_data_lazy *self, size_t n)
{
	int ret = 0;

	for (; n && !ret; n--) {
		ret = verbs_endpoint_create(&self->setup,
					    &self->endpoints[self->made],
					    IBV_QPT_RC);
		self->made += !ret;
	}
	return ret;
}

/* Ring each QP, and read from the HCA where it rang. */
static int lazy_pages_ring(struct _test_data_lazy *self)
{
	int ret = verbs_traffic(self->endpoints, self->made,
				VERBS_WRITE_INLINE, 1);

	doorbells_put(&self->doorbells);
	return ret ? ret : doorbells_look(0, &self->doorbells);
}

/* UAR pages since the test began. The module must count the same. */
static int64_t held(struct __test_metadata *_metadata,
		    struct _test_data_lazy *self)
{
	int64_t pages = simhca_count("uar") - self->before;

	EXPECT_EQ(pages, sysfs_number("uar_in_use"));
	return pages;
}

/* Addresses of the writable mappings of uverbs, with the empty ones. */
static size_t mappings(void **at, size_t most)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long first, last;
	char line[512];
	size_t n = 0;

	while (maps && n < most && fgets(line, sizeof(line), maps))
		if (strstr(line, "/dev/infiniband/uverbs") &&
		    sscanf(line, "%lx-%lx -w%*s", &first, &last) == 2 &&
		    strstr(line, " -w") &&
		    last - first == PAGE)
			at[n++] = (void *)first;
	if (maps)
		fclose(maps);
	return n;
}

static sigjmp_buf touched;

static void on_sigbus(int sig)
{
	siglongjmp(touched, 1);
}

/*
 * Is the mapping empty? A page of the device accepts a write of 0 at offset 0.
 */
static bool is_empty(void *page)
{
	struct sigaction act = { .sa_handler = on_sigbus }, was;
	bool empty = true;

	sigaction(SIGBUS, &act, &was);
	if (!sigsetjmp(touched, 1)) {
		*(volatile uint32_t *)page = 0;
		empty = false;
	}
	sigaction(SIGBUS, &was, NULL);
	return empty;
}

/* The empty mappings among the static pages, as a program would find them. */
static size_t empty_mappings(void **at, size_t most)
{
	void *all[2 * ALL];
	size_t n = mappings(all, 2 * ALL), i, found = 0;

	for (i = 0; i < n && found < most; i++)
		if (is_empty(all[i]))
			at[found++] = all[i];
	return found;
}

static const char *const policies[] = {
	"independent", "shared-uar", "shared-uuar",
};

TEST_F_TIMEOUT(lazy, an_open_context_holds_no_more_than_under_stock, 60)
{
	static const unsigned int pages[] = { 1, 8, 256 };
	struct verbs_setup setup;
	int64_t under_stock;
	unsigned int i, k;

	ASSERT_EQ(0, verbs_open(&setup, NULL, 1));
	under_stock = simhca_count("uar") - self->before;
	verbs_close(&setup);
	EXPECT_EQ(1, under_stock);
	for (i = 0; i < 3; i++)
		for (k = 0; k < 3; k++) {
			ASSERT_EQ(0, sysfs_policy(policies[i], pages[k],
						  false));
			ASSERT_EQ(0, verbs_open(&setup, NULL, 1));
			EXPECT_EQ(under_stock, held(_metadata, self));
			verbs_close(&setup);
			EXPECT_EQ(0, held(_metadata, self));
		}
}

TEST_F_TIMEOUT(lazy, a_page_comes_with_the_qp_that_needs_it, 60)
{
	size_t i;

	ASSERT_EQ(0, sysfs_policy("independent", PAGES, false));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, ALL));
	/*
	 * The last QP is on page 0, which the context has had since it was
	 * opened.
	 */
	for (i = 0; i < PAGES; i++) {
		EXPECT_EQ(1 + i, held(_metadata, self));
		ASSERT_EQ(0, lazy_pages_add(self, 1));
	}
	EXPECT_EQ(PAGES, held(_metadata, self));
	ASSERT_EQ(0, lazy_pages_ring(self));
	EXPECT_EQ(PAGES, self->doorbells.pages);
	EXPECT_EQ(0, self->doorbells.wrong_uar);
	/* The page of a destroyed QP stays and serves the next QP. */
	verbs_endpoint_destroy(&self->endpoints[--self->made]);
	verbs_endpoint_destroy(&self->endpoints[--self->made]);
	EXPECT_EQ(PAGES, held(_metadata, self));
	ASSERT_EQ(0, lazy_pages_add(self, 2));
	EXPECT_EQ(PAGES, held(_metadata, self));
	EXPECT_EQ(0, verbs_traffic_all(self->endpoints, self->made, 1));
}

TEST_F_TIMEOUT(lazy, two_hundred_and_fifty_six_qps_have_as_many_pages, 200)
{
	ASSERT_EQ(0, sysfs_policy("independent", ALL, true));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, ALL));
	ASSERT_EQ(0, lazy_pages_add(self, ALL));
	ASSERT_EQ(0, lazy_pages_ring(self));
	EXPECT_EQ(ALL, self->doorbells.pages);
	EXPECT_EQ(0, self->doorbells.shared);
	EXPECT_EQ(0, self->doorbells.wrong_uar);
	EXPECT_EQ(0, self->doorbells.silent);
	EXPECT_EQ(ALL, held(_metadata, self));
}

TEST_F(lazy, an_empty_page_gives_sigbus_and_stays_empty)
{
	void *at[PAGES];

	ASSERT_EQ(0, sysfs_policy("independent", PAGES, false));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, ALL));
	EXPECT_EQ(PAGES - 1, empty_mappings(at, PAGES));
	EXPECT_EQ(1, held(_metadata, self));
	ASSERT_EQ(0, lazy_pages_add(self, 3));
	EXPECT_EQ(PAGES - 1 - 3, empty_mappings(at, PAGES));
	EXPECT_EQ(0, lazy_pages_ring(self));
}

/* What a program can do to an empty mapping. */
static int unmap_it(void *page)
{
	return munmap(page, PAGE);
}

static int map_over_it(void *page)
{
	void *over = mmap(page, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (over == MAP_FAILED)
		return -1;
	memset(over, 0x5a, PAGE);
	return 0;
}

static int move_it(void *page)
{
	void *to = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	return mremap(page, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) ==
	       to ? 0 : -1;
}

static int (*const spoil[])(void *page) = { unmap_it, map_over_it, move_it };

TEST_F_TIMEOUT(lazy, nothing_is_placed_where_the_program_took_the_mapping, 90)
{
	void *at[PAGES];
	unsigned int how, i;
	unsigned char *byte;

	for (how = 0; how < 3; how++) {
		ASSERT_EQ(0, sysfs_policy("independent", PAGES, false));
		ASSERT_EQ(0, verbs_open(&self->setup, NULL, ALL));
		ASSERT_EQ(PAGES - 1, empty_mappings(at, PAGES));
		/* Two pages are left besides page 0. */
		for (i = 0; i < PAGES - 3; i++)
			ASSERT_EQ(0, spoil[how](at[i]));
		ASSERT_EQ(0, lazy_pages_add(self, PAGES));
		ASSERT_EQ(0, lazy_pages_ring(self));
		EXPECT_EQ(3, self->doorbells.pages) {
			TH_LOG("way %u", how);
		}
		EXPECT_EQ(0, self->doorbells.wrong_uar);
		EXPECT_EQ(3, held(_metadata, self));
		for (i = 0; how == 1 && i < PAGES - 3; i++)
			for (byte = at[i]; byte < (unsigned char *)at[i] + PAGE;
			     byte++)
				ASSERT_EQ(0x5a, *byte);
		while (self->made)
			verbs_endpoint_destroy(&self->endpoints[--self->made]);
		verbs_close(&self->setup);
		/*
		 * The test unmaps what it moved, because a mapping keeps the
		 * context open.
		 */
		for (i = mappings(at, PAGES); i-- > 0;)
			ASSERT_EQ(0, munmap(at[i], PAGE));
		ASSERT_EQ(0, simhca_zero());
	}
}

/* The offset in its file of the mapping at @page; 0: there is none. */
static unsigned long mapped_offset(const void *page)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long first, offset, found = 0;
	char line[256];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%*x %*s %lx", &first, &offset) == 2 &&
		    first == (unsigned long)page)
			found = offset;
	if (maps)
		fclose(maps);
	return found;
}

/* Moves the mapping of @from that has the offset of the one at @to, to there. */
static int move_same_page(void *to, void *const *from, size_t n)
{
	unsigned long offset = mapped_offset(to);
	size_t i;

	for (i = 0; i < n; i++)
		if (from[i] != to && mapped_offset(from[i]) == offset)
			return mremap(from[i], PAGE, PAGE, MREMAP_MAYMOVE |
				      MREMAP_FIXED, to) == to ? 0 : -errno;
	return -ENOENT;
}

/* The page of the same index of another context is where that of this one was. */
TEST_F_TIMEOUT(lazy, nothing_is_placed_on_a_page_of_another_context, 60)
{
	void *mine[PAGES], *both[2 * PAGES];
	struct verbs_setup other;
	size_t i;

	ASSERT_EQ(0, sysfs_policy("independent", PAGES, false));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, ALL));
	ASSERT_EQ(PAGES - 1, empty_mappings(mine, PAGES));
	ASSERT_EQ(0, verbs_open(&other, NULL, 1));
	ASSERT_EQ(2 * (PAGES - 1), empty_mappings(both, 2 * PAGES));
	/* Two pages are left besides page 0. */
	for (i = 0; i < PAGES - 3; i++)
		ASSERT_EQ(0, move_same_page(mine[i], both, 2 * (PAGES - 1)));
	ASSERT_EQ(0, lazy_pages_add(self, PAGES));
	ASSERT_EQ(0, lazy_pages_ring(self));
	EXPECT_EQ(3, self->doorbells.pages);
	EXPECT_EQ(0, self->doorbells.wrong_uar);
	EXPECT_EQ(3 + 1, held(_metadata, self));
	for (i = 0; i < PAGES - 3; i++) {
		EXPECT_TRUE(is_empty(mine[i]));
		EXPECT_EQ(0, munmap(mine[i], PAGE));
	}
	verbs_close(&other);
}

/* libmlx5 rings where it has mapped a page, whatever a program maps beside. */
TEST_F(lazy, a_second_mapping_of_an_empty_page_changes_nothing)
{
	void *again[PAGES];
	size_t i;

	ASSERT_EQ(0, sysfs_policy("independent", PAGES, false));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, ALL));
	for (i = 1; i < PAGES; i++) {
		again[i] = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED,
				self->setup.ctx->cmd_fd, i * PAGE);
		ASSERT_NE(MAP_FAILED, again[i]);
		if (i % 2)
			ASSERT_EQ(0, munmap(again[i], PAGE));
	}
	ASSERT_EQ(0, lazy_pages_add(self, PAGES));
	ASSERT_EQ(0, lazy_pages_ring(self));
	EXPECT_EQ(PAGES, self->doorbells.pages);
	EXPECT_EQ(0, self->doorbells.wrong_uar);
	for (i = 2; i < PAGES; i += 2)
		EXPECT_EQ(0, munmap(again[i], PAGE));
}

/* Mappings of a page of a device that combine writes; -1: nobody knows. */
static int uncached_pages(void)
{
	FILE *list = fopen("/sys/kernel/debug/x86/pat_memtype_list", "r");
	unsigned long first, last;
	char line[256];
	int n = 0;

	if (!list)
		return -1;
	while (fgets(line, sizeof(line), list))
		n += strstr(line, "write-combining") &&
		     sscanf(line, "PAT: [mem 0x%lx-0x%lx]", &first, &last) == 2 &&
		     last - first == PAGE;
	fclose(list);
	return n;
}

/* Does libmlx5 take the page that a QP rings for an uncached one? */
static bool is_uncached(struct ibv_qp *qp)
{
	struct mlx5dv_qp out = { .comp_mask = MLX5DV_QP_MASK_UAR_MMAP_OFFSET };
	struct mlx5dv_obj obj = { .qp = { .in = qp, .out = &out } };

	if (mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP))
		return false;
	return (out.uar_mmap_offset / PAGE >> 8 & 0xff) ==
	       MLX5_MMAP_GET_NC_PAGES_CMD;
}

/*
 * With MLX5_SHUT_UP_BF, which DPDK sets, libmlx5 wants its pages uncached. DPDK asks
 * whether it has got that, and else waits until a combined write has gone out.
 */
TEST_F(lazy, a_page_is_uncached_where_the_library_takes_it_for_that)
{
	int before, wc = 0;
	size_t i;

	ASSERT_EQ(0, sysfs_policy("independent", PAGES, false));
	before = uncached_pages();
	ASSERT_EQ(0, setenv("MLX5_SHUT_UP_BF", "1", 1));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, ALL));
	ASSERT_EQ(0, lazy_pages_add(self, PAGES));
	for (i = 0; i < PAGES; i++)
		wc += !is_uncached(self->endpoints[i].qp);
	EXPECT_GT(PAGES, wc);
	if (before >= 0)
		EXPECT_EQ(before + wc, uncached_pages());
	ASSERT_EQ(0, lazy_pages_ring(self));
	EXPECT_EQ(PAGES, self->doorbells.pages);
	EXPECT_EQ(PAGES, held(_metadata, self));
	EXPECT_EQ(0, self->doorbells.wrong_uar);
	EXPECT_EQ(0, verbs_traffic_all(self->endpoints, self->made, 1));
}

/* The parent opens the context; the child, both or neither create QPs. */
TEST_F_TIMEOUT(lazy, a_fork_between_open_and_the_first_qp, 90)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, sysfs_policy("independent", PAGES, false));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, ALL));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		/* A daemon does the same. */
		status = lazy_pages_add(self, 2);
		while (self->made)
			verbs_endpoint_destroy(&self->endpoints[--self->made]);
		_exit(status ? 1 : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(3, held(_metadata, self));
	/*
	 * The module knows the child's pages, and maps them in this process
	 * now.
	 */
	ASSERT_EQ(0, lazy_pages_add(self, PAGES));
	doorbells_put(&self->doorbells);
	ASSERT_EQ(0, verbs_traffic(self->endpoints, self->made,
				   VERBS_WRITE_INLINE, 1));
	ASSERT_EQ(0, doorbells_look(0, &self->doorbells));
	EXPECT_EQ(0, self->doorbells.wrong_uar);
	EXPECT_EQ(PAGES, held(_metadata, self));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(0);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, verbs_traffic(self->endpoints, self->made,
				   VERBS_WRITE_INLINE, 1));
}

/* A child creates a QP, rings it once and ends, and leaves the QP to the context. */
static int child_rings(struct _test_data_lazy *self)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_INLINE,
	};

	return lazy_pages_add(self, 1) ||
	       ibv_post_send(self->endpoints[0].qp, &wr, &bad);
}

/*
 * The address space of a child can lie where that of an earlier child was. Two QPs
 * share a page here: the second child must get the page of the first one, too.
 */
TEST_F_TIMEOUT(lazy, children_one_after_the_other, 90)
{
	int i, status;
	pid_t pid;

	ASSERT_EQ(0, sysfs_policy("shared-uar", PAGES, false));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, ALL));
	for (i = 0; i < 2 * PAGES; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			_exit(child_rings(self) ? 1 : 0);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);
	}
	EXPECT_EQ(PAGES, held(_metadata, self));
}

/* Create QPs, and ring each of them by an inline write of 8 bytes. */
static int add_ringing(struct _test_data_lazy *self, size_t n)
{
	struct ibv_sge sge = {
		.length = 8,
		.lkey = self->setup.mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_INLINE,
		.wr.rdma.rkey = self->setup.mr->rkey,
	};
	size_t first = self->made;
	int ret = lazy_pages_add(self, n);

	for (; !ret && first < self->made; first++) {
		sge.addr = (uintptr_t)self->endpoints[first].src;
		wr.wr.rdma.remote_addr = (uintptr_t)self->endpoints[first].dst;
		ret = ibv_post_send(self->endpoints[first].qp, &wr, &bad);
	}
	return ret;
}

static bool is_own(struct _test_data_lazy *self, uint32_t qpn)
{
	size_t i = self->made;

	while (i-- > 0)
		if (self->endpoints[i].qp->qp_num == qpn)
			return true;
	return false;
}

/*
 * QPs of several processes complete in one CQ, so nobody polls it. Wait until that
 * many QPs have rung.
 */
static void wait_for_doorbells(struct __test_metadata *_metadata,
			       struct _test_data_lazy *self, size_t qps)
{
	size_t i;

	for (i = 0; i < 100 && self->doorbells.n < qps; i++) {
		usleep(100000);
		doorbells_put(&self->doorbells);
		ASSERT_EQ(0, doorbells_look(0, &self->doorbells));
	}
	EXPECT_EQ(qps, self->doorbells.n);
	EXPECT_EQ(0, self->doorbells.wrong_uar);
}

/*
 * Parent and child each have the lock of a uUAR for themselves. Four pages have
 * three uUARs with a lock, on which the QPs of the parent are.
 */
TEST_F_TIMEOUT(lazy, processes_on_one_context_share_no_uuar, 60)
{
	const struct doorbells_qp *a, *b;
	size_t i, k;
	int status;
	pid_t pid;

	ASSERT_EQ(0, sysfs_policy("shared-uuar", 4, false));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, ALL));
	ASSERT_EQ(0, add_ringing(self, 6));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(add_ringing(self, 6) ? 1 : 0);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	wait_for_doorbells(_metadata, self, 12);
	for (i = 0; i < self->doorbells.n; i++) {
		a = &self->doorbells.qps[i];
		for (k = 0; k < self->doorbells.n; k++) {
			b = &self->doorbells.qps[k];
			if (is_own(self, a->qpn) && !is_own(self, b->qpn))
				EXPECT_FALSE(a->uar == b->uar &&
					     a->slot == b->slot);
		}
	}
}

/*
 * A child that fork gives no mapping of a static page makes two QPs and rings them.
 * What it maps itself, at @elsewhere, is not where the library rings.
 */
static int child_without(struct _test_data_lazy *self, void *elsewhere)
{
	int status = -1;
	void *again;
	pid_t pid;

	pid = fork();
	if (!pid) {
		again = mmap(elsewhere, PAGE, PROT_WRITE, MAP_SHARED | MAP_FIXED,
			     self->setup.ctx->cmd_fd, PAGE);
		_exit(again != elsewhere || add_ringing(self, 2) ? 1 : 0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

/* QPs of children are on page 0, and so none of this process is. */
TEST_F_TIMEOUT(lazy, a_child_without_the_mappings_rings_page_0, 90)
{
	uint32_t page0 = UINT32_MAX;
	const struct doorbells_qp *qp;
	void *at[PAGES], *elsewhere;
	size_t i;

	elsewhere = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	ASSERT_NE(MAP_FAILED, elsewhere);
	ASSERT_EQ(0, sysfs_policy("independent", PAGES, false));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, ALL));
	ASSERT_EQ(PAGES - 1, empty_mappings(at, PAGES));
	for (i = 0; i < PAGES - 1; i++)
		ASSERT_EQ(0, madvise(at[i], PAGE, MADV_DONTFORK));
	/* One child comes while the pages are empty, one when the device has them. */
	EXPECT_EQ(0, child_without(self, elsewhere));
	EXPECT_EQ(1, held(_metadata, self));
	ASSERT_EQ(0, add_ringing(self, PAGES - 1));
	EXPECT_EQ(PAGES, held(_metadata, self));
	EXPECT_EQ(0, child_without(self, elsewhere));
	wait_for_doorbells(_metadata, self, PAGES + 3);
	EXPECT_EQ(PAGES, self->doorbells.pages);
	for (i = 0; i < self->doorbells.n; i++) {
		qp = &self->doorbells.qps[i];
		if (is_own(self, qp->qpn))
			continue;
		EXPECT_TRUE(page0 == UINT32_MAX || page0 == qp->uar);
		page0 = qp->uar;
	}
	for (i = 0; i < self->doorbells.n; i++) {
		qp = &self->doorbells.qps[i];
		EXPECT_TRUE(!is_own(self, qp->qpn) || qp->uar != page0);
	}
	EXPECT_EQ(0, munmap(elsewhere, PAGE));
}

static void limit_counts(struct __test_metadata *_metadata,
			 struct _test_data_lazy *self, const char *attr)
{
	ASSERT_EQ(0, sysfs_policy("independent", PAGES, false));
	ASSERT_EQ(0, sysfs_write(attr, "3"));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, ALL));
	ASSERT_EQ(0, lazy_pages_add(self, PAGES));
	EXPECT_EQ(3, held(_metadata, self));
	ASSERT_EQ(0, lazy_pages_ring(self));
	EXPECT_EQ(3, self->doorbells.pages);
	EXPECT_EQ(0, self->doorbells.wrong_uar);
	/* The next QP gets a page that has become free. */
	ASSERT_EQ(0, sysfs_write(attr, "5"));
	ASSERT_EQ(0, lazy_pages_add(self, 4));
	EXPECT_EQ(5, held(_metadata, self));
	ASSERT_EQ(0, lazy_pages_ring(self));
	EXPECT_EQ(5, self->doorbells.pages);
}

TEST_F_TIMEOUT(lazy, the_budget_counts_what_is_rung, 60)
{
	limit_counts(_metadata, self, "uar_budget");
}

TEST_F_TIMEOUT(lazy, the_limit_of_a_user_counts_what_is_rung, 60)
{
	limit_counts(_metadata, self, "uar_user_limit");
}

TEST_F_TIMEOUT(lazy, a_page_that_the_device_refuses_is_done_without, 60)
{
	ASSERT_EQ(0, sysfs_policy("independent", PAGES, false));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, ALL));
	ASSERT_EQ(0, lazy_pages_add(self, 1));
	ASSERT_EQ(0, simhca_fail("ALLOC_UAR", 1, 2, 0xf));
	ASSERT_EQ(0, lazy_pages_add(self, 2));
	EXPECT_EQ(2, held(_metadata, self));
	ASSERT_EQ(0, simhca_fail_nothing());
	ASSERT_EQ(0, lazy_pages_add(self, 2));
	EXPECT_EQ(4, held(_metadata, self));
	ASSERT_EQ(0, lazy_pages_ring(self));
	EXPECT_EQ(4, self->doorbells.pages);
	EXPECT_EQ(0, self->doorbells.wrong_uar);
}

TEST_F_TIMEOUT(lazy, strict_says_enospc_where_no_page_is_to_be_had, 60)
{
	ASSERT_EQ(0, sysfs_policy("independent", PAGES, true));
	ASSERT_EQ(0, sysfs_write("uar_budget", "3"));
	ASSERT_EQ(0, verbs_open(&self->setup, NULL, ALL));
	EXPECT_EQ(-ENOSPC, lazy_pages_add(self, 4));
	EXPECT_EQ(3, self->made);
	EXPECT_EQ(3, held(_metadata, self));
}

static atomic_bool stop;

static void *make_qps(void *arg)
{
	struct verbs_setup *setup = arg;
	unsigned long failed = 0;
	struct ibv_qp *qps[4];
	unsigned int i;

	while (!stop) {
		for (i = 0; i < 4; i++) {
			qps[i] = verbs_qp_create(setup->pd, setup->cq,
						 IBV_QPT_RC);
			failed += !qps[i];
		}
		for (i = 0; i < 4; i++)
			if (qps[i])
				ibv_destroy_qp(qps[i]);
	}
	return (void *)failed;
}

TEST_F_TIMEOUT(lazy, threads_make_qps_while_mappings_go, 120)
{
	void *at[2 * PAGES], *failed;
	pthread_t threads[3];
	struct verbs_setup setup;
	unsigned int round, i;
	size_t n;

	ASSERT_EQ(0, sysfs_policy("independent", 2 * PAGES, false));
	for (round = 0; round < 10; round++) {
		ASSERT_EQ(0, verbs_open(&setup, NULL, ALL));
		n = empty_mappings(at, 2 * PAGES);
		EXPECT_EQ(2 * PAGES - 1, n);
		stop = false;
		for (i = 0; i < 3; i++)
			ASSERT_EQ(0, pthread_create(&threads[i], NULL, make_qps,
						    &setup));
		for (i = 0; i < n; i++) {
			ASSERT_EQ(0, spoil[i % 3](at[i]));
			usleep(2000);
		}
		stop = true;
		for (i = 0; i < 3; i++) {
			pthread_join(threads[i], &failed);
			EXPECT_EQ(NULL, failed);
		}
		verbs_close(&setup);
		for (i = mappings(at, 2 * PAGES); i-- > 0;)
			ASSERT_EQ(0, munmap(at[i], PAGE));
	}
}

TEST_F_TIMEOUT(lazy, a_process_killed_while_pages_come, 120)
{
	unsigned int round;
	int status;
	pid_t pid;

	ASSERT_EQ(0, sysfs_policy("independent", ALL, false));
	for (round = 0; round < 12; round++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			if (verbs_open(&self->setup, NULL, ALL))
				_exit(1);
			lazy_pages_add(self, ALL);
			pause();
		}
		usleep(20000 + 15000 * round);
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_TRUE(WIFSIGNALED(status));
		EXPECT_EQ(0, held(_metadata, self));
	}
}

TEST_HARNESS_MAIN
