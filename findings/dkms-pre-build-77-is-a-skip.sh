#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# DKMS 3.2.2 (Debian trixie) and a PRE_BUILD script that fails: with status 1, build and install end
# with 1 and autoinstall with 11. With status 77, build and install end with 77, and autoinstall skips
# the module and ends with 0, so that a kernel package's hook is content with a kernel that has no module.
# Guessed before: each status but 0 is an error of autoinstall. Seen on 2026-11-28.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
# shellcheck source-path=SCRIPTDIR source=lib/dkms.sh
source "$(dirname "$0")/lib/dkms.sh"
start
make_root trixie dkms=3.2.2-1~deb13u1 gcc kmod libc6-dev
# shellcheck disable=SC2016 # expanded in the chroot
dkms_in trixie '
	for s in 1 77; do
		module "toy$s" 1 PRE_BUILD=before
		printf "#!/bin/sh\nexit %s\n" "$s" >"/usr/src/toy$s-1/before"
		chmod 755 "/usr/src/toy$s-1/before"
		dkms build "toy$s/1" -k "$k" >/dev/null 2>&1; build=$?
		dkms install "toy$s/1" -k "$k" >/dev/null 2>&1; install=$?
		dkms autoinstall -k "$k" >/log 2>&1
		echo "PRE_BUILD $s: build $build, install $install, autoinstall $?"
		grep -o "Autoinstall on .* was skipped for module(s) .*" /log
		states
		dkms remove "toy$s/1" --all >/dev/null
	done' >"$work/got"
cat >"$work/want" <<'END'
PRE_BUILD 1: build 1, install 1, autoinstall 11
toy1/1 added
PRE_BUILD 77: build 77, install 77, autoinstall 0
Autoinstall on 9.9.9-findings was skipped for module(s) toy77.
toy77/1 added
END
verdict "$work/want" "$work/got" 'a PRE_BUILD of DKMS 3.2.2 that ends with 77 skips the module, and autoinstall succeeds'
