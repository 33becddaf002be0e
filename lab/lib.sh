# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Functions and variables about the lab, for the scripts in this folder.
#
# A lab is a folder $cache/lab-<stamp>. The stamp is a hash of the files that
# decide what is in the lab. setup makes a lab under another name and renames it
# when it is complete, so a folder of this name can always be used. Nobody writes
# to it afterwards.
#
# shellcheck disable=SC2034 # the scripts that source this file use the variables

lab_src=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
lab_top=$(readlink -f "$lab_src/..")
lab_me=${0##*/}

lab_die()
{
	echo "$lab_me: $*" >&2
	exit 1
}

lab_cache=${MLX5_EP_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/mlx5_ep}
[ "${lab_cache#/}" != "$lab_cache" ] || lab_cache=$PWD/$lab_cache
# Make, the kernel's command line, overlayfs and QEMU each take one of these
# characters for the end of a path.
for lab_path in "$lab_top" "$lab_cache"; do
	case $lab_path in
	*[[:space:],:\'\"\\\;\#\$\%\&\*\?\(\)\<\>\|]*)
		lab_die "the lab takes no path with a blank, a comma, a colon" \
			"or a quote: $lab_path" ;;
	esac
done

lab_stamp=$(cat "$lab_src/packages" "$lab_src/root-recipe" | sha256sum)
lab_stamp=${lab_stamp:0:12}
lab_dir=$lab_cache/lab-$lab_stamp
# make demo needs a part of the packages, and one kernel. Where there is no lab yet, it
# makes this part, which whoever wants more does not use.
if [ "${MLX5_EP_LAB:-}" = demo ] && [ ! -d "$lab_dir" ]; then
	lab_dir=$lab_cache/demo-$lab_stamp
fi

# lab_need: makes the lab, unless it is there
lab_need()
{
	[ -d "$lab_dir" ] || "$lab_src/setup" >&2 || exit 1
}

# lab_as_root CMD...: where the caller is not root, runs CMD in place of this
# process as root of a new user namespace with the ids of /etc/subuid. All parts
# of the lab belong to these ids.
lab_as_root()
{
	if [ "$(id -u)" != 0 ]; then
		exec unshare --user --map-root-user --map-auto -- "$@"
	fi
}

# lab_kernels: prints the names of the kernels under test, oldest first
lab_kernels()
{
	cut -d' ' -f1 "$lab_dir/kernels"
}

# lab_release NAME: prints the release of a kernel; NAME is a name or a release
lab_release()
{
	local rel

	rel=$(awk -v n="$1" '$1 == n || $2 == n { print $2; exit }' \
		"$lab_dir/kernels")
	[ "$1" != newest ] || rel=$(awk 'END { print $2 }' "$lab_dir/kernels")
	[ -n "$rel" ] || lab_die "no kernel $1, known are:" \
		"$(lab_kernels | tr '\n' ' ')debug kcsan gcov" \
		"arm64 arm64-16k arm64-64k, and any by its path"
	echo "$rel"
}

# lab_arch ARCH: makes the lab's part for another architecture, if it is not there, and
# sets
#	arch_dir	its folder
#	arch_triplet	how its compilers are called
lab_arch()
{
	case $1 in
	arm64) arch_triplet=aarch64-linux-gnu ;;
	i386) arch_triplet=i686-linux-gnu ;;
	*) lab_die "no architecture $1, known are: arm64 i386" ;;
	esac
	arch_dir=$("$lab_src/arch" "$1") || exit 1
}

# lab_without_module: ends the caller if the kernel that lab_kernel has found cannot run
# without mlx5_ep
lab_without_module()
{
	[ "$kown" != builtin ] ||
		lab_die "$kid has mlx5_ep built in, and cannot run without it:" \
			"set CONFIG_MLX5_EP=m"
}

# lab_is_path NAME: succeeds if a kernel is named by a path
lab_is_path()
{
	case $1 in
	*/*|.|..|*.deb|*.rpm) ;;
	*) return 1 ;;
	esac
}

# lab_kernel NAME [HEADERS]: finds a kernel and sets
#	kid		its name in build/
#	krel		its release
#	kimage		the image that boots
#	kmodules	its /usr/lib/modules/<release>
#	kbuild		the tree that modules are compiled against; empty for none
#	kshows		a file for enter --show, for a kbuild that is not in the lab
#	kown		how it has mlx5_ep itself: own (as a module), builtin, or empty
#	kshares		how its guests see folders of this machine: 9p or virtiofs
#	karch		its architecture, if it is not that of the lab
#	kroot		the root file system of its guests
# NAME is a name, a release, debug, kcsan, gcov, arm64, arm64-16k, arm64-64k, a path or
# what kernel has printed of it. debug, kcsan, gcov and arm64-64k are built, arm64 and
# arm64-16k fetched when somebody first asks for them.
lab_kernel()
{
	local dir option=

	kshows='' karch='' kown='' kshares=9p kroot=$lab_dir/root
	if lab_is_path "$1"; then
		kid=$("$lab_src/kernel" ${2:+--headers "$2"} "$1") || exit 1
		set -- "$kid"
	elif [ -n "${2-}" ]; then
		lab_die "--headers goes with a kernel that is named by a path"
	fi
	dir=$lab_top/build/lab/kernels/$1
	if [ -e "$dir/stamp" ]; then
		kid=$1
		krel=$(cat "$dir/release")
		kimage=$dir/vmlinuz
		kmodules=$dir/modules
		kbuild=$(cat "$dir/kbuild")
		kshows=$dir/shows
		kown=$(cat "$dir/own" 2>/dev/null || :)
		kshares=$(cat "$dir/shares" 2>/dev/null || echo 9p)
		return
	fi
	case $1 in
	arm64|arm64-*)
		karch=arm64
		lab_arch $karch
		kroot=$arch_dir/root ;;
	esac
	case $1 in
	debug|kcsan|gcov|arm64-64k)
		[ "$1" = debug ] || option=--$1
		dir=$("$lab_src/debug-kernel" ${option:+"$option"}) || exit 1
		krel=$(cat "$dir/release")
		kimage=$dir/vmlinuz
		kmodules=$dir/modules
		kbuild=$dir/build ;;
	arm64|arm64-16k)
		krel=$(awk -v n="$1" '$1 == n { print $2 }' "$arch_dir/kernels")
		kimage=$arch_dir/vmlinuz-$krel
		kmodules=$kroot/usr/lib/modules/$krel
		kbuild=/usr/src/linux-headers-$krel ;;
	*)
		krel=$(lab_release "$1") || exit 1
		kimage=$lab_dir/vmlinuz-$krel
		kmodules=$lab_dir/root/usr/lib/modules/$krel
		kbuild=/usr/lib/modules/$krel/build ;;
	esac
	kid=$krel
}
