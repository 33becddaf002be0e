#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: core
#
# mlx5ep doctor on made-up sysfs and debugfs trees: it finds each fault, names a remedy
# that is there, and puts no program's name into a command.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

tool=${TOOL:-$PWD/build/bin/mlx5ep}
# shellcheck source=selftests/tool/fake.sh
. selftests/tool/fake.sh

# node: a machine on which doctor finds nothing wrong
node()
{
	fresh
	fake mlx5_0 0000:01:00.0 attached
	mkdir -p "$root/proc/sys/kernel" "$root/etc/modprobe.d"
	echo 6.12.1-amd64 >"$root/proc/sys/kernel/osrelease"
	echo 'softdep mlx5_ib pre: mlx5_ep' >"$root/etc/modprobe.d/a.conf"
}

# finds CODE PATTERN: doctor ends with CODE, and a line of its report matches
finds()
{
	code "$1" "$tool" doctor
	grep -Eq "$2" "$tmp/out" || fail "doctor does not say: $2"
}

nothing_wrong()
{
	node
	finds 0 '^ok: mlx5_0: attached'
	must_fail grep 'the module has no ' "$tmp/out"
	code 0 "$tool" -j doctor
	jq -e 'all(.[]; .verdict != "problem")' "$tmp/out"
	code 1 "$tool" -d mlx5_9 doctor
	grep -q '^problem: mlx5_9: no such mlx5 device' "$tmp/out"

	# EL 8 has 4.18: no version is a problem by itself.
	echo 4.18.0 >"$root/proc/sys/kernel/osrelease"
	finds 0 '^ok: kernel: 4.18.0'
}

boot_order()
{
	node
	echo '# softdep mlx5_ib pre: mlx5_ep' >"$root/etc/modprobe.d/a.conf"
	finds 1 '^problem: boot order'
	grep -q "echo 'softdep mlx5_ib pre: mlx5_ep post: ib_uverbs' >" "$tmp/out"
	! grep -q "' >/etc/security" "$tmp/out" || fail 'what is there is lost'
	echo 'softdep mlx5_ep pre: mlx5_ib' >"$root/etc/modprobe.d/a.conf"
	finds 1 '^problem: boot order'
	echo 'softdep mlx5_ib pre: other post: mlx5_ep' \
		>"$root/etc/modprobe.d/a.conf"
	finds 1 '^problem: boot order'
	echo ' softdep mlx5-ib post: other pre: other mlx5-ep' \
		>"$root/etc/modprobe.d/a.conf"
	finds 0 '^ok: boot order'
}

# Of several softdep lines for mlx5_ib the first one counts, whatever folder it is in.
first_softdep()
{
	local ours='softdep mlx5_ib pre: mlx5_ep' lib=$root/usr/lib/modprobe.d
	local modules=$root/lib/modules/6.12.1-amd64

	node
	mkdir -p "$lib" "$modules"
	mv "$root/etc/modprobe.d/a.conf" "$root/etc/modprobe.d/mlx5_ep.conf"
	echo 'softdep mlx5_ib pre: other' >"$lib/a.conf"
	finds 1 "^problem: boot order: .* that of .*/lib/modprobe.d/a.conf, .*/mlx5_ep.conf$"
	grep -q "mend with: write 'pre: mlx5_ep' into that line of .*/a.conf, then" "$tmp/out"
	ln -s /dev/null "$root/etc/modprobe.d/a.conf"
	finds 0 '^ok: boot order'
	rm "$lib/a.conf" "$root/etc/modprobe.d/a.conf"
	echo "$ours" >"$modules/modules.softdep"
	echo 'softdep mlx5_ib pre: other' >"$root/etc/modprobe.d/z.conf"
	finds 0 '^ok: boot order'
	echo "softdep mlx5_ib pre: other" >"$modules/modules.softdep"
	mv "$root/etc/modprobe.d/mlx5_ep.conf" "$root/etc/modprobe.d/my.conf"
	finds 1 '^problem: boot order: .* that of .*/modules.softdep, and not that of '
	grep -q "mend with: echo 'softdep mlx5_ib pre: mlx5_ep .*modprobe.d/mlx5_ep.conf, whose" \
		"$tmp/out"
}

# asked_modprobe: does modprobe load mlx5_ep before mlx5_ib?
asked_modprobe()
{
	modprobe -C "$root/etc/modprobe.d" -d "$root" -S 6.12.1-amd64 -n -v mlx5_ib |
		sed 's|.*/||' | paste -sd' ' | grep -q 'mlx5_ep.ko .*mlx5_ib.ko'
}

# What doctor says of two files is what modprobe does.
same_as_modprobe()
{
	local modules=$root/lib/modules/6.12.1-amd64 conf=$root/etc/modprobe.d
	local line wants

	node
	mkdir -p "$modules"
	touch "$modules"/{mlx5_ib,mlx5_ep,other}.ko
	depmod -b "$root" 6.12.1-amd64 2>/dev/null
	mv "$conf/a.conf" "$conf/m.conf"
	while read -r line; do
		for file in a.conf Z.conf z.conf 10.conf; do
			printf '%b\n' "$line" >"$conf/$file"
			wants=1
			! asked_modprobe || wants=0
			code $wants "$tool" doctor || fail "$wants $file: $line"
			rm "$conf/$file"
		done
	done <<-'END'
	softdep mlx5_ib pre: other
	softdep mlx5-ib pre: other
	softdep mlx5_* pre: other
	softdep mlx5[_-]ib pre: other
	softdep mlx5?ib post: mlx5_ep
	softdep mlx5_ib pre: other mlx5-ep post: other
	softdep mlx5_ib
	softdep mlx5_ib pre:
	softdep mlx5_ib pre: other\nsoftdep mlx5_ib pre: mlx5_ep
	softdep \\\nmlx5_ib pre: \\\nother
	# softdep mlx5_ib pre: other
	\tsoftdep\tmlx5_ib\tpre:\tother
	softdep mlx5_ib pre: mlx5_ep # a note
	softdep mlx5_ibx pre: other
	blacklist mlx5_ep
	END
	# The module's own line counts as that of a file with the name modules.softdep.
	echo 'softdep mlx5_ib pre: other' >"$modules/modules.softdep"
	for file in a modules modules-local modules.softdep my z; do
		mv "$conf/m.conf" "$conf/$file.conf"
		wants=1
		! asked_modprobe || wants=0
		echo "$wants" >>"$tmp/answers"
		code $wants "$tool" doctor || fail "$wants $file.conf and the module"
		mv "$conf/$file.conf" "$conf/m.conf"
	done
	sort -u "$tmp/answers" | paste -sd' ' | grep -qx '0 1'
}

# image NAME LISTER FILE...: an initramfs of the fake kernel, which LISTER lists
image()
{
	rm -rf "${root:?}/boot" "$tmp/listers"
	mkdir -p "$root/boot" "$tmp/listers"
	: >"$root/boot/$1"
	{
		echo '#!/bin/sh'
		printf '[ "$1" = "%s" ] || exit 1\n' "$root/boot/$1"
		printf 'echo "%s"\n' "${@:3}"
	} >"$tmp/listers/$2"
	chmod +x "$tmp/listers/$2"
}

initramfs()
{
	local ib=usr/lib/modules/6.12.1-amd64/kernel/mlx5_ib.ko.xz
	local ep=usr/lib/modules/6.12.1-amd64/updates/dkms/mlx5_ep.ko.xz
	local conf=etc/modprobe.d/mlx5_ep.conf image
	local -x PATH=$tmp/listers:$PATH

	node
	code 0 "$tool" doctor
	! grep -q initramfs "$tmp/out" || fail 'there is none'

	image initrd.img-6.12.1-amd64 lsinitramfs bin/sh etc/mlx5_ib.kocher
	finds 0 '^ok: initramfs: holds no mlx5_ib'
	image initrd.img-6.12.1-amd64 lsinitramfs "$ib"
	finds 1 '^problem: initramfs: holds mlx5_ib and no mlx5_ep'
	grep -q 'mend with: update-initramfs -u -k 6.12.1-amd64$' "$tmp/out"
	image initrd.img-6.12.1-amd64 lsinitramfs "$ib" "$ep"
	finds 0 '^warning: initramfs: .* no modprobe.d/mlx5_ep.conf'
	image initrd.img-6.12.1-amd64 lsinitramfs "$ib" "$ep" "$conf"
	finds 0 '^ok: initramfs: holds mlx5_ib, and mlx5_ep to be loaded before'
	# The name initrd.img-RELEASE is dracut's too, on Debian and Ubuntu.
	for image in initrd.img-6.12.1-amd64 initramfs-6.12.1-amd64.img \
		initrd-6.12.1-amd64; do
		image "$image" lsinitrd "/$ib"
		printf '#!/bin/sh\nexit 1\n' >"$tmp/listers/lsinitramfs"
		chmod +x "$tmp/listers/lsinitramfs"
		finds 1 '^problem: initramfs: holds mlx5_ib and no mlx5_ep'
		grep -q "mend with: dracut --force .*/boot/$image 6.12.1-amd64$" \
			"$tmp/out"
	done
	echo 'exit 1' >>"$tmp/listers/lsinitrd"
	finds 0 '^warning: initramfs: .* cannot be listed'
	rm "$tmp/listers/lsinitrd"
	finds 0 '^warning: initramfs: .* cannot be listed'
	grep -Eq 'install dracut, which has lsinitrd|sudo mlx5ep doctor' "$tmp/out"
	# The image of another kernel says nothing of this one.
	image initrd.img-6.1.0 lsinitramfs "$ib"
	code 0 "$tool" doctor
	! grep -q initramfs "$tmp/out" || fail 'it is of another kernel'
	rm -rf "${root:?}/boot"
}

settings()
{
	local ep=$root/sys/class/infiniband/mlx5_0/mlx5_ep

	node
	echo N >"$root/sys/module/mlx5_ep/parameters/attach"
	finds 1 '^problem: attaching'
	echo Y >"$root/sys/module/mlx5_ep/parameters/attach"
	echo 2 >"$ep/abi_version"
	finds 1 '^problem: mlx5_0: module speaks ABI 2'
	echo 1 >"$ep/abi_version"
	# The budget in force is 6144 of 8192 pages.
	echo 5529 >"$ep/uar_in_use"
	code 0 "$tool" doctor
	grep -q 'UAR pages in use' "$tmp/out" && fail 'not yet nine tenths'
	echo 5530 >"$ep/uar_in_use"
	finds 0 '^warning: mlx5_0: 5530 of 6144 UAR pages'
	grep -q 'mlx5ep -d mlx5_0 set --budget 8192$' "$tmp/out"
	echo 100 | tee "$ep/uar_budget" >"$ep/uar_budget_effective"
	echo 90 >"$ep/uar_in_use"
	finds 0 '^warning: mlx5_0: 90 of 100 UAR pages'
	grep -q 'mlx5ep -d mlx5_0 set --budget 200 # at most the UAR pages of the device$' "$tmp/out"
	rm "$ep/uar_budget_effective"	# a module of before
	finds 0 '^warning: mlx5_0: 90 of 100 UAR pages'
	# User 1000 has 21 of the UAR pages.
	echo 100 >"$ep/uar_user_limit"
	code 0 "$tool" doctor
	! grep -q 'user 1000' "$tmp/out" || fail 'a fifth of the limit is nothing'
	echo 22 >"$ep/uar_user_limit"
	finds 0 '^warning: mlx5_0: user 1000 holds 21 of 22 UAR pages'
	# The first of three holds little.
	printf '%s\n' 'uid contexts pages' '1000 1 2' '1001 2 21' '1002 1 22' \
		>"$root/sys/kernel/debug/mlx5_ep/0000:01:00.0/users"
	finds 0 '^warning: mlx5_0: user 1001 holds 21 of 22 UAR pages'
	finds 0 '^warning: mlx5_0: user 1002 holds 22 of 22 UAR pages'
	! grep -q 'user 1000' "$tmp/out" || fail 'a tenth of the limit is nothing'
}

module_lacks()
{
	local ep=$root/sys/class/infiniband/mlx5_0/mlx5_ep

	node
	sed -i /notifier/d "$ep/uverbs_ids"
	finds 0 '^warning: mlx5_0: the module has no object notifier'
	rm "$ep/uverbs_ids"
	code 0 "$tool" doctor
	[ "$(grep -c '^warning: mlx5_0: the module has no ' "$tmp/out")" = 7 ]
	echo 3 >"$ep/uuar_fallbacks"
	finds 0 '^warning: mlx5_0: 3 contexts'
	rm -rf "$root/sys/kernel"
	finds 0 '^warning: debugfs'
	echo 'not attached: uverbs object 0x100a is taken' >"$ep/attached"
	finds 1 '^problem: mlx5_0: not attached: uverbs object 0x100a is taken'
	finds 1 'mend with: install a newer mlx5_ep'
	echo 'not attached: another module has changed its operations' \
		>"$ep/attached"
	finds 1 'mend with: unload that module, then mlx5ep attach mlx5_0'
}

# The rest of the device works: there is a warning, and what helps.
part_lacks()
{
	local line=', without uUAR policies: the device has no UAR pages of 4 KiB (uar_4k)'

	lacks "$line" 'boot a kernel with pages of 4 KiB'
	lacks ', without uUAR policies: the device has no write combining' \
		'mlx5ep -d mlx5_0 set --policy stock'
	lacks ', without recorded watches: this kernel fills memory that is looked at' \
		'boot another kernel, or install a newer mlx5_ep'
	lacks ', without methods on QPs: unknown uverbs definition' 'install a newer mlx5_ep'
}

# lacks WORDS REMEDY: doctor says what WORDS in `attached` say, and REMEDY
lacks()
{
	node
	echo "yes$1" >"$root/sys/class/infiniband/mlx5_0/mlx5_ep/attached"
	finds 0 "mend with: $2"
	grep -Fx "warning: mlx5_0: ${1#, }" "$tmp/out"
}

# A device from before the module has one half of it, and holds the module with contexts.
half_there()
{
	local ep=$root/sys/class/infiniband/mlx5_0/mlx5_ep
	local tables=$root/sys/kernel/debug/mlx5_ep/0000:01:00.0

	node
	finds 0 '^ok: unloading: mlx5_ep is held by mlx5_0'
	echo 'policies, limits; the rest when the device registers again' \
		>"$ep/attached"
	rm "$ep/uverbs_ids"
	printf '%s\n' 'pid policy managed comm' '7 stock 0 a' '8 independent 1 b' \
		>"$tables/contexts"
	finds 0 '^warning: mlx5_0: attached for policies and limits; '
	finds 0 'mend with: mlx5ep attach mlx5_0'
	! grep 'the module has no' "$tmp/out" || fail 'ids are looked for'
	finds 0 '^warning: mlx5_0: .* come when the device registers again$'
	echo 'policies, limits; the rest when ib_uverbs is loaded, without uUAR policies: 4 KiB' \
		>"$ep/attached"
	finds 0 '^warning: mlx5_0: .* come when ib_uverbs is loaded$'
	finds 0 'mend with: .*, or mlx5ep attach --uverbs mlx5_0, which ends nothing$'
	echo 'policies, limits; without the rest: ib_uverbs is not the one that mlx5_ep was compiled for, without uUAR policies: 4 KiB' \
		>"$ep/attached"
	finds 0 '^warning: mlx5_0: .* do not come: ib_uverbs is not the one that mlx5_ep was compiled for$'
	! grep 'mend with: mlx5ep attach' "$tmp/out" || fail 'the device would not be whole then'
	echo 'policies, limits; the rest when ib_uverbs is loaded, without uUAR policies: 4 KiB' \
		>"$ep/attached"
	finds 0 '^ok: unloading: mlx5_ep is held by b\[8\] \(a managed context\)$'
	code 0 "$tool" -j show
	jq -e '.devices[0] | .attached and .half' "$tmp/out"
	code 0 "$tool" show
	grep -x 'mlx5_0: policies and limits only: see mlx5ep doctor' "$tmp/out"
	mkdir -p "$root/proc/9/fd"
	echo c >"$root/proc/9/comm"
	ln -s 'anon_inode:[mlx5_ep_notifier]' "$root/proc/9/fd/3"
	finds 0 'held by b\[8\] \(a managed context\), c\[9\] \(a notifier\)$'
	rm -r "$root/proc/9"
	rm "$tables/contexts"
	finds 0 '^ok: unloading: nothing holds mlx5_ep: rmmod mlx5_ep$'
	echo 2 >"$root/sys/module/mlx5_ep/refcnt"
	finds 0 '^ok: unloading: mlx5_ep is held by others$'
	# debugfs has the devices of all network namespaces.
	mkdir "$root/sys/kernel/debug/mlx5_ep/0000:02:00.0"
	touch "$root/sys/kernel/debug/mlx5_ep/0000:02:00.0/contexts"
	finds 0 'held by the device of 0000:02:00.0 \(in another network namespace\), and others$'
	code 0 "$tool" -d mlx5_0 doctor
	grep -x 'ok: unloading: mlx5_ep is held by others' "$tmp/out"
	echo going >"$root/sys/module/mlx5_ep/initstate"
	finds 0 '^warning: unloading: rmmod waits for calls that are in the module'
}

no_module()
{
	node
	rm -rf "$root/sys/class/infiniband/mlx5_0/mlx5_ep"
	finds 1 'mend with: mlx5ep attach mlx5_0'
	rm -rf "$root/sys/module/mlx5_ep"
	mkdir -p "$root/lib/modules/6.12.1-amd64/updates/dkms"
	: >"$root/lib/modules/6.12.1-amd64/updates/dkms/mlx5_ep.ko.xz"
	finds 1 'mend with: modprobe mlx5_ep$'
	rm -rf "${root:?}/lib"
	mkdir -p "$root/usr/src/mlx5_ep-0.9.0" \
		"$root/lib/modules/6.12.1-amd64/build"
	finds 1 'mend with: dkms autoinstall -k 6.12.1-amd64'
	rm -rf "$root/sys/class"
	finds 1 '^problem: devices: no mlx5 device'
}

# module_files FILE...: the kernel has these files of the module, and modprobe knows the
# first one
module_files()
{
	local modules=$root/lib/modules/6.12.1-amd64 file

	rm -rf "$modules"
	for file; do
		mkdir -p "$modules/${file%/*}"
		: >"$modules/$file"
	done
	printf '%s:\n' kernel/a/mlx5_epoch.ko "$1" >"$modules/modules.dep"
}

# Which file modprobe loads is what depmod has written down.
file()
{
	local modules=$root/lib/modules/6.12.1-amd64

	node
	module_files updates/dkms/mlx5_ep.ko.xz
	finds 0 "^ok: file: $modules/updates/dkms/mlx5_ep.ko.xz$"
	module_files updates/mlx5_ep.ko updates/dkms/mlx5_ep.ko.xz
	finds 0 "^warning: file: of 2 files of mlx5_ep modprobe loads $modules/updates/mlx5_ep.ko, \
and not $modules/updates/dkms/mlx5_ep.ko.xz$"
	module_files extra/mlx5_ep/mlx5_ep.ko weak-updates/mlx5_ep/mlx5_ep.ko
	finds 0 '^warning: file: of 2 files'
	rm "$modules"/*/mlx5_ep/mlx5_ep.ko
	finds 1 '^problem: file: modprobe would load .*, which is gone$'
	grep -q 'mend with: depmod 6.12.1-amd64$' "$tmp/out"
	module_files updates/mlx5_ep.ko
	: >"$modules/modules.dep"
	finds 1 "^problem: file: modprobe does not know $modules/updates/mlx5_ep.ko$"
	grep -q 'mend with: depmod 6.12.1-amd64$' "$tmp/out"
}

# modinfo_says FIELD=TEXT...: modinfo of a machine on which it says this of each file
modinfo_says()
{
	local said

	mkdir -p "$tmp/listers"
	{
		printf '#!/bin/sh\ncase $2 in\n'
		for said; do
			printf '%s) echo "%s" ;;\n' "${said%%=*}" "${said#*=}"
		done
		echo 'esac'
	} >"$tmp/listers/modinfo"
	chmod +x "$tmp/listers/modinfo"
}

# DKMS installs a module that nobody has signed where openssl is missing.
unsigned()
{
	local -x PATH=$tmp/listers:$PATH

	node
	rm -rf "$root/sys/module/mlx5_ep"
	module_files updates/dkms/mlx5_ep.ko.xz
	modinfo_says version=1.0
	finds 1 'mend with: modprobe mlx5_ep$'
	mkdir -p "$root/sys/kernel/security" "$root/var/lib/dkms"
	: >"$root/var/lib/dkms/mok.pub"
	echo 'none [integrity] confidentiality' >"$root/sys/kernel/security/lockdown"
	finds 1 '^problem: module: mlx5_ep is installed and not signed, and this kernel'
	grep -q 'mend with: install openssl, ' "$tmp/out"
	modinfo_says sig_id=PKCS#7
	finds 1 '^problem: module: mlx5_ep is installed and not loaded, and this kernel'
	grep -q 'mend with: mokutil --import ' "$tmp/out"
}

# The version of the file that modprobe loads counts, whoever has put it there.
other_version()
{
	local -x PATH=$tmp/listers:$PATH

	node
	mkdir -p "$root/usr/src/mlx5_ep-1.0"
	echo 1.0 >"$root/sys/module/mlx5_ep/version"
	module_files extra/mlx5_ep/mlx5_ep.ko
	modinfo_says version=1.0
	finds 0 '^ok: module: mlx5_ep is loaded$'
	modinfo_says version=1.1
	finds 0 '^warning: module: .*: 1.1 is installed, and 1.0 runs until the next boot$'
}

# Without module and sources there is nothing that DKMS could build.
remedies_exist()
{
	fresh
	fake mlx5_0 0000:01:00.0
	finds 1 '^problem: module: mlx5_ep is not built'
	grep -q 'mend with: install mlx5-ep-dkms' "$tmp/out"
	mkdir -p "$root/usr/src/mlx5_ep-0.9.0"
	finds 1 '^problem: module: mlx5_ep is not built'
	grep -q 'mend with: .*, then dkms autoinstall' "$tmp/out"
	finds 1 '^problem: mlx5_0: not attached: the module is not loaded'
	grep -q 'mend with: modprobe mlx5_ep && mlx5ep attach mlx5_0' "$tmp/out"
}

# unreached NAME: a program of this name makes its QPs by DevX under a policy
unreached()
{
	local tables=$root/sys/kernel/debug/mlx5_ep/0000:01:00.0

	printf 'pid policy managed comm\n4711 independent 1 %b\n' "$1" \
		>"$tables/contexts"
	printf 'pid qpn placer\n4711 0x12 devx\n' >"$tables/qps"
	"$tool" doctor >"$tmp/out" || :
}

# An administrator copies what doctor says into a shell of root.
no_commands()
{
	local name

	fresh
	fake mlx5_0 0000:01:00.0 attached
	unreached 'ib_write.bw-2+'
	grep -q "set --exempt 'ib_write.bw-2+'\$" "$tmp/out"
	for name in '' "';reboot;:'" '$(reboot)' 'a b' '\033[2J' '\302\233m' 'x\\012reboot'; do
		unreached "$name"
		grep -q 'does not reach .*\[4711\]: it chooses' "$tmp/out"
		grep -q 'mend with: .* set --exempt with the name of process 4711$' \
			"$tmp/out" || fail "$(cat "$tmp/out")"
		! grep -q $'[\033\302]' "$tmp/out" || fail "$name is shown as it is"
	done
	unreached job
	echo "a'b" >"$root/sys/class/infiniband/mlx5_0/mlx5_ep/uuar_exempt"
	"$tool" doctor >"$tmp/out" || :
	grep -q 'set --exempt with the name of process 4711$' "$tmp/out"
}

# release SERIES: prints the release of the lab's kernel of this series
release()
{
	basename -a /usr/lib/modules/"$1".*
}

# installed KERNEL DRIVERS: modprobe finds the module that was compiled for KERNEL of the lab,
# and the drivers of DRIVERS
installed()
{
	local ours theirs at=$root/lib/modules/6.12.1-amd64 name file

	ours=$(release "$1")
	theirs=$(release "$2")
	rm -rf "$at"
	mkdir -p "$at/updates" "$at/kernel"
	cp "build/modules/$ours/mlx5_ep.ko" "$at/updates/"
	echo updates/mlx5_ep.ko: >"$at/modules.dep"
	for name in ib_core ib_uverbs mlx5_ib mlx5_core; do
		file=$(find "/usr/lib/modules/$theirs/kernel" -name "$name.ko*")
		cp "$file" "$at/kernel/"
		echo "kernel/${file##*/}:" >>"$at/modules.dep"
	done
}

# Each kernel of the lab has another build of the drivers. 6.1 and 6.12 compare versions of
# symbols, 7.2 and 7.3 do not.
drivers()
{
	local kernel other built=0

	node
	while read -r kernel other; do
		[ -e "build/modules/$(release "$kernel")/mlx5_ep.ko" ] || continue
		built=$((built + 1))
		installed "$kernel" "$kernel"
		finds 0 '^ok: drivers: mlx5_ep was compiled for those'
		installed "$kernel" "$other"
		finds 1 '^problem: drivers: .* another RDMA stack than that of .*/kernel/.*[.]ko.*: with it'
		grep -A 1 '^problem: drivers' "$tmp/out" |
			grep -q 'mend with: .*dkms build --force .* -k 6.12.1-amd64 '
	done <<-END
		6.12 6.1
		6.1 6.12
		7.2 7.3
		7.3 7.2
	END
	[ $built -gt 0 ]
	# What the kernel that was compiled for does not say is not guessed.
	truncate -s 100 "$root/lib/modules/6.12.1-amd64/updates/mlx5_ep.ko"
	finds 0 '^ok: file: '
	must_fail grep '^problem: drivers' "$tmp/out"
}

# A line for all users is none for root, who calls doctor more often than others.
locked_memory()
{
	node
	(ulimit -l 64 && finds 0 '^warning: locked memory: at most 64 KiB')
	sed -n '/^warning: locked memory/{n;s/.*mend with: //p}' "$tmp/out" >"$tmp/remedy"
	sed -i "s,/etc/security/limits.d/rdma.conf,$tmp/rdma.conf," "$tmp/remedy"
	bash "$tmp/remedy"
	diff "$tmp/rdma.conf" - <<-'END'
		* - memlock unlimited
		root - memlock unlimited
	END
}

plan 17
check 'nothing is wrong but the device that is not there' nothing_wrong
check 'the boot order' boot_order
check 'an administrator may have switched the order off' first_softdep
check 'the boot order is what modprobe says' same_as_modprobe
check 'the initramfs' initramfs
check 'settings, budgets and limits' settings
check 'a module that is older, fell back or is not attached' module_lacks
check 'a device that lacks a part' part_lacks
check 'a device from before the module, and who holds that' half_there
check 'no module, none for this kernel, no device' no_module
check 'a remedy is one that is there' remedies_exist
check 'the file that modprobe loads' file
check 'drivers that are others than the module was compiled for' drivers
check 'a module that nobody has signed' unsigned
check 'another version is installed than runs' other_version
check 'a limit of locked memory, for users and for root' locked_memory
check "a program's name gets into no command" no_commands
ktap_finished
