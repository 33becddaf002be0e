# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Drains an adapter of $pages UAR pages without the module and under each policy,
# with a budget of $budget pages, and compares what was served.
#
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

: "${pages:?UAR pages}" "${budget:?of them, those of managed contexts}"

# drain NAME QPS [POLICY BUDGET]: writes "CONTEXTS ARMED QPS WRONG_UAR"
drain()
{
	local name=$1.$2
	shift

	build/bin/uar_drain "$pages" "$@" >"$tmp/$name"
	echo "# $name: contexts, armed CQs, QPs, errors: $(cat "$tmp/$name")"
}

absent()
{
	ib_unload
	rmmod mlx5_ep
	modprobe mlx5_ib
	wait_for 60 test -e "/sys/class/infiniband/$dev"
	drain absent 1
	drain absent 6
	[ "$(cut -d' ' -f2 "$tmp/absent.1")" -gt 0 ] || fail 'nothing is served'
	ib_unload
	ep_insmod
	modprobe mlx5_ib
	wait_for 60 attached
}

# no_less NAME QPS: compares with what was served without the module
no_less()
{
	local -a is was
	local i

	read -ra is <"$tmp/$1.$2"
	read -ra was <"$tmp/absent.$2"
	for i in 0 1 2; do
		[ "${is[i]}" -ge "${was[i]}" ] ||
			fail "$1, $2 QPs: ${is[*]}, absent ${was[*]}"
	done
	[ "${is[3]}" = 0 ] || fail "$1: wrong UAR"
}

stock()
{
	local qps

	for qps in 1 6; do
		drain stock "$qps"
		cmp "$tmp/absent.$qps" "$tmp/stock.$qps"
	done
}

policy()
{
	local qps

	for qps in 1 6; do
		drain "$1" "$qps" "$1" "$budget"
		echo stock >"$ep/uuar_policy"
		echo 0 >"$ep/uar_budget"
		no_less "$1" "$qps"
	done
}

# drain_checks: five checks
drain_checks()
{
	local name

	check 'the adapter is drained without the module' absent
	check 'stock serves the same' stock
	for name in independent shared-uar shared-uuar; do
		check "$name serves no less" policy "$name"
	done
}
