/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What raw verbs cost, for the table of am_logp. */
#ifndef SELFTESTS_LOGP_RAW_H
#define SELFTESTS_LOGP_RAW_H

/* Adds its rows. 0 or -errno. */
int logp_raw(void);

#endif
