#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, mem: 2G, timeout: 7200, kernels: 7.2, long: yes
#
# A million rounds, in each of which a page is changed, sent and received into, through
# UCX with libmlx5ep-ucx: nothing is stale. See ucx_cache_test.sh for fewer.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/consumers/ucx.sh
. selftests/consumers/ucx.sh

all=${1:-1000000}
ucx_limit=$((6000 * slowness))
# Three threads make five of the changes each.
alone=$((all / 2 / ${#ucx_changes[@]}))
together=$((all / 2 / 15))

alone()
{
	ucx_with_library alone build/bin/ucx_cache '' $alone 1
	ucx_each alone 0
}

# Each round of a change registered a page once more.
told()
{
	local told

	told=$(sed -n 's/^mlx5ep-ucx: changed \([0-9]*\) .*/\1/p' "$tmp/alone")
	[ "$told" -ge $((${#ucx_changes[@]} * (alone - 1))) ] ||
		fail "told of $told changes"
}

together()
{
	ucx_with_library together build/bin/ucx_cache threads $together 1
	ucx_stale together '3 threads' 0
}

plan 4
check "$alone rounds of each change" alone
check 'the library told UCX of each change' told
check "three threads, $together rounds of each change" together
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
