#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# DKMS 3.2.2 (Debian trixie), a module whose POST_BUILD script ends with 1, as one that signs or checks the
# module may: the first `dkms install` ends with 1 and installs nothing, but the state is "built",
# and the second one, or autoinstall, installs that module with status 0 and without the script. A POST_INSTALL
# script that ends with 1 changes neither status nor output at all.
# Guessed before: the module stays out until POST_BUILD succeeds, and each script that fails is named.
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
	for script in POST_BUILD POST_INSTALL; do
		module toy 1 $script=fails
		printf "#!/bin/sh\nexit 1\n" >/usr/src/toy-1/fails
		chmod 755 /usr/src/toy-1/fails
		dkms install toy/1 -k "$k" >/log 2>&1
		echo "$script: install $?, $(grep -qiE "bad exit status|fail|error" /log && echo says so || echo says nothing)"
		states
		for again in "install toy/1" autoinstall; do
			if dkms $again -k "$k" >/log 2>&1; then echo "$again 0"; else echo "$again $?"; fi
			states
			dkms uninstall toy/1 -k "$k" >/dev/null 2>&1
		done
		dkms remove toy/1 --all >/dev/null 2>&1
	done' >"$work/got"
cat >"$work/want" <<'END'
POST_BUILD: install 1, says so
toy/1 built
install toy/1 0
toy/1 installed
autoinstall 0
toy/1 installed
POST_INSTALL: install 0, says nothing
toy/1 installed
install toy/1 0
toy/1 installed
autoinstall 0
toy/1 installed
END
verdict "$work/want" "$work/got" 'DKMS 3.2.2 installs a module the next time, whose POST_BUILD script failed'
