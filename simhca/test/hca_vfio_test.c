// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * runs on: host, tier: full, timeout: 180
 *
 * simhca as a vfio-user server: valid and invalid messages of a VMM.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus/vfio_user.h"
#include "test/unit/vmm.h"

#include "kselftest_harness.h"

#define BAR VFIO_PCI_BAR0_REGION_INDEX
#define CONFIG VFIO_PCI_CONFIG_REGION_INDEX

FIXTURE(vfio)
{
	struct vmm vmm;
};

FIXTURE_SETUP(vfio)
{
	ASSERT_EQ(0, vmm_start(&self->vmm));
	ASSERT_EQ(0, vmm_connect(&self->vmm));
}

FIXTURE_TEARDOWN(vfio)
{
	EXPECT_EQ(0, vmm_stop(&self->vmm));
}

/* How many descriptors simhca has open. */
static int open_fds(struct vmm *vmm)
{
	char path[64];
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", vmm->pid);
	dir = opendir(path);
	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static int dma_map(struct vmm *vmm, uint64_t iova, uint64_t size,
		   uint64_t offset, int fd)
{
	struct vfio_user_dma_map map = { .argsz = sizeof(map),
					 .flags = VFIO_USER_DMA_READ_OK,
					 .offset = offset,
					 .iova = iova,
					 .size = size };
	int ret = vmm_call(vmm, VFIO_USER_DMA_MAP, &map, sizeof(map), &fd,
			   fd >= 0, NULL, 0);

	return ret < 0 ? ret : 0;
}

static int dma_unmap(struct vmm *vmm, uint64_t iova, uint64_t size)
{
	struct vfio_user_dma_unmap unmap = { .argsz = sizeof(unmap),
					     .iova = iova,
					     .size = size };
	int ret = vmm_call(vmm, VFIO_USER_DMA_UNMAP, &unmap, sizeof(unmap),
			   NULL, 0, NULL, 0);

	return ret < 0 ? ret : 0;
}

TEST_F(vfio, version_comes_first)
{
	uint32_t info[4] = { sizeof(info) };

	EXPECT_EQ(-EPROTO,
		  vmm_call(&self->vmm, VFIO_USER_DEVICE_GET_INFO, info,
			   sizeof(info), NULL, 0, NULL, 0));
	EXPECT_EQ(0, vmm_hello(&self->vmm));
	EXPECT_EQ(sizeof(info),
		  vmm_call(&self->vmm, VFIO_USER_DEVICE_GET_INFO, info,
			   sizeof(info), NULL, 0, info, sizeof(info)));
	EXPECT_EQ(VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET, info[1]);
}

TEST_F(vfio, another_major_version_is_refused)
{
	struct vfio_user_version version = { .major = 1 };

	EXPECT_EQ(-ENOTSUP,
		  vmm_call(&self->vmm, VFIO_USER_VERSION, &version,
			   sizeof(version), NULL, 0, NULL, 0));
}

TEST_F(vfio, regions_and_interrupts)
{
	struct vfio_region_info region = { .argsz = sizeof(region) };
	struct vfio_irq_info irq = { .argsz = sizeof(irq),
				     .index = VFIO_PCI_MSIX_IRQ_INDEX };

	ASSERT_EQ(0, vmm_hello(&self->vmm));
	region.index = BAR;
	ASSERT_EQ(sizeof(region),
		  vmm_call(&self->vmm, VFIO_USER_DEVICE_GET_REGION_INFO,
			   &region, sizeof(region), NULL, 0, &region,
			   sizeof(region)));
	EXPECT_EQ(64u << 20, region.size);
	region.index = VFIO_PCI_NUM_REGIONS;
	EXPECT_EQ(-EINVAL,
		  vmm_call(&self->vmm, VFIO_USER_DEVICE_GET_REGION_INFO,
			   &region, sizeof(region), NULL, 0, NULL, 0));
	ASSERT_EQ(sizeof(irq),
		  vmm_call(&self->vmm, VFIO_USER_DEVICE_GET_IRQ_INFO, &irq,
			   sizeof(irq), NULL, 0, &irq, sizeof(irq)));
	EXPECT_EQ(VMM_VECTORS, irq.count);
}

TEST_F(vfio, config_space_is_a_connectx)
{
	uint32_t id = 0, bar = ~0u;
	uint8_t cap = 0, head[2], kinds = 0;

	ASSERT_EQ(0, vmm_hello(&self->vmm));
	ASSERT_EQ(0, vmm_read(&self->vmm, CONFIG, 0, &id, 4));
	EXPECT_EQ(0x101715b3u, id);
	/* read-only bits stay, the size shows */
	ASSERT_EQ(0, vmm_write(&self->vmm, CONFIG, 0, &bar, 4));
	ASSERT_EQ(0, vmm_write(&self->vmm, CONFIG, 0x10, &bar, 4));
	ASSERT_EQ(0, vmm_read(&self->vmm, CONFIG, 0, &id, 4));
	EXPECT_EQ(0x101715b3u, id);
	ASSERT_EQ(0, vmm_read(&self->vmm, CONFIG, 0x10, &bar, 4));
	EXPECT_EQ(0xfc00000cu, bar);
	ASSERT_EQ(0, vmm_read(&self->vmm, CONFIG, 0x34, &cap, 1));
	while (cap && kinds < 8) {
		ASSERT_EQ(0, vmm_read(&self->vmm, CONFIG, cap, head, 2));
		cap = head[1];
		kinds++;
	}
	EXPECT_EQ(3, kinds);
	EXPECT_EQ(-EINVAL, vmm_read(&self->vmm, CONFIG, 4094, &id, 4));
	EXPECT_EQ(-EINVAL, vmm_read(&self->vmm, CONFIG, ~0ull, &id, 4));
}

/* As mstflint does: no other register of the adapter has a value. */
TEST_F(vfio, tools_read_the_hardware_id_behind_the_configuration_space)
{
	uint32_t at = 0xf0014, value = 0;

	ASSERT_EQ(0, vmm_hello(&self->vmm));
	ASSERT_EQ(0, vmm_read(&self->vmm, CONFIG, 0x5c, &value, 4));
	EXPECT_EQ(0u, value);
	ASSERT_EQ(0, vmm_write(&self->vmm, CONFIG, 0x58, &at, 4));
	ASSERT_EQ(0, vmm_read(&self->vmm, CONFIG, 0x58, &value, 4));
	EXPECT_EQ(at, value);
	ASSERT_EQ(0, vmm_write(&self->vmm, CONFIG, 0x5c, &at, 4));
	ASSERT_EQ(0, vmm_read(&self->vmm, CONFIG, 0x5c, &value, 4));
	EXPECT_EQ(0x20du, value);
	at = 0xf0018;
	ASSERT_EQ(0, vmm_write(&self->vmm, CONFIG, 0x58, &at, 4));
	ASSERT_EQ(0, vmm_read(&self->vmm, CONFIG, 0x5c, &value, 4));
	EXPECT_EQ(0u, value);
}

TEST_F(vfio, initialisation_segment_is_alive)
{
	uint32_t first, later, tries = 0;

	ASSERT_EQ(0, vmm_hello(&self->vmm));
	EXPECT_EQ(5u, vmm_read_be32(&self->vmm, 4) >> 16);
	EXPECT_EQ(0x56u, vmm_read_be32(&self->vmm, 0x14) & 0xff);
	first = vmm_read_be32(&self->vmm, 0x1010);
	do
		later = vmm_read_be32(&self->vmm, 0x1010);
	while (later == first && tries++ < 20000 && !usleep(1000));
	EXPECT_LT(first, later);
	/* read-only */
	ASSERT_EQ(0, vmm_write_be32(&self->vmm, 4, 0));
	EXPECT_EQ(5u, vmm_read_be32(&self->vmm, 4) >> 16);
}

TEST_F(vfio, memory_ranges_are_checked)
{
	struct vmm *vmm = &self->vmm;

	ASSERT_EQ(0, vmm_hello(vmm));
	EXPECT_EQ(0, dma_map(vmm, 0x10000, 0x4000, 0, vmm->ram_fd));
	EXPECT_EQ(-EEXIST, dma_map(vmm, 0x13000, 0x2000, 0, vmm->ram_fd));
	EXPECT_EQ(-EEXIST, dma_map(vmm, 0xf000, 0x8000, 0, vmm->ram_fd));
	EXPECT_EQ(-EINVAL, dma_map(vmm, 0x20800, 0x1000, 0, vmm->ram_fd));
	EXPECT_EQ(-EINVAL, dma_map(vmm, 0x20000, 0, 0, vmm->ram_fd));
	EXPECT_EQ(-EINVAL, dma_map(vmm, ~0xfffull, 0x2000, 0, vmm->ram_fd));
	/* beyond the end of the file */
	EXPECT_EQ(-EINVAL,
		  dma_map(vmm, 0x20000, 0x2000, VMM_RAM - 0x1000, vmm->ram_fd));
	EXPECT_EQ(-EINVAL, dma_map(vmm, 0x20000, 0x1000, ~0xfffull,
				   vmm->ram_fd));
	/* not a file that has pages */
	EXPECT_EQ(-EINVAL, dma_map(vmm, 0x20000, 0x1000, 0, vmm->fd));
	/* ROM that the VMM keeps */
	EXPECT_EQ(0, dma_map(vmm, 0x20000, 0x1000, 0, -1));
	EXPECT_EQ(-EINVAL, dma_unmap(vmm, 0x10000, 0x2000));
	EXPECT_EQ(-ENOENT, dma_unmap(vmm, 0x30000, 0x1000));
	EXPECT_EQ(0, dma_unmap(vmm, 0x0, 0x100000));
	EXPECT_EQ(-ENOENT, dma_unmap(vmm, 0x10000, 0x4000));
}

TEST_F(vfio, writes_in_a_bundle)
{
	struct {
		uint64_t count;
		struct vfio_user_write_one one[2];
	} multi = { .count = 2 };
	uint32_t vals[2] = { htobe32(0x12345), htobe32(0x7000) };

	ASSERT_EQ(0, vmm_hello(&self->vmm));
	multi.one[0] = (struct vfio_user_write_one){ 0x10, BAR, 4, { 0 } };
	memcpy(multi.one[0].data, &vals[0], 4);
	multi.one[1] = (struct vfio_user_write_one){ 0x14, BAR, 4, { 0 } };
	memcpy(multi.one[1].data, &vals[1], 4);
	EXPECT_EQ(8, vmm_call(&self->vmm, VFIO_USER_REGION_WRITE_MULTI, &multi,
			      sizeof(multi), NULL, 0, NULL, 0));
	EXPECT_EQ(0x12345u, vmm_read_be32(&self->vmm, 0x10));
	EXPECT_EQ(0x7056u, vmm_read_be32(&self->vmm, 0x14));
	multi.count = 1ull << 60;
	EXPECT_EQ(-EINVAL,
		  vmm_call(&self->vmm, VFIO_USER_REGION_WRITE_MULTI, &multi,
			   sizeof(multi), NULL, 0, NULL, 0));
	multi.count = 1;
	multi.one[0].count = 9;
	EXPECT_EQ(-EINVAL,
		  vmm_call(&self->vmm, VFIO_USER_REGION_WRITE_MULTI, &multi,
			   sizeof(multi), NULL, 0, NULL, 0));
}

TEST_F(vfio, interrupts_are_checked_and_raised)
{
	struct vfio_irq_set set = { .argsz = sizeof(set),
				    .flags = VFIO_IRQ_SET_DATA_NONE |
					     VFIO_IRQ_SET_ACTION_TRIGGER,
				    .index = VFIO_PCI_MSIX_IRQ_INDEX,
				    .start = 3,
				    .count = 1 };
	struct vmm *vmm = &self->vmm;
	uint64_t n = 0;

	ASSERT_EQ(0, vmm_hello(vmm));
	ASSERT_EQ(0, vmm_irqs(vmm));
	EXPECT_LE(0, vmm_call(vmm, VFIO_USER_DEVICE_SET_IRQS, &set, sizeof(set),
			      NULL, 0, NULL, 0));
	EXPECT_EQ(8, read(vmm->irqs[3], &n, sizeof(n)));
	EXPECT_EQ(-1, read(vmm->irqs[2], &n, sizeof(n)));
	set.start = VMM_VECTORS;
	EXPECT_EQ(-EINVAL, vmm_call(vmm, VFIO_USER_DEVICE_SET_IRQS, &set,
				    sizeof(set), NULL, 0, NULL, 0));
	set.start = 1;
	set.count = ~0u;
	EXPECT_EQ(-EINVAL, vmm_call(vmm, VFIO_USER_DEVICE_SET_IRQS, &set,
				    sizeof(set), NULL, 0, NULL, 0));
	/* as many descriptors as vectors, or none */
	set.count = 2;
	set.flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
	EXPECT_EQ(-EINVAL, vmm_call(vmm, VFIO_USER_DEVICE_SET_IRQS, &set,
				    sizeof(set), vmm->irqs, 1, NULL, 0));
}

TEST_F(vfio, descriptors_nobody_wants_are_closed)
{
	struct vmm *vmm = &self->vmm;
	uint32_t info[4] = { sizeof(info) };
	int before, i;

	ASSERT_EQ(0, vmm_hello(vmm));
	ASSERT_EQ(0, vmm_irqs(vmm));
	before = open_fds(vmm);
	for (i = 0; i < 50; i++)
		EXPECT_LE(0, vmm_call(vmm, VFIO_USER_DEVICE_GET_INFO, info,
				      sizeof(info), vmm->irqs, VMM_VECTORS,
				      NULL, 0));
	EXPECT_EQ(before, open_fds(vmm));
	ASSERT_EQ(0, vmm_connect(vmm));
	ASSERT_EQ(0, vmm_hello(vmm));
	EXPECT_EQ(before - (int)VMM_VECTORS, open_fds(vmm));
}

TEST_F(vfio, a_message_without_sense_ends_the_connection)
{
	static const struct vfio_user_hdr bad[] = {
		{ .command = VFIO_USER_VERSION, .size = 0 },
		{ .command = VFIO_USER_VERSION, .size = 15 },
		{ .command = VFIO_USER_VERSION, .size = ~0u },
		{ .command = VFIO_USER_VERSION, .size = 20,
		  .flags = VFIO_USER_F_REPLY },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ASSERT_EQ(sizeof(bad[i]),
			  send(self->vmm.fd, &bad[i], sizeof(bad[i]),
			       MSG_NOSIGNAL));
		EXPECT_TRUE(vmm_gone(&self->vmm));
		ASSERT_EQ(0, vmm_connect(&self->vmm));
	}
	EXPECT_EQ(0, vmm_hello(&self->vmm));
}

TEST_F(vfio, short_bodies_are_refused)
{
	uint16_t command;
	int ret;

	ASSERT_EQ(0, vmm_hello(&self->vmm));
	for (command = 0; command < 20; command++) {
		ret = vmm_call(&self->vmm, command, "abc", 3, NULL, 0, NULL, 0);
		/* two have no body that could be short */
		EXPECT_EQ(command == VFIO_USER_DEVICE_GET_INFO ||
				  command == VFIO_USER_DEVICE_RESET,
			  ret >= 0);
	}
}

TEST_F(vfio, a_write_that_lies_about_its_length)
{
	struct vfio_user_rw rw = { .offset = 0x10, .region = BAR, .count = 64 };
	uint8_t msg[sizeof(rw) + 4] = { 0 };

	ASSERT_EQ(0, vmm_hello(&self->vmm));
	memcpy(msg, &rw, sizeof(rw));
	EXPECT_EQ(-EINVAL, vmm_call(&self->vmm, VFIO_USER_REGION_WRITE, msg,
				    sizeof(msg), NULL, 0, NULL, 0));
	rw.count = ~0u;
	EXPECT_EQ(-EINVAL, vmm_call(&self->vmm, VFIO_USER_REGION_READ, &rw,
				    sizeof(rw), NULL, 0, NULL, 0));
}

TEST_F(vfio, pieces_and_batches_of_messages)
{
	struct vfio_user_version version = { 0 };
	struct vfio_user_hdr hdr = { .command = VFIO_USER_VERSION,
				     .size = sizeof(hdr) + sizeof(version) };
	uint8_t msg[sizeof(hdr) + sizeof(version)], all[8 * sizeof(msg)];
	uint16_t command;
	uint32_t error;
	size_t i;

	memcpy(msg, &hdr, sizeof(hdr));
	memcpy(msg + sizeof(hdr), &version, sizeof(version));
	for (i = 0; i < sizeof(msg); i++) {
		ASSERT_EQ(1, send(self->vmm.fd, msg + i, 1, MSG_NOSIGNAL));
		usleep(1000);
	}
	EXPECT_LT(0, vmm_recv(&self->vmm, &command, NULL, 0, &error));
	for (i = 0; i < 8; i++)
		memcpy(all + i * sizeof(msg), msg, sizeof(msg));
	ASSERT_EQ(sizeof(all), send(self->vmm.fd, all, sizeof(all),
				    MSG_NOSIGNAL));
	for (i = 0; i < 8; i++)
		EXPECT_LT(0, vmm_recv(&self->vmm, &command, NULL, 0, &error));
}

TEST_F(vfio, reset_and_hang_up_forget_all_objects)
{
	struct vmm_driver drv;
	struct vmm *vmm = &self->vmm;
	const uint16_t flr = 0x8000;
	uint32_t qpn;

	ASSERT_EQ(0, vmm_probe(vmm, &drv));
	ASSERT_EQ(0, vmm_ready_qp(vmm, &drv, drv.uar, &qpn));
	EXPECT_EQ(1, vmm_count(vmm, "alive", "qp"));
	ASSERT_EQ(0, vmm_write(vmm, CONFIG, 0x68, &flr, sizeof(flr)));
	EXPECT_EQ(0, vmm_count(vmm, "alive", "qp"));
	EXPECT_EQ(0, vmm_count(vmm, "alive", "uar"));
	EXPECT_EQ(0, vmm_count(vmm, "alive", "page"));
	/* The interface reports that it is disabled. */
	EXPECT_EQ(0x156u, vmm_read_be32(vmm, 0x14) & 0xfff);

	ASSERT_EQ(0, vmm_connect(vmm));
	ASSERT_EQ(0, vmm_probe(vmm, &drv));
	EXPECT_EQ(1, vmm_count(vmm, "alive", "eq"));
	close(vmm->fd);
	vmm->fd = -1;
	EXPECT_EQ(0, vmm_count_until(vmm, "alive", "eq", 0));
}

TEST_F(vfio, noise)
{
	unsigned int seed = 1, round, i;
	uint8_t junk[256];
	uint32_t size;

	for (round = 0; round < 300; round++) {
		for (i = 0; i < sizeof(junk); i++)
			junk[i] = (uint8_t)rand_r(&seed);
		/* half of them can be framed */
		size = 16 + rand_r(&seed) % 200;
		if (round % 2) {
			junk[2] = round % 17;
			junk[3] = 0;
			memcpy(junk + 4, &size, sizeof(size));
			memset(junk + 8, 0, 4);
		}
		if (round % 8 == 0)
			ASSERT_EQ(0, vmm_connect(&self->vmm));
		if (round % 8 == 0)
			ASSERT_EQ(0, vmm_hello(&self->vmm));
		(void)!send(self->vmm.fd, junk, size, MSG_NOSIGNAL);
	}
	ASSERT_EQ(0, vmm_connect(&self->vmm));
	EXPECT_EQ(0, vmm_hello(&self->vmm));
}

TEST_F(vfio, control_refuses_nonsense)
{
	static const char *const bad[] = {
		"nonsense", "[]", "{}", "{\"op\":7}", "{\"op\":\"none\"}",
		"{\"op\":\"fault\"}", "{\"op\":\"fault\",\"hca\":99}",
		"{\"op\":\"fault\",\"hca\":-1,\"kind\":\"fatal\"}",
		"{\"op\":\"fault\",\"kind\":\"cmd\",\"opcode\":\"NONE\"}",
		"{\"op\":\"fault\",\"kind\":\"cmd\",\"status\":\"sometimes\"}",
		"{\"op\":\"fault\",\"kind\":\"port\",\"state\":\"sideways\"}",
	};
	struct json_object *o, *ok;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		o = vmm_control(&self->vmm, bad[i]);
		ASSERT_NE(NULL, o);
		ASSERT_TRUE(json_object_object_get_ex(o, "ok", &ok));
		EXPECT_FALSE(json_object_get_boolean(ok));
		json_object_put(o);
	}
}

TEST_HARNESS_MAIN
