# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154 # lib.sh sets dev, one_port.sh address
#
# The kernel's target of SRP, which serves ram0, and its initiator, both on one port.
# Sourced after selftests/eth/one_port.sh.

target=/sys/kernel/config/target

# scsi_disk: prints the name of the initiator's disk
scsi_disk()
{
	block_device /sys/class/scsi_disk/*/device/block/*
}

# The name of the target's port is the lower half of its GID.
srp_serves()
{
	local gid port at=$target/core/iblock_0/disk

	gid=$(cat "/sys/class/infiniband/$dev/ports/1/gids/0")
	port=$target/srpt/$(cut -d: -f5- <<<"$gid")
	modprobe -a ib_srpt ib_srp
	mkdir -p $at
	echo udev_path=/dev/ram0 >$at/control
	echo 1 >$at/enable
	mkdir -p "$port/tpg/lun/lun_0"
	echo 5555 >$target/srpt/discovery_auth/rdma_cm_port
	ln -s $at "$port/tpg/lun/lun_0/"
	mkdir "$port/tpg/acls/$address"
	mkdir "$port/tpg/acls/$address/lun_0"
	ln -s "$port/tpg/lun/lun_0" "$port/tpg/acls/$address/lun_0/"
	echo 1 >"$port/tpg/enable"
}

srp_connects()
{
	local id

	id=$(cat /sys/module/ib_srpt/parameters/srpt_service_guid)
	id=${id#0x}
	echo "id_ext=$id,ioc_guid=$id,dest=$address:5555,tl_retry_count=2" \
		>"/sys/class/infiniband_srp/srp-$dev-1/add_target"
	wait_for 20 scsi_disk
}

# The initiator goes first, and completely: 7.2's crashes if the target ends the connection
# while the work that removes the host is still running. Unloading waits for that work.
srp_ends()
{
	local port

	modprobe -r ib_srp
	for port in "$target"/srpt/*:*; do
		echo 0 >"$port/tpg/enable"
		rm "$port/tpg/acls/$address/lun_0/lun_0" "$port/tpg/lun/lun_0/disk"
		rmdir "$port/tpg/acls/$address/lun_0" "$port/tpg/acls/$address" \
			"$port/tpg/lun/lun_0" "$port/tpg" "$port"
	done
	rmdir $target/core/iblock_0/disk $target/core/iblock_0
	rmdir $target/srpt
	modprobe -r ib_srpt
}
