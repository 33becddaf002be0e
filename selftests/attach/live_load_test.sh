#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: live, hca: 2, smp: 2, module: later, timeout: 600, config: INFINIBAND_IPOIB
#
# The module is loaded and unloaded while the device is in use. Programs open it, create
# QPs, send and exit, under each policy. TCP and a mount of NFS run over it. Nothing of that
# ends or fails. Contexts that are opened while the module is there get the policy.
# Nothing is left.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh
# shellcheck source=selftests/attach/live.sh
. selftests/attach/live.sh

rounds=${MLX5_EP_LIVE_ROUNDS:-8}
[ "$slowness" -le 1 ] || rounds=$((rounds / 2))

attaches_half()
{
	local inode

	inode=$(stat -L -c %i "/sys/class/infiniband/$dev")
	ep_insmod
	is_half || fail "$(cat "$ep/attached")"
	[ "$(stat -L -c %i "/sys/class/infiniband/$dev")" = "$inode" ]
	data_goes_on
}

unloads_quietly()
{
	unloads
	data_goes_on
}

# A context from before is left alone; one that is opened now gets the policy and counts.
manages()
{
	ep_policy independent 8 1
	uuar_traffic -q -n 4 -r 1 -x "cat /sys/kernel/debug/mlx5_ep/*/contexts \
		>$tmp/contexts; cat $ep/uar_in_use >$tmp/in_use"
	cat "$tmp/contexts"
	awk '$2 == "independent" && $5 == 1 && $11 == 4 { found = 1 }
	     END { exit !found }' "$tmp/contexts"
	# A page for each QP, and the one that each context has for its CQs.
	[ "$(cat "$tmp/in_use")" = 5 ] || fail "$(cat "$tmp/in_use") pages"
	[ "$(ep_get uar_in_use)" = 0 ]
}

limits()
{
	local pages error observed

	ep_policy stock
	ep_set uar_user_limit 1
	code 1 uuar_traffic -q -n 16 -r 1
	grep -q 'Disk quota exceeded' "$tmp/err"
	# UAR objects count where they are mapped: there is no uverbs part that sees them made.
	ep_set uar_user_limit 6
	read -r pages error observed <<<"$(selftests/attach/devx_uars.py "$dev" 20)"
	[ "$error $observed" = 'EDQUOT 6' ] || fail "$error, $observed pages"
	[ "$pages" -gt 0 ] && [ "$pages" -le 6 ] || fail "$pages objects"
	[ "$(ep_get uar_observed)" = 0 ]
	ep_set uar_user_limit 0
	program
}

# managed_under POLICY: a program of the loop is managed under it
managed_under()
{
	cat /sys/kernel/debug/mlx5_ep/*/contexts |
		awk -v policy="$1" '$2 == policy && $5 == (policy != "stock") { found = 1 }
			END { exit !found }'
}

# busy NUMBER: opens, creates, sends and exits again and again, until told to end
busy()
{
	local n=0

	while [ ! -e "$tmp/end" ]; do
		program >"$tmp/busy$1" 2>&1 || return 1
		n=$((n + 1))
		echo $n >"$tmp/runs$1"
	done
}

in_rounds()
{
	local policies=(stock independent shared-uar shared-uuar) i
	local -a pids=()

	for i in 1 2; do
		busy $i &
		pids+=($!)
	done
	for i in $(seq "$rounds"); do
		ep_insmod
		is_half || fail "round $i: $(cat "$ep/attached")"
		ep_policy "${policies[i % 4]}" 4
		wait_for 30 managed_under "${policies[i % 4]}"
		sleep 0.$((i % 7))
		ep_policy stock
		unloads
		kill -0 "${pids[@]}" || fail "round $i: $(cat "$tmp"/busy*)"
		echo "# progress: $i of $rounds" >&3
	done
	touch "$tmp/end"
	wait "${pids[0]}" && wait "${pids[1]}" || fail "$(cat "$tmp"/busy*)"
	cat "$tmp"/runs*
	data_goes_on
}

# Contexts that were opened without the module, with it, and managed, through one unload.
held()
{
	local pid before observed

	holds before
	before=$pid
	ep_insmod
	holds observed
	observed=$pid
	ep_policy independent 4
	holds managed
	managed 1
	must_fail rmmod mlx5_ep
	ends managed "$pid"
	unloads
	ends before "$before"
	ends observed "$observed"
	program
}

plan 9
program >/dev/null
stream_start
mount_start
base=$(hca_objects 'uar, pd, td, cq, qp, srq')
check 'a device that is in use is attached, without its uverbs part' attaches_half
check 'contexts that are opened from then on get the policy' manages
check 'limits bind them' limits
check 'the module leaves, and the connection and the mount go on' unloads_quietly
check 'loaded and unloaded in a loop while programs run' in_rounds
check 'contexts that are open stay usable when the module goes' held
check 'nothing is left' becomes 20 "$base" hca_objects 'uar, pd, td, cq, qp, srq'
mount_end
stream_end
check 'the HCA has nothing to complain of' both_clean
ktap_finished
