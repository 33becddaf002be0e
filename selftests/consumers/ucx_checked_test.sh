#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, mem: 2G, timeout: 240, kernels: 7.2
#
# All that UCX moves between two processes arrives, by plain verbs and by DevX,
# under stock and under a policy. make check-consumers runs more transports.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

export UCX_NET_DEVICES=$dev:1
# UCX starts a thread when it is loaded (libucs_fuse), and the program forks. Where the
# thread is inside a hooked mmap() at that time, it holds a lock of UCX, for which
# ucp_init() of the child waits for ever. This leaves the thread out.
export UCX_VFS_ENABLE=n

# arrives POLICY TRANSPORT
arrives()
{
	local status=0

	ep_policy "$1"
	UCX_TLS=$2 timeout $((90 * slowness)) build/bin/ucx_checked || status=$?
	ep_policy stock
	return $status
}

# notices: the program sees a byte that is not right
notices()
{
	UCX_TLS=rc_v code 1 timeout $((90 * slowness)) \
		build/bin/ucx_checked corrupt
	grep -q '^ucx_checked: parent: tag: byte 0 of 1$' "$tmp/err"
}

plan 6
for policy in stock independent; do
	check "$policy: plain verbs" arrives $policy rc_v
	check "$policy: DevX" arrives $policy rc_x
done
check 'a wrong byte is noticed' notices
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
