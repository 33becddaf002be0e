#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 600
#
# However a run ends, nothing of it stays: no QEMU, no simhca, no virtiofsd, no shell.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

vm=lab/vm

# left MARK: the processes that inherited LAB_MARK=MARK
left()
{
	# Some end while grep looks at them, which it reports.
	{ grep -lsz "^LAB_MARK=$1\$" /proc/[0-9]*/environ || true; } |
		while read -r file; do
			{ tr '\0' ' ' <"${file%environ}cmdline" || true; } \
				2>/dev/null | cut -c 1-100
			echo
		done
}

none_left()
{
	local tries

	for ((tries = 0; tries < 50; tries++)); do
		[ -n "$(left "$1")" ] || return 0
		sleep 0.1
	done
	left "$1"
	fail "these are left"
}

# begin MARK [OPTION...]: a guest that sleeps, in a process group of its own
begin()
{
	local mark=$1 tries

	shift
	LAB_MARK=$mark env --default-signal=INT setsid $vm "$@" -- \
		sleep 1000 >"$tmp/$mark.out" 2>"$tmp/$mark.err" &
	pid=$!
	for ((tries = 0; tries < 1500; tries++)); do
		! grep -q 'guest 0 ready' "$tmp/$mark.err" || return 0
		kill -0 $pid 2>/dev/null || break
		sleep 0.1
	done
	cat "$tmp/$mark.err"
	fail "no guest"
}

# ended STATUS: the vm begun last ends with it, soon
ended()
{
	local got=0

	timeout 10 tail --pid="$pid" -f /dev/null || fail "still there"
	wait "$pid" || got=$?
	[ "$got" = "$1" ] || fail "exit status $got, not $1"
}

interrupt()
{
	local mark=int.$$

	begin $mark --no-module
	left $mark >"$tmp/left"
	grep -q qemu-system "$tmp/left" || fail "left() sees no QEMU"
	grep -q simhca "$tmp/left" || fail "left() sees no simhca"
	kill -INT -- "-$pid"
	ended 130
	none_left $mark
}

terminate()
{
	begin term.$$ --hca 0
	kill -TERM "$pid"
	ended 143
	none_left term.$$
}

kill_it()
{
	begin kill.$$ --hca 0 --shares virtiofs
	left kill.$$ >"$tmp/left"
	[ "$(grep -c virtiofsd "$tmp/left")" -ge 2 ] || fail "left() sees no virtiofsd"
	kill -KILL "$pid"
	ended 137
	none_left kill.$$
}

time_limit()
{
	local got=0

	LAB_MARK=time.$$ $vm --hca 0 --timeout 8 -- sleep 1000 \
		2>"$tmp/err" || got=$?
	cat "$tmp/err"
	[ $got = 124 ]
	grep -q 'time limit of 8 s' "$tmp/err"
	none_left time.$$
}

# dies PROGRAM OPTION...: when this one of what a guest needs dies, the run ends
dies()
{
	local program=$1 mark=$1.$$ file

	shift
	begin "$mark" "$@"
	for file in $(grep -lsz "^LAB_MARK=$mark\$" /proc/[0-9]*/environ || true); do
		! grep -qsx "$program" "${file%environ}comm" ||
			kill -KILL "$(basename "${file%/environ}")"
	done
	ended 125
	grep -q "$program died under guest 0" "$tmp/$mark.err"
	none_left "$mark"
}

# hold SECONDS: a command that leaves a process behind, which holds the module
hold()
{
	echo "exec 3<>/dev/mlx5_ep; setsid sleep $1 </dev/null >/dev/null 2>&1 &"
}

unload()
{
	local got=0

	$vm --unload -- bash -c "$(hold 0)" 2>"$tmp/err" || got=$?
	cat "$tmp/err"
	[ $got = 0 ]
	$vm --unload -- bash -c "$(hold 1000)" 2>"$tmp/err" || got=$?
	cat "$tmp/err"
	[ $got = 125 ]
	grep -q 'Module mlx5_ep is in use' "$tmp/err"
}

plan 7
check "Ctrl-C ends guest and simhca" interrupt
check "SIGTERM ends the guest" terminate
check "a vm that is killed takes the guest along" kill_it
check "the time limit ends the guest" time_limit
check "the run fails when simhca dies" dies simhca --no-module
check "the run fails when virtiofsd dies" dies virtiofsd --hca 0 --shares virtiofs
check "with --unload it fails when something holds the drivers" unload
ktap_finished
