#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# glibc 2.41 (Debian trixie): dlopen("libfabric.so.1", RTLD_NOLOAD) of a library that is not loaded
# returns NULL, and has searched the folders of libraries, opened the library's file and read its
# header before. A library that is loaded, under whatever path, is found by its name in the file
# (DT_SONAME) without a look at the disk. So a preload that asks "has this program libfabric?" by
# RTLD_NOLOAD opens libfabric's file at each start of each program of a job. dl_iterate_phdr() opens none.
# Guessed before: RTLD_NOLOAD looks at the list of what is loaded, and nowhere else. Seen on 2026-11-30.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie libc6=2.41-12+deb13u5 libfabric1=2.1.0-1.1 gcc libc6-dev strace
# shellcheck disable=SC2016 # expanded in the chroot
in_root trixie '
	cd /tmp || exit
	printf "%s\n" "#include <dlfcn.h>" "#include <stdio.h>" "#include <unistd.h>" \
		"int main(int n, char **v) {" \
		"	if (n > 2 && !dlopen(v[2], RTLD_LAZY)) return 2;" \
		"	write(1, \"\", 0);" \
		"	return !dlopen(v[1], RTLD_LAZY | RTLD_NOLOAD); }" >p.c
	gcc -w -o p p.c || exit
	cp -L /usr/lib/*/libfabric.so.1 /tmp/copy-of-it || exit
	# Only what comes after the empty write.
	opened() {
		strace -y -e trace=openat,read,write ./p "${@:2}" 2>trace; status=$?
		sed "1,/^write(1/d" trace | grep -o "^[a-z]*(.*libfabric[^\">]*" |
			sed "s/(.*/ libfabric/" | sort | uniq -c | sed "s/^ */$1: /"
		echo "$1: $([ $status = 0 ] && echo loaded || echo "not loaded")"
	}
	opened none libfabric.so.1
	opened "a copy" libfabric.so.1 /tmp/copy-of-it
	opened itself libfabric.so.1 libfabric.so.1' >"$work/got"
cat >"$work/want" <<'END'
none: 1 openat libfabric
none: 1 read libfabric
none: not loaded
a copy: loaded
itself: loaded
END
verdict "$work/want" "$work/got" 'dlopen() with RTLD_NOLOAD of glibc 2.41 opens a library that is not loaded'
