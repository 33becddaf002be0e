#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 300
#
# make install and make uninstall write and remove what make install has recorded, and
# nothing else: neither the folder in which they run, nor a checkout beside it, nor what
# a symbolic link leads to. The test runs in the lab's root file system, where what it
# writes is dropped at the end. dkms is a stand-in: packaging_install has the real one.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
disposable

version=0.9.0+1.gaaaaaaa
sources=/usr/src/mlx5_ep-$version
list=/var/lib/mlx5_ep/installed
image=$tmp/image

# dkms has two versions, and writes down what it is told to do.
stand_ins()
{
	mkdir -p "$tmp/bin"
	cat >"$tmp/bin/dkms" <<-END
	#!/bin/sh
	[ "\$1" != status ] || {
		echo "mlx5_ep/$version, 7.2.0, x86_64: installed"
		echo "mlx5_ep/0.8-mine: added"
	}
	echo "\$*" >>"$tmp/called"
	END
	printf '#!/bin/sh\n' >"$tmp/bin/lsinitramfs"
	chmod +x "$tmp/bin"/*
	export PATH=$tmp/bin:$PATH
}

# checkout FOLDER: a copy of the sources, with a repository of git
checkout()
{
	mkdir -p "$1/.git"
	tar -c --exclude=./build --exclude=./.git . | tar -x -C "$1"
	echo precious >"$1/.git/config"
}

# quiet CMD...: what CMD says is in $tmp/log
quiet()
{
	"$@" >"$tmp/log" 2>&1 || { tail -n 20 "$tmp/log"; return 1; }
}

make_install()
{
	quiet make -s install "BUILD_VERSION=$version" "DESTDIR=$image" "$@"
}

# contents FOLDER: prints all that is there; of the lab's /usr/src what is ours
contents()
{
	if [ "$1" = /usr/src ]; then
		find /usr/src/elsewhere /usr/src/mlx5_ep* -printf '%p %y %l\n' | sort
	else
		find "$1" -printf '%P %y %l\n' | sort
	fi
}

# refuses PATTERN FOLDER CMD...: CMD fails with such a line, and FOLDER stays as it is
refuses()
{
	local pattern=$1 folder=$2

	shift 2
	contents "$folder" >"$tmp/before"
	must_fail "$@" >"$tmp/log" 2>&1
	cat "$tmp/log"
	grep -q "$pattern" "$tmp/log"
	contents "$folder" | diff "$tmp/before" -
}

# The sources are unpacked where DKMS has those of this version.
runs_there()
{
	local target

	checkout "$sources"
	for target in install install-dkms dkms-source; do
		(cd "$sources" && refuses "^make install: $sources is the folder in which" \
			"$sources" make -s $target "BUILD_VERSION=$version")
	done
	[ ! -e $list ]
	rm -r "$sources"
}

# What is there already is a checkout, a link to one, or somebody's folder.
sources_are_there()
{
	local dkms_source=(make -s dkms-source "BUILD_VERSION=$version")

	checkout "$sources"
	refuses "^make install: $sources holds a repository of git" "$sources" \
		"${dkms_source[@]}"
	mv "$sources" /usr/src/elsewhere
	ln -s elsewhere "$sources"
	refuses "^make install: $sources is a symbolic link" /usr/src "${dkms_source[@]}"
	rm "$sources"
	mkdir "$sources"
	echo mine >"$sources/notes"
	refuses "^make install: $sources is there, and make install has not" \
		"$sources" "${dkms_source[@]}"
	rm -r "$sources" /usr/src/elsewhere
	[ ! -e $list ]
}

# A version that cannot be the end of a folder's name.
bad_versions()
{
	local bad

	for bad in ../../etc '' . -r 'a b'; do
		must_fail make -s dkms-source "BUILD_VERSION=$bad" "DESTDIR=$tmp/bad"
		[ ! -e "$tmp/bad" ]
	done
}

# make uninstall leaves the folders of others, and what they told DKMS.
others_stay()
{
	checkout /usr/src/mlx5_ep-0.8-mine
	checkout /usr/src/elsewhere
	ln -s elsewhere /usr/src/mlx5_ep-link
	mkdir /usr/src/mlx5_ep-notes
	echo mine >/usr/src/mlx5_ep-notes/notes
	contents /usr/src >"$tmp/before"
	quiet make -s dkms-source "BUILD_VERSION=$version"
	[ -e "$sources/kernel/main.c" ]
	echo mine >"$sources/notes"
	: >"$tmp/called"
	make -s uninstall >"$tmp/log" 2>&1
	cat "$tmp/log" "$tmp/called"
	grep -qx "make uninstall: $sources has files of others, and stays" "$tmp/log"
	grep -qx 'make uninstall: DKMS keeps mlx5_ep/0.8-mine, .*' "$tmp/log"
	grep -qx "remove mlx5_ep/$version --all" "$tmp/called"
	must_fail grep 'remove.*mine' "$tmp/called"
	[ "$(find "$sources" -type f)" = "$sources/notes" ]
	rm -r "$sources"
	contents /usr/src | diff "$tmp/before" -
	[ ! -e /var/lib/mlx5_ep ]
	rm -r /usr/src/{mlx5_ep-*,elsewhere}
}

# The pages go into a folder that has those of others.
shared_folder()
{
	local docs=$image/usr/share/doc

	rm -rf "$image"
	mkdir -p "$docs/other" "$docs/Documentation"
	touch "$docs/README" "$docs/other/README.md" "$docs/Documentation/mine.txt"
	contents "$image" >"$tmp/empty"
	make_install DOCDIR=/usr/share/doc
	[ -e "$docs/Documentation/concepts.md" ]
	quiet make -s uninstall "DESTDIR=$image" DOCDIR=/usr/share/doc
	contents "$image" | diff "$tmp/empty" -
	touch "$docs/README.md"
	refuses "^make install: others have put this there: /usr/share/doc/README.md" \
		"$image" make -s install "BUILD_VERSION=$version" "DESTDIR=$image" \
		DOCDIR=/usr/share/doc
}

# The list knows the folders, also those that were made, and the older version's files.
removed_by_list()
{
	rm -rf "$image"
	mkdir -p "$image"
	make_install PREFIX=/opt/ep LIBDIR=/opt/ep/lib64
	[ -x "$image/opt/ep/bin/mlx5ep" ]
	touch "$image/opt/ep/share/mlx5ep/gone"
	echo /opt/ep/share/mlx5ep/gone >>"$image$list"
	make_install BUILD_VERSION=0.9.0+2.gbbbbbbb PREFIX=/usr
	[ -e "$image/usr/src/mlx5_ep-0.9.0+2.gbbbbbbb/Kbuild" ]
	quiet make -s uninstall "DESTDIR=$image"
	contents "$image"
	[ "$(contents "$image" | wc -l)" = 1 ]
}

# The units for the textfile collector are not in systemd's folders: who wants them
# enables them where they are.
timer()
{
	local share=/opt/ep/share/mlx5ep

	rm -rf "$image"
	mkdir -p "$image"
	make_install PREFIX=/opt/ep
	grep -qx 'ExecStart=/opt/ep/bin/mlx5ep metrics --output /[^ ]*\.prom' \
		"$image$share/mlx5ep-metrics.service"
	systemctl --root="$image" link "$share/mlx5ep-metrics.service"
	systemctl --root="$image" enable "$share/mlx5ep-metrics.timer"
	[ "$(systemctl --root="$image" is-enabled mlx5ep-metrics.timer)" = enabled ]
	systemd-analyze calendar "$(sed -n 's/^OnCalendar=//p' \
		"$image$share/mlx5ep-metrics.timer")"
}

# A source file that this version no longer has is not left for the compiler.
old_sources_go()
{
	rm -rf "$image"
	mkdir -p "$image"
	make_install
	touch "$image$sources/kernel/dropped.c"
	echo "$sources/kernel/dropped.c" >>"$image$list"
	make_install
	[ ! -e "$image$sources/kernel/dropped.c" ]
	[ -e "$image$sources/kernel/main.c" ]
}

# files_of_others: what was there before, in folders of this project too
files_of_others()
{
	mkdir -p "$image/usr/local/include/mlx5ep" "$image/usr/local/share/man/man3" \
		"$image/usr/src/mlx5_ep-1.0/.git"
	echo 1.0 >"$image/usr/src/mlx5_ep-1.0/VERSION"
	echo 'PACKAGE_VERSION="1.0"' >"$image/usr/src/mlx5_ep-1.0/dkms.conf"
	touch "$image/usr/local/include/mlx5ep/mine.txt" \
		"$image/usr/local/share/man/man3/mine.3"
}

# Versions before this one kept no list.
without_list()
{
	rm -rf "$image"
	files_of_others
	contents "$image" >"$tmp/empty"
	make_install
	rm -r "${image:?}/var"
	quiet make -s uninstall "DESTDIR=$image"
	find "$image" -type d -empty -delete
	contents "$image" | comm -13 "$tmp/empty" - | must_fail grep .
	[ -e "$image/usr/local/include/mlx5ep/mine.txt" ]
	[ -e "$image/usr/src/mlx5_ep-1.0/VERSION" ]
	make_install
	rm -r "${image:?}/var"
	make_install
	quiet make -s uninstall "DESTDIR=$image"
	must_fail grep -rl 'mlx5_ep_\|mlx5ep_' "$image"
}

# What a link in a folder of this project leads to is not written and not removed.
links()
{
	local headers=usr/local/include/mlx5ep

	rm -rf "$image"
	mkdir -p "$image/usr/local/include" "$image/mine"
	touch "$image/mine/mr_cache.h"
	ln -s ../../../mine "$image/$headers"
	refuses "^make install: this leads elsewhere: /$headers" "$image" \
		make -s install "BUILD_VERSION=$version" "DESTDIR=$image"
	quiet make -s uninstall "DESTDIR=$image"
	[ -e "$image/mine/mr_cache.h" ]
	rm "$image/$headers"
	make_install
	rm -r "${image:?}/$headers"
	ln -s ../../../mine "$image/$headers"
	quiet make -s uninstall "DESTDIR=$image"
	grep -q "^make uninstall: $image/$headers/.* leads elsewhere, and stays" "$tmp/log"
	[ -e "$image/mine/mr_cache.h" ]
	rm "$image/$headers"
	quiet make -s uninstall "DESTDIR=$image"
	[ "$(contents "$image" | grep -vc 'usr\|mine')" = 1 ]
}

# A link of an image is one of the machine that runs it, and not of this one.
out_of_image()
{
	rm -rf "$image"
	mkdir -p "$image/usr" "$tmp/machine"
	ln -s "$tmp/machine" "$image/usr/src"
	refuses 'this leads elsewhere: /usr/src' "$image" \
		make -s install "BUILD_VERSION=$version" "DESTDIR=$image"
	[ -z "$(ls "$tmp/machine")" ]
	mkdir -p "$image/var/lib/mlx5_ep"
	touch "$tmp/machine/canary"
	printf '%s\n' /usr/src/canary /usr/../../machine/canary >"$image$list"
	quiet make -s uninstall "DESTDIR=$image"
	[ -e "$tmp/machine/canary" ]
}

stand_ins
plan 11
check 'make install does not remove the folder in which it runs' runs_there
check 'make install does not write into sources that are there' sources_are_there
check 'a version that is no name is refused' bad_versions
check 'make uninstall leaves the sources of others' others_stay
check 'the pages can be in a folder with those of others' shared_folder
check 'make uninstall removes what was recorded, under another prefix too' removed_by_list
check 'the timer for metrics can be enabled' timer
check 'sources that a version no longer has are removed' old_sources_go
check 'an installation without a list can be removed, and replaced' without_list
check 'what a link leads to is neither written nor removed' links
check 'a link does not lead out of DESTDIR' out_of_image
ktap_finished
