#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, guest: tool, timeout: 120
#
# mlx5ep selftest passes on a sound HCA, of which it sets nothing and leaves
# nothing behind, and fails by name where firmware does not answer.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

settings()
{
	grep -H . "$ep"/uuar_policy "$ep"/uuar_pages "$ep"/uuar_strict || true
	wc -c <"$ep/uar_cgroup_limits"
	find /sys/fs/cgroup -mindepth 1 -type d
	simhca-ctl dump | jq '.hcas[0].qps | map(select(.user)) | length'
}

passes()
{
	settings >"$tmp/before"
	simhca-ctl '{"op":"reset"}'
	code 0 mlx5ep selftest "$dev"
	grep -q '^selftest: [1-9][0-9]* passed, 0 failed' "$tmp/out"
	settings >"$tmp/after"
	diff "$tmp/before" "$tmp/after"
	simhca-ctl dump | jq -e '.hcas[0].errors.wrong_uar == 0'
}

# The checks of the group, of which the last three need root and a cgroup.
limits_passed()
{
	code 0 mlx5ep -j selftest "$dev"
	jq -e '[.results[] | select(.group == "limits") | .result] ==
		["passed", "passed", "passed", "passed"]' "$tmp/out"
}

# fails_by_name FAULT GROUP CHECK: with that fault the check of the group fails
fails_by_name()
{
	simhca-ctl "{\"op\":\"fault\",$1}"
	code 1 mlx5ep -j selftest "$dev"
	simhca-ctl '{"op":"clear"}'
	simhca-ctl '{"op":"reset"}'
	jq -e --arg group "$2" --arg check "$3" '[.results[] |
		select(.result == "failed")] |
		any(.group == $group and .check == $check)' "$tmp/out"
}

# The other groups do not see it.
only_events_fail()
{
	fails_by_name '"kind":"mute"' events \
		'completion events arrive under independent'
	jq -e '[.results[] | select(.result == "failed") | .group] |
		unique == ["events"]' "$tmp/out"
}

refuses_what_is_not_there()
{
	code 4 mlx5ep selftest mlx5_99
	code 2 mlx5ep selftest "$dev" more
}

plan 7
check 'a sound HCA passes, and is as before' passes
check 'the limit of a cgroup is tried' limits_passed
check 'firmware that does not answer fails by name' fails_by_name \
	'"kind":"cmd","opcode":"QUERY_QP","count":0,"status":1' \
	independent 'firmware answers QUERY_QP'
check 'QPs on another UAR page fail by name' fails_by_name '"kind":"uar"' \
	independent 'mapped pages are those of firmware'
check 'lost completion events fail by name' only_events_fail
check 'an HCA without XRC domains fails by name' fails_by_name \
	'"kind":"cmd","opcode":"ALLOC_XRCD","count":0,"status":1' \
	xrc 'a process creates the QP'
check 'a device that is not there is refused' refuses_what_is_not_there
ktap_finished
