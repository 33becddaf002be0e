#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: core, smp: 2, hca: 2, mem: 2G, timeout: 180
#
# The X-SRQ workload over two HCAs. It creates as many QPs as the paper says,
# each message arrives once, in order, at the SRQ that it names, and nothing is
# left.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

objects()
{
	simhca-ctl dump | jq -c '[.hcas[].alive | {qp, xrcd, srq, pd, cq}]'
}

# made: prints how many QPs the HCAs have created so far
made()
{
	simhca-ctl dump | jq '[.hcas[].commands.CREATE_QP.count // 0] | add'
}

# one NODES PPN NSRQ MESSAGES: runs xsrq, which creates one more QP to measure
# how much memory a registration takes
one()
{
	local before bytes

	before=$(made)
	xsrq -n "$1" -p "$2" -s "$3" -m "$4" | tee "$tmp/line"
	[ $(($(made) - before)) = $(($1 * $2 * 2 * ($1 - 1) + 1)) ] ||
		fail "$(($(made) - before)) QPs"
	grep -q "qps_per_node=$(($2 * 2 * ($1 - 1))) " "$tmp/line"
	grep -q "bsrq_qps_per_node=$(($2 * $2 * $3 * ($1 - 1))) " "$tmp/line"
	grep -q 'lost=0 corrupt=0 setup_us=[1-9][0-9]* ' "$tmp/line"
	# A registration takes kernel memory for a handle and two small objects;
	# a debug kernel adds red zones.
	bytes=$(sed -n 's/.* bytes_per_registration=\([0-9]*\)$/\1/p' "$tmp/line")
	[ "$bytes" -gt 64 ]
	[ "$bytes" -lt $((2048 * slowness)) ]
	becomes 10 "$base" objects
}

plan 5
xsrq -n 2 -p 1 -s 1 -m 1 >/dev/null
base=$(objects)
check '2 nodes x 1 process x 1 SRQ' one 2 1 1 50
check '2 nodes x 4 processes x 2 SRQs' one 2 4 2 20
check '2 nodes x 2 processes x 8 SRQs' one 2 2 8 10
check '4 nodes x 2 processes x 2 SRQs' one 4 2 2 10
check 'the HCAs have nothing to complain of' both_clean
ktap_finished
