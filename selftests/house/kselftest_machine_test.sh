#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 60
#
# A test in the form of kselftest on a machine that has devices, which are files here:
# which of them is taken, and what happens when the time that kselftest gives is over. The
# machine has no NUMA nodes.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

one=$PWD/selftests/kselftest/one
export SIMHCA_CONTROL=$tmp/none MLX5_EP_ALONE=1
unset MLX5_EP_DEVICE

# machine "DEVICE..." CMD...: runs CMD where /sys has these devices and nothing else, and
# where the kernel log is empty. A device whose name begins with "other" is not of mlx5.
machine()
{
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount bash -c 'set -e
		mount -t tmpfs sys /sys
		mount --bind /dev/null /dev/kmsg
		mkdir -p /sys/bus/{mlx5_core,other}
		for name in $1; do
			dir=/sys/class/infiniband/$name
			mkdir -p $dir/{device,ports/1,mlx5_ep}
			driver=mlx5_core
			[[ $name != other* ]] || driver=other
			ln -s /sys/bus/$driver $dir/device/driver
			echo InfiniBand >$dir/ports/1/link_layer
			echo yes >$dir/mlx5_ep/attached
		done
		shift
		exec "$@"' - "$@"
}

# program LINE...: a test for machines with a device
program()
{
	printf '%s\n' '#!/bin/sh' '# runs on: guest, timeout: 100' "$@" >"$tmp/case_test.sh"
	chmod 755 "$tmp/case_test.sh"
}

# takes DEVICE "DEVICE...": the test passes with this one
takes()
{
	code 0 machine "$2" "$one" "$tmp/case_test.sh"
	grep -qx "ok 1 $1" "$tmp/out"
}

# skips REASON "DEVICE..."
skips()
{
	code 4 machine "$2" "$one" "$tmp/case_test.sh"
	grep -qx "1..0 # SKIP $1" "$tmp/out"
}

# udev gives names by the slot.
names()
{
	# shellcheck disable=SC2016 # for the test
	program 'echo KTAP version 1' 'echo 1..1' 'echo "ok 1 $MLX5_EP_DEVICE"'
	takes mlx5_0 'mlx5_0 mlx5_1'
	takes rocep1s0 'other0 rocep1s0'
	export MLX5_EP_DEVICE=ibp2s0
	takes ibp2s0 'ibp1s0 ibp2s0'
	skips 'this machine has no device ibp2s0, which MLX5_EP_DEVICE names' mlx5_0
	unset MLX5_EP_DEVICE
	skips 'this machine has no mlx5 device' other0
	skips 'this machine has no mlx5 device' ''
}

# gone PID: it has ended, though nobody may have asked for its status
gone()
{
	[[ $(ps -o stat= -p "$1") =~ ^(Z.*)?$ ]]
}

# The test, a process of its own process group, and one that has lost its parent.
ends()
{
	local pid

	program "echo \$\$ >>$tmp/pids" "set -m; sleep 1000 & echo \$! >>$tmp/pids" \
		"sh -c 'sleep 1000 & echo \$! >>$tmp/pids'" 'sleep 1000'
	code 124 machine mlx5_0 timeout 3 "$one" "$tmp/case_test.sh"
	[ "$(wc -l <"$tmp/pids")" = 3 ]
	while read -r pid; do
		wait_for 1 gone "$pid" || fail "$pid lives on: $(ps -o args= -p "$pid")"
	done <"$tmp/pids"
	grep -qx '# ended before it was done' "$tmp/out"
}

plan 2
check 'the device may have another name' names
check 'a test ends with the time that kselftest gives' ends
ktap_finished
