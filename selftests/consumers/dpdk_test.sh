#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, smp: 2, timeout: 400
#
# DPDK's testpmd, as Debian has it, drives an Ethernet port and answers the pings of
# another one, whose driver is the kernel's; ping compares the bytes. It does so without
# the module and under each policy.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
parts=build/dpdk
pings=205

# unpack: testpmd and what it needs, with the plugins that it is told to load
unpack()
{
	local name fetched
	local -a packages=(dpdk-dev libpcap0.8t64)

	for name in bitratestats bpf bus-auxiliary bus-dpaa bus-pci bus-vdev cmdline \
		common-dpaax common-iavf common-mlx5 crypto-scheduler cryptodev \
		dmadev eal ethdev eventdev gro gso hash ip-frag kvargs latencystats \
		log mbuf mempool mempool-dpaa mempool-ring meter metrics net net-bnxt \
		net-bond net-dpaa net-i40e net-iavf net-ice net-ixgbe net-mlx5 pcapng \
		pci pdump rcu reorder ring sched security telemetry timer; do
		packages+=("librte-${name/%5/5-}25")
	done
	fetched=$(lab/fetch dpdk "${packages[@]}")
	rm -rf "$parts"
	mkdir -p "$parts"
	cp -a "$fetched/usr" "$parts"
}

# guest absent, or guest POLICY...: the lines of the states are in $tmp/rows
guest()
{
	local module=()

	[ "$1" != absent ] || module=(--no-module)
	lab/vm --kernel "${MLX5_EP_KERNEL:-7.2}" --link eth --hca 2 --smp 2 --mem 2G \
		--timeout 1200 "${module[@]}" -- "$0" --guest "$@" |
		tee -a "$tmp/rows"
}

# testpmd OUTPUT: in the background; sets pid
testpmd()
{
	local libs=$parts/usr/lib/x86_64-linux-gnu name
	local -a words=(--in-memory -m 256 --no-telemetry -l 0-1 -a "$pci")

	for name in net_mlx5 common_mlx5 bus_auxiliary bus_pci mempool_ring; do
		words+=(-d "$libs/librte_$name.so.25")
	done
	# It ends when there is a line to read, or no more of them.
	LD_LIBRARY_PATH=$libs stdbuf -oL $parts/usr/bin/dpdk-testpmd "${words[@]}" -- \
		--forward-mode=icmpecho --total-num-mbufs=4096 --auto-start \
		<"$tmp/stdin" >"$1" 2>&1 &
	pid=$!
}

begun()
{
	grep -q 'Press enter' "$1" || ! kill -0 "$pid" 2>/dev/null
}

# answered OPTION...: how many pings were
answered()
{
	{ ping -W 2 "$@" 10.9.0.2 || true; } |
		sed -n 's/.* \([0-9]*\) received.*/\1/p'
}

# state STATE: a line for it
state()
{
	local pid input pages=0 got status=0

	[ "$1" = absent ] || ep_set uuar_policy "$1"
	rm -f "$tmp/stdin"
	mkfifo "$tmp/stdin"
	sleep 600 >"$tmp/stdin" &
	input=$!
	testpmd "$tmp/said"
	wait_for 60 begun "$tmp/said"
	ip neigh flush dev "$far"
	got=$(($(answered -c 5 -i 0.2) + $(answered -f -c $((pings - 5)) -s 1000)))
	[ "$1" = absent ] || pages=$(($(ep_get uar_in_use) + $(ep_get uar_observed)))
	kill $input
	wait "$pid" || status=$?
	[ "$status" = 0 ] || sed 's/^/# /' "$tmp/said"
	[ "$1" = absent ] || {
		ep_set uuar_policy stock
		[ "$(($(ep_get uar_in_use) + $(ep_get uar_observed)))" = 0 ] || status=left
	}
	echo "dpdk: state=$1 answered=$got pages=$pages status=$status"
}

in_guest()
{
	local near

	# DPDK takes no plugin below a folder that all may write, such as /tmp.
	mkdir /run/dpdk
	mount --bind "$parts" /run/dpdk
	parts=/run/dpdk
	pci=$(basename "$(readlink "/sys/class/infiniband/$dev/device")")
	near=$(ls "/sys/class/infiniband/$dev/device/net")
	far=$(ls /sys/class/infiniband/mlx5_1/device/net)
	echo 160 >/proc/sys/vm/nr_hugepages
	ip link set "$near" up
	ip addr add 10.9.0.1/24 dev "$far"
	ip link set "$far" up
	while [ $# -gt 0 ]; do
		state "$1"
		shift
	done
	both_clean >&2
}

# served STATE: each ping was answered, testpmd ended well, and nothing is left
served()
{
	local row

	row=$(grep "^dpdk: state=$1 " "$tmp/rows") || fail 'no such row'
	[[ $row = *" answered=$pings pages="*" status=0" ]] || fail "$row"
	case $1 in
	absent) ;;
	*) [[ $row != *' pages=0 '* ]] || fail "nothing counts: $row" ;;
	esac
}

if [ "${1-}" = --guest ]; then
	shift
	in_guest "$@"
	exit
fi

plan 8
check 'packages are unpacked' unpack
check 'a guest without the module' guest absent
check 'a guest with the module' guest stock independent shared-uar shared-uuar
check 'absent' served absent
for policy in stock independent shared-uar shared-uuar; do
	check "$policy" served $policy
done
ktap_finished
