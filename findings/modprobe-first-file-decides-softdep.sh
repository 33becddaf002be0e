#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kmod 34.2 (Debian trixie): two files of modprobe.d with a softdep line for the same module. Only the
# line of the file that sorts first counts, although `modprobe -c` prints both: a package's softdep is off, without a
# word, as soon as an administrator's file has one for that module. And a blacklist does not keep a
# softdep from loading a module, also with -b.
# Guessed before: both lines count, as with several `options` lines; and a blacklisted module is left
# out with -b. Seen on 2026-11-28.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie kmod=34.2-2 gcc libc6-dev
# shellcheck disable=SC2016 # expanded in the chroot
in_root trixie '
	k=9.9.9-findings; d=/lib/modules/$k
	mkdir -p "$d/kernel"
	for m in driver admin package; do echo "int x;" | gcc -x c -c -o "$d/kernel/$m.ko" -; done
	touch "$d/modules.order" "$d/modules.builtin"
	depmod "$k" 2>/dev/null
	loads() { echo "$1:" $(modprobe -S "$k" -n -v "${@:2}" driver | sed "s,.*/,,; s/\.ko.*//"); }
	echo "softdep driver pre: package" >/etc/modprobe.d/20-package.conf
	loads "the package alone"
	echo "softdep driver pre: admin" >/etc/modprobe.d/10-admin.conf
	loads "with a file before it"
	echo "modprobe -c prints $(modprobe -c -S "$k" | grep -c "^softdep driver ")"
	mv /etc/modprobe.d/10-admin.conf /etc/modprobe.d/30-admin.conf
	loads "with a file behind it"
	echo "blacklist package" >/etc/modprobe.d/40-no.conf
	loads "blacklisted" -b' >"$work/got"
cat >"$work/want" <<'END'
the package alone: package driver
with a file before it: admin driver
modprobe -c prints 2
with a file behind it: package driver
blacklisted: package driver
END
verdict "$work/want" "$work/got" 'of several softdep lines for a module kmod 34.2 takes the first, and no blacklist stops it'
