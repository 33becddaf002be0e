#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: tool, timeout: 180
#
# mlx5ep selftest passes on a sound HCA, of which it sets nothing and leaves
# nothing behind, and fails by name where firmware does not answer. It cannot ask
# simhca, and its figures are those that simhca has counted.

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

# withheld CMD...: runs CMD where nobody can ask simhca, as with a real adapter
withheld()
{
	unshare --mount env -u SIMHCA_CONTROL control="$SIMHCA_CONTROL" bash -ec '
		mount --bind /dev/null "$control"
		if simhca-ctl --control "$control" version; then exit 99; fi
		exec "$@"' withheld "$@"
}

passes()
{
	settings >"$tmp/before"
	simhca-ctl '{"op":"reset"}'
	code 0 withheld mlx5ep selftest "$dev"
	grep -q '^selftest: [1-9][0-9]* passed, 0 failed' "$tmp/out"
	settings >"$tmp/after"
	diff "$tmp/before" "$tmp/after"
	hca_clean
}

# What the report says of each policy: QPs, UAR pages, and uUARs but under stock.
reported()
{
	jq -c '.results | group_by(.group) | map({
		group: .[0].group,
		qps: (.[] | select(.check == "mapped pages are those of firmware") |
			.detail | capture("^(?<qps>[0-9]+) QPs, (?<pages>[0-9]+) pages$")),
		uuars: ([.[] | select(.check == "QPs are where the policy says") |
			.detail | capture("^[0-9]+ pages, (?<n>[0-9]+) uUARs;").n][0])}) |
		map([.group, (.qps.qps | tonumber), (.qps.pages | tonumber),
			(if .uuars then .uuars | tonumber else null end)]) | sort[]' "$tmp/out"
}

# counted: the same, of the contexts with several QPs that rang, in their order. Each
# of these QPs has written, written inline and sent, so it rang three times.
counted()
{
	simhca-ctl dump | jq -c '[.hcas[0].uars[] | select(.uid > 0) | . as $uar |
			.slots[] | select(.qpns != {}) |
			{uid: $uar.uid, page: $uar.index, slot, qpns}] |
		group_by(.uid) | map(select(([.[].qpns | keys[]] | length) > 1)) |
		[["stock", "independent", "shared-uar", "shared-uuar"], .] | transpose |
		map(.[0] as $name | .[1] | [$name,
			([.[].qpns[] | select(. == 3)] | length),
			([.[].page] | unique | length),
			(if $name == "stock" then null else length end)]) | sort[]'
}

agrees()
{
	simhca-ctl '{"op":"reset"}'
	code 0 withheld mlx5ep -j selftest "$dev"
	jq -e '.on | .simulated and .driver == "mlx5_ib, that of the kernel'"'"'s tree" and
		.kernel == "'"$(uname -r)"'" and (.firmware | test("^[0-9.]+$"))' "$tmp/out"
	reported >"$tmp/reported"
	counted >"$tmp/counted"
	[ "$(wc -l <"$tmp/reported")" = 4 ]
	diff "$tmp/reported" "$tmp/counted"
}

doctor_names()
{
	mlx5ep doctor >"$tmp/doctor" || true
	grep -q "does not reach $1" "$tmp/doctor"
}

# The file has what -j prints and what doctor says, and nobody's name. A program whose QPs
# no policy places is one that doctor names.
reports()
{
	local other hold

	ep_policy independent 16
	# It ends when nobody has the pipe open, at the latest with this shell.
	mkfifo "$tmp/hold"
	uuar_traffic -q -n 1 -r 1 -T -x "cat $tmp/hold" &
	other=$!
	exec {hold}<>"$tmp/hold"
	wait_for 20 doctor_names uuar_traffic
	code 0 mlx5ep -j selftest --report "$tmp/report.json" "$dev"
	mv "$tmp/out" "$tmp/printed.json"
	doctor_names uuar_traffic
	exec {hold}>&-
	wait $other
	ep_policy stock
	jq -e --slurpfile printed "$tmp/printed.json" '.format == 1 and
		.on == $printed[0].on and .results == $printed[0].results and
		.system.kernel == "'"$(uname -r)"'" and .tool == "'"$(mlx5ep -V |
			cut -d' ' -f2)"'" and
		([.modules[] | select(.loaded) | .module] | sort) ==
			["ib_core", "ib_uverbs", "mlx5_core", "mlx5_ep", "mlx5_ib"] and
		any(.doctor[]; .what == "'"$dev"'" and .finding == "attached")' \
		"$tmp/report.json"
	must_fail grep -e 'does not reach' -e "$(uname -n)" -e uuar_traffic \
		-e "$(cat "/sys/class/infiniband/$dev/node_guid")" "$tmp/report.json"
	cp "$tmp/report.json" "$tmp/copy.json"
	code 1 mlx5ep selftest --report "$tmp/report.json" "$dev"
	grep -q 'is there already: name another file' "$tmp/err"
	[ ! -s "$tmp/out" ]
	cmp "$tmp/report.json" "$tmp/copy.json"
	code 1 mlx5ep selftest --report /dev/null/file "$dev"
	grep -q 'Not a directory' "$tmp/err"
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

# All groups wait for firmware, and a killed one cannot end while it does. What there
# is no time for is said, and the tool does not wait for firmware.
ends_in_time()
{
	simhca-ctl '{"op":"fault","kind":"cmd","opcode":"CREATE_QP","count":0,"status":"never"}'
	SECONDS=0
	code 1 mlx5ep -j selftest --seconds 2 "$dev"
	took=$SECONDS
	simhca-ctl '{"op":"clear"}'
	wait_for 10 none_left
	simhca-ctl '{"op":"reset"}'
	echo "# $took s"
	jq -e '[.results[] | select(.check == "is begun" and .result == "not testable" and
			.detail == "the 2 seconds of the run were over") | .group] as $not |
		[.results[] | select(.check == "ends in time" and .result == "failed") |
			.detail] as $killed |
		($not | length) >= 6 and ($not | index("xrc")) and
		($killed | length) >= 1 and
		($killed[0] | contains("firmware does not answer"))' "$tmp/out"
	[ $took -lt $((3 * patience)) ]
}

# none_left: no process of the tool, nor a cgroup
none_left()
{
	! pgrep -x mlx5ep && [ -z "$(cgroups_left)" ]
}

cgroups_left()
{
	find /sys/fs/cgroup -name 'mlx5ep-selftest.*'
	grep -h mlx5ep-selftest "$ep/uar_cgroup_limits" || true
}

# in_its_cgroup: starts the tool, $tool; its group $group is in a cgroup then
in_its_cgroup()
{
	mlx5ep -j selftest "$dev" >"$tmp/out" &
	tool=$!
	group=
	until [ -n "$group" ]; do
		for procs in /sys/fs/cgroup/mlx5ep-selftest.*/cgroup.procs; do
			read -r group <"$procs"
		done 2>/dev/null || [ -d "/proc/$tool" ]
	done
	kill -STOP "$group"
	cgroups_left | grep -q "^/mlx5ep-selftest.$group [1-9]"
}

# A killed group is told of, a killed tool says nothing: neither leaves its cgroup.
cleans_up()
{
	in_its_cgroup
	kill -KILL "$group"
	wait $tool && fail 'a killed group is no failure'
	jq -e 'any(.results[]; .group == "limits" and .result == "failed" and
		(.detail | contains("ended by signal 9")))' "$tmp/out"
	[ -z "$(cgroups_left)" ]
	in_its_cgroup
	kill -KILL $tool
	wait $tool || true
	wait_for 10 prints '' pgrep -x mlx5ep
	[ -n "$(cgroups_left)" ]
	code 0 mlx5ep selftest "$dev"
	[ -z "$(cgroups_left)" ]
}

refuses_what_is_not_there()
{
	code 4 mlx5ep selftest mlx5_99
	code 2 mlx5ep selftest "$dev" more
}

plan 11
check 'a sound HCA passes without being asked, and is as before' passes
check "the report's figures are simhca's counts" agrees
check 'a report has what is asked for, and nobody'"'"'s name' reports
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
check 'a run ends in time where firmware never answers' ends_in_time
check 'a killed check leaves no cgroup and no limit' cleans_up
check 'a device that is not there is refused' refuses_what_is_not_there
ktap_finished
