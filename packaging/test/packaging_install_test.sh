#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 900
#
# make install installs the checkout in which it runs. What was installed before
# and the umask make no difference. make uninstall leaves nothing. The test runs
# in the lab's root file system, where what it writes is dropped at the end.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
disposable

kernel=$(cd /lib/modules && printf "%s\n" 7.2.* | sort -V | tail -n1)
first=0.9.0+1.gaaaaaaa
second=0.9.0+2.gbbbbbbb

# Replaces two commands: uname names a kernel of the lab, and the initramfs
# tools know the images of two kernels, one of which holds mlx5_ib.
stand_ins()
{
	mkdir -p "$tmp/bin" "$tmp/boot"
	cat >"$tmp/bin/uname" <<-END
	#!/bin/sh
	[ "\$*" != -r ] || exec echo $kernel
	exec /usr/bin/uname "\$@"
	END
	cat >"$tmp/bin/lsinitramfs" <<-END
	#!/bin/sh
	cat "\$1"
	END
	cat >"$tmp/bin/update-initramfs" <<-END
	#!/bin/sh
	echo "\$@" >>$tmp/renewed
	END
	chmod +x "$tmp/bin"/*
	echo usr/lib/modules/1/kernel/drivers/mlx5_ib.ko.xz \
		>"$tmp/boot/initrd.img-1"
	echo usr/lib/modules/2/kernel/drivers/mlx5_core.ko.xz \
		>"$tmp/boot/initrd.img-2"
	mkdir -p "$tmp"/modules/{1,2}
	export PATH=$tmp/bin:$PATH BOOT=$tmp/boot MODULES=$tmp/modules
}

# files: prints the files that make install could have written, with modes
files()
{
	find /usr/local /usr/src /usr/lib/mlx5_ep /etc/modprobe.d /var/lib/dkms \
		/etc/mlx5ep.conf /usr/lib/modprobe.d /usr/lib/udev/rules.d \
		"/lib/modules/$kernel/updates" -printf '%m %p\n' 2>/dev/null |
		grep -e mlx5_ep -e mlx5ep -e /man3/ibv_ || :
}

# make_install VERSION: runs it as root with a umask that denies others all
# access
make_install()
{
	(umask 077 && make -s install "BUILD_VERSION=$1") >"$tmp/log" 2>&1 || {
		tail -n 20 "$tmp/log"
		return 1
	}
}

# snapshot: prints all files where make install writes, and when they were changed
snapshot()
{
	{ find /usr/local /usr/src /usr/lib/mlx5_ep /etc/modprobe.d /var/lib/dkms \
		/etc/mlx5ep.conf /usr/lib/modprobe.d /usr/lib/udev/rules.d \
		-printf '%p %m %s %C@\n' 2>/dev/null || :; } | sort
}

# refuses LINE CMD...: CMD fails and says LINE, and no file has changed
refuses()
{
	local line=$1

	shift
	snapshot >"$tmp/before"
	must_fail "$@" >"$tmp/log" 2>&1
	cat "$tmp/log"
	grep -xF "$line" "$tmp/log"
	snapshot | diff "$tmp/before" -
}

# Each command of this machine but dkms.
without_dkms()
{
	local missing

	mkdir "$tmp/commands"
	ln -s /usr/bin/* "$tmp/commands/"
	ln -sf /usr/sbin/* "$tmp/bin/"* "$tmp/commands/"
	rm "$tmp/commands/dkms"
	missing="make install: dkms is missing: apt install dkms linux-headers-\$(uname -r)"
	missing+=" (dnf install dkms kernel-devel-\$(uname -r))"
	PATH=$tmp/commands refuses "$missing" make -s install
	PATH=$tmp/commands refuses "$missing" make -s -j4 install
}

# packages_own REMEDY CMD...: make CMD is refused, and names the remedy
packages_own()
{
	local remedy=$1 said

	shift
	said="make ${*: -1}: packages have installed files of mlx5_ep; remove these"
	refuses "${said/-lib:/:} packages first: $remedy" make -s "$@"
}

# The rules of udev are those of a Debian package, and a configuration file, which dpkg
# knows until the package is purged.
debian_package()
{
	local root=$tmp/deb remedy='apt remove mlx5ep-tools'

	mkdir -p "$root"/{DEBIAN,etc,usr/lib/udev/rules.d}
	cp packaging/90-mlx5ep.rules "$root/usr/lib/udev/rules.d/"
	cp packaging/mlx5ep.conf "$root/etc/"
	echo /etc/mlx5ep.conf >"$root/DEBIAN/conffiles"
	printf '%s\n' 'Package: mlx5ep-tools' 'Version: 0.9.0' 'Architecture: all' \
		'Maintainer: nobody <>' 'Description: a test' \
		>"$root/DEBIAN/control"
	dpkg-deb -b "$root" "$tmp/tools.deb"
	dpkg -i "$tmp/tools.deb"
	packages_own "$remedy" install
	packages_own "$remedy" -j4 install
	packages_own "$remedy" install-lib
	packages_own "$remedy" uninstall
	dpkg -r mlx5ep-tools
	packages_own 'apt purge mlx5ep-tools' uninstall
	dpkg -P mlx5ep-tools
}

# The module is that of an RPM package. The library may be installed beside it.
rpm_package()
{
	local file=/usr/lib/mlx5_ep/renew-initramfs remedy='dnf remove kmod-mlx5_ep'

	cat >"$tmp/kmod.spec" <<-END
	Name: kmod-mlx5_ep
	Version: 0.9.0
	Release: 1
	Summary: a test
	License: none
	BuildArch: noarch
	%description
	%install
	install -D $PWD/packaging/renew-initramfs %{buildroot}$file
	%files
	$file
	END
	rpmbuild -bb --define "_topdir $tmp/rpm" "$tmp/kmod.spec"
	rpm -i --nodeps "$tmp"/rpm/RPMS/noarch/*.rpm
	packages_own "$remedy" install
	packages_own "$remedy" -j4 install
	packages_own "$remedy" uninstall
	make -s lib-ready
	rpm -e --nodeps kmod-mlx5_ep
}

installed()
{
	[ "$(modinfo -k "$kernel" -F version mlx5_ep)" = "$1" ]
	[ "$(dkms status mlx5_ep | cut -d, -f1)" = "mlx5_ep/$1" ]
	[ "$(ls -d /usr/src/mlx5_ep-*)" = "/usr/src/mlx5_ep-$1" ]
	[ "$(env -i PATH=/usr/bin:/bin /usr/local/bin/mlx5ep --version)" = \
		"mlx5ep $1" ]
	[ "$(PKG_CONFIG_PATH=/usr/local/lib/pkgconfig \
		pkg-config --modversion mlx5ep)" = "$1" ]
}

install_first()
{
	make_install $first
	installed $first
}

all_may_read()
{
	files | grep -v /var/lib/dkms | grep -v '^[67][45][45] ' |
		grep -v '^777 .*\.so$' >"$tmp/hidden" || :
	cat "$tmp/hidden"
	[ ! -s "$tmp/hidden" ]
}

initramfs_renewed()
{
	cat "$tmp/renewed"
	[ "$(cat "$tmp/renewed")" = '-u -k 1' ]
}

# The old build must not stay, neither for the running kernel nor for another.
install_second()
{
	make_install $second
	installed $second
}

# As in a checkout with local changes: the version is the same, and the module
# is another one.
install_changed()
{
	local before

	before=$(modinfo -k "$kernel" -F srcversion mlx5_ep)
	cp -r . "$tmp/changed"
	echo 'MODULE_ALIAS("changed");' >>"$tmp/changed/kernel/main.c"
	(cd "$tmp/changed" && make_install $second)
	installed $second
	[ "$(modinfo -k "$kernel" -F srcversion mlx5_ep)" != "$before" ]
	modinfo -k "$kernel" -F alias mlx5_ep | grep -x changed
}

# If the build fails, make install says so, and the installed module stays.
build_fails()
{
	local before version

	before=$(modinfo -k "$kernel" -F srcversion mlx5_ep)
	echo '#error no' >>"$tmp/changed/kernel/main.c"
	for version in 0.9.0+3.gccccccc $second; do
		! (cd "$tmp/changed" && make_install $version) || return 1
		grep 'was not built; what is installed stays' "$tmp/log"
		[ "$(modinfo -k "$kernel" -F version mlx5_ep)" = $second ]
		[ "$(modinfo -k "$kernel" -F srcversion mlx5_ep)" = "$before" ]
		dkms status "mlx5_ep/$second" -k "$kernel" | grep ': installed'
	done
	sed -i '/#error no/d' "$tmp/changed/kernel/main.c"
	(cd "$tmp/changed" && make_install $second)
	[ "$(modinfo -k "$kernel" -F srcversion mlx5_ep)" = "$before" ]
	installed $second
}

# What the administrator wrote stays.
config_kept()
{
	grep -x 'install mlx5_ep .*/usr/local/bin/mlx5ep apply.*' \
		/usr/lib/modprobe.d/mlx5ep.conf
	echo '[module]' >>/etc/mlx5ep.conf
	make -s install-lib BUILD_VERSION=$second
	grep -x '\[module\]' /etc/mlx5ep.conf
}

# What the administrator changed is told, and is all that stays.
uninstalled()
{
	make -s uninstall 2>"$tmp/err"
	cat "$tmp/err"
	[ "$(cat "$tmp/err")" = 'make uninstall: /etc/mlx5ep.conf was changed, and stays' ]
	[ "$(files | cut -d' ' -f2)" = /etc/mlx5ep.conf ]
	grep -x '\[module\]' /etc/mlx5ep.conf
	cp packaging/mlx5ep.conf /etc/
	make -s uninstall
	files
	[ -z "$(files)" ]
	ldconfig -p | must_fail grep mlx5ep
	must_fail modinfo -k "$kernel" mlx5_ep
}

# A folder with a blank in its name is one folder.
destdir_with_blank()
{
	local blank="$tmp/a b"

	mkdir -p "$tmp/a" "$blank"
	touch "$tmp/a/canary"
	make -s dkms-source "DESTDIR=$blank" BUILD_VERSION=$first
	[ -e "$blank/usr/src/mlx5_ep-$first/Kbuild" ]
	make -s uninstall "DESTDIR=$blank"
	[ -e "$tmp/a/canary" ]
	find "$blank" -mindepth 1 | must_fail grep .
}

stand_ins
plan 12
check 'make install writes nothing where DKMS is missing' without_dkms
check 'make install writes nothing beside a package of Debian' debian_package
check 'make install writes nothing beside a package of RPM' rpm_package
check 'make install installs module, library and tool' install_first
check 'everybody may read what root installed with umask 077' all_may_read
check 'the initramfs that holds mlx5_ib is renewed' initramfs_renewed
check 'another version takes the place of the first' install_second
check 'changed sources of the same version are built' install_changed
check 'a build that fails leaves the module that was there' build_fails
check 'a configuration file that was changed is kept' config_kept
check 'make uninstall leaves nothing' uninstalled
check 'make uninstall takes a DESTDIR with a blank for one folder' destdir_with_blank
ktap_finished
