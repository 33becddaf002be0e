#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, mem: 2G, timeout: 240, kernels: 7.2
#
# All that UCX moves between two processes over its transport dc_mlx5 arrives, under
# stock and under a policy: queues and targets made by DevX, and by verbs.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

# ucx_checked changes no memory, see ucx_checked_test.sh.
export UCX_NET_DEVICES=$dev:1 UCX_MEM_EVENTS=n UCX_TLS=dc_x

# targets: how many DC targets were made so far
targets()
{
	simhca-ctl dump | jq '.hcas[0].commands.CREATE_DCT.count // 0'
}

# arrives POLICY: ... by targets that the adapter has made
arrives()
{
	local status=0 before

	before=$(targets)
	ep_policy "$1"
	timeout $((90 * slowness)) build/bin/ucx_checked || status=$?
	ep_policy stock
	[ "$(targets)" -gt "$before" ] || fail 'no target was made'
	return $status
}

plan 4
for policy in stock independent; do
	check "$policy: DevX" arrives $policy
done
export UCX_IB_MLX5_DEVX=n
check 'independent: verbs' arrives independent
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
