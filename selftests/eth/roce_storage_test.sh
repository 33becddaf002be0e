#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: roce-storage, link: eth, timeout: 300, long: yes, config: RDS_RDMA NFSD NFS_V4 SUNRPC_XPRT_RDMA INFINIBAND_SRP INFINIBAND_SRPT TCM_IBLOCK BLK_DEV_RAM BLK_DEV_SD
#
# RDS, NFS and SRP are users of the adapter in the kernel. Each has both its ends on one
# port while the module has a policy, and what arrives is compared.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/eth/one_port.sh
. selftests/eth/one_port.sh
# shellcheck source=selftests/eth/nfs.sh
. selftests/eth/nfs.sh
# shellcheck source=selftests/eth/srp.sh
. selftests/eth/srp.sh

# given_back BEFORE: the HCA has no more objects than BEFORE. CQs are not counted, since
# ib_core keeps those that its users share.
given_back()
{
	becomes 20 "$1" hca_objects 'qp, mkey, pd, srq'
}

# What RDS made stays: its module loses memory when it is unloaded, with any adapter.
rds()
{
	timeout $((120 * slowness)) selftests/eth/rds.py $address 200 20
}

# Writes are reads by the server of the client's memory, and reads are its writes. A long
# list of names and a long link have a reply of their own.
nfs_moves()
{
	local name

	name=$(printf 'x%.0s' {1..200})
	dd if="$tmp/data" of="$tmp/mount/cached" bs=100000 conv=fsync status=none
	dd if="$tmp/data" of="$tmp/mount/direct" bs=1M oflag=direct status=none
	cmp "$tmp/data" "$tmp/export/cached"
	cmp "$tmp/data" "$tmp/export/direct"
	echo 3 >/proc/sys/vm/drop_caches
	cmp "$tmp/data" "$tmp/mount/cached"
	dd if="$tmp/mount/direct" bs=70000 iflag=direct status=none | cmp - "$tmp/data"
	(cd "$tmp/export" && touch "$name"{1..40} && ln -s "$name$name$name" link)
	[ "$(find "$tmp/mount" -name "$name*" | wc -l)" = 40 ]
	[ "$(readlink "$tmp/mount/link")" = "$name$name$name" ]
}

nfs_leaves_nothing()
{
	nfs_ends
	given_back "$before"
}

srp_writes()
{
	dd if="$tmp/data" of="/dev/$(scsi_disk)" bs="$1" oflag=direct status=none
	dd if=/dev/ram0 bs=64k count=$bytes iflag=direct,count_bytes status=none |
		cmp - "$tmp/data"
}

srp_reads()
{
	dd if="/dev/$(scsi_disk)" bs=300k count=$bytes iflag=direct,count_bytes \
		status=none | cmp - "$tmp/data"
}

srp_moves()
{
	srp_writes 512k
	srp_reads
	tr '\0-\377' '\1-\377\0' <"$tmp/data" >"$tmp/other"
	mv "$tmp/other" "$tmp/data"
	srp_writes 16k
	srp_reads
}

# The cable is unplugged for longer than the adapter tries again. The initiator connects
# again, and what was under way then arrives.
srp_survives()
{
	local writer

	head -c "$bytes" /dev/urandom >"$tmp/data"
	srp_writes 8k &
	writer=$!
	hca_cable 0 down
	becomes 10 '1: DOWN' cat "/sys/class/infiniband/$dev/ports/1/state"
	wait_for 20 lost
	hca_cable 0 up
	wait $writer
	srp_reads
}

# lost: is an end of the initiator's connections in error?
lost()
{
	simhca-ctl dump | jq -e 'any(.hcas[0].qps[]; .state == "err")' >/dev/null
}

srp_gives_back()
{
	srp_ends
	given_back "$before"
}

modprobe -qa rds_rdma nfsd nfsv4 rpcrdma || skip_all 'no RDS or NFS'
modprobe -qa target_core_iblock sd_mod || skip_all 'no target of SCSI'
modprobe -qna ib_srp ib_srpt || skip_all 'no SRP'
modprobe -q brd rd_nr=1 rd_size=16384 || skip_all 'no disk in memory'
bytes=$((8 << 20))
head -c $bytes /dev/urandom >"$tmp/data"
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
address_up
ep_policy independent 16

plan 11
check 'nfsd serves over RDMA' nfs_serves
check 'RDS moves messages, and memory that one end lends' rds
before=$(hca_objects 'qp, mkey, pd, srq')
check 'NFS mounts over RDMA' nfs_mounts
check 'NFS moves files, names and links' nfs_moves
check 'NFS ends and leaves nothing' nfs_leaves_nothing
check 'an SRP target serves a disk' srp_serves
check 'an SRP initiator connects' srp_connects
check 'the disk has what is written, and it is read' srp_moves
check 'SRP survives that the cable is unplugged' srp_survives
check 'SRP ends' srp_gives_back
ip addr del "$address/24" dev "$(netdev)"
ep_policy stock
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
