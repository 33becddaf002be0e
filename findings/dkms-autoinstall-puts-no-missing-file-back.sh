#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# DKMS 3.2.2 (Debian trixie), an installed module whose file is gone from /lib/modules: autoinstall
# puts nothing there, does not name the module, and ends with 0; `dkms status` says "installed", with a
# note in brackets. Where the source of a module is gone, autoinstall prints an error for that module
# and ends with 0.
# Guessed before: autoinstall installs what is not there, and an error gives a status.
# Seen on 2026-11-29.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
# shellcheck source-path=SCRIPTDIR source=lib/dkms.sh
source "$(dirname "$0")/lib/dkms.sh"
start
make_root trixie dkms=3.2.2-1~deb13u1 gcc kmod libc6-dev
# shellcheck disable=SC2016 # expanded in the chroot
dkms_in trixie '
	again() {
		dkms autoinstall -k "$k" >/log 2>&1
		echo "$1: autoinstall $?, files $(find "/lib/modules/$k/updates" -name "*.ko*" | wc -l)"
		grep -oE "Autoinstall on .*|Error! [^:]*broken" /log
	}
	module gone 1
	again "first"
	find "/lib/modules/$k/updates" -name "*.ko*" -delete
	again "without the file"
	dkms status | sed "s/.*: //"
	dkms remove gone/1 --all >/dev/null 2>&1
	module source 1
	rm -r /usr/src/source-1
	again "without the source"' >"$work/got"
cat >"$work/want" <<'END'
first: autoinstall 0, files 1
Autoinstall on 9.9.9-findings succeeded for module(s) gone.
without the file: autoinstall 0, files 0
installed (Differences between built and installed modules)
without the source: autoinstall 0, files 0
Error! source/1 is broken
END
verdict "$work/want" "$work/got" 'autoinstall of DKMS 3.2.2 ends with 0 where the file of a module is gone, and puts none there'
