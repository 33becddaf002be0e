#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Open MPI 5.0.7 over shared memory (--mca pml ob1 --mca btl self,sm; Debian trixie, UCX 1.18.1), on a
# machine without an adapter: when MPI_Init() is done libucp is loaded, since a component that is not
# chosen is linked to it, and eight functions of libc have other code than their file. Leaving Open MPI's
# own patcher out (--mca memory ^patcher) changes nothing; UCX_MEM_MMAP_HOOK_MODE=none leaves libc as it was.
# Guessed before: --mca pml ob1 leaves UCX out, and who patches libc is Open MPI.
# Seen on 2026-11-29.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/chroot.sh
source "$(dirname "$0")/lib/chroot.sh"
start
make_root trixie openmpi-bin=5.0.7-1 libopenmpi-dev=5.0.7-1 libucx0=1.18.1+ds-2+b1 gcc libc6-dev
# shellcheck disable=SC2016 # expanded in the chroot
alone=yes in_root trixie '
	cd /tmp || exit
	cat >p.c <<-"END"
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <mpi.h>
	#include <stdio.h>
	#include <string.h>

	static const char *const names[] = { "munmap", "mmap", "mremap", "madvise", "shmat",
					     "shmdt", "brk", "sbrk" };

	/* In the text of glibc an offset of the file is an offset in memory. */
	int main(int argc, char **argv)
	{
		char bytes[16];
		Dl_info info;
		FILE *file;
		int i, n = 0;

		MPI_Init(&argc, &argv);
		printf("UCX is %s, patched:", dlopen("libucp.so.0", RTLD_NOW | RTLD_NOLOAD) ?
		       "loaded" : "not loaded");
		for (i = 0; i < 8; i++) {
			void *code = dlsym(RTLD_DEFAULT, names[i]);

			if (!dladdr(code, &info) || !(file = fopen(info.dli_fname, "r")) ||
			    fseek(file, (char *)code - (char *)info.dli_fbase, SEEK_SET) ||
			    fread(bytes, sizeof(bytes), 1, file) != 1)
				return 3;
			fclose(file);
			if (memcmp(bytes, code, sizeof(bytes)))
				n += printf(" %s", names[i]);
		}
		printf("%s\n", n ? "" : " none");
		MPI_Finalize();
		return 0;
	}
	END
	mpicc -o p p.c || exit
	run() { mpirun --oversubscribe -n 1 --mca pml ob1 --mca btl self,sm "$@" ./p 2>&1; }
	run
	run --mca memory ^patcher
	UCX_MEM_MMAP_HOOK_MODE=none run' >"$work/got"
cat >"$work/want" <<'END'
UCX is loaded, patched: munmap mmap mremap madvise shmat shmdt brk sbrk
UCX is loaded, patched: munmap mmap mremap madvise shmat shmdt brk sbrk
UCX is loaded, patched: none
END
verdict "$work/want" "$work/got" 'Open MPI 5.0.7 loads a UCX that it does not use, which patches libc'
