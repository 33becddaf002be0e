/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Coccinelle reads this file, and no compiler does: macros of the kernel at which spatch
 * 1.3.0 passes over a function without a word. coccicheck says which functions these are.
 */
#define UVERBS_HANDLER(id) handler_of_##id
#define __uninitialized
