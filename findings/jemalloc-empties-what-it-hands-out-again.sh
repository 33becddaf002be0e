#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A program that allocates a buffer, fills it and frees it, again and again (Debian trixie: glibc 2.41,
# jemalloc 5.3.0, gperftools 2.16, mimalloc 3.0.1), gets the same pages from each of the four. jemalloc
# empties a buffer of more than 7 MiB by madvise(MADV_DONTNEED) at each free(), and makes no other call: the
# same addresses have new pages, and nothing was unmapped or mapped. A buffer of 7 MiB keeps its
# pages. jemalloc's pointer also moves within its first page from one malloc() to the next, in all
# sizes, so a cache with the pointer as its key finds little. From 32 MiB on glibc and mimalloc unmap the buffer
# at each free(). tcmalloc never makes a call here. So a cache of registrations is of use up to 7
# MiB, up to 32 MiB or always, by the allocator.
# Guessed before: jemalloc keeps what is free for its ten seconds of decay, whatever the size, and
# gives a large buffer at the start of a page. Seen on 2026-11-30.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie libc6=2.41-12+deb13u5 libjemalloc2=5.3.0-3 libtcmalloc-minimal4t64=2.16-1 \
	libmimalloc3=3.0.1+ds-2.1 strace gcc libc6-dev
# shellcheck disable=SC2016 # expanded in the chroot
in_root trixie '
	cd /tmp || exit
	cat >p.c <<-"END"
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		size_t size = atol(argv[1]) << 10;
		void *last = NULL, *p;
		int i, same = 0, page = 0;
		for (i = 0; i < 12; i++) {
			/* What the first two rounds do is not counted. */
			if (i == 2 && write(2, "begin", 5) != 5)
				return 1;
			p = malloc(size);
			memset(p, 1, size);
			same += i >= 2 && p == last;
			page += i >= 2 && (long)p >> 12 == (long)last >> 12;
			last = p;
			free(p);
		}
		if (write(2, "end", 3) != 3)
			return 1;
		printf("%s address, %s page", same == 10 ? "one" : "another",
		       page == 10 ? "one" : "another");
		return 0;
	}
	END
	gcc -O1 -fno-builtin -o p p.c || exit
	calls() {
		echo "$1, $3 KiB:" $(strace -f -o calls -E LD_PRELOAD="$2" ./p "$3" 2>/dev/null
			sed -n "/\"begin\"/,/\"end\"/{/write(/!p}" calls |
			sed -E "s/^[0-9 ]*//; s/\(.*(MADV_[A-Z]*).*/ \1/; s/\(.*//" | sort | uniq -c |
			sed -nE "s/^ *[0-9]{2,} /; each time /p")
	}
	for size in 7168 7169 31744 32768; do
		calls glibc "" $size
		calls jemalloc libjemalloc.so.2 $size
		calls tcmalloc libtcmalloc_minimal.so.4 $size
		calls mimalloc libmimalloc.so.3 $size
	done' >"$work/got"
cat >"$work/want" <<'END'
glibc, 7168 KiB: one address, one page
jemalloc, 7168 KiB: another address, one page
tcmalloc, 7168 KiB: one address, one page
mimalloc, 7168 KiB: one address, one page
glibc, 7169 KiB: one address, one page
jemalloc, 7169 KiB: another address, one page; each time madvise MADV_DONTNEED
tcmalloc, 7169 KiB: one address, one page
mimalloc, 7169 KiB: one address, one page
glibc, 31744 KiB: one address, one page
jemalloc, 31744 KiB: another address, one page; each time madvise MADV_DONTNEED
tcmalloc, 31744 KiB: one address, one page
mimalloc, 31744 KiB: one address, one page
glibc, 32768 KiB: one address, one page; each time mmap ; each time munmap
jemalloc, 32768 KiB: another address, one page; each time madvise MADV_DONTNEED
tcmalloc, 32768 KiB: one address, one page
mimalloc, 32768 KiB: one address, one page; each time mmap ; each time munmap
END
verdict "$work/want" "$work/got" 'jemalloc empties a buffer above 7 MiB at each free() and hands the same pages out again'
