/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What registrations with a shared receive QP cost the kernel. */
#ifndef SELFTESTS_XRC_BYTES_H
#define SELFTESTS_XRC_BYTES_H

/* Kernel memory of one more registration, over many; -1 where it failed. */
double xrc_registration_bytes(void);

#endif
