#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, mem: 2G, timeout: 100, kernels: 7.2
#
# What a policy reaches of Debian's UCX: by default rc_mlx5, whose QPs DevX makes, or
# thread domains, it lists the QPs; over rc_v it places them.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/consumers/perftest.sh
. selftests/consumers/perftest.sh

# begin [NAME=VALUE...]: two processes exchange messages until end; both have these
# variables
begin()
{
	: >"$tmp/client"
	client=
	serve env "$@" || return 0
	env "$@" ucx_perftest -P 0 -p $port -t tag_bw -s 64 -n 100000000 -w 20 \
		127.0.0.1 >"$tmp/client" 2>&1 &
	client=$!
}

end()
{
	kill $client $server || true
	wait $client $server || true
} 2>/dev/null

# meanwhile CMD...: CMD succeeds while they do
meanwhile()
{
	wait_for 15 "$@" || {
		sed 's/^/client: /' "$tmp/client"
		sed 's/^/server: /' "$tmp/server"
		return 1
	}
}

# transport NAME: UCX reports the transport that it chose
transport()
{
	cat "$tmp/client" "$tmp/server" | grep -o "$1" >/dev/null
}

# devx_qps: there are QPs that users of DevX created, by the log of commands
devx_qps()
{
	simhca-ctl '{"op":"cmdlog","since":1}' | jq -e '[.log[] |
		select(.op == "CREATE_QP" and .uid > 0 and .status == 0)] |
		length > 0'
}

# same_qps PLACER: the tool lists the users' QPs of the HCA, two by PLACER, and no other.
# A DC target is listed, too. It rings no register, and nobody places it.
same_qps()
{
	mlx5ep -j show qps | jq -r '.devices[0].qps[] |
		"\(.qpn) \(.uar) \(.placer)"' | sort >"$tmp/tool"
	simhca-ctl dump | jq -r '.hcas[0].qps[] | select(.user) |
		"\(.qpn) \(if .type == "dct" then null else .uar end)"' |
		sort >"$tmp/hca"
	[ "$(grep -c " $1\$" "$tmp/tool")" -ge 2 ] &&
		cut -d ' ' -f 1-2 "$tmp/tool" | diff "$tmp/hca" -
}

# named: doctor names the program, says why, and what to do
named()
{
	mlx5ep doctor >"$tmp/doctor" || true
	cat "$tmp/doctor"
	grep -q 'independent does not reach ucx_perftest.*QPs by DevX' \
		"$tmp/doctor" && grep -q 'UCX_TLS=rc_v' "$tmp/doctor"
}

# placed: what doctor proposes puts the QPs where the policy says
placed()
{
	mlx5ep -j show qps | jq -e '.devices[0].qps | length >= 2 and
		all(.placer == "policy" and .level == 1)'
}

plan 7
ep_policy independent
begin UCX_PROTO_INFO=y UCX_LOG_LEVEL=info
check 'the default is rc_mlx5' meanwhile transport rc_mlx5
check 'its QPs are made by DevX' devx_qps
check 'its QPs are listed' meanwhile same_qps devx
check 'doctor names it under a policy' named
end
begin UCX_TLS=rc_x UCX_IB_MLX5_DEVX=n
check 'without DevX its QPs are listed, in thread domains' meanwhile same_qps library
end
begin UCX_TLS=rc_v
check 'rc_v is placed by the policy' meanwhile placed
end
ep_policy stock
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
