#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, smp: 2, timeout: 480
#
# What `mlx5ep set --save` has saved is in force after a reboot: a node boots,
# settings are saved, and it boots again with its /etc/mlx5ep.conf and nothing else
# of before. In both boots a program of another user tries to open the device all
# the time while the drivers are loaded.
#
# With the argument "first" or "second" and a folder that stands for the node's
# disk, this script is what runs in the guest at that boot.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh
# shellcheck source=selftests/tool/boot.sh
. selftests/tool/boot.sh

# first DISK: nothing is configured; then settings are made and saved
first()
{
	a_node
	boot
	[ "$(cat "$tmp/opens")" = "stock $contexts" ]
	mlx5ep set --policy shared-uuar --pages 4 --save
	mlx5ep -d "$dev" set --budget 100 --save
	cp /etc/mlx5ep.conf "$1/"
}

# second DISK: the settings are in force from the first open on
second()
{
	cp "$1/mlx5ep.conf" /etc/
	a_node
	boot
	[ "$(cat "$tmp/opens")" = "shared-uuar $contexts" ]
	[ "$(cd "$ep" && cat uuar_pages uar_budget)" = $'4\n100' ]
	code 0 mlx5ep show differs
	grep -qx none "$tmp/out"
}

case ${1:-} in
first|second)
	"$@"
	pkill -x systemd-udevd || :
	exit ;;
esac

# The guest sees this checkout, so the disk is in it.
mkdir -p build/check
disk=$(mktemp -d "$PWD/build/check/reboot.XXXXXX")
trap 'rm -rf "$disk" "$tmp"' EXIT

in_guest()
{
	lab/vm --kernel "${MLX5_EP_KERNEL:-7.2}" --smp 2 --timeout 230 \
		-- "$0" "$1" "$disk" >"$tmp/vm.out" 2>&1 || {
		tail -n 40 "$tmp/vm.out"
		fail "the $1 boot failed"
	}
}

plan 3
check 'a node boots, and its settings are saved' in_guest first
check 'the disk has them' grep -q shared-uuar "$disk/mlx5ep.conf"
check 'it boots again, and has them from the first open on' in_guest second
ktap_finished
