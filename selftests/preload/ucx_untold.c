// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ucx_untold.so - preloaded into a program over UCX, says to UCX that somebody tells
 * it what happens to memory; nobody does
 */
#include <dlfcn.h>

#include <ucm/api/ucm.h>

static void __attribute__((constructor)) say(void)
{
	void *ucm = dlopen("libucm.so.0", RTLD_NOW | RTLD_GLOBAL);
	__typeof__(&ucm_set_external_event) external = NULL;

	if (ucm)
		external = dlsym(ucm, "ucm_set_external_event");
	if (external)
		external(UCM_EVENT_VM_UNMAPPED);
}
