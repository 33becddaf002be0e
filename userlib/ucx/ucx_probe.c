// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A try whether all that this library relies on holds for a UCX context.
 *
 * A page is registered with the context: at first, then until a lookup of UCX's protocol
 * library has come to ucx_lookup.c, and after other memory was mapped there. The first and
 * the last time ucx_regs.c has to see a registration, with a watch. That fails where UCX
 * registers by another call, where its lookup is another function, and where a library is in
 * front of this one or UCX was opened with RTLD_DEEPBIND, so that UCX's calls do not come
 * here.
 *
 * UCX looks nothing up while an event waits that it was told of: it takes its slow way. Below
 * Open MPI, whose hooks tell of each munmap(), that is so at the first registration.
 *
 * The page is unmapped by system calls, which no hook sees.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ucp/api/ucp.h>

#include "ucx.h"

#define PROBE_TRIES 8

/**
 * struct probe - the try
 * @map: ucp_mem_map()
 * @unmap: ucp_mem_unmap()
 */
struct probe {
	__typeof__(&ucp_mem_map) map;
	__typeof__(&ucp_mem_unmap) unmap;
	ucp_context_h context;
	void *page;
	size_t size;
};

static bool probe_remap(struct probe *probe, int flags)
{
	long addr = syscall(SYS_mmap, probe->page, probe->size,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0ul);

	if (addr == -1)
		return false;
	probe->page = (void *)addr;
	*(volatile char *)probe->page = 1;
	return true;
}

/* What came here while the page was registered with the context. */
static bool probe_register(const struct probe *probe, struct ucx_noted *noted)
{
	ucp_mem_map_params_t params = {
		.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
			      UCP_MEM_MAP_PARAM_FIELD_LENGTH |
			      UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
		.address = probe->page,
		.length = probe->size,
		.memory_type = UCS_MEMORY_TYPE_HOST,
	};
	ucp_mem_h memh;

	ucx_noted = (struct ucx_noted){};
	if (probe->map(probe->context, &params, &memh) != UCS_OK)
		return false;
	probe->unmap(probe->context, memh);
	*noted = ucx_noted;
	return true;
}

/* Does a lookup come here? Returns what is wrong, or NULL. */
static const char *probe_lookups(const struct probe *probe)
{
	struct ucx_noted noted;
	int i;

	for (i = 0; i < PROBE_TRIES; i++) {
		ucx_events_forget();
		if (!probe_register(probe, &noted))
			return "UCX registers no memory";
		if (noted.lookups)
			return NULL;
	}
	return "UCX's lookups do not come to libmlx5ep-ucx";
}

/* Returns what is wrong, or NULL. */
static const char *probe_page(struct probe *probe)
{
	struct ucx_noted first, other;
	const char *wrong;

	ucx_events_forget();
	if (!probe_register(probe, &first))
		return "UCX registers no memory";
	if (first.unwatched)
		return "a registration of UCX has no watch";
	if (!first.watched && !first.on_demand)
		return "UCX registers memory without ibv_reg_mr()";
	wrong = probe_lookups(probe);
	if (wrong)
		return wrong;
	/* The adapter follows the memory by itself. */
	if (!first.watched)
		return NULL;
	if (!probe_remap(probe, MAP_FIXED) || !probe_register(probe, &other))
		return "UCX registers no memory";
	if (!other.watched)
		return "UCX has kept a registration of memory that was gone";
	return NULL;
}

/**
 * ucx_probe() - look whether UCX drops the registration of memory that is gone
 * @context: that UCX has just made
 * @caller: an address in what made it
 *
 * Return: what is wrong, or NULL.
 */
const char *ucx_probe(ucp_context_h context, const void *caller)
{
	struct probe probe = {
		.map = ucx_real("ucp_mem_map", caller),
		.unmap = ucx_real("ucp_mem_unmap", caller),
		.context = context,
		.size = sysconf(_SC_PAGESIZE),
	};
	const char *wrong;

	if (!probe_remap(&probe, 0))
		return "there is no memory";
	wrong = probe_page(&probe);
	syscall(SYS_munmap, probe.page, probe.size);
	/* What is kept of the page goes now. */
	ucx_events_tell();
	return wrong;
}

/* Does the text name a device of verbs? */
static bool probe_names_device(const char *text)
{
	DIR *devices = opendir("/sys/class/infiniband");
	const struct dirent *entry;
	bool names = false;

	if (!devices)
		return false;
	while (!names && (entry = readdir(devices)))
		names = *entry->d_name != '.' && strstr(text, entry->d_name);
	closedir(devices);
	return names;
}

/**
 * ucx_probe_has_adapter() - does a context of UCX use an adapter?
 * @caller: an address in what made it
 */
bool ucx_probe_has_adapter(ucp_context_h context, const void *caller)
{
	__typeof__(&ucp_context_print_info) print =
		ucx_real("ucp_context_print_info", caller);
	char *text = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&text, &len);
	bool has;

	if (!file)
		return true;
	print(context, file);
	fclose(file);
	has = probe_names_device(text);
	free(text);
	return has;
}
