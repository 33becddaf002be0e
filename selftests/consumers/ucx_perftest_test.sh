#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, smp: 2, mem: 2G, timeout: 300, kernels: 7.2, long: yes
#
# Debian's UCX with its default settings: each kind of traffic of ucx_perftest between
# two processes completes, and the HCA reports no complaint. Some kinds run once more
# with `mlx5ep run` in place of UCX's hooks, on both sides.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/consumers/perftest.sh
. selftests/consumers/perftest.sh

# perftest TEST SIZE [CMD...]: runs a server and a client, each by CMD where there is
# one, and checks the client's report
perftest()
{
	local status=0

	serve "${@:3}"
	timeout $((60 * slowness)) "${@:3}" ucx_perftest -P 0 -p $port -t "$1" -s "$2" \
		-n 200 -w 20 127.0.0.1 >"$tmp/client" 2>&1 || status=$?
	cat "$tmp/client"
	[ $status -eq 0 ] || kill $server 2>/dev/null || true
	wait $server || status=$?
	sed 's/^/server: /' "$tmp/server"
	grep -q '^Final:' "$tmp/client" || fail 'no figures'
	! grep -E 'ERROR|Assertion' "$tmp/client" "$tmp/server" || fail 'an error'
	return $status
}

# with_library TEST SIZE: the library is in both, and says that UCX uses it
with_library()
{
	local file

	export MLX5EP_UCX=verbose
	perftest "$@" build/bin/mlx5ep run --strict --
	for file in "$tmp/client" "$tmp/server"; do
		grep -qx 'mlx5ep-ucx: UCX is told by mlx5_ep' "$file"
	done
}

plan 17
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
check 'tag, 262144 bytes, with the library' with_library tag_bw 262144
check 'put, with the library' with_library ucp_put_bw 65536
check 'get, with the library' with_library ucp_get 65536
check 'active messages, with the library' with_library ucp_am_bw 65536
check 'the HCA has nothing to complain of' hca_clean
ktap_finished
