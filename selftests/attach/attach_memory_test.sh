#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: attach, kernels: debug, timeout: 240
#
# A device is bound while one allocation below one function of mlx5_ep fails, each
# allocation in turn. The device is then the driver's own, and says so; bound again, it
# is attached. sweep_attach goes through the whole of attaching in wider steps, and knows
# the device already, whose settings need no memory then.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh
# shellcheck source=selftests/attach/faults.sh
. selftests/attach/faults.sh

# below FUNCTION: what fails from now on is called by this function of mlx5_ep
below()
{
	local range

	range=$(function_range "$1" '[mlx5_ep]')
	[ -n "$range" ] || fail "mlx5_ep has no $1"
	# shellcheck disable=SC2086 # two addresses
	faults_between $range
}

# bind_without NTH: binds the device without the memory of the NTH allocation; fails if
# fewer were asked for
bind_without()
{
	local left

	# The shell itself writes to "bind", so it is its own allocations that fail.
	echo "$1" >/proc/self/fail-nth
	ib_bind
	read -r left </proc/self/fail-nth
	echo 0 >/proc/self/fail-nth
	[ "$left" = 0 ]
}

# stock: the device works as without the module
stock()
{
	wait_for 10 [ -d "/sys/class/infiniband/$dev/ports/1" ]
	uuar_traffic -q -n 2 -r 1
	hca_clean
}

# again: bound again, the device is attached, with the parameter defaults
again()
{
	ib_unbind
	ib_bind
	wait_for 10 attached
	[ "$(cat "$ep/uuar_policy")" = shared-uar ] || fail "$(cat "$ep/uuar_policy")"
	stock
}

# refused FUNCTION LEAST: each allocation below FUNCTION fails in turn. In LEAST or more
# cases there is no memory for the attachment; in the others the core makes up for it.
refused()
{
	local nth refused=0

	below "$1"
	for ((nth = 1; ; nth++)); do
		ib_unbind
		bind_without $nth || break
		wait_for 10 [ -e "$ep/attached" ]
		if ! attached; then
			grep -x 'not attached: no memory' "$ep/attached"
			refused=$((refused + 1))
		fi
		stock
		again
	done
	echo "# $1: $((nth - 1)) allocations, $refused refusals"
	[ $refused -ge "$2" ]
	again
}

# The module forgets the device when it is unloaded.
forgotten()
{
	ib_unbind
	rmmod mlx5_ep
	ep_insmod defaults="$dev uuar_policy shared-uar"
}

# Without the record itself mlx5_ep does not know the device.
unknown()
{
	below mlx5_ep_device_create
	ib_unbind
	bind_without 1 || fail 'it asked for no memory'
	stock
	[ ! -e "$ep" ] || fail "$(ls "$ep")"
	again
}

# Only a device that was not seen before needs memory for its settings.
new()
{
	local nth

	for nth in 1 2 3; do
		forgotten
		below mlx5_ep_settings_restore
		bind_without $nth || fail "it asked for memory $((nth - 1)) times"
		wait_for 10 [ -e "$ep/attached" ]
		grep -x 'not attached: no memory' "$ep/attached"
		stock
		again
	done
}

# The text of the defaults is copied to be read.
defaults()
{
	forgotten
	below mlx5_ep_defaults_get
	bind_without 1 || fail 'it asked for no memory'
	wait_for 10 attached
	grep -x stock "$ep/uuar_policy"
	dmesg | grep "$dev: mlx5_ep: no memory for the parameter defaults"
}

# others FILE: writes the devices behind other HCAs to the file of the driver. Where it has
# none of them, the module can be unloaded.
others()
{
	local other

	for other in /sys/bus/auxiliary/devices/mlx5_core.rdma.*; do
		[ "${other##*/}" = "$bound" ] || echo "${other##*/}" >"$ib_driver/$1" ||
			echo "# $1: ${other##*/} is left as it is"
	done
}

[ -e $debug/failslab/require-start ] || skip_all 'the kernel makes no allocation fail'
bound=$(ib_device)
trap 'others bind; rm -rf "$tmp"' EXIT
others unbind
forgotten
ib_bind
wait_for 10 attached
plan 6
check 'no memory for the record of the device' unknown
check 'none for the settings of a device that is new' new
check 'none for the tables of XRC' refused mlx5_ep_xrc_device_create 1
check 'none for the folder in sysfs' refused mlx5_ep_sysfs_add 3
check 'none for wrapped methods' refused mlx5_ep_object_hook_create 8
check 'none for the parameter defaults' defaults
ktap_finished
