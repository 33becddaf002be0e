#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: core, timeout: 300
#
# mlx5ep without memory: each allocation of a command fails in turn. The command then says
# that it failed and changes nothing, or changes the same as with memory. It may show less, or
# that something cannot be read. Allocations of json-c do not fail here: it ends the tool by an
# assertion.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

tool=${TOOL:-$PWD/build/bin/mlx5ep}
# Where the tool has ASan, that library comes behind this one.
export ASAN_OPTIONS=detect_leaks=1:verify_asan_link_order=0:exitcode=99
# shellcheck source=selftests/tool/fake.sh
. selftests/tool/fake.sh

# tree: two devices, of which one is attached, and a configuration file
tree()
(
	umask 022
	fresh
	fake mlx5_0 0000:01:00.0 attached
	fake mlx5_1 0000:02:00.0
	mkdir -p "$root/etc" "$root/run" "$root/sys/fs/cgroup/job7" "$root/proc/sys/kernel"
	echo '/job7 stock 1 4' >"$root/sys/class/infiniband/mlx5_0/mlx5_ep/uuar_cgroups"
	: >"$root/sys/class/infiniband/mlx5_0/mlx5_ep/uar_cgroup_limits"
	printf '%s\n' '[device *]' 'policy = shared-uar' 'pages = 3' \
		'[cgroup /job7]' 'policy = stock' '[module]' 'notifiers_per_user = 8' \
		>"$root/etc/mlx5ep.conf"
	echo 4 >"$root/sys/module/mlx5_ep/parameters/notifiers_per_user"
	echo 6.12.1-amd64 >"$root/proc/sys/kernel/osrelease"
	mkdir -p "$root/proc/4711/fd" "$root/sys/bus/auxiliary/drivers/mlx5_ib.rdma"
	ln -s /dev/infiniband/uverbs0 "$root/proc/4711/fd/5"
	echo program >"$root/proc/4711/comm"
	: >"$root/sys/bus/auxiliary/drivers/mlx5_ib.rdma/unbind"
	cp -a "$root" "$tmp/tree"
)

# as_before: the tree is what it was
as_before()
{
	rm -r "$root"
	cp -a "$tmp/tree" "$root"
}

# without NTH ARGUMENT...: runs the tool without the memory of the NTH allocation, and sets
# status; fails if fewer were asked for
without()
{
	rm -f "$tmp/hit"
	status=0
	FAIL_MALLOC_NTH=$1 FAIL_MALLOC_HIT=$tmp/hit \
		LD_PRELOAD="$PWD/build/selftests/fail_malloc.so" \
		"$tool" "${@:2}" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	[ -e "$tmp/hit" ]
}

# kept: prints the settings of the tree, and which device was taken from its driver
kept()
{
	(cd "$root" && head -n 99 etc/* sys/class/infiniband/mlx5_0/mlx5_ep/* \
		sys/module/mlx5_ep/parameters/* sys/bus/auxiliary/drivers/*/unbind)
}

# whole ARGUMENT...: the output of such a command ends as it should, and shows no setting as
# different that is not
whole()
{
	case $1 in
	-j)
		[ "$(cat "$tmp/out")" = null ] ||
			jq -e --slurpfile full "$tmp/full" 'def rows: [.. | .differs? // empty | .[]];
				has("devices") and rows - ($full[0] | rows) == []' "$tmp/out" >/dev/null
		;;
	metrics) [ "$(tail -n 1 "$tmp/out")" = '# EOF' ] ;;
	esac
}

# again ARGUMENT...: apply sets what it can. What was left is set when it runs again.
again()
{
	[ "$1" = apply ] || return
	"$tool" "$@" || return
	kept | diff "$tmp/after" -
}

# sweep STATUS ARGUMENT...: a command ends with STATUS, and each allocation of it fails in
# turn
sweep()
{
	local nth want=$1 refused=0

	shift
	as_before
	kept >"$tmp/before"
	must_fail without 0 "$@"
	[ "$status" = "$want" ] || fail "$*: exit status $status: $(cat "$tmp/err")"
	kept >"$tmp/after"
	cp "$tmp/out" "$tmp/full"
	for ((nth = 1; ; nth++)); do
		cmp -s "$tmp/before" "$tmp/after" && [ "$nth" -gt 1 ] || as_before
		without "$nth" "$@" || break
		[ "$status" = 0 ] || cat "$tmp"/{out,err} | grep . >/dev/null ||
			fail "$* at $nth: says nothing"
		if [ "$status" = "$want" ]; then
			whole "$@" || fail "$* at $nth: $(cat "$tmp/out")"
			kept | diff "$tmp/after" - || fail "$* at $nth: not the same"
			continue
		fi
		refused=$((refused + 1))
		[ "$status" = 1 ] || fail "$* at $nth: exit status $status" "$(cat "$tmp/err")"
		kept | diff "$tmp/before" - || again "$@" || fail "$* at $nth: changed something"
	done
	[ "$nth" -gt 1 ] || fail "$*: no allocation"
	echo "$*: $((nth - 1)) allocations, $refused refused"
}

shows()
{
	sweep 0 show all
	sweep 0 -j show all
	sweep 0 metrics
	sweep 1 doctor
}

# Nobody loses a device because it is not seen who uses it.
attaches()
{
	sweep 1 attach mlx5_1
	grep -q 4711 "$tmp/out"
}

changes()
{
	sweep 0 set --policy independent --pages 2 --budget 40
	sweep 0 apply
	sweep 0 set --cgroup /job7 --limit 9
	sweep 0 set --save --pages 2
}

# A program of the benchmarks stands beside mlx5ep-bench, which the tool starts.
measures()
{
	mkdir "$tmp/bin"
	cp "$tool" "$tool-bench" "$tmp/bin/"
	cat >"$tmp/bin/msgrate" <<-'END'
	#!/bin/sh
	echo '{"name": "mpi-everywhere", "unit": "M/s", "value": 7, "pages": 2}'
	END
	chmod +x "$tmp/bin/msgrate"
	export LD_LIBRARY_PATH=$PWD/build/lib
	tool=$tmp/bin/mlx5ep-bench
	sweep 0 -d mlx5_0 -- -r 1 -t 1 -p stock msgrate
}

tree
plan 4
check 'what shows something does without memory' shows
check 'what changes something does without memory' changes
check 'no device is taken away without memory' attaches
check 'benchmarks do without memory' measures
ktap_finished
