#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 1200
#
# Kernels that are named by a path. Each kind is made here of parts of a kernel of
# the lab: a folder, a tree, packages. What cannot work is refused in one line that
# names the remedy.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# shellcheck disable=SC1091
rel=$(. lab/lib.sh && lab_release 6.12)
# shellcheck disable=SC1091
older=$(. lab/lib.sh && lab_release 6.1)
# shellcheck disable=SC1091
known=$(. lab/lib.sh && cut -d' ' -f2 "$lab_dir/kernels")
# shellcheck disable=SC1091
newer=$(. lab/lib.sh && lab_release 7.2)
# shellcheck disable=SC1091
newer_image=$(. lab/lib.sh && echo "$lab_dir/vmlinuz-$newer")
stock=/usr/lib/modules/$rel
lab=lab
# A guest sees what is below the checkout.
work=$PWD/build/kernel_path.$$
# The lab shows no folder of this one by itself.
sources=/var/tmp/kernel_path.$$
mkdir -p "$work"

# clean_up: also what the lab keeps of kernels that are gone
clean_up()
{
	local path id

	grep -ls "^$work" build/lab/kernels/*/path | while read -r path; do
		id=$(basename "$(dirname "$path")")
		# Who copies the module now has the lock.
		flock "build/lab/module-$id.lock" rm -rf "build/lab/kernels/$id" \
			"build/lab/initramfs-$id"{,-virtiofs} "build/lab/vmlinux-$id" \
			"build/lab/kernels/unpacked-${id##*-}" "build/modules/$id" \
			"build/lab/modules-$id.stamp"
	done
	# packages that were refused
	grep -l "^$work/" build/lab/kernels/shows-* | sed 's/.*shows-//' |
		while read -r id; do
			rm -rf "build/lab/kernels/unpacked-$id" \
				"build/lab/kernels/shows-$id"
		done
	rm -rf "$work" "$sources" "$tmp"
}
trap clean_up EXIT

# parts [MODULE...]: prints the modules that a guest needs, below the folder of modules
parts()
{
	[ $# -gt 0 ] || set -- 9pnet_virtio 9p
	modprobe -S "$rel" -a --show-depends virtio_pci "$@" overlay \
		virtio_console configfs mlx5_ib ib_umad rdma_ucm ib_ipoib |
		sed -n "s,^insmod [^ ]*/$rel/\([^ ]*\).*,\1,p" | sort -u
}

# without_9p FOLDER: a newer kernel as RHEL's are: without 9P, with virtiofs
without_9p()
{
	local rel=$newer stock=/usr/lib/modules/$newer config=/boot/config-$newer

	mkdir -p "$1/lib/modules/$rel"
	parts virtiofs | tar -c -C "$stock" -T - modules.{order,builtin,builtin.modinfo} |
		tar -x -C "$1/lib/modules/$rel"
	[ -e "$config" ] || config=$stock/config
	sed '/9P/d' "$config" >"$1/config-$rel"
	cp "$newer_image" "$1"
}

# folder FOLDER: image, configuration and modules, as modules_install puts them
folder()
{
	mkdir -p "$1/lib/modules/$rel"
	parts | tar -c -C "$stock" -T - modules.{order,builtin,builtin.modinfo} |
		tar -x -C "$1/lib/modules/$rel"
	cp "/boot/config-$rel" "/boot/vmlinuz-$rel" "$1"
}

# tree FOLDER: a built kernel tree, as far as the lab looks at one
tree()
{
	local ko to

	cp -r "$(readlink -f "$stock/build")" "$1"
	mkdir -p "$1/arch/x86/boot" "$1/include/config"
	cp "/boot/vmlinuz-$rel" "$1/arch/x86/boot/bzImage"
	cp "$stock"/modules.{builtin,builtin.modinfo} "$1"
	echo "$rel" >"$1/include/config/kernel.release"
	parts | while read -r ko; do
		to=${ko#kernel/}
		to=${to%.ko*}
		mkdir -p "$1/${to%/*}"
		xz -dc "$stock/$ko" >"$1/$to.ko"
		echo "$to.o"
	done >"$1/modules.order"
}

# package FOLDER NAME FILES-FOLDER: a Debian package of files
package()
{
	mkdir -p "$3/DEBIAN"
	printf '%s\n' "Package: $2" 'Version: 1' 'Architecture: amd64' \
		'Maintainer: nobody <nobody@localhost>' 'Description: test' \
		>"$3/DEBIAN/control"
	dpkg-deb -Znone --root-owner-group -b "$3" "$1/$2_1_amd64.deb"
}

# packages FOLDER: image, headers, common headers and kbuild, as Debian has them
packages()
{
	local dir=$1 base=${rel%-amd64} name at

	mkdir -p "$dir/image/boot" "$dir/image/usr"
	folder "$dir/image/usr"
	mv "$dir/image/usr"/{config,vmlinuz}-"$rel" "$dir/image/boot"
	ln -s "../../../src/linux-headers-$rel" \
		"$dir/image/usr/lib/modules/$rel/build"
	package "$dir" "linux-image-$rel" "$dir/image"
	for name in "headers-$rel" "headers-$base-common" "kbuild-$base"; do
		at=usr/src
		[ "${name#kbuild}" = "$name" ] || at=usr/lib
		mkdir -p "$dir/$name/$at"
		cp -r "/$at/linux-$name" "$dir/$name/$at"
		package "$dir" "linux-$name" "$dir/$name"
		rm -r "${dir:?}/$name"
	done
	rm -r "$dir/image"
}

# boots PATH OPTION...: a guest has that kernel and an active port
boots()
{
	local path=$1

	shift
	# shellcheck disable=SC2016 # for the guest
	"$lab/vm" --kernel "$path" --timeout 300 "$@" -- sh -c \
		'uname -r; cat /sys/class/infiniband/mlx5_0/ports/1/state
		cat /sys/class/infiniband/mlx5_0/mlx5_ep/attached 2>&1
		echo "$MLX5_EP_KERNEL"; echo "$MLX5_EP_SLOWNESS"
		cat /proc/cmdline; grep MemTotal /proc/meminfo' >"$tmp/out" 2>"$tmp/err" ||
		fail "$(tail -n 20 "$tmp/err")"
	cat "$tmp/out"
	[ "$(sed -n 1p "$tmp/out")" = "$rel" ]
	[ "$(sed -n 2p "$tmp/out")" = '4: ACTIVE' ]
	[[ $(sed -n 4p "$tmp/out") = $rel-* ]]
}

boots_folder()
{
	folder "$work/folder"
	boots "$work/folder" --no-module
	[ "$(sed -n 5p "$tmp/out")" = 1 ]
	must_fail grep slab_debug "$tmp/out"
}

# Few tests need IPoIB. Those that do name it.
boots_without_ipoib()
{
	local folder=$work/no-ipoib name

	cp -r "$work/folder" "$folder"
	rm "$(find "$folder" -name 'ib_ipoib.ko*')"
	sed -i '/^CONFIG_INFINIBAND_IPOIB=/d' "$folder/config-$rel"
	name=$("$lab/kernel" "$folder")
	[ "$(cat "build/lab/kernels/$name/lacks")" = CONFIG_INFINIBAND_IPOIB ]
	boots "$folder" --no-module
}

# The module and a test of it, in a guest that has not even loaded 9P.
boots_by_virtiofs()
{
	local folder=$work/virtiofs name

	without_9p "$folder"
	set -- --kernel "$folder" --headers "/usr/lib/modules/$newer/build"
	# shellcheck disable=SC2016 # for the guest
	code 0 "$lab/vm" "$@" --timeout 600 -- sh -ec 'uname -r
		cat /sys/class/infiniband/mlx5_0/mlx5_ep/attached
		grep " virtiofs " /proc/mounts
		grep -w 9p /proc/filesystems /proc/mounts || echo none of 9P
		build/selftests/uuar_sysfs_test'
	[ "$(sed -n '1,2p' "$tmp/out")" = "$newer"$'\n'yes ]
	grep -qx 'none of 9P' "$tmp/out"
	grep -q "^top $PWD virtiofs rw," "$tmp/out"
	grep -q "^modules /usr/lib/modules/$newer virtiofs ro," "$tmp/out"
	grep -q '^# PASSED: ' "$tmp/out"
	# A folder that is not there is named, and no guest starts.
	name=$("$lab/kernel" "${@:3:2}" "$folder")
	mv "build/lab/kernels/$name/modules" "$work/away"
	code 125 "$lab/vm" --kernel "$name" --no-module -- true
	grep -q "virtiofsd does not start for .*/$name/modules:" "$tmp/err"
	mv "$work/away" "build/lab/kernels/$name/modules"
}

boots_tree()
{
	tree "$work/tree"
	# from inside the tree, as a developer types it
	lab=$PWD/$lab
	cd "$work/tree"
	boots . --no-module
	grep -q "^kernel: $rel-.* ready in .* from $work/tree$" "$tmp/err"
}

# Trees that are refused: of another architecture, and with the image of an earlier build.
wrong_trees()
{
	local wrong=$work/wrong

	mkdir -p "$wrong/include/config"
	echo 7.9.0 >"$wrong/include/config/kernel.release"
	printf '%s\n' '#' '# Linux/arm64 7.9.0 Kernel Configuration' CONFIG_ARM64=y \
		>"$wrong/.config"
	refused 'configured for arm64: .* one for x86_64' "$lab/kernel" "$wrong"
	sed -i 's,Linux/arm64,Linux/x86,; s/ARM64/X86_64/' "$wrong/.config"
	refused 'not built: run "make -C .* bzImage modules"' "$lab/kernel" "$wrong"
	mkdir -p "$wrong/arch/x86/boot"
	touch "$wrong"/{modules.order,Module.symvers}
	cp "/boot/vmlinuz-$rel" "$wrong/arch/x86/boot/bzImage"
	refused "is of ${rel//+/.}, the tree is 7.9.0: run \"make -C .* bzImage\"" \
		"$lab/kernel" "$wrong"
	echo text >"$wrong/arch/x86/boot/bzImage"
	refused 'no kernel image for x86_64' "$lab/kernel" "$wrong"
}

# A tree that was built with O=: its sources are in another folder, which the lab shows,
# too.
tree_beside_sources()
{
	local name

	mkdir "$sources"
	echo source >"$sources/file"
	cp -al "$work/tree" "$work/beside"
	ln -sfn "$sources" "$work/beside/source"
	name=$("$lab/kernel" "$work/beside")
	"$lab/enter" --show "build/lab/kernels/$name/shows" \
		cat "$sources/file" "$work/beside/modules.order" >"$tmp/out"
	[ "$(sed -n 1p "$tmp/out")" = source ]
	sed 1d "$tmp/out" | cmp - "$work/beside/modules.order"
}

# The module is built against the headers of the packages, not those of the lab.
boots_package()
{
	mkdir "$work/deb"
	packages "$work/deb"
	boots "$work/deb/linux-image-${rel}_1_amd64.deb"
	[ "$(sed -n 3p "$tmp/out")" = yes ]
	grep -q "^$PWD/build/lab/kernels/unpacked-" \
		"build/lab/kernels/$(sed -n 4p "$tmp/out")/shows"
}

# shared NAME FILE...: the package NAME, which has these files, all empty
shared()
{
	local file

	for file in "${@:2}"; do
		mkdir -p "$work/in/${file%/*}"
		touch "$work/in/$file"
	done
	package "$work/shared" "$1" "$work/in"
	rm -r "$work/in"
}

# Debian's kernels of several flavours share headers, and the parts of a kernel are in
# several packages. There is no kernel in these.
shared_headers()
{
	local file v=9.9.9+deb13-rt-amd64

	mkdir "$work/shared"
	shared linux-image-$v usr/share/x
	shared linux-kbuild-9.9.9+deb13 usr/lib/linux-kbuild-9.9.9+deb13/x
	shared linux-headers-9.9.9+deb13-common usr/src/common/x
	refused 'no kernel image in .*: put the packages' \
		"$lab/kernel" "$work/shared/linux-image-${v}_1_amd64.deb"
	shared linux-binary-unsigned-$v usr/lib/modules/$v/vmlinuz.unsigned
	refused '/vmlinuz is no kernel image for x86_64' \
		"$lab/kernel" "$work/shared/linux-binary-unsigned-${v}_1_amd64.deb"
	shared linux-kbuild-9.8 usr/lib/linux-kbuild-9.8/x
	shared linux-headers-9.8.0-5-common-rt usr/src/common-rt/x
	shared linux-image-9.8.0-5-rt-amd64-unsigned boot/vmlinuz-9.8
	refused '/vmlinuz-9.8 is no kernel image for x86_64' \
		"$lab/kernel" "$work"/shared/linux-image-9.8*.deb
	for file in usr/src/common{,-rt} usr/lib/linux-kbuild-{9.8,9.9.9+deb13}; do
		compgen -G "build/lab/kernels/unpacked-*/$file"
	done
	shared linux-modules-$v usr/lib/modules/$v/kernel/x
	refused 'no modules.order in these packages' \
		"$lab/kernel" "$work/shared/linux-modules-${v}_1_amd64.deb"
	echo text | tee "$work/shared/x.deb" >"$work/shared/x.rpm"
	refused 'cannot unpack .*x.deb: ' "$lab/kernel" "$work/shared/x.deb"
	refused 'cannot unpack .*x.rpm: ' "$lab/kernel" "$work/shared/x.rpm"
}

rpm_package()
{
	local name file

	local rpm=$work/rpm

	folder "$rpm/in"
	mv "$rpm/in/vmlinuz-$rel" "$rpm/in/lib/modules/$rel/vmlinuz"
	mv "$rpm/in/config-$rel" "$rpm/in/lib/modules/$rel/config"
	printf '%s\n' 'Name: kernel-core' 'Version: 6' 'Release: 1' \
		'License: GPL' 'Summary: x' '%description' x '%install' \
		"cp -r $rpm/in/lib %{buildroot}" '%files' /lib/modules \
		>"$rpm/spec"
	rpmbuild -bb --quiet --target x86_64 -D "_rpmdir $rpm" \
		-D "_topdir $rpm/top" -D '__os_install_post %nil' \
		-D '_binary_payload w0.gzdio' --nodeps "$rpm/spec" >/dev/null
	file=$(find "$work/rpm" -name '*.rpm')
	name=$("$lab/kernel" "$file")
	[[ $name = $rel-* ]]
	[ -s "build/lab/kernels/$name/vmlinuz" ]
	[ -n "$(find "build/lab/kernels/$name/modules" -name 'mlx5_ib.ko*')" ]
	[ -z "$(cat "build/lab/kernels/$name/kbuild")" ]
}

installed()
{
	local name

	name=$("$lab/kernel" "/boot/vmlinuz-$rel")
	[ "$(cat "build/lab/kernels/$name/kbuild")" = "/usr/src/linux-headers-$rel" ]
	[ "$(cat "build/lab/kernels/$name/release")" = "$rel" ]
	# Nothing has changed, so nothing is done.
	"$lab/kernel" "/boot/vmlinuz-$rel" >"$tmp/out" 2>&1
	[ "$(cat "$tmp/out")" = "$name" ]
}

# Somebody puts a driver into the folder of an installed kernel, without depmod.
other_module()
{
	local name file copied

	copy
	name=$("$lab/kernel" "$dir")
	file=$(find "$modules" -name 'mlx5_ib.ko*')
	copied=build/lab/kernels/$name/modules/${file#"$modules"/}
	cmp "$file" "$copied"
	echo new >"$tmp/new"
	touch -d 2020-01-01 "$tmp/new"
	cp -p "$tmp/new" "$file"
	"$lab/kernel" "$dir" >"$tmp/out" 2>"$tmp/err"
	grep ' ready in ' "$tmp/err"
	[ "$(cat "$copied")" = new ]
	"$lab/kernel" "$dir" >"$tmp/out" 2>"$tmp/err"
	must_fail grep ' ready in ' "$tmp/err"
}

# A folder of modules below usr/lib, as the root of another system has it.
other_root()
{
	local name

	mkdir -p "$work/root/usr/src/linux-headers-$rel"
	folder "$work/root/usr"
	mv "$work/root/usr/vmlinuz-$rel" "$work/root/usr/lib/modules/$rel/vmlinuz"
	ln -s "../../../src/linux-headers-$rel" \
		"$work/root/usr/lib/modules/$rel/build"
	mkdir -p "$work/root/usr/src/linux-headers-$rel/include/generated"
	echo "#define UTS_RELEASE \"$rel\"" \
		>"$work/root/usr/src/linux-headers-$rel/include/generated/utsrelease.h"
	name=$("$lab/kernel" "$work/root/usr/lib/modules/$rel")
	[ "$(cat "build/lab/kernels/$name/kbuild")" = "/usr/src/linux-headers-$rel" ]
}

# linked_headers ROOT MODULES: those of the other release are found, in the folder of OFED and
# where that is a link to them
linked_headers()
{
	local sources=$1/usr/src name shows said

	echo 'weak-updates/ofed/ib_core.ko:' >"$2/modules.dep"
	mkdir -p "$sources/ofa_kernel/x86_64/other"
	name=$("$lab/kernel" "$2" 2>"$tmp/err")
	shows=build/lab/kernels/$name/shows
	grep -qx "$sources/ofa_kernel /usr/src/ofa_kernel" "$shows"
	said=$(kernel/compat/ofa.sh "build/lab/kernels/$name/modules" "$rel" x86_64 "$sources")
	[[ $said = "error: mlx5_ep: $sources/ofa_kernel/x86_64/other must have "* ]] ||
		fail "$said"
	mv "$sources/ofa_kernel/x86_64" "$sources/built"
	rm -r "$sources/ofa_kernel"
	ln -s built/other "$sources/ofa_kernel"
	"$lab/kernel" "$2" >"$tmp/out" 2>&1
	grep -qx "$sources/built/other /usr/src/ofa_kernel/other" "$shows"
}

# weak-modules links modules of another release. A guest has the files, and the node's own
# choice among modules of the same name.
linked_modules()
{
	local root=$work/root modules=$work/root/usr/lib/modules/$rel name copied
	local other=lib/modules/other/extra/ofed

	mkdir -p "$root/usr/$other" "$modules/weak-updates/ofed"
	ln -s usr/lib "$root/lib"
	ln -s "/$other/mlx5_ib.ko" "../../../other/extra/ofed/ib_core.ko" \
		"/$other/gone.ko" "$modules/weak-updates/ofed"
	ln -s weak-updates/ofed/mlx5_ib.ko "$modules/inside.ko"
	echo one >"$root/usr/$other/mlx5_ib.ko"
	echo core >"$root/usr/$other/ib_core.ko"
	depmod -b "$root" "$rel" 2>"$tmp/err"
	echo 'weak-updates/ofed/mlx5_ib.ko:' >"$modules/modules.dep"
	name=$("$lab/kernel" "$modules" 2>"$tmp/err")
	copied=build/lab/kernels/$name/modules
	grep -F "kernel: weak-updates/ofed/gone.ko leads to" "$tmp/err"
	[ "$(grep -c ' leads to ' "$tmp/err")" = 1 ]
	cmp "$modules/modules.dep" "$copied/modules.dep"
	[[ $(realpath "$copied/weak-updates/ofed/mlx5_ib.ko") = "$PWD/$copied"/* ]]
	[ "$(cat "$copied"/weak-updates/ofed/{mlx5_ib,ib_core}.ko)" = one$'\n'core ]
	[ "$(readlink "$copied/inside.ko")" = weak-updates/ofed/mlx5_ib.ko ]
	# Nothing has changed but a module of the other release.
	"$lab/kernel" "$modules" >"$tmp/out" 2>"$tmp/err"
	must_fail grep ' ready in ' "$tmp/err"
	echo two >"$root/usr/$other/mlx5_ib.ko"
	touch -d '1 minute' "$root/usr/$other/mlx5_ib.ko"
	"$lab/kernel" "$modules" >"$tmp/out" 2>&1
	[ "$(cat "$copied/weak-updates/ofed/mlx5_ib.ko")" = two ]
	linked_headers "$root" "$modules"
	rm -r "$modules/weak-updates" "$modules/inside.ko" "$modules"/modules.dep*
	rm -r "$root/usr/src/ofa_kernel" "$root/usr/src/built"
}

# Drivers that take the place of the kernel's own have headers of their own.
own_stack()
{
	local root=$work/root modules=$work/root/usr/lib/modules/$rel name

	mkdir -p "$root/usr/src/ofa_kernel/x86_64/$rel" "$work/ofa"
	echo 'updates/ib_core.ko:' >"$modules/modules.dep"
	name=$("$lab/kernel" "$modules")
	grep -qx "$root/usr/src/ofa_kernel /usr/src/ofa_kernel" \
		"build/lab/kernels/$name/shows"
	# The folders of DKMS of OFED, and a link to that of this kernel.
	mkdir -p "$root/usr/src/ofa_kernel-dkms/x86_64/$rel" "$root/usr/src/built/$rel"
	name=$("$lab/kernel" "$modules")
	grep -qx "$root/usr/src/ofa_kernel /usr/src/ofa_kernel" \
		"build/lab/kernels/$name/shows"
	grep -qx "$root/usr/src/ofa_kernel-dkms /usr/src/ofa_kernel-dkms" \
		"build/lab/kernels/$name/shows"
	rm -r "$root/usr/src/ofa_kernel-dkms"
	ln -s "/usr/src/built/$rel" "$root/usr/src/ofa_kernel-dkms"
	name=$("$lab/kernel" "$modules")
	grep -qx "$root/usr/src/built/$rel /usr/src/ofa_kernel-dkms/$rel" \
		"build/lab/kernels/$name/shows"
	ln -sfn built/none "$root/usr/src/ofa_kernel-dkms"
	name=$("$lab/kernel" "$modules")
	must_fail grep dkms "build/lab/kernels/$name/shows"
	name=$(OFA_DIR=$work/ofa "$lab/kernel" "$modules")
	grep -qx "$work/ofa $work/ofa" "build/lab/kernels/$name/shows"
	echo 'kernel/drivers/infiniband/core/ib_core.ko:' >"$modules/modules.dep"
	name=$("$lab/kernel" "$modules")
	must_fail grep ofa "build/lab/kernels/$name/shows"
}

# A build may write into the folder of another kernel's headers.
shown_is_not_written()
{
	mkdir "$work/shown" "$tmp/shown"
	echo theirs | tee "$work/shown/file" >"$tmp/shown/file"
	printf '%s\n' "$work/shown /usr/src/shown" "$work/shown $work/shown" \
		"$tmp/shown $tmp/shown" >"$tmp/show"
	# shellcheck disable=SC2016 # for the inner shell
	"$lab/enter" --show "$tmp/show" sh -c 'for dir; do
		[ "$(cat "$dir/file")" = theirs ] || exit 1
		echo ours >"$dir/file" && echo ours >"$dir/more" || exit 1
		[ "$(cat "$dir/file")" = ours ] || exit 1
	done' - /usr/src/shown "$work/shown" "$tmp/shown"
	[ "$(cat "$work/shown/file" "$tmp/shown/file" | sort -u)" = theirs ]
	[ ! -e "$work/shown/more" ] && [ ! -e "$tmp/shown/more" ]
}

# refused PATTERN COMMAND...: with status 1 and one line of that pattern
refused()
{
	local pattern=$1

	shift
	code 1 "$@"
	[ "$(cat "$tmp/out" "$tmp/err" | wc -l)" = 1 ]
	grep -qE "$pattern" "$tmp/err"
}

# copy: a folder to break, in $dir
copy()
{
	dir=$work/broken
	rm -rf "$dir"
	cp -r "$work/folder" "$dir"
	modules=$dir/lib/modules/$rel
}

no_mlx5()
{
	copy
	rm "$(find "$modules" -name 'mlx5_ib.ko*')"
	refused 'has no module mlx5_ib: set .*CONFIG_MLX5_INFINIBAND=m' \
		"$lab/kernel" "$dir"
	code 1 "$lab/vm" --kernel "$dir" -- true
}

built_in()
{
	copy
	echo kernel/drivers/infiniband/hw/mlx5/mlx5_ib.ko \
		>>"$modules/modules.builtin"
	refused 'mlx5_ib is built into this kernel.*CONFIG_MLX5_INFINIBAND=m' \
		"$lab/kernel" "$dir"
	copy
	echo kernel/drivers/net/ethernet/mellanox/mlx5/core/mlx5_core.ko \
		>>"$modules/modules.builtin"
	refused 'mlx5_core is built into this kernel' "$lab/kernel" "$dir"
}

# A kernel with mlx5_ep as one of its own drivers: such a kernel may have all built in.
has_mlx5_ep()
{
	local own=kernel/drivers/infiniband/hw/mlx5_ep/mlx5_ep.ko name

	copy
	name=$("$lab/kernel" "$dir")
	[ "$(cat "build/lab/kernels/$name/own")" = '' ]
	mkdir -p "$modules/${own%/*}"
	cp "$(find "$modules" -name 'ib_umad.ko*')" "$modules/$own"
	echo "$own" >>"$modules/modules.order"
	name=$("$lab/kernel" "$dir")
	[ "$(cat "build/lab/kernels/$name/own")" = own ]
	printf '%s\n' "$own" kernel/drivers/infiniband/hw/mlx5/mlx5_ib.ko \
		>>"$modules/modules.builtin"
	sed -i "\\,^$own,d" "$modules/modules.order"
	name=$("$lab/kernel" "$dir")
	[ "$(cat "build/lab/kernels/$name/own")" = builtin ]
	refused 'has mlx5_ep built in: set CONFIG_MLX5_EP=m' \
		"$lab/vm" --kernel "$name" --no-module -- true
}

config_lacks()
{
	local name

	copy
	sed -i '/^CONFIG_KSM=/d' "$dir/config-$rel"
	name=$("$lab/kernel" "$dir" 2>"$tmp/err")
	grep -q "lacks CONFIG_KSM: tests that need them are skipped" "$tmp/err"
	[ "$(cat "build/lab/kernels/$name/lacks")" = CONFIG_KSM ]
	sed -i '/^CONFIG_DEBUG_FS=/d' "$dir/config-$rel"
	refused 'without CONFIG_DEBUG_FS:' "$lab/kernel" "$dir"
	copy
	sed -i '/^CONFIG_\(9P\|VIRTIO\)_FS=/d' "$dir/config-$rel"
	refused 'without 9P or virtiofs: set ' "$lab/kernel" "$dir"
}

# slow OPTION NUMBER: with this option a kernel is so many times slower
slow()
{
	local name

	copy
	echo "CONFIG_$1=y" >>"$dir/config-$rel"
	name=$("$lab/kernel" "$dir")
	[ "$(slowness_of "$name")" = "$2" ]
}

slow_ones()
{
	# shellcheck source=selftests/lib/slowness.sh
	. selftests/lib/slowness.sh
	slow EXPERT 1
	slow KCSAN 6
	slow KASAN 4
	slow DEBUG_KMEMLEAK 4
	slow PROVE_LOCKING 4
	boots "$dir" --no-module
	[ "$(sed -n 5p "$tmp/out")" = 4 ]
	sed -n 6p "$tmp/out" | grep -w slab_debug=F
	[ "$(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' "$tmp/out")" -gt 1500000 ]
}

no_headers()
{
	refused 'no headers for .*--headers' "$lab/build-module" "$work/folder"
	refused 'headers in .* are of 6.1\..* the kernel is' "$lab/kernel" \
		--headers "/usr/lib/modules/$older/build" \
		"$work/folder"
}

others()
{
	mkdir "$work/empty" "$work/plain" "$work/two"
	refused 'no kernel image in' "$lab/kernel" "$work/empty"
	refused 'no such kernel' "$lab/kernel" "$work/none"
	echo text >"$work/plain/vmlinuz"
	refused 'no kernel image for x86_64' "$lab/kernel" "$work/plain"
	cp "/boot/vmlinuz-$rel" "$work/plain/vmlinuz"
	refused 'no modules of .* beside' "$lab/kernel" "$work/plain"
	cp /boot/vmlinuz-* "$work/two"
	refused 'more than one kernel in .*, name one: ' "$lab/kernel" "$work/two"
	mkdir -p "$work/unbuilt/arch/x86/boot"
	touch "$work/unbuilt/arch/x86/boot/Makefile"
	refused 'not built: run "make -C .* bzImage modules"' "$lab/kernel" \
		"$work/unbuilt"
	OFA_DIR=$work/none/ofa refused 'no such folder: .*/none/ofa, which OFA_DIR names' \
		"$lab/kernel" "$work/plain"
	code 1 "$lab/vm" --kernel 7.2 --headers /usr -- true
}

# A kernel of the lab lacks nothing that the tests need.
lab_kernels_have_all()
{
	local release config line

	for release in $known; do
		config=/boot/config-$release
		[ -e "$config" ] || config=/usr/lib/modules/$release/config
		while read -r line; do
			grep -qxE "${line%=*}=[ym]" "$config" ||
				fail "$release has no ${line%=*}"
		done < <(grep '^CONFIG_' selftests/config)
	done
}

# Each option that a test names is in the last part of selftests/config, so that somebody
# sees it, and no other is: it would be that of a test that has gone.
options_are_listed()
{
	# shellcheck source=selftests/runner/registry.sh
	. selftests/runner/registry.sh
	test_files | xargs grep -hoE 'runs on:.*config: [A-Z0-9_ ]+' |
		sed 's/.*config: //' | tr -s ' ' '\n' | sort -u >"$tmp/named"
	[ -s "$tmp/named" ]
	sed '1,/^# --- single tests/d; s/^CONFIG_//; s/=.*//' selftests/config |
		sort -u >"$tmp/listed"
	diff "$tmp/named" "$tmp/listed"
}

plan 24
check 'a folder with image and modules boots' boots_folder
check 'a kernel without IPoIB boots' boots_without_ipoib
check 'a kernel without 9P boots by virtiofs, and the module works' boots_by_virtiofs
check 'a built tree boots, named from inside it' boots_tree
check 'a tree of another architecture, and one with an old image, are refused' wrong_trees
check 'the sources of a tree are shown, too' tree_beside_sources
check 'a package boots, with the module built against its headers' boots_package
check 'packages of a flavour bring the headers that they share' shared_headers
check 'an RPM package is understood' rpm_package
check 'an installed kernel is understood, and done once' installed
check 'a module that is put there later is taken' other_module
check 'the root of another system is understood' other_root
check 'modules of another release are copied, not linked' linked_modules
check 'headers of other drivers are shown' own_stack
check 'nobody writes to folders that the lab shows' shown_is_not_written
check 'a kernel without mlx5_ib is refused' no_mlx5
check 'a kernel with mlx5_ib built in is refused' built_in
check 'a kernel that has mlx5_ep itself is understood' has_mlx5_ep
check 'what the configuration lacks is named' config_lacks
check 'a kernel with checkers has more memory and time' slow_ones
check 'headers that are missing or of another kernel are named' no_headers
check 'what is no kernel is refused in one line' others
check "the lab's own kernels lack nothing" lab_kernels_have_all
check 'what tests name is in selftests/config, and nothing else' options_are_listed
ktap_finished
