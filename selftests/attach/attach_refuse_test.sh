#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: core, guest: attach, timeout: 400
#
# A driver or an ib_core that differs from those that mlx5_ep knows. If an id is taken, the
# driver's tree has a definition of an unknown kind, or its DevX or UAR objects have other
# methods, the device lacks the parts that need that, and sysfs and the log say why. If
# another module has wrapped an operation of the device, the device stays as it was. Where
# the driver has no DevX objects at all, or lists other things before them, the device is
# attached. Where the driver does not see what mlx5_ep changes in requests, contexts stay
# stock.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

taker=build/modules/$(uname -r)/id_taker.ko

unload()
{
	ib_unload
	[ ! -d /sys/module/mlx5_ep ] || rmmod mlx5_ep
	[ ! -e /sys/kernel/debug/mlx5_ep ] || fail 'tables of a module that is gone'
	[ ! -d /sys/module/id_taker ] || rmmod id_taker
	[ ! -d /sys/module/request_copier ] || rmmod request_copier
}

# left: a test that fails leaves the driver and mlx5_ep alone to the next one
# shellcheck disable=SC2317 # called by the trap
left()
{
	local status=$?

	rm -rf --one-file-system "$tmp"
	[ $status = 0 ] || { unload && ep_insmod && modprobe mlx5_ib; } >/dev/null 2>&1
}
trap left EXIT

# take PARAMETER...: loads id_taker, then mlx5_ep, then the driver
take()
{
	unload
	refusals >"$tmp/said"
	insmod "$taker" "$@"
	ep_insmod
	modprobe mlx5_ib
	wait_for 10 [ -e "$ep" ] || fail 'no folder in sysfs'
}

refused()
{
	take "$@"
	cat "$ep/attached"
	grep -q '^not attached: .' "$ep/attached"
	[ "$(ls "$ep")" = attached ] || fail "$(ls "$ep")"
}

# The uverbs device exists, and a stock program sees no difference.
works()
{
	local uverbs=(/sys/class/infiniband_verbs/uverbs*)

	[ -e "${uverbs[0]}" ] || fail 'no uverbs device'
	simhca-ctl reset >/dev/null
	uuar_traffic -q -n 4 -r 1
	hca_clean
}

refusals()
{
	dmesg | grep -c "$dev: mlx5_ep: not attached" || true
}

said_once()
{
	[ "$(refusals)" -eq $(($(cat "$tmp/said") + 1)) ] ||
		fail "$(dmesg | grep mlx5_ep)"
}

# The driver is loaded first, mlx5_ep after it.
driver_first()
{
	modprobe mlx5_ib
	wait_for 10 [ -e "/sys/class/infiniband/$dev" ]
}

ended()
{
	! kill -0 "$1" 2>/dev/null
}

# The driver is there, and mlx5_ep is loaded with reprobe: it would refuse the device
# again, and leaves it alone.
refused_again()
{
	unload
	refusals >"$tmp/said"
	insmod "$taker" wrap=dealloc_ucontext
	driver_first
	ep_insmod reprobe=1 &
	wait_for 10 ended "$!" || fail 'the module re-probes for ever'
	wait_for 10 [ -e "$ep/attached" ]
	grep 'another module has changed' "$ep/attached"
	said_once
}

# A device that would be refused anyway is not reprobed, so its users stay.
reprobes_nothing()
{
	unload
	driver_first
	refusals >"$tmp/said"
	ep_insmod reprobe=1 attach=0
	grep 'attach is off' "$ep/attached"
	said_once
}

reprobes()
{
	unload
	driver_first
	ep_insmod reprobe=1
	wait_for 10 [ -e "$ep/uuar_policy" ]
	[ "$(cat "$ep/attached")" = yes ]
}

# The driver does not take the device again, as the firmware does not answer it. The
# module is loaded all the same, and attaches when the device is bound.
reprobe_fails()
{
	unload
	driver_first
	bound=$(ib_device)
	simhca-ctl '{"op":"fault","kind":"cmd","opcode":"QUERY_ADAPTER","count":0,"status":1}'
	ep_insmod reprobe=1
	simhca-ctl '{"op":"clear"}'
	dmesg | grep "$bound: mlx5_ep: re-probe failed"
	[ ! -e "$ib_driver/$bound" ] || fail "the device is bound"
	ib_bind
	wait_for 10 attached
}

goes_away()
{
	ib_unload
	rmmod mlx5_ep
	rmmod id_taker
}

attaches_again()
{
	unload
	ep_insmod
	modprobe mlx5_ib
	wait_for 10 [ -e "$ep/uuar_policy" ]
	[ "$(cat "$ep/attached")" = yes ]
}

# An operation that id_taker has wrapped is still called, and nothing is left of it.
refused_wrapped()
{
	local operation

	for operation in create_qp ufile_hw_cleanup dealloc_ucontext; do
		unload
		if ! insmod "$taker" wrap=$operation 2>"$tmp/said"; then
			# Before 7.2 there is no such operation.
			[ $operation = ufile_hw_cleanup ]
			grep 'not supported' "$tmp/said"
			continue
		fi
		refused wrap=$operation
		grep 'another module has changed its operations' "$ep/attached"
		works
	done
}

# attached_with PARAMETER...: id_taker has changed the definitions of the driver
attached_with()
{
	take "$@"
	[ "$(cat "$ep/attached")" = yes ] || fail "$(cat "$ep/attached")"
}

# without NAME...: the device is attached and has not these parts
without()
{
	local name

	cat "$ep/attached"
	grep -q '^yes, without ' "$ep/attached"
	for name; do
		grep -Eq ", without $name: (uverbs .* is taken|unknown uverbs def|.* other methods)" \
			"$ep/attached"
		dmesg | grep -q "$dev: mlx5_ep: without $name: "
	done
	[ "$(grep -o 'without' "$ep/attached" | wc -l)" -eq $# ] ||
		fail "$(cat "$ep/attached")"
}

# lists PATTERN COUNT: so many lines of the ids match
lists()
{
	[ "$(grep -c "$1" "$ep/uverbs_ids")" -eq "$2" ] || fail "$(cat "$ep/uverbs_ids")"
}

# Policies, and each part that is left, work.
rest_works()
{
	ep_policy independent 4
	works
	ep_policy stock
	doctor_says
}

# The tool says which parts are not there, and that a newer module is the remedy.
doctor_says()
{
	mlx5ep doctor >"$tmp/doctor" || true
	grep "without .*: " "$tmp/doctor"
	grep 'newer mlx5_ep' "$tmp/doctor"
}

object_taken()
{
	take object=10
	without 'shared XRC receive QPs'
	lists 'object xrc_rcv_qp' 0
	lists 'object notifier' 1
	lists 'method' 6
	rest_works
	code 1 build/selftests/xrc_values_test
	code 0 build/selftests/watch_edges_test
}

notifier_taken()
{
	take object=11
	without 'notifiers of the device' 'shared XRC receive QPs'
	lists 'object' 0
	lists 'method' 6
	rest_works
}

method_taken()
{
	take method=7
	without 'methods on contexts'
	lists 'method device' 0
	lists 'method qp' 2
	lists 'object' 2
	rest_works
	code 0 build/selftests/xrc_rcv_qp_test
}

unknown_kind()
{
	unload
	insmod "$taker" unknown=1
	ep_insmod
	echo 1 >/sys/module/id_taker/parameters/mend
	modprobe mlx5_ib
	wait_for 10 [ -e "$ep" ] || fail 'no folder in sysfs'
	without 'methods on contexts' 'methods on QPs' 'notifiers of the device' \
		'shared XRC receive QPs'
	lists . 1
	grep -qx 'abi 1' "$ep/uverbs_ids"
	rest_works
}

# The objects that mlx5_ep wraps have not the methods that it wraps.
methods_lacking()
{
	take before=1 alone=1
	without 'limits of UAR objects' 'QPs of DevX'
	lists . 9
	rest_works
}

# copied PARAMETER...: the driver does not see the requests that mlx5_ep has changed
copied()
{
	unload
	insmod "build/modules/$(uname -r)/request_copier.ko" "$@"
	ep_insmod
	modprobe mlx5_ib
	wait_for 10 attached || fail "$(cat "$ep/attached")"
	ep_policy independent 4
	dmesg -C
	works
}

# The first context proves it, and no context after it is tried.
open_copied()
{
	copied opens="$1"
	grep -qx 'yes, without uUAR policies: mlx5_ib does not read requests where mlx5_ep changes them' \
		"$ep/attached"
	dmesg | grep 'stays stock: mlx5_ib does not read requests'
	[ "$(ep_get uuar_fallbacks)" -gt 0 ]
	[ "$(ep_get uar_in_use)" -eq 0 ]
	ep_policy stock
}

# copied_above POLICY: a later ib_core gives mlx5_ep a copy of the request as memory of the
# kernel. No request can be protected there, so a limit must not ask for that.
copied_above()
{
	copied opens=kernel
	ep_policy "$@"
	ep_set uar_user_limit 64
	echo 1 >/sys/module/request_copier/parameters/above
	works
	grep -qx 'yes, without uUAR policies: mlx5_ib does not read requests where mlx5_ep changes them' \
		"$ep/attached"
	[ "$(ep_get uar_in_use)" -eq 0 ]
	ep_set uar_user_limit 1
	! uuar_traffic -q -n 4 -r 1 || fail 'more pages than the limit'
	dmesg | grep 'UAR pages and is refused 1 more'
	ep_set uar_user_limit 0
	ep_policy stock
}

# A context that asks for static pages has none.
pages_dynamic()
{
	copied opens=dynamic
	grep -qx yes "$ep/attached"
	dmesg | grep 'stays stock: mlx5_ib gives no static UAR pages'
	[ "$(ep_get uar_in_use)" -eq 0 ]
	ep_policy stock
}

# The answer does not confirm the page: the QP is where the driver has put it.
create_copied()
{
	copied creates=1
	grep -qx yes "$ep/attached"
	dmesg | grep 'stays stock: mlx5_ib does not use the UAR page'
	simhca-ctl reset >/dev/null
	uuar_traffic -q -n 4 -r 1 -x "mlx5ep -j show contexts >$tmp/shown"
	jq -e '.devices[0].contexts | length == 1 and .[0].source == "fallback"' "$tmp/shown"
	hca_clean
	ep_policy stock
}

# A call is held up while it finds out how the driver reads. Its own memory is then not what
# the driver is asked to read.
calls_wait()
{
	copied
	code 0 open_beside
	hca_clean
	ep_policy stock
}

# A later kernel may map by mmap_prepare. No program opens such a device here.
mmap_missing()
{
	unload
	insmod "build/modules/$(uname -r)/request_copier.ko" unmapped=1
	ep_insmod
	modprobe mlx5_ib
	wait_for 10 [ -e "$ep/attached" ]
	grep -qx 'yes, without uUAR policies: mlx5_ib maps UAR pages by another operation' \
		"$ep/attached"
	lists object 2
}

# Other trees come before that of the driver.
finds_behind()
{
	attached_with before=1
	ep_policy independent 4
	works
	ep_policy stock
	works
}

plan 32
check 'where the id of an object is taken, that object is missing' object_taken
check 'the modules can be unloaded (1)' goes_away
check 'without the object of notifiers there are no methods that take one' notifier_taken
check 'the modules can be unloaded (2)' goes_away
check 'where the id of a method is taken, the methods on contexts are missing' method_taken
check 'the modules can be unloaded (3)' goes_away
check 'beside a definition of unknown kind there is nothing of ours' unknown_kind
check 'the modules can be unloaded (4)' goes_away
check 'contexts stay stock if requests are copied first' open_copied copy
check 'contexts stay stock if requests are copied as memory of the kernel' open_copied kernel
check 'a limit refuses no open if requests are copied' copied_above stock
check 'a limit and a policy refuse no open if requests are copied' copied_above independent 4
check 'contexts stay stock if there are no static pages' pages_dynamic
check 'QPs stay where the driver puts them if it ignores the page' create_copied
check 'a call waits for another one that has its memory' calls_wait
check 'without the operation that maps there are no policies' mmap_missing
check 'operations of another module are refused' refused_wrapped
check 'the device works (1)' works
check 'the log says so once' said_once
check 'the modules can be unloaded (5)' goes_away
check 'where DevX and UAR objects have other methods, these are not looked into' methods_lacking
check 'the modules can be unloaded (6)' goes_away
check 'DevX objects behind others are found' finds_behind
check 'the modules can be unloaded (7)' goes_away
check 'a driver without DevX objects is attached' attached_with alone=1
check 'reprobe leaves alone what it would refuse again' refused_again
check 'the device works (2)' works
check 'the modules can be unloaded (8)' goes_away
check 'with attach off, reprobe leaves the device alone' reprobes_nothing
check 'reprobe attaches a device that was there before' reprobes
check 'a reprobe that fails is told of' reprobe_fails
check 'with the ids free it attaches' attaches_again
ktap_finished
