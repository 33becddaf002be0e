// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* runs on: guest, tier: full, smp: 2, hca: 2, guest: own, timeout: 240 */
/*
 * The notifier is of HCA 0, the registration of HCA 1. While HCA 0 goes, the
 * process remaps the registered page: the word must not be armed afterwards,
 * for HCA 1 still reads the old page. In one test a page is remapped in the worst
 * moment, in the other many pages without pause; TEARDOWN_ROUNDS says how often HCA 0
 * goes there (default 6): by unbinding its driver, by a devlink reload, by a
 * reset.
 *
 * Another process makes the end of the notifier slow: it stands in a callback of
 * its own address space (mm_listener), for which everybody waits who wants to
 * have no callback running. In one test a batch of watches is added in part before HCA 0
 * goes, and in part after that.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "sysfs.h"
#include "uuar/late_page.h"
#include "watched.h"

#define PAGE		4096ul
#define WATCHES		200000u
#define BATCH		1000u
#define ARENA		0x500000000000ul
#define SLOW_ADDR	((void *)0x600000000000ul)	/* of mm_listener */
#define AUXDEV		"mlx5_core.rdma.0"
#define DRIVER		"/sys/bus/auxiliary/drivers/mlx5_ib.rdma/"
#define ROUNDS		3
#define PAGES		4000u	/* that are remapped one after the other */
#define CORE		"/sys/bus/pci/drivers/mlx5_core/"

FIXTURE(words)
{
	struct verbs_setup gone;	/* HCA 0 */
	struct watched_setup stays;	/* HCA 1 */
	struct mlx5ep_notifier *n;
	struct mlx5ep_watch watch;
	struct ibv_mr *mr;
	void *page;
};

typedef FIXTURE_DATA(words) words_data;

static int load_listener(void)
{
	char path[512];
	struct utsname u;

	if (!access("/dev/mm_listener", F_OK))
		return 0;
	uname(&u);
	snprintf(path, sizeof(path), "insmod build/modules/%s/mm_listener.ko",
		 u.release);
	return system(path);
}

FIXTURE_SETUP(words)
{
	ASSERT_EQ(0, load_listener());
}

FIXTURE_TEARDOWN(words)
{
}

static int map_page(void **page)
{
	*page = mmap(*page, PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE |
			     (*page ? MAP_FIXED : 0), -1, 0);
	return *page == MAP_FAILED ? -errno : 0;
}

static int add_many(words_data *self)
{
	static struct mlx5_ep_watch_add adds[BATCH];
	static struct mlx5ep_watch watches[BATCH];
	unsigned int i, done;
	int ret = 0;

	for (done = 0; done < WATCHES && !ret; done += BATCH) {
		for (i = 0; i < BATCH; i++)
			adds[i] = (struct mlx5_ep_watch_add){
				.addr = ARENA + 2 * PAGE * (done + i),
				.length = PAGE,
			};
		ret = mlx5ep_watch_add_batch(self->n, adds, watches, BATCH);
	}
	return ret;
}

/* The page has the last watch, in the highest slot. */
static int set_up(words_data *self)
{
	int ret;

	ret = verbs_open(&self->gone, "mlx5_0", 1);
	if (!ret)
		ret = verbs_open(&self->stays.verbs, "mlx5_1", 1);
	if (!ret)
		ret = verbs_endpoint_create(&self->stays.verbs,
					    &self->stays.endpoint, IBV_QPT_RC);
	if (!ret)
		ret = mlx5ep_notifier_create(self->gone.ctx,
					     WATCHES + PAGES + 8, &self->n);
	if (!ret)
		ret = add_many(self);
	self->page = NULL;
	if (!ret)
		ret = map_page(&self->page);
	if (ret)
		return ret;
	watched_fill(self->page, PAGE, 1);
	ret = mlx5ep_watch_add(self->n, self->page, PAGE, 0, &self->watch);
	if (ret)
		return ret;
	self->mr = ibv_reg_mr(self->stays.verbs.pd, self->page, PAGE,
			      IBV_ACCESS_LOCAL_WRITE);
	return self->mr ? 0 : -errno;
}

static void take_down(words_data *self)
{
	ibv_dereg_mr(self->mr);
	munmap(self->page, PAGE);
	mlx5ep_notifier_destroy(self->n);
	verbs_endpoint_destroy(&self->stays.endpoint);
	verbs_close(&self->stays.verbs);
	verbs_close(&self->gone);
}

/* Returns a process that is about to stand in the slow callback. */
static pid_t stand_in_callback(void)
{
	int fds[2], fd;
	char go = 0;
	pid_t pid;

	if (pipe(fds))
		return -1;
	pid = fork();
	if (!pid) {
		fd = open("/dev/mm_listener", O_RDWR);
		if (fd < 0 || write(fd, "slow", 4) != 4 ||
		    mmap(SLOW_ADDR, PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED |
				 MAP_POPULATE, -1, 0) == MAP_FAILED ||
		    write(fds[1], &go, 1) != 1) {
			perror("the slow process");
			_exit(1);
		}
		_exit(munmap(SLOW_ADDR, PAGE));
	}
	close(fds[1]);
	if (pid > 0 && read(fds[0], &go, 1) != 1)
		pid = -1;
	close(fds[0]);
	return pid;
}

static void *unbind(void *arg)
{
	*(int *)arg = file_write(DRIVER "unbind", AUXDEV);
	return NULL;
}

static void one_round(struct __test_metadata *_metadata, words_data *self)
{
	struct mlx5ep_watch probe;
	int ret, status, unbound = -1;
	pthread_t thread;
	pid_t pid;

	ASSERT_EQ(0, set_up(self));
	pid = stand_in_callback();
	ASSERT_LT(0, pid);
	usleep(300000);
	ASSERT_EQ(0, pthread_create(&thread, NULL, unbind, &unbound));
	/* Until the notifier has begun to end. */
	do {
		ret = mlx5ep_watch_add(self->n, (void *)ARENA, PAGE, 0, &probe);
		if (!ret)
			ret = mlx5ep_watch_del(&probe);
	} while (!ret);
	EXPECT_EQ(-EIO, ret);

	ASSERT_EQ(0, map_page(&self->page));
	EXPECT_FALSE(mlx5ep_watch_valid(&self->watch));
	EXPECT_EQ(1, watched_differs(&self->stays, self->mr, self->page,
				     PAGE));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, unbound);
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_FALSE(mlx5ep_watch_valid(&self->watch));
	take_down(self);
	ASSERT_EQ(0, file_write(DRIVER "bind", AUXDEV));
}

TEST_F(words, no_word_is_armed_while_its_device_goes)
{
	int i;

	for (i = 0; i < ROUNDS; i++)
		one_round(_metadata, self);
}

#define LATE_ADDS	80u	/* more than the module takes at once */
#define LATE_FROM	32u	/* from here on in the page that comes late */

/**
 * struct late_add - a batch that is added while HCA 0 goes
 * @fd: the file of its notifier
 * @adds: the entries, of which those behind the first page come late
 * @ret: what the call returned
 */
struct late_add {
	int fd;
	struct mlx5_ep_watch_add *adds;
	int ret;
};

static void *add_late(void *arg)
{
	struct late_add *late = arg;
	struct mlx5_ep_watch_batch batch = {
		.entries = (uintptr_t)late->adds, .count = LATE_ADDS,
		.entry_size = sizeof(*late->adds),
	};

	late->ret = ioctl(late->fd, MLX5_EP_IOC_WATCH_ADD, &batch) ? -errno : 0;
	return NULL;
}

TEST_F(words, none_is_armed_by_an_add_that_goes_on_after_that)
{
	static struct mlx5_ep_watch_add rest[LATE_ADDS]
		__attribute__((aligned(LATE_PAGE)));
	struct mlx5_ep_watch_add *adds;
	const uint64_t *words;
	struct late_page page;
	struct late_add late;
	unsigned int i, added = 0, armed = 0;
	pthread_t thread;

	if (sysconf(_SC_PAGESIZE) != LATE_PAGE)
		SKIP(return, "the page that comes late has 4 KiB");
	ASSERT_EQ(0, verbs_open(&self->gone, "mlx5_0", 1));
	ASSERT_EQ(0, mlx5ep_notifier_create(self->gone.ctx, LATE_ADDS, &self->n));
	words = (const void *)mlx5ep_notifier_page(self->n) +
		MLX5_EP_NOTIFIER_WORDS_OFFSET;
	ASSERT_EQ(0, late_page_make(&page));
	adds = (void *)(page.pages + LATE_PAGE - LATE_FROM * sizeof(*adds));
	for (i = 0; i < LATE_ADDS; i++)
		*(i < LATE_FROM ? &adds[i] : &rest[i - LATE_FROM]) =
			(struct mlx5_ep_watch_add){
				.addr = ARENA + 2 * PAGE * i, .length = PAGE,
			};
	late = (struct late_add){ mlx5ep_notifier_fd(self->n), adds, 1 };
	ASSERT_EQ(0, pthread_create(&thread, NULL, add_late, &late));
	ASSERT_TRUE(late_page_needed(&page));
	EXPECT_EQ(0, file_write(DRIVER "unbind", AUXDEV));
	EXPECT_EQ(0, late_page_give(&page, (const char *)rest));
	EXPECT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(-EIO, late.ret);
	for (i = 0; i < LATE_ADDS; i++) {
		added += adds[i].word != 0;
		armed += adds[i].word && adds[i].word == words[adds[i].slot];
	}
	EXPECT_EQ(LATE_FROM, added);
	EXPECT_EQ(0, armed);
	late_page_end(&page);
	mlx5ep_notifier_destroy(self->n);
	verbs_close(&self->gone);
	ASSERT_EQ(0, file_write(DRIVER "bind", AUXDEV));
}

static int by_unbind(void)
{
	return file_write(DRIVER "unbind", AUXDEV) ||
	       file_write(DRIVER "bind", AUXDEV);
}

/* The PCI address of HCA 0. */
static const char *pci_of_gone(void)
{
	static char path[PATH_MAX];
	char *end;

	if (!realpath("/sys/class/infiniband/mlx5_0/device", path))
		return "";
	end = strrchr(path, '/');
	return end ? end + 1 : "";
}

static int by_reload(void)
{
	char command[64];

	snprintf(command, sizeof(command), "devlink dev reload pci/%s",
		 pci_of_gone());
	return system(command);
}

static int by_reset(void)
{
	const char *pci = pci_of_gone();
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/reset", pci);
	return file_write(CORE "unbind", pci) || file_write(path, "1") ||
	       file_write(CORE "bind", pci);
}

/* How HCA 0 goes, and comes back. */
static int (*const ways[])(void) = { by_unbind, by_reload, by_reset };

/**
 * struct departure - HCA 0 goes in a thread of its own
 * @way: how
 * @ret: of @way
 * @over: HCA 0 is back
 */
struct departure {
	int (*way)(void);
	int ret;
	bool over;
};

static void *depart(void *arg)
{
	struct departure *departure = arg;

	departure->ret = departure->way();
	__atomic_store_n(&departure->over, true, __ATOMIC_RELEASE);
	return NULL;
}

/**
 * struct pages - pages that are watched and remapped
 * @start: the first one
 * @mr: their registration with HCA 1
 * @watches: one for each, in the highest slots of the notifier
 */
struct pages {
	char *start;
	struct ibv_mr *mr;
	struct mlx5ep_watch watches[PAGES];
};

static int pages_set_up(words_data *self, struct pages *pages)
{
	unsigned int i;
	int ret = 0;

	pages->start = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (pages->start == MAP_FAILED)
		return -errno;
	for (i = 0; i < PAGES && !ret; i++)
		ret = mlx5ep_watch_add(self->n, pages->start + i * PAGE, PAGE,
				       0, &pages->watches[i]);
	if (ret)
		return ret;
	pages->mr = ibv_reg_mr(self->stays.verbs.pd, pages->start, PAGES * PAGE,
			       IBV_ACCESS_LOCAL_WRITE);
	return pages->mr ? 0 : -errno;
}

/*
 * Remaps the pages in turn and looks at the word of each, until HCA 0 is back.
 * While the notifier lives, the new page is watched. So when the notifier ends
 * the words of all others are armed. Returns how often a word was armed although
 * the page was another.
 */
static unsigned int remap(words_data *self, struct pages *pages,
			  const struct departure *departure,
			  unsigned long *remaps)
{
	unsigned int armed = 0, i = 0;
	void *page;

	while (!__atomic_load_n(&departure->over, __ATOMIC_ACQUIRE)) {
		page = pages->start + i * PAGE;
		if (map_page(&page))
			return UINT_MAX;
		armed += mlx5ep_watch_valid(&pages->watches[i]);
		++*remaps;
		if (!mlx5ep_watch_del(&pages->watches[i]))
			mlx5ep_watch_add(self->n, page, PAGE, 0,
					 &pages->watches[i]);
		i = (i + 1) % PAGES;
	}
	return armed;
}

TEST_F_TIMEOUT(words, no_word_is_armed_while_pages_are_remapped, 20000)
{
	const char *wanted = getenv("TEARDOWN_ROUNDS");
	int i, rounds = wanted ? atoi(wanted) : 6;
	static struct pages pages;
	unsigned long remaps = 0;

	for (i = 0; i < rounds; i++) {
		struct departure departure = { .way = ways[i % 3] };
		pthread_t thread;

		ASSERT_EQ(0, set_up(self));
		ASSERT_EQ(0, pages_set_up(self, &pages));
		ASSERT_EQ(0, pthread_create(&thread, NULL, depart, &departure));
		EXPECT_EQ(0, remap(self, &pages, &departure, &remaps));
		pthread_join(thread, NULL);
		ASSERT_EQ(0, departure.ret);
		EXPECT_EQ(1, watched_differs(&self->stays, pages.mr,
					     pages.start, PAGES * PAGE));
		ibv_dereg_mr(pages.mr);
		munmap(pages.start, PAGES * PAGE);
		take_down(self);
		if (wanted)
			fprintf(stderr, "# progress: %d of %d, %lu remaps\n",
				i + 1, rounds, remaps);
	}
	/* A remap takes some 200 microseconds, and HCA 0 is away for longer. */
	EXPECT_LT(100 * rounds, remaps);
}

TEST_HARNESS_MAIN
