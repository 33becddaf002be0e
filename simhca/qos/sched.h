/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Scheduling elements: see sched.c.
 */
#ifndef SIMHCA_SCHED_H
#define SIMHCA_SCHED_H

#include "object/objects.h"

/* Number of this kind of general objects, which mlx5_ifc.h lacks */
#define GENERAL_SCHED 0x26

#define SCHED_SHARE_MAX 100u
#define SCHED_DEPTH 16u		/* elements from the root of a tree to a leaf */

struct sched;

uint8_t sched_create(struct cmd *cmd);
uint8_t sched_modify(struct cmd *cmd);
uint8_t sched_query(struct cmd *cmd);
uint8_t sched_destroy(struct cmd *cmd);
struct sched *sched_group(struct hca *hca, uint32_t id, uint16_t uid);
void sched_move(struct sched **at, struct sched *to);
uint64_t sched_wait(struct hca *hca, struct sched *group);
void sched_stop(struct sched *group);
void sched_charge(struct sched *group, uint64_t bytes);

#endif
