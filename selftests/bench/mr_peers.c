// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mr_peers - what being told of a munmap() adds to it, by several means, in guest
 * instructions
 *
 * watch: ours, with the event queued and nobody waiting. userfaultfd: as
 * libfabric's monitor has it, with a thread that reads events. ucx: UCX's hooks in
 * munmap(), with a handler that only counts. Each must have been told each time.
 * core_*: the kernel's own part, with callbacks that do nothing
 * (selftests/modules/mm_listener.c, loaded): below it no mmu_notifier can come.
 *
 * Each is measured in a process of its own, which has a device open, alike but for
 * the monitor to one that has none. Prints "MEANS RANGE V1 ... V51" per figure.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mlx5ep/mr_watch.h>
#include <ucm/api/ucm.h>

#include "instr.h"
#include "verbs.h"

#define RANGES 3

static const char *const ranges[RANGES] = {
	[INSTR_2M] = "2m", [INSTR_HUGE] = "huge_page", [INSTR_4K] = "4k",
};

typedef uint64_t samples_t[RANGES][INSTR_SAMPLES];

/* Events of the range that is measured, by whoever tells. */
static unsigned long told;

static int was_told(void)
{
	return __atomic_exchange_n(&told, 0, __ATOMIC_RELAXED) ? 0 : -EPROTO;
}

static struct mlx5ep_notifier *notifier;
static struct mlx5ep_watch watch;

static struct verbs_setup setup;

static int watch_open(void)
{
	return mlx5ep_notifier_create(setup.ctx, 16, &notifier);
}

static int watch_begin(void *addr, size_t len)
{
	return mlx5ep_watch_add(notifier, addr, len, 0, &watch);
}

static int watch_end(void *addr, size_t len)
{
	told = !mlx5ep_watch_valid(&watch);
	mlx5ep_watch_del(&watch);
	return was_told();
}

static int uffd;

static void *uffd_read(void *unused)
{
	struct pollfd fd = { .fd = uffd, .events = POLLIN };
	struct uffd_msg msg;

	for (;;) {
		if (poll(&fd, 1, -1) == 1 &&
		    read(uffd, &msg, sizeof(msg)) == sizeof(msg) &&
		    msg.event == UFFD_EVENT_UNMAP)
			__atomic_add_fetch(&told, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static int uffd_open(void)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_EVENT_UNMAP |
			    UFFD_FEATURE_EVENT_REMOVE |
			    UFFD_FEATURE_EVENT_REMAP,
	};
	pthread_t thread;

	uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api))
		return -errno;
	return -pthread_create(&thread, NULL, uffd_read, NULL);
}

static int uffd_begin(void *addr, size_t len)
{
	struct uffdio_register reg = {
		.range = { .start = (uintptr_t)addr, .len = len },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	return ioctl(uffd, UFFDIO_REGISTER, &reg) ? -errno : 0;
}

/*
 * munmap() returns when the event has been read. The thread counts it a moment
 * later.
 */
static int uffd_end(void *addr, size_t len)
{
	int i;

	for (i = 0; i < 100 && !__atomic_load_n(&told, __ATOMIC_RELAXED); i++)
		usleep(1000);
	return was_told();
}

static void ucx_event(ucm_event_type_t type, ucm_event_t *event, void *arg)
{
	told++;
}

static int ucx_open(void)
{
	return ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 0, ucx_event, NULL);
}

static int ucx_begin(void *addr, size_t len)
{
	told = 0;
	return 0;
}

static int ucx_end(void *addr, size_t len)
{
	return was_told();
}

/* The file stays open, because closing it ends the listening. */
static int listened(const char *how)
{
	int fd = open("/dev/mm_listener", O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, how, strlen(how)) < 0 ? -errno : 0;
}

static int listened_none(void)
{
	return listened("none");
}

static int listened_start(void)
{
	return listened("start");
}

static int listened_both(void)
{
	return listened("both");
}

static int listened_range(void)
{
	return listened("range");
}

static int nothing(void *addr, size_t len)
{
	return 0;
}

static const struct peer {
	const char *name;
	int (*open)(void);
	struct instr_monitor monitor;
} peers[] = {
	{ .name = "nobody" },
	{ "watch", watch_open, { watch_begin, watch_end } },
	{ "userfaultfd", uffd_open, { uffd_begin, uffd_end } },
	{ "ucx", ucx_open, { ucx_begin, ucx_end } },
	{ "core_none", listened_none, { nothing, nothing } },
	{ "core_start", listened_start, { nothing, nothing } },
	{ "core_both", listened_both, { nothing, nothing } },
	{ "core_interval", listened_range, { nothing, nothing } },
};

#define PEERS (sizeof(peers) / sizeof(*peers))

static int mr_peers_measure(const struct peer *peer, samples_t samples)
{
	int r, ret = verbs_open(&setup, NULL, 1);

	if (!ret && peer->open)
		ret = peer->open();
	for (r = 0; r < RANGES && !ret; r++)
		ret = instr_munmap(r, peer->open ? &peer->monitor : NULL,
				   samples[r]);
	if (ret)
		fprintf(stderr, "mr_peers: %s: %s\n", peer->name,
			strerror(-ret));
	return ret ? 1 : 0;
}

int main(void)
{
	samples_t *samples = mmap(NULL, PEERS * sizeof(samples_t),
				  PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t base;
	int r, status;
	char name[64];
	size_t p;
	pid_t pid;

	if (samples == MAP_FAILED)
		return 1;
	for (p = 0; p < PEERS; p++) {
		pid = fork();
		if (!pid)
			_exit(mr_peers_measure(&peers[p], samples[p]));
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	for (r = 0; r < RANGES; r++) {
		base = instr_median(samples[0][r]);
		for (p = 0; p < PEERS; p++) {
			snprintf(name, sizeof(name), "%s %s", peers[p].name,
				 ranges[r]);
			instr_print(name, samples[p][r], p ? base : 0, 1);
		}
	}
	return 0;
}
