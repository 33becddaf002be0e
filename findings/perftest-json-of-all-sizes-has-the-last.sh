#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# perftest 25.01.0+0.80-1 ("Version: 6.24"; Debian sid, rdma_rxe of kernel 7.3.4-1~bpo13+1): "ib_write_bw -a
# --out_json" measures 23 sizes and prints a row for each; the JSON file is written anew for
# each, so it has one result, that of 8 MiB. "results" is an object, not a list. The file says
# no unit either: with --report_gbits the same keys hold other numbers, and nothing in
# the file tells which. Guessed before: the file has what the table has. Seen on 30 November 2026:
#
#    -a: 23 rows, in the file: object with MsgSize 8388608
#    keys: BW_average BW_peak MsgRate MsgSize n_iterations
#    keys with --report_gbits: BW_average BW_peak MsgRate MsgSize n_iterations; the same test_info
set -euo pipefail
# shellcheck source=/dev/null
. "$(dirname "$0")/lib/guest.sh"

guest_setup sid 'linux-image-7.3.4+deb13-amd64=7.3.4-1~bpo13+1' -- \
	ibverbs-providers=65.0-1.1 iproute2=7.3.0-1 perftest=25.01.0+0.80-1 jq

GUEST_MEM=2G guest_run '7.3.4+deb13-amd64' <<'GUEST'
rxe_on
both()
{
	local server i

	rm -f file.json
	timeout 100 ib_write_bw -d rxe0 -x 1 -n 5 "$@" >/dev/null 2>&1 &
	server=$!
	for ((i = 0; i < 100; i++)); do
		! grep -q ':4853 .* 0A ' /proc/net/tcp /proc/net/tcp6 || break
		sleep 0.1
	done
	timeout 100 ib_write_bw -d rxe0 -x 1 -n 5 "$@" --out_json --out_json_file=file.json \
		localhost >table 2>said || echo "client: exit status $?: $(tail -n 1 said)"
	wait "$server" || echo "server: exit status $?"
}
keys='.results | keys | join(" ")'
both -a
echo "-a: $(grep -cE '^ [0-9]+ +5 ' table) rows, in the file: $(
	jq -r '.results | "\(type) with MsgSize \(.MsgSize)"' file.json)"
both -s 1024
echo "keys: $(jq -r "$keys" file.json)"
jq .test_info file.json >first
both -s 1024 --report_gbits
echo "keys with --report_gbits: $(jq -r "$keys" file.json); $(
	jq .test_info file.json | cmp -s first - && echo the same test_info)"
GUEST
guest_same 'what the file has' <<'END'
-a: 23 rows, in the file: object with MsgSize 8388608
keys: BW_average BW_peak MsgRate MsgSize n_iterations
keys with --report_gbits: BW_average BW_peak MsgRate MsgSize n_iterations; the same test_info
END

verdict 'the JSON of "ib_write_bw -a" has the last of 23 sizes, and says no unit'
