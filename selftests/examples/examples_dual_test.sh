#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, module: later, timeout: 180
#
# examples/dual runs in a guest without the module, with the module, and where the
# library is missing or too old. The same messages arrive each time, and it deregisters
# what it registered.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

# One with the library beside it, and one whose library is that of a test, or none.
with=build/examples/dual
mkdir -p "$tmp/examples" "$tmp/lib"
cp $with "$tmp/examples/"
without=$tmp/examples/dual

# says PROGRAM LINE: its first line is LINE, and the others are those of the manual
says()
{
	local objects

	objects=$(hca_objects 'qp, cq, xrcd, uar')
	"$1" >"$tmp/out"
	cat "$tmp/out"
	diff <(echo "$2"; sed 1d examples/dual.out) "$tmp/out"
	becomes 5 "$objects" hca_objects 'qp, cq, xrcd, uar'
}

# The program is not linked to the library, so that it starts without.
not_linked()
{
	readelf -d $with | grep NEEDED >"$tmp/needed"
	grep -F libibverbs "$tmp/needed"
	must_fail grep -F libmlx5ep "$tmp/needed"
}

# A library that can be opened and has no call of this release.
too_old()
{
	cp -L /lib/*-linux-gnu/libibverbs.so.1 "$tmp/lib/libmlx5ep.so.0"
	says "$without" 'cache: my own (libmlx5ep is too old)'
	rm "$tmp/lib/libmlx5ep.so.0"
}

loaded()
{
	ib_unbind
	ep_insmod
	ib_bind
	wait_for 30 attached
	"$without" >/dev/null
	says $with "cache: libmlx5ep's"
	says "$without" 'cache: my own (libmlx5ep is missing)'
	# The tests after this one are for a guest without the module.
	ib_unbind
	rmmod mlx5_ep
	ib_bind
}

# The driver creates some objects of its own with the first memory region.
"$without" >/dev/null

plan 6
check 'it is not linked to the library' not_linked
check 'without the module it has a cache of its own' \
	says $with 'cache: my own (the module is missing)'
check 'without the library too' says "$without" 'cache: my own (libmlx5ep is missing)'
check 'and with one that is too old' too_old
check 'with both it uses the cache of the library' loaded
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
