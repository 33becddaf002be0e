// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fabric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

#define PAGE		4096u
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

static int fabric_find(struct fabric_rig *rig)
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
	ret = fi_getinfo(FI_VERSION(1, 18), NULL, NULL, 0, hints, &rig->info);
	fi_freeinfo(hints);
	return said("fi_getinfo", ret);
}

static int fabric_open_ep(struct fabric_rig *rig)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_MSG, .size = 64 };
	struct fi_av_attr av_attr = { .type = FI_AV_UNSPEC, .count = 1 };
	uint8_t name[256];
	size_t len = sizeof(name);
	int ret;

	ret = said("fi_cq_open", fi_cq_open(rig->domain, &cq_attr, &rig->cq,
					    NULL));
	if (!ret)
		ret = said("fi_av_open", fi_av_open(rig->domain, &av_attr,
						    &rig->av, NULL));
	if (!ret)
		ret = said("fi_endpoint", fi_endpoint(rig->domain, rig->info,
						      &rig->ep, NULL));
	if (!ret)
		ret = said("fi_ep_bind", fi_ep_bind(rig->ep, &rig->av->fid, 0));
	if (!ret)
		ret = said("fi_ep_bind", fi_ep_bind(rig->ep, &rig->cq->fid,
						    FI_TRANSMIT | FI_RECV));
	if (!ret)
		ret = said("fi_enable", fi_enable(rig->ep));
	if (!ret)
		ret = said("fi_getname", fi_getname(&rig->ep->fid, name, &len));
	if (!ret && fi_av_insert(rig->av, name, 1, &rig->self, 0, NULL) != 1)
		ret = said("fi_av_insert", -EINVAL);
	return ret;
}

int fabric_open(struct fabric_rig *rig)
{
	int ret;

	memset(rig, 0, sizeof(*rig));
	ret = fabric_find(rig);
	if (!ret)
		ret = said("fi_fabric", fi_fabric(rig->info->fabric_attr,
						  &rig->fabric, NULL));
	if (!ret)
		ret = said("fi_domain", fi_domain(rig->fabric, rig->info,
						  &rig->domain, NULL));
	if (!ret)
		ret = fabric_open_ep(rig);
	if (!ret) {
		rig->landing = aligned_alloc(PAGE, PAGE);
		ret = fabric_reg(rig, rig->landing, PAGE, &rig->landing_mr);
	}
	if (ret)
		fabric_close(rig);
	return ret;
}

void fabric_close(struct fabric_rig *rig)
{
	struct fid *fids[] = {
		rig->landing_mr ? &rig->landing_mr->fid : NULL,
		rig->ep ? &rig->ep->fid : NULL,
		rig->av ? &rig->av->fid : NULL,
		rig->cq ? &rig->cq->fid : NULL,
		rig->domain ? &rig->domain->fid : NULL,
		rig->fabric ? &rig->fabric->fid : NULL,
	};
	size_t i;

	for (i = 0; i < sizeof(fids) / sizeof(*fids); i++) {
		if (fids[i])
			said("fi_close", fi_close(fids[i]));
	}
	if (rig->info)
		fi_freeinfo(rig->info);
	free(rig->landing);
	memset(rig, 0, sizeof(*rig));
}

int fabric_reg(struct fabric_rig *rig, void *addr, size_t len,
	       struct fid_mr **mr)
{
	return said("fi_mr_reg", fi_mr_reg(rig->domain, addr, len, ACCESS, 0, 0,
					   0, mr, NULL));
}

/* Waits for @count completions. */
static int fabric_wait(struct fabric_rig *rig, unsigned int count)
{
	struct fi_cq_err_entry error = {};
	struct fi_cq_msg_entry entry;
	time_t end = time(NULL) + WAIT_S;
	ssize_t got;

	while (count) {
		got = fi_cq_read(rig->cq, &entry, 1);
		if (got == 1) {
			count--;
		} else if (got == -FI_EAVAIL) {
			fi_cq_readerr(rig->cq, &error, 0);
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
static int fabric_hca_read(struct fabric_rig *rig, struct fid_mr *mr,
			   void *addr, uint8_t *out)
{
	size_t prefix = rig->info->ep_attr->msg_prefix_size;
	int ret;

	memset(rig->landing, 0, PAGE);
	ret = said("fi_recv", fi_recv(rig->ep, rig->landing, PAGE,
				      fi_mr_desc(rig->landing_mr), rig->self,
				      NULL));
	if (!ret)
		ret = said("fi_send", fi_send(rig->ep, addr, SAMPLE,
					      fi_mr_desc(mr), rig->self, NULL));
	if (!ret)
		ret = fabric_wait(rig, 2);
	if (!ret)
		memcpy(out, rig->landing + prefix, SAMPLE);
	return ret;
}

int fabric_differs(struct fabric_rig *rig, struct fid_mr *mr, void *addr,
		   size_t len)
{
	size_t at, i;
	uint64_t want[SAMPLE / 8];
	uint8_t got[SAMPLE];
	int ret;

	for (at = 0; at < len; at += PAGE) {
		rig->stamp++;
		for (i = 0; i < SAMPLE / 8; i++)
			want[i] = rig->stamp * 0x9e3779b97f4a7c15ull + i;
		memcpy((uint8_t *)addr + at, want, SAMPLE);
		ret = fabric_hca_read(rig, mr, (uint8_t *)addr + at, got);
		if (ret)
			return ret;
		if (memcmp(got, want, SAMPLE))
			return 1;
	}
	return 0;
}
