/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of the device half tell each other; hca.h is what they tell
 * the data half.
 */
#ifndef SIMHCA_DEVICE_H
#define SIMHCA_DEVICE_H

#include "hca.h"
#include "base/log.h"

/* ---- the adapter as a whole (adapter.c) */
int hca_create(unsigned int index, const char *dir, struct hca **out);
void hca_destroy(struct hca *hca);
void hca_drop_state(struct hca *hca);
void hca_reset(struct hca *hca);
void hca_clear_counters(struct hca *hca);

/* ---- vfio_user.c */
int vfio_user_listen(const char *path);
int vfio_user_init(struct hca *hca, const char *path);
void vfio_user_fini(struct hca *hca);
void vfio_user_irq(struct hca *hca, unsigned int vector);

/* ---- pci.c */
#define PCI_MSIX_VECTORS 16u
#define PCI_CONFIG_BYTES 4096u
#define PCI_BAR_BYTES (32u << 20)

int pci_init(struct hca *hca);
void pci_fini(struct hca *hca);
void pci_reset(struct hca *hca);
int pci_config_read(struct hca *hca, uint64_t off, void *buf, size_t len);
int pci_config_write(struct hca *hca, uint64_t off, const void *buf,
		     size_t len);
int pci_bar_read(struct hca *hca, uint64_t off, void *buf, size_t len);
int pci_bar_write(struct hca *hca, uint64_t off, const void *buf, size_t len);

/* ---- iseg.c */
#define ISEG_BYTES 0x4000u

int iseg_init(struct hca *hca);
void iseg_fini(struct hca *hca);
void iseg_reset(struct hca *hca);
void iseg_read(struct hca *hca, uint32_t off, uint8_t *buf, size_t len);
void iseg_write(struct hca *hca, uint32_t off, const uint8_t *buf, size_t len);
void iseg_timeout(struct hca *hca, uint32_t ms);
void iseg_fatal(struct hca *hca, uint8_t syndrome);
bool iseg_is_fatal(struct hca *hca);

/* ---- pages.c */
int pages_init(struct hca *hca);
void pages_fini(struct hca *hca);
void pages_reset(struct hca *hca);
size_t pages_held(struct hca *hca);

/* ---- caps.c */
int caps_init(struct hca *hca);
void caps_fini(struct hca *hca);
void caps_reset(struct hca *hca);

/* ---- uar.c, uar_bf.c, uctx.c */
#define UAR_FIRST 16u
#define UAR_LIMIT (PCI_BAR_BYTES / SIM_PAGE)

int uars_init(struct hca *hca);
void uars_fini(struct hca *hca);
void uars_reset(struct hca *hca);
void uars_clear_counters(struct hca *hca);
void uars_dump(struct hca *hca, struct json_object *o,
	       struct json_object *alive);
void uar_write(struct hca *hca, uint32_t index, uint32_t off,
	       const uint8_t *buf, size_t len);

int uctxs_init(struct hca *hca);
void uctxs_fini(struct hca *hca);
void uctxs_reset(struct hca *hca);
unsigned int uctxs_alive(struct hca *hca);
extern const struct cmd_def uctx_cmds[];

/* ---- eq.c */
int eqs_init(struct hca *hca);
void eqs_fini(struct hca *hca);
void eqs_reset(struct hca *hca);
unsigned int eqs_alive(struct hca *hca);
bool eq_for_event(struct hca *hca, uint8_t type, uint32_t *eqn);
enum ring_result eq_ring(struct hca *hca, uint32_t uar, uint32_t val, bool arm);

/* ---- port.c, mad.c */
int port_init(struct hca *hca);
void port_fini(struct hca *hca);
void port_reset(struct hca *hca);
int port_set(struct hca *hca, bool up);
void port_dump(struct hca *hca, struct json_object *o);

/* ---- fault.c */
/**
 * struct fault_verdict - what an injected fault does to a command
 * @never: the command is taken and never answered
 * @fail: it is not run, and answers @status
 * @run: it is run all the same
 * @delay_ns: it runs so much later
 */
struct fault_verdict {
	bool never;
	bool fail;
	bool run;
	uint8_t status;
	uint64_t delay_ns;
};

int faults_init(struct hca *hca);
void faults_fini(struct hca *hca);
void faults_tell(struct hca *hca, struct json_object *waiting,
		 struct json_object *hits);
void faults_clear(struct hca *hca);
struct fault_verdict faults_command(struct hca *hca, uint16_t opcode);
int fault_inject(struct hca *hca, struct json_object *req, const char **why);

/* ---- control.c */
int control_init(const char *path);
void control_fini(void);

#endif
