#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# DKMS 3.2.2 (Debian trixie): `dkms kernel_prerm -k KERNEL` removes the modules of all packages from a
# kernel and says "Running depmod... done.", yet depmod does not run, and modules.dep still names the
# files that are gone. autoinstall, which installed them, ran it once for each of them.
# Guessed before: depmod once, in both. Seen on 2026-11-28.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
# shellcheck source-path=SCRIPTDIR source=lib/dkms.sh
source "$(dirname "$0")/lib/dkms.sh"
start
make_root trixie dkms=3.2.2-1~deb13u1 gcc kmod libc6-dev
# shellcheck disable=SC2016 # expanded in the chroot
dkms_in trixie '
	module one 1; module two 1; module three 1
	# depmod is a link to kmod; a script in its place counts its runs.
	rm /usr/sbin/depmod
	printf "%s\n" "#!/bin/bash" "echo \"\$*\" >>/depmods" \
		"exec -a depmod /usr/bin/kmod \"\$@\"" >/usr/sbin/depmod
	chmod 755 /usr/sbin/depmod
	: >/depmods
	count() {
		echo "$1: status $2, says so $(grep -c "Running depmod" /log) times," \
			"runs $(grep -c . /depmods)," \
			"files $(find "/lib/modules/$k/updates" -name "*.ko*" 2>/dev/null | wc -l)," \
			"lines in modules.dep $(grep -c updates/ "/lib/modules/$k/modules.dep")"
		: >/depmods
	}
	dkms autoinstall -k "$k" >/log 2>&1; count autoinstall $?
	dkms kernel_prerm -k "$k" >/log 2>&1; count kernel_prerm $?' >"$work/got"
cat >"$work/want" <<'END'
autoinstall: status 0, says so 3 times, runs 3, files 3, lines in modules.dep 3
kernel_prerm: status 0, says so 1 times, runs 0, files 0, lines in modules.dep 3
END
verdict "$work/want" "$work/got" 'dkms kernel_prerm of 3.2.2 says that it runs depmod, and leaves modules.dep as it was'
