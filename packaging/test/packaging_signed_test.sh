#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 240
#
# A kernel that loads signed modules only, as with Secure Boot, refuses a module whose
# key it does not know. The stock driver works on, and mlx5ep doctor names the command
# that enrolls the key of DKMS.
#
# With the argument "guest" this script is what runs in the guest.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

guest()
{
	local ko updates

	ko=build/modules/$(uname -r)/mlx5_ep.ko
	updates=/lib/modules/$(uname -r)/updates
	[ "$(cat /sys/module/module/parameters/sig_enforce)" = Y ]
	code 1 insmod "$ko"
	grep 'Key was rejected by service' "$tmp/err"
	mkdir -p "$updates" /var/lib/dkms
	cp "$ko" "$updates/"
	: >/var/lib/dkms/mok.pub
	code 1 mlx5ep doctor
	grep -qx 'problem: module: .* and this kernel loads signed modules only' \
		"$tmp/out"
	grep -q 'mend with: mokutil --import /var/lib/dkms/mok.pub, reboot' "$tmp/out"
	uuar_traffic -q -n 2 -r 1
	[ ! -d /sys/module/mlx5_ep ]
}

if [ "${1:-}" = guest ]; then
	guest
	exit
fi

refused()
{
	local kernel=${MLX5_EP_KERNEL:-7.2}

	lab/build-module "$kernel"
	lab/vm --kernel "$kernel" --no-module \
		--append module.sig_enforce=1 -- "$0" guest
}

plan 1
check 'a module without a trusted key is refused, and doctor says what to do' refused
ktap_finished
