#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: full, guest: tool, timeout: 240
#
# mlx5ep run --policy gives a policy to a program that nobody recompiled, and asks
# for no privilege. simhca says which UAR pages the program's QPs rang.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
# shellcheck source=selftests/uuar/pair.sh
. selftests/uuar/pair.sh

tool=$PWD/build/bin/mlx5ep
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
gid=()
[ "$link" = ib ] || gid=(-x "$(gid_index)")

# pages_of CMD...: prints how many pages CMD, an ordinary user's, rings
pages_of()
{
	simhca-ctl reset >/dev/null
	"${nobody[@]}" "$@" >"$tmp/program" 2>&1 ||
		fail "$*: $(cat "$tmp/program")"
	hca_pages_rung
}

# rings PAGES CMD...
rings()
{
	local pages

	pages=$(pages_of "${@:2}")
	[ "$pages" = "$1" ] || fail "$pages pages, not $1: $(cat "$tmp/program")"
}

# The first four QPs of a stock context are on two pages.
chooses()
{
	ep_policy stock
	rings 2 uuar_traffic -q -n 4
	rings 4 "$tool" run --policy independent -- uuar_traffic -q -n 4
	rings 2 "$tool" run --policy shared-uar -- uuar_traffic -q -n 4
	rings 8 "$tool" run --policy independent --pages 9 --strict -- \
		uuar_traffic -q -n 8
	hca_clean
}

# What the process asks for goes before the device's policy and uuar_exempt.
goes_first()
{
	ep_policy independent 8
	rings 2 "$tool" run --policy stock -- uuar_traffic -q -n 4
	ep_policy stock
	ep_set uuar_exempt uuar_traffic
	rings 4 "$tool" run --policy independent -- uuar_traffic -q -n 4
	ep_set uuar_exempt $'\n'
}

# A strict policy does not go to the next level: the context has 3 pages.
strict()
{
	rings 3 "$tool" run --policy independent --pages 3 -- \
		uuar_traffic -q -n 4
	code 1 "$tool" run --policy independent --pages 3 --strict -- \
		uuar_traffic -q -n 4
	grep -q 'No space left on device' "$tmp/err"
}

# Three contexts of a process and three of its child, four QPs in each
contexts_and_fork()
{
	ep_policy stock
	simhca-ctl reset >/dev/null
	"${nobody[@]}" "$tool" run --policy independent --strict -- \
		build/bin/contexts 'touch /dev/null' >"$tmp/program" 2>&1 ||
		fail "$(cat "$tmp/program")"
	[ "$(hca_pages_rung)" = 24 ] || fail "$(hca_pages_rung) pages"
	"$tool" run --policy independent -- \
		build/bin/contexts "mlx5ep -j show >$tmp/show"
	jq -e '.devices[0].contexts | length == 6 and
		([.[] | .pid] | unique | length == 2) and
		all(.[]; .source == "process" and .managed == 1 and
			.policy == "independent" and .used_pages == 4)' "$tmp/show"
	simhca-ctl reset >/dev/null
	build/bin/contexts true
	[ "$(hca_pages_rung)" = 12 ] || fail "stock: $(hca_pages_rung) pages"
}

# stock programs of Debian
stock_programs()
{
	local opt=()

	[ "$link" = ib ] || opt=(-g "$(gid_index)")
	ep_policy stock
	simhca-ctl reset >/dev/null
	pair 18515 "$tool" run --policy independent --strict -- \
		ibv_rc_pingpong -d "$dev" "${opt[@]}" -n 64 -s 1024 -c
	hca_clean
	simhca-ctl reset >/dev/null
	pair 18516 ib_write_bw -d "$dev" "${gid[@]}" -p 18516 -n 64 -F -q 4 \
		-s 4096
	[ "$(hca_pages_rung)" = 2 ] || fail "stock: $(hca_pages_rung) pages"
	simhca-ctl reset >/dev/null
	pair 18517 "$tool" run --policy independent --strict -- \
		ib_write_bw -d "$dev" "${gid[@]}" -p 18517 -n 64 -F -q 4 -s 4096
	[ "$(hca_pages_rung)" = 4 ] || fail "independent: $(hca_pages_rung) pages"
	hca_clean
}

# The context that asks for the policy has a page for a moment. Where a limit
# leaves no room for it, the program runs as it is and is told.
limited()
{
	ep_set uar_user_limit 2
	rings 2 "$tool" run --policy independent -- uuar_traffic -q -n 4
	ep_set uar_user_limit 3
	rings 3 "$tool" run --policy independent -- uuar_traffic -q -n 4
	ep_set uar_user_limit 1
	code 1 uuar_traffic -q -n 4
	code 0 "$tool" run --policy shared-uar -- ibv_devinfo -d "$dev"
	grep -q "^mlx5ep run: $dev: opened without the policy: Disk quota exceeded$" \
		"$tmp/err"
	code 1 "$tool" run --strict --policy shared-uar -- \
		ibv_devinfo -d "$dev"
	grep -q "^mlx5ep run: $dev: not opened, as it cannot get the policy: Disk" \
		"$tmp/err"
	ep_set uar_user_limit 0
	becomes 5 0 ep_get uar_in_use
	becomes 5 0 ep_get uar_observed
}

no_module()
{
	mkdir -p "$tmp/root"
	export MLX5EP_ROOT=$tmp/root
	code 0 "$tool" run --policy independent -- echo started
	grep -qx started "$tmp/out"
	grep -qx 'mlx5ep: the module is not loaded: modprobe mlx5_ep' "$tmp/err"
	code 3 "$tool" run --policy independent --strict -- echo started
	[ ! -s "$tmp/out" ]
}

no_library()
{
	mkdir -p "$tmp/bin" "$tmp/lib"
	cp "$tool" "$tmp/bin/"
	cp build/lib/libmlx5ep.so.0 "$tmp/lib/"
	code 0 "$tmp/bin/mlx5ep" run --policy stock -- echo started
	grep -q 'lib/mlx5ep/policy.so is missing: install mlx5ep again' "$tmp/err"
	code 1 "$tmp/bin/mlx5ep" run --policy stock --strict -- echo started
}

usage()
{
	code 2 "$tool" run --policy fastest -- true
	grep -q '^mlx5ep run: --policy fastest: not one of stock' "$tmp/err"
	code 2 "$tool" run --policy stock --pages 257 -- true
	grep -q '^mlx5ep run: --pages 257: more than 256' "$tmp/err"
	code 2 "$tool" run --pages 4 -- true
	code 2 "$tool" run --policy stock
	MLX5EP_POLICY='independent 0' LD_PRELOAD=build/lib/mlx5ep/policy.so \
		code 0 ibv_devinfo -d "$dev"
	grep -q 'MLX5EP_POLICY is not POLICY STRICT PAGES' "$tmp/err"
}

plan 9
check 'the QPs of an ordinary user are where the policy puts them' chooses
check 'the process goes before device and uuar_exempt' goes_first
check 'a strict policy is kept to or fails' strict
check 'several contexts, and those of a forked child' contexts_and_fork
check 'ibv_rc_pingpong and ib_write_bw of Debian' stock_programs
check 'a limit: told, or refused if strict' limited
check 'without the module' no_module
check 'without the library' no_library
check 'wrong usage' usage
ep_policy stock
ktap_finished
