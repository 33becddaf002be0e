#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full
#
# dpkg, rpm and DKMS order the versions of packaging/version as the commits are ordered.
# git is a stand-in that counts as many commits as it is told to.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

cat >"$tmp/git" <<'END'
#!/bin/sh
while [ "$1" = -c ]; do shift 2; done
case "$*" in
*--show-toplevel) echo "$TOP" ;;
*--short=7*) echo "$ID" ;;
'rev-parse -q '*) exit 1 ;;
rev-list*) echo "$COUNT" ;;
status*) [ -z "$DIRTY" ] || echo ' M file' ;;
esac
END
chmod +x "$tmp/git"

# version RELEASE [COUNT ID [dirty]]: what packaging/version says so many commits later
version()
{
	mkdir -p "$tmp/tree/packaging"
	cp packaging/version "$tmp/tree/packaging/"
	echo "$1" >"$tmp/tree/VERSION"
	TOP=$tmp/tree COUNT=${2-0} ID=${3-0000000} DIRTY=${4-} PATH=$tmp:$PATH \
		"$tmp/tree/packaging/version"
}

# Versions, each newer than the one before it.
versions()
{
	version 0.8.99
	version 0.9.0
	version 0.9.0 0 0000000 dirty
	version 0.9.0 1 fffffff
	version 0.9.0 2 ffffff0
	version 0.9.0 12 0000000
	version 0.9.0 12 0000000 dirty
	version 0.9.0 999 1234567
	version 0.9.0 1000 00000ff
	version 0.9.0 12345 0000000
	version 0.9.1
	version 0.10.0
	version 0.10.0 1 aaaaaaa
	version 1.0.0
}

dpkg_older()
{
	dpkg --compare-versions "$1" lt "$2"
}

rpm_older()
{
	[ "$(rpm --eval "%{lua: print(rpm.vercmp('$1', '$2'))}")" = -1 ]
}

# DKMS makes two texts of them by a function of its own.
dkms_older()
{
	[[ $(VER "$1") < $(VER "$2") ]]
}

# ordered BY: the versions are in order
ordered()
{
	local before='' version

	versions >"$tmp/versions"
	[ "$(wc -l <"$tmp/versions")" = 14 ]
	while read -r version; do
		packaging/version "$version"
		[ -z "$before" ] || "$1_older" "$before" "$version" ||
			fail "$1: $version is not newer than $before"
		before=$version
	done <"$tmp/versions"
}

# What is common elsewhere, and nothing here is called: DKMS takes a candidate for newer
# than its release, and a backport for newer than what it was made of.
dkms_misorders()
{
	dpkg_older 0.10.0~rc1 0.10.0
	rpm_older 0.10.0~rc1 0.10.0
	must_fail dkms_older 0.10.0~rc1 0.10.0
	must_fail dkms_older 0.10.0rc1 0.10.0
	dpkg_older 0.9.0-1~bpo13+1 0.9.0-1
	must_fail dkms_older 0.9.0-1~bpo13+1 0.9.0-1
	must_fail dkms_older 0.9.0+999 0.9.0+1000
}

eval "$(sed -n '/^VER()/,/^}/p' "$(command -v dkms)")"
plan 4
check 'dpkg has them in order' ordered dpkg
check 'rpm has them in order' ordered rpm
check 'DKMS has them in order' ordered dkms
check 'DKMS misorders versions that are not used here' dkms_misorders
ktap_finished
