#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# UCX 1.18.1 (Debian trixie): a misspelt name in ucx.conf is passed over without a word, although the
# same name in the environment gets a warning that names the right one. So is a line that begins with
# "export". Quotes, and a comment behind a value, are a part of the value. UCX_TLS="tcp" then finds no
# transport; in the environment, where the shell takes the quotes, it works.
# Guessed before: the file is read as the environment is, with the same check of names; quotes do not
# matter. Seen on 2026-11-30.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie libucx0=1.18.1+ds-2+b1 ucx-utils=1.18.1+ds-2+b1
# shellcheck disable=SC2016 # expanded in the chroot
in_root trixie '
	mkdir -p /tmp/folder && cd /tmp/folder || exit
	# What a program is told that opens an endpoint, and the transports that are asked for
	show() {
		printf "%s\n" "$2" >ucx.conf
		env ${3:+"$3"} ucx_info -e -u t 2>&1 | sed -n "s/.*UCX  WARN  /$1: /p" |
			sed "s/, please use.*//; /to suppress this/d"
		echo "$1: $(env ${3:+"$3"} ucx_info -c 2>/dev/null | grep "^UCX_TLS=")"
	}
	show right "UCX_TLS=tcp"
	show "environment, misspelt" "" UCX_TSL=tcp
	show "file, misspelt" "UCX_TSL=tcp"
	show export "export UCX_TLS=tcp"
	show quotes "UCX_TLS=\"tcp\""
	show comment "UCX_TLS=tcp # only"' >"$work/got"
cat >"$work/want" <<'END'
right: UCX_TLS=tcp
environment, misspelt: unused environment variable: UCX_TSL (maybe: UCX_TLS?)
environment, misspelt: UCX_TLS=all
file, misspelt: UCX_TLS=all
export: UCX_TLS=all
quotes: transport '"tcp"' is not available
quotes: UCX_TLS="tcp"
comment: transport 'tcp # only' is not available
comment: UCX_TLS=tcp # only
END
verdict "$work/want" "$work/got" 'ucx.conf of UCX 1.18.1 passes over misspelt names, and takes quotes as they are'
