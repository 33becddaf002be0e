// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ucx_cache - is what UCX sends and receives the memory that the program sees?
 *
 * Two workers of one process are connected through the adapter. A buffer is sent
 * (put) and received into (get) without a copy, so UCX keeps its registration.
 * Then the memory is changed in one of several ways, and the same addresses are
 * sent and received into again. A round is stale if the data is not right.
 *
 * Prints "CHANGE: stale S of N" for each change. With "untold" as argument, UCX is
 * told that somebody reports changes, and nobody does. With "threads" as argument,
 * the changes are made by several threads, each with a buffer and a worker of
 * its own. With "child" as argument, a forked child opens and closes UCX
 * between two rounds of changes of its parent.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ucm/api/ucm.h>
#include <ucp/api/ucp.h>

#define LEN	(16 * 4096ul)
#define FIXED	((char *)0x610000000000ul)
#define THREADS	3

static int rounds = 20;

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "ucx_cache: %s: %s\n", what, why);
	exit(1);
}

static void want(bool right, const char *what)
{
	if (!right)
		fail(what, strerror(errno));
}

static void ok(ucs_status_t status, const char *what)
{
	if (status != UCS_OK)
		fail(what, ucs_status_string(status));
}

/* --- the memory, and what happens to it ---------------------------------- */

struct memory {
	char *addr;
	int fd;			/* -1: private */
};

static struct {
	pid_t pid;
	int ask[2], answer[2];
	int fd;
} other;

static void map(struct memory *mem)
{
	int flags = mem->fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;

	want((char *)syscall(SYS_mmap, mem->addr, LEN, PROT_READ | PROT_WRITE,
			     flags | MAP_FIXED, mem->fd, 0ul) == mem->addr,
	     "mmap");
}

static void change_nothing(struct memory *mem)
{
}

static void change_munmap(struct memory *mem)
{
	want(!munmap(mem->addr, LEN), "munmap");
	map(mem);
}

static void change_munmap_raw(struct memory *mem)
{
	want(!syscall(SYS_munmap, mem->addr, LEN), "munmap");
	map(mem);
}

static void change_mapped_over(struct memory *mem)
{
	map(mem);
}

static void change_dontneed_raw(struct memory *mem)
{
	want(!syscall(SYS_madvise, mem->addr, LEN, MADV_DONTNEED), "madvise");
}

static void *change_here(void *mem)
{
	change_munmap_raw(mem);
	return NULL;
}

static void change_thread(struct memory *mem)
{
	pthread_t thread;

	want(!pthread_create(&thread, NULL, change_here, mem), "thread");
	pthread_join(thread, NULL);
}

static void ask_other(char what)
{
	want(write(other.ask[1], &what, 1) == 1, "the other process");
	want(read(other.answer[0], &what, 1) == 1, "the other process");
}

static void change_truncate(struct memory *mem)
{
	ask_other('t');
}

static void change_punch(struct memory *mem)
{
	ask_other('p');
}

static const struct change {
	const char *name;
	void (*make)(struct memory *mem);
	bool shared;
} changes[] = {
	{ "nothing", change_nothing, false },
	{ "munmap()", change_munmap, false },
	{ "munmap, raw system call", change_munmap_raw, false },
	{ "munmap, raw, by another thread", change_thread, false },
	{ "mmap MAP_FIXED over it, raw", change_mapped_over, false },
	{ "MADV_DONTNEED, raw system call", change_dontneed_raw, false },
	{ "ftruncate by another process", change_truncate, true },
	{ "PUNCH_HOLE by another process", change_punch, true },
};

#define CHANGES (sizeof(changes) / sizeof(*changes))

static void other_loop(void)
{
	char what;

	while (read(other.ask[0], &what, 1) == 1) {
		if (what == 't' &&
		    (ftruncate(other.fd, 0) || ftruncate(other.fd, LEN)))
			_exit(1);
		if (what == 'p' &&
		    fallocate(other.fd, FALLOC_FL_PUNCH_HOLE |
			      FALLOC_FL_KEEP_SIZE, 0, LEN))
			_exit(1);
		if (write(other.answer[1], &what, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/* Before UCX is there, so that the child has nothing of it. */
static void start_other(void)
{
	other.fd = memfd_create("ucx_cache", MFD_CLOEXEC);
	want(other.fd >= 0 && !ftruncate(other.fd, LEN), "memfd");
	want(!pipe(other.ask) && !pipe(other.answer), "pipe");
	other.pid = fork();
	want(other.pid >= 0, "fork");
	if (!other.pid) {
		close(other.ask[1]);
		other_loop();
	}
	close(other.ask[0]);
}

static void stop_other(void)
{
	int status;

	close(other.ask[1]);
	waitpid(other.pid, &status, 0);
}

/* --- UCX ------------------------------------------------------------------- */

/* A worker, connected to another one in this process that only answers. */
struct link {
	ucp_worker_h worker, peer;
	ucp_ep_h ep;
	char *remote;
	ucp_mem_h memh;
	ucp_rkey_h rkey;
};

static ucp_context_h context;

static void open_context(bool threads)
{
	ucp_params_t params = {
		.field_mask = UCP_PARAM_FIELD_FEATURES |
			      UCP_PARAM_FIELD_MT_WORKERS_SHARED,
		.features = UCP_FEATURE_RMA,
		.mt_workers_shared = threads,
	};

	ok(ucp_init(&params, NULL, &context), "ucp_init");
}

static ucp_worker_h open_worker(void)
{
	ucp_worker_params_t params = {
		.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
		.thread_mode = UCS_THREAD_MODE_SINGLE,
	};
	ucp_worker_h worker;

	ok(ucp_worker_create(context, &params, &worker), "ucp_worker_create");
	return worker;
}

static void open_link(struct link *link)
{
	ucp_mem_map_params_t map_params = {
		.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
			      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
		.length = LEN,
	};
	ucp_ep_params_t ep_params = {
		.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
	};
	ucp_address_t *address;
	size_t len;
	void *rkey;

	link->worker = open_worker();
	link->peer = open_worker();
	link->remote = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	want(link->remote != MAP_FAILED, "mmap");
	map_params.address = link->remote;
	ok(ucp_mem_map(context, &map_params, &link->memh), "ucp_mem_map");
	ok(ucp_worker_get_address(link->peer, &address, &len), "address");
	ep_params.address = address;
	ok(ucp_ep_create(link->worker, &ep_params, &link->ep), "ucp_ep_create");
	ucp_worker_release_address(link->peer, address);
	ok(ucp_rkey_pack(context, link->memh, &rkey, &len), "ucp_rkey_pack");
	ok(ucp_ep_rkey_unpack(link->ep, rkey, &link->rkey), "rkey_unpack");
	ucp_rkey_buffer_release(rkey);
}

static void finish(struct link *link, ucs_status_ptr_t request)
{
	ucs_status_t status = UCS_PTR_STATUS(request);

	if (UCS_PTR_IS_PTR(request)) {
		do {
			ucp_worker_progress(link->worker);
			ucp_worker_progress(link->peer);
			status = ucp_request_check_status(request);
		} while (status == UCS_INPROGRESS);
		ucp_request_free(request);
	}
	ok(status, "a request");
}

static void flush(struct link *link)
{
	ucp_request_param_t param = {};

	finish(link, ucp_ep_flush_nbx(link->ep, &param));
}

static void close_link(struct link *link)
{
	ucp_request_param_t param = {};

	flush(link);
	ucp_rkey_destroy(link->rkey);
	finish(link, ucp_ep_close_nbx(link->ep, &param));
	ok(ucp_mem_unmap(context, link->memh), "ucp_mem_unmap");
	ucp_worker_destroy(link->worker);
	ucp_worker_destroy(link->peer);
	munmap(link->remote, LEN);
}

/* --- the rounds ------------------------------------------------------------- */

static void fill(char *addr, uint64_t stamp)
{
	uint64_t *at = (uint64_t *)addr;
	size_t i;

	for (i = 0; i < LEN / sizeof(*at); i++)
		at[i] = stamp * 0x9e3779b97f4a7c15ull + i;
}

static bool filled(const char *addr, uint64_t stamp)
{
	const uint64_t *at = (const uint64_t *)addr;
	size_t i;

	for (i = 0; i < LEN / sizeof(*at); i++) {
		if (at[i] != stamp * 0x9e3779b97f4a7c15ull + i)
			return false;
	}
	return true;
}

/* Sends the memory, then receives into it; returns whether that went right. */
static bool exchange(struct link *link, char *addr, uint64_t stamp)
{
	ucp_request_param_t param = {};
	bool right;

	fill(addr, 2 * stamp);
	finish(link, ucp_put_nbx(link->ep, addr, LEN, (uintptr_t)link->remote,
				 link->rkey, &param));
	flush(link);
	right = filled(link->remote, 2 * stamp);
	fill(link->remote, 2 * stamp + 1);
	finish(link, ucp_get_nbx(link->ep, addr, LEN, (uintptr_t)link->remote,
				 link->rkey, &param));
	return filled(addr, 2 * stamp + 1) && right;
}

static int stale_rounds(struct link *link, const struct change *change,
			char *addr)
{
	struct memory mem = {
		.addr = addr,
		.fd = change->shared ? other.fd : -1,
	};
	int i, stale = 0;

	map(&mem);
	for (i = 0; i < rounds; i++) {
		if (i)
			change->make(&mem);
		stale += !exchange(link, addr, i + 1);
	}
	syscall(SYS_munmap, addr, LEN);
	return stale;
}

struct racer {
	pthread_t thread;
	char *addr;
	int stale;
};

static void *race(void *arg)
{
	struct racer *racer = arg;
	struct link link = {};
	size_t i;

	open_link(&link);
	for (i = 0; i < CHANGES; i++) {
		if (!changes[i].shared)
			racer->stale += stale_rounds(&link, &changes[i],
						     racer->addr +
						     i * 4 * LEN);
	}
	close_link(&link);
	return NULL;
}

static void run_threads(void)
{
	struct racer racers[THREADS] = {};
	int i, stale = 0;

	for (i = 0; i < THREADS; i++) {
		racers[i].addr = FIXED + i * 64 * LEN;
		want(!pthread_create(&racers[i].thread, NULL, race, &racers[i]),
		     "thread");
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(racers[i].thread, NULL);
		stale += racers[i].stale;
	}
	printf("%d threads: stale %d\n", THREADS, stale);
}

static void run_changes(void)
{
	struct link link = {};
	size_t i;

	open_link(&link);
	for (i = 0; i < CHANGES; i++)
		printf("%s: stale %d of %d\n", changes[i].name,
		       stale_rounds(&link, &changes[i],
				    FIXED + i * 4 * LEN), rounds);
	close_link(&link);
}

/* exit() and not _exit(): what is to run at the end runs in the child too. */
static void use_child(void)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	want(child >= 0, "fork");
	if (!child) {
		open_context(false);
		ucp_cleanup(context);
		exit(0);
	}
	want(waitpid(child, &status, 0) == child, "waitpid");
	want(!status, "the child");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	bool threads = !strcmp(how, "threads");

	if (argc > 2)
		rounds = atoi(argv[2]);
	start_other();
	if (!strcmp(how, "untold"))
		ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
	open_context(threads);
	if (!strcmp(how, "child")) {
		run_changes();
		use_child();
	}
	if (threads)
		run_threads();
	else
		run_changes();
	ucp_cleanup(context);
	stop_other();
	return 0;
}
