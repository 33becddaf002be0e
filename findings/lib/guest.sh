# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Runs a script in a QEMU guest with a stock Debian kernel, with pinned packages.
# A finding sources this file and calls, in this order:
#
#   guest_setup SUITE KERNEL=VERSION... [-- PACKAGE=VERSION...]
#       makes the root file system (mmdebstrap) of Debian's SUITE with gcc and
#       QEMU, unpacks the image packages KERNEL, and installs the PACKAGEs. A
#       package without =VERSION is not pinned.
#   guest_cc NAME [FLAG...] <SOURCE.c
#       compiles a program in that root; the guest finds it as /share/NAME
#   guest_run KERNEL <SCRIPT
#       boots KERNEL under TCG and runs the bash SCRIPT in it as root, in folder
#       /share; puts what the script printed on both streams into guest_output.
#       The SCRIPT can use
#           twice CMD...    prints what CMD prints, and says so if a second run
#                           of CMD prints something else
#           rxe_on          makes rxe0, an RDMA device on v0, one of a pair of veths
#   guest_run_each RELEASE... <SCRIPT
#       does so with each of Debian's kernels RELEASE+deb13-amd64, and puts
#       "RELEASE: " before each line of guest_output
#
# and then compares with
#   guest_same WHAT <EXPECTED  notes whether guest_output is that
#   verdict SENTENCE           prints `holds: SENTENCE` and exits 0, or exits 1
#
# All is made in a temporary folder, which is removed at exit. FINDINGS_ROOT=DIR
# keeps the roots in DIR/SUITE and uses them again. Exit status 77: a pinned
# version is no longer in the archive, or this machine cannot do the check.
#
# GUEST_SMP (1), GUEST_MEM (1G), GUEST_LIMIT (300 seconds, whole boot),
# GUEST_APPEND, GUEST_ACCEL (tcg,thread=multi) and GUEST_QEMU (an array of more options
# for QEMU) may be set.

guest_tmp=$(mktemp -d)
guest_root='' guest_share='' guest_pid='' guest_differ=0 guest_output=''
guest_base=(bash busybox-static cpio gcc kmod libc6-dev mount procps
	qemu-system-x86 util-linux xz-utils)
GUEST_QEMU=()

guest_end()
{
	local status=$?

	trap - EXIT
	if [ -n "$guest_pid" ]; then
		kill -TERM "$guest_pid" 2>/dev/null || :
		wait "$guest_pid" 2>/dev/null || :
	fi
	[ -z "$guest_share" ] || rm -rf "$guest_share"
	rm -rf "$guest_tmp"
	exit "$status"
}
trap guest_end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

guest_skip()
{
	echo "skip: $*" >&2
	exit 77
}

# guest_repository LABEL: prints the address of the archive that this machine's
# own apt uses
guest_repository()
{
	# shellcheck disable=SC2016 # apt expands this
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
		'Origin: Debian' "Label: $1" 2>/dev/null | sort -u | head -n1
}

# guest_sources SUITE: prints the lines of sources.list for a root of SUITE
guest_sources()
{
	local suite main security

	main=$(guest_repository Debian)
	security=$(guest_repository Debian-Security)
	[ -n "$main" ] || guest_skip "apt of this machine has no Debian archive"
	for suite in bookworm trixie trixie-backports sid; do
		[ "$suite" != sid ] || [ "$1" = sid ] || continue
		echo "deb [arch=amd64] $main $suite main"
	done
	[ -z "$security" ] || echo "deb [arch=amd64] $security bookworm-security main"
}

# guest_make SUITE DIR: makes the root
guest_make()
{
	local include log=$guest_tmp/mmdebstrap.log

	include=$(IFS=,; echo "${guest_base[*]}")
	if ! guest_sources "$1" | nice -n 5 mmdebstrap --mode=root --variant=apt \
		--architectures=amd64 --include="$include" \
		--aptopt="APT::Default-Release \"$1\"" \
		--aptopt='APT::Install-Recommends "false"' \
		--aptopt='Acquire::Languages "none"' \
		--dpkgopt=force-unsafe-io \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--skip=cleanup/apt/lists "$1" "$2" - >"$log" 2>&1; then
		tail -n 20 "$log" >&2
		guest_skip "mmdebstrap cannot make a root of $1"
	fi
}

# guest_in CMD...: runs CMD in the root, with a /proc of its own
# shellcheck disable=SC2016 # the inner shell expands these
guest_enter=(nice -n 5 unshare --mount --pid --fork --kill-child bash -c
	'mount -t proc proc "$1/proc" && exec chroot "$@"' -)
guest_in()
{
	"${guest_enter[@]}" "$guest_root" "$@"
}

# guest_has PACKAGE[=VERSION]: succeeds if the root has it already
guest_has()
{
	local have

	# shellcheck disable=SC2016 # dpkg-query expands this
	have=$(chroot "$guest_root" dpkg-query -W -f '${db:Status-Status} ${Version}' \
		"${1%%=*}" 2>/dev/null) || return 1
	case $1 in
	*=*) [ "$have" = "installed ${1#*=}" ] ;;
	*) [ "${have%% *}" = installed ] ;;
	esac
}

# guest_known PACKAGE=VERSION: succeeds if the archive has it
guest_known()
{
	chroot "$guest_root" apt-cache show --no-all-versions "$1" 2>/dev/null |
		grep '^Package:' >/dev/null
}

# guest_unpack PACKAGE=VERSION: unpacks modules and image of a kernel. It is not
# installed, so no hook runs.
guest_unpack()
{
	local rel=${1%%=*} version=${1#*=} package packages=() mark tmp deb

	rel=${rel#linux-image-}
	mark=$guest_root/kernels/$rel/version
	[ "$(cat "$mark" 2>/dev/null)" != "$version" ] || return 0
	guest_known "$1" || guest_skip "$1 is not in the archive any more"
	for package in linux-{base,binary,modules}-"$rel"; do
		! guest_known "$package=$version" || packages+=("$package=$version")
	done
	[ ${#packages[@]} -gt 0 ] || packages=("$1")
	tmp=$guest_root/kernels/unpack
	rm -rf "$tmp"
	mkdir -p "$tmp" "$guest_root/kernels/$rel"
	# shellcheck disable=SC2016 # the inner shell expands these
	guest_in bash -c 'cd /kernels/unpack && apt-get -qq -o APT::Sandbox::User=root \
		download "$@" && for deb in *.deb; do dpkg-deb -x "$deb" . || exit; done' \
		- "${packages[@]}" >&2
	for deb in "$tmp/boot/vmlinuz-$rel" "$tmp/usr/lib/modules/$rel/vmlinuz"; do
		[ ! -e "$deb" ] || cp "$deb" "$guest_root/kernels/$rel/vmlinuz"
	done
	mkdir -p "$guest_root/usr/lib/modules"
	for deb in "$tmp/lib/modules/$rel" "$tmp/usr/lib/modules/$rel"; do
		[ -d "$deb" ] || continue
		rm -rf "$guest_root/usr/lib/modules/$rel"
		mv "$deb" "$guest_root/usr/lib/modules/$rel"
	done
	rm -rf "$tmp"
	guest_in depmod -a "$rel"
	guest_initramfs "$rel"
	echo "$version" >"$mark"
}

# guest_initramfs RELEASE: makes the image that mounts the root
guest_initramfs()
{
	local dir=$guest_root/kernels/$1/initramfs module file n=10

	rm -rf "$dir"
	mkdir -p "$dir"/{bin,proc,modules,low,up,new}
	cp "$guest_root/usr/bin/busybox" "$dir/bin/"
	guest_in modprobe -a -S "$1" --show-depends virtio_pci 9pnet_virtio 9p overlay |
		awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$dir/list"
	while read -r module; do
		n=$((n + 1))
		file=$dir/modules/$n-$(basename "${module%%.ko*}").ko
		case $module in
		*.xz) xz -dc "$guest_root$module" >"$file" ;;
		*) cp "$guest_root$module" "$file" ;;
		esac
	done <"$dir/list"
	cat >"$dir/init" <<-'END'
		#!/bin/busybox sh
		b=/bin/busybox
		$b mount -t proc proc /proc
		for m in /modules/*; do $b insmod $m; done
		o=trans=virtio,version=9p2000.L,msize=262144
		$b mount -t 9p -o ro,cache=loose,$o root /low
		$b mount -t tmpfs -o size=80% up /up
		$b mkdir /up/u /up/w
		$b mount -t overlay -o lowerdir=/low,upperdir=/up/u,workdir=/up/w root /new
		$b mkdir -p /new/share /new/proc /new/sys /new/dev /new/run /new/tmp
		$b mount -t 9p -o rw,$o share /new/share
		$b mount -t devtmpfs dev /new/dev
		exec $b switch_root /new /bin/bash /share/start
	END
	chmod 755 "$dir/init"
	# shellcheck disable=SC2016 # the inner shell expands these
	guest_in bash -c 'cd "$1" && find . | cpio --quiet -o -H newc >../image' \
		- "/kernels/$1/initramfs"
	rm -rf "$dir"
}

guest_setup()
{
	local suite=$1 kernels=() package missing=()

	shift
	[ "$(id -u)" = 0 ] || guest_skip "needs root"
	[ "$(uname -m)" = x86_64 ] || guest_skip "needs an x86-64 machine"
	type mmdebstrap unshare >/dev/null || guest_skip "needs mmdebstrap, util-linux"
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		kernels+=("$1")
		shift
	done
	[ $# = 0 ] || shift
	guest_root=${FINDINGS_ROOT:-$guest_tmp/roots}/$suite
	if [ ! -e "$guest_root/kernels" ]; then
		mkdir -p "$(dirname "$guest_root")"
		rm -rf "$guest_root" "$guest_root.new"
		guest_make "$suite" "$guest_root.new"
		mkdir "$guest_root.new/kernels"
		mv "$guest_root.new" "$guest_root"
	fi
	for package in "$@"; do
		guest_has "$package" || missing+=("$package")
	done
	for package in ${missing[@]+"${missing[@]}"}; do
		case $package in
		*=*) guest_known "$package" ||
			guest_skip "$package is not in the archive any more" ;;
		esac
	done
	if [ ${#missing[@]} -gt 0 ]; then
		DEBIAN_FRONTEND=noninteractive guest_in apt-get -qq -y --no-install-recommends \
			--allow-downgrades install "${missing[@]}" >"$guest_tmp/apt.log" 2>&1 || {
			tail -n 20 "$guest_tmp/apt.log" >&2
			guest_skip "apt cannot install ${missing[*]}"
		}
	fi
	for package in "${kernels[@]}"; do
		guest_unpack "$package"
	done
	guest_share=$(mktemp -d "$guest_root/kernels/share.XXXXXX")
	chmod 755 "$guest_share"
}

guest_cc()
{
	local name=$1

	shift
	cat >"$guest_share/$name.c"
	guest_in gcc -O1 -Wall -D_GNU_SOURCE -o "/kernels/${guest_share##*/}/$name" \
		"/kernels/${guest_share##*/}/$name.c" "$@" >&2
}

guest_run()
{
	local rel=${1#linux-image-} dir=/kernels/${guest_share##*/} status
	local smp=${GUEST_SMP:-1} mem=${GUEST_MEM:-1G} limit=${GUEST_LIMIT:-300}

	cat >"$guest_share/script"
	rm -f "$guest_share/status" "$guest_share/output"
	: >"$guest_share/output"
	cat >"$guest_share/prelude" <<-'END'
		twice()
		{
			local first second

			first=$("$@" 2>&1)
			second=$("$@" 2>&1)
			printf '%s\n' "$first"
			[ "$first" = "$second" ] || printf 'the second time:\n%s\n' "$second"
		}
		rxe_on()
		{
			local i

			modprobe -a veth rdma_rxe ib_uverbs
			ip link set lo up
			if ! ip link show v0 >/dev/null 2>&1; then
				ip link add v0 type veth peer name v1
				ip addr add 10.9.0.1/24 dev v0
				ip link set v0 up
				ip link set v1 up
			fi
			rdma link add rxe0 type rxe netdev v0
			for ((i = 0; i < 100; i++)); do
				! grep -qs ffff /sys/class/infiniband/rxe0/ports/1/gids/1 || return 0
				sleep 0.1
			done
			echo 'rxe0 has no IPv4 GID'
		}
		export -f twice rxe_on
	END
	cat >"$guest_share/start" <<-'END'
		export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin HOME=/root LC_ALL=C
		mount -t proc proc /proc
		mount -t sysfs sys /sys
		mount -t tmpfs run /run
		mount -t tmpfs -o mode=1777 tmp /tmp
		mkdir -p /dev/shm /dev/pts
		mount -t tmpfs -o mode=1777 shm /dev/shm
		mount -t devpts pts /dev/pts
		mount -t cgroup2 cgroup2 /sys/fs/cgroup
		cd /share
		. ./prelude
		bash script >output 2>&1 </dev/null
		echo $? >status
		sync
		echo o >/proc/sysrq-trigger
		sleep 100
	END
	timeout -k 5 "$limit" "${guest_enter[@]}" "$guest_root" qemu-system-x86_64 \
		-nodefaults -no-user-config -display none -no-reboot -accel "${GUEST_ACCEL:-tcg,thread=multi}" \
		-M q35 -cpu max,la57=off -smp "$smp" -m "$mem" \
		-kernel "/kernels/$rel/vmlinuz" -initrd "/kernels/$rel/image" \
		-fsdev local,id=root,path=/,readonly=on,security_model=none,multidevs=remap \
		-device virtio-9p-pci,fsdev=root,mount_tag=root \
		-fsdev "local,id=share,path=$dir,security_model=none,multidevs=remap" \
		-device virtio-9p-pci,fsdev=share,mount_tag=share \
		-serial "file:$dir/console" ${GUEST_QEMU[@]+"${GUEST_QEMU[@]}"} \
		-append "console=ttyS0 loglevel=5 panic=-1 mitigations=off no_timer_check tsc=reliable ${GUEST_APPEND:-}" \
		>&2 </dev/null &
	guest_pid=$!
	wait "$guest_pid" || :
	guest_pid=''
	if ! status=$(cat "$guest_share/status" 2>/dev/null); then
		echo "the guest did not end its script; its output, and the end of its" \
			"console:" >&2
		cat "$guest_share/output" >&2
		tail -n 30 "$guest_share/console" >&2 || :
		exit 1
	fi
	guest_output=$(sed 's/[[:space:]]*$//' "$guest_share/output")
	[ "$status" = 0 ] || guest_output+=$'\n'"the script ended with status $status"
}

guest_run_each()
{
	local script release all=''

	script=$(cat)
	for release; do
		guest_run "$release+deb13-amd64" <<<"$script"
		all+=$(sed "s/^/$release: /" <<<"$guest_output")$'\n'
	done
	guest_output=${all%$'\n'}
}

guest_same()
{
	local expected

	expected=$(cat)
	if [ "$expected" != "$guest_output" ]; then
		guest_differ=1
		printf 'changed: %s\n--- stated\n%s\n--- seen\n%s\n' "$1" "$expected" \
			"$guest_output"
	fi
}

verdict()
{
	[ "$guest_differ" = 0 ] || exit 1
	echo "holds: $*"
	exit 0
}
