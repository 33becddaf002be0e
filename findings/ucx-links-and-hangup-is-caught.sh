#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# UCX 1.18.1 (Debian trixie): a program that is linked to libucs, and calls nothing of it, does not
# end at SIGHUP. The library's constructor takes the signal before main(), also where nohup has set it to be
# ignored: there the signal interrupts the program's sleep, which it would not without the library.
# With UCX_DEBUG_SIGNO=0 the library leaves the signal alone.
# Guessed before: a library touches signals of errors (SIGSEGV and the like) at most, and not before
# its first call. Seen on 2026-11-28.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie libucx0=1.18.1+ds-2+b1 libucx-dev=1.18.1+ds-2+b1 gcc libc6-dev
# shellcheck disable=SC2016 # expanded in the chroot
in_root trixie '
	cd /tmp || exit
	printf "%s\n" "#include <unistd.h>" \
		"int main(void) { write(1, \"m\", 1); return sleep(20) ? 9 : 0; }" >p.c
	gcc -w -o plain p.c && gcc -w -o linked p.c -Wl,--no-as-needed -lucs || exit
	hangup() {
		: >out
		"${@:2}" >>out 2>&1 & pid=$!
		until [ -s out ]; do sleep 0.1; done
		kill -HUP "$pid"
		# The plain program under nohup sleeps on; nothing else does.
		[ "$1" != "plain, nohup" ] || { sleep 1; kill -TERM "$pid"; }
		wait "$pid" 2>/dev/null; echo "$1: $?"
	}
	hangup plain ./plain
	hangup "plain, nohup" nohup ./plain
	hangup linked ./linked
	hangup "linked, nohup" nohup ./linked
	hangup "linked, UCX_DEBUG_SIGNO=0" env UCX_DEBUG_SIGNO=0 ./linked' 2>/dev/null >"$work/got"
cat >"$work/want" <<'END'
plain: 129
plain, nohup: 143
linked: 9
linked, nohup: 9
linked, UCX_DEBUG_SIGNO=0: 129
END
verdict "$work/want" "$work/got" 'a program that is linked to libucs 1.18.1 does not end at SIGHUP'
