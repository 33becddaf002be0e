# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154 # lib.sh sets tmp
#
# How a test of the packages makes a node: what is on its disk before its first boot,
# two versions of the packages, and commands that run on its disk while it is off.
# Sourced after lib.sh, on the host.
#
# The node is an emulated machine, on which dpkg takes minutes and a compiler many more.
# So the packages are installed while the node is off, where that makes no difference.
# For what is installed while it runs, make is a stand-in: it compares the sources that
# DKMS wants to have built with those that were compiled for this kernel before, and
# copies the module. The rest of DKMS is what it is on each node: it makes a key, signs,
# compresses and installs the module, calls depmod and removes it.

# deb_build: makes the packages in build/deb, unless they are newer than all sources
deb_build()
{
	local sources='Kbuild Makefile VERSION dkms.conf Documentation kernel uapi
		userlib examples packaging selftests/programs selftests/lib'

	# shellcheck disable=SC2086 # a list
	if [ -e build/deb/lintian.log ] && [ -z "$(find $sources -type f \
		-newer build/deb/lintian.log -print -quit)" ]; then
		return
	fi
	packaging/debian/build
}

# deb_version FOLDER: prints the version of the packages there
deb_version()
{
	dpkg-deb -f "$1"/mlx5-ep-dkms_*.deb Version
}

# deb_next FROM TO: makes packages of the next version of those in FROM. The version
# is as long as before, so that it can be replaced in programs too.
deb_next()
{
	local old new deb

	old=$(deb_version "$1")
	new=$((${old%%.*} + 1)).${old#*.}
	mkdir -p "$2"
	for deb in "$1"/*.deb; do
		rm -rf "$tmp/deb"
		dpkg-deb -R "$deb" "$tmp/deb"
		[ ! -d "$tmp/deb/usr/src" ] ||
			mv "$tmp/deb/usr/src/mlx5_ep-$old" \
				"$tmp/deb/usr/src/mlx5_ep-$new"
		find "$tmp/deb" -type f ! -name '*.gz' -exec \
			sed -i "s/${old//./\\.}/$new/g" {} +
		dpkg-deb -Znone --root-owner-group -b "$tmp/deb" \
			"$2/$(basename "${deb//$old/$new}")"
	done
}

# module_build NODE RELEASE FOLDER: compiles the module of the packages in FOLDER, for
# make of the node. The compiled tree stays, and what has changed is compiled again.
module_build()
{
	local built tree=$PWD/build/packaging/$2

	built=$1/built/$(deb_version "$3")
	mkdir -p "$built" "$tree"
	dpkg-deb -x "$3"/mlx5-ep-dkms_*.deb "$tmp/dkms"
	mv "$tmp"/dkms/usr/src/mlx5_ep-* "$built/source"
	rsync -rpc "$built/source/" "$tree/"
	make -s -j "$(nproc)" -C "/lib/modules/$2/build" "M=$tree" modules
	cp "$tree/mlx5_ep.ko" "$built/"
}

# make_of_node NODE: the stand-in, which a boot of the node installs
make_of_node()
{
	cat >"$1/make" <<-END
	#!/bin/sh
	build=
	for word; do
		case \$word in
		M=*) build=\${word#M=} ;;
		clean) exit 0 ;;
		esac
	done
	[ -n "\$build" ] || exec /usr/bin/make "\$@"
	built=$1/built/\$(cat "\$build/VERSION")
	diff -r --exclude=make.log --exclude=mlx5_ep.ko "\$built/source" "\$build" &&
		cp "\$built/mlx5_ep.ko" "\$build/"
	END
	chmod +x "$1/make"
}

# node_disk NODE RELEASE: what the disk has before the first boot. Of the kernel's
# modules it has those that the node needs, as depmod reads each module whenever a
# package is installed. A device 0:0 hides what the lab's root has at this place.
node_disk()
{
	local root=$tmp/root/disk modules ko dir

	modules=$root/usr/lib/modules/$2
	mkdir -p "$modules/drivers"
	ln -s usr/lib "$root/lib"
	modprobe -S "$2" -a --show-depends mlx5_ib ib_uverbs ib_umad rdma_ucm \
		ib_ipoib | sed -n 's/^insmod \([^ ]*\).*/\1/p' | sort -u |
		while read -r ko; do
			cp "$ko" "$modules/drivers/"
		done
	cp "/lib/modules/$2"/modules.{builtin,builtin.modinfo,order} "$modules/"
	depmod -b "$root" "$2"
	mknod "$modules/kernel" c 0 0
	# DKMS builds for all kernels that it finds.
	for dir in /lib/modules/*; do
		[ "${dir##*/}" = "$2" ] ||
			mknod "$root/usr$dir" c 0 0
	done
	rm "$root/lib"
	(cd "$tmp/root" && find disk | cpio --quiet -o -H newc) >"$1/disk"
	rm -r "$tmp/root"
}

# uname_of_node NODE RELEASE: uname as the node would have it
uname_of_node()
{
	mkdir "$1/bin"
	cat >"$1/bin/uname" <<-END
	#!/bin/sh
	[ "\$*" != -r ] || exec echo $2
	exec /usr/bin/uname "\$@"
	END
	chmod +x "$1/bin/uname"
}

# on_disk NODE CMD...: runs CMD at native speed with the disk of the node as its root
on_disk()
{
	unshare --mount "$PWD/packaging/test/node-disk" "$@"
}
