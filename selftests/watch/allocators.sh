# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Messages from memory of real allocators, see programs/allocators.c. Needs lib.sh.
# The allocators are told to give memory back soon; otherwise little changes in ten
# seconds.

: "${tmp:?lib.sh comes first}"

export MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
export MALLOC_CONF=dirty_decay_ms:0,muzzy_decay_ms:0
export TCMALLOC_AGGRESSIVE_DECOMMIT=1
export MIMALLOC_PURGE_DELAY=0

allocators=(
	'glibc|'
	'jemalloc|libjemalloc.so.2'
	'tcmalloc|libtcmalloc_minimal.so.4'
	'mimalloc|libmimalloc.so.3'
)

threads=4
limit=$((8 << 20))
# A registration that is in use counts too: one per thread, at most four times as
# large as the largest buffer, and its first and last page.
bound=$((limit + threads * (4 * (256 << 10) + 2 * 4096)))

# field NAME: of what the last run printed
field()
{
	sed -n "s/.* $1=\([0-9.]*\).*/\1/p" "$tmp/out"
}

# A test adds options
program=(build/bin/allocators)

# send ALLOCATOR MODE SECONDS
send()
{
	local library=${1#*|}

	LD_PRELOAD=$library "${program[@]}" -t "$threads" -b "$limit" \
		-m "$2" -s "$3" >"$tmp/out" || fail "exit status $?"
	cat "$tmp/out"
	sed "s/^/# ${1%|*}: /" "$tmp/out" >>"$tmp/figures"
}

# served ALLOCATOR SECONDS: with the cache
served()
{
	send "$1" cache "$2"
	[ "$(field messages)" -ge 100 ]
	[ "$(field wrong)" = 0 ] || fail 'wrong data'
	[ "$(field hits)" -gt 0 ]
	[ "$(field stale)" -gt 0 ] || fail 'nothing was given back'
	[ "$(field most)" -gt 0 ]
	[ "$(field most)" -le "$bound" ] || fail "more than $bound bytes"
	[ "$(field left)" = 0 ] || fail 'memory is still registered'
}

# each ALLOCATOR SECONDS: each message registers, to compare with
each()
{
	send "$1" each "$2"
	[ "$(field wrong)" = 0 ]
	[ "$(field hits)" = 0 ]
	[ "$(field left)" = 0 ]
}

# blind ALLOCATOR SECONDS: a cache without notifications must show what these
# tests look for, in four times the SECONDS where the machine is busy
blind()
{
	local seconds

	for seconds in "$2" $((2 * $2)) $((4 * $2)); do
		send "$1" blind "$seconds"
		[ "$(field most)" -le "$bound" ] || break
	done
	[ "$(field wrong)" -gt 0 ] || fail 'no wrong data'
	[ "$(field most)" -gt "$bound" ] || fail "not above $bound bytes"
}

# What a test plans for allocators_checks
# shellcheck disable=SC2034 # for who sources this
checks_of_allocators=$((3 * ${#allocators[@]}))

# allocators_checks SECONDS: so many checks
allocators_checks()
{
	local allocator name slowness=${MLX5_EP_SLOWNESS:-1}

	for allocator in "${allocators[@]}"; do
		name=${allocator%|*}
		check "$name: data right, registered memory bounded" \
			served "$allocator" "$1"
		check "$name: registering each time" each "$allocator" 3
		check "$name: a cache that is not told is found out" \
			blind "$allocator" $((5 * slowness))
	done
	cat "$tmp/figures"
}
