#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, long: yes, smp: 2, mem: 2G, timeout: 600, kernels: 7.2
#
# Where libmlx5ep-ucx leaves the work to UCX's hooks it says why, in one line, and a program
# of `mlx5ep run --strict` ends: with an older or a newer UCX, with knem or xpmem, without a
# watch, where a probe fails, and where UCX's calls go past the library.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/consumers/ucx.sh
. selftests/consumers/ucx.sh

tool=$PWD/build/bin/mlx5ep
limit=/sys/module/mlx5_ep/parameters/notifier_max_watches
program=(build/bin/ucx_cache '' 2)

# said NAME: what the library said in the run
said()
{
	grep '^mlx5ep-ucx: ' "$tmp/$1" || true
}

# declines TEXT [VARIABLE=VALUE...]: the program runs, by its hooks if nothing else; strict
# it ends before it has sent anything
declines()
{
	local text=$1

	shift
	ucx_run lax env "$@" "$tool" run -- "${program[@]}"
	prints "mlx5ep-ucx: $text" said lax
	ucx_stale lax nothing 0
	ucx_run quiet env "$@" MLX5EP_UCX=quiet "$tool" run -- "${program[@]}"
	prints '' said quiet
	ucx_run strict env "$@" "$tool" run --strict -- "${program[@]}"
	prints "mlx5ep-ucx: $text; strict: the program ends" said strict
	grep -qx 'exit status 1' "$tmp/strict"
	! grep stale "$tmp/strict" || fail 'it ran'
}

# by_hooks: in the last run the hooks did what they do without the library
by_hooks()
{
	ucx_stale lax 'munmap()' 0
	ucx_each lax some 1
}

older()
{
	declines 'UCX is older than 1.17: its hooks stay' \
		LD_PRELOAD="$PWD/build/selftests/ucx_old.so"
	by_hooks
}

newer()
{
	declines 'UCX is newer than what this library was run with: its hooks stay; see MLX5EP_UCX_NEWEST in libmlx5ep-ucx(7)' \
		MLX5EP_UCX_NEWEST=1.17
	by_hooks
	ucx_run newest env MLX5EP_UCX_NEWEST=1.99 MLX5EP_UCX=verbose "$tool" run --strict \
		-- "${program[@]}"
	grep -qx 'mlx5ep-ucx: UCX is told by mlx5_ep' "$tmp/newest"
	ucx_each newest 0
}

device()
{
	touch "$1"
	(declines "knem or xpmem is there: UCX's hooks stay" && by_hooks) || {
		rm "$1"
		return 1
	}
	rm "$1"
}

# A registration of the probe is the first one.
no_watch()
{
	local was

	was=$(cat $limit)
	echo 1 >$limit
	(declines 'no watch for a registration (No space left on device): while it exists UCX registers anew at each transfer') || {
		echo "$was" >$limit
		return 1
	}
	echo "$was" >$limit
	ucx_each lax 0
}

# A library in front answers the lookups itself, as a UCX would whose lookup is another.
no_lookup()
{
	cat >"$tmp/front.c" <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>

		void *ucs_pgtable_lookup(const void *table, unsigned long addr)
		{
			void *ucs = dlopen("libucs.so.0", RTLD_LAZY | RTLD_NOLOAD);
			void *(*real)(const void *, unsigned long) =
				dlsym(ucs, "ucs_pgtable_lookup");

			return real(table, addr);
		}
	END
	gcc -shared -fPIC -o "$tmp/front.so" "$tmp/front.c"
	for how in on strict; do
		ucx_run $how env MLX5EP_UCX=$how LD_PRELOAD="$tmp/front.so:$library" \
			"${program[@]}"
	done
	prints "mlx5ep-ucx: UCX's lookups do not come to libmlx5ep-ucx: UCX has hooks of mode reloc" \
		said on
	ucx_stale on 'munmap()' 0
	grep -q 'mmap installed events' "$tmp/on"
	grep -qx 'exit status 1' "$tmp/strict"
}

no_adapter()
{
	local how

	for how in verbose strict; do
		UCX_TLS=self,tcp UCX_NET_DEVICES=all ucx_run $how env MLX5EP_UCX=$how \
			LD_PRELOAD="$library" "${program[@]}"
		ucx_each $how 0
	done
	grep -qx 'mlx5ep-ucx: UCX uses no adapter: it has its hooks' "$tmp/verbose"
	prints '' said strict
}

# A plugin brings UCX, and its names are looked up in itself first. So is the program's
# libucs, if it has one.
compile_plugin()
{
	gcc -std=gnu11 -D_GNU_SOURCE -shared -fPIC -Dmain=plugin -Iselftests/programs \
		-o "$tmp/plugin.so" selftests/programs/ucx_cache.c \
		selftests/programs/ucx_link.c -lucp -lucm -lucs -lpthread
	cat >"$tmp/main.c" <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <stdio.h>

		int main(int argc, char **argv)
		{
			void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
			int (*run)(int argc, char **argv);

			run = plugin ? dlsym(plugin, "plugin") : NULL;
			if (!run)
				fprintf(stderr, "%s\n", dlerror());
			return run ? run(argc - 1, argv + 1) : 3;
		}
	END
	gcc -o "$tmp/without" "$tmp/main.c"
	gcc -o "$tmp/with" "$tmp/main.c" -Wl,--no-as-needed -lucs
}

# deepbind PROGRAM
deepbind()
{
	program=("$tmp/$1" "$tmp/plugin.so" '' 2)
	ucx_run deepbind env MLX5EP_UCX=verbose "$tool" run -- "${program[@]}"
	prints "mlx5ep-ucx: UCX's calls go past libmlx5ep-ucx (RTLD_DEEPBIND?): its hooks stay" \
		said deepbind
	ucx_stale deepbind 'munmap()' 0
	ucx_each deepbind some 1
	ucx_run strict "$tool" run --strict -- "${program[@]}"
	grep -qx 'exit status 1' "$tmp/strict"
}

plan 10
check 'an older UCX' older
check 'a newer UCX, unless the environment takes it' newer
check 'knem' device /dev/knem
check 'xpmem' device /dev/xpmem
check 'a registration without a watch' no_watch
check 'lookups that do not come to the library' no_lookup
check 'a context of UCX without an adapter has its hooks, and that is no failure' no_adapter
check 'a plugin with UCX is compiled' compile_plugin
check 'RTLD_DEEPBIND, in a program that is linked to libucs' deepbind with
check 'RTLD_DEEPBIND, in a program without UCX' deepbind without
ktap_finished
