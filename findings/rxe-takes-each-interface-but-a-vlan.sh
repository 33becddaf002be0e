#!/usr/bin/env bash
#
# Debian's kernels 6.12.117-1 and 7.3.4-1~bpo13+1 (amd64), rdma_rxe, iproute2 7.3.0-1: "rdma
# link add ... type rxe" makes an RDMA device on a bridge, a bond, a macvlan, a dummy, a tun
# interface and lo. On a VLAN, where adapters have RoCE and where one would want it, root is
# told "Operation not permitted"; the kernel log has the reason. The device on lo has the
# node GUID 0200:00ff:fe00:0000 on each machine, and on 6.12 the one on a tun interface,
# which has no hardware address, has the same; on 7.3 that is made up. Seen on 30 November
# 2026:
#
#    6.12.117: vlan0: error: Operation not permitted (exit status 1)
#    6.12.117: bridge0: made, with a node GUID of its own
#    6.12.117: tun0: made, with node GUID 0200:00ff:fe00:0000
#    6.12.117: lo: made, with node GUID 0200:00ff:fe00:0000
#    6.12.117: log: rxe creation allowed on top of a real device only
#    7.3.4: vlan0: error: Operation not permitted (exit status 1)
#    7.3.4: tun0: made, with a node GUID of its own
#    7.3.4: lo: made, with node GUID 0200:00ff:fe00:0000
#    7.3.4: log: rxe creation allowed on top of a real device only
set -euo pipefail
# shellcheck source=/dev/null
. "$(dirname "$0")/lib/guest.sh"

guest_setup sid 'linux-image-7.3.4+deb13-amd64=7.3.4-1~bpo13+1' \
	'linux-image-6.12.117+deb13-amd64=6.12.117-1' -- iproute2=7.3.0-1

guest_run_each 6.12.117 7.3.4 <<'GUEST'
modprobe -a veth rdma_rxe 8021q bridge bonding macvlan dummy tun
ip link set lo up
ip link add v0 type veth peer name v1
ip link set v0 up
ip link set v1 up
ip link add link v0 name vlan0 type vlan id 5
ip link add link v0 name macvlan0 type macvlan mode bridge
ip link add bridge0 type bridge
[ -e /sys/class/net/bond0 ] || ip link add bond0 type bond
[ -e /sys/class/net/dummy0 ] || ip link add dummy0 type dummy
ip tuntap add tun0 mode tun
for on in v0 vlan0 macvlan0 bridge0 bond0 dummy0 tun0 lo; do
	if said=$(rdma link add "rxe_$on" type rxe netdev "$on" 2>&1); then
		guid=$(cat "/sys/class/infiniband/rxe_$on/node_guid")
		case $guid in
		0200:00ff:fe00:0000) echo "$on: made, with node GUID $guid" ;;
		*) echo "$on: made, with a node GUID of its own" ;;
		esac
	else
		echo "$on: $said (exit status $?)"
	fi
done
dmesg | sed -n 's/.*rxe_newlink: /log: /p'
GUEST
guest_same 'on which interfaces rxe makes a device' <<'END'
6.12.117: v0: made, with a node GUID of its own
6.12.117: vlan0: error: Operation not permitted (exit status 1)
6.12.117: macvlan0: made, with a node GUID of its own
6.12.117: bridge0: made, with a node GUID of its own
6.12.117: bond0: made, with a node GUID of its own
6.12.117: dummy0: made, with a node GUID of its own
6.12.117: tun0: made, with node GUID 0200:00ff:fe00:0000
6.12.117: lo: made, with node GUID 0200:00ff:fe00:0000
6.12.117: log: rxe creation allowed on top of a real device only
7.3.4: v0: made, with a node GUID of its own
7.3.4: vlan0: error: Operation not permitted (exit status 1)
7.3.4: macvlan0: made, with a node GUID of its own
7.3.4: bridge0: made, with a node GUID of its own
7.3.4: bond0: made, with a node GUID of its own
7.3.4: dummy0: made, with a node GUID of its own
7.3.4: tun0: made, with a node GUID of its own
7.3.4: lo: made, with node GUID 0200:00ff:fe00:0000
7.3.4: log: rxe creation allowed on top of a real device only
END

verdict 'rxe is refused on a VLAN with EPERM, and taken on a bridge, a tun interface and lo'
