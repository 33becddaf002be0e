# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154
#
# What the cells of the table have in common. A cell is one program over one
# transport. The script that sources this file has set
#	records		the file that gets one JSON object per cell
#	log		the file that gets what the programs said
#	kernel, state	the row of the table
#	only		a pattern: the cells that run
#	times		how often each of them runs

# shellcheck source=lab/serve.sh
. lab/serve.sh

# Patterns of cells may be alternatives: @(A|B).
shopt -s extglob
cells_tmp=$(mktemp -d)
cells_dev=mlx5_0
# Seconds that one program may take; guests are slow.
cells_limit=$((120 * ${MLX5_EP_SLOWNESS:-1}))

# cell PROGRAM TRANSPORT CMD...: runs CMD and records what came of it. Exit status 4
# is a skip: the last line that CMD printed has the reason.
cell()
{
	local name="$1/$2" began=$SECONDS failed=0 status=0 run_status i

	# shellcheck disable=SC2254 # it is a pattern
	case $name in
	$only) ;;
	*) return 0 ;;
	esac
	for ((i = 0; i < times; i++)); do
		run_cell "$name" "${@:3}"
		[ $run_status != 0 ] || continue
		status=$run_status failed=$((failed + 1))
		tail -n 1 "$cells_tmp/out" >"$cells_tmp/last"
		[ $status != 4 ] || break
	done
	record "$1" "$2" $status $((SECONDS - began)) \
		"$([ "$times" = 1 ] || echo "$failed of $times runs failed")"
}

# run_cell NAME CMD...: runs CMD once; sets run_status, and $log gets what it said. Not
# in a condition, where a failure would not end CMD.
run_cell()
{
	set +e
	(set -e; "${@:2}") </dev/null >"$cells_tmp/out" 2>&1
	run_status=$?
	set -e
	{
		echo "== $kernel $state $1: exit status $run_status"
		cat "$cells_tmp/out"
	} >>"$log"
}

# record PROGRAM TRANSPORT STATUS SECONDS TIMES: one object for $records
record()
{
	local result=ok reason=$5

	case $3 in
	0) ;;
	4) result=skip reason=$(cat "$cells_tmp/last") ;;
	124) result=fail reason+="${5:+: }the time was up" ;;
	*) result=fail
		reason+="${5:+: }exit status $3: $(cat "$cells_tmp/last")" ;;
	esac
	jq -cn --arg kernel "$kernel" --arg state "$state" \
		--arg program "$1" --arg transport "$2" \
		--arg result "$result" --arg reason "$reason" --argjson seconds "$4" \
		'{kernel: $kernel, state: $state, program: $program,
		  transport: $transport, result: $result, reason: $reason,
		  seconds: $seconds}' >>"$records"
	printf 'consumers: %s %s %s/%s %s %d s%s\n' "$kernel" "$state" "$1" "$2" \
		"$result" "$4" "${reason:+ ($reason)}" >&2
}

# skipped REASON: the CMD of a cell cannot run
skipped()
{
	echo "$1"
	exit 4
}

# stuck: tells where the processes of our programs stand, and ends them, as they would
# take the CPUs of what runs next
stuck()
{
	local pid
	local -a pids

	mapfile -t pids < <(pgrep -f "^($cells_tmp|build/bin)/")
	for pid in "${pids[@]}"; do
		gdb -p "$pid" -batch -ex 'thread apply all bt 16' 2>&1 |
			grep -E '^(Thread|#)' || true
	done
	kill -9 "${pids[@]}" 2>/dev/null || true
}

# said PATTERN CMD...: runs CMD, which has to succeed and to print such a line
said()
{
	local status=0 watchdog

	(sleep $cells_limit && stuck) >"$cells_tmp/stuck" 2>&1 &
	watchdog=$!
	# A rank that is ended makes its launcher end.
	timeout $((cells_limit + 60)) "${@:2}" >"$cells_tmp/said" 2>&1 ||
		status=$?
	# It has not begun, or it is waited for.
	[ -s "$cells_tmp/stuck" ] || kill $watchdog 2>/dev/null || true
	wait $watchdog 2>/dev/null || true
	[ ! -s "$cells_tmp/stuck" ] || status=124
	cat "$cells_tmp/said" "$cells_tmp/stuck"
	[ $status = 0 ] || return $status
	grep -Eq "$1" "$cells_tmp/said"
}

# pair SERVER... -- CLIENT...: runs both; each has to succeed
pair()
{
	local -a server=()
	local status=0

	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	serve "$cells_tmp/server" "${server[@]}"
	timeout $cells_limit "$@" || status=$?
	serve_end || status=$?
	sed 's/^/server: /' "$cells_tmp/server"
	return $status
}
