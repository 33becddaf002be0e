#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: eswitch, hca: 2, link: eth, eswitch: yes, smp: 2, timeout: 300, config: MLX5_ESWITCH
#
# The module beside representors. The stock driver takes the RDMA device of an HCA away
# when the e-switch gets another mode, and makes another one: the module attaches to each,
# and the netdev does not notice.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh
# shellcheck source=simhca/guest/two_ends.sh
. simhca/guest/two_ends.sh
# shellcheck source=simhca/guest/eswitch.sh
. simhca/guest/eswitch.sh

kinds='flow_table, flow_group, flow, uar, uctx, qp, cq, tir, rq, mkey, pd'

# a_has NAME: prints an attribute of the module, of the first HCA
a_has()
{
	cat "$(rdma_a)/mlx5_ep/$1"
}

a_attached()
{
	becomes 20 yes a_has attached
}

# settings: prints those of the first HCA, on one line
settings()
{
	echo "$(a_has uuar_policy) $(a_has uuar_pages) $(a_has uar_budget)"
}

set_all()
{
	a_attached
	echo independent >"$(rdma_a)/mlx5_ep/uuar_policy"
	echo 8 >"$(rdma_a)/mlx5_ep/uuar_pages"
	echo 100 >"$(rdma_a)/mlx5_ep/uar_budget"
}

as_set()
{
	a_attached
	[ "$(settings)" = 'independent 8 100' ] || fail "settings: $(settings)"
	[ "$(a_has uar_in_use) $(a_has uar_observed)" = '0 0' ]
}

# Both modes, with the same settings in each.
survives()
{
	representor
	as_set
	legacy
	as_set
}

# The tool says of representors that no QP connects there, and tests nothing else.
selftest()
{
	representor
	a_attached
	code 0 mlx5ep selftest "$(basename "$(rdma_a)")"
	grep '^not testable: device: .*port 1 has no address' "$tmp/out"
	legacy
	a_attached
	wait_for 10 gid_there "$(basename "$(rdma_a)")"
	code 0 mlx5ep selftest "$(basename "$(rdma_a)")"
	grep '^selftest: [1-9][0-9]* passed, 0 failed' "$tmp/out"
}

# A table of the e-switch is refused. The driver goes back, and its device as well.
refused()
{
	local status=0

	legacy
	simhca-ctl '{"op":"fault","kind":"cmd","opcode":"SET_FLOW_TABLE_ROOT","status":5,"count":0}'
	mode switchdev || status=$?
	simhca-ctl clear
	[ $status != 0 ]
	becomes 20 1 rdma_ports
	[ "$(mode) $(switch on)" = 'legacy false' ]
	as_set
}

baseline()
{
	[ "$(hca_objects "$kinds")" = "$(cat "$tmp/before")" ] ||
		fail "$(hca_objects "$kinds"), not $(cat "$tmp/before")"
}

# opened: programs open contexts of the device one after the other
opened()
{
	while [ ! -e "$tmp/enough" ]; do
		ibv_devinfo -d "$(basename "$(rdma_a || echo none)")" || :
		echo >>"$tmp/opened"
	done
}

under_programs()
{
	local i programs

	opened &
	programs=$!
	trap 'touch "$tmp/enough"' EXIT
	for i in 1 2 3; do
		representor
		legacy
	done
	touch "$tmp/enough"
	wait $programs
	[ "$(wc -l <"$tmp/opened")" -ge 3 ]
	as_set
	baseline
}

# A driver that is loaded in switchdev mode makes the device of representors from 7.2 on.
# Older ones make it when the mode changes, and until then there is that of the other HCA.
loaded()
{
	ep_insmod
	modprobe mlx5_ib
	case $(uname -r) in
	6.*)
		becomes 20 yes cat /sys/class/infiniband/*/mlx5_ep/attached
		[ ! -e "$(rdma_a || echo /none)" ]
		;;
	*)
		becomes 20 2 rdma_ports
		set_all
		;;
	esac
}

# The module and the driver go and come as often as they can during a transfer.
transfer()
{
	local times=0 peer end=$((SECONDS + 120 * slowness))

	representor
	moved 192.0.2.2 40000037 &
	peer=$!
	trap 'kill $peer' EXIT
	until [ $times -ge 2 ] && ! kill -0 $peer 2>/dev/null; do
		ib_unload
		rmmod mlx5_ep
		[ ! -e "$(rdma_a || echo /none)" ]
		loaded
		times=$((times + 1))
		[ $SECONDS -lt $end ] || fail 'the transfer does not end'
	done
	trap - EXIT
	wait $peer
	echo "$times times"
}

# The module goes in this mode, and comes back in the other one.
unloaded()
{
	[ "$(mode)" = switchdev ]
	ib_unload
	rmmod mlx5_ep
	mode legacy
	ep_insmod
	modprobe mlx5_ib
	becomes 20 1 rdma_ports
	a_attached
	[ "$(settings)" = 'stock 0 0' ]
	baseline
}

# A reload of the device ends in the legacy mode.
reloaded()
{
	set_all
	representor
	devlink dev reload "$pci_a"
	becomes 20 1 rdma_ports
	as_set
	[ "$(mode) $(switch on) $(switch tables)" = 'legacy false 0' ]
}

eswitch_ends_up
set_all
plan 8
hca_objects "$kinds" >"$tmp/before"
check 'the settings of a device survive both changes of the mode' survives
check 'mlx5ep selftest knows representors' selftest
check 'a change that fails leaves the module attached' refused
check 'the mode changes under programs that open contexts' under_programs
check 'a transfer is not harmed by the module, which goes and comes' transfer
check 'unloaded in switchdev mode, loaded in legacy mode' unloaded
check 'after a reload the module is attached, with the settings' reloaded
check 'simhca counted no error' both_clean
ktap_finished
