#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: netns, timeout: 240, config: NET_NS
#
# A process in another net namespace, as in a container, sees what the module says
# of a device: while namespaces share devices, and where the device was moved to
# that namespace. Settings can be changed through the device's own entry only.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

# A command in the namespace. ip mounts a sysfs that shows what the namespace has.
pod()
{
	ip netns exec "${pod:-pod}" "$@"
}

visible()
{
	[ "$(pod cat "$ep/attached" 2>&1)" = yes ]
}

same_attributes()
{
	local name

	visible || fail "attached: $(pod cat "$ep/attached" 2>&1)"
	ep_policy shared-uar 5
	for name in "$ep"/*; do
		diff "$name" <(pod cat "$name")
	done
	[ "$(pod cat "$ep/uuar_policy" "$ep/uuar_pages" | xargs)" = 'shared-uar 5' ]
	ep_policy stock
}

# What a program does there under the administrator's policy.
policy_of_a_program()
{
	ep_policy independent 8 1
	pod uuar_traffic -q -n 4 -r 1 -x "cat $ep/uar_in_use >$tmp/pages"
	ep_policy stock
	[ "$(cat "$tmp/pages")" = 5 ] || fail "$(cat "$tmp/pages") pages"
}

tool_shows_it()
{
	code 0 mlx5ep -j show
	jq -S '.devices[0] | {device, attached, policy, pages, pci}' \
		"$tmp/out" >"$tmp/here"
	code 0 pod mlx5ep -j show
	jq -S '.devices[0] | {device, attached, policy, pages, pci}' \
		"$tmp/out" | diff "$tmp/here" -
	code 0 pod mlx5ep show
}

doctor_finds_it_attached()
{
	local here=0 there=0

	mlx5ep doctor >"$tmp/here" 2>&1 || here=$?
	pod mlx5ep doctor >"$tmp/there" 2>&1 || there=$?
	cat "$tmp/there"
	[ "$here" = "$there" ]
	# debugfs is not mounted below the sysfs of the namespace.
	diff <(grep -v debugfs "$tmp/here") <(grep -v debugfs "$tmp/there")
}

# refused CMD...: nothing can be set by a write that CMD makes
refused()
{
	ep_policy stock
	code 1 "$@" bash -c "echo independent >$ep/uuar_policy"
	grep -q 'not permitted\|Permission denied' "$tmp/err"
	code 1 "$@" bash -c "echo 3 >$ep/uar_user_limit"
	code 1 "$@" bash -c "echo '/ independent 0 0' >$ep/uuar_cgroups"
	code 1 "$@" bash -c "echo '/ 3' >$ep/uar_cgroup_limits"
	[ "$(ep_get uuar_policy) $(ep_get uar_user_limit)" = 'stock 0' ]
	[ -z "$(ep_get uuar_cgroups)" ]
	[ -z "$(ep_get uar_cgroup_limits)" ]
}

# Root of a user namespace with a sysfs of its own.
as_user_root()
{
	unshare --user --map-root-user --net --mount -- sh -c \
		'mount -t sysfs none /sys && exec "$@"' sh "$@"
}

root_of_a_user_namespace()
{
	as_user_root grep -qx yes "$ep/attached"
	refused as_user_root
	grep -q 'not permitted' "$tmp/err"
}

root_of_the_namespace()
{
	refused pod
	grep -q 'not permitted' "$tmp/err"
	code 5 pod mlx5ep set --policy independent
}

comes_and_goes_with_the_device()
{
	local i

	ip netns add pod2
	for i in 1 2 3; do
		ib_unbind
		pod test ! -e "$ep"
		ib_bind
		wait_for 10 attached
		wait_for 10 visible
		pod=pod2 visible
	done
	ip netns del pod2
}

comes_and_goes_with_namespaces()
{
	local i

	for i in $(seq 8); do
		ip netns add "pod_$i"
		pod=pod_$i visible
	done
	for i in $(seq 8); do
		ip netns del "pod_$i"
	done
	attached
}

# Every entry of a device that is not attached says why.
refusal_is_seen()
{
	ib_unbind
	echo 0 >/sys/module/mlx5_ep/parameters/attach
	ib_bind
	wait_for 10 test -e "$ep/attached"
	wait_for 10 pod grep -q 'parameter attach is off' "$ep/attached"
	echo 1 >/sys/module/mlx5_ep/parameters/attach
	ib_unbind
	ib_bind
	wait_for 10 attached
	visible
}

# The mode can change only while there is no other namespace, and the kernel frees
# one a little after it was deleted.
mode()
{
	rdma system set netns "$1" 2>/dev/null
}

moved()
{
	ip netns del pod
	wait_for 10 mode exclusive
	ip netns add pod
	pod test ! -e "$ep"
	ip netns attach host $$
	rdma dev set "$dev" netns pod
	wait_for 10 visible
	[ ! -e "$ep" ]
	pod sh -c "echo independent >$ep/uuar_policy"
	pod mlx5ep -j show | jq -e '.devices[0].policy == "independent"'
	pod uuar_traffic -q -n 4 -r 1 -x "cat $ep/uar_in_use >$tmp/pages"
	[ "$(cat "$tmp/pages")" = 5 ]
	code 1 as_user_root test -e "$ep"
	pod sh -c "echo stock >$ep/uuar_policy"
	pod rdma dev set "$dev" netns host
	wait_for 10 attached
	[ "$(ep_get uuar_policy)" = stock ]
	ip netns del pod
	ip netns del host
	wait_for 10 mode shared
	ip netns add pod
	visible
}

pod=pod
ip netns add pod
plan 12
check 'the attributes are there, and the same' same_attributes
check 'a program gets its policy' policy_of_a_program
check 'mlx5ep show works there' tool_shows_it
check 'mlx5ep doctor works there' doctor_finds_it_attached
check 'root of a user namespace sets nothing' root_of_a_user_namespace
check 'root of the net namespace sets nothing' root_of_the_namespace
check 'attributes come and go with the device' comes_and_goes_with_the_device
check 'attributes come and go with namespaces' comes_and_goes_with_namespaces
check 'a refusal is seen there' refusal_is_seen
check 'a device that is moved takes its attributes along' moved
check 'everything is as before' same_attributes
check 'the HCA has nothing to complain of' hca_clean
ip netns del pod
ep_policy stock
ktap_finished
