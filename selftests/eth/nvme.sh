# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154 # one_port.sh sets address, the test sets disk
#
# The kernel's target of NVMe over RDMA and its host, both on one port. Sourced after
# selftests/eth/one_port.sh.

nqn=mlx5-ep-test
port=4420
nvmet=/sys/kernel/config/nvmet

# target PROTECTED: the disk is there for hosts, with its T10 DIF if PROTECTED is 1
target()
{
	local subsystem=$nvmet/subsystems/$nqn at=$nvmet/ports/1

	mkdir "$subsystem"
	echo 1 >"$subsystem/attr_allow_any_host"
	echo "$1" >"$subsystem/attr_pi_enable"
	mkdir "$subsystem/namespaces/1"
	echo "/dev/$disk" >"$subsystem/namespaces/1/device_path"
	echo 1 >"$subsystem/namespaces/1/enable"
	mkdir "$at"
	echo rdma >"$at/addr_trtype"
	echo ipv4 >"$at/addr_adrfam"
	echo $address >"$at/addr_traddr"
	echo $port >"$at/addr_trsvcid"
	echo "$1" >"$at/param_pi_enable"
	ln -s "$subsystem" "$at/subsystems/$nqn"
}

target_ends()
{
	rm "$nvmet/ports/1/subsystems/$nqn"
	rmdir $nvmet/ports/1
	rmdir "$nvmet/subsystems/$nqn/namespaces/1" "$nvmet/subsystems/$nqn"
}

# namespace: prints the name of the host's block device
namespace()
{
	block_device /sys/class/nvme-subsystem/*/nvme*n1 /sys/class/nvme/*/nvme*n1
}

# connects FORMAT: the host finds the disk, whose blocks are protected in that way. With
# a longer queue the target would want more of a send queue than an adapter has.
connects()
{
	echo "nqn=$nqn,transport=rdma,traddr=$address,trsvcid=$port,nr_io_queues=1,queue_size=32" \
		>/dev/nvme-fabrics
	wait_for 20 namespace >/dev/null
	becomes 10 "$1" cat "/sys/block/$(namespace)/integrity/format"
}

no_host()
{
	must_fail compgen -G '/sys/class/nvme/nvme*'
}

disconnects()
{
	local path

	for path in /sys/class/nvme/nvme*; do
		echo 1 >"$path/delete_controller"
	done
	wait_for 20 no_host
}
