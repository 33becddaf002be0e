#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, module: later, hca: 0, guest: rxe, smp: 2, mem: 2G, timeout: 500
#
# Debian's UCX and libfabric on rdma_rxe, a real driver, where there is no mlx5 adapter:
# what they send and receive is the memory that the process sees, with libmlx5ep-ucx and
# libmlx5ep-fi, and is not with their own hooks.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh
# shellcheck source=selftests/notify/soft.sh
. selftests/notify/soft.sh
dev=$MLX5_EP_DEVICE
# shellcheck source=selftests/consumers/ucx.sh
. selftests/consumers/ucx.sh

# UCX 1.18 loses its datagrams on rxe where the GID is that of an IPv4 address.
export UCX_IB_GID_INDEX=0
# As in ucx_checked_test.sh
export UCX_VFS_ENABLE=n
rounds=5

# Plain verbs of the adapter, and nothing else, carry what is compared.
checked()
{
	local before after

	before=$(cat /sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_pkts)
	UCX_TLS=rc_v ucx_with_library checked build/bin/ucx_checked
	grep -q '^ucx_checked: put: [1-9][0-9]* right$' "$tmp/checked"
	grep -q '^ucx_checked: atomic: [1-9][0-9]* right$' "$tmp/checked"
	after=$(cat /sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_pkts)
	[ $((after - before)) -gt 1000 ] || fail "rxe0 got $((after - before)) packets"
}

hooks()
{
	ucx_run hooks build/bin/ucx_cache '' $rounds
	ucx_stale hooks 'munmap()' 0
	ucx_each hooks some 1
}

library()
{
	ucx_with_library library build/bin/ucx_cache '' $rounds
	ucx_each library 0
}

threads()
{
	ucx_with_library threads build/bin/ucx_cache threads $rounds
	ucx_stale threads '3 threads' 0
}

libfabric()
{
	build/selftests/mr_cache_libfabric_test >"$tmp/libfabric" 2>&1 || true
	! grep '^not ok' "$tmp/libfabric" || fail 'libfabric: not ok'
	[ "$(grep -c '^ok' "$tmp/libfabric")" -ge 18 ] || fail "$(tail -n 5 "$tmp/libfabric")"
}

plan 7
check 'rxe0 is there, and the module without mlx5_core' soft_begins
check 'UCX: what is moved arrives' checked
check 'UCX: hooks miss what does not pass them' hooks
check 'UCX: with the library nothing is stale' library
check 'UCX: threads that change memory meet nothing stale' threads
check 'libfabric: what its cache answers is what the process sees' libfabric
check 'the module unloads' soft_ends
ktap_finished
