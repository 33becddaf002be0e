/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What UCX's active messages and puts cost, for the table of am_logp. */
#ifndef SELFTESTS_LOGP_UCX_H
#define SELFTESTS_LOGP_UCX_H

/* Adds its rows. 0 or -errno; no verbs object is open when it is called. */
int logp_ucx(void);

#endif
