#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full
#
# Headers and symbol versions of an ib_core that is not the kernel's own, as OFED
# installs it. The trees here are made up: copies of the kernel's headers, and a
# Module.symvers with another version of one symbol.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
rel=6.12.117-test
modules=$dir/modules
sources=$dir/src
ofa=$sources/ofa_kernel/x86_64/$rel
core=drivers/infiniband/core/ib_core.ko.xz
driver=drivers/infiniband/hw/mlx5/mlx5_ib.ko.xz
# The driver of a kernel with MODVERSIONS, and what it was compiled for.
real='' crc=''
for file in /usr/lib/modules/*/kernel/"$driver"; do
	crc=$(modprobe --dump-modversions "$file" 2>/dev/null |
		awk '$2 == "_ib_alloc_device" { print $1 }') || continue
	[ -z "$crc" ] || { real=$file; break; }
done

# stack TOP: makes a kernel whose modules of RDMA are below TOP
stack()
{
	rm -rf "$modules"
	mkdir -p "$modules/$1/${driver%/*}"
	ln -s "$real" "$modules/$1/$driver"
	printf '%s\n' "$1/$core: $1/a.ko.xz" "$1/$driver: $1/$core" \
		"$1/drivers/infiniband/sw/siw/siw.ko.xz: $1/$core" \
		>"$modules/modules.dep"
}

# tree FOLDER CRC: makes a folder as OFED does
tree()
{
	mkdir -p "$1/include/rdma"
	touch "$1/include/rdma/ib_verbs.h"
	printf '%s\t%s\t%s\t%s\n' "$2" _ib_alloc_device ib_core EXPORT_SYMBOL \
		>"$1/Module.symvers"
}

# says WORDS [DIR]: what ofa.sh prints about the kernel
says()
{
	local said

	said=$(kernel/compat/ofa.sh "$modules" "$rel" x86_64 "$sources" ${2:+"$2"})
	[ "$said" = "$1" ] || fail "$said"
}

# complains WORDS [DIR]: the build stops and says so
complains()
{
	local said

	said=$(kernel/compat/ofa.sh "$modules" "$rel" x86_64 "$sources" ${2:+"$2"})
	[[ $said = "error: mlx5_ep: "*"$1"* ]] || fail "$said"
}

own()
{
	stack kernel
	tree "$ofa" 0x12345678
	says own && complains "the kernel's own" "$ofa"
	rm "$modules/modules.dep"
	says own && complains 'there is no' "$ofa"
}

# Canonical's packages have OFED below kernel/. That it was not compiled in the kernel's
# tree is what the module says, here a copy without the line "intree=Y".
canonical()
{
	local own=$modules/kernel/doca-ofed-26.01/$core

	stack kernel/doca-ofed-26.01
	rm -rf "$sources"
	mkdir -p "${own%/*}"
	ln -s "${real%"$driver"}$core" "$own"
	says own
	xz -dc "${real%"$driver"}$core" >"$dir/core.ko"
	objcopy --dump-section ".modinfo=$dir/info" "$dir/core.ko"
	grep -qa intree=Y "$dir/info"
	sed -i 's/intree=Y/outree=Y/' "$dir/info"
	objcopy --update-section ".modinfo=$dir/info" "$dir/core.ko"
	rm "$own"
	xz -c "$dir/core.ko" >"$own"
	complains "ib_core is kernel/doca-ofed-26.01/$core, and no headers of it"
	tree "$dir/elsewhere" "$crc"
	says "folder $dir/elsewhere" "$dir/elsewhere"
	tree "$ofa" "$crc"
	says "folder $ofa"
}

found()
{
	stack updates/dkms
	tree "$ofa" "$crc"
	says "folder $ofa"
}

given()
{
	stack extra/mlnx-ofa_kernel
	tree "$dir/elsewhere" "$crc"
	rm -rf "$ofa"
	complains OFA_DIR= && says "folder $dir/elsewhere" "$dir/elsewhere"
}

debian()
{
	stack updates
	rm -rf "$sources"
	tree "$sources/ofa_kernel/amd64/$rel" "$crc"
	says "folder $sources/ofa_kernel/amd64/$rel"
}

other_default()
{
	stack updates
	rm -rf "$sources"
	tree "$dir/headers/6.1.0-other" "$crc"
	mkdir -p "$sources/ofa_kernel"
	ln -s "$dir/headers/6.1.0-other" "$sources/ofa_kernel/default"
	complains OFA_DIR= || return
	mv "$dir/headers/6.1.0-other" "$dir/headers/$rel"
	ln -sfn "$dir/headers/$rel" "$sources/ofa_kernel/default"
	says "folder $dir/headers/$rel"
}

both_or_none()
{
	stack updates
	tree "$ofa" "$crc"
	rm "$ofa/Module.symvers"
	complains 'both include/ and Module.symvers' || return
	tree "$ofa" "$crc"
	rm -r "$ofa/include"
	complains 'both include/ and Module.symvers'
}

other_version()
{
	stack updates
	tree "$ofa" 0x12345678
	complains "has version 12345678 there, ${crc#0x}"
	# A user has no /usr/sbin in PATH, where modprobe is.
	PATH=/usr/bin complains "has version 12345678 there, ${crc#0x}"
}

# A kernel without MODVERSIONS: modpost writes zeros, and the driver has no versions. Where
# only one of the two has some, there is nothing to compare.
no_versions()
{
	stack updates
	tree "$ofa" 0x00000000
	says "folder $ofa"
	tree "$ofa" "$crc"
	rm "$modules/updates/$driver"
	touch "$modules/updates/$driver"
	says "folder $ofa"
	echo "$crc other ib_core EXPORT_SYMBOL" >"$ofa/Module.symvers"
	complains 'Module.symvers has no _ib_alloc_device'
}

# EL has links to modules that were compiled for another kernel. Their headers have its
# name, and a folder with the name of this one is of something else.
weak_updates()
{
	local old=6.12.0-other own=$dir/lib/modules file

	stack weak-updates/mlnx-ofa_kernel
	rm -rf "$sources"
	for file in "$core" "$driver"; do
		mkdir -p "$own/$old/extra/mlnx-ofa_kernel/${file%/*}" \
			"$modules/weak-updates/mlnx-ofa_kernel/${file%/*}"
		cp "$real" "$own/$old/extra/mlnx-ofa_kernel/$file"
		ln -sf "$own/$old/extra/mlnx-ofa_kernel/$file" \
			"$modules/weak-updates/mlnx-ofa_kernel/$file"
	done
	complains "no headers of it for $old"
	tree "$sources/ofa_kernel/x86_64/$old" "$crc"
	tree "$ofa" 0x12345678
	says "folder $sources/ofa_kernel/x86_64/$old"
	tree "$sources/ofa_kernel/x86_64/$old" 0x12345678
	complains "has version 12345678 there, ${crc#0x}"
	# A link to a place that is no kernel's, as DKMS can make one.
	cp "$real" "$dir/ib_core.ko"
	ln -sf "$dir/ib_core.ko" "$modules/weak-updates/mlnx-ofa_kernel/$core"
	tree "$ofa" "$crc"
	says "folder $ofa"
}

# The folder that DKMS of OFED uses, and a link to that of another kernel.
dkms()
{
	stack updates/dkms
	rm -rf "$sources"
	tree "$dir/dkms/6.1.0-other" "$crc"
	mkdir -p "$sources"
	ln -s "$dir/dkms/6.1.0-other" "$sources/ofa_kernel-dkms"
	complains OFA_DIR= || return
	ln -sfn "$dir/dkms/$rel" "$sources/ofa_kernel-dkms"
	tree "$dir/dkms/$rel" "$crc"
	says "folder $dir/dkms/$rel"
	# A package that is gone leaves a link to nothing.
	rm -r "$dir/dkms/$rel"
	complains OFA_DIR=
}

# The build-ids are those of the modules that modprobe would load: here of a copy in
# updates/ with another one.
build_ids()
{
	local own=$dir/ids other=$dir/ids/updates/mlx5_ib.ko

	rm -rf "$own"
	mkdir -p "$own/kernel/${core%/*}" "$own/kernel/${driver%/*}" "${other%/*}"
	ln -s "${real%"$driver"}$core" "$own/kernel/$core"
	ln -s "$real" "$own/kernel/$driver"
	xz -dc "$real" >"$other"
	objcopy --dump-section ".note.gnu.build-id=$dir/note" "$other"
	printf '\xab\xcd\xef\x01' |
		dd of="$dir/note" bs=1 seek=16 conv=notrunc status=none
	objcopy --update-section ".note.gnu.build-id=$dir/note" "$other"
	printf '%s\n' "kernel/$core:" "kernel/$driver: kernel/$core" \
		>"$own/modules.dep"
	kernel/compat/built_for.sh objcopy "$own" >"$dir/rows" 2>/dev/null
	cat "$dir/rows"
	[ "$(grep -c '^{ "' "$dir/rows")" -eq 2 ] || fail 'two modules have rows'
	must_fail grep 'mlx5_ib.*xab.xcd.xef.x01' "$dir/rows"
	printf '%s\n' "kernel/$core:" "updates/mlx5_ib.ko: kernel/$core" \
		>"$own/modules.dep"
	kernel/compat/built_for.sh objcopy "$own" >"$dir/rows" 2>/dev/null
	grep 'mlx5_ib.*xab.xcd.xef.x01' "$dir/rows"
}

# The headers come before the kernel's: the compiler says so of a made-up one.
first_in_order()
{
	local kernel=${real%/kernel/*} build=$dir/build lab=$PWD

	cp -rs "$kernel" "$dir/$rel"
	sed -i "s,^kernel/\(drivers/infiniband/[^:]*\),updates/\1," \
		"$dir/$rel/modules.dep"
	mkdir -p "$dir/$rel/updates/drivers"
	ln -s "$kernel/kernel/drivers/infiniband" "$dir/$rel/updates/drivers/"
	tree "$dir/first" "$crc"
	echo '#error headers of OFED' >"$dir/first/include/rdma/ib_verbs.h"
	mkdir "$build"
	cp -rs "$lab"/{Kbuild,VERSION,kernel,uapi} "$build/"
	! make -C "$kernel/build" "M=$build" "MLX5_EP_KMODULES=$dir/$rel" \
		"OFA_DIR=$dir/first" modules >"$dir/said" 2>&1 &&
		grep 'first/include/rdma/ib_verbs.h.*headers of OFED' "$dir/said"
}

[ -n "$crc" ] || skip_all 'no kernel with MODVERSIONS here'
plan 13
check "the kernel's own ib_core: no folder is used" own
check "an ib_core below kernel/ that is not the kernel's own" canonical
check 'an ib_core of DKMS: its folder is found' found
check 'OFA_DIR= names the folder' given
check "Debian's name of the architecture" debian
check 'default is used for its own kernel only' other_default
check 'the folder of DKMS is found' dkms
check 'modules that were compiled for another kernel' weak_updates
check 'headers and Module.symvers: both or none' both_or_none
check 'another version of _ib_alloc_device is refused' other_version
check 'a kernel without versions of symbols' no_versions
check 'build-ids are of the modules that would be loaded' build_ids
check 'its headers come first' first_in_order
ktap_finished
