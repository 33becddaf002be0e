#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: core, guest: settings, timeout: 120
#
# uuar_cgroups holds any number of cgroups and shows the full path of each.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

many=70
cgroups=/sys/fs/cgroup
parent=$(printf 'x%.0s' {1..200})

# many_cgroups: sets cgroups whose lines are so long that two exceed a kilobyte
many_cgroups()
{
	local i

	mountpoint -q "$cgroups" || mount -t cgroup2 none "$cgroups"
	mkdir "$cgroups/$parent"
	for i in $(seq "$many"); do
		mkdir "$cgroups/$parent/$i$parent"
		echo "/$parent/$i$parent independent 0 $i" |
			tee -a "$tmp/want" >"$ep/uuar_cgroups"
	done
	cmp "$tmp/want" "$ep/uuar_cgroups"
}

in_small_pieces()
{
	dd if="$ep/uuar_cgroups" bs=1001 status=none | cmp "$tmp/want" -
}

taken_away()
{
	local i

	for i in $(seq "$many"); do
		rmdir "$cgroups/$parent/$i$parent"
	done
	rmdir "$cgroups/$parent"
	[ -z "$(cat "$ep/uuar_cgroups")" ]
}

plan 3
check "$many cgroups have policies, and are shown whole" many_cgroups
check 'the list can be read in small pieces' in_small_pieces
check 'cgroups that are gone are not shown' taken_away
ktap_finished
