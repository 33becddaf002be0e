#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: attach-users, link: eth, module: later, timeout: 400, config: NVME_RDMA NVME_TARGET_RDMA NFSD NFS_V4 SUNRPC_XPRT_RDMA INFINIBAND_SRP INFINIBAND_SRPT TCM_IBLOCK BLK_DEV_RAM BLK_DEV_SD
#
# mlx5ep attach takes a device from nobody without being told to. It knows the users
# that have no file of the device open, which are storage in the kernel, and those that
# have another file open than that of verbs. While it refuses, what they do goes on.
# What is always there, and what finds the device again, does not make it refuse.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh
# shellcheck source=selftests/eth/one_port.sh
. selftests/eth/one_port.sh
# shellcheck source=selftests/eth/nvme.sh
. selftests/eth/nvme.sh
# shellcheck source=selftests/eth/nfs.sh
. selftests/eth/nfs.sh
# shellcheck source=selftests/eth/srp.sh
. selftests/eth/srp.sh

disk=ram0

# refused: the tool names the users, and the device is as before
refused()
{
	local before

	before=$(stat -L -c %i "/sys/class/infiniband/$dev")
	code 1 mlx5ep attach "$dev"
	grep -q 'they would lose the device' "$tmp/err"
	cp "$tmp/out" "$tmp/refused"
	must_fail attached
	[ "$(stat -L -c %i "/sys/class/infiniband/$dev")" = "$before" ]
}

# users FILTER: holds for the list of users
users()
{
	code 0 mlx5ep -j attach --users "$dev"
	jq -e ".users | $1" "$tmp/out" || fail "not so: $1"
}

# nobody: prints nothing if there is no user, and they are named otherwise
nobody()
{
	mlx5ep attach --users "$dev"
}

nvme()
{
	target 0
	connects none
	head -c 1M /dev/urandom >"$tmp/data"
	dd if="$tmp/data" of="/dev/$(namespace)" bs=64k oflag=direct status=none
	refused
	grep -x '  kernel module nvme_rdma (NVMe over RDMA, the host): .*' "$tmp/refused"
	grep -x '  kernel module nvmet_rdma (NVMe over RDMA, the target): .*' \
		"$tmp/refused"
	users 'length == 2 and all(.[]; .cm_ids > 1)'
	dd if="/dev/$(namespace)" bs=64k count=16 iflag=direct status=none |
		cmp - "$tmp/data"
}

# The target listens on the address of the device.
nvme_listens()
{
	disconnects
	wait_for 20 users 'length == 1 and .[0].cm_ids == 1'
	refused
	grep -x '  kernel module nvmet_rdma .*: pd 0 cm_id 1' "$tmp/refused"
	target_ends
	becomes 20 '' nobody
}

nfs()
{
	nfs_serves
	becomes 20 '' nobody
	nfs_mounts
	cp "$tmp/data" "$tmp/mount/file"
	refused
	grep -x '  kernel module rpcrdma (NFS over RDMA): .*' "$tmp/refused"
	echo 3 >/proc/sys/vm/drop_caches
	cmp "$tmp/data" "$tmp/mount/file"
	umount "$tmp/mount"
	becomes 30 '' nobody
}

# While nothing is connected, both modules have a protection domain that nothing uses.
srp()
{
	srp_serves
	becomes 20 '' nobody
	srp_connects
	refused
	grep -x '  kernel module ib_srp (SRP, the initiator): .*' "$tmp/refused"
	grep -x '  kernel module ib_srpt (SRP, the target): .*' "$tmp/refused"
	users 'length == 2 and all(.[]; .pds == 1)'
	dd if="/dev/$(scsi_disk)" bs=64k count=16 iflag=direct status=none |
		cmp - <(head -c 1M /dev/ram0)
	srp_ends
	becomes 30 '' nobody
}

# held FILE: the tool names a process that has it open
held()
{
	local holder status=0

	sleep 1000 8<>"/dev/infiniband/$1" &
	holder=$!
	wait_for 10 [ -e "/proc/$holder/fd/8" ]
	(refused) || status=$?
	kill $holder
	wait $holder || true
	grep -x "  process $holder (sleep): $1" "$tmp/refused"
	return $status
}

# The daemon of a subnet manager has umad open, and a program before its first QP uverbs.
files()
{
	modprobe ib_umad
	wait_for 10 [ -e /dev/infiniband/umad0 ]
	held umad0
	held uverbs0
}

# In another PID namespace the kernel names nobody.
in_a_container()
{
	code 1 unshare --pid --fork --mount-proc mlx5ep attach --force "$dev"
	grep -q 'call mlx5ep on the node' "$tmp/err"
	must_fail attached
}

# The server of NFS listens on each address, and so it does on the device that is back.
attaches()
{
	becomes 10 '' nobody
	code 0 mlx5ep attach "$dev"
	attached
	address_up
	nfs_mounts
	cmp "$tmp/data" "$tmp/mount/file"
	umount "$tmp/mount"
}

ends()
{
	nfs_stops
	ip addr del "$address/24" dev "$(netdev)"
	hca_clean
}

modprobe -qa nvmet-rdma nvme-rdma nfsd nfsv4 rpcrdma || skip_all 'no NVMe or NFS'
modprobe -qa target_core_iblock sd_mod || skip_all 'no target of SCSI'
modprobe -qna ib_srp ib_srpt || skip_all 'no SRP'
modprobe -q brd rd_nr=1 rd_size=16384 || skip_all 'no disk in memory'
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
address_up
ep_insmod

plan 8
check 'NVMe over RDMA: host and target are named, and go on' nvme
check 'NVMe over RDMA: a target without a host is named' nvme_listens
check 'NFS over RDMA: a mount is named, and its files are there' nfs
check 'SRP: initiator and target are named while they are connected' srp
check 'a process that has a file of the device open is named' files
check 'in a container it does nothing' in_a_container
check 'it attaches where nobody is left, and NFS can be mounted' attaches
check 'nothing is left, and the HCA has nothing to complain of' ends
ktap_finished
