#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, mem: 2G, timeout: 400, kernels: 7.2
#
# Tagged messages of UCX by rendezvous, over DevX and over plain verbs: both sides
# keep the registrations of their buffers. See ucx_cache_test.sh for puts and gets.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/consumers/ucx.sh
. selftests/consumers/ucx.sh

rounds=5

hooks()
{
	UCX_TLS=$1 ucx_run hooks build/bin/ucx_cache message $rounds
	ucx_stale hooks 'munmap()' 0
	ucx_each hooks some 1
}

hooks_off()
{
	UCX_TLS=$1 UCX_MEM_MMAP_HOOK_MODE=none ucx_run hooks_off \
		build/bin/ucx_cache 'message hooks-off' $rounds
	ucx_each hooks_off some
}

library()
{
	UCX_TLS=$1 ucx_with_library library build/bin/ucx_cache message $rounds
	ucx_each library 0
}

# rendezvous: UCX moves the messages without a copy
rendezvous()
{
	UCX_PROTO_INFO=y UCX_LOG_LEVEL=info ucx_run proto \
		build/bin/ucx_cache message 1
	grep 'rendezvous.*zero-copy' "$tmp/proto" >/dev/null
}

plan 8
check 'messages go by rendezvous, without a copy' rendezvous
for tls in rc_x rc_v; do
	check "$tls: hooks miss what does not pass them" hooks $tls
	check "$tls: with hooks off all changes are missed" hooks_off $tls
	check "$tls: with the library nothing is stale" library $tls
done
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
