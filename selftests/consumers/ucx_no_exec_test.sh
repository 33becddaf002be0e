#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, mem: 2G, timeout: 200, kernels: 7.2
#
# A program that may not make memory executable, as a service of systemd with
# MemoryDenyWriteExecute: UCX cannot patch glibc there, and its cache is blind to munmap()
# too. With libmlx5ep-ucx nothing is stale.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/consumers/ucx.sh
. selftests/consumers/ucx.sh

compile()
{
	cat >"$tmp/deny.c" <<-'END'
		#include <stdio.h>
		#include <sys/prctl.h>
		#include <unistd.h>

		#ifndef PR_SET_MDWE
		#define PR_SET_MDWE 65
		#endif

		int main(int argc, char **argv)
		{
			if (prctl(PR_SET_MDWE, 1, 0, 0, 0))
				perror("prctl");
			else
				execvp(argv[1], argv + 1);
			return 3;
		}
	END
	gcc -o "$tmp/deny" "$tmp/deny.c"
}

hooks()
{
	ucx_run hooks "$tmp/deny" build/bin/ucx_cache '' 5
	ucx_each hooks some
}

told()
{
	ucx_with_library told "$tmp/deny" build/bin/ucx_cache '' 5
	ucx_each told 0
}

plan 3
check 'a program that denies itself memory to execute is compiled' compile
check 'the hooks of UCX see nothing there' hooks
check 'with the library nothing is stale' told
ktap_finished
