// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ucx_hooks_off.so - preloaded into a program over UCX, turns UCX's hooks off: it says
 * to UCX that events of memory come from outside, and none come
 */
#include <dlfcn.h>

#include <ucm/api/ucm.h>

static void __attribute__((constructor)) turn_off(void)
{
	void *ucm = dlopen("libucm.so.0", RTLD_NOW | RTLD_GLOBAL);
	__typeof__(&ucm_set_external_event) external = NULL;

	if (ucm)
		external = dlsym(ucm, "ucm_set_external_event");
	if (external)
		external(UCM_EVENT_VM_UNMAPPED);
}
