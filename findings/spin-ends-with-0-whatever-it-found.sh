#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Spin 6.5.2 (Debian trixie): a verifier (pan) ends with status 0 when an assertion was violated. It
# says "errors: 0" and ends with 0, too, when the search stopped at its depth limit before the
# violation, and when a liveness property that does not hold was checked without -a. "spin -run" adds -a,
# and ends with 0, too. Only words in the output tell these from a proof.
# Guessed before: a violation and a search that was cut off each give a status other than 0.
# Seen on 2026-11-29.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie spin=6.5.2+dfsg-2 gcc libc6-dev
# shellcheck disable=SC2016 # expanded in the chroot
in_root trixie '
	cd /tmp || exit
	echo "int x;
	active proctype p() { do :: x < 1000 -> x++ :: else -> break od; assert(x != 1000) }" >deep.pml
	echo "bool done; byte x;
	active proctype p() { do :: x = 1 - x :: done = true; break od }
	ltl live { <> done }" >live.pml
	says() {
		echo "$1: status $2, $(grep -o "errors: [0-9]*" out)," \
			"cut off $(grep -c "max search depth too small" out), of -a $(grep -c "requires -a" out)"
	}
	spin -a deep.pml && gcc -w -o pan pan.c || exit
	./pan >out 2>&1; says "assertion" $?
	./pan -m1000 >out 2>&1; says "assertion, depth of 1000" $?
	spin -a live.pml >/dev/null && gcc -w -o pan pan.c || exit
	./pan >out 2>&1; says "liveness" $?
	spin -run live.pml >out 2>&1; says "liveness, spin -run" $?
	./pan -a >out 2>&1; says "liveness, -a" $?' >"$work/got"
cat >"$work/want" <<'END'
assertion: status 0, errors: 1, cut off 0, of -a 0
assertion, depth of 1000: status 0, errors: 0, cut off 1, of -a 0
liveness: status 0, errors: 0, cut off 0, of -a 1
liveness, spin -run: status 0, errors: 1, cut off 0, of -a 0
liveness, -a: status 0, errors: 1, cut off 0, of -a 0
END
verdict "$work/want" "$work/got" 'a verifier of Spin 6.5.2 ends with 0 whether it found an error, or stopped early, or not'
