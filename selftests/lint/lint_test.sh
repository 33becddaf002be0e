#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, timeout: 60
#
# Each check of `make lint` must fail on a small tree that breaks its rule, and
# pass on the same tree when it is mended.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

lint=$PWD/selftests/lint

# fresh: an empty tree; the rest of the check runs in it
fresh()
{
	rm -rf "$tmp/tree"
	mkdir -p "$tmp/tree"
	cd "$tmp/tree"
}

# write FILE: standard input becomes FILE, with the folders it needs
write()
{
	mkdir -p "$(dirname "$1")"
	cat >"$1"
}

# refused PATTERN CMD...: CMD fails, and a line of what it says matches
refused()
{
	local pattern=$1 status=0

	shift
	"$@" >"$tmp/said" 2>&1 || status=$?
	cat "$tmp/said"
	[ $status -eq 1 ] || fail "exit status $status, not 1"
	grep -qE -- "$pattern" "$tmp/said" || fail "nothing says $pattern"
}

# accepted CMD...: CMD succeeds and is silent
accepted()
{
	code 0 "$@"
	[ ! -s "$tmp/out" ] && [ ! -s "$tmp/err" ] || fail 'it is not silent'
}

# --- layers ------------------------------------------------------------------

# layers_tree ROW...: top.c calls base.c; the table has these rows
layers_tree()
{
	fresh
	mkdir -p build/modules/1/kernel/sub
	write kernel/top.c <<<'int base_do(void); int top(void) { return base_do(); }'
	write kernel/sub/base.c <<<'int base_do(void) { return 0; }'
	gcc -c -o build/modules/1/kernel/top.o kernel/top.c
	gcc -c -o build/modules/1/kernel/sub/base.o kernel/sub/base.c
	printf '%s\n' '<!-- layers: kernel -->' '' '| layer | files |' \
		'|---|---|' "$@" | write Documentation/source.md
}

layers_right()
{
	layers_tree '| top | `top.c` | text |' '| base | `sub/{base}.c` | text |'
	accepted "$lint/layers" kernel
}

layers_upward()
{
	layers_tree '| base | `sub/base.c` |' '| top | `top.c` |'
	refused 'top.c \(top\) -> sub/base.c \(base\): base_do' \
		"$lint/layers" kernel
}

layers_sideways()
{
	layers_tree '| both | `sub/base.c` |' '| both | `top.c` |'
	refused 'top.c \(both\) -> sub/base.c \(both\): base_do' \
		"$lint/layers" kernel
}

layers_files()
{
	layers_tree '| top | `top.c` |'
	refused 'kernel/sub/base.c is in no layer' "$lint/layers" kernel
	layers_tree '| top | `top.c` |' '| base | `sub/base.c` `gone.c` |'
	refused 'names kernel/gone.c, which does not exist' "$lint/layers" kernel
	layers_tree '| top | `top.c` |' '| base | `sub/base.c` `top.c` |'
	refused 'top.c is in .* twice' "$lint/layers" kernel
	rm build/modules/1/kernel/top.o
	refused 'kernel/top.c is not built' "$lint/layers" kernel
}

layers_no_table()
{
	layers_tree '| top | `top.c` |'
	refused 'has no table <!-- layers: tool -->' "$lint/layers" tool
}

plan 5
check 'layers: what the table allows passes' layers_right
check 'layers: a call to a higher layer fails' layers_upward
check 'layers: a call within a layer fails' layers_sideways
check 'layers: the table names each file that exists once' layers_files
check 'layers: a part without a table fails' layers_no_table
ktap_finished
