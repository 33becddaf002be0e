#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# mr_watch_table.sh OUTPUT: puts the rows that mr_watch_changes_test printed, also
# as build/check/KERNEL/results.ktap has them, into Documentation/results/notifications.md,
# between the two markers there.
set -euo pipefail
cd "$(dirname "$0")/../.."

doc=Documentation/results/notifications.md
for marker in '<!-- rows -->' '<!-- end of rows -->'; do
	grep -qxF -e "$marker" "$doc" || { echo "$doc has no line $marker" >&2; exit 1; }
done
rows=$(sed -n 's/^ *# row: //p' "$1")
[ -n "$rows" ] || { echo "$1 has no rows" >&2; exit 1; }
{
	sed '/^<!-- rows -->$/q' "$doc"
	echo
	echo '| what happened | HCA and process | word as the call returned | after at most one verify |'
	echo '|---|---|---|---|'
	printf '%s\n' "$rows"
	echo
	sed -n '/^<!-- end of rows -->$/,$p' "$doc"
} >"$doc.new"
mv "$doc.new" "$doc"
