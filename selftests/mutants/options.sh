# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # the variables of run and of the other parts
#
# Wrong options end a run before it builds anything, and before it removes the results of
# the run before.

# wrong TEXT...: ends the run for a wrong option
wrong()
{
	echo "mutants: $*" >&2
	exit 2
}

# is_number OPTION TEXT: ends the run if the text is no number of mutants or CPUs
is_number()
{
	[[ $2 =~ ^[1-9][0-9]*$ ]] || wrong "$1 takes a number from 1 on, not $2"
}

# area_known: puts what is in a folder in the place of the folder, and ends the run if a
# pattern of $area is for no source
area_known()
{
	local pattern all=''

	set -f
	for pattern in $area; do
		[ ! -d "$pattern" ] || pattern="${pattern%/}/*"
		[ -n "$(area=$pattern sources)" ] || wrong "--area: no source is $pattern"
		all+=" $pattern"
	done
	set +f
	[ -n "$all" ] || wrong '--area names no source'
	area=$all
}

# kernel_known: ends the run if there is no such kernel. Those that are built here are not
# built yet.
kernel_known()
{
	case $kernel in
	debug | kcsan | gcov | arm64 | arm64-16k | arm64-64k) return ;;
	esac
	# shellcheck source=lab/lib.sh
	(. lab/lib.sh && lab_me=mutants && lab_need && lab_kernel "$kernel") || exit 2
}

# patches_known: sets $number to how many patches there are, and ends the run if one is not of
# one source
patches_known()
{
	local patch

	number=0
	for patch in "$patches"/*.patch; do
		[ "$(grep -c '^+++ b/' "$patch" 2>/dev/null)" = 1 ] ||
			wrong "--patches: $patch does not change one source"
		number=$((number + 1))
	done
}

# patches_taken: copies the patches to where they are seen in the lab
patches_taken()
{
	export MLX5_EP_PATCHES=$PWD/$out/patches
	mutate=$PWD/selftests/mutants/patches
	# Those of the run before
	[ ! "$patches" -ef "$MLX5_EP_PATCHES" ] || return 0
	rm -rf "$MLX5_EP_PATCHES"
	mkdir "$MLX5_EP_PATCHES"
	cp "$patches"/*.patch "$MLX5_EP_PATCHES/"
}
