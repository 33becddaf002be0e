#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A dkms.conf with CLEAN= and one installation of the module: DKMS 3.0.10 (Debian bookworm) runs CLEAN
# twice, before and after the build; DKMS 3.2.2 (trixie) never does. Neither says a word, and the
# status of both is 0: a module whose build relies on CLEAN is built from what an older build left.
# Guessed before: once, in both. Seen on 2026-11-28.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
# shellcheck source-path=SCRIPTDIR source=lib/dkms.sh
source "$(dirname "$0")/lib/dkms.sh"
start
make_root bookworm dkms=3.0.10-8+deb12u1 gcc kmod libc6-dev
make_root trixie dkms=3.2.2-1~deb13u1 gcc kmod libc6-dev
for suite in bookworm trixie; do
	# shellcheck disable=SC2016 # expanded in the chroot
	dkms_in "$suite" '
		: >/cleaned
		module toy 1 "CLEAN=\"echo cleaned >>/cleaned\""
		dkms install toy/1 -k "$k" >/log 2>&1; r=$?
		echo "install $r, CLEAN ran $(grep -c . /cleaned) times," \
			"the log names it $(grep -ci deprecat /log) times"
		states' | sed "s/^/$suite: /"
done >"$work/got"
cat >"$work/want" <<'END'
bookworm: install 0, CLEAN ran 2 times, the log names it 0 times
bookworm: toy/1 installed
trixie: install 0, CLEAN ran 0 times, the log names it 0 times
trixie: toy/1 installed
END
verdict "$work/want" "$work/got" 'DKMS 3.0.10 runs CLEAN twice for one installation, and 3.2.2 never'
