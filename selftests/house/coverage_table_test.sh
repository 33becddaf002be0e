#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: core
#
# The table of `make coverage` says which lines ran, and takes a reason only for lines
# that are there. What is counted is a small program in place of the module.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

table=$PWD/selftests/coverage/table

# program: a checkout with two files of kernel/, compiled for gcov
program()
{
	mkdir -p "$tmp/kernel" "$tmp/notes" "$tmp/build/modules-gcov"
	ln -s "$tmp/notes" "$tmp/build/modules-gcov/1-mlx5ep-gcov"
	mkdir "$tmp/notes/kernel"
	cat >"$tmp/kernel/main.c" <<-'END'
	int half(int n);

	static int odd(int n)
	{
		if (n > 2)
			return -1;
		return 1;
	}

	int main(int argc, char **argv)
	{
		if (argc > 2)
			return -1;
		return half(argc) + odd(argc) != 1;
	}
	END
	cat >"$tmp/kernel/half.c" <<-'END'
	int half(int n)
	{
		if (n > 8)
			return 4;
		return n / 2;
	}

	int never(void)
	{
		return 5;
	}
	END
	: >"$tmp/kernel/other.c"
	(cd "$tmp" && for name in main half; do
		gcc --coverage -c kernel/$name.c -o notes/kernel/$name.o
	done && gcc --coverage notes/kernel/*.o -o program)
}

# guest NAME [ARGUMENT...]: runs the program, which leaves its counts as a guest does
guest()
{
	"$tmp/program" "${@:2}" || :
	mkdir -p "$tmp/build/coverage/data/$1/kernel"
	mv "$tmp"/notes/kernel/*.gcda "$tmp/build/coverage/data/$1/kernel"
}

# judged [--whole] [REASON...]: prints the table with these reasons
judged()
{
	local options=()

	[ "${1:-}" != --whole ] || {
		options=(--whole)
		shift
	}
	printf '%s\n' "$@" >"$tmp/explained"
	(cd "$tmp" && "$table" "${options[@]}" build/coverage explained)
}

# refused WORDS REASON: the table does not take a reason, and says why
refused()
{
	local status=0

	judged "$2" >"$tmp/out" 2>"$tmp/err" || status=$?
	[ $status = 1 ] || fail "exit status $status"
	[ ! -s "$tmp/out" ] || fail "a table was printed"
	grep -F "$1" "$tmp/err" || fail "it says $(cat "$tmp/err")"
}

counts()
{
	guest one.1
	judged >"$tmp/out" || :
	cat "$tmp/out"
	[ "$(grep -c '^not run: ' "$tmp/out")" = 5 ]
	grep '^not run: kernel/half.c:4: return 4;$' "$tmp/out"
	grep -E '^kernel/main.c +8 +6 +75.0 +0$' "$tmp/out"
	tail -n1 "$tmp/out" | grep -x \
		'coverage: 9 of 14 lines (64.3 %), 0 explained, 1 guests'
}

# What one guest did not run, another may have run. 90 % is enough. A folder is TEST.GUEST.
guests_add_up()
{
	local status=0

	judged >/dev/null || status=$?
	[ $status = 1 ] || fail "64 % are enough"
	guest one.2 a a
	guest two.3 1 2 3 4 5 6 7 8 9
	judged >"$tmp/out" || :
	cat "$tmp/out"
	grep -E '^kernel/main.c +8 +7 ' "$tmp/out"
	tail -n1 "$tmp/out" | grep 'coverage: 10 of 14 lines .* 3 guests'
}

# A reason for a function, for a line, and for one of two lines with the same text
reasons()
{
	judged 'kernel/half.c:never -> Nobody calls it.' \
		'kernel/half.c:return 4; -> Eight are too many.' \
		'kernel/main.c:odd(): return -1; -> Never odd.' >"$tmp/out" || :
	cat "$tmp/out"
	must_fail grep '^not run' "$tmp/out"
	grep -E '^kernel/half.c +6 +3 +50.0 +3$' "$tmp/out"
	grep -E '^kernel/main.c +8 +7 +87.5 +1$' "$tmp/out"
	[ "$(jq -r '.missed[] | select(.text == "return -1;") | .reason' \
		"$tmp/build/coverage/table.json")" = 'Never odd.' ]
}

# After all tests each line that did not run needs a reason, also where 90 % ran.
each_explained()
{
	local i more=()

	for i in {1..60}; do
		more+=("if (n == $i) n++;")
	done
	printf '%s\n' 'int many(int n) {' "${more[@]}" 'return n; }' \
		>"$tmp/kernel/many.c"
	sed -i 's/return half/many(1); return half/; 1s/^/int many(int n); /' \
		"$tmp/kernel/main.c"
	(cd "$tmp" && rm -r build/coverage/data && for name in main half many; do
		gcc --coverage -c kernel/$name.c -o notes/kernel/$name.o
	done && gcc --coverage notes/kernel/*.o -o program)
	guest one.1
	judged
	must_fail judged --whole 'kernel/half.c:never -> Nobody calls it.'
	judged --whole 'kernel/half.c:never -> Nobody calls it.' \
		'kernel/half.c:return 4; -> Eight are too many.' \
		'kernel/main.c:odd(): return -1; -> Never odd.' \
		'kernel/main.c:main(): return -1; -> No arguments.'
}

# A reason for a whole function hides what no longer runs of it.
parts()
{
	local reasons=('kernel/half.c:never -> Nobody calls it.'
		'kernel/main.c:odd(): return -1; -> Never odd.'
		'kernel/main.c:main(): return -1; -> No arguments.')

	must_fail judged --whole "${reasons[@]}" \
		'kernel/half.c:half -> Part of it ran.' >"$tmp/out"
	grep -x 'ran in part, name its lines: kernel/half.c:half' "$tmp/out"
	judged --whole "${reasons[@]}" 'kernel/half.c:return 4; -> Eight are too many.' \
		'kernel/half.c:return n / 2; -> It ran.' >"$tmp/out"
	[ "$(grep -c '^not needed: ' "$tmp/out")" = 1 ]
	grep -Fx 'not needed: kernel/half.c:return n / 2;' "$tmp/out"
}

bad_reasons()
{
	refused 'a reason is left for kernel/half.c:gone, which is not there' \
		'kernel/half.c:gone -> It has gone.'
	refused 'a reason is left for kernel/half.c:return 5, which is not there' \
		'kernel/half.c:return 5 -> The semicolon is missing.'
	refused 'kernel/other.c, of which nothing is counted' \
		'kernel/other.c:f -> Nothing was compiled.'
	refused 'write main(): return -1; or odd(): return -1;' \
		'kernel/main.c:return -1; -> Which one?'
	refused 'explained:1: not FILE:FUNCTION or TEXT -> REASON' \
		'kernel/none.c:f -> There is no such file.'
}

# What the sources no longer have is found without counts, too, as it stops the table of
# a run that took half an hour.
sources()
{
	"$table" --check selftests/coverage/explained
	cd "$tmp"
	printf '%s\n' 'kernel/half.c:never -> A function.' \
		'kernel/half.c:return 4; -> A line.' \
		'kernel/main.c:odd(): return -1; -> A line of a function.' >explained
	"$table" --check explained
	missing 'kernel/half.c:gone'
	missing 'kernel/half.c:return 5'
	missing 'kernel/main.c:gone(): return -1;'
	missing 'kernel/main.c:odd(): return 2;'
}

# missing KEY: a reason for KEY is refused, as the sources do not have it
missing()
{
	echo "$1 -> It is not there." >explained
	must_fail "$table" --check explained 2>err
	grep -F "a reason is left for $1, which is not there" err
}

program
plan 7
check lines_that_ran_and_that_did_not_are_counted counts
check what_several_guests_ran_is_added_up guests_add_up
check a_reason_is_for_a_function_or_lines_of_one reasons
check after_all_tests_each_line_needs_a_reason each_explained
check a_reason_for_what_is_not_there_is_refused bad_reasons
check a_reason_is_for_no_function_of_which_a_part_ran parts
check a_reason_is_for_what_the_sources_have sources
ktap_finished
