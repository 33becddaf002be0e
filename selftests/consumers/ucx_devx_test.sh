#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, smp: 2, mem: 2G, timeout: 300, kernels: 7.2
#
# Debian's UCX with its default settings: rc_mlx5, whose queues DevX created.
# Each kind of traffic between two processes completes, and the HCA reports no
# complaint.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

export UCX_NET_DEVICES=$dev:1
# Only transports that do not use the HCA are excluded.
export UCX_TLS=ib
port=13337

listens()
{
	ss -Hltn "sport = :$1" | grep -q .
}

# perftest TEST SIZE: runs a server and a client, and checks the client's report
perftest()
{
	local server status=0

	port=$((port + 1))
	ucx_perftest -P 0 -p $port >"$tmp/server" 2>&1 &
	server=$!
	wait_for 20 listens $port || fail "the server does not listen"
	timeout $((60 * slowness)) ucx_perftest -P 0 -p $port -t "$1" -s "$2" \
		-n 200 -w 20 127.0.0.1 >"$tmp/client" 2>&1 || status=$?
	cat "$tmp/client"
	[ $status -eq 0 ] || kill $server 2>/dev/null || true
	wait $server || status=$?
	sed 's/^/server: /' "$tmp/server"
	grep -q '^Final:' "$tmp/client" || fail 'no figures'
	! grep -E 'ERROR|Assertion' "$tmp/client" "$tmp/server" || fail 'an error'
	return $status
}

# transport: UCX reports the transport that it chose
transport()
{
	UCX_PROTO_INFO=y UCX_LOG_LEVEL=info perftest tag_bw 4096
	cat "$tmp/client" "$tmp/server" | grep -o 'rc_mlx5' >/dev/null ||
		fail 'not rc_mlx5'
}

# devx_qps: prints the QPs that users of DevX created, from the log of commands
devx_qps()
{
	simhca-ctl '{"op":"cmdlog","since":1}' | jq -e '[.log[] |
		select(.op == "CREATE_QP" and .uid > 0 and .status == 0)] |
		length > 0'
}

# while_running CMD...: runs CMD while two processes exchange messages
while_running()
{
	local server client status=0

	port=$((port + 1))
	ucx_perftest -P 0 -p $port >"$tmp/server" 2>&1 &
	server=$!
	wait_for 20 listens $port || fail "the server does not listen"
	ucx_perftest -P 0 -p $port -t tag_bw -s 64 -n 100000000 -w 20 \
		127.0.0.1 >"$tmp/client" 2>&1 &
	client=$!
	wait_for 60 "$@" || status=$?
	kill $client $server
	wait $client $server || true
	return $status
}

# same_qps PLACER: the tool lists the users' QPs of the HCA, two by PLACER, and no other.
# A DC target rings no register, and is not listed.
same_qps()
{
	mlx5ep -j show qps | jq -r '.devices[0].qps[] |
		"\(.qpn) \(.uar) \(.placer)"' | sort >"$tmp/tool"
	simhca-ctl dump | jq -r '.hcas[0].qps[] |
		select(.user and .type != "dct") |
		"\(.qpn) \(.uar)"' | sort >"$tmp/hca"
	[ "$(grep -c " $1\$" "$tmp/tool")" -ge 2 ] &&
		cut -d ' ' -f 1-2 "$tmp/tool" | diff "$tmp/hca" -
}

# named: doctor names the program, says why, and what to do
named()
{
	mlx5ep doctor >"$tmp/doctor" || true
	grep -q 'independent does not reach ucx_perftest.*QPs by DevX' \
		"$tmp/doctor" && grep -q 'UCX_TLS=rc_v' "$tmp/doctor"
}

listed()
{
	while_running same_qps devx
}

# Without DevX each worker has a thread domain.
listed_in_domains()
{
	UCX_TLS=rc_x UCX_IB_MLX5_DEVX=n while_running same_qps library
}

named_by_doctor()
{
	local status=0

	ep_policy independent
	while_running named || status=$?
	ep_policy stock
	cat "$tmp/doctor"
	return $status
}

# placed: what doctor proposes puts the QPs where the policy says
placed()
{
	mlx5ep -j show qps | jq -e '.devices[0].qps | length >= 2 and
		all(.placer == "policy" and .level == 1)'
}

remedy()
{
	local status=0

	ep_policy independent
	UCX_TLS=rc_v while_running placed || status=$?
	ep_policy stock
	return $status
}

plan 19
check 'the default is rc_mlx5' transport
check 'its QPs are made by DevX' devx_qps
check 'its QPs are listed' listed
check 'without DevX its QPs are listed, in thread domains' listed_in_domains
check 'doctor names it under a policy' named_by_doctor
check 'rc_v is placed by the policy' remedy
for size in 8 4096 262144; do
	check "tag, $size bytes" perftest tag_bw $size
done
check 'tag, synchronous' perftest tag_sync_lat 64
check 'stream' perftest stream_bw 4096
check 'put' perftest ucp_put_bw 65536
check 'get' perftest ucp_get 65536
for op in add fadd swap cswap; do
	check "atomic $op" perftest ucp_$op 8
done
check 'active messages' perftest ucp_am_bw 4096
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
