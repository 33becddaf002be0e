#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kmod 34.2 (Debian trixie), one softdep in the module itself (MODULE_SOFTDEP) and one for it in
# /etc/modprobe.d: the name of the file decides which of them counts, and the other one is off without a word. depmod
# writes those of modules to a file modules.softdep, which modprobe sorts among the names in modprobe.d:
# a line in modules-local.conf wins, and the same line in my.conf or z.conf does nothing. Among
# files, a wildcard in one that sorts first switches off the exact name behind it.
# Guessed before: the administrator's file wins over the module, and the exact name over a wildcard.
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
	# module NAME KEY=VALUE...: a file with these words in .modinfo
	module() {
		local name=$1 word n=0
		shift
		for word in name="$name" "$@"; do
			echo "static const char s$((n++))[] __attribute__((used, section(\".modinfo\"))) = \"$word\";"
		done | gcc -x c -c -o "$d/kernel/$name.ko" -
	}
	for m in plain own admin package; do module "$m"; done
	module driver "softdep=pre: own"
	touch "$d/modules.order" "$d/modules.builtin"
	depmod "$k" 2>/dev/null
	loads() {
		echo "$1:" $(modprobe -S "$k" -n -v "$2" 2>&1 | sed "s,.*/,,; s/\.ko.*//")
	}
	loads "the module alone" driver
	for file in 99-a modules modules-local modules.softdep my z; do
		echo "softdep driver pre: admin" >"/etc/modprobe.d/$file.conf"
		loads "with $file.conf" driver
		rm "/etc/modprobe.d/$file.conf"
	done
	echo "softdep plain pre: package" >/etc/modprobe.d/20-a.conf
	loads "exact name alone" plain
	echo "softdep pl* pre: admin" >/etc/modprobe.d/10-b.conf
	loads "wildcard before it" plain
	mv /etc/modprobe.d/10-b.conf /etc/modprobe.d/30-b.conf
	loads "wildcard behind it" plain
	mv /etc/modprobe.d/30-b.conf /etc/modprobe.d/100-b.conf
	loads "wildcard in 100-b.conf" plain' >"$work/got"
cat >"$work/want" <<'END'
the module alone: own driver
with 99-a.conf: admin driver
with modules.conf: admin driver
with modules-local.conf: admin driver
with modules.softdep.conf: own driver
with my.conf: own driver
with z.conf: own driver
exact name alone: package plain
wildcard before it: admin plain
wildcard behind it: package plain
wildcard in 100-b.conf: admin plain
END
verdict "$work/want" "$work/got" 'the name of a file of modprobe.d decides whether it or the module counts, in kmod 34.2'
