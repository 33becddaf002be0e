#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# dpkg 1.22.22 (Debian trixie, where /lib is a link to usr/lib): a package that asks for a trigger on /lib/modules is
# not told of a package that brings /usr/lib/modules/..., and the other way round. Both files are in
# the same folder afterwards. So a hook for new kernels runs or not by how their package names it.
# Guessed before: dpkg compares what the paths are, as both are one folder on each system.
# Seen on 2026-11-29.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie dpkg=1.22.22
# shellcheck disable=SC2016 # expanded in the chroot
in_root trixie '
	cd /tmp || exit
	package() {
		mkdir -p "$1/DEBIAN"
		printf "%s\n" "Package: $1" "Version: 1" "Architecture: all" \
			"Maintainer: nobody <nobody@localhost>" "Description: a package" >"$1/DEBIAN/control"
	}
	install() {
		dpkg-deb -b "$1" "$1.deb" >/dev/null && dpkg -i "$1.deb" >out 2>&1
		echo "$1: status $?" $(grep ": triggered" out)
	}
	for dir in lib usr/lib; do
		name=watches-${dir/\//-}
		package "$name"
		echo "interest-noawait /$dir/modules" >"$name/DEBIAN/triggers"
		printf "%s\n" "#!/bin/sh" "echo $name: \"\$@\"" >"$name/DEBIAN/postinst"
		chmod 755 "$name/DEBIAN/postinst"
		install "$name"
	done
	for dir in lib usr/lib; do
		name=has-${dir/\//-}
		package "$name"
		mkdir -p "$name/$dir/modules/9.9.9"
		echo x >"$name/$dir/modules/9.9.9/$name.ko"
		install "$name"
	done
	ls /lib/modules/9.9.9' >"$work/got"
cat >"$work/want" <<'END'
watches-lib: status 0
watches-usr-lib: status 0
has-lib: status 0 watches-lib: triggered /lib/modules
has-usr-lib: status 0 watches-usr-lib: triggered /usr/lib/modules
has-lib.ko
has-usr-lib.ko
END
verdict "$work/want" "$work/got" 'a trigger of dpkg on /lib/modules does not see what comes to /usr/lib/modules'
