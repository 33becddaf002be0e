#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: core, guest: netns, kernels: 6.1 6.12 7.2 7.3 newest, timeout: 120, config: NET_NS KRETPROBES
#
# The attributes cannot be shown in a net namespace, for lack of memory, which a
# kretprobe makes up. `attached` and the tool say so, and the policy holds there
# nevertheless. The debug kernel lacks kretprobes.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

pod()
{
	ip netns exec "${pod:-pod}" "$@"
}

attached_says()
{
	[ "$(cat "$ep/attached" 2>/dev/null)" = "$1" ]
}

says_so()
{
	fail_folders 1 ip netns add pod
	attached_says 'yes, but not seen in 1 net namespaces'
	# What was made of the folder is removed.
	pod test ! -e "$ep"
	fail_folders 1 ip netns add pod2
	attached_says 'yes, but not seen in 2 net namespaces'
	ip netns add pod3
	pod=pod3 pod cat "$ep/attached" |
		grep -x 'yes, but not seen in 2 net namespaces'
}

tools_say_so()
{
	code 0 mlx5ep -j show
	jq -e '.devices[0] | .attached and .unseen == 2' "$tmp/out"
	mlx5ep doctor >"$tmp/said" || true
	grep 'not seen in 2 net namespaces' "$tmp/said"
	mlx5ep doctor >"$tmp/said" || true
	! grep 'not attached' "$tmp/said"
}

policy_holds()
{
	ep_policy independent 8 1
	# The program runs the command where it is, and there are no attributes there.
	pod uuar_traffic -q -n 4 -r 1 \
		-x "nsenter -t $$ -m cat $ep/uar_in_use >$tmp/pages"
	ep_policy stock
	[ "$(cat "$tmp/pages")" = 5 ] || fail "$(cat "$tmp/pages") pages"
}

# The kernel frees a namespace a little after it was deleted.
goes_with_the_namespaces()
{
	ip netns del pod3
	ip netns del pod2
	wait_for 10 attached_says 'yes, but not seen in 1 net namespaces'
	ip netns del pod
	wait_for 10 attached_says yes
	ip netns add pod
	pod grep -qx yes "$ep/attached"
}

goes_with_the_device()
{
	fail_folders 1 ip netns add pod2
	attached_says 'yes, but not seen in 1 net namespaces'
	ib_unbind
	ib_bind
	wait_for 10 attached_says yes
	pod=pod2 pod grep -qx yes "$ep/attached"
	ip netns del pod2
	ip netns del pod
}

plan 5
check 'attached says that a namespace does not see the device' says_so
check 'the tool says so' tools_say_so
check 'the policy holds there' policy_holds
check 'it is forgotten with the namespaces' goes_with_the_namespaces
check 'it is forgotten with the device' goes_with_the_device
ktap_finished
