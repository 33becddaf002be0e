/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Parameters of congestion control: see cong.c.
 */
#ifndef SIMHCA_CONG_H
#define SIMHCA_CONG_H

#include "base/ifc.h"
#include "hca.h"

enum cong_protocol {
	CONG_RP = 1,	/* reaction point: who sends and is told to slow down */
	CONG_NP = 2,	/* notification point: who receives and tells so */
	CONG_GENERAL = 3,
	CONG_PROTOCOLS,
};

#define CONG_PRIORITIES 8u
#define CONG_BYTES IFC_SZ(cong_control_r_roce_ecn_rp)

/**
 * struct cong - what a driver has set
 * @params: of each protocol, in the layout of the commands
 * @enable: of each protocol and priority, in the layout of MODIFY_CONG_STATUS
 */
struct cong {
	uint8_t params[CONG_PROTOCOLS][CONG_BYTES];
	uint8_t enable[CONG_PROTOCOLS][CONG_PRIORITIES];
};

void cong_reset(struct cong *cong);

#endif
