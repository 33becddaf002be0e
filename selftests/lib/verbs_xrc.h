/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What verbs.c needs for endpoints of type IBV_QPT_XRC_SEND. */
#ifndef SELFTESTS_VERBS_XRC_H
#define SELFTESTS_VERBS_XRC_H

struct verbs_endpoint;

/* Make an endpoint's target QP and SRQ, and the setup's domain with the first. */
int verbs_xrc_create(struct verbs_endpoint *endpoint);
int verbs_xrc_destroy(struct verbs_endpoint *endpoint);

#endif
