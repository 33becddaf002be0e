#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: roce-nvme, link: eth, timeout: 300, config: NVME_RDMA NVME_TARGET_RDMA SCSI_DEBUG BLK_DEV_INTEGRITY
#
# NVMe over RDMA is a user of the adapter in the kernel that registers memory for each
# request. The kernel's host and the kernel's target speak over the same port while the
# module has a policy. The disk behind the target keeps a T10 DIF for each block. Where
# host and target agree on that, the adapter checks it by signature keys on both ends.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/eth/one_port.sh
. selftests/eth/one_port.sh
# shellcheck source=selftests/eth/nvme.sh
. selftests/eth/nvme.sh

megabytes=2
blocks=$((megabytes << 11))	# of 512 bytes

# scsi_disk: prints the name of the disk that scsi_debug made
scsi_disk()
{
	block_device /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/*
}

# writes, reads: the disk and what the host reads have the bytes of $tmp/data
writes()
{
	head -c "${megabytes}M" /dev/urandom >"$tmp/data"
	dd if="$tmp/data" of="/dev/$(namespace)" bs=64k oflag=direct status=none
	dd if="/dev/$disk" bs=64k count=$((megabytes * 16)) iflag=direct status=none |
		cmp - "$tmp/data"
}

reads()
{
	dd if="/dev/$(namespace)" bs=32k count=$((megabytes * 32)) iflag=direct \
		status=none | cmp - "$tmp/data"
}

# signatures NAME: prints how many the adapter has checked, or found bad
signatures()
{
	simhca-ctl dump | jq ".hcas[0].signatures.$1"
}

# Each block comes from memory or from the wire with a signature that is checked: at the
# host and at the target, of a write and of a read. Blocks that were never written, of
# which the host reads some when it connects, have no signature to check.
all_checked()
{
	[ "$(signatures checked)" -eq $((4 * blocks)) ] ||
		fail "$(signatures checked) signatures were checked"
	[ "$(signatures bad)" = 0 ] || fail "$(signatures bad) were bad"
}

while_managed()
{
	local programs

	uuar_traffic -q -n 16 -r 30 &
	programs=$!
	writes
	reads
	wait $programs
}

# The host tells its user, who gets no wrong byte.
a_bit_flips()
{
	simhca-ctl '{"op":"fault","kind":"flip"}'
	must_fail dd if="/dev/$(namespace)" of=/dev/null bs=32k count=1 iflag=direct
	must_fail dd if="$tmp/data" of="/dev/$(namespace)" bs=32k count=1 oflag=direct
	simhca-ctl clear
	[ "$(signatures bad)" -ge 2 ] || fail "$(signatures bad) signatures were bad"
	reads
}

# The adapter goes away below a host and a target that are connected, and comes back.
adapter_goes()
{
	local pci

	pci=$(basename "$(readlink -f "/sys/class/infiniband/$dev/device")")
	echo "$pci" >/sys/bus/pci/drivers/mlx5_core/unbind
	wait_for 20 no_host
	echo "$pci" >/sys/bus/pci/drivers/mlx5_core/bind
	wait_for 20 [ -e "$ep/uuar_policy" ]
	target_ends
	address_up
	ep_policy shared-uuar
	target 1
	connects T10-DIF-TYPE1-CRC
	reads
}

modprobe -qa nvmet-rdma nvme-rdma sd_mod || skip_all 'no NVMe over RDMA'
modprobe -q scsi_debug dev_size_mb=16 dif=1 dix=1 guard=0 || skip_all 'no scsi_debug'
wait_for 20 scsi_disk >/dev/null
disk=$(scsi_disk)
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
address_up
ep_policy independent 16

plan 13
simhca-ctl reset >/dev/null
check 'a target offers a disk' target 1
check 'a host connects, and both ends protect blocks' connects T10-DIF-TYPE1-CRC
check 'what a host writes is on the disk' writes
check 'what a host reads is what it wrote' reads
check 'the HCA checked each block at both ends' all_checked
check 'data is right while a managed program runs' while_managed
check 'a bit that flips on the way is an error of the host' a_bit_flips
check 'the adapter goes away below them, and comes back' adapter_goes
check 'the host disconnects' disconnects
target_ends
target 0
connects none
simhca-ctl reset >/dev/null
check 'without protection data is right too' while_managed
check 'and the HCA checks no signature' [ "$(signatures checked)" = 0 ]
disconnects
target_ends
ip addr del "$address/24" dev "$(netdev)"
modprobe -r scsi_debug nvme-rdma nvmet-rdma
ep_policy stock
check 'nothing is left of the signature keys' [ "$(hca_alive psv)" = 0 ]
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
