/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Passes file descriptors between processes over a Unix socket. */
#ifndef SELFTESTS_FDPASS_H
#define SELFTESTS_FDPASS_H

/* Return: 0 or -errno. */
int fdpass_send(int sock, int fd);

/* Return: the descriptor or -errno. */
int fdpass_receive(int sock);

#endif
