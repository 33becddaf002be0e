#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# runs on: host, tier: core
#
# Each mutant that selftests/mutants/mutate lists changes another place, or changes the
# place to another text, and no line of the file moves. The lists beside it name tests,
# files and mutants that there are.
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

# A copy to user space and a wait are left out, where only their result was looked at.
results()
{
	cat >"$tmp/sample.c" <<-'END'
		int answer(int fd)
		{
			int left = copy_to_user(fd, 1), ret;

			ret = wait_event_interruptible(fd,
						       left);
			if (ret)
				return uverbs_copy_to(fd, "text");
			return ret;
		}
	END
	mutants | grep -e -dropped >"$tmp/mutants"
	cat "$tmp/mutants"
	grep -P '\t5:\d+\tanswer\twait-dropped\twait_event_interruptible\(fd, left\)\t0$' \
		"$tmp/mutants"
	grep -P '\t8:\d+\tanswer\tcopy-dropped\tuverbs_copy_to\(fd, "text"\)\t0$' "$tmp/mutants"
	(cd "$tmp" && "$mutate" apply "$(grep wait-dropped mutants)" &&
		grep -xF 'ret = 0' sample.c && [ "$(wc -l <sample.c)" = 10 ])
}

# A condition has no mutants where it only decides what is told.
told()
{
	cat >"$tmp/sample.c" <<'END'
int undo(struct device *dev, int a)
{
	if (a > 1)
		dev_warn(dev, "large");
	if (a > 2) {
		pr_info("larger");
		pr_info("still");
	} else
		pr_info("small");
	if (a > 3) {
		dev_err(dev, "too large");
		release(dev);
	}
	if (a > 4)
		dev_info(dev, "a");
	else
		release(dev);
	if (dev_is_pci(dev) && a > 5)
		a = 0;
	while (a > 6)
		;
	return a;
}
END
	mutants | cut -f 2,4 | sed 's/:[0-9]*//' | sort -u >"$tmp/mutants"
	sort >"$tmp/wanted" <<-'END'
		10	comparison
		10	condition-false
		10	condition-true
		12	undo-dropped
		14	comparison
		14	condition-false
		14	condition-true
		17	undo-dropped
		18	comparison
		18	condition-false
		18	condition-true
		18	operand-dropped
		20	comparison
	END
	diff "$tmp/wanted" "$tmp/mutants"
}

# What people do wrong: the order of an undo, a loop that ends early, the size of a batch, a
# value that is not taken, and another variable.
of_people()
{
	cat >"$tmp/sample.c" <<'END'
int make(struct thing *thing, int count)
{
	int ret = 0, last = 0, n;

	for (n = 0; n < count; n++)
		ret = add(thing, n);
	while (read(thing)) {
		if (count > MOST_AT_ONCE || ret)
			goto err_read;
	}
	last = count + ret;
	return last;

err_read:
	lock(thing);
	close(thing);
	free(thing->names);
err_names:
	free(thing);
	free(last);
	return ret;
}
END
	mutants | cut -f 2,4- | grep -E 'swapped|first-only|limit|stale|wrong' |
		sort -n >"$tmp/mutants"
	sort -n >"$tmp/wanted" <<-'END'
		10:2	first-only	}	break; }
		11:2	stale-variable	last = count + ret;	;
		16:2	statements-swapped	close(thing); free(thing->names);	free(thing->names); close(thing);
		17:2	statements-swapped	free(thing->names); err_names: free(thing);	free(thing); err_names: free(thing->names);
		6:3	first-only	ret = add(thing, n);	{ ret = add(thing, n); break; }
		6:3	stale-variable	ret = add(thing, n);	(void)add(thing, n);
		8:15	limit-moved	MOST_AT_ONCE	(MOST_AT_ONCE - 1)
		8:31	wrong-variable	ret	last
	END
	diff <(sort "$tmp/wanted") <(sort "$tmp/mutants")
	mutants >"$tmp/mutants"
	(cd "$tmp" && "$mutate" apply "$(grep 'swapped.*err_names' mutants)")
	[ "$(sed -n '17,19p' "$tmp/sample.c")" = $'\tfree(thing);\nerr_names:\n\tfree(thing->names);' ]
}

# The first line that matches a file counts: a line that is first for no file is lost.
areas()
{
	local file pattern tests test all
	local -A first=()

	all=$(find selftests -name '*_test.*' | sed 's,.*/,,; s,_test\..*,,')
	while read -r file; do
		while IFS=$'\t' read -r pattern tests; do
			# shellcheck disable=SC2053 # it is a pattern
			[[ $file != $pattern ]] || break
		done < <(grep -v '^#' selftests/mutants/areas)
		[ -n "$tests" ] || fail "no line is for $file"
		first[$pattern]=$file
	done < <(find kernel userlib -name '*.[ch]')
	while IFS=$'\t' read -r pattern tests; do
		[ -n "${first[$pattern]:-}" ] || fail "$pattern is first for no file"
		for test in $tests; do
			grep -qxF "${test%:[1-9]}" <<<"$all" || fail "$pattern: no test $test"
		done
	done < <(grep -v '^#' selftests/mutants/areas)
	pattern=$(grep -v '^#' selftests/mutants/areas | cut -f 1 | sort | uniq -d)
	[ -z "$pattern" ] || fail "$pattern has more than one line"
}

# The map has each source, with tests.
mapped()
{
	local tests

	selftests/mutants/map >"$tmp/map"
	[ "$(cut -f 1 "$tmp/map")" = "$(find kernel userlib -name '*.[ch]' ! -name '*_test.c' \
		! -path '*/probe/*' ! -path 'kernel/compat/*.h' ! -path 'userlib/include/*' |
		sort)" ]
	tests=$(grep '^userlib/ucx/ucx_probe.c' "$tmp/map" | cut -f 2)
	[ "$tests" = "$(selftests/mutants/map userlib/ucx/ucx_probe.c | cut -f 2)" ]
	[[ " $tests " = *' ucx_probe '* ]]
	must_fail grep -E ':[0-9]' "$tmp/map"
	must_fail grep -vP '\t.' "$tmp/map"
	code 1 selftests/mutants/map no/such/file.c
	code 2 selftests/mutants/map --help
}

# line MUTANT REASON: prints a line of the file of explanations
line()
{
	(cd "$tmp" && printf 'unseen\t%s\t%s\n' "$("$mutate" key "$1")" "$2")
}

# excuses MUTANT REASON: is the mutant explained, for this reason?
excuses()
{
	[ "$(cd "$tmp" && "$mutate" explained lines "$1")" = $'unseen\t'"$2" ]
}

# A line is about one mutant, and not about another one with the same text.
exactly()
{
	local one two

	sample
	one=$(printf 'sample.c\t4:8\tbetween\tcomparison\t<\t<=')
	two=${one/4:8/4:17}
	line "$one" reason >"$tmp/lines"
	cat "$tmp/lines"
	grep -F $'\tif (a [[< to <=]] b || a < c)\t' "$tmp/lines"
	excuses "$one" reason
	must_fail excuses "$two" reason
	line "$two" other >>"$tmp/lines"
	excuses "$two" other
	excuses "$one" reason
	(cd "$tmp" && "$mutate" check lines)
}

# Two lines of a function with the same text are told apart.
twice()
{
	local one two

	cat >"$tmp/sample.c" <<'END'
int twice(int a)
{
	if (a)
		return 1;
	a = read();
	if (a)
		return 2;
	return 0;
}
END
	one=$(printf 'sample.c\t3:6\ttwice\tcondition-true\ta\t1')
	two=${one/3:6/6:6}
	line "$two" reason >"$tmp/lines"
	grep -F $'\tif ([[a to 1]]) (2)\t' "$tmp/lines"
	excuses "$two" reason
	must_fail excuses "$one" reason
}

# A line of no mutant, a second one of a mutant, and one without a verdict or a
# reason are found.
checked()
{
	local word

	sample
	line $'sample.c\t4:8\tbetween\tcomparison\t<\t<=' reason >"$tmp/line"
	cat "$tmp/line" "$tmp/line" >"$tmp/lines"
	code 1 env -C "$tmp" "$mutate" check lines
	grep 'more than one line' "$tmp/out"
	sed 's/ a </ b </' "$tmp/line" >"$tmp/lines"
	code 1 env -C "$tmp" "$mutate" check lines
	grep 'no mutant' "$tmp/out"
	for word in reason unseen; do
		sed "s/$word//" "$tmp/line" >"$tmp/lines"
		code 1 env -C "$tmp" "$mutate" check lines
		grep 'not an explanation' "$tmp/err"
	done
}

plan 12
check each_mutant_is_another_source sources_differ
check a_mutant_is_at_its_line_and_column places
check each_seed_has_the_same_mutants seeds
check copies_and_waits_are_left_out results
check what_only_tells_has_no_mutants told
check what_people_do_wrong_has_mutants of_people
check the_first_line_for_a_file_has_its_tests areas
check the_map_has_each_source mapped
check a_line_explains_one_mutant exactly
check mutants_with_the_same_text_are_told_apart twice
check lines_of_no_mutant_are_found checked
check each_line_is_about_a_mutant "$mutate" check selftests/mutants/explained
ktap_finished
