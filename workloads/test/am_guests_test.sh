#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, smp: 2, timeout: 480, long: yes
#
# Active messages and Split-C between two guests, with two processes in each: every byte
# and every count is right, and a process that is killed in one guest is an error at
# the other one of this guest and at both of the other guest. The script runs twice: as
# the test, and with --node in each guest.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=lab/guests.sh
. lab/guests.sh

# job PORT PROGRAM OPTION...: this guest's part of a job; says how it ended
job()
{
	local status=0

	"$2" -n 2 -p 2 -i "$MLX5_EP_GUEST" -m "tcp:10.46.0.1:$1" "${@:3}" || status=$?
	echo "guest=$MLX5_EP_GUEST job=$1 status=$status"
}

node()
{
	guest_network
	job 17430 am_storm -r 50 -g event
	job 17431 am_events -r 4 -g thread
	job 17432 splitc_ops -r 1
	job 17433 am_events -r 6 -k 3 -g event
}

guests()
{
	lab/vm --kernel "${MLX5_EP_KERNEL:-7.2}" --hca 2 --guests 2 --smp 2 \
		--timeout 450 -- workloads/test/am_guests_test.sh --node >"$tmp/all" 2>&1 ||
		fail "$(cat "$tmp/all")"
}

# lines N PATTERN: so many lines of both guests are like that
lines()
{
	[ "$(grep -c "$2" "$tmp/all")" = "$1" ] || fail "$2: $(cat "$tmp/all")"
}

right()
{
	lines 2 " job=$1 status=0\$"
	lines 1 "^$2.* wrong=0\$"
}

# Process 3 is in guest 1. Each guest's last line counts its own two.
death()
{
	lines 2 ' job=17433 status=1$'
	lines 1 'killed=0 told=2 failed=0 passed=0 ms='
	lines 1 'killed=1 told=1 failed=0 passed=0 ms='
	lines 3 'dead: 3$'
}

if [ "${1-}" = --node ]; then
	node
	exit
fi
plan 5
check 'four processes in two guests end' guests
check 'a storm of requests: each is handled once' right 17430 am_storm:
check 'requests with bytes, replies and writes' right 17431 am_events:
check 'each operation of Split-C' right 17432 splitc_ops:
check 'a killed process is an error in both guests' death
ktap_finished
