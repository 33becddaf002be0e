// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fabric.h"
#include "page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

#define PAGE		page_bytes()
#define SAMPLE		512u	/* bytes that the HCA sends: too many to be inline */
#define WAIT_S		10
#define ACCESS		(FI_SEND | FI_RECV | FI_READ | FI_WRITE | \
			 FI_REMOTE_READ | FI_REMOTE_WRITE)

static int said(const char *what, int ret)
{
	if (ret)
		fprintf(stderr, "fabric: %s: %s\n", what, fi_strerror(-ret));
	return ret;
}

static int fabric_find(struct fabric_setup *setup)
{
	struct fi_info *hints = fi_allocinfo();
	int ret;

	if (!hints)
		return -ENOMEM;
	hints->fabric_attr->prov_name = strdup("verbs");
	hints->ep_attr->type = FI_EP_DGRAM;
	hints->caps = FI_MSG;
	hints->mode = FI_MSG_PREFIX | FI_CONTEXT;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR |
				      FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	ret = fi_getinfo(FI_VERSION(1, 18), NULL, NULL, 0, hints, &setup->info);
	fi_freeinfo(hints);
	return said("fi_getinfo", ret);
}

static int fabric_open_ep(struct fabric_setup *setup)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_MSG, .size = 64 };
	struct fi_av_attr av_attr = { .type = FI_AV_UNSPEC, .count = 1 };
	uint8_t name[256];
	size_t len = sizeof(name);
	int ret;

	ret = said("fi_cq_open",
		   fi_cq_open(setup->domain, &cq_attr, &setup->cq, NULL));
	if (!ret)
		ret = said("fi_av_open", fi_av_open(setup->domain, &av_attr,
						    &setup->av, NULL));
	if (!ret)
		ret = said("fi_endpoint",
			   fi_endpoint(setup->domain, setup->info, &setup->ep,
				       NULL));
	if (!ret)
		ret = said("fi_ep_bind",
			   fi_ep_bind(setup->ep, &setup->av->fid, 0));
	if (!ret)
		ret = said("fi_ep_bind", fi_ep_bind(setup->ep, &setup->cq->fid,
						    FI_TRANSMIT | FI_RECV));
	if (!ret)
		ret = said("fi_enable", fi_enable(setup->ep));
	if (!ret)
		ret = said("fi_getname",
			   fi_getname(&setup->ep->fid, name, &len));
	if (!ret &&
	    fi_av_insert(setup->av, name, 1, &setup->self, 0, NULL) != 1)
		ret = said("fi_av_insert", -EINVAL);
	return ret;
}

int fabric_open(struct fabric_setup *setup)
{
	int ret;

	memset(setup, 0, sizeof(*setup));
	ret = fabric_find(setup);
	if (!ret)
		ret = said("fi_fabric", fi_fabric(setup->info->fabric_attr,
						  &setup->fabric, NULL));
	if (!ret)
		ret = said("fi_domain", fi_domain(setup->fabric, setup->info,
						  &setup->domain, NULL));
	if (!ret)
		ret = fabric_open_ep(setup);
	if (!ret) {
		setup->received = aligned_alloc(PAGE, PAGE);
		ret = fabric_reg(setup, setup->received, PAGE,
				 &setup->received_mr);
	}
	if (ret)
		fabric_close(setup);
	return ret;
}

void fabric_close(struct fabric_setup *setup)
{
	struct fid *fids[] = {
		setup->received_mr ? &setup->received_mr->fid : NULL,
		setup->ep ? &setup->ep->fid : NULL,
		setup->av ? &setup->av->fid : NULL,
		setup->cq ? &setup->cq->fid : NULL,
		setup->domain ? &setup->domain->fid : NULL,
		setup->fabric ? &setup->fabric->fid : NULL,
	};
	size_t i;

	for (i = 0; i < sizeof(fids) / sizeof(*fids); i++) {
		if (fids[i])
			said("fi_close", fi_close(fids[i]));
	}
	if (setup->info)
		fi_freeinfo(setup->info);
	free(setup->received);
	memset(setup, 0, sizeof(*setup));
}

int fabric_reg(struct fabric_setup *setup, void *addr, size_t len,
	       struct fid_mr **mr)
{
	return said("fi_mr_reg", fi_mr_reg(setup->domain, addr, len, ACCESS, 0,
					   0, 0, mr, NULL));
}

/* Waits for @count completions. */
static int fabric_wait(struct fabric_setup *setup, unsigned int count)
{
	struct fi_cq_err_entry error = {};
	struct fi_cq_msg_entry entry;
	time_t end = time(NULL) + WAIT_S;
	ssize_t got;

	while (count) {
		got = fi_cq_read(setup->cq, &entry, 1);
		if (got == 1) {
			count--;
		} else if (got == -FI_EAVAIL) {
			fi_cq_readerr(setup->cq, &error, 0);
			return said("completion", -error.err);
		} else if (got != -FI_EAGAIN) {
			return said("fi_cq_read", got);
		} else if (time(NULL) > end) {
			return said("fi_cq_read", -ETIMEDOUT);
		}
	}
	return 0;
}

/* What the HCA sends of a page; it lands behind the global route header. */
static int fabric_hca_read(struct fabric_setup *setup, struct fid_mr *mr,
			   void *addr, uint8_t *out)
{
	size_t prefix = setup->info->ep_attr->msg_prefix_size;
	int ret;

	memset(setup->received, 0, PAGE);
	ret = said("fi_recv",
		   fi_recv(setup->ep, setup->received, PAGE,
			   fi_mr_desc(setup->received_mr), setup->self, NULL));
	if (!ret)
		ret = said("fi_send",
			   fi_send(setup->ep, addr, SAMPLE, fi_mr_desc(mr),
				   setup->self, NULL));
	if (!ret)
		ret = fabric_wait(setup, 2);
	if (!ret)
		memcpy(out, setup->received + prefix, SAMPLE);
	return ret;
}

int fabric_differs(struct fabric_setup *setup, struct fid_mr *mr, void *addr,
		   size_t len)
{
	size_t at, i;
	uint64_t want[SAMPLE / 8];
	uint8_t got[SAMPLE];
	int ret;

	for (at = 0; at < len; at += PAGE) {
		setup->stamp++;
		for (i = 0; i < SAMPLE / 8; i++)
			want[i] = setup->stamp * 0x9e3779b97f4a7c15ull + i;
		memcpy((uint8_t *)addr + at, want, SAMPLE);
		ret = fabric_hca_read(setup, mr, (uint8_t *)addr + at, got);
		if (ret)
			return ret;
		if (memcmp(got, want, SAMPLE))
			return 1;
	}
	return 0;
}
