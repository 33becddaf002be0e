#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kmod 34.2 (Debian trixie), two files of one module below /lib/modules/VERSION, as an old and a new way
# of installing leave them: which one modprobe loads is decided by the order in which the folder lists them
# (readdir, "ls -U"), which no tool of a package chooses. depmod -w says nothing. In updates/ the
# one that is listed last wins, in extra/ and kernel/ the one that is listed first, and with one in
# extra/ and one in kernel/ also the first: extra/ has no rank of its own without a file in
# depmod.d. That one of them is compressed or lies deeper, as in updates/dkms/, does not count.
# Each pair is made here in both orders; tmpfs lists in an order that follows from that.
# Guessed before: a fixed rule (by name, by depth, extra/ before kernel/), or a warning.
# Seen on 2026-11-30.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie kmod=34.2-2 gcc libc6-dev xz-utils
# shellcheck disable=SC2016 # expanded in the chroot
in_root trixie '
	cd /tmp || exit
	folder=lib/modules/9.9.9
	# module FILE VERSION: a module toy as far as depmod and modinfo look
	module() {
		printf "%s\n" "__attribute__((section(\".modinfo\"), used))" \
			"static const char version[] = \"version=$2\";" >toy.c
		gcc -c -o toy.ko toy.c || exit
		case $1 in *.xz) xz -f --check=crc32 toy.ko && mv toy.ko.xz toy.ko ;; esac
		mkdir -p "$(dirname "$folder/$1")"
		mv toy.ko "$folder/$1"
	}
	# twins WHERE FILE FILE: makes both, and says which of them depmod takes, by their order in
	# the folder that holds both, or the folders of both
	twins() {
		at=neither
		rm -rf lib
		mkdir -p "$folder"
		touch "$folder"/modules.order "$folder"/modules.builtin{,.modinfo}
		module "$2" "$2"
		module "$3" "$3"
		said=$(depmod -w -b /tmp 9.9.9 2>&1) || exit
		listed=$(ls -U "$folder/$1" | grep -xF -e "$(name "$2" "$1")" -e "$(name "$3" "$1")")
		taken=$(modinfo -b /tmp -k 9.9.9 -F version toy)
		case $(name "$taken" "$1") in
		"${listed%%$'"'\n'"'*}") at="listed first" ;;
		"${listed##*$'"'\n'"'}") at="listed last" ;;
		esac
		echo "${1:-two folders}: $2 $3: $at, depmod said ${said:-nothing}"
		takes="$takes $taken"
	}
	name() { local rest=${1#"$2"}; rest=${rest#/}; echo "${rest%%/*}"; }
	both() {
		takes=""
		twins "$1" "$2" "$3"
		twins "$1" "$3" "$2"
		[ "$takes" = " $2 $3" ] || [ "$takes" = " $3 $2" ] || echo "not by order:$takes"
	}
	both updates updates/toy.ko updates/toy.ko.xz
	both updates updates/a/toy.ko updates/b/toy.ko
	both updates updates/toy.ko updates/dkms/toy.ko
	both extra extra/a/toy.ko extra/b/toy.ko
	both kernel kernel/toy.ko kernel/a/toy.ko
	both "" extra/toy.ko kernel/toy.ko' >"$work/got"
cat >"$work/want" <<'END'
updates: updates/toy.ko updates/toy.ko.xz: listed last, depmod said nothing
updates: updates/toy.ko.xz updates/toy.ko: listed last, depmod said nothing
updates: updates/a/toy.ko updates/b/toy.ko: listed last, depmod said nothing
updates: updates/b/toy.ko updates/a/toy.ko: listed last, depmod said nothing
updates: updates/toy.ko updates/dkms/toy.ko: listed last, depmod said nothing
updates: updates/dkms/toy.ko updates/toy.ko: listed last, depmod said nothing
extra: extra/a/toy.ko extra/b/toy.ko: listed first, depmod said nothing
extra: extra/b/toy.ko extra/a/toy.ko: listed first, depmod said nothing
kernel: kernel/toy.ko kernel/a/toy.ko: listed first, depmod said nothing
kernel: kernel/a/toy.ko kernel/toy.ko: listed first, depmod said nothing
two folders: extra/toy.ko kernel/toy.ko: listed first, depmod said nothing
two folders: kernel/toy.ko extra/toy.ko: listed first, depmod said nothing
END
verdict "$work/want" "$work/got" 'which of two files of a module depmod takes follows from the order of the folder, without a word'
