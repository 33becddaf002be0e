/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A VMM and a driver in one, for tests of simhca without a guest. It starts the
 * program, connects to its vfio-user socket, shares a memfd as guest memory and
 * uses the command interface.
 *
 * Invariants
 * - Guest memory is one range from address 0. vmm_page() allocates its pages,
 *   which are never freed.
 * - Calls return 0 or -errno; the tests assert on the result.
 */
#ifndef SIMHCA_VMM_H
#define SIMHCA_VMM_H

#include <json-c/json.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/ifc.h"

#define VMM_PAGE 4096u
#define VMM_RAM (8u << 20)
#define VMM_VECTORS 16u
#define VMM_HCAS 2u
#define UAR_BYTES 4096u

struct vmm {
	pid_t pid;
	char dir[64];
	int fd;		/* vfio-user, of HCA 0 */
	int ram_fd;
	uint8_t *ram;
	uint64_t next;
	uint64_t cmdq;
	uint8_t token;
	uint16_t id;
	int irqs[VMM_VECTORS];
};

/* What a driver has after vmm_probe(). */
struct vmm_driver {
	uint32_t uar;
	uint32_t eqn;
	uint64_t eq;
	unsigned int log_eq;
	uint32_t pd;
};

int vmm_start(struct vmm *vmm);
int vmm_connect(struct vmm *vmm);
int vmm_stop(struct vmm *vmm);

int vmm_recv(struct vmm *vmm, uint16_t *command, void *body, size_t len,
	     uint32_t *error);
int vmm_call(struct vmm *vmm, uint16_t command, const void *body, size_t len,
	     const int *fds, unsigned int nfds, void *reply, size_t room);
int vmm_hello(struct vmm *vmm);
int vmm_map(struct vmm *vmm);
int vmm_irqs(struct vmm *vmm);
bool vmm_gone(struct vmm *vmm);

/* Regions */
int vmm_read(struct vmm *vmm, uint32_t region, uint64_t off, void *buf,
	     uint32_t len);
int vmm_write(struct vmm *vmm, uint32_t region, uint64_t off, const void *buf,
	      uint32_t len);
int vmm_write_be32(struct vmm *vmm, uint64_t off, uint32_t val);
uint32_t vmm_read_be32(struct vmm *vmm, uint64_t off);

/* The command interface */
uint64_t vmm_page(struct vmm *vmm, unsigned int pages);
int vmm_post(struct vmm *vmm, unsigned int index, const void *in, size_t in_len,
	     size_t out_len);
/* Wait until the adapter has given the entry back. False if it does not. */
bool vmm_answered(struct vmm *vmm, unsigned int index);
int vmm_cmd(struct vmm *vmm, const void *in, size_t in_len, void *out,
	    size_t out_len);
int vmm_enable(struct vmm *vmm);
int vmm_probe(struct vmm *vmm, struct vmm_driver *drv);
int vmm_alloc_uar(struct vmm *vmm, uint16_t uid, uint32_t *uar);
int vmm_create_eq(struct vmm *vmm, uint32_t uar, unsigned int log_size,
		  uint64_t mask, uint64_t pa, uint32_t *eqn);
int vmm_ready_qp(struct vmm *vmm, const struct vmm_driver *drv, uint32_t uar,
		 uint32_t *qpn);

/* A store into a UAR page, posted as the VMM does it. */
int vmm_uar(struct vmm *vmm, uint32_t uar, uint32_t off, const void *buf,
	    uint32_t len);
/* The first 8 bytes of a control segment for @qpn with @ds 16-byte parts. */
uint64_t vmm_ctrl(uint32_t qpn, uint16_t index, unsigned int ds);

/* Ask the control socket. Return the answer, which the caller puts, or NULL. */
struct json_object *vmm_control(struct vmm *vmm, const char *request);
/* Counter @name of HCA 0 in section "errors" or "alive"; -1 if not present. */
int64_t vmm_count(struct vmm *vmm, const char *section, const char *name);
/* Wait until the counter is @want, or for a long time. Return the counter. */
int64_t vmm_count_until(struct vmm *vmm, const char *section, const char *name,
			int64_t want);
/* Field @field of slot @slot of page @uar; -1 if not present. */
int64_t vmm_slot(struct vmm *vmm, uint32_t uar, unsigned int slot,
		 const char *field);

#endif
