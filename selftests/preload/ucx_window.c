// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ucx_window.so - preloaded into a program over UCX, calls a function of the
 * program after each lookup of a registration and before the registration is used
 *
 * With libmlx5ep-ucx this library is behind it in LD_PRELOAD. Then what is called
 * happens after libmlx5ep-ucx has compared its word and after UCX's search.
 */
#include <dlfcn.h>

#include <ucs/datastruct/pgtable.h>

/* The program sets it. */
void (*ucx_window)(ucs_pgt_addr_t address);

ucs_pgt_region_t *ucs_pgtable_lookup(const ucs_pgtable_t *pgtable,
				     ucs_pgt_addr_t address)
{
	static __typeof__(&ucs_pgtable_lookup) real;
	ucs_pgt_region_t *region;

	if (!real)
		real = dlsym(RTLD_NEXT, "ucs_pgtable_lookup");
	region = real(pgtable, address);
	if (ucx_window && region)
		ucx_window(address);
	return region;
}
