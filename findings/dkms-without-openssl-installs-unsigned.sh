#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# DKMS 3.2.2 (Debian trixie) for a kernel that signs modules, on a machine without openssl (only
# suggested by the package, and not on a minimal system): it says "openssl not found", installs the
# module unsigned, and ends with 0. With Secure Boot that kernel refuses the module at the next boot.
# Guessed before: an error, or no installation. Seen on 2026-11-28.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
# shellcheck source-path=SCRIPTDIR source=lib/dkms.sh
source "$(dirname "$0")/lib/dkms.sh"
start
make_root trixie dkms=3.2.2-1~deb13u1 gcc kmod libc6-dev openssl
# shellcheck disable=SC2016 # expanded in the chroot
dkms_in trixie '
	printf "%s\n" CONFIG_MODULE_SIG=y "CONFIG_MODULE_SIG_HASH=\"sha256\"" \
		>>"/usr/src/linux-headers-$k/.config"
	# In the place of the kernel'"'"'s program: it appends what a signature ends with.
	printf "%s\n" "#!/bin/sh" "printf \"~Module signature appended~\\n\" >>\"\$4\"" \
		>"/usr/src/linux-headers-$k/scripts/sign-file"
	chmod 755 "/usr/src/linux-headers-$k/scripts/sign-file"
	for openssl in without with; do
		[ "$openssl" = with ] || mv /usr/bin/openssl /openssl
		[ "$openssl" = without ] || mv /openssl /usr/bin/openssl
		module "$openssl" 1
		dkms install "$openssl/1" -k "$k" >/log 2>&1; r=$?
		file=$(find "/lib/modules/$k/updates" -name "$openssl.ko")
		echo "$openssl openssl: status $r, signed $(grep -ac "Module signature appended" "$file")"
		grep -o "openssl not found" /log
	done' >"$work/got" || :
cat >"$work/want" <<'END'
without openssl: status 0, signed 0
openssl not found
with openssl: status 0, signed 1
END
verdict "$work/want" "$work/got" 'DKMS 3.2.2 without openssl installs an unsigned module and succeeds'
