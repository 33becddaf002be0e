#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, smp: 2, timeout: 400
#
# lab/try runs a program in guests under each state, and says what the adapter saw.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

table=build/try/table.json
options=(--kernel "${MLX5_EP_KERNEL:-7.2}")

placed()
{
	code 0 lab/try "${options[@]}" --states 'absent independent shared-uuar' \
		-- build/bin/uuar_traffic -q -n 8 -r 1
	jq -e 'map([.state, .status, .qps, .errors, .in_use]) ==
		[["absent", 0, 8, 0, 0], ["independent", 0, 8, 0, 0],
		 ["shared-uuar", 0, 8, 0, 0]]' $table
	jq -e '.[1] | [.uuars, .sharing] == [8, 0]' $table
	jq -e '.[2] | .uuars < 8 and .sharing > 0' $table
	grep -Eq '^independent +0 +[0-9]+ +8 +[0-9]+ +8 +0 +0 +0$' "$tmp/out"
}

# A program that fails, of a package that the lab does not have
fails()
{
	code 1 lab/try "${options[@]}" --packages hello --states stock \
		-- sh -c 'hello && exit 7'
	jq -e 'map([.state, .status]) == [["stock", 7]]' $table
	grep -qi 'hello, world' build/try/stock.0.log
}

two_guests()
{
	code 0 lab/try "${options[@]}" --guests 2 --states independent \
		--server 'rping -s -a 0.0.0.0 -C 5' \
		-- sh -c 'rping -c -a $PEER -C 5 -v | tee /dev/stderr | grep -c ping-4'
	jq -e '.[0] | .status == 0 and .qps >= 2' $table
	grep -q ping-4 build/try/independent.0.log
}

# What contexts of the stock policy hold counts too, and the server's status.
left_or_failed()
{
	code 1 lab/try "${options[@]}" --states stock \
		-- sh -c 'build/bin/uuar_traffic -q -n 1 -r 100000000 >/dev/null 2>&1 &
			until [ "$(cat /sys/class/infiniband/mlx5_0/mlx5_ep/uar_observed)" != 0 ]; do
				sleep 0.1
			done'
	jq -e '.[0] | .status == 0 and .in_use > 0' $table
	code 1 lab/try "${options[@]}" --guests 2 --states stock --server 'sh -c "exit 3"' \
		-- true
	jq -e '.[0].status == 3' $table
}

refused()
{
	exec 7>build/try.lock
	flock 7
	code 75 lab/try -- true
	exec 7>&-
	code 2 lab/try
	code 2 lab/try --guests 3 -- true
	code 2 lab/try --states policy -- true
	grep -q 'policy is neither absent nor a policy' "$tmp/err"
	code 2 lab/try --states '' -- true
	code 2 lab/try --packages
	code 0 lab/try --help
	head -n 1 "$tmp/out" | grep -q '^usage: lab/try '
}

plan 5
check 'what a program rings is told for each state' placed
check 'a program of a package that fails is told, and fails the run' fails
check 'a server waits in the other guest' two_guests
check 'what stays open, and a server that fails, are told' left_or_failed
check 'wrong options are refused' refused
ktap_finished
