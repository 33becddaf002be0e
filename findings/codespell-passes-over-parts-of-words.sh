#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# codespell 2.4.1 (Debian trixie): a misspelt word is found alone, and not where a hyphen, "_" or a
# capital joins it to another one: the status is 0 then. And -w mends no word whose entry in the
# dictionary has a reason: it prints the entry and leaves the file.
# Guessed before: parts of words and of identifiers are looked at, since the tool is for source code;
# and -w writes what it prints. Seen on 2026-11-29.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie codespell=2.4.1-1
# shellcheck disable=SC2016 # expanded in the chroot
in_root trixie '
	cd /tmp || exit
	bad=rec; bad+=ieve # two words to those who look at this script
	for word in $bad "frame-$bad" ${bad}_frame frame_$bad frame${bad^}; do
		echo "$word" >t; codespell t >out 2>&1
		echo "$word: status $?, lines $(grep -c . out)"
	done
	echo ${bad}_frame >t; codespell --regex "[A-Za-z]+" t >out 2>&1
	echo "${bad}_frame, --regex [A-Za-z]+: status $?, lines $(grep -c . out)"
	for entry in "$bad->receive" "$bad->receive, by the book"; do
		echo "$entry" >dictionary; echo $bad >t
		codespell -w -D dictionary t >/dev/null 2>&1
		echo "-w with $entry: status $?, then $(cat t)"
	done' >"$work/got"
sed 's/BAD/rec''ieve/g; s/Bad/Rec''ieve/g' >"$work/want" <<'END'
BAD: status 65, lines 1
frame-BAD: status 0, lines 0
BAD_frame: status 0, lines 0
frame_BAD: status 0, lines 0
frameBad: status 0, lines 0
BAD_frame, --regex [A-Za-z]+: status 65, lines 1
-w with BAD->receive: status 0, then receive
-w with BAD->receive, by the book: status 65, then BAD
END
verdict "$work/want" "$work/got" 'codespell 2.4.1 passes over a misspelt word that is part of a longer one'
