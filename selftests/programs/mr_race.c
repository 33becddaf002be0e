// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mr_race [-w] [-o] [-p] [-n ROUNDS] [-s SLOTS] - registrations against remapping
 *
 * Per slot, an address, one thread maps, and with that unmaps what was there,
 * with other content each time: a round. Another registers the slot with
 * mlx5ep_reg_mr(), keeps the registration for as long as it is valid, and compares
 * what the HCA reads through it with what the process sees. The mapper waits for
 * that comparison in one half of the rounds; in the other it only waits until the
 * user begins to register, and remaps under its hands. Only the comparison holds
 * it off, so that there is something definite to compare. Meanwhile another
 * thread adds and removes watches all over the same addresses, and one reads
 * events.
 *
 * -w: the words alone. A round watches the slot, maps it anew, or every eighth
 * time touches and unmaps it, and looks whether the watch still says valid; nothing
 * is registered. It costs little, so that there can be very many.
 *
 * -o: notification off: every registration is taken as valid.
 *
 * -p: a line of progress on stderr after each twentieth.
 *
 * Prints "rounds=N hits=N registrations=N stale=N"; the rounds are ROUNDS or so many
 * more that each slot has as many; a hit is a registration that was said to be
 * valid and compared, a stale one was of other memory than the process had. Exit
 * status 1 only where the run itself failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "watch/watched.h"

#define PAGE	4096ul
#define LEN	(2 * PAGE)
#define MAX_SLOTS 8
#define DROP_BATCH 64	/* watches that words_user() drops at once */

struct slot {
	struct watched_setup setup;
	void *addr;
	pthread_mutex_t lock;	/* what follows; held, content stands still */
	pthread_cond_t moved;	/* one of the next four has changed */
	unsigned long generation;	/* of what is mapped */
	unsigned long registering;	/* the one seen before registering */
	unsigned long used;	/* the last one that was compared */
	bool done;		/* no more rounds */
	pthread_t user, mapper;
	unsigned long hits, registrations, stale;
};

static struct slot slots[MAX_SLOTS];
static struct mlx5ep_notifier *notifier;
static unsigned long rounds = 20000, per_slot;
static unsigned int nr_slots = 2;
static bool words, off, show_progress, stop;

static void mr_race_fail(const char *what, int ret)
{
	fprintf(stderr, "mr_race: %s: %s\n", what, strerror(-ret));
	exit(1);
}

/* After @done rounds of @slot; that of the first one stands for all. */
static void progress(const struct slot *slot, unsigned long done)
{
	if (!show_progress || slot != slots || per_slot < 20 ||
	    done % (per_slot / 20))
		return;
	fprintf(stderr, "# progress: %lu of %lu rounds\n", done * nr_slots,
		per_slot * nr_slots);
}

static void map_slot(struct slot *slot)
{
	if (mmap(slot->addr, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		 MAP_ANONYMOUS | MAP_FIXED, -1, 0) != slot->addr)
		mr_race_fail("mmap", -errno);
}

static void *mapper(void *arg)
{
	struct slot *slot = arg;
	unsigned long i;

	pthread_mutex_lock(&slot->lock);
	for (i = 1; i <= per_slot; i++) {
		map_slot(slot);
		watched_fill(slot->addr, LEN, i);
		slot->generation = i;
		pthread_cond_broadcast(&slot->moved);
		while (slot->used < i &&
		       (off || i % 2 || slot->registering < i))
			pthread_cond_wait(&slot->moved, &slot->lock);
		progress(slot, i);
	}
	slot->done = true;
	pthread_cond_broadcast(&slot->moved);
	pthread_mutex_unlock(&slot->lock);
	return NULL;
}

/* A page of the slot, another one each time. */
static bool mr_race_differs(struct slot *slot, const struct ibv_mr *mr)
{
	void *addr = slot->addr + slot->hits % (LEN / PAGE) * PAGE;
	uint8_t hca[WATCHED_SAMPLE];
	int ret;

	ret = watched_hca_read(&slot->setup, mr, addr, hca);
	if (ret)
		mr_race_fail("HCA read", ret);
	return memcmp(hca, addr, sizeof(hca));
}

static void register_slot(struct slot *slot, struct mlx5ep_mr *mr)
{
	int ret;

	ret = mlx5ep_reg_mr(slot->setup.notifier, slot->setup.verbs.pd,
			    slot->addr, LEN, IBV_ACCESS_LOCAL_WRITE, 0, mr);
	if (ret)
		mr_race_fail("mlx5ep_reg_mr", ret);
	slot->registrations++;
}

/* Called with the lock held. Drops the lock to register. */
static void *data_user(void *arg)
{
	struct slot *slot = arg;
	struct mlx5ep_mr mr;
	bool have = false;

	pthread_mutex_lock(&slot->lock);
	while (!slot->done) {
		if (!have || (!off && !mlx5ep_mr_valid(&mr))) {
			slot->registering = slot->generation;
			pthread_cond_broadcast(&slot->moved);
			pthread_mutex_unlock(&slot->lock);
			if (have && mlx5ep_mr_check(&mr)) {
				mlx5ep_dereg_mr(&mr);
				have = false;
			}
			if (!have)
				register_slot(slot, &mr);
			have = true;
			pthread_mutex_lock(&slot->lock);
		}
		if (off || mlx5ep_mr_valid(&mr)) {
			slot->stale += mr_race_differs(slot, mr.mr);
			slot->hits++;
			slot->used = slot->generation;
			pthread_cond_broadcast(&slot->moved);
		}
		/* There is nothing new to compare before the next round. */
		while (slot->used == slot->generation && !slot->done)
			pthread_cond_wait(&slot->moved, &slot->lock);
	}
	pthread_mutex_unlock(&slot->lock);
	if (have)
		mlx5ep_dereg_mr(&mr);
	return NULL;
}

static void unmap_slot(struct slot *slot, bool wholly)
{
	if (wholly) {
		*(volatile char *)slot->addr = 1;
		if (munmap(slot->addr, LEN))
			mr_race_fail("munmap", -errno);
	} else {
		map_slot(slot);
	}
}

static void *words_user(void *arg)
{
	struct mlx5ep_watch watches[DROP_BATCH];
	struct slot *slot = arg;
	unsigned int held = 0;
	unsigned long i;
	int ret;

	for (i = 0; i < per_slot; i++) {
		struct mlx5ep_watch *watch = &watches[held++];

		ret = mlx5ep_watch_add(notifier, slot->addr, LEN, i, watch);
		if (ret)
			mr_race_fail("mlx5ep_watch_add", ret);
		if (!mlx5ep_watch_valid(watch))
			mr_race_fail("a new watch is not valid", -EPROTO);
		unmap_slot(slot, i % 8 == 7);
		slot->registrations++;
		if (off || mlx5ep_watch_valid(watch)) {
			slot->hits++;
			slot->stale++;
		}
		if (i % 8 == 7)
			map_slot(slot);
		if (held == DROP_BATCH || i + 1 == per_slot) {
			if (mlx5ep_watch_del_batch(watches, held))
				mr_race_fail("mlx5ep_watch_del_batch", -errno);
			held = 0;
		}
		progress(slot, i + 1);
	}
	return NULL;
}

/* Adds and removes watches over all slots until the end. */
static void *churner(void *arg)
{
	struct mlx5_ep_watch_add adds[16] = {};
	struct mlx5ep_watch watches[16];
	unsigned int i, turn = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		for (i = 0; i < 16; i++) {
			adds[i].addr = (uintptr_t)slots[turn++ %
							nr_slots].addr;
			adds[i].length = (turn % 4 + 1) * PAGE;
		}
		if (mlx5ep_watch_add_batch(notifier, adds, watches, 16) ||
		    mlx5ep_watch_del_batch(watches, 16))
			mr_race_fail("churn", -errno);
		usleep(1000);
	}
	return NULL;
}

/*
 * The read does not block, because waking this thread each round would be most
 * of the work.
 */
static void *reader(void *arg)
{
	struct mlx5_ep_event events[16];
	ssize_t got;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		got = mlx5ep_notifier_read(notifier, events, 16);
		if (got < 0 && got != -EAGAIN)
			mr_race_fail("read", got);
		if (got < 16)
			usleep(1000);
	}
	return NULL;
}

static void setup(void)
{
	unsigned int i;
	int ret;

	for (i = 0; i < nr_slots; i++) {
		ret = watched_open(&slots[i].setup, 4096);
		if (ret)
			mr_race_fail("open", ret);
		/* All threads use one notifier, so that they race. */
		if (i) {
			mlx5ep_notifier_destroy(slots[i].setup.notifier);
			slots[i].setup.notifier = notifier;
		}
		notifier = slots[0].setup.notifier;
		if (fcntl(mlx5ep_notifier_fd(notifier), F_SETFL, O_NONBLOCK))
			mr_race_fail("fcntl", -errno);
		slots[i].addr = (void *)(0x600000000000ul + i * 16 * LEN);
		pthread_mutex_init(&slots[i].lock, NULL);
		pthread_cond_init(&slots[i].moved, NULL);
		map_slot(&slots[i]);
		watched_fill(slots[i].addr, LEN, 0);
	}
}

int main(int argc, char **argv)
{
	unsigned long hits = 0, registrations = 0, stale = 0;
	pthread_t churn, read;
	unsigned int i;
	int c;

	while ((c = getopt(argc, argv, "wopn:s:")) != -1) {
		switch (c) {
		case 'w':
			words = true;
			break;
		case 'o':
			off = true;
			break;
		case 'p':
			show_progress = true;
			break;
		case 'n':
			rounds = strtoul(optarg, NULL, 0);
			break;
		case 's':
			nr_slots = strtoul(optarg, NULL, 0);
			break;
		default:
			return 2;
		}
	}
	if (!nr_slots || nr_slots > MAX_SLOTS)
		return 2;
	per_slot = (rounds + nr_slots - 1) / nr_slots;
	setup();

	pthread_create(&churn, NULL, churner, NULL);
	pthread_create(&read, NULL, reader, NULL);
	for (i = 0; i < nr_slots; i++) {
		if (!words)
			pthread_create(&slots[i].mapper, NULL, mapper,
				       &slots[i]);
		pthread_create(&slots[i].user, NULL,
			       words ? words_user : data_user, &slots[i]);
	}
	for (i = 0; i < nr_slots; i++) {
		pthread_join(slots[i].user, NULL);
		hits += slots[i].hits;
		registrations += slots[i].registrations;
		stale += slots[i].stale;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	printf("rounds=%lu hits=%lu registrations=%lu stale=%lu\n",
	       per_slot * nr_slots, hits, registrations, stale);
	fflush(stdout);
	_exit(0);
}
