#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 120
#
# By what a guest sees its root and the checkout: 9P, or virtiofs where its kernel has no
# 9P, as those of RHEL. The files of the checkout work by both as on a disk.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# shellcheck disable=SC1091
rel=$(. lab/lib.sh && lab_release 6.12)
# A guest sees what is below the checkout.
work=build/lab/shares.$$
trap 'rm -rf "$work" "$tmp"' EXIT
modules=$tmp/modules
mkdir -p "$work" "$modules/kernel"
find "/usr/lib/modules/$rel/kernel" \( -name 'mlx5_core.ko*' -o -name 'mlx5_ib.ko*' \) \
	-exec cp -t "$modules/kernel" {} +

# recipe STATUS [SED-COMMAND]: makes a kernel ready whose configuration is changed so from
# that of one of the lab's, or which has none
recipe()
{
	rm -rf "$tmp/kernel"
	[ -z "${2-}" ] || sed "$2" "/boot/config-$rel" >"$tmp/config"
	code "$1" lab/kernel-recipe copy "$tmp/kernel" "$rel" \
		"/boot/vmlinuz-$rel" "$modules" "${2:+$tmp/config}"
}

# made SHARES LACKS: what a guest then sees its folders by, and what is not there for
# tests
made()
{
	[ "$(cat "$tmp/kernel/shares")" = "$1" ]
	[ "$(paste -sd' ' "$tmp/kernel/lacks")" = "$2" ]
}

by_configuration()
{
	recipe 0 s/x/x/
	made 9p ''
	recipe 0 /9P_FS=/d
	made virtiofs ''
	recipe 0 '/NET_9P_VIRTIO=/d; /_KSM=/d'
	made virtiofs CONFIG_KSM
	recipe 0 /VIRTIO_FS=/d
	made 9p ''
}

# One line says so, with the options of both.
by_neither()
{
	local gone

	for gone in FUSE_FS= VIRTIO_FS=; do
		recipe 1 "/9P_FS=/d; /$gone/d"
		[ "$(wc -l <"$tmp/err")" = 1 ]
		grep -q 'without 9P or virtiofs: .*_9P_FS .*, or .*_VIRTIO_FS,' \
			"$tmp/err"
	done
	recipe 1
	grep -q 'without 9P or virtiofs' "$tmp/err"
}

# Where there is no configuration, the lists of modules tell.
by_modules()
{
	echo kernel/fs/fuse/virtiofs.ko >"$modules/modules.order"
	recipe 0
	made virtiofs ''
	echo kernel/fs/9p/9p.ko >"$modules/modules.builtin"
	recipe 0
	made virtiofs ''
	echo kernel/net/9p/9pnet_virtio.ko >>"$modules/modules.order"
	recipe 0
	made 9p ''
}

# for the guest
cat >"$work/files.py" <<'END'
import mmap, os, subprocess, sys
os.chdir(sys.argv[1])
# a name with blanks, and a shared mapping of a file that is there and one that is new
with open("from outside", "r+b") as file, mmap.mmap(file.fileno(), 0) as pages:
    assert pages[:7] == b"outside"
    pages[:7] = b"changed"
with open("a  b", "w+b") as file:
    file.truncate(8192)
    with mmap.mmap(file.fileno(), 8192) as pages:
        pages[4096:4100] = b"new\n"
# a program, by its name and mapped private
os.chmod("program", 0o755)
assert subprocess.check_output(["./program", "arg"]) == b"runs arg\n"
# a file that has no name any more, and one that another takes the place of
with open("gone", "w+") as file:
    file.write("still there")
    file.flush()
    os.unlink("gone")
    assert not os.path.exists("gone")
    assert os.fstat(file.fileno()).st_nlink == 0
    file.seek(0)
    assert file.read() == "still there"
for name in "old", "new":
    with open(name, "w") as file:
        file.write(name)
os.rename("new", "old")
assert open("old").read() == "new" and not os.path.exists("new")
os.symlink("old", "link")
assert open("link").read() == "new"
with open("log", "a") as file:
    file.write("one\n")
with open("log", "a") as file:
    file.write("two\n")
os.mkfifo("pipe")
# an overlay above a folder of the checkout
os.makedirs("/tmp/over/upper")
os.makedirs("/tmp/over/work")
os.makedirs("/tmp/seen")
subprocess.check_call(["mount", "-t", "overlay", "-o",
                       f"lowerdir={os.getcwd()},upperdir=/tmp/over/upper,"
                       "workdir=/tmp/over/work", "over", "/tmp/seen"])
os.unlink("/tmp/seen/log")
with open("/tmp/seen/old", "a") as file:
    file.write(" above")
assert open("/tmp/seen/old").read() == "new above"
END

# The files of the checkout, and the root, to which nobody writes: outside it is a folder
# of the lab, which others use.
boots()
{
	printf '#!/bin/sh\necho runs "$@"\n' >"$work/program"
	echo outside >"$work/from outside"
	# shellcheck disable=SC2016 # for the guest
	code 0 lab/vm --hca 0 --shares virtiofs -- sh -ec '
		findmnt -rnT "$PWD" -o FSTYPE,SOURCE
		must_fail() { ! "$@" || exit 1; }
		must_fail grep -w 9p /proc/filesystems
		python3 "$1/files.py" "$1"
		mkdir /tmp/root
		mount -t virtiofs root /tmp/root
		mount -o remount,rw /tmp/root
		must_fail touch /tmp/root/usr/bin/written
		must_fail rm /tmp/root/usr/bin/strace
		touch /usr/bin/strace
		ls /tmp/root/usr/bin/strace' sh "$work"
	[ "$(sed -n 1p "$tmp/out")" = 'virtiofs top' ]
	[ "$(grep -c 'Read-only file system' "$tmp/err")" = 2 ]
	(cd "$work" && [ "$(cat 'from outside')" = changed ] && [ -p pipe ] &&
		[ "$(stat -c %s 'a  b')" = 8192 ] &&
		[ "$(tr -d '\0' <'a  b')" = new ] &&
		[ "$(cat log)" = $'one\ntwo' ] && [ "$(cat link)" = new ] &&
		[ ! -e gone ])
}

wrong_option()
{
	code 1 lab/vm --shares nfs -- true
	grep -qx 'vm: --shares is 9p or virtiofs, not nfs' "$tmp/err"
}

plan 5
check 'the configuration of a kernel says which one it is' by_configuration
check 'a kernel with neither is refused in one line' by_neither
check 'without a configuration the modules say it' by_modules
check 'what else is asked for is refused' wrong_option
check 'by virtiofs files are as on a disk, and the root is read-only' boots
ktap_finished
