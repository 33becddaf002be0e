#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 180
#
# setup's promises: a lab is whole or not there, two runs do not get in each
# other's way, and it finds the mirror of this machine. mmdebstrap is a stand-in
# here, in a cache folder of its own.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
disposable

setup=$PWD/lab/setup
mkdir "$tmp/bin" "$tmp/cache"
# Says where it was started and which mirror it got; whole unless told to hang.
cat >"$tmp/bin/mmdebstrap" <<'END'
#!/bin/bash
printf '%s\n' "$@" >"$FAKE/args"
echo "kernels: $LAB_SERIES" >"$FAKE/series"
for arg; do
	[ -z "$next" ] || root=$arg next=
	[ "$arg" != trixie ] || next=1
done
mkdir -p "$root/lab"
echo run >>"$FAKE/runs"
[ ! -e "$FAKE/hang" ] || sleep 1000
[ ! -e "$FAKE/slow" ] || sleep 2
[ ! -e "$FAKE/break" ] || exit 9
echo 7.2 7.2.0 newest >"$root/lab/kernels"
END
# As much as a file tells, else enough.
cat >"$tmp/bin/df" <<'END'
#!/bin/sh
echo Avail
cat "$FAKE/free" 2>/dev/null || echo 99999999
END
chmod +x "$tmp/bin"/*
export FAKE=$tmp MLX5_EP_CACHE=$tmp/cache PATH=$tmp/bin:$PATH
export MIRROR=http://mirror.example/debian

clean()
{
	rm -rf "$tmp"/cache/* "$tmp"/{hang,slow,break,runs,args,series}
}

no_lab()
{
	! "$setup" --print-root 2>/dev/null ||
		fail "there is a lab: $("$setup" --print-root)"
}

interrupted()
{
	local signal pid tries

	for signal in KILL TERM INT; do
		clean
		touch "$tmp/hang"
		LAB_MARK=setup.$$ env --default-signal=INT "$setup" >/dev/null &
		pid=$!
		for ((tries = 0; tries < 100; tries++)); do
			[ ! -e "$tmp/runs" ] || break
			sleep 0.1
		done
		[ -e "$tmp/runs" ] || fail "not started"
		kill -s $signal $pid
		wait $pid && fail "$signal: success"
		no_lab
		for ((tries = 0; tries < 50; tries++)); do
			grep -qsz "^LAB_MARK=setup.$$\$" /proc/[0-9]*/environ ||
				break
			sleep 0.1
		done
		[ $tries -lt 50 ] || fail "$signal: processes left"
	done
	# The next run makes the lab and clears up.
	rm "$tmp/hang"
	"$setup" | grep -q '^lab: ready in'
	[ -d "$("$setup" --print-root)" ]
	ls -d "$tmp"/cache/tmp.* 2>/dev/null && fail "rests"
	true
}

failed()
{
	clean
	touch "$tmp/break"
	! "$setup" >/dev/null || fail "success"
	no_lab
	ls -d "$tmp"/cache/tmp.* 2>/dev/null && fail "rests"
	true
}

two_at_once()
{
	local first second

	clean
	touch "$tmp/slow"
	"$setup" >"$tmp/first" &
	first=$!
	"$setup" >"$tmp/second" &
	second=$!
	wait $first
	wait $second
	cat "$tmp/first" "$tmp/second"
	[ "$(wc -l <"$tmp/runs")" = 1 ]
	[ "$(grep -hc 'another setup runs' "$tmp/first" "$tmp/second" |
		paste -sd+ | bc)" = 1 ]
}

again()
{
	local TIMEFORMAT='%U %S'

	clean
	"$setup" >/dev/null
	# Of the processor, because the machine may have other work.
	{ time "$setup" >"$tmp/out"; } 2>"$tmp/time"
	cat "$tmp/out" "$tmp/time"
	grep -qx 'lab: ready in [01] s' "$tmp/out"
	awk '{ exit $1 + $2 >= 1 }' "$tmp/time"
	[ "$(wc -l <"$tmp/runs")" = 1 ]
	"$setup" --force >/dev/null
	[ "$(wc -l <"$tmp/runs")" = 2 ]
}

# mirror WANT: setup takes this one
mirror()
{
	(unset MIRROR && "$setup" --force >/dev/null)
	grep -qxF "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $1 trixie main" \
		"$tmp/args" || {
		grep '^deb ' "$tmp/args"
		fail "not $1"
	}
}

# /etc/apt is this command's alone: the lab's root is an overlay that vanishes.
mirrors()
{
	rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/*
	! (unset MIRROR && "$setup" --force 2>/dev/null) || fail "no mirror"
	cat >/etc/apt/sources.list <<-END
	# deb http://comment.example/debian bookworm main
	deb-src http://src.example/debian bookworm main
	deb http://sec.example/debian-security bookworm-security main
	deb [arch=amd64 signed-by=/k.gpg] http://one.example/debian/ bookworm main
	END
	mirror http://one.example/debian/
	cat >/etc/apt/sources.list.d/other.list <<-END
	deb http://vendor.example/apt stable main
	END
	mirror http://one.example/debian/
	cat >/etc/apt/sources.list.d/debian.sources <<-END
	Types: deb
	# URIs: http://comment.example/debian
	URIs: http://two.example/debian
	Suites: bookworm
	END
	mirror http://two.example/debian
	mirror_given=http://three.example/x
	MIRROR=$mirror_given "$setup" --force >/dev/null
	grep -qF " $mirror_given trixie main" "$tmp/args"
}

too_little_disk()
{
	local status=0

	clean
	echo 1048576 >"$tmp/free"
	"$setup" >"$tmp/out" 2>&1 || status=$?
	rm "$tmp/free"
	cat "$tmp/out"
	[ "$status" = 1 ]
	grep -qx 'setup: the lab needs [0-9]* MB in .*, where 1024 MB are free' \
		"$tmp/out"
	[ ! -e "$tmp/runs" ] || fail 'it was downloaded'
	no_lab
}

# The lab of the demo has a part of the packages, and no suite or kernel more than it needs. It
# is not taken for the lab, and the lab takes its place.
demo()
{
	clean
	MLX5_EP_LAB=demo "$setup" >/dev/null
	grep -o '^--include=.*' "$tmp/args"
	grep -q '^--include=.*[=,]gcc\(,\|$\)' "$tmp/args"
	grep -q '^--include=.*[=,]qemu-system-x86\(,\|$\)' "$tmp/args"
	! grep -q '^--include=.*[=,]clang\(,\|$\)' "$tmp/args" || fail 'all packages'
	! grep -q ' bookworm main' "$tmp/args" || fail 'all suites'
	grep -qx 'kernels: 7.2' "$tmp/series"
	ls "$tmp/cache"
	no_lab
	[ -d "$(MLX5_EP_LAB=demo "$setup" --print-root)" ]
	"$setup" >/dev/null
	grep -qx 'kernels: 6.1 6.12 7.2 newest' "$tmp/series"
	grep -q '^--include=.*[=,]gcc,.*[=,]clang\(,\|$\)' "$tmp/args"
	[ "$(MLX5_EP_LAB=demo "$setup" --print-root)" = "$("$setup" --print-root)" ]
}

plan 7
check "an interrupted setup is never used" interrupted
check "a failed setup leaves nothing" failed
check "of two runs at once one makes the lab, both have it" two_at_once
check "a second run is quick, --force makes it again" again
check "too little disk is said before the download" too_little_disk
check "the mirror is the one of this machine's apt" mirrors
check "the lab of the demo has a part of the packages, and one kernel" demo
ktap_finished
