#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: own, timeout: 300
#
# `rdma -dd resource show qp` of iproute2 says of each QP of a user what `mlx5ep show qps`
# says, under which policy it is, and the UAR page that the HCA knows for it. The
# kernel's QPs are shown as without the module. dc_shown and xrc_shown have DC and XRC.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/lib/modules.sh
. selftests/lib/modules.sh

# shown_qps: the QPs that rdma shows, as JSON. It writes drv_ before the names of drivers
# since iproute2 6.6 or so.
shown_qps()
{
	rdma -j -dd resource show qp |
		jq '[.[] | with_entries(.key |= sub("^drv_"; ""))]'
}

names='["uar", "page", "slot", "level", "uuar_qps", "page_qps", "placer"]'

# rows: sorts QPs, and leaves their number and what is known of those names
rows()
{
	jq -S --argjson names "$names" '[.[] | . as $qp | {qpn: (.lqpn // .qpn)} +
		([$names[] | select($qp[.] != null) | {(.): $qp[.]}] | add)] |
		sort_by(.qpn)'
}

# shown POLICY QPS: both tools say the same of so many QPs of the caller's program
shown()
{
	shown_qps | jq '[.[] | select(.comm == "uuar_traffic")]' >"$tmp/rdma"
	mlx5ep -j show qps | jq '.devices[0].qps' >"$tmp/tool"
	jq -e "length == $2 and all(.[]; .policy == \"$1\")" "$tmp/rdma" ||
		{ cat "$tmp/rdma"; fail "not $2 QPs under $1"; }
	rows <"$tmp/rdma" >"$tmp/rdma.rows"
	rows <"$tmp/tool" | diff - "$tmp/rdma.rows"
}

# on_hca QPS: so many QPs are on the page that the HCA knows
on_hca()
{
	simhca-ctl dump | jq -r '.hcas[0].qps[] | select(.user) | "\(.qpn) \(.uar)"' |
		sort >"$tmp/hca"
	[ "$(wc -l <"$tmp/hca")" -eq "$1" ]
	jq -r '.[] | "\(.qpn) \(.uar)"' "$tmp/rdma.rows" | sort | diff "$tmp/hca" -
}

# under POLICY PAGES QPS: a program's QPs as both tools show them
under()
{
	ep_policy "$1" "$2"
	uuar_traffic -q -n "$3" -r 1 -x "selftests/uuar/rdma_show_test.sh --shown $1 $3"
	ep_policy stock
}

# How levels are told: of 5 QPs on 4 uUARs two share one.
levels()
{
	under shared-uuar 2 5
}

# A dump of so many QPs is in more than one message.
many()
{
	under independent 8 600
}

in_words()
{
	ep_policy independent 8
	uuar_traffic -q -n 1 -r 1 -x "rdma -dd resource show qp >$tmp/details
		rdma resource show qp >$tmp/plain"
	ep_policy stock
	cat "$tmp/details" "$tmp/plain"
	grep -Eq '(drv_)?uar [0-9]+ (drv_)?page [0-9]+ (drv_)?slot [01] (drv_)?level 1 (drv_)?uuar_qps 1 (drv_)?page_qps 1 (drv_)?placer policy (drv_)?policy independent' \
		"$tmp/details"
	must_fail grep -q placer "$tmp/plain"
}

# by_number: one QP is asked for by its number
by_number()
{
	ep_policy independent 8
	uuar_traffic -q -n 3 -r 1 -x "rdma -j -dd resource show qp >$tmp/all
		rdma -j -dd resource show qp lqpn \
		\$(jq '[.[] | select(.comm == \"uuar_traffic\")][1].lqpn' $tmp/all) >$tmp/one"
	ep_policy stock
	jq -e --slurpfile one "$tmp/one" \
		'[.[] | select(.comm == "uuar_traffic")][1] == $one[0][0]' "$tmp/all"
}

# kernel_qps FILE: prints how many QPs the kernel has, and what is said of them
kernel_qps()
{
	jq -c '[.[] | select(.pid == null)] | length, (map(keys) | unique)' "$1"
}

rebind()
{
	ib_unbind
	ib_bind
	wait_for 30 test -e "/sys/class/infiniband/$dev"
}

the_kernels_are_as_without()
{
	uuar_traffic -q -n 1 -r 1 -x "rdma -j -dd resource show qp >$tmp/with"
	echo N >/sys/module/mlx5_ep/parameters/attach
	rebind
	[ "$(cat "$ep/attached")" != yes ]
	uuar_traffic -q -n 1 -r 1 -x "rdma -j -dd resource show qp >$tmp/without"
	echo Y >/sys/module/mlx5_ep/parameters/attach
	rebind
	[ "$(cat "$ep/attached")" = yes ]
	kernel_qps "$tmp/with"
	kernel_qps "$tmp/without"
	[ "$(kernel_qps "$tmp/with" | head -n 1)" -gt 0 ]
	[ "$(kernel_qps "$tmp/with")" = "$(kernel_qps "$tmp/without")" ]
	grep -q placer "$tmp/with"
	grep -q uuar_traffic "$tmp/without"
	must_fail grep -q placer "$tmp/without"
}

# wrong_rows: prints each row of a policy's QP that lacks something, or has what another
# QP had. rdma looks for the name of a process after the kernel has answered, so a
# process that has ended since then has none.
wrong_rows()
{
	local pid

	jq -c '.[] | select(.placer != null) | select((.policy == "shared-uuar" and
		.page < 2 and .slot < 2 and .uuar_qps >= 1 and .page_qps >= .uuar_qps and
		.pid != null and (.comm // "uuar_traffic") == "uuar_traffic") | not)' "$1"
	jq '.[] | select(.placer != null and .comm == null).pid' "$1" | sort -u |
		while read -r pid; do
			[ ! -e "/proc/$pid" ] || jq -c ".[] | select(.pid == $pid)" "$1"
		done
}

# While QPs come and go, none is shown with what another one had.
while_they_come_and_go()
{
	local pid status=0 rows=0 pids=()

	ep_policy shared-uuar 2
	for _ in 1 2 3; do
		(for _ in $(seq 12); do uuar_traffic -q -n 20 -r 1 || exit; done) &
		pids+=($!)
	done
	while kill -0 "${pids[@]}" 2>/dev/null; do
		shown_qps >"$tmp/now"
		rows=$((rows + $(jq '[.[] | select(.placer != null)] | length' "$tmp/now")))
		wrong_rows "$tmp/now" >"$tmp/wrong"
		[ ! -s "$tmp/wrong" ] || { cat "$tmp/wrong"; status=1; }
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || status=1
	done
	ep_policy stock
	[ $rows -gt 0 ] || fail 'no QP was shown'
	return $status
}

case ${1-} in
--shown)
	shown "$2" "$3"
	on_hca "$3"
	exit ;;
esac

plan 8
check 'QPs that have pages of their own' under independent 16 8
check 'QPs that share uUARs, with their levels' levels
check 'QPs that the library placed' under stock 0 20
check 'more QPs than one message has room for' many
check 'the text has them with -dd, and only so' in_words
check 'one QP can be asked for by its number' by_number
check 'QPs of the kernel, and of a device that is not attached' \
	the_kernels_are_as_without
check 'QPs come and go meanwhile' while_they_come_and_go
ktap_finished
