#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full, timeout: 120
#
# What QEMU starts a kernel from: the kernel inside of a bzImage, as its build left it,
# and the image itself where nothing better is known.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# The kernel of these images, and one that has no entry for PVH.
python3 - "$tmp" <<-'END'
	import struct, sys
	note = struct.pack("<III4sQ", 4, 8, 18, b"Xen\0", 0x1000000)
	for name, body in ("entry", note), ("none", b"\0" * len(note)):
	    with open(f"{sys.argv[1]}/{name}", "wb") as file:
	        file.write(b"\x7fELF" + bytes(range(256)) * 4000 + body)
END

# bzimage KERNEL COMMAND...: makes $tmp/image, with what COMMAND makes of KERNEL
bzimage()
{
	"${@:2}" <"$tmp/$1" >"$tmp/packed"
	python3 - "$tmp" "$1" "${2##*/}" <<-'END'
	import struct, sys
	tmp, kernel, how = sys.argv[1:]
	packed = open(f"{tmp}/packed", "rb").read()
	if how != "gzip":
	    packed += struct.pack("<I", len(open(f"{tmp}/{kernel}", "rb").read()))
	image = bytearray(5 * 512 + 100)
	image[0x1f1] = 4
	image[0x202:0x206] = b"HdrS"
	struct.pack_into("<H", image, 0x206, 0x20f)
	struct.pack_into("<II", image, 0x248, 100, len(packed))
	open(f"{tmp}/image", "wb").write(image + packed + b"behind")
	END
	rm -f "$tmp/out"
	lab/uncompressed "$tmp/image" "$tmp/out"
}

unpacked()
{
	bzimage entry "$@"
	cmp "$tmp/entry" "$tmp/out"
}

# What is no such kernel is copied.
copied()
{
	local packer

	bzimage none gzip
	cmp "$tmp/image" "$tmp/out"
	bzimage entry bzip2
	cmp "$tmp/image" "$tmp/out"
	bzimage entry zstd -q
	# Half of an image, and one whose kernel has another length than it says.
	head -c 3000 "$tmp/image" >"$tmp/half"
	lab/uncompressed "$tmp/half" "$tmp/out"
	cmp "$tmp/half" "$tmp/out"
	for packer in gzip xz zstd; do
		bzimage entry sh -c "$packer -c | tr '\\100-\\177' '\\0-\\77'"
		cmp "$tmp/image" "$tmp/out"
	done
	bzimage entry head -c 100
	cmp "$tmp/image" "$tmp/out"
	lab/uncompressed "$tmp/entry" "$tmp/out"
	cmp "$tmp/entry" "$tmp/out"
	: >"$tmp/empty"
	lab/uncompressed "$tmp/empty" "$tmp/out"
	cmp "$tmp/empty" "$tmp/out"
	[ -z "$(find "$tmp" -name 'out.*')" ]
}

refused()
{
	code 1 lab/uncompressed "$tmp/image"
	grep -q '^usage: ' "$tmp/err"
	code 1 lab/uncompressed "$tmp/absent" "$tmp/absent.out"
	[ ! -e "$tmp/absent.out" ]
}

plan 5
check 'zstd' unpacked zstd -q
check 'xz' unpacked xz --check=crc32 --x86 --lzma2
check 'gzip' unpacked gzip
check 'any other image is copied' copied
check 'wrong arguments are refused' refused
ktap_finished
