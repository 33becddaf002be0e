#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: foreign, timeout: 200
#
# mlx5_ep meets a module that it was not compiled for. A kernel with MODVERSIONS
# refuses by itself; elsewhere mlx5_ep compares build-ids. The foreign modules are
# copies of the kernel's own with another build-id.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

module=build/modules/$(uname -r)/mlx5_ep.ko
words='is not the one that mlx5_ep was compiled for'

# unload MODULE: unloads it, after the driver and all modules that use it
unload()
{
	local holder

	ib_unload
	[ -d "/sys/module/$1" ] || return 0
	for holder in /sys/module/"$1"/holders/*; do
		[ ! -e "$holder" ] || unload "${holder##*/}"
	done
	rmmod "$1"
}

# foreign MODULE: makes $tmp/MODULE.ko with another build-id
foreign()
{
	local file

	file=$(modinfo -n "$1")
	case $file in
	*.xz) xz -dcf "$file" ;;
	*) cat "$file" ;;
	esac >"$tmp/$1.ko"
	objcopy --dump-section ".note.gnu.build-id=$tmp/note" "$tmp/$1.ko"
	printf '\x00\x00\x00\x00' |
		dd of="$tmp/note" bs=1 seek=16 conv=notrunc status=none
	objcopy --update-section ".note.gnu.build-id=$tmp/note" "$tmp/$1.ko"
}

# logged MODULE: how often the log says that mlx5_ep refused MODULE
logged()
{
	dmesg | grep -c "mlx5_ep: not loaded: $1 $words" || true
}

# load: loads mlx5_ep from a mount namespace without sysfs, as in a container
load()
{
	# shellcheck disable=SC2016
	unshare --mount sh -c 'umount --lazy /sys && insmod "$1"' sh "$module"
}

# refuses MODULE: with a foreign MODULE loaded, mlx5_ep cannot be loaded
refuses()
{
	local said

	unload ib_core
	unload mlx5_core
	foreign "$1"
	# What it depends on is loaded, and it is not.
	modprobe "$1"
	unload "$1"
	insmod "$tmp/$1.ko"
	modprobe ib_uverbs
	modprobe mlx5_core
	said=$(logged "$1")
	! load 2>"$tmp/said" || fail 'it was loaded'
	grep 'Invalid module format' "$tmp/said"
	[ "$(logged "$1")" -eq $((said + 1)) ] || fail "$(dmesg | tail)"
	[ ! -d /sys/module/mlx5_ep ]
	[ ! -e /sys/kernel/debug/mlx5_ep ] || fail 'its folder in debugfs is left'
}

# What mlx5_ep is linked to is in a module of its own where ib_uverbs can go alone.
linked()
{
	modinfo -n ib_uverbs_support >/dev/null 2>&1 && echo ib_uverbs_support || echo ib_uverbs
}

# Where mlx5_ep is not linked to ib_uverbs, the device goes without what it needs of that.
refuses_rest()
{
	[ "$(linked)" != ib_uverbs ] || return 0
	unload ib_core
	unload mlx5_core
	foreign ib_uverbs
	modprobe -a mlx5_core ib_uverbs_support
	load
	modprobe mlx5_ib
	wait_for 20 [ -e "$ep/attached" ]
	insmod "$tmp/ib_uverbs.ko"
	cat "$ep/attached"
	[ "$(cat "$ep/attached")" = "policies, limits; without the rest: ib_uverbs $words" ]
	[ -z "$(cat "$ep/uverbs_ids")" ]
	rmmod ib_uverbs
	modprobe ib_uverbs
	[ "$(cat "$ep/attached")" = yes ]
}

# A driver that comes later is met when its device registers.
refuses_driver()
{
	unload mlx5_ib
	foreign mlx5_ib
	[ -d /sys/module/mlx5_ep ] || insmod "$module"
	insmod "$tmp/mlx5_ib.ko"
	wait_for 10 [ -e "$ep/attached" ]
	cat "$ep/attached"
	[ "$(cat "$ep/attached")" = "not attached: mlx5_ib $words" ]
	[ "$(ls "$ep")" = attached ] || fail "$(ls "$ep")"
}

doctor_helps()
{
	mlx5ep doctor >"$tmp/doctor" || true
	grep -A1 "mlx5_ib $words" "$tmp/doctor" |
		grep "dkms build --force .* -k $(uname -r)"
}

# writable FOLDER: makes a folder writable that a guest may have read-only, as the modules
# of a kernel that is built here
writable()
{
	[ ! -w "$1" ] || return 0
	mkdir "$tmp/over"
	mount -t tmpfs none "$tmp/over"
	mkdir "$tmp/over/upper" "$tmp/over/work"
	mount -t overlay -o "lowerdir=$1,upperdir=$tmp/over/upper,workdir=$tmp/over/work" \
		none "$1"
}

# The doctor finds the module's file where DKMS puts it, and the reason in the log.
doctor_tells()
{
	local lib place

	lib=/usr/lib/modules/$(uname -r)
	place=$lib/updates/dkms
	writable "$lib"
	mkdir -p "$place"
	cp "$module" "$place/"
	mlx5ep doctor >"$tmp/doctor" || true
	rm "$place/${module##*/}"
	[ ! -d "$tmp/over" ] || umount "$lib" "$tmp/over"
	cat "$tmp/doctor"
	grep -A1 "the kernel has refused it: .*mlx5_core $words" "$tmp/doctor" |
		grep "dkms build --force .* -k $(uname -r)"
}

# The same modules from the kernel's own files.
attaches()
{
	unload ib_core
	unload mlx5_core
	modprobe mlx5_core
	modprobe ib_uverbs
	load
	modprobe mlx5_ib
	wait_for 20 [ -e "$ep/uuar_policy" ]
	[ "$(cat "$ep/attached")" = yes ]
}

# On a kernel with MODVERSIONS: a module that was compiled for other symbols
kernel_refuses()
{
	unload mlx5_ep
	cp "$module" "$tmp/mlx5_ep.ko"
	objcopy --dump-section "__versions=$tmp/versions" "$tmp/mlx5_ep.ko"
	printf '\x00\x00\x00\x00' |
		dd of="$tmp/versions" bs=1 conv=notrunc status=none
	objcopy --update-section "__versions=$tmp/versions" "$tmp/mlx5_ep.ko"
	! insmod "$tmp/mlx5_ep.ko" 2>"$tmp/said" || fail 'it was loaded'
	dmesg | tail -n 3 | grep 'mlx5_ep: disagrees about version of symbol'
}

# Another build of an ib_core with the same symbols is a legal one there.
kernel_accepts()
{
	unload ib_core
	foreign ib_core
	insmod "$tmp/ib_core.ko"
	modprobe ib_uverbs
	insmod "$module"
	modprobe mlx5_ib
	wait_for 20 [ -e "$ep/uuar_policy" ]
	[ "$(cat "$ep/attached")" = yes ]
}

if modprobe --dump-modversions "$module" >/dev/null 2>&1; then
	plan 3
	check 'MODVERSIONS: the kernel refuses other symbols' kernel_refuses
	check 'MODVERSIONS: another build of ib_core is legal' kernel_accepts
	check 'the modules of this kernel: it attaches' attaches
	ktap_finished
fi
plan 8
check 'another mlx5_ib: attached says so' refuses_driver
check 'the doctor says how to compile again' doctor_helps
check 'another ib_core: mlx5_ep is not loaded' refuses ib_core
check 'another module that has uverbs for drivers: mlx5_ep is not loaded' \
	refuses "$(linked)"
check 'another ib_uverbs, where it can go alone: attached says so' refuses_rest
check 'another mlx5_core: mlx5_ep is not loaded' refuses mlx5_core
check 'the doctor says why, and how to compile again' doctor_tells
check 'the modules of this kernel: it attaches' attaches
ktap_finished
