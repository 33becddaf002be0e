#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full
#
# Which images packaging/renew-initramfs makes again, and by which command of the
# distribution. The commands are stand-ins that write down how they were called.

# Text in single quotes is for the shell of the stand-ins.
# shellcheck disable=SC2016

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

export BOOT=$tmp/boot MODULES=$tmp/modules

# distribution COMMAND...: a node that has these commands and three kernels
distribution()
{
	local command

	rm -rf "${tmp:?}/bin" "$BOOT" "$MODULES" "$tmp/called"
	mkdir -p "$tmp/bin" "$BOOT" "$MODULES"/{5.14.0-1,6.12.1,7.2}
	: >"$tmp/called"
	for command in sh grep cat; do
		ln -s "$(command -v $command)" "$tmp/bin/"
	done
	for command; do
		case $command in
		ls*) printf '#!/bin/sh\ncat "$1"\n' ;;
		*) printf '#!/bin/sh\necho "%s $*" >>"%s/called"\n' "$command" "$tmp" ;;
		esac >"$tmp/bin/$command"
		chmod +x "$tmp/bin/$command"
	done
}

# image NAME [MODULE]: an image with one module, of which the list is the content
image()
{
	echo "usr/lib/modules/x/kernel/${2:-mlx5_ib}.ko.xz" >"$BOOT/$1"
}

# renews LINE...: the commands that were called are these
renews()
{
	PATH=$tmp/bin sh packaging/renew-initramfs
	diff <(printf '%s\n' "$@" | sed '/^$/d') "$tmp/called"
}

debian()
{
	distribution lsinitramfs update-initramfs dracut lsinitrd
	image initrd.img-6.12.1
	image initrd.img-7.2 nvme
	image initrd.img-5.14.0-1 mlx5_ep
	image initrd.img-4.19-gone
	renews 'update-initramfs -u -k 5.14.0-1' 'update-initramfs -u -k 6.12.1'
}

el()
{
	distribution dracut lsinitrd
	image initramfs-5.14.0-1.img
	image initramfs-6.12.1.img nvme
	image initramfs-0-rescue-8d2f.img
	image initramfs-5.14.0-1kdump.img
	renews "dracut --force $BOOT/initramfs-5.14.0-1.img 5.14.0-1"
}

sles()
{
	distribution dracut lsinitrd
	image initrd-6.12.1
	image initrd-6.12.1-kdump
	renews "dracut --force $BOOT/initrd-6.12.1 6.12.1"
}

debian_dracut()
{
	distribution dracut lsinitrd
	image initrd.img-6.12.1
	image initrd.img-7.2 nvme
	renews "dracut --force $BOOT/initrd.img-6.12.1 6.12.1"
}

# An image that cannot be made is told, and the others are made all the same.
one_fails()
{
	distribution lsinitramfs update-initramfs
	image initrd.img-5.14.0-1
	image initrd.img-6.12.1
	echo '[ "$3" != 5.14.0-1 ]' >>"$tmp/bin/update-initramfs"
	code 1 env PATH="$tmp/bin" sh packaging/renew-initramfs
	grep -qxF "mlx5_ep: $BOOT/initrd.img-5.14.0-1 was not renewed:\
 update-initramfs -u -k 5.14.0-1 failed" "$tmp/err"
	grep -qx 'update-initramfs -u -k 6.12.1' "$tmp/called"
}

without()
{
	distribution lsinitrd
	image initrd-6.12.1
	renews ''
	distribution dracut lsinitrd
	renews ''
}

# hook MODULE...: what the hook of initramfs-tools adds to an image with these modules
hook()
{
	local module

	rm -rf "$tmp/image"
	mkdir -p "$tmp/image/usr/lib/modules/6.1.0/kernel"
	for module; do
		touch "$tmp/image/usr/lib/modules/6.1.0/kernel/$module.ko.xz"
	done
	echo 'manual_add_modules() { echo "$@"; }' >"$tmp/functions"
	DESTDIR=$tmp/image HOOK_FUNCTIONS=$tmp/functions sh packaging/initramfs-hook
}

# initramfs-tools of Debian 12 does not find it by the softdep.
hook_adds()
{
	[ "$(hook mlx5_core mlx5_ib)" = mlx5_ep ]
	[ -z "$(hook mlx5_core)" ]
	[ -z "$(DESTDIR=/ HOOK_FUNCTIONS=/dev/full sh packaging/initramfs-hook prereqs)" ]
}

plan 7
check 'Debian: update-initramfs, for kernels whose image has a module of ours' debian
check 'EL: dracut, and neither the image for rescue nor that for kdump' el
check 'SLES: dracut, under its name' sles
check 'Debian: dracut, under the name of initramfs-tools' debian_dracut
check 'one image that fails does not keep the others from being made' one_fails
check 'nothing without commands or images' without
check 'initramfs-tools: an image with mlx5_ib has mlx5_ep' hook_adds
ktap_finished
