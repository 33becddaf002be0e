#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 300
#
# The series that linux-tree makes of this checkout pleases the kernel's own checkpatch,
# with --strict. `make lint` asks it for less, and not about what only a patch shows.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=packaging/test/linux_tree.sh
. packaging/test/linux_tree.sh

# shellcheck disable=SC1091
source=$(. lab/lib.sh && echo "$lab_dir/source")

# judged TREE STATUS: linux-tree of the checkout $top ends so, on a tree that checkpatch
# takes for Linux
judged()
{
	files "$1"
	# By these checkpatch knows that it is in a kernel tree.
	mkdir -p "$1"/{arch,include,fs,init,ipc,kernel,lib}
	touch "$1"/{COPYING,CREDITS,Kbuild,README,Makefile}
	cp "$source"/scripts/{checkpatch.pl,const_structs.checkpatch,spelling.txt} \
		"$1/scripts/"
	repository "$1"
	code "$2" "$top/$linux_tree" --no-build "$1"
}

pleases_checkpatch()
{
	top=$PWD
	judged "$tmp/linux" 0
	grep -qx 'linux-tree: [0-9]* commits, checkpatch clean' "$tmp/out"
}

# The same with one line that only --strict minds.
displeases_checkpatch()
{
	top=$tmp/top
	mkdir "$top"
	cp -r lab packaging kernel uapi userlib selftests Kbuild Documentation "$top/"
	printf '\n#define UGLY (1 << 5)\n' >>"$top/kernel/main.c"
	judged "$tmp/ugly" 1
	grep -q BIT_MACRO "$tmp/out" "$tmp/err"
}

plan 2
check 'checkpatch --strict has nothing to say of the series' pleases_checkpatch
check 'and it has to say something of a line that is no good' displeases_checkpatch
ktap_finished
