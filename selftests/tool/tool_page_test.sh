#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: core
#
# What Documentation/administration.md shows as output of the tool has the titles that the tool
# prints, and each message of the tool in a page is one that the tool has.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

page=Documentation/administration.md

# titles TABLE: the titles of the columns, as userlib/cli/show.c has them
titles()
{
	sed -n "/^static const struct column ${1}_columns/,/^};/p" \
		userlib/cli/show.c | grep -o '", "[A-Z-]*"' | tr -d '", ' | xargs
}

# shown: the tables of the page, a line each: the table and its titles
shown()
{
	sed -n -e '/^DEVICE /s/^/device /p' -e '/^mlx5_0: [a-z]*$/{
		s/^mlx5_0: //; s/e\?s$//; /attached/b; N; s/\n/ /; p }' "$page" |
		sed -E 's/ +/ /g' | sort -u
}

tables()
{
	local table rest

	shown >"$tmp/shown"
	cat "$tmp/shown"
	cut -d' ' -f1 "$tmp/shown" | sort -u >"$tmp/tables"
	[ "$(xargs <"$tmp/tables")" = 'cgroup context device qp user uuar watch' ]
	while read -r table rest; do
		[ "$rest" = "$(titles "$table")" ] ||
			fail "$table: the tool prints $(titles "$table")"
	done <"$tmp/shown"
}

# The compiler joins the strings of a message that is written on two lines.
messages()
{
	local message

	cat userlib/cli/*.c | tr -d '\n' | sed -E 's/"[[:space:]]+"//g' >"$tmp/source"
	sed -n -E 's/^ *mlx5ep: ([a-z].*)/\1/p' Documentation/*.md >"$tmp/messages"
	[ -s "$tmp/messages" ]
	while read -r message; do
		grep -qF -- "\"$message" "$tmp/source" || fail "not a message: $message"
	done <"$tmp/messages"
}

plan 2
check 'the tables of the page have the titles that the tool prints' tables
check 'the messages of the pages are those of the tool' messages
ktap_finished
