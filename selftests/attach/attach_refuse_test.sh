#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: core, guest: attach, timeout: 400
#
# Another driver has taken an id that mlx5_ep needs, or another module has wrapped an
# operation of the device. The device then stays as it was, and sysfs and the log say why.
# Where the driver has no DevX objects at all, or lists other things before them, the
# device is attached.

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
}

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

# The driver is there, and mlx5_ep is loaded with reprobe: it refuses the device
# once before the reprobe and once after, and does not try a third time.
refused_again()
{
	unload
	refusals >"$tmp/said"
	insmod "$taker" object=11
	driver_first
	ep_insmod reprobe=1 &
	wait_for 10 ended "$!" || fail 'the module re-probes for ever'
	wait_for 10 [ -e "$ep/attached" ]
	grep 'is taken' "$ep/attached"
	[ "$(refusals)" -eq $(($(cat "$tmp/said") + 2)) ] ||
		fail "$(dmesg | grep mlx5_ep)"
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

# The operation that id_taker has wrapped is still called, and nothing is left of it.
refused_wrapped()
{
	refused wrap=1
	grep 'another module has changed its operations' "$ep/attached"
}

# The objects that mlx5_ep wraps have not the methods that it wraps.
refused_lacking()
{
	refused before=1 alone=1
	grep 'DevX or UAR objects have other methods' "$ep/attached"
}

# attached_with PARAMETER...: id_taker has changed the definitions of the driver
attached_with()
{
	take "$@"
	[ "$(cat "$ep/attached")" = yes ] || fail "$(cat "$ep/attached")"
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

plan 24
check 'an object id that is taken is refused' refused object=11
check 'the device works (1)' works
check 'the log says so once (1)' said_once
check 'the modules can be unloaded (1)' goes_away
check 'a method id that is taken is refused' refused method=7
check 'the device works (2)' works
check 'the log says so once (2)' said_once
check 'the modules can be unloaded (2)' goes_away
check 'operations of another module are refused' refused_wrapped
check 'the device works (3)' works
check 'the log says so once (3)' said_once
check 'the modules can be unloaded (3)' goes_away
check 'DevX objects without their methods are refused' refused_lacking
check 'the modules can be unloaded (4)' goes_away
check 'DevX objects behind others are found' finds_behind
check 'the modules can be unloaded (5)' goes_away
check 'a driver without DevX objects is attached' attached_with alone=1
check 'reprobe tries once what is refused again' refused_again
check 'the device works (4)' works
check 'the modules can be unloaded (6)' goes_away
check 'with attach off, reprobe leaves the device alone' reprobes_nothing
check 'reprobe attaches a device that was there before' reprobes
check 'a reprobe that fails is told of' reprobe_fails
check 'with the ids free it attaches' attaches_again
ktap_finished
