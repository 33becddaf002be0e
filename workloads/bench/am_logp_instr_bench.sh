#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 1, mem: 1G, icount: yes, timeout: 300
#
# The costs of active messages and Split-C after Begel et al. (2001), in guest
# instructions a message and in nanoseconds of the guest's clock, beside raw verbs and
# UCX's active messages.
# build/selftests/bench/am_logp prints the whole table; the figure of the study is
# build/bench/logp.svg.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/bench/lib.sh
. selftests/bench/lib.sh

export UCX_TLS=rc_x UCX_NET_DEVICES=mlx5_0:1 UCX_VFS_ENABLE=n
json=$(build/selftests/bench/am_logp -j)
mkdir -p build/bench
workloads/logp/plot build/bench/logp <<<"$json"

# rows LIST FIELD...: prints the fields of each row of the list, by tabs
rows()
{
	jq -r ".$1[] | [$2] | @tsv" <<<"$json"
}

# word TEXT...: as a part of a name
word()
{
	local text="$*"

	text=${text//[^a-zA-Z0-9]/_}
	echo "${text//__/_}"
}

while IFS=$'\t' read -r name bytes send gap time; do
	name=logp_$(word "$name" "$bytes")
	bench_note "${name}_o_send" instructions "$send"
	bench_note "${name}_gap" instructions "$gap"
	bench_note "${name}_time" ns "$time"
done < <(rows primitives '.primitive, .bytes, .o_send, .gap, .time_low')
while IFS=$'\t' read -r policy category send gap time; do
	name=logp_am_request_$(word "$policy" "$category")
	bench_note "${name}_o_send" instructions "$send"
	bench_note "${name}_gap" instructions "$gap"
	bench_note "${name}_time" ns "$time"
done < <(rows placements '.policy, .category, .o_send, .gap, .time_low')
while IFS=$'\t' read -r what of value time; do
	bench_note "logp_$(word "$what" "$of")" instructions "$value"
	bench_note "logp_$(word "$what" "$of")_time" ns "$time"
done < <(rows adds '.what, .of, .instructions, .time')
