#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host
#
# Each mutant that selftests/mutants/mutate lists changes another place, or changes the
# place to another text, and no line of the file moves.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/lib/lib.sh
. selftests/lib/lib.sh

mutate=$PWD/selftests/mutants/mutate

# sample: makes a file; two of its lines have the same comparison twice
sample()
{
	cat >"$tmp/sample.c" <<'END'
/* A comment: a < b. */
int between(int a, int b, int c)
{
	if (a < b || a < c)
		return a < b && b < c;
	if (a <
	    c)
		release(a);
	return b + 1 - c + 1;
}
END
}

# mutants: prints the mutants of the sample
mutants()
{
	(cd "$tmp" && "$mutate" list sample.c)
}

# apply MUTANT: changes the sample and prints what it is then
apply()
{
	sample
	(cd "$tmp" && "$mutate" apply "$1")
	cat "$tmp/sample.c"
}

sources_differ()
{
	local mutant lines n

	sample
	mutants >"$tmp/mutants"
	n=$(wc -l <"$tmp/mutants")
	[ "$n" -ge 11 ] || fail "only $n mutants"
	lines=$(wc -l <"$tmp/sample.c")
	while IFS= read -r mutant; do
		apply "$mutant" >"$tmp/mutated"
		[ "$(wc -l <"$tmp/mutated")" = "$lines" ] || fail "lines move: $mutant"
		sha1sum <"$tmp/mutated"
	done <"$tmp/mutants" >"$tmp/sums"
	sample
	sha1sum <"$tmp/sample.c" >>"$tmp/sums"
	sort "$tmp/sums" | uniq -d >"$tmp/same"
	[ ! -s "$tmp/same" ] || fail "of $n mutants some are the same: $(cat "$tmp/same")"
}

places()
{
	local mutant

	sample
	mutant=$(printf 'sample.c\t5:21\tbetween\tcomparison\t<\t<=')
	mutants | grep -xF "$mutant"
	apply "$mutant" | grep -xF $'\t\treturn a < b && b <= c;'
	mutant=${mutant/5:21/5:22}
	sample
	code 1 env -C "$tmp" "$mutate" apply "$mutant"
	grep -F 'no such mutant' "$tmp/err"
}

seeds()
{
	sample
	mutants | sort >"$tmp/one"
	(cd "$tmp" && "$mutate" list --seed other sample.c) | sort | cmp - "$tmp/one"
}

plan 3
check each_mutant_is_another_source sources_differ
check a_mutant_is_at_its_line_and_column places
check each_seed_has_the_same_mutants seeds
ktap_finished
