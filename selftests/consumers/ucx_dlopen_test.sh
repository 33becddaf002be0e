#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: core, timeout: 60
#
# libmlx5ep-ucx finds the functions of a UCX that a program loads by dlopen(), as Open
# MPI loads its plugins: only the library that calls can see them.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

lib=$PWD/build/lib

# Stands for UCX: a library with the function, one that calls it, and one that calls it
# and does not depend on the first.
compile()
{
	cat >"$tmp/ucs.c" <<-'END'
		void *ucs_pgtable_lookup(const void *table, unsigned long addr)
		{
			return (void *)(addr + 1);
		}
	END
	cat >"$tmp/ucp.c" <<-'END'
		void *ucs_pgtable_lookup(const void *table, unsigned long addr);

		unsigned long call(unsigned long addr)
		{
			return (unsigned long)ucs_pgtable_lookup(0, addr);
		}
	END
	cat >"$tmp/main.c" <<-'END'
		#include <dlfcn.h>
		#include <sys/mman.h>

		/* It calls a function of the library, and closes that. */
		static int works(const char *name)
		{
			void *ucp = dlopen(name, RTLD_NOW | RTLD_LOCAL);
			unsigned long (*call)(unsigned long);
			int works;

			call = ucp ? dlsym(ucp, "call") : 0;
			works = call && call(41) == 42;
			return works && !dlclose(ucp);
		}

		/* The second time, the loader would choose another address. */
		int main(int argc, char **argv)
		{
			int i;

			for (i = 0; i < 2; i++) {
				if (!works(argv[1]))
					return 1;
				mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
				mmap(0, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			}
			return 0;
		}
	END
	gcc -shared -fPIC -o "$tmp/libucs.so" "$tmp/ucs.c"
	gcc -shared -fPIC -o "$tmp/libucp.so" "$tmp/ucp.c" -L"$tmp" -lucs \
		-Wl,-rpath,"$tmp"
	gcc -shared -fPIC -o "$tmp/libalone.so" "$tmp/ucp.c"
	gcc -o "$tmp/main" "$tmp/main.c"
}

program()
{
	LD_LIBRARY_PATH=$lib LD_PRELOAD=$lib/libmlx5ep-ucx.so.0 "$tmp/main" "$@"
}

is_found()
{
	program "$tmp/libucp.so"
}

is_missed()
{
	must_fail program "$tmp/libalone.so" 2>"$tmp/said"
	grep -x 'mlx5ep-ucx: no function ucs_pgtable_lookup; leave libmlx5ep-ucx out of LD_PRELOAD' \
		"$tmp/said"
}

plan 3
check 'libraries in the place of UCX are compiled' compile
check 'a function that only the caller sees is found, also after dlclose()' is_found
check 'a function that nobody has is named' is_missed
ktap_finished
