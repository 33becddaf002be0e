#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# pam_limits 1.7.0 (Debian trixie): "* - memlock 64M" is a limit of 64 KiB, since a number ends at the first
# letter, and "* - memlock 0x1000" is a limit of 0. Of two lines the later one does not win: one for a group
# holds against one for "*" behind it. root keeps what it had in all cases. Nothing is said, and the session begins.
# prlimit of util-linux 2.41 refuses 64M and takes bytes, and ulimit of bash refuses it and takes KiB.
# Guessed before: 64M is 64 MiB or an error, and the last line wins. Seen on 1 December 2026.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie libpam-modules=1.7.0-5 util-linux passwd
# shellcheck disable=SC2016 # expanded in the chroot
in_root trixie '
	groupadd rdma 2>/dev/null
	useradd -G rdma someone || exit
	ulimit -l 4096 || exit
	is() {
		su "$1" -c "ulimit -l" 2>&1
	}
	try() {
		printf "%s\n" "$@" >/etc/security/limits.d/rdma.conf
		text=$(printf "%s; " "$@")
		echo "${text%; }: user $(is someone), root $(is root)"
	}
	try "# nothing"
	try "* - memlock 2048"
	try "* - memlock 64M"
	try "* - memlock 0x1000"
	try "@rdma - memlock 1024" "* - memlock 2048"
	prlimit --memlock=64M true 2>/dev/null; echo "prlimit: status $?"
	(ulimit -l 64M) 2>/dev/null; echo "ulimit: status $?"' >"$work/got"
cat >"$work/want" <<'END'
# nothing: user 4096, root 4096
* - memlock 2048: user 2048, root 4096
* - memlock 64M: user 64, root 4096
* - memlock 0x1000: user 0, root 4096
@rdma - memlock 1024; * - memlock 2048: user 1024, root 4096
prlimit: status 1
ulimit: status 1
END
verdict "$work/want" "$work/got" 'pam_limits takes 64M for 64 KiB, and "*" never for root'
