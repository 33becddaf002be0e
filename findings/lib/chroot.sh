# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# Shared by the scripts beside this folder; read with "source". Needs root, mmdebstrap, unshare.
#
#   start                     makes the temporary folder $work, removed at the end of the script
#   make_root SUITE NAME=VERSION...
#                             makes $work/root-SUITE, a Debian chroot with these packages; SUITE may
#                             be trixie-backports, which has trixie too. Ends the script with 77 if
#                             the archive does not have them, or apt refuses its list.
#                             With FINDINGS_ROOTS=DIR in the environment, DIR/trixie and so on is
#                             used, read-only below an overlay, where it has just these versions.
#   in_root SUITE COMMAND     runs a shell command in it, with /proc, /dev, /sys and its own /tmp. Where
#                             alone=yes is set, also with its own /dev/shm, in PID, IPC and network
#                             namespaces of its own (lo only), which end with the command, and without inherited
#                             descriptors but 0, 1, 2
#   verdict WANT GOT TEXT     compares two files and ends the script: 0 "holds", 1 "changed"

export LC_ALL=C

skip() {
	printf 'skipped: %s\n' "$1"
	exit 77
}

start() {
	[ "$(id -u)" = 0 ] || skip 'needs root'
	command -v mmdebstrap >/dev/null || skip 'needs mmdebstrap'
	work=$(mktemp -d)
	trap stop EXIT
}

stop() {
	local root
	for root in "$work"/root-*; do
		if mountpoint -q "$root"; then umount "$root"; fi
	done
	rm -rf --one-file-system "$work"
}

# borrow SUITE ROOT NAME=VERSION...: lays an overlay over ROOT if it has these packages
borrow() {
	local suite=$1 root=$2 package
	shift 2
	[ -d "$root/var/lib/dpkg" ] || return 1
	for package; do
		# shellcheck disable=SC2016 # dpkg-query's own variables
		case $(dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${Status} =${Version}\n' \
			"${package%%=*}" 2>"$work/log") in
		"install ok installed ="*) ;;
		*) return 1 ;;
		esac
		if [ "$package" != "${package%%=*}" ]; then
			# shellcheck disable=SC2016
			[ "$(dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${Version}' \
				"${package%%=*}")" = "${package#*=}" ] || return 1
		fi
	done
	mkdir -p "$work/upper-$suite" "$work/index-$suite" "$work/root-$suite"
	mount -t overlay overlay -o "lowerdir=$root,upperdir=$work/upper-$suite,workdir=$work/index-$suite" \
		"$work/root-$suite"
}

make_root() {
	local suite=$1 site list base
	shift
	base=${suite%-backports}
	if [ -n "${FINDINGS_ROOTS-}" ] && borrow "$suite" "$FINDINGS_ROOTS/$base" "$@"; then return; fi
	# shellcheck disable=SC2016 # apt's own variable
	site=$(apt-get indextargets --format '$(SITE)' | head -n 1)
	[ -n "$site" ] || skip 'this machine has no package source'
	list=("deb $site $base main")
	[ "$base" = "$suite" ] || list+=("deb $site $suite main")
	if ! nice -n 5 mmdebstrap --mode=root --variant=essential --format=directory \
		--keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
		--dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--include="$(IFS=,; printf "%s" "$*")" "$base" "$work/root-$suite" "${list[@]}" \
		>"$work/log" 2>&1; then
		if grep -qE 'was not found|Unable to locate|is expired|unmet dep' "$work/log"; then
			skip "the archive does not have (all of): $* ($(grep -m 1 '^E:' "$work/log"))"
		fi
		tail -n 20 "$work/log"
		echo 'the chroot could not be made'
		exit 2
	fi
}

in_root() {
	local root=$work/root-$1 spaces=(-m)
	if [ -n "${alone-}" ]; then spaces+=(-n -i -p -f --kill-child); fi
	# shellcheck disable=SC2016 # expanded by the inner shell
	nice -n 5 unshare "${spaces[@]}" bash -c '
		if [ -n "$3" ]; then ip link set lo up || exit; fi
		mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
		mount --rbind /sys "$1/sys" && mount -t tmpfs tmpfs "$1/tmp" || exit
		if [ -n "$3" ]; then
			mount -t tmpfs tmpfs "$1/dev/shm" || exit
			for fd in /proc/self/fd/*; do
				fd=${fd##*/}
				if [ "$fd" -gt 2 ]; then eval "exec $fd>&-"; fi
			done
		fi
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C HOME=/root OMPI_ALLOW_RUN_AS_ROOT=1 \
			OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 chroot "$1" /bin/bash -c "$2"' in_root "$root" "$2" "${alone-}"
}

verdict() {
	if diff -u "$1" "$2"; then
		printf 'holds: %s\n' "$3"
		exit 0
	fi
	printf 'changed: %s\n' "$3"
	exit 1
}
