#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# DKMS 3.2.2 (Debian trixie), two versions of one module added: autoinstall installs 1.10rc1 and not
# 1.10, and 1.999 and not 1.1000. It pads each number to three digits and compares the result as a
# string, so a suffix makes a version newer, and a number of four digits is smaller than one of three.
# Guessed before: as dpkg or sort -V compare numbers, by which 1.1000 is the newer one.
# Seen on 2026-11-28.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
# shellcheck source-path=SCRIPTDIR source=lib/dkms.sh
source "$(dirname "$0")/lib/dkms.sh"
start
make_root trixie dkms=3.2.2-1~deb13u1 gcc kmod libc6-dev
# shellcheck disable=SC2016 # expanded in the chroot
dkms_in trixie '
	module plain 1.9; module plain 1.10
	module suffix 1.10; module suffix 1.10rc1
	module digits 1.999; module digits 1.1000
	dkms autoinstall -k "$k" >/dev/null 2>&1; echo "status $?"
	states | sort' >"$work/got"
cat >"$work/want" <<'END'
status 0
digits/1.1000 added
digits/1.999 installed
plain/1.10 installed
plain/1.9 added
suffix/1.10 added
suffix/1.10rc1 installed
END
verdict "$work/want" "$work/got" 'to DKMS 3.2.2 1.10rc1 is newer than 1.10, and 1.999 than 1.1000'
