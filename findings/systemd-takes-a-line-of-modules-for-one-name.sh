#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# systemd 257.13-1~deb13u1 and initramfs-tools 0.148.4 (Debian trixie), the same line in a list of modules:
# systemd-modules-load takes all of it for the name of a module. With a parameter, a comment behind
# the name or a second name no module is loaded, and it ends with 0, so that the unit
# systemd-modules-load.service has not failed. The initramfs gives modprobe all words of the line:
# the parameter is set, and a comment is parameters too. So a line that was moved from
# /etc/initramfs-tools/modules to /etc/modules-load.d, or to /etc/modules, which is there, does nothing.
# Guessed before: both read the same lines, and a module that is not found is a failure.
# Seen on 30 November 2026.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie systemd=257.13-1~deb13u1 initramfs-tools=0.148.4 kmod=34.2-2
# shellcheck disable=SC2016 # expanded in the chroot
in_root trixie '
	k=$(uname -r); d=/lib/modules/$k
	mkdir -p "$d" /conf
	touch "$d/modules.order"
	echo kernel/driver.ko >"$d/modules.builtin"
	depmod "$k" 2>/dev/null
	printf "#!/bin/sh\necho \"modprobe \$*\"\n" >/usr/sbin/modprobe
	. /usr/share/initramfs-tools/scripts/functions
	for line in "driver" "driver p=1" "driver # a comment" "driver another"; do
		echo "$line" >/conf/modules
		cp /conf/modules /etc/modules-load.d/a.conf
		status=0
		/usr/lib/systemd/systemd-modules-load /etc/modules-load.d/a.conf >/tmp/log 2>&1 || status=$?
		echo "$line: systemd $status, not found $(grep -c "Failed to find module" /tmp/log);" \
			"initramfs: $(load_modules)"
	done' >"$work/got"
cat >"$work/want" <<'END_OF_LINES'
driver: systemd 0, not found 0; initramfs: modprobe driver
driver p=1: systemd 0, not found 1; initramfs: modprobe driver p=1
driver # a comment: systemd 0, not found 1; initramfs: modprobe driver # a comment
driver another: systemd 0, not found 1; initramfs: modprobe driver another
END_OF_LINES
verdict "$work/want" "$work/got" 'systemd-modules-load takes a line with a parameter for a name, and ends with 0'
