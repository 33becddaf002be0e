#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# ofa.sh MODULES RELEASE MACHINE SOURCES [DIR]: print whose ib_core mlx5_ep meets, as
# one of these lines. If this script fails it prints none, and no module is built.
#
#	own		the kernel's own
#	folder FOLDER	another one, as OFED installs it. FOLDER has its headers and
#			Module.symvers.
#	error: WHY	mlx5_ep cannot be compiled
#
#	MODULES	/lib/modules/RELEASE of the kernel
#	MACHINE	as uname -m says it
#	SOURCES	where OFED puts its folders (/usr/src)
#	DIR	the folder, given by OFA_DIR=
#
# The folder is used exactly where the ib_core that modprobe would load is not below
# kernel/, or was not compiled in the kernel's tree: Canonical's packages of OFED are in
# kernel/doca-ofed-VERSION/. Headers of one stack with symbol versions of another would make a module
# that the kernel loads although structures differ, so that both come from the folder,
# and the version of _ib_alloc_device must be the one that mlx5_ib was compiled for.
set -eu

modules=$1
release=$2
machine=$3
sources=$4
dir=${5-}

die()
{
	echo "error: mlx5_ep: $*"
	exit 0
}

# No build needs /usr/sbin but this one, for modprobe and modinfo.
PATH=$PATH:/usr/sbin:/sbin
. "$(dirname "$0")/module_file.sh"

# find_dir: the first of the folders where packages of OFED put it. A link can lead to
# the folder of another kernel.
find_dir()
{
	case $machine in
	x86_64) deb=amd64 ;;
	aarch64) deb=arm64 ;;
	ppc64le) deb=ppc64el ;;
	*) deb=$machine ;;
	esac
	for place in "ofa_kernel/$machine" "ofa_kernel/$deb" ofa_kernel \
		"ofa_kernel-dkms/$machine" "ofa_kernel-dkms/$deb" ofa_kernel-dkms; do
		if [ -d "$sources/$place/$release" ]; then
			echo "$sources/$place/$release"
			return
		fi
	done
	for link in ofa_kernel/default ofa_kernel-dkms; do
		found=$(readlink -f "$sources/$link" || :)
		case $found in
		*/"$release")
			if [ -d "$found" ]; then
				echo "$found"
				return
			fi ;;
		esac
	done
}

# is_own FILE: the module is the kernel's own. Those of its tree say so. If it cannot be
# asked, the folder says it.
is_own()
{
	case $1 in
	kernel/*) ;;
	*) return 1 ;;
	esac
	[ -n "$(modinfo -F intree "$modules/$1" 2>/dev/null)" ] ||
		! modinfo "$modules/$1" >/dev/null 2>&1
}

if [ -n "$dir" ] && [ ! -e "$modules/modules.dep" ]; then
	die "OFA_DIR is given, and there is no $modules/modules.dep to say which" \
		"ib_core is loaded: MLX5_EP_KMODULES= names the folder of the kernel's modules"
fi
core=$(module_file "$modules" ib_core)
if [ -z "$core" ] || is_own "$core"; then
	[ -z "$dir" ] || die "OFA_DIR is given, and ib_core is the kernel's own"
	echo own
	exit 0
fi
# EL and SUSE put links into weak-updates/ of a kernel, to modules that were compiled for
# another one. Their headers have the name of that one.
if [ -L "$modules/$core" ]; then
	other=$(readlink -m "$modules/$core" |
		sed -n 's,.*/lib/modules/\([^/]*\)/.*,\1,p')
	release=${other:-$release}
fi
[ -n "$dir" ] || dir=$(find_dir)
[ -n "$dir" ] ||
	die "ib_core is $core, and no headers of it for $release are in" \
		"$sources/ofa_kernel: name their folder by OFA_DIR="
if [ ! -e "$dir/include/rdma/ib_verbs.h" ] || [ ! -s "$dir/Module.symvers" ]; then
	die "$dir must have both include/ and Module.symvers"
fi

# crc: the version of _ib_alloc_device in the lines "CRC NAME ..." on stdin; 0 where the
# kernel has no versions
crc()
{
	awk '$2 == "_ib_alloc_device" {
		sub(/^0x0*/, "", $1)
		print ($1 == "" ? 0 : $1)
		exit
	}'
}

built=$(crc <"$dir/Module.symvers")
[ -n "$built" ] || die "$dir/Module.symvers has no _ib_alloc_device"
if [ "$built" != 0 ]; then
	driver=$(module_file "$modules" mlx5_ib)
	command -v modprobe >/dev/null ||
		die "modprobe (package kmod) is needed to compare $dir with $driver"
	used=$(modprobe --dump-modversions "$modules/$driver" 2>/dev/null | crc)
	[ "${used:-0}" = 0 ] || [ "$used" = "$built" ] ||
		die "$dir is of another ib_core than $driver:" \
			"_ib_alloc_device has version $built there, $used here"
fi
echo "folder $dir"
