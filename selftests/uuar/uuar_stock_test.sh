#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: attach, timeout: 400
#
# Under the policy stock the module changes nothing that a program can see. The
# program makes the same system calls with the same bytes in them, gets the same
# answers, and the HCA gets the same commands.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

next_command()
{
	simhca-ctl '{"op":"cmdlog","since":0}' | jq .next
}

# fixed CMD...: runs CMD so that its addresses are the same each time: without
# randomization, and with an environment that this test sets. The strings of the
# environment lie at the end of the stack, so their length moves all variables
# below.
fixed()
{
	setarch -R env -i PATH="$PATH" "$@"
}

# record WORD CMD...: runs CMD and records its calls and commands in $tmp/WORD.*
record()
{
	local word=$1 since

	shift
	fixed strace -f -o "$tmp/strace" \
		-e trace=openat,ioctl,mmap,munmap,close "$@" >/dev/null
	# Keep the calls that concern the device and its mappings, without the
	# pid.
	sed 's/^[0-9]* *//' "$tmp/strace" | grep -E 'uverbs|RDMA|MAP_SHARED' \
		>"$tmp/$word.strace"
	since=$(next_command)
	# The path is the same each time, because it is in the environment.
	fixed LD_PRELOAD="$PWD/build/selftests/ioctl_tap.so" \
		IOCTL_TAP="$tmp/tap" "$@" >/dev/null
	mv "$tmp/tap" "$tmp/$word.tap"
	# The driver fills its cache of free mkeys in the background.
	simhca-ctl "{\"op\":\"cmdlog\",\"since\":$since}" |
		jq -c '.log[] | select(.op != "CREATE_MKEY" or .key.free != 1) |
			[.op, .status, .key]' >"$tmp/$word.commands"
}

# defined TAP: prints the bytes that are defined. The buffer for the answer of a
# write command (object 0, method 0, attribute 1) is uninitialized before the
# call. The keys in the answer to REG_MR depend on the mkey that the driver's
# cache had. A table of GIDs names the network device of each, whose number is
# another one each time that the driver is loaded.
defined()
{
	awk '
		/ object / { ahead = $1 == "<"; write = $3 $5 == "00000000" }
		write && ahead && $2 == "0001" { next }
		write && $2 == "0001" && $3 == "12:" { $5 = $6 = "key" }
		$2 == "0002" && $3 == "1024:" { $11 = $19 = "netdev" }
		{ print }' "$1"
}

same()
{
	[ -s "$tmp/absent.$1" ]
	if [ "$1" = tap ]; then
		diff <(defined "$tmp/absent.tap") <(defined "$tmp/stock.tap")
	else
		diff "$tmp/absent.$1" "$tmp/stock.$1"
	fi
}

differs()
{
	! cmp -s "$tmp/stock.$1" "$tmp/managed.$1" ||
		fail "$1 shows no difference where there is one"
}

program=(uuar_traffic -n 12 -r 1)

# from_reset: resets the HCA, so that it gives out the same numbers again
from_reset()
{
	rmmod mlx5_ib
	[ ! -d /sys/module/mlx5_ep ] || rmmod mlx5_ep
	rmmod mlx5_core
	modprobe mlx5_core
	"$@"
	modprobe mlx5_ib
	wait_for 20 [ -e "/sys/class/infiniband/$dev" ]
	uuar_traffic -q -n 1 -r 1
}

plan 7
from_reset true
[ ! -e "$ep" ]
record absent "${program[@]}"

from_reset ep_insmod
check 'the module is attached, its policy is stock' \
	grep -q stock "$ep/uuar_policy"
record stock "${program[@]}"
ep_policy independent 12
record managed "${program[@]}"
ep_policy stock

check 'the same system calls' same strace
check 'the same bytes in every request and answer' same tap
check 'the same commands to the HCA' same commands
# The comparisons must find the differences that a policy makes.
check 'a policy shows in the requests and answers' differs tap
check 'a policy shows in the commands' differs commands
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
