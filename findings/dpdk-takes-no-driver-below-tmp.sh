#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# DPDK 24.11.8-0+deb13u1 (Debian trixie): a driver that is named by -d is refused, and the program ends,
# where any folder above it may be written by all, although the driver's own folder is root's and
# 0755 and the one above has the sticky bit, as /tmp and /var/tmp have. So a build or a checkout
# below /tmp cannot be tested there.
# Guessed before: only the file and its folder are looked at, and the sticky bit counts.
# Seen on 1 December 2026.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie dpdk-dev=24.11.8-0+deb13u1 librte-net-null25=24.11.8-0+deb13u1
# shellcheck disable=SC2016 # expanded in the chroot
in_root trixie '
	of=$(find /usr/lib -name librte_net_null.so.25 | head -n 1)
	chmod 1777 /tmp /var/tmp
	for place in /opt/drivers /tmp/drivers /var/tmp/mine/drivers /opt/open; do
		mkdir -p -m 755 $place
		cp "$of" $place/driver.so
		[ $place != /opt/open ] || chmod 666 $place/driver.so
		status=0
		timeout 60 dpdk-testpmd --no-huge -m 64 --no-pci --no-shconf --no-telemetry -l 0-1 \
			-d $place/driver.so --vdev=net_null0 -- --total-num-mbufs=2048 \
			</dev/null >/run/log 2>&1 || status=$?
		echo "$place: $status $(sed -n "s/.*directory path //p" /run/log)"
	done' >"$work/got"
cat >"$work/want" <<'END_OF_LINES'
/opt/drivers: 0 
/tmp/drivers: 1 /tmp is world-writable and insecure
/var/tmp/mine/drivers: 1 /var/tmp is world-writable and insecure
/opt/open: 1 /opt/open/driver.so is world-writable and insecure
END_OF_LINES
verdict "$work/want" "$work/got" 'DPDK takes no driver below a folder that all may write, sticky or not'
