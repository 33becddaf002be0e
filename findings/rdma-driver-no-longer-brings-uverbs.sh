#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Debian's kernels 6.12.117-1 and 7.3.4-1~bpo13+1 (amd64): loading an RDMA driver (here
# rdma_rxe) and making a device brings ib_uverbs on 6.12, since the driver depends on it,
# and not on 7.3, where the driver depends on ib_uverbs_support: there is a device, and no
# /dev/infiniband/uverbs0, until something asks for it. Where udev's rules do not, the first
# program of libibverbs does (rdma-core 65.0-1.1, ibv_devices: over netlink). Seen on 28
# November 2026:
#
#    6.12.117: after the driver: device rxe0, ib_uverbs loaded, uverbs0 there
#    6.12.117: after ibv_devices: device rxe0, ib_uverbs loaded, uverbs0 there
#    7.3.4: after the driver: device rxe0, ib_uverbs not loaded, uverbs0 missing
#    7.3.4: after ibv_devices: device rxe0, ib_uverbs loaded, uverbs0 there
set -euo pipefail
# shellcheck source=/dev/null
. "$(dirname "$0")/lib/guest.sh"

guest_setup sid 'linux-image-7.3.4+deb13-amd64=7.3.4-1~bpo13+1' \
	'linux-image-6.12.117+deb13-amd64=6.12.117-1' -- \
	ibverbs-providers=65.0-1.1 ibverbs-utils=65.0-1.1 iproute2=7.3.0-1

guest_run_each 6.12.117 7.3.4 <<'GUEST'
state()
{
	local loaded='not loaded' node=missing

	! grep -q '^ib_uverbs ' /proc/modules || loaded=loaded
	[ ! -e /dev/infiniband/uverbs0 ] || node=there
	echo "$1: device $(ls /sys/class/infiniband), ib_uverbs $loaded, uverbs0 $node"
}
modprobe -a veth rdma_rxe
ip link set lo up
ip link add v0 type veth peer name v1
ip link set v0 up
ip link set v1 up
rdma link add rxe0 type rxe netdev v0
sleep 2
state 'after the driver'
ibv_devices >/dev/null
sleep 1
state 'after ibv_devices'
GUEST
guest_same 'what brings ib_uverbs' <<'END'
6.12.117: after the driver: device rxe0, ib_uverbs loaded, uverbs0 there
6.12.117: after ibv_devices: device rxe0, ib_uverbs loaded, uverbs0 there
7.3.4: after the driver: device rxe0, ib_uverbs not loaded, uverbs0 missing
7.3.4: after ibv_devices: device rxe0, ib_uverbs loaded, uverbs0 there
END

verdict 'on 7.3 a driver brings a device without ib_uverbs, which on 6.12 it depends on'
