/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What verbs.c needs for endpoints of type IBV_QPT_XRC_SEND. */
#ifndef SELFTESTS_VERBS_XRC_H
#define SELFTESTS_VERBS_XRC_H

struct verbs_endpoint;

/*
 * Create the target QP and the SRQ of an endpoint. The first endpoint also
 * creates the XRC domain of the setup.
 */
int verbs_xrc_create(struct verbs_endpoint *endpoint);
int verbs_xrc_destroy(struct verbs_endpoint *endpoint);

#endif
