#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: full
#
# What the programs of the transport do with options that they cannot use: they name
# the option, and start nothing.

cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh
PATH=$PWD/build/bin:$PATH

# refused OPTION PROGRAM ARGUMENT...: the first line on stderr names the option
refused()
{
	code 2 "${@:2}"
	head -n 1 "$tmp/err" | grep -q "^$1: " ||
		fail "${*:2}: $(cat "$tmp/err")"
	[ ! -s "$tmp/out" ] || fail "${*:2}: $(cat "$tmp/out")"
}

# Each number of a program, and text that is not one; all such text for one of them.
numbers()
{
	local program letter text letters

	for text in abc -1 '' ' 3' +3 3. 99999999999; do
		refused -n messages -n "$text"
	done
	for program in 'messages n p i q Q e r s k S E' 'am_storm r d' 'am_threads t r k' \
		'am_events r k S E' 'nbc_events r k E' 'nbc_check r s k' \
		'splitc_ops r k' 'nbc_overlap t r' 'nbc_programs n s' \
		'splitc_programs n' 'xsrq n p s m i'; do
		read -ra letters <<<"$program"
		program=${letters[0]}
		letters=("${letters[@]:1}")
		for letter in "${letters[@]}"; do
			refused "-$letter" "$program" "-$letter" 5x
		done
	done
}

# Lengths are a list.
lengths()
{
	local text

	for text in '' 0 7 '8,' ',8' 8x 1048584 8,8,8,8,8,8,8,8,8; do
		code 2 nbc_overlap -z "$text"
		grep -q '^lengths are at most 8 multiples of 8, up to 1048576, ' "$tmp/err"
	done
}

job_numbers()
{
	local text

	for text in 5x -18446744073709551615 0 102; do
		code 2 msgrate -R "$text"
		grep -q "^-R: '$text' is not a number from 1 to 101\$" "$tmp/err"
	done
}

words()
{
	refused -c messages -c fast
	refused -l messages -l push
	refused -g messages -g now
	refused -K messages -k 1 -K nowhere
	refused -a nbc_check -a all
	refused -o splitc_programs -o quick_sort
}

# Each is allowed alone.
together()
{
	refused -n,\ -p messages -n 64 -p 256
	refused -i messages -n 2 -i 2 -m file:/tmp
	refused -i messages -i 1
	refused '-k, -S, -E' messages -k 2
	refused '-k, -S, -E' messages -S 2
	refused '-k, -S, -E' messages -E 2
	refused -K messages -K open
	refused -r am_events -k 1 -r 2
	refused -r am_events -S 0 -r 1
	refused -r nbc_events -E 1 -r 2
}

plan 5
check 'text that is not a number is refused' numbers
check 'so is text that is not a list of lengths' lengths
check 'so it is by the programs of mlx5ep bench' job_numbers
check 'so are words that an option does not know' words
check 'so are options that do not go together' together
ktap_finished
