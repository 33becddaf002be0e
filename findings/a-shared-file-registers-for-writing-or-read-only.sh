#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# ibv_reg_mr() of a file that is mapped (rdma_rxe, rdma-core 56.1, Debian trixie): kernels 6.1 and 6.12 refuse opposite
# mappings. 6.1.176 registers a MAP_SHARED mapping of a file on ext4, xfs or btrfs for IBV_ACCESS_LOCAL_WRITE, and
# refuses a mapping that is PROT_READ, although the registration is for IBV_ACCESS_REMOTE_READ alone: EFAULT (14).
# 6.12.117 refuses the first with EFAULT, and registers the second. A file on tmpfs and a private mapping are registered
# for writing by both. So a program that registers files for remote reads maps them PROT_READ on one and PROT_READ |
# PROT_WRITE on the other, and one that lets a peer write into a file finds out about the file system by EFAULT, which
# ibv_reg_mr(3) gives no such reason for.
# Guessed before: PROT_READ does for a remote read on both, and a shared file that can be written can be registered.
# Seen on 2026-11-30.
set -euo pipefail
# shellcheck source=/dev/null
. "$(dirname "$0")/lib/guest.sh"

export GUEST_MEM=3G
guest_setup trixie 'linux-image-6.1.0-50-amd64=6.1.176-1' 'linux-image-6.12.117+deb13-amd64=6.12.117-1' -- \
	ibverbs-providers=56.1-1 libibverbs-dev=56.1-1 iproute2=6.15.0-1 e2fsprogs xfsprogs btrfs-progs

guest_cc files -libverbs <<'END'
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define LEN (1 << 20)

/* The errno of registering a mapping of the file, or 0. */
static int reg(struct ibv_pd *pd, int fd, int prot, int flags, int access)
{
	void *addr = mmap(NULL, LEN, prot, flags, fd, 0);
	struct ibv_mr *mr = ibv_reg_mr(pd, addr, LEN, access);
	int ret = mr ? 0 : errno;

	if (mr)
		ibv_dereg_mr(mr);
	munmap(addr, LEN);
	return ret;
}

int main(int argc, char **argv)
{
	struct ibv_pd *pd = ibv_alloc_pd(ibv_open_device(ibv_get_device_list(NULL)[0]));
	const int both = PROT_READ | PROT_WRITE;
	int i, fd;

	for (i = 1; i < argc; i++) {
		fd = open(argv[i], O_RDWR | O_CREAT, 0600);
		if (fd < 0 || ftruncate(fd, LEN))
			return 1;
		printf("%s: local write of shared %d, of private %d; remote read of shared %d, of PROT_READ %d\n",
		       argv[i], reg(pd, fd, both, MAP_SHARED, IBV_ACCESS_LOCAL_WRITE),
		       reg(pd, fd, both, MAP_PRIVATE, IBV_ACCESS_LOCAL_WRITE),
		       reg(pd, fd, both, MAP_SHARED, IBV_ACCESS_REMOTE_READ),
		       reg(pd, fd, PROT_READ, MAP_SHARED, IBV_ACCESS_REMOTE_READ));
	}
	return 0;
}
END

# Prints the script of the guest.
in_guest()
{
	cat <<-'GUEST'
	rxe_on
	modprobe -a loop ext4 xfs btrfs
	for f in ext4 xfs btrfs; do
		truncate -s 400M /tmp/$f.image
		mkfs.$f -q /tmp/$f.image
		mkdir /tmp/$f
		mount -o loop /tmp/$f.image /tmp/$f
	done
	mkdir /tmp/tmpfs
	mount -t tmpfs none /tmp/tmpfs
	cd /tmp && /share/files ext4/file xfs/file btrfs/file tmpfs/file
	GUEST
}

guest_run '6.1.0-50-amd64' < <(in_guest)
guest_same 'files on 6.1' <<'END'
ext4/file: local write of shared 0, of private 0; remote read of shared 0, of PROT_READ 14
xfs/file: local write of shared 0, of private 0; remote read of shared 0, of PROT_READ 14
btrfs/file: local write of shared 0, of private 0; remote read of shared 0, of PROT_READ 14
tmpfs/file: local write of shared 0, of private 0; remote read of shared 0, of PROT_READ 14
END
guest_run '6.12.117+deb13-amd64' < <(in_guest)
guest_same 'files on 6.12' <<'END'
ext4/file: local write of shared 14, of private 0; remote read of shared 0, of PROT_READ 0
xfs/file: local write of shared 14, of private 0; remote read of shared 0, of PROT_READ 0
btrfs/file: local write of shared 14, of private 0; remote read of shared 0, of PROT_READ 0
tmpfs/file: local write of shared 0, of private 0; remote read of shared 0, of PROT_READ 0
END

verdict 'a shared file is registered for writing on 6.1 and not on 6.12, and a read-only mapping the other way round'
