#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kmod 34.2 (Debian trixie), a softdep line with a mistake: behind "#" each word is a module to load; without the
# word "pre:", or with "pre:" and the name in one word, the line is taken and does nothing; a module that
# does not exist is left out. In all cases modprobe says nothing and ends with 0, although it does complain
# of a line that begins with a word it does not know.
# Guessed before: "#" begins a comment, and a line that cannot be read is complained of.
# Seen on 2026-11-29.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie kmod=34.2-2 gcc libc6-dev
# shellcheck disable=SC2016 # expanded in the chroot
in_root trixie '
	k=9.9.9-findings; d=/lib/modules/$k
	mkdir -p "$d/kernel"
	for m in driver package for dummy; do echo "int x;" | gcc -x c -c -o "$d/kernel/$m.ko" -; done
	touch "$d/modules.order" "$d/modules.builtin"
	depmod "$k" 2>/dev/null
	for line in "softdep driver pre: package" "softdep driver pre: package # for dummy" \
		"softdep driver package" "softdep driver pre:package" "softdep driver pre: nosuch" \
		"sofdep driver pre: package"; do
		echo "$line" >/etc/modprobe.d/a.conf
		modprobe -S "$k" -n -v driver >out 2>err
		echo "$line: status $?, messages $(grep -c . err), loads" \
			$(sed "s,.*/,,; s/\.ko.*//" out)
	done' >"$work/got"
cat >"$work/want" <<'END'
softdep driver pre: package: status 0, messages 0, loads package driver
softdep driver pre: package # for dummy: status 0, messages 0, loads package for dummy driver
softdep driver package: status 0, messages 0, loads driver
softdep driver pre:package: status 0, messages 0, loads driver
softdep driver pre: nosuch: status 0, messages 0, loads driver
sofdep driver pre: package: status 0, messages 1, loads driver
END
verdict "$work/want" "$work/got" 'kmod 34.2 loads what stands behind "#" in a softdep line, and is silent about other mistakes'
