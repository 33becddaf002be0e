/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the active messages of UCX cost, for the table of am_logp. */
#ifndef SELFTESTS_LOGP_UCX_H
#define SELFTESTS_LOGP_UCX_H

/* Adds its rows. 0 or -errno. */
int logp_ucx(void);

#endif
