#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 600
#
# Secure Boot, as far as an emulated machine has it: OVMF with Microsoft's keys, and
# shim, GRUB and kernel as Debian has signed them. Where the machine's owner has
# enrolled the key (MOK) that has signed mlx5_ep, the kernel loads the module. It
# refuses one without a signature or with that of another key, and each module while
# the key is not enrolled. mokutil says which of the two it is.
#
# The key is enrolled in both ways: from outside, into the variables of the firmware, as
# who makes images for machines does; and by mokutil --import in one boot and MokManager
# in the next, whose screens the test answers at the serial console. The guest has no HCA
# and no root file system: it runs from its initramfs.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

kernel=${MLX5_EP_KERNEL:-7.2}
release=$(basename /lib/modules/"$kernel".*)
headers=/lib/modules/$release/build
# The owner of the variables of shim.
shim_guid=605dab50-e046-4300-abb6-3dd810dd8b23
root=$tmp/root
# MokManager asks for this once.
password=endpoint12

# programs FILE...: copies programs and the libraries that they need to the initramfs
programs()
{
	local file

	for file; do
		install -D "$file" "$root/bin/${file##*/}"
		ldd "$file" | grep -oE '/[^ ]+'
	done | sort -u | while read -r file; do
		install -D "$(readlink -f "$file")" "$root/lib/${file##*/}"
	done
	ln -sfn lib "$root/lib64"
}

# key NAME: makes a key as Documentation/administration.md says
key()
{
	openssl req -new -x509 -nodes -days 3650 -newkey rsa:2048 \
		-subj "/CN=$1/" -addext extendedKeyUsage=codeSigning \
		-outform DER -keyout "$tmp/$1.key" -out "$tmp/$1.pub" 2>"$tmp/err"
}

# modules: the drivers, and mlx5_ep without a signature and with one of each key
modules()
{
	local ko name

	mkdir -p "$root/modules"
	modprobe -S "$release" -a --show-depends efivarfs mlx5_ib ib_uverbs |
		sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++' |
		while read -r ko; do
			name=$(basename "${ko%%.ko*}").ko
			case $ko in
			*.xz) xz -dc "$ko" ;;
			*) cat "$ko" ;;
			esac >"$root/modules/$name"
			echo "$name"
		done >"$root/order"
	strip -g -o "$root/none.ko" "build/modules/$release/mlx5_ep.ko"
	for name in owner other; do
		cp "$root/none.ko" "$root/$name.ko"
		"$headers/scripts/sign-file" sha256 "$tmp/$name.key" \
			"$tmp/$name.pub" "$root/$name.ko"
		cp "$tmp/$name.pub" "$root/"
	done
}

# The lines of the guest begin with "test: ".
guest()
{
	cat <<-'END'
	#!/bin/busybox sh
	/bin/busybox --install -s /bin
	export PATH=/bin LD_LIBRARY_PATH=/lib
	mount -t proc proc /proc
	mount -t sysfs sys /sys
	mount -t devtmpfs dev /dev
	mount -t securityfs security /sys/kernel/security
	say()
	{
		echo "test: $*" >/dev/ttyS0
	}
	while read -r file; do
		insmod /modules/$file || say cannot load $file
	done </order
	mount -t efivarfs efivars /sys/firmware/efi/efivars
	if grep -qw import /proc/cmdline; then
		printf '%s\n' PASSWORD PASSWORD | mokutil --import /owner.pub
		say import: $? $(mokutil --list-new | grep -o 'Subject: CN=owner')
		say end
		poweroff -f
	fi
	say lockdown: $(cat /sys/kernel/security/lockdown)
	say state: $(mokutil --sb-state 2>&1)
	for name in owner other; do
		say key $name: $(mokutil --test-key /$name.pub 2>&1)
	done
	for name in none other owner; do
		insmod /$name.ko
		say module $name: $? $(ls -d /sys/module/mlx5_ep 2>/dev/null)
		rmmod mlx5_ep
	done
	say end
	poweroff -f
	END
}

machine()
{
	parts=$(lab/fetch secure-boot ovmf shim-signed \
		shim-helpers-amd64-signed \
		grub-efi-amd64-signed mokutil libefivar1t64 libkeyutils1 \
		python3-virt-firmware python3-cryptography \
		python3-cffi-backend python3-bcrypt \
		python3-importlib-resources python3-pefile)
	echo "$parts" >"$tmp/parts"
	lab/build-module "$kernel"
	mkdir -p "$root"/{bin,dev,lib,proc,sys} \
		"$tmp"/esp/EFI/{BOOT,debian}
	key owner
	key other
	LD_LIBRARY_PATH=$parts/usr/lib/x86_64-linux-gnu \
		programs /usr/bin/busybox "$parts/usr/bin/mokutil"
	modules
	guest | sed "s/PASSWORD/$password/g" >"$root/init"
	chmod +x "$root/init"
	(cd "$root" && find . | cpio --quiet -o -H newc -R 0:0) >"$tmp/esp/initrd"
	cp "$parts/usr/lib/shim/shimx64.efi.signed" "$tmp/esp/EFI/BOOT/BOOTX64.EFI"
	cp "$parts/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed" \
		"$tmp/esp/EFI/BOOT/grubx64.efi"
	cp "$parts/usr/lib/shim/mmx64.efi.signed" "$tmp/esp/EFI/BOOT/mmx64.efi"
	cp "$(lab_image)" "$tmp/esp/vmlinuz"
	openssl x509 -inform DER -in "$tmp/owner.pub" -out "$tmp/owner.pem"
}

# lab_image: prints the file of the kernel
lab_image()
{
	(. lab/lib.sh && lab_kernel "$kernel" && echo "$kimage")
}

# firmware [OPTION...]: its variables, with these options of virt-fw-vars
firmware()
{
	local parts

	parts=$(cat "$tmp/parts")
	PYTHONPATH=$parts/usr/lib/python3/dist-packages \
		python3 -m virt.firmware.vars \
		-i "$parts/usr/share/OVMF/OVMF_VARS_4M.ms.fd" \
		-o "$tmp/vars" --secure-boot "$@"
}

# power_on: the machine runs until it goes off or starts again. What is written to
# $tmp/serial.in is typed at the console.
power_on()
{
	local ovmf

	ovmf=$(cat "$tmp/parts")/usr/share/OVMF
	timeout $((120 * patience)) qemu-system-x86_64 -nodefaults -no-user-config \
		-display none -no-reboot -M q35,smm=on -cpu max,la57=off -m 1G \
		-accel tcg -serial chardev:serial \
		-chardev "pipe,id=serial,path=$tmp/serial,logfile=$tmp/console" \
		-global driver=cfi.pflash01,property=secure,value=on \
		-drive "if=pflash,format=raw,readonly=on,file=$ovmf/OVMF_CODE_4M.secboot.fd" \
		-drive "if=pflash,format=raw,file=$tmp/vars" \
		-drive "if=none,id=esp,format=raw,readonly=on,file=fat:$tmp/esp" \
		-device virtio-blk-pci,drive=esp,bootindex=0
}

# boot [WORD]: one boot of the guest, with this word on the kernel's command line
boot()
{
	cat >"$tmp/esp/EFI/debian/grub.cfg" <<-END
	linux /vmlinuz console=ttyS0 loglevel=6 panic=-1 ${1-}
	initrd /initrd
	boot
	END
	power_on
	tr -d '\r' <"$tmp/console" | sed -n 's/^test: //p' >"$tmp/said"
	cat "$tmp/said"
	grep -qx end "$tmp/said" || { tail -c 2000 "$tmp/console"; return 1; }
}

# secure: what each boot says, whichever key is enrolled
secure()
{
	boot
	grep -qx 'lockdown: none \[integrity\] confidentiality' "$tmp/said"
	grep -qx 'state: SecureBoot enabled' "$tmp/said"
	grep -q '^key other: .* is not enrolled' "$tmp/said"
	grep -qx 'module other: [1-9][0-9]*' "$tmp/said"
	grep -qx 'module none: [1-9][0-9]*' "$tmp/said"
	grep -q 'Loading of unsigned module is rejected' "$tmp/console"
	grep -q 'Loading of module with unavailable key is rejected' "$tmp/console"
}

owner_is_trusted()
{
	secure
	grep -q '^key owner: .* is already enrolled' "$tmp/said"
	grep -qx 'module owner: 0 /sys/module/mlx5_ep' "$tmp/said"
}

enrolled()
{
	firmware --add-mok $shim_guid "$tmp/owner.pem"
	owner_is_trusted
}

not_enrolled()
{
	firmware
	secure
	grep -q '^key owner: .* is not enrolled' "$tmp/said"
	grep -qx 'module owner: [1-9][0-9]*' "$tmp/said"
}

# shown TEXT: is that on the screen that the console shows now?
shown()
{
	tr '\033' '\n' <"$tmp/console" | tail -n "+$((seen + 1))" | grep -qF "$1"
}

# answer TEXT KEYS: types KEYS when TEXT is on a screen that was not answered so far
answer()
{
	wait_for 60 shown "$1"
	seen=$(tr '\033' '\n' <"$tmp/console" | wc -l)
	printf '%b' "$2" >"$tmp/serial.in"
}

# manager: answers the screens of MokManager as an administrator does
manager()
{
	local seen=0 down='\033[B'

	answer 'Press any key to perform MOK management' ' '
	answer 'Enroll MOK' "$down\\r"
	answer 'View key 0' "$down\\r"
	answer 'Enroll the key' "$down\\r"
	answer 'Password:' "$password\\r"
	answer 'Reboot' '\r'
}

# A request by mokutil is for the next boot, which MokManager ends by another one.
imported()
{
	firmware
	boot import
	grep -qx 'import: 0 Subject: CN=owner' "$tmp/said"
	: >"$tmp/console"
	manager &
	power_on
	wait $!
	owner_is_trusted
}

plan 4
check 'there is a machine with Secure Boot' machine
mkfifo "$tmp/serial.in" "$tmp/serial.out"
# It reads on when a boot has ended.
cat <>"$tmp/serial.out" >/dev/null &
reader=$!
check 'a module that the owner has signed is loaded, and no other' enrolled
check 'as long as the key is not enrolled, it is refused too' not_enrolled
check 'mokutil --import and MokManager enroll the key' imported
kill $reader 2>/dev/null || :
ktap_finished
