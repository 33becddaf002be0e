#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: guest, tier: core, timeout: 200
#
# The protocols for large messages move every byte at any reuse of buffers.
# The pipeline registers each fragment of each message, the caches only what is
# new. Whoever copies registers nothing. Without notifications the same caches send old memory.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

messages=16
fragments=8

# field PROTOCOL NAME: of what the last run printed
field()
{
	sed -n "s/.*protocol=$1 .* $2=\([0-9.]*\).*/\1/p" "$tmp/out"
}

# moves REUSE: all right, and as many registrations as there have to be
moves()
{
	local buffers=$((messages / $1))

	build/bin/pipeline -b 262144 -f 32768 -m $messages -r "$1" >"$tmp/out" ||
		fail "exit status $?"
	sed 's/^/# /' "$tmp/out" >>"$tmp/figures"
	[ "$(grep -c ' wrong=0$' "$tmp/out")" = 5 ]
	[ "$(field copy registrations)" = 0 ]
	[ "$(field register registrations)" = $messages ]
	[ "$(field pipeline registrations)" = $((messages * fragments)) ]
	[ "$(field cache registrations)" = $buffers ]
	[ "$(field caching registrations)" = $((buffers * fragments)) ]
	[ "$(field cache hits)" = $((messages - buffers)) ]
	[ "$(field caching hits)" = $(((messages - buffers) * fragments)) ]
}

# wrong REUSE: every message but those of the first buffer, where a cache is used
wrong()
{
	! build/bin/pipeline -n -b 262144 -f 32768 -m $messages -r "$1" \
		>"$tmp/out" || fail 'nothing was wrong'
	cat "$tmp/out"
	[ "$(grep -c 'protocol=\(copy\|register\|pipeline\) .* wrong=0$' "$tmp/out")" = 3 ]
	[ "$(field cache wrong)" = $((messages - $1)) ]
	[ "$(field caching wrong)" = $((messages - $1)) ]
}

plan 4
for reuse in 1 4 16; do
	check "pipeline with $reuse uses of a buffer" moves "$reuse"
done
check 'caches that are not told send old memory' wrong 4
cat "$tmp/figures"
ktap_finished
