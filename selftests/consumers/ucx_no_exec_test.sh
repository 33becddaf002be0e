#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, long: yes, smp: 2, mem: 2G, timeout: 200, kernels: 7.2
#
# A program that may not make memory executable, as a service of systemd with
# MemoryDenyWriteExecute: UCX cannot patch glibc there, and does without its cache. With
# libmlx5ep-ucx it has the cache, and nothing is stale.

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
	UCX_LOG_LEVEL=diag ucx_run hooks "$tmp/deny" build/bin/ucx_cache '' 5
	grep -q 'failed to install bistro hook' "$tmp/hooks"
	grep -q 'could not create UCP registration cache' "$tmp/hooks"
	ucx_each hooks 0
}

told()
{
	UCX_LOG_LEVEL=diag ucx_with_library told "$tmp/deny" build/bin/ucx_cache '' 5
	! grep 'could not create' "$tmp/told" || fail 'no cache'
	ucx_each told 0
}

plan 3
check 'a program that denies itself memory to execute is compiled' compile
check 'UCX has no hooks there, and no cache' hooks
check 'with the library it has the cache, and nothing is stale' told
ktap_finished
