/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Layouts of work requests (WQE), completions (CQE) and the data of events.
 *
 * mlx5_ifc.h does not have these layouts. They are those of linux/mlx5/qp.h,
 * cq.h and device.h, which a user-space program cannot include. All fields are
 * big endian, and every size is asserted below.
 */
#ifndef SIMHCA_WQE_H
#define SIMHCA_WQE_H

#include <stdint.h>

#define WQE_BB 64u	/* the size of a send queue counts these blocks */
#define WQE_DS 16u	/* the size of a work request counts these units */
#define WQE_MAX 1024u	/* capability max_wqe_sz_sq */
#define RWQE_MAX 512u	/* capability max_wqe_sz_rq */
#define CQE_SIZE 64u

enum {
	WQE_OP_NOP = 0x00,
	WQE_OP_SEND_INVAL = 0x01,
	WQE_OP_RDMA_WRITE = 0x08,
	WQE_OP_RDMA_WRITE_IMM = 0x09,
	WQE_OP_SEND = 0x0a,
	WQE_OP_SEND_IMM = 0x0b,
	WQE_OP_LSO = 0x0e,
	WQE_OP_RDMA_READ = 0x10,
	WQE_OP_ATOMIC_CS = 0x11,
	WQE_OP_ATOMIC_FA = 0x12,
	WQE_OP_SET_PSV = 0x20,
	WQE_OP_UMR = 0x25,
	WQE_OP_TAG_MATCHING = 0x28,
	WQE_OP_MMO = 0x2f,
};

/* fm_ce_se of the control segment */
enum {
	WQE_SOLICITED = 1 << 1,
	WQE_CE_SHIFT = 2,
	WQE_CE_MASK = 3,
	WQE_CE_ALWAYS = 2,
	WQE_CE_ALWAYS_EQE = 3,
	WQE_FENCE_SHIFT = 5,
	WQE_FENCE_READS = 2,	/* waits for answers to reads and atomics */
	WQE_FENCE_ALL = 3,	/* waits for all answers */
	WQE_FENCE_UMR_READS = 4, /* for reads too */
};

struct wqe_ctrl {
	uint32_t opmod_idx_opcode;
	uint32_t qpn_ds;
	uint8_t signature;
	uint8_t stream[2];	/* DC; big endian */
	uint8_t fm_ce_se;
	uint32_t imm;		/* immediate, key to invalidate, or UMR key */
};

struct wqe_xrc {
	uint32_t srqn;
	uint8_t rsvd[12];
};

#define WQE_AV_EXTENDED 0x80000000u
#define WQE_AV_GRH 0x40000000u

/* A DC initiator's has the access key of the target in the first two fields. */
struct wqe_av {
	uint32_t qkey;
	uint32_t key_low;
	uint32_t dqpn;
	uint8_t stat_rate_sl;
	uint8_t fl_mlid;
	uint16_t rlid;
	/* The fields below are present only with WQE_AV_EXTENDED in dqpn. */
	uint8_t rsvd1[4];
	uint8_t rmac[6];
	uint8_t tclass;
	uint8_t hop_limit;
	uint32_t grh_gid_fl;
	uint8_t rgid[16];
};

/* cs_flags of the Ethernet segment */
enum { WQE_ETH_L3_SUM = 1 << 6, WQE_ETH_L4_SUM = 1 << 7 };

/* The inline bytes begin in this segment, and more segments may hold the rest. */
#define WQE_ETH_START 2u

struct wqe_eth {
	uint8_t swp_offset[4];
	uint8_t cs_flags;
	uint8_t swp_flags;
	uint16_t mss;
	uint32_t metadata;
	uint16_t inline_len;
	uint8_t start[WQE_ETH_START];
};

struct wqe_raddr {
	uint64_t addr;
	uint32_t rkey;
	uint32_t rsvd;
};

struct wqe_psv {
	uint32_t index;
	uint16_t syndrome;
	uint8_t rsvd[2];
	uint64_t value;
};

struct wqe_atomic {
	uint64_t swap_add;
	uint64_t compare;
};

#define WQE_INLINE 0x80000000u
#define WQE_INLINE_LEN 0x3ffu
#define DATA_SEG_MAX 0x80000000u	/* meaning of a byte count of 0 */
#define WQE_TERMINATE_LKEY 0x100u	/* ends a scatter list */

struct wqe_data {
	uint32_t byte_count;
	uint32_t lkey;
	uint64_t addr;
};

struct wqe_srq_next {
	uint8_t rsvd0[2];
	uint16_t next_wqe_index;
	uint8_t signature;
	uint8_t rsvd1[11];
};

/* flags of the UMR control segment */
enum {
	UMR_CHECK_QPN = 1 << 3,
	UMR_XLT_OFFSET = 1 << 4,
	UMR_MUST_BE_FREE = 1 << 5,
	UMR_MUST_NOT_BE_FREE = 1 << 6,
	UMR_INLINE = 1 << 7,
};

struct wqe_umr {
	uint8_t flags;
	uint8_t rsvd0[3];
	uint16_t xlt_octowords;
	uint16_t xlt_offset;	/* or octowords of a format of signatures */
	uint64_t mkey_mask;
	uint32_t xlt_offset_47_16;
	uint8_t rsvd1[28];
};

/* mkey_mask: fields of the mkey context that a UMR replaces */
#define UMR_MASK_LEN (1ull << 0)
#define UMR_MASK_PAGE_SIZE (1ull << 1)
#define UMR_MASK_START (1ull << 6)
#define UMR_MASK_PD (1ull << 7)
#define UMR_MASK_RINVAL (1ull << 8)
#define UMR_MASK_SIG_ERR (1ull << 9)
#define UMR_MASK_BSF (1ull << 12)
#define UMR_MASK_KEY (1ull << 13)
#define UMR_MASK_QPN (1ull << 14)
#define UMR_MASK_LR (1ull << 17)
#define UMR_MASK_LW (1ull << 18)
#define UMR_MASK_RR (1ull << 19)
#define UMR_MASK_RW (1ull << 20)
#define UMR_MASK_A (1ull << 21)
#define UMR_MASK_FENCE (1ull << 23)
#define UMR_MASK_FREE (1ull << 29)

struct wqe_mtt {
	uint64_t ptag;
};

#define MTT_READ 1ull
#define MTT_WRITE 2ull
#define MTT_FLAGS 0xfffull

struct wqe_klm {
	uint32_t bcount;
	uint32_t key;
	uint64_t va;
};

#define KLM_REPEAT_OP 0x400u	/* in place of a key: a repeat block follows */

struct wqe_repeat {
	uint32_t bcount_per_cycle;
	uint32_t op;
	uint32_t repeat_count;
	uint16_t rsvd;
	uint16_t num_entries;
};

struct wqe_repeat_entry {
	uint16_t stride;
	uint16_t bcount;
	uint32_t key;
	uint64_t va;
};

/* CQE opcodes: high nibble of op_own */
enum {
	CQE_REQ = 0,
	CQE_RESP_WRITE_IMM = 1,
	CQE_RESP_SEND = 2,
	CQE_RESP_SEND_IMM = 3,
	CQE_RESP_SEND_INV = 4,
	CQE_RESIZE = 5,
	CQE_NO_PACKET = 6,	/* tag matching: no message caused it */
	CQE_SIG_ERR = 12,
	CQE_REQ_ERR = 13,
	CQE_RESP_ERR = 14,
};

/* Syndromes of error completions; SYND_OK and SYND_PAGE are the model's own. */
enum syndrome {
	SYND_OK = 0x00,
	SYND_LOCAL_LENGTH = 0x01,
	SYND_LOCAL_QP_OP = 0x02,
	SYND_LOCAL_PROT = 0x04,
	SYND_FLUSH = 0x05,
	SYND_MW_BIND = 0x06,
	SYND_REMOTE_INVAL_REQ = 0x12,
	SYND_REMOTE_ACCESS = 0x13,
	SYND_REMOTE_OP = 0x14,
	SYND_RETRY_EXC = 0x15,
	SYND_RNR_RETRY_EXC = 0x16,
	SYND_PAGE = 0xff,	/* no completion yet: a page is not present */
};

#define CQE_GRH_IN_BUFFER (1u << 28)	/* in flags_rqpn */

struct cqe {
	uint8_t rsvd0[12];
	uint32_t rss_hash_result;
	uint8_t rss_hash_type;
	uint8_t ml_path;
	uint8_t rsvd1[2];
	uint16_t check_sum;	/* of a frame; in memory order */
	uint16_t slid;
	uint32_t flags_rqpn;
	uint8_t hds_ip_ext;
	uint8_t l4_l3_hdr_type;
	uint16_t vlan_info;
	uint32_t srqn_uidx;
	uint32_t imm;		/* immediate, invalidated key, or P_Key */
	uint8_t app;		/* data/tag_match.c */
	uint8_t app_op;
	uint16_t app_info;
	uint32_t byte_cnt;
	uint32_t timestamp_h;
	union {
		uint32_t timestamp_l;
		struct {	/* an error CQE */
			uint8_t rsvd4[2];
			uint8_t vendor_synd;
			uint8_t syndrome;
		};
	};
	uint32_t opcode_qpn;
	uint16_t wqe_counter;
	uint8_t signature;
	uint8_t op_own;
};

/* Event types: linux/mlx5/device.h, enum mlx5_event */
enum {
	EVENT_COMP = 0x00,
	EVENT_COMM_EST = 0x02,
	EVENT_SQ_DRAINED = 0x03,
	EVENT_CQ_ERROR = 0x04,
	EVENT_QP_CATAS = 0x05,
	EVENT_PAGE_FAULT = 0x0c,
	EVENT_QP_INVAL_REQ = 0x10,
	EVENT_QP_ACCESS = 0x11,
	EVENT_SRQ_CATAS = 0x12,
	EVENT_LAST_WQE = 0x13,
	EVENT_SRQ_LIMIT = 0x14,
	EVENT_DCT_DRAINED = 0x1c,
	EVENT_DCT_KEY = 0x1d,
};

#define EVENT_DATA 28u		/* bytes of data in an EQE */

struct event_comp {
	uint32_t rsvd[6];
	uint32_t cqn;
};

struct event_cq_err {
	uint32_t cqn;
	uint8_t rsvd0[7];
	uint8_t syndrome;
	uint8_t rsvd1[16];
};

#define EVENT_CQ_OVERRUN 1

struct event_qp_srq {
	uint32_t rsvd0[5];
	uint8_t type;		/* 0: QP, 1: RQ, 2: SQ */
	uint8_t rsvd1[3];
	uint32_t qp_srq_n;
};

#define FAULT_LAST 0x80	/* no other event has the same token */

/* A page fault: of a work request, of an RDMA operation, of memory */
struct event_fault {
	union {
		struct {
			uint32_t committed;
			uint16_t rsvd0;
			uint16_t index;
			uint16_t rsvd1;
			uint16_t packet;
			uint32_t token;
			uint32_t rsvd2[2];
			uint32_t type_wq;
		} wqe;
		struct __attribute__((packed)) {
			uint32_t committed;
			uint32_t rkey;
			uint16_t rsvd0;
			uint16_t packet;
			uint32_t op_len;
			uint64_t va;
			uint32_t type_token;
		} rdma;
		struct __attribute__((packed)) {
			uint8_t flags;
			uint8_t rsvd0;
			uint16_t pages_after;
			uint16_t pages_before;
			uint16_t token_high;
			uint32_t token_low;
			uint32_t bytes;
			uint32_t key;
			uint64_t va;
		} memory;
	};
};

_Static_assert(sizeof(struct wqe_ctrl) == 16, "wire format");
_Static_assert(sizeof(struct wqe_xrc) == 16, "wire format");
_Static_assert(sizeof(struct wqe_av) == 48, "wire format");
_Static_assert(sizeof(struct wqe_eth) == 16, "wire format");
_Static_assert(sizeof(struct wqe_raddr) == 16, "wire format");
_Static_assert(sizeof(struct wqe_psv) == 16, "wire format");
_Static_assert(sizeof(struct wqe_umr) == 48, "wire format");
_Static_assert(sizeof(struct wqe_repeat) == 16, "wire format");
_Static_assert(sizeof(struct wqe_repeat_entry) == 16, "wire format");
_Static_assert(sizeof(struct wqe_srq_next) == 16, "wire format");
_Static_assert(sizeof(struct cqe) == CQE_SIZE, "wire format");
_Static_assert(sizeof(struct event_comp) == EVENT_DATA, "wire format");
_Static_assert(sizeof(struct event_cq_err) == EVENT_DATA, "wire format");
_Static_assert(sizeof(struct event_qp_srq) == EVENT_DATA, "wire format");
_Static_assert(sizeof(struct event_fault) == EVENT_DATA, "wire format");

#endif
