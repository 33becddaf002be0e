#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: live, hca: 2, smp: 2, module: later, timeout: 240
#
# Who keeps the module from being unloaded. What needs the module holds it: rmmod says
# that it is in use, and doctor names who holds it. For a call that is inside one of its
# wrappers rmmod waits, and for a module that has put its own operations in the place of
# ours. Meanwhile other programs and devices come and go.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh
# shellcheck source=selftests/attach/live.sh
. selftests/attach/live.sh

# The driver gives up a command after 60 seconds.
held=$((slowness > 1 ? 55 : 20))

# in_use WORDS: rmmod refuses, and doctor says who holds the module
in_use()
{
	must_fail rmmod mlx5_ep 2>"$tmp/rmmod"
	grep -i 'in use' "$tmp/rmmod"
	mlx5ep doctor >"$tmp/doctor" || true
	grep "^ok: unloading: mlx5_ep is held by .*$1" "$tmp/doctor" ||
		fail "$(grep unloading "$tmp/doctor")"
}

nothing_holds()
{
	mlx5ep doctor >"$tmp/doctor" || true
	grep -x 'ok: unloading: nothing holds mlx5_ep: rmmod mlx5_ep' "$tmp/doctor"
	grep "^warning: $dev: attached for policies and limits" "$tmp/doctor"
	grep "mend with: mlx5ep attach $dev" "$tmp/doctor"
	mlx5ep -j show >"$tmp/shown"
	jq -e '[.devices[] | .attached and .half] == [true, true]' "$tmp/shown"
	half_until
}

# half_until: the device says when the rest comes
half_until()
{
	local words='the device registers again'

	# Elsewhere mlx5_ib itself needs ib_uverbs.
	[ ! -d /sys/module/ib_uverbs_support ] || words="ib_uverbs is loaded again, or $words"
	[ "$(ep_get attached)" = "policies, limits; the rest when $words" ] ||
		fail "$(ep_get attached)"
}

managed_context()
{
	ep_policy independent 4
	holds managed
	ep_policy stock
	in_use "uuar_traffic\[[0-9]*\] (a managed context)"
	ends managed "$pid"
	unloads
	ep_insmod
}

# sleeps PID: a process of the shell has opened its file, and is sleep by now
sleeps()
{
	[ "$(cat "/proc/$1/comm")" = sleep ]
}

files()
{
	# shellcheck disable=SC2217 # it holds the file, and reads nothing
	sleep 1000 <"/sys/kernel/debug/mlx5_ep/watches" &
	wait_for 10 sleeps $!
	in_use "sleep\[$!\] (a table of debugfs)"
	kill $!
	wait $! 2>/dev/null || true
	sleep 1000 <>/dev/mlx5_ep &
	wait_for 10 sleeps $!
	in_use "sleep\[$!\] (/dev/mlx5_ep)"
	kill $!
	wait $! 2>/dev/null || true
}

wholly()
{
	mlx5ep attach --force "$other"
	in_use "$other"
	ib_gone "$other"
}

# ib_gone DEVICE: the device registers without the module, and then with one half of it
ib_gone()
{
	local aux

	aux=$(basename "$(echo "/sys/class/infiniband/$1/device"/mlx5_core.rdma.*)")
	echo 0 >/sys/module/mlx5_ep/parameters/attach
	echo "$aux" >"$ib_driver/unbind"
	echo "$aux" >"$ib_driver/bind"
	wait_for 10 [ -e "/sys/class/infiniband/$1" ]
	unloads
	ep_insmod
}

ended()
{
	! kill -0 "$1" 2>/dev/null
}

going()
{
	[ "$(cat /sys/module/mlx5_ep/initstate 2>/dev/null)" = going ]
}

# The firmware takes its time to create a QP of a program, whose call is inside our wrapper.
a_call()
{
	local program rmmod aux

	aux=$(basename "$(echo "/sys/class/infiniband/$other/device"/mlx5_core.rdma.*)")
	simhca-ctl '{"op":"fault","hca":0,"kind":"delay","opcode":"CREATE_QP","count":1,"us":'$held'000000}'
	uuar_traffic -q -n 4 -r 1 >"$tmp/program" 2>&1 &
	program=$!
	wait_for 10 grep -q uuar_traffic /sys/kernel/debug/mlx5_ep/*/contexts
	sleep $slowness
	rmmod mlx5_ep &
	rmmod=$!
	wait_for 5 going
	mlx5ep doctor >"$tmp/doctor" || true
	grep 'warning: unloading: rmmod waits for calls' "$tmp/doctor"
	# Others do not wait. On a debug kernel both would take longer than the call.
	program
	if [ "$slowness" -le 1 ]; then
		echo "$aux" >"$ib_driver/unbind"
		echo "$aux" >"$ib_driver/bind"
		wait_for 10 [ -e "/sys/class/infiniband/$other" ]
	fi
	going || fail 'the module has left before the call has'
	must_fail ended $rmmod
	must_fail ended $program
	wait $program || fail "$(cat "$tmp/program")"
	wait $rmmod
	[ ! -d /sys/module/mlx5_ep ]
	program
}

says_why()
{
	dmesg | grep 'mlx5_ep: to unload it, 1 calls of programs must end' >"$tmp/said"
	# Once, however long the call takes.
	[ "$(wc -l <"$tmp/said")" = 1 ] || fail "$(tail -n 3 "$tmp/said")"
}

# another_module [PARAMETER]: another module calls our operation, or chains our definitions,
# and puts back what it found when it leaves
another_module()
{
	local rmmod aux

	aux=$(basename "$(echo "/sys/class/infiniband/$other/device"/mlx5_core.rdma.*)")
	dmesg -C
	ep_insmod
	holds observed
	insmod "build/modules/$(uname -r)/id_taker.ko" "$@"
	rmmod mlx5_ep &
	rmmod=$!
	wait_for 10 going
	wait_for 10 eval 'dmesg | grep "mlx5_ep: to unload it, unload first the module"'
	program
	ends observed "$pid"
	program
	echo "$aux" >"$ib_driver/unbind"
	echo "$aux" >"$ib_driver/bind"
	wait_for 10 [ -e "/sys/class/infiniband/$other" ]
	sleep 1
	must_fail ended $rmmod
	rmmod id_taker
	wait $rmmod
	[ ! -d /sys/module/mlx5_ep ]
	program
	rm "$tmp/observed"*
}

# another_cleanup: the same with an operation that kernels before 7.2 have not
another_cleanup()
{
	if insmod "build/modules/$(uname -r)/id_taker.ko" wrap=ufile_hw_cleanup 2>"$tmp/said"; then
		rmmod id_taker
		another_module wrap=ufile_hw_cleanup
	else
		grep 'not supported' "$tmp/said"
	fi
}

plan 12
program >/dev/null
ep_insmod
check 'a device that was there before holds nothing' nothing_holds
check 'a managed context holds the module' managed_context
check 'an open file of the module holds it' files
check 'a device that has registered with the module holds it' wholly
check 'for a call inside a wrapper rmmod waits, and nothing else does' a_call
check 'the log says what rmmod waits for' says_why
check 'rmmod waits for a module that has wrapped what makes objects of ours' \
	another_module wrap=create_qp
check 'rmmod waits for one that has wrapped what looks for them' another_module wrap=modify_qp
check 'rmmod waits for one that has wrapped what frees them' \
	another_module wrap=dealloc_ucontext
check 'rmmod waits for one that has wrapped what ends a context' another_cleanup
check 'rmmod waits for one that has changed the definitions' another_module before=1
check 'the HCAs have nothing to complain of' both_clean
ktap_finished
