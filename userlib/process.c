// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which process an object belongs to.
 *
 * A forked child has copies of the library's objects, and descriptors of the same open
 * files: a call of verbs on them would act on what the parent has. So an object has the
 * number of the memory that it was made in. A page that the kernel empties in a child
 * has the number of the memory that a thread runs in.
 *
 * A child of vfork() or of clone(CLONE_VM) shares the memory, and so the number. It has
 * descriptors of its own, so that what it opens would go with it, and what it closes
 * would stay open in the parent. Only its process id tells it apart.
 *
 * Never: a number that two memories have of which one was copied from the other.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process.h"

/* Before the page is there, every object is of this process. */
static struct process_page no_page;
struct process_page *mlx5ep_process_page = &no_page;

/* Not emptied in a child, so that the child's number is a higher one. */
static uint64_t last_memory;

static pthread_mutex_t maps_lock = PTHREAD_MUTEX_INITIALIZER;
static struct process_map *maps;

/**
 * mlx5ep_process_memory() - the number of this memory, for a new object
 *
 * Return: the number. 0 if the system has no memory for the page.
 */
uint64_t mlx5ep_process_memory(void)
{
	struct process_page *page = mlx5ep_process_page;
	uint64_t none = 0, next;

	if (page == &no_page || page->memory)
		return page->memory;
	/* The number is taken first: a child that is forked now takes another. */
	next = __atomic_add_fetch(&last_memory, 1, __ATOMIC_SEQ_CST);
	page->pid = getpid();
	__atomic_compare_exchange_n(&page->memory, &none, next, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return page->memory;
}

/**
 * mlx5ep_process_shared() - is this a child that shares the memory of its parent?
 */
bool mlx5ep_process_shared(void)
{
	return mlx5ep_process_memory() && mlx5ep_process_page->pid != getpid();
}

/**
 * mlx5ep_process_may_change() - may this process change an object?
 * @memory: the number that the object was made with
 *
 * Return: 0. -EXDEV in a forked child, and in one that shares the memory.
 */
int mlx5ep_process_may_change(uint64_t memory)
{
	return process_same(memory) && !mlx5ep_process_shared() ? 0 : -EXDEV;
}

/**
 * mlx5ep_process_map_add() - fork() leaves zeroes in place of a mapping
 */
void mlx5ep_process_map_add(struct process_map *map)
{
	pthread_mutex_lock(&maps_lock);
	map->next = maps;
	/* A child that is forked at any moment has a list that is whole. */
	__atomic_store_n(&maps, map, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&maps_lock);
}

/**
 * mlx5ep_process_map_remove() - undo mlx5ep_process_map_add(), before munmap()
 */
void mlx5ep_process_map_remove(struct process_map *map)
{
	struct process_map **link;

	pthread_mutex_lock(&maps_lock);
	for (link = &maps; *link && *link != map; link = &(*link)->next)
		;
	if (*link)
		__atomic_store_n(link, map->next, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&maps_lock);
}

/* In a child of fork(). What another handler has mapped there already stays. */
static void process_forked(void)
{
	struct process_map *map;
	void *start;

	maps_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	for (map = maps; map; map = map->next) {
		start = mmap(map->start, map->len, PROT_READ, MAP_PRIVATE |
			     MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (start != MAP_FAILED)
			map->blank = true;
	}
	mlx5ep_process_memory();
}

static __attribute__((constructor)) void process_load(void)
{
	size_t size = sysconf(_SC_PAGESIZE);
	void *page;

	page = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return;
	if (madvise(page, size, MADV_WIPEONFORK)) {
		munmap(page, size);
		return;
	}
	mlx5ep_process_page = page;
	mlx5ep_process_memory();
	pthread_atfork(NULL, NULL, process_forked);
}
