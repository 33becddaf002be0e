# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Functions for tests in shell. A test sources this file, calls plan N, and then
# calls check N times, or skip_all. The kernel's own helpers print the KTAP.

set -euo pipefail

# shellcheck disable=SC1091
. "$(dirname "${BASH_SOURCE[0]}")/../../build/selftests/ktap_helpers.sh"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# The device under test and its attributes.
dev=${MLX5_EP_DEVICE:-mlx5_0}
ep=/sys/class/infiniband/$dev/mlx5_ep

# What the port of the device speaks: ib or eth.
link=${MLX5_EP_LINK:-ib}

# disposable: ends a test that writes to /etc or /usr, unless it is in the lab's root file system
# or in a guest, which forget what was written
disposable()
{
	[ -e /run/mlx5_ep-lab ] || [ -e /run/mlx5_ep-guest ] || {
		echo "${0##*/} changes the machine: run it with lab/enter" >&2
		exit 1
	}
}

# plan N: the test makes N results
plan()
{
	ktap_print_header
	ktap_set_plan "$1"
}

# skip_all REASON: the whole test cannot run here
skip_all()
{
	ktap_print_header
	ktap_skip_all "$1"
	exit "$KSFT_SKIP"
}

# ib_only REASON: skips the test on an Ethernet port
ib_only()
{
	[ "$link" = ib ] || skip_all "InfiniBand only: $1"
}

# gid_index: prints the index of the port's first GID of RoCE v2, which stock
# programs must be told
gid_index()
{
	local i type

	for ((i = 0; i < 16; i++)); do
		# the file of an empty entry cannot be read
		read -r type <"/sys/class/infiniband/$dev/ports/1/gid_attrs/types/$i" ||
			continue
		[ "$type" != 'RoCE v2' ] || { echo "$i" && return; }
	done 2>/dev/null
	return 1
}

# gid_there [DEVICE]: has the port a GID of RoCE v2?
gid_there()
{
	dev=${1-$dev} gid_index >/dev/null
}

# check NAME CMD...: makes one result. The output of CMD is shown when it fails.
# Lines that CMD writes to descriptor 3 are shown at once: CMD writes "#
# progress: TEXT" there when it takes minutes.
check()
{
	local name=$1 status=0

	shift
	# CMD does not run as a condition, because set -e would not work inside
	# it.
	set +e
	(set -e; "$@") 3>&1 >"$tmp/check.out" 2>&1
	status=$?
	set -e
	if [ $status -eq 0 ]; then
		ktap_test_pass "$name"
	else
		tail -n 20 "$tmp/check.out" | sed 's/^/# /'
		echo "# $*: exit status $status"
		ktap_test_fail "$name"
		# For whom one failure is enough: the rest is not run.
		[ -z "${MLX5_EP_FIRST_FAILURE:-}" ] || exit 1
	fi
}

# fail TEXT...: end the CMD of a check
fail()
{
	echo "$*"
	exit 1
}

# code N CMD...: fails unless CMD ends with exit status N. The output of CMD is
# in $tmp/out and $tmp/err.
code()
{
	local want=$1 got=0

	shift
	"$@" >"$tmp/out" 2>"$tmp/err" || got=$?
	cat "$tmp/out" "$tmp/err"
	[ $got -eq "$want" ] || fail "exit status $got, not $want"
}

# must_fail CMD...: fails if CMD succeeds. A line that begins with "!" fails no check:
# set -e passes over it.
must_fail()
{
	! "$@" || fail "succeeded: $*"
}

# ep_set NAME VALUE, ep_get NAME: attributes of the device under test
ep_set()
{
	printf '%s' "$2" >"$ep/$1"
}

ep_get()
{
	cat "$ep/$1"
}

# ep_policy POLICY [PAGES [STRICT]]: for the contexts opened from now on
ep_policy()
{
	ep_set uuar_pages "${2:-0}"
	ep_set uuar_strict "${3:-0}"
	ep_set uuar_policy "$1"
}

# A limit ends a wait for something that never happens. It must be long enough
# for a slow machine and for a debug kernel.
slowness=${MLX5_EP_SLOWNESS:-1}
patience=$((6 * slowness))

# wait_for SECONDS CMD...: waits until CMD succeeds. SECONDS is what it may take
# on an idle machine.
wait_for()
{
	local end=$((SECONDS + $1 * patience))

	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.1
	done
}

# prints TEXT CMD...: does CMD print that and nothing else?
prints()
{
	[ "$("${@:2}")" = "$1" ]
}

# becomes SECONDS TEXT CMD...: waits, as wait_for, until CMD prints TEXT; where it
# does not, fails with what it prints instead
becomes()
{
	wait_for "$1" prints "${@:2}" || fail "$("${@:3}"), not $2"
}

# hca_alive KIND [HCA]: objects of that kind, by simhca's count
hca_alive()
{
	simhca-ctl dump | jq -r ".hcas[${2:-0}].alive.$1"
}

# netdev_of DEVICE: prints the name of its netdev, as ib0; fails if it has none
netdev_of()
{
	local path

	for path in "/sys/class/infiniband/$1/device/net"/*; do
		[ -e "$path" ] && basename "$path" && return
	done
	return 1
}

# hca_objects KINDS [HCA]: how many of each are alive; KINDS as "qp, uar"
hca_objects()
{
	simhca-ctl dump | jq -c ".hcas[${2:-0}].alive | {$1}"
}

# hca_pages_rung: prints on how many UAR pages of users something was rung since the
# last reset
hca_pages_rung()
{
	simhca-ctl dump | jq '[.hcas[].uars[] |
		select(.uid > 0 and any(.slots[].qpns; length > 0))] | length'
}

# hca_cable HCA up|down: plugs or unplugs the cable of its port
hca_cable()
{
	simhca-ctl '{"op":"fault","hca":'"$1"',"kind":"port","state":"'"$2"'"}'
}

# hca_cable_time WORDS: the time that messages take on each cable, as simhca --cable has it
hca_cable_time()
{
	simhca-ctl "{\"op\":\"cable\",\"set\":\"$1\"}" | jq -e .ok
}

# hca_clean ["KIND..." [HCA]]: no error was counted, those apart
# shellcheck disable=SC2120
hca_clean()
{
	local errors

	errors=$(simhca-ctl dump | jq -c --arg but "${1:-}" \
		".hcas[${2:-0}].errors |
		with_entries(select(.value != 0 and
			(.key | IN(\$but | split(\" \")[]) | not)))")
	[ "$errors" = '{}' ] || fail "simhca counted $errors"
}

# both_clean: of two HCAs
both_clean()
{
	hca_clean '' 0
	hca_clean '' 1
}

# woke_in_time PHASE: in $tmp/times, as selftests/bench/sleeper.h prints it, the thread slept
# in this phase, and woke before 100 000 instructions had run
woke_in_time()
{
	awk -v name="$1" '
		$1 == name { late = $2; times = $3 }
		END {
			print late " instructions late, " times " times asleep"
			exit !(times > 0 && late < 100000)
		}
	' "$tmp/times"
}
