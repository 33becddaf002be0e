#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# libfabric 2.1.0-1.1+b2 (Debian sid; verbs provider on rdma_rxe, kernel 7.3.4-1~bpo13+1): with
# FI_MR_CACHE_MONITOR=kdreg2 on a node that lacks that device, libfabric does not go back to its
# default monitor. It has no cache then, each registration is a new one, fi_domain() succeeds, and
# only FI_LOG_LEVEL=warn tells. A misspelt name (memhook, kdreg) is the default monitor with a
# cache, and no warning, so the wrong name does better than the right one. FI_MR_CACHE_MAX_COUNT=0
# switches the cache off, and FI_MR_CACHE_MAX_SIZE=0 does not.
# Guessed before: a monitor that cannot be had is replaced by the default, a name that does not
# exist is warned of, and no bytes is no cache. Seen on 30 November 2026.
set -euo pipefail
# shellcheck source=/dev/null
. "$(dirname "$0")/lib/guest.sh"

guest_setup sid 'linux-image-7.3.4+deb13-amd64=7.3.4-1~bpo13+1' -- \
	ibverbs-providers=65.0-1.1 librdmacm1t64=65.0-1.1 iproute2=7.3.0-1 \
	libfabric1=2.1.0-1.1+b2 libfabric-dev=2.1.0-1.1+b2

guest_cc again -lfabric <<'END'
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct fid_domain *domain;
static void *memory;

/* registers the memory, gives that back, and returns the key that it had */
static uint64_t key(void)
{
	struct fid_mr *mr;
	uint64_t got;

	if (fi_mr_reg(domain, memory, 1 << 20, FI_REMOTE_WRITE, 0, 0, 0, &mr, NULL))
		exit(2);
	got = fi_mr_key(mr);
	fi_close(&mr->fid);
	return got;
}

int main(void)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	struct fid_fabric *fabric;
	uint64_t first;

	hints->fabric_attr->prov_name = strdup("verbs");
	hints->ep_attr->type = FI_EP_MSG;
	hints->caps = FI_MSG | FI_RMA;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	if (fi_getinfo(FI_VERSION(2, 1), NULL, NULL, 0, hints, &info) ||
	    fi_fabric(info->fabric_attr, &fabric, NULL) || fi_domain(fabric, info, &domain, NULL))
		return 1;
	memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	first = key();
	puts(key() == first ? "kept" : "made anew");
	return 0;
}
END
guest_run 7.3.4+deb13-amd64 <<'GUEST'
rxe_on
modprobe rdma_ucm
export FI_LOG_LEVEL=warn
for set in UNSET=1 FI_MR_CACHE_MONITOR={memhooks,userfaultfd,disabled,kdreg2,kdreg,memhook} \
	FI_MR_CACHE_MAX_{COUNT,SIZE}=0; do
	echo "$set: $(env "$set" ./again 2>err), status $?, warned $(grep -c '<warn>' err) times"
done
GUEST
guest_same 'a second registration' <<'END'
UNSET=1: kept, status 0, warned 0 times
FI_MR_CACHE_MONITOR=memhooks: kept, status 0, warned 0 times
FI_MR_CACHE_MONITOR=userfaultfd: kept, status 0, warned 0 times
FI_MR_CACHE_MONITOR=disabled: made anew, status 0, warned 0 times
FI_MR_CACHE_MONITOR=kdreg2: made anew, status 0, warned 1 times
FI_MR_CACHE_MONITOR=kdreg: kept, status 0, warned 0 times
FI_MR_CACHE_MONITOR=memhook: kept, status 0, warned 0 times
FI_MR_CACHE_MAX_COUNT=0: made anew, status 0, warned 0 times
FI_MR_CACHE_MAX_SIZE=0: kept, status 0, warned 0 times
END

verdict 'libfabric without the monitor that was asked for keeps no registration, and with a misspelt name does'
